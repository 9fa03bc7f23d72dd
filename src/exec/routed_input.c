/*
 * routed_input.c
 *	  Rows of any plan, put into bucket groups and key order while the join
 *	  runs.
 *
 * One sort does it.  Its first column is a number made of the group and of
 * the leading bits of the first key, which decides nearly every comparison;
 * the key columns follow where that number does not decide alone.  The rows
 * of each group are counted on the way in, so that the sorted rows need not
 * say where a group ends.
 */
#include "postgres.h"

#include "access/tupdesc.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_operator_d.h"
#include "compat.h"
#include "exec/routed_input.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

/* a batch ends at so many rows, or bytes of by-reference values */
#define ROUTED_ROWS 2048
#define ROUTED_BYTES (1024 * 1024)

/* bits of the first sort column that hold the first key; the group is above them */
#define IMAGE_BITS 47
#define IMAGE_MAX ((UINT64CONST(1) << IMAGE_BITS) - 1)

StaticAssertDecl(BF_MAX_BUCKETS <= 1 << (63 - IMAGE_BITS), "a group does not fit above the image");

struct RoutedInput
{
	PlanState  *planstate;
	MemoryContext cxt;
	MemoryContext rowcxt;		/* keys of the row being routed */
	MemoryContext batchcxt;		/* values of the present batch */
	TupleDesc	desc;			/* of the sorted rows: the number, then the plan's columns */
	TupleTableSlot *in;
	TupleTableSlot *out;

	int			nkeys;
	const int  *keycols;
	const KeyClass *classes;
	const Oid  *types;
	bool		image_decides;	/* equal numbers are equal keys */
	bool		drop_nulls;
	bool		keep_rows;		/* for rescans */

	Tuplesortstate *sort;		/* NULL: rows not read yet */
	int			ngroups;
	int64	   *start;			/* per group: rows before it; one more entry for all rows */
	int			group;			/* last one opened */
	int64		position;		/* rows taken from the sort */
	int64		end;			/* of the open group */

	Batch		batch;
};

RoutedInput *
RoutedInputCreate(PlanState *planstate)
{
	RoutedInput *routed = palloc0(sizeof(RoutedInput));
	TupleDesc	child = ExecGetResultType(planstate);
	Batch	   *batch = &routed->batch;

	routed->planstate = planstate;
	routed->cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw routed input",
										ALLOCSET_DEFAULT_SIZES);
	routed->rowcxt = AllocSetContextCreate(routed->cxt, "bucketfdw routed row",
										   ALLOCSET_SMALL_SIZES);
	routed->batchcxt = AllocSetContextCreate(routed->cxt, "bucketfdw routed batch",
											 ALLOCSET_DEFAULT_SIZES);
	routed->desc = CreateTemplateTupleDesc(child->natts + 1);
	TupleDescInitEntry(routed->desc, 1, "place", INT8OID, -1, 0);
	for (int i = 1; i <= child->natts; i++)
		TupleDescCopyEntry(routed->desc, (AttrNumber) (i + 1), child, (AttrNumber) i);
	routed->in = MakeSingleTupleTableSlot(routed->desc, &TTSOpsVirtual);
	routed->out = MakeSingleTupleTableSlot(routed->desc, &TTSOpsMinimalTuple);

	batch->ncols = child->natts;
	batch->cols = palloc0(Max(batch->ncols, 1) * sizeof(ColumnVector));
	batch->loaded = palloc0(Max(batch->ncols, 1) * sizeof(bool));
	return routed;
}

void
RoutedInputSetKeys(RoutedInput *routed, int nkeys, const int *keycols,
				   const KeyClass *classes, const Oid *types)
{
	routed->nkeys = nkeys;
	routed->keycols = keycols;
	routed->classes = classes;
	routed->types = types;
	routed->image_decides = nkeys == 1 &&
		(classes[0] == KEYCLASS_BOOL || classes[0] == KEYCLASS_DATE || classes[0] == KEYCLASS_OID ||
		 (classes[0] == KEYCLASS_INT && types[0] != INT8OID));
}

void
RoutedInputDropNulls(RoutedInput *routed)
{
	routed->drop_nulls = true;
}

void
RoutedInputEnd(RoutedInput *routed)
{
	ExecClearTuple(routed->out);
	if (routed->sort != NULL)
		tuplesort_end(routed->sort);
	routed->sort = NULL;
}

void
RoutedInputKeepRows(RoutedInput *routed)
{
	routed->keep_rows = true;
}

bool
RoutedInputKeepsRows(const RoutedInput *routed)
{
	return routed->keep_rows;
}

void
RoutedInputForget(RoutedInput *routed)
{
	RoutedInputEnd(routed);
	if (routed->start != NULL)
		pfree(routed->start);
	routed->start = NULL;
}

/* Before the first group. */
static void
GoToStart(RoutedInput *routed)
{
	routed->group = -1;
	routed->position = routed->end = 0;
}

void
RoutedInputStart(RoutedInput *routed)
{
	if (routed->sort == NULL)
		return;
	ExecClearTuple(routed->out);
	tuplesort_rescan(routed->sort);
	GoToStart(routed);
}

/* Leading bits of a key, in the order of keys; equal ones decide nothing unless image_decides. */
static uint64
ShortImage(KeyClass keyclass, Oid typid, Datum value)
{
	switch (keyclass)
	{
		case KEYCLASS_INT:
		case KEYCLASS_BOOL:
		case KEYCLASS_DATE:
		case KEYCLASS_OID:
			{
				/* small numbers as they are; what is beyond is at the ends */
				int64		limit = INT64CONST(1) << (IMAGE_BITS - 2);
				int64		number = KeySort64(keyclass, typid, value);

				return (uint64) (Min(Max(number, -limit), limit) + limit);
			}
		case KEYCLASS_NUMERIC:
			return KeyNumericPrefix(value) >> (64 - IMAGE_BITS);
		default:
			return ((uint64) KeyImage64(keyclass, typid, value) ^ (UINT64CONST(1) << 63)) >>
				(64 - IMAGE_BITS);
	}
}

static Tuplesortstate *
BeginSort(RoutedInput *routed)
{
	int			n = routed->image_decides ? 1 : 1 + routed->nkeys;
	AttrNumber *attnums = palloc(n * sizeof(AttrNumber));
	Oid		   *operators = palloc(n * sizeof(Oid));
	Oid		   *collations = palloc(n * sizeof(Oid));
	bool	   *nulls_first = palloc0(n * sizeof(bool));

	attnums[0] = 1;
	operators[0] = Int8LessOperator;
	collations[0] = InvalidOid;
	for (int k = 1; k < n; k++)
	{
		KeyClass	keyclass = routed->classes[k - 1];

		attnums[k] = (AttrNumber) (routed->keycols[k - 1] + 2);
		operators[k] = lookup_type_cache(routed->types[k - 1], TYPECACHE_LT_OPR)->lt_opr;
		/* the order of files is that of bytes, whatever the collation of the column */
		collations[k] = keyclass == KEYCLASS_TEXT || keyclass == KEYCLASS_BPCHAR ?
			C_COLLATION_OID : InvalidOid;
	}
	return tuplesort_begin_heap(routed->desc, n, attnums, operators, collations, nulls_first,
								work_mem, NULL,
								routed->keep_rows ? TUPLESORT_RANDOMACCESS : TUPLESORT_NONE);
}

/* Put a row of the plan into the sort, unless it can match nothing. */
static void
RouteRow(RoutedInput *routed, TupleTableSlot *slot)
{
	Datum	   *values = routed->in->tts_values;
	bool	   *nulls = routed->in->tts_isnull;
	int			natts = routed->batch.ncols;
	uint64		image = IMAGE_MAX;
	uint32		hash = 0;
	int			group;

	slot_getallattrs(slot);
	ExecClearTuple(routed->in);
	memcpy(values + 1, slot->tts_values, natts * sizeof(Datum));
	memcpy(nulls + 1, slot->tts_isnull, natts * sizeof(bool));
	for (int k = 0; k < routed->nkeys; k++)
	{
		int			col = routed->keycols[k] + 1;

		/* a NULL adds nothing to the hash: any group will do, but always the same one */
		if (nulls[col])
		{
			if (routed->drop_nulls)
				return;
			continue;
		}
		if (TupleDescAttr(routed->desc, col)->attlen == -1)
			values[col] = PointerGetDatum(PG_DETOAST_DATUM_PACKED(values[col]));
		hash = KeyHash(routed->classes[k], routed->types[k], values[col], hash);
		if (k == 0)
			image = ShortImage(routed->classes[0], routed->types[0], values[col]);
	}
	group = KeyBucket(hash, routed->ngroups);
	values[0] = Int64GetDatum((int64) (((uint64) group << IMAGE_BITS) | image));
	nulls[0] = false;
	ExecStoreVirtualTuple(routed->in);
	tuplesort_puttupleslot(routed->sort, routed->in);
	routed->start[group + 1]++;
}

/* Read the plan to its end and sort its rows. */
static void
RouteRows(RoutedInput *routed, int ngroups)
{
	MemoryContext old = MemoryContextSwitchTo(routed->cxt);
	Batch	   *batch = &routed->batch;

	routed->ngroups = ngroups;
	routed->start = palloc0((ngroups + 1) * sizeof(int64));
	routed->sort = BeginSort(routed);
	GoToStart(routed);
	for (int c = 0; c < batch->ncols && batch->cols[c].values == NULL; c++)
	{
		batch->cols[c].values = palloc(ROUTED_ROWS * sizeof(Datum));
		batch->cols[c].nulls = palloc(ROUTED_ROWS * sizeof(bool));
	}
	for (;;)
	{
		TupleTableSlot *slot;

		MemoryContextSwitchTo(old);
		slot = ExecProcNode(routed->planstate);
		if (TupIsNull(slot))
			break;
		MemoryContextReset(routed->rowcxt);
		MemoryContextSwitchTo(routed->rowcxt);
		RouteRow(routed, slot);
	}
	ExecClearTuple(routed->in);
	for (int g = 0; g < ngroups; g++)
		routed->start[g + 1] += routed->start[g];
	tuplesort_performsort(routed->sort);
	MemoryContextSwitchTo(old);
}

static void
CheckGroups(RoutedInput *routed, int ngroups)
{
	if (routed->sort == NULL)
		RouteRows(routed, ngroups);
	if (ngroups != routed->ngroups)
		elog(ERROR, "rows routed to %d groups are read as %d", routed->ngroups, ngroups);
}

int64
RoutedInputGroupRows(RoutedInput *routed, int ngroups, int group)
{
	CheckGroups(routed, ngroups);
	return routed->start[group + 1] - routed->start[group];
}

void
RoutedInputOpenGroup(RoutedInput *routed, int ngroups, int group)
{
	int64		skipped;

	CheckGroups(routed, ngroups);
	if (group <= routed->group)
		elog(ERROR, "group %d of routed rows is opened after group %d", group, routed->group);
	skipped = routed->start[group] - routed->position;
	if (skipped > 0 && !tuplesort_skiptuples(routed->sort, skipped, true))
		elog(ERROR, "routed rows end before group %d", group);
	routed->group = group;
	routed->position = routed->start[group];
	routed->end = routed->start[group + 1];
}

/* A value that lives as long as the batch; the bytes taken for it are added. */
static Datum
KeepValue(Form_pg_attribute att, Datum value, Size *bytes)
{
	struct varlena *ptr;

	if (att->attbyval)
		return value;
	ptr = (struct varlena *) DatumGetPointer(value);
	if (att->attlen == -1 && (VARATT_IS_EXTERNAL(ptr) || VARATT_IS_COMPRESSED(ptr)))
	{
		/* in batches everything is plain */
		ptr = pg_detoast_datum_packed(ptr);
		*bytes += VARSIZE_ANY(ptr);
		return PointerGetDatum(ptr);
	}
	*bytes += datumGetSize(value, false, att->attlen);
	return datumCopy(value, false, att->attlen);
}

/* Merging compares oid keys as 64-bit numbers; in a deformed tuple they have a sign. */
static void
UnsignKeys(RoutedInput *routed, int row)
{
	for (int k = 0; k < routed->nkeys; k++)
	{
		ColumnVector *vec = &routed->batch.cols[routed->keycols[k]];

		if (routed->classes[k] == KEYCLASS_OID && !vec->nulls[row])
			vec->values[row] = ObjectIdGetDatum(DatumGetObjectId(vec->values[row]));
	}
}

Batch *
RoutedInputNext(RoutedInput *routed)
{
	Batch	   *batch = &routed->batch;
	MemoryContext old;
	Size		bytes = 0;
	int			n = 0;

	if (routed->position >= routed->end)
		return NULL;
	MemoryContextReset(routed->batchcxt);
	old = MemoryContextSwitchTo(routed->batchcxt);
	while (n < ROUTED_ROWS && bytes < ROUTED_BYTES && routed->position < routed->end)
	{
		CHECK_FOR_INTERRUPTS();
		if (!tuplesort_gettupleslot(routed->sort, true, false, routed->out, NULL))
			elog(ERROR, "routed rows end inside group %d", routed->group);
		slot_getallattrs(routed->out);
		for (int c = 0; c < batch->ncols; c++)
		{
			ColumnVector *vec = &batch->cols[c];

			vec->nulls[n] = routed->out->tts_isnull[c + 1];
			vec->values[n] = vec->nulls[n] ? (Datum) 0 :
				KeepValue(TupleDescAttr(routed->desc, c + 1), routed->out->tts_values[c + 1], &bytes);
		}
		UnsignKeys(routed, n);
		routed->position++;
		n++;
	}
	MemoryContextSwitchTo(old);
	BatchReset(batch, n);
	memset(batch->loaded, true, batch->ncols * sizeof(bool));
	return batch;
}

bool
RoutedInputStats(RoutedInput *routed, TuplesortInstrumentation *stats)
{
	if (routed->sort == NULL)
		return false;
	tuplesort_get_stats(routed->sort, stats);
	return true;
}
