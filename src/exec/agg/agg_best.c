/*
 * agg_best.c
 *	  Minimum and maximum of types with a key class; bool_and and bool_or.
 */
#include "postgres.h"

#include "exec/agg/agg_loops.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/varlena.h"

/* Keep a value that is greater (or less) than the best so far, or equal and later, as core does. */
static inline void
KeepFixed(const BatchAgg *agg, AggCell *cell, Datum value)
{
	int64		image = KeySort64(agg->keyclass, agg->type, value);

	if (cell->count == 0 || (agg->fn == &max_agg ? image >= cell->u.best.image :
							 image <= cell->u.best.image))
	{
		cell->u.best.image = image;
		cell->u.best.value = value;
	}
	cell->count = 1;
}

static inline bool
SameBytes(Datum a, Datum b)
{
	const void *x = DatumGetPointer(a);
	const void *y = DatumGetPointer(b);
	size_t		len = VARSIZE_ANY_EXHDR(x);

	return VARSIZE_ANY_EXHDR(y) == len && memcmp(VARDATA_ANY(x), VARDATA_ANY(y), len) == 0;
}

/*
 * The same by reference, which are varlena all.  "owned" says whether the cell's value is its own:
 * one that points into the batch costs nothing when the next one is better.
 */
static pg_attribute_always_inline void
KeepPointer(KeyComparison compare, bool max, AggCell *cell, Datum value, bool *owned)
{
	int			c;

	if (cell->count > 0)
	{
		if (value == cell->u.best.value)
			return;
		c = compare(value, cell->u.best.value);
		if (max ? c < 0 : c > 0)
			return;
		if (c == 0 && SameBytes(value, cell->u.best.value))
			return;
		if (*owned)
			pfree(DatumGetPointer(cell->u.best.value));
	}
	cell->u.best.value = value;
	cell->count = 1;
	*owned = false;
}

/*
 * Texts under a collation whose order is not that of bytes.  It is
 * deterministic: what compares equal has the same bytes, but for trailing
 * blanks of bpchar.
 */
static int
CompareCollated(const BatchAgg *agg, Datum a, Datum b)
{
	char	   *x = VARDATA_ANY(DatumGetPointer(a));
	char	   *y = VARDATA_ANY(DatumGetPointer(b));
	int			xlen = VARSIZE_ANY_EXHDR(DatumGetPointer(a));
	int			ylen = VARSIZE_ANY_EXHDR(DatumGetPointer(b));

	if (agg->keyclass == KEYCLASS_BPCHAR)
	{
		xlen = bpchartruelen(x, xlen);
		ylen = bpchartruelen(y, ylen);
	}
	return varstr_cmp(x, xlen, y, ylen, agg->collation);
}

/* KeepPointer for those. */
static void
KeepCollated(const BatchAgg *agg, AggCell *cell, Datum value, bool *owned)
{
	int			c;

	if (cell->count > 0)
	{
		if (value == cell->u.best.value)
			return;
		c = CompareCollated(agg, value, cell->u.best.value);
		if (agg->fn == &max_agg ? c < 0 : c > 0)
			return;
		if (c == 0 && SameBytes(value, cell->u.best.value))
			return;
		if (*owned)
			pfree(DatumGetPointer(cell->u.best.value));
	}
	cell->u.best.value = value;
	cell->count = 1;
	*owned = false;
}

/*
 * Comparing by a collation takes a hundred times longer than looking up whether
 * the same value of the batch was compared with the best of its cell before:
 * such a value is not better than what the cell has now.  A dictionary gives
 * the same values again and again.
 */
typedef struct ComparedValue
{
	Datum		value;
	const AggCell *cell;
} ComparedValue;

#define COMPARED_VALUES 1024

/* Was it?  From now on it was. */
static inline bool
WasCompared(ComparedValue *compared, const AggCell *cell, Datum value)
{
	ComparedValue *slot = &compared[((value ^ (value >> 10)) + (uintptr_t) cell / sizeof(AggCell)) % COMPARED_VALUES];

	if (slot->value == value && slot->cell == cell)
		return true;
	slot->value = value;
	slot->cell = cell;
	return false;
}

/* Make a value that points into a batch the cell's own. */
static inline void
OwnBest(const BatchAgg *agg, AggCell *cell)
{
	MemoryContext old = MemoryContextSwitchTo(agg->cxt);

	cell->u.best.value = datumCopy(cell->u.best.value, agg->typbyval, agg->typlen);
	MemoryContextSwitchTo(old);
}

static void
KeepAllPointers(const BatchAgg *agg, AggCell *cell, const ColumnVector *vec, const uint16 *rows,
				int from, int to)
{
	KeyComparison compare = KeyClasses[agg->keyclass].compare;
	bool		max = agg->fn == &max_agg;
	AggCell		local = *cell;
	bool		owned = cell->count > 0;

	FOR_EACH_VALUE(from, to, KeepPointer(compare, max, &local, vec->values[row], &owned));
	*cell = local;
	if (!owned && cell->count > 0)
		OwnBest(agg, cell);
}

static void
KeepAllCollated(const BatchAgg *agg, AggCell *cell, const ColumnVector *vec, const uint16 *rows,
				int from, int to)
{
	ComparedValue compared[COMPARED_VALUES];
	bool		remember = to - from >= COMPARED_VALUES;
	bool		owned = cell->count > 0;

	if (remember)
		memset(compared, 0, sizeof(compared));
	FOR_EACH_VALUE(from, to,
				   {
					   if (!remember || !WasCompared(compared, cell, vec->values[row]))
						   KeepCollated(agg, cell, vec->values[row], &owned);
				   });
	if (!owned && cell->count > 0)
		OwnBest(agg, cell);
}

/* Each value to its cell, whose best is then the cell's own. */
static void
KeepEachCollated(const BatchAgg *agg, AggCell *cells, int stride, const uint32 *groups,
				 const ColumnVector *vec, const uint16 *rows, int n)
{
	ComparedValue compared[COMPARED_VALUES];
	bool		remember = n >= COMPARED_VALUES;

	if (remember)
		memset(compared, 0, sizeof(compared));
	FOR_EACH_VALUE(0, n,
				   {
					   AggCell    *cell = CELL(i_);
					   bool		owned = cell->count > 0;

					   if (remember && WasCompared(compared, cell, vec->values[row]))
						   continue;
					   KeepCollated(agg, cell, vec->values[row], &owned);
					   if (!owned)
						   OwnBest(agg, cell);
				   });
}

static void
Advance(const BatchAgg *agg, AggCell *cell, const AggVector *vector, const uint16 *rows,
		int from, int to)
{
	const ColumnVector *vec = vector->column;

	if (KeyClassIsFixed(agg->keyclass))
		ADD_ALL(KeepFixed);
	else if (OidIsValid(agg->collation))
		KeepAllCollated(agg, cell, vec, rows, from, to);
	else
		KeepAllPointers(agg, cell, vec, rows, from, to);
}

static void
Scatter(const BatchAgg *agg, AggCell *cells, int stride, const uint32 *groups,
		const AggVector *vector, const uint16 *rows, int n)
{
	const ColumnVector *vec = vector->column;
	KeyComparison compare = KeyClasses[agg->keyclass].compare;
	bool		max = agg->fn == &max_agg;

	if (KeyClassIsFixed(agg->keyclass))
		ADD_EACH(KeepFixed);
	else if (OidIsValid(agg->collation))
		KeepEachCollated(agg, cells, stride, groups, vec, rows, n);
	else
		FOR_EACH_VALUE(0, n,
					   {
						   AggCell    *cell = CELL(i_);
						   Datum		before = cell->u.best.value;
						   bool		owned = cell->count > 0;

						   KeepPointer(compare, max, cell, vec->values[row], &owned);
						   if (cell->u.best.value != before)
							   OwnBest(agg, cell);
					   });
}

/* The other's best is one more value. */
static void
Combine(const BatchAgg *agg, AggCell *cell, const AggCell *other)
{
	ColumnVector best = {.values = unconstify(Datum *, &other->u.best.value)};
	AggVector	vector = {.column = &best};

	Advance(agg, cell, &vector, NULL, 0, 1);
}

static Datum
Result(const BatchAgg *agg, AggCell *cell)
{
	return cell->u.best.value;
}

const VectorAgg min_agg = {
	.advance = Advance,
	.scatter = Scatter,
	.combine = Combine,
	.result = Result,
	.keeps_best = true,
};

const VectorAgg max_agg = {
	.advance = Advance,
	.scatter = Scatter,
	.combine = Combine,
	.result = Result,
	.keeps_best = true,
};
