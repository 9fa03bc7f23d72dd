/*
 * compare_answer.c
 *	  The answer of a query as a multiset of rows, and whether two of them are
 *	  the same.
 *
 * A plan may give its rows in any order, and equal values in any spelling
 * (1.0 and 1.00, -0 and 0).  So of each row there is kept a hash of 64 bits, by
 * the hash function of each column's type, or of the text of a value whose type
 * has none (json, point, ...).  Both answers are sorted and read in step.
 *
 * Sums of floating-point numbers depend on the order they are added in.
 * Floats are therefore kept as they are, and equal within a relative
 * tolerance.  They are sorted after the hash: first by all of them rounded, so
 * that values that differ in their last bits do not keep partners apart by the
 * next column.  "Same" is said only when every row of one answer has a partner
 * of its own in the other, so no tolerance can hide a missing row.
 */
#include "postgres.h"

#include <math.h>

#include "admin/compare_answer.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_type_d.h"
#include "common/hashfn.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"

#define TOLERANCE 1e-9

/* bits that are left of a float by which it is sorted first: about the tolerance */
#define ROUNDED_BITS 30

typedef struct AnswerColumn
{
	Oid			type;			/* without domains */
	Oid			collation;
	bool		is_float;
	bool		by_text;
	FmgrInfo	function;		/* hashes a value, or gives its text */
} AnswerColumn;

struct Answer
{
	int			ncols;
	AnswerColumn *columns;
	int			nfloats;
	Tuplesortstate *sort;		/* hash, floats rounded, floats */
	TupleTableSlot *input;		/* a row as it goes into the sort */
	TupleTableSlot *slot;		/* and as it comes out */
	MemoryContext rowcxt;
	ResourceOwner owner;
	int64		rows;
};

static void
DescribeColumn(Form_pg_attribute att, AnswerColumn *column)
{
	Oid			function;
	bool		varlena;

	column->type = getBaseType(att->atttypid);
	column->is_float = column->type == FLOAT4OID || column->type == FLOAT8OID;

	/* none at all is what expressions over different collations have */
	column->collation = OidIsValid(att->attcollation) ? att->attcollation : C_COLLATION_OID;

	/* whether the columns of an anonymous row type can be hashed is known only once one is tried */
	function = column->type == RECORDOID ? InvalidOid :
		lookup_type_cache(column->type, TYPECACHE_HASH_EXTENDED_PROC)->hash_extended_proc;
	column->by_text = !OidIsValid(function);
	if (column->by_text)
		getTypeOutputInfo(column->type, &function, &varlena);
	fmgr_info(function, &column->function);
}

Answer *
AnswerBegin(TupleDesc desc)
{
	Answer	   *answer = palloc0(sizeof(Answer));
	int			most = desc->natts * 2 + 1; /* if all are floats */
	AttrNumber *order = palloc(sizeof(AttrNumber) * most);
	Oid		   *lt = palloc(sizeof(Oid) * most);
	Oid		   *collations = palloc0(sizeof(Oid) * most);
	bool	   *nullsfirst = palloc0(sizeof(bool) * most);
	TupleDesc	sortdesc;
	int			nsort;

	answer->ncols = desc->natts;
	answer->columns = palloc0(sizeof(AnswerColumn) * Max(desc->natts, 1));
	for (int i = 0; i < desc->natts; i++)
	{
		DescribeColumn(TupleDescAttr(desc, i), &answer->columns[i]);
		answer->nfloats += answer->columns[i].is_float ? 1 : 0;
	}
	answer->owner = CurrentResourceOwner;
	answer->rowcxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw answer row",
										   ALLOCSET_DEFAULT_SIZES);

	nsort = answer->nfloats * 2 + 1;
	sortdesc = CreateTemplateTupleDesc(nsort);
	for (int i = 0; i < nsort; i++)
	{
		Oid			type = i == 0 ? INT8OID : FLOAT8OID;

		TupleDescInitEntry(sortdesc, i + 1, NULL, type, -1, 0);
		order[i] = i + 1;
		lt[i] = lookup_type_cache(type, TYPECACHE_LT_OPR)->lt_opr;
	}
	answer->input = MakeSingleTupleTableSlot(sortdesc, &TTSOpsVirtual);
	answer->slot = MakeSingleTupleTableSlot(sortdesc, &TTSOpsMinimalTuple);
	answer->sort = tuplesort_begin_heap(sortdesc, nsort, order, lt, collations,
										nullsfirst, work_mem, NULL, TUPLESORT_RANDOMACCESS);
	return answer;
}

/* A float with few bits, to sort by. */
static float8
Rounded(float8 x)
{
	int			exponent;
	double		fraction;

	if (isnan(x) || isinf(x) || x == 0)
		return x;
	fraction = frexp(x, &exponent);
	return ldexp(rint(ldexp(fraction, ROUNDED_BITS)), exponent - ROUNDED_BITS);
}

static uint64
HashColumn(AnswerColumn *column, Datum value)
{
	char	   *text;

	if (!column->by_text)
		return DatumGetUInt64(FunctionCall2Coll(&column->function, column->collation, value, UInt64GetDatum(0)));
	text = OutputFunctionCall(&column->function, value);
	return hash_bytes_extended((unsigned char *) text, strlen(text), 0);
}

void
AnswerAdd(Answer *answer, TupleTableSlot *slot)
{
	TupleTableSlot *input = ExecClearTuple(answer->input);
	MemoryContext oldcxt;
	ResourceOwner oldowner = CurrentResourceOwner;
	uint64		hash = 0;
	int			f = 1;

	answer->rows++;
	MemoryContextReset(answer->rowcxt);
	oldcxt = MemoryContextSwitchTo(answer->rowcxt);
	slot_getallattrs(slot);
	for (int i = 0; i < answer->ncols; i++)
	{
		AnswerColumn *column = &answer->columns[i];
		Datum		value = slot->tts_values[i];
		bool		isnull = slot->tts_isnull[i];
		float8		number = 0;

		if (!column->is_float)
		{
			hash = hash_combine64(hash, isnull ? 1 : HashColumn(column, value));
			continue;
		}
		if (!isnull)
			number = column->type == FLOAT4OID ? DatumGetFloat4(value) : DatumGetFloat8(value);
		input->tts_values[f] = Float8GetDatum(Rounded(number));
		input->tts_values[f + answer->nfloats] = Float8GetDatum(number);
		input->tts_isnull[f] = input->tts_isnull[f + answer->nfloats] = isnull;
		f++;
	}
	input->tts_values[0] = UInt64GetDatum(hash);
	input->tts_isnull[0] = false;
	ExecStoreVirtualTuple(input);

	/* the sort is to outlive the subtransaction that is running */
	CurrentResourceOwner = answer->owner;
	tuplesort_puttupleslot(answer->sort, input);
	CurrentResourceOwner = oldowner;
	MemoryContextSwitchTo(oldcxt);
}

void
AnswerFinish(Answer *answer)
{
	tuplesort_performsort(answer->sort);
}

void
AnswerFree(Answer *answer)
{
	ExecDropSingleTupleTableSlot(answer->slot);
	ExecDropSingleTupleTableSlot(answer->input);
	tuplesort_end(answer->sort);
	MemoryContextDelete(answer->rowcxt);
}

/* Next row in sorted order into answer->slot, all columns at hand. */
static bool
NextRow(Answer *answer)
{
	CHECK_FOR_INTERRUPTS();
	if (!tuplesort_gettupleslot(answer->sort, true, false, answer->slot, NULL))
		return false;
	slot_getallattrs(answer->slot);
	return true;
}

/* Are the values of a column, float8 both, equal within the tolerance? */
static bool
Close(TupleTableSlot *a, TupleTableSlot *b, int c)
{
	float8		x = DatumGetFloat8(a->tts_values[c]);
	float8		y = DatumGetFloat8(b->tts_values[c]);

	if (a->tts_isnull[c] || b->tts_isnull[c])
		return a->tts_isnull[c] && b->tts_isnull[c];
	if (isnan(x) || isnan(y))
		return isnan(x) && isnan(y);
	if (isinf(x) || isinf(y))
		return x == y;
	return fabs(x - y) <= TOLERANCE * Max(fabs(x), fabs(y));
}

bool
AnswersSame(Answer *a, Answer *b)
{
	if (a->rows != b->rows)
		return false;
	tuplesort_rescan(a->sort);
	tuplesort_rescan(b->sort);
	while (NextRow(a) && NextRow(b))
	{
		if (a->slot->tts_values[0] != b->slot->tts_values[0])
			return false;
		for (int f = 0; f < a->nfloats; f++)
		{
			if (!Close(a->slot, b->slot, 1 + a->nfloats + f))
				return false;
		}
	}
	return true;
}
