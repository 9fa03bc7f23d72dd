/*
 * compare_answer.c
 *	  The answer of a query as a multiset of rows, and whether two of them are
 *	  the same.
 *
 * A plan may give its rows in any order, and equal values in any spelling
 * (1.0 and 1.00, -0 and 0).  So both answers are sorted, by the default order
 * of each column's type, and read in step: they are the same when the rows of
 * each step are equal by that order.  A type without an order (json, point,
 * ...) is compared by its text.
 *
 * Sums of floating-point numbers depend on the order they are added in.
 * Floats are therefore the last sort columns and equal within a relative
 * tolerance.  "Same" is said only when every row of one answer has a partner
 * of its own in the other, so no tolerance can hide a missing row.  With one
 * float column the sorted order finds such partners whenever there are any:
 * what a value may meet is an interval whose ends grow with the value, so two
 * pairs that cross can be uncrossed.  With several it may not: of (1, 5) and
 * (1.0000000001, 3) against (1, 3) and (1.0000000001, 5) the first sort column
 * pairs the wrong ones.  Then the rows are first divided into clusters that
 * can only meet within themselves; see CloseByClusters.
 *
 * All is done by sorts and needs no more than work_mem for each of them.
 */
#include "postgres.h"

#include "admin/compare_answer.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/sortsupport.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"

#include <math.h>

#define TOLERANCE 1e-9

typedef enum ColumnKind
{
	COLUMN_EXACT,				/* by the order of its type */
	COLUMN_TEXT,				/* by its text */
	COLUMN_FLOAT				/* as float8, with tolerance */
} ColumnKind;

typedef struct AnswerColumn
{
	ColumnKind	kind;
	Oid			type;			/* without domains */
	int16		typlen;
	FmgrInfo	output;			/* COLUMN_TEXT */
} AnswerColumn;

struct Answer
{
	int			ncols;
	AnswerColumn *columns;
	int			nfloats;
	AttrNumber *order;			/* columns as sorted: floats last */
	SortSupport exact;			/* of the ncols - nfloats first of them */
	Tuplesortstate *sort;		/* NULL: no columns */
	TupleTableSlot *input;		/* a row as it goes into the sort */
	TupleTableSlot *slot;		/* and as it comes out */
	MemoryContext rowcxt;
	ResourceOwner owner;
	int64		rows;
};

/* The operator and collation that sort a type. */
static void
FindOrder(Oid type, Oid collation, Oid *lt, Oid *sortcollation)
{
	*lt = lookup_type_cache(type, TYPECACHE_LT_OPR)->lt_opr;
	*sortcollation = InvalidOid;
	if (!type_is_collatable(type))
		return;

	/*
	 * Equality under a deterministic collation is that of bytes, which need
	 * no collation to be sorted.  None at all is what expressions over
	 * different collations have.
	 */
	if (!OidIsValid(collation) ||
		((type == TEXTOID || type == VARCHAROID || type == BPCHAROID) &&
		 get_collation_isdeterministic(collation)))
		*sortcollation = C_COLLATION_OID;
	else
		*sortcollation = collation;
}

Answer *
AnswerBegin(TupleDesc desc)
{
	Answer	   *answer = palloc0(sizeof(Answer));
	int			ncols = desc->natts;
	TupleDesc	sortdesc = CreateTemplateTupleDesc(ncols);
	Oid		   *lt = palloc(sizeof(Oid) * Max(ncols, 1));
	Oid		   *collations = palloc(sizeof(Oid) * Max(ncols, 1));
	bool	   *nullsfirst = palloc0(sizeof(bool) * Max(ncols, 1));
	int			n = 0;

	answer->ncols = ncols;
	answer->columns = palloc0(sizeof(AnswerColumn) * Max(ncols, 1));
	answer->order = palloc(sizeof(AttrNumber) * Max(ncols, 1));
	answer->owner = CurrentResourceOwner;
	answer->rowcxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw answer row",
										   ALLOCSET_DEFAULT_SIZES);
	for (int i = 0; i < ncols; i++)
	{
		AnswerColumn *column = &answer->columns[i];

		column->type = getBaseType(TupleDescAttr(desc, i)->atttypid);
		column->typlen = get_typlen(column->type);
		if (column->type == FLOAT4OID || column->type == FLOAT8OID)
		{
			column->kind = COLUMN_FLOAT;
			answer->nfloats++;
		}

		/*
		 * Whether the columns of an anonymous row type can be compared is
		 * known only once one is tried.
		 */
		else if (column->type == RECORDOID ||
				 !OidIsValid(lookup_type_cache(column->type, TYPECACHE_LT_OPR)->lt_opr))
		{
			Oid			function;
			bool		varlena;

			column->kind = COLUMN_TEXT;
			getTypeOutputInfo(column->type, &function, &varlena);
			fmgr_info(function, &column->output);
		}
		TupleDescInitEntry(sortdesc, i + 1, NULL,
						   column->kind == COLUMN_FLOAT ? FLOAT8OID :
						   column->kind == COLUMN_TEXT ? TEXTOID : column->type, -1, 0);
	}

	for (int floats = 0; floats <= 1; floats++)
	{
		for (int i = 0; i < ncols; i++)
		{
			if ((answer->columns[i].kind == COLUMN_FLOAT) != (floats == 1))
				continue;
			answer->order[n] = i + 1;
			FindOrder(TupleDescAttr(sortdesc, i)->atttypid, TupleDescAttr(desc, i)->attcollation,
					  &lt[n], &collations[n]);
			n++;
		}
	}
	answer->exact = palloc0(sizeof(SortSupportData) * Max(ncols, 1));
	for (int i = 0; i < ncols - answer->nfloats; i++)
	{
		SortSupport key = &answer->exact[i];

		key->ssup_cxt = CurrentMemoryContext;
		key->ssup_collation = collations[i];
		key->ssup_attno = answer->order[i];
		PrepareSortSupportFromOrderingOp(lt[i], key);
	}

	answer->input = MakeSingleTupleTableSlot(sortdesc, &TTSOpsVirtual);
	answer->slot = MakeSingleTupleTableSlot(sortdesc, &TTSOpsMinimalTuple);
	if (ncols > 0)
		answer->sort = tuplesort_begin_heap(sortdesc, ncols, answer->order, lt, collations,
											nullsfirst, work_mem, NULL, TUPLESORT_RANDOMACCESS);
	return answer;
}

void
AnswerAdd(Answer *answer, TupleTableSlot *slot)
{
	TupleTableSlot *input = answer->input;
	MemoryContext oldcxt;
	ResourceOwner oldowner;

	answer->rows++;
	if (answer->ncols == 0)
		return;
	MemoryContextReset(answer->rowcxt);
	oldcxt = MemoryContextSwitchTo(answer->rowcxt);
	slot_getallattrs(slot);
	ExecClearTuple(input);
	for (int i = 0; i < answer->ncols; i++)
	{
		AnswerColumn *column = &answer->columns[i];
		Datum		value = slot->tts_values[i];

		input->tts_isnull[i] = slot->tts_isnull[i];
		if (slot->tts_isnull[i])
			value = (Datum) 0;
		else if (column->kind == COLUMN_TEXT)
			value = CStringGetTextDatum(OutputFunctionCall(&column->output, value));
		else if (column->type == FLOAT4OID)
			value = Float8GetDatum((float8) DatumGetFloat4(value));
		else if (column->typlen == -1 &&
				 (VARATT_IS_EXTERNAL(DatumGetPointer(value)) ||
				  VARATT_IS_COMPRESSED(DatumGetPointer(value))))
			/* what it points to may be gone when it is compared */
			value = PointerGetDatum(PG_DETOAST_DATUM(value));
		input->tts_values[i] = value;
	}
	ExecStoreVirtualTuple(input);

	/* the sort is to outlive the subtransaction that is running */
	oldowner = CurrentResourceOwner;
	CurrentResourceOwner = answer->owner;
	tuplesort_puttupleslot(answer->sort, input);
	CurrentResourceOwner = oldowner;
	MemoryContextSwitchTo(oldcxt);
}

void
AnswerFinish(Answer *answer)
{
	if (answer->sort != NULL)
		tuplesort_performsort(answer->sort);
}

void
AnswerFree(Answer *answer)
{
	ExecDropSingleTupleTableSlot(answer->slot);
	ExecDropSingleTupleTableSlot(answer->input);
	if (answer->sort != NULL)
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

/* Are the columns that need no tolerance equal?  Both slots hold rows with the columns of answer. */
static bool
ExactEqual(Answer *answer, TupleTableSlot *a, TupleTableSlot *b)
{
	MemoryContext oldcxt;
	bool		equal = true;

	MemoryContextReset(answer->rowcxt);
	oldcxt = MemoryContextSwitchTo(answer->rowcxt);
	for (int i = 0; equal && i < answer->ncols - answer->nfloats; i++)
	{
		SortSupport key = &answer->exact[i];
		int			c = key->ssup_attno - 1;

		equal = ApplySortComparator(a->tts_values[c], a->tts_isnull[c],
									b->tts_values[c], b->tts_isnull[c], key) == 0;
	}
	MemoryContextSwitchTo(oldcxt);
	return equal;
}

/* Are column c of a and column d of b, both float8, equal within the tolerance? */
static bool
Close(TupleTableSlot *a, int c, TupleTableSlot *b, int d)
{
	float8		x;
	float8		y;

	if (a->tts_isnull[c] || b->tts_isnull[d])
		return a->tts_isnull[c] && b->tts_isnull[d];
	x = DatumGetFloat8(a->tts_values[c]);
	y = DatumGetFloat8(b->tts_values[d]);
	if (isnan(x) || isnan(y))
		return isnan(x) && isnan(y);
	if (isinf(x) || isinf(y))
		return x == y;
	return fabs(x - y) <= TOLERANCE * Max(fabs(x), fabs(y));
}

/*
 * Rows of both answers on their way through the clusters: the cluster, which
 * answer, the float columns.
 */
typedef struct FloatSort
{
	Tuplesortstate *sort;
	TupleTableSlot *slot;
} FloatSort;

#define CLUSTER_COLUMN 0
#define SIDE_COLUMN 1
#define FLOAT_COLUMN(f) ((f) + 2)

/* Sort by cluster and then by float column number first, or by all of them in turn if it is -1. */
static FloatSort
FloatSortBegin(int nfloats, int first)
{
	FloatSort	result;
	TupleDesc	desc = CreateTemplateTupleDesc(nfloats + 2);
	int			nkeys = first < 0 ? nfloats + 1 : 2;
	AttrNumber *attnums = palloc(sizeof(AttrNumber) * nkeys);
	Oid		   *lt = palloc(sizeof(Oid) * nkeys);
	Oid		   *collations = palloc0(sizeof(Oid) * nkeys);
	bool	   *nullsfirst = palloc0(sizeof(bool) * nkeys);

	TupleDescInitEntry(desc, CLUSTER_COLUMN + 1, NULL, INT8OID, -1, 0);
	TupleDescInitEntry(desc, SIDE_COLUMN + 1, NULL, BOOLOID, -1, 0);
	for (int f = 0; f < nfloats; f++)
		TupleDescInitEntry(desc, FLOAT_COLUMN(f) + 1, NULL, FLOAT8OID, -1, 0);
	for (int i = 0; i < nkeys; i++)
	{
		attnums[i] = i == 0 ? CLUSTER_COLUMN + 1 : FLOAT_COLUMN(Max(first, 0) + i - 1) + 1;
		lt[i] = lookup_type_cache(i == 0 ? INT8OID : FLOAT8OID, TYPECACHE_LT_OPR)->lt_opr;
	}
	result.sort = tuplesort_begin_heap(desc, nkeys, attnums, lt, collations, nullsfirst,
									   work_mem, NULL, TUPLESORT_NONE);
	result.slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	return result;
}

static bool
FloatSortNext(FloatSort *sort)
{
	CHECK_FOR_INTERRUPTS();
	if (!tuplesort_gettupleslot(sort->sort, true, false, sort->slot, NULL))
		return false;
	slot_getallattrs(sort->slot);
	return true;
}

static void
FloatSortEnd(FloatSort *sort)
{
	ExecDropSingleTupleTableSlot(sort->slot);
	tuplesort_end(sort->sort);
}

/*
 * Copy the rows of both answers to out, with one cluster for all rows that
 * are equal in the exact columns.  False if the exact columns alone differ.
 */
static bool
ClusterExact(Answer *a, Answer *b, FloatSort *out, TupleTableSlot *row)
{
	TupleTableSlot *previous = MakeSingleTupleTableSlot(a->slot->tts_tupleDescriptor,
														&TTSOpsMinimalTuple);
	int64		cluster = 0;
	bool		same = true;

	tuplesort_rescan(a->sort);
	tuplesort_rescan(b->sort);
	while (same && NextRow(a) && NextRow(b))
	{
		if (!ExactEqual(a, a->slot, b->slot))
			same = false;
		if (TupIsNull(previous) || !ExactEqual(a, a->slot, previous))
		{
			cluster++;
			ExecCopySlot(previous, a->slot);
			slot_getallattrs(previous);
		}
		for (int side = 0; side <= 1; side++)
		{
			TupleTableSlot *from = side ? b->slot : a->slot;

			ExecClearTuple(row);
			row->tts_values[CLUSTER_COLUMN] = Int64GetDatum(cluster);
			row->tts_isnull[CLUSTER_COLUMN] = false;
			row->tts_values[SIDE_COLUMN] = BoolGetDatum(side == 1);
			row->tts_isnull[SIDE_COLUMN] = false;
			for (int f = 0; f < a->nfloats; f++)
			{
				int			c = a->order[a->ncols - a->nfloats + f] - 1;

				row->tts_values[FLOAT_COLUMN(f)] = from->tts_values[c];
				row->tts_isnull[FLOAT_COLUMN(f)] = from->tts_isnull[c];
			}
			ExecStoreVirtualTuple(row);
			tuplesort_puttupleslot(out->sort, row);
		}
	}
	ExecDropSingleTupleTableSlot(previous);
	return same;
}

/*
 * Divide the clusters of in, sorted by float column f, wherever neighbours are
 * not close, and put the rows to out[side].  False if a cluster has not as
 * many rows of one answer as of the other: then some have no partner.
 */
static bool
DivideClusters(FloatSort *in, int f, Tuplesortstate *out[2], TupleTableSlot *row)
{
	TupleTableSlot *previous = MakeSingleTupleTableSlot(in->slot->tts_tupleDescriptor,
														&TTSOpsMinimalTuple);
	int			natts = in->slot->tts_tupleDescriptor->natts;
	int64		cluster = 0;
	int64		balance = 0;
	bool		same = true;

	tuplesort_performsort(in->sort);
	while (same && FloatSortNext(in))
	{
		bool		side = DatumGetBool(in->slot->tts_values[SIDE_COLUMN]);

		if (TupIsNull(previous) ||
			DatumGetInt64(in->slot->tts_values[CLUSTER_COLUMN]) !=
			DatumGetInt64(previous->tts_values[CLUSTER_COLUMN]) ||
			!Close(in->slot, FLOAT_COLUMN(f), previous, FLOAT_COLUMN(f)))
		{
			same = balance == 0;
			cluster++;
		}
		balance += side ? 1 : -1;
		ExecCopySlot(previous, in->slot);
		slot_getallattrs(previous);

		ExecClearTuple(row);
		memcpy(row->tts_values, in->slot->tts_values, sizeof(Datum) * natts);
		memcpy(row->tts_isnull, in->slot->tts_isnull, sizeof(bool) * natts);
		row->tts_values[CLUSTER_COLUMN] = Int64GetDatum(cluster);
		ExecStoreVirtualTuple(row);
		tuplesort_puttupleslot(out[side], row);
	}
	ExecDropSingleTupleTableSlot(previous);
	return same && balance == 0;
}

/*
 * The same answers, with several float columns?  Rows that may be partners are
 * equal in the exact columns and close in every float column.  Dividing by
 * one column after the other gives clusters beyond which no row can have its
 * partner; within one, rows are paired in sorted order and tested.
 */
static bool
CloseByClusters(Answer *a, Answer *b)
{
	int			nfloats = a->nfloats;
	FloatSort	sort = FloatSortBegin(nfloats, 0);
	FloatSort	sides[2] = {FloatSortBegin(nfloats, -1), FloatSortBegin(nfloats, -1)};
	TupleTableSlot *row = MakeSingleTupleTableSlot(sort.slot->tts_tupleDescriptor, &TTSOpsVirtual);
	bool		same = ClusterExact(a, b, &sort, row);

	for (int f = 0; same && f < nfloats; f++)
	{
		bool		last = f == nfloats - 1;
		FloatSort	next = sort;
		Tuplesortstate *out[2] = {sides[0].sort, sides[1].sort};

		if (!last)
		{
			next = FloatSortBegin(nfloats, f + 1);
			out[0] = out[1] = next.sort;
		}
		same = DivideClusters(&sort, f, out, row);
		if (!last)
		{
			FloatSortEnd(&sort);
			sort = next;
		}
	}
	if (same)
	{
		tuplesort_performsort(sides[0].sort);
		tuplesort_performsort(sides[1].sort);
	}
	while (same && FloatSortNext(&sides[0]) && FloatSortNext(&sides[1]))
	{
		for (int f = 0; same && f < nfloats; f++)
			same = Close(sides[0].slot, FLOAT_COLUMN(f), sides[1].slot, FLOAT_COLUMN(f));
	}
	ExecDropSingleTupleTableSlot(row);
	FloatSortEnd(&sort);
	FloatSortEnd(&sides[0]);
	FloatSortEnd(&sides[1]);
	return same;
}

bool
AnswersSame(Answer *a, Answer *b)
{
	if (a->rows != b->rows)
		return false;
	if (a->ncols == 0)
		return true;

	tuplesort_rescan(a->sort);
	tuplesort_rescan(b->sort);
	while (NextRow(a) && NextRow(b))
	{
		if (!ExactEqual(a, a->slot, b->slot))
			return false;
		for (int i = a->ncols - a->nfloats; i < a->ncols; i++)
		{
			int			c = a->order[i] - 1;

			if (!Close(a->slot, c, b->slot, c))
				return a->nfloats > 1 && CloseByClusters(a, b);
		}
	}
	return true;
}
