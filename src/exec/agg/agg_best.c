/*
 * agg_best.c
 *	  Minimum and maximum of types with a key class; bool_and and bool_or.
 */
#include "postgres.h"

#include "exec/agg/agg_loops.h"
#include "utils/datum.h"

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
Advance(const BatchAgg *agg, AggCell *cell, const AggVector *vector, const uint16 *rows,
		int from, int to)
{
	const ColumnVector *vec = vector->column;

	if (KeyClassIsFixed(agg->keyclass))
		ADD_ALL(KeepFixed);
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
