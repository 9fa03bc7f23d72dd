/*
 * decimal_ops.c
 *	  Arithmetic of integers and numerics on whole batches.
 *
 * A vector knows bounds of its values, from which follow those of a result:
 * they say beforehand whether it fits 64 bits, or 128, so that the loops have
 * nothing to check.
 */
#include "postgres.h"

#include "exec/agg/expr/decimal_ops.h"
#include "vector/numeric_int.h"

/* Run a statement for each of the rows, whose number is "row". */
#define FOR_EACH_ROW(at, stmt) \
	do { \
		const uint16 *rows_ = (at)->rows; \
		const int	n_ = (at)->n; \
		if (rows_ == NULL) \
		{ \
			for (int row = 0; row < n_; row++) \
			{ \
				stmt; \
			} \
		} \
		else \
		{ \
			for (int i_ = 0; i_ < n_; i_++) \
			{ \
				const int	row = rows_[i_]; \
				stmt; \
			} \
		} \
	} while (0)

static inline bool
FitsNarrow(int128 min, int128 max)
{
	return min >= PG_INT64_MIN && max <= PG_INT64_MAX;
}

/* Is there a value? */
static inline bool
IsEmpty(const DecimalVector *vec)
{
	return vec->min_scale > vec->max_scale;
}

static void
SetEmpty(DecimalVector *vec)
{
	vec->min_scale = PG_UINT8_MAX;
	vec->max_scale = -1;
	vec->min = vec->max = 0;
}

#define RESERVE(buf, field) \
	((buf)->field != NULL ? (buf)->field : \
	 ((buf)->field = MemoryContextAllocZero((buf)->cxt, BF_BATCH_ROWS * sizeof(*(buf)->field))))

/* Where a result goes that is narrow, or wide. */
static void
SetRoom(DecimalBuffer *buf, bool narrow)
{
	buf->vec.narrow = narrow ? RESERVE(buf, narrow) : NULL;
	buf->vec.wide = narrow ? NULL : RESERVE(buf, wide);
}

/*
 * Where most rows are wanted it is as well to compute all: what stands in the
 * others is harmless, as arithmetic wraps around.
 */
static DecimalRows
MostRows(const DecimalRows *at)
{
	DecimalRows all = {.n = at->nrows, .nrows = at->nrows};

	return at->rows != NULL && at->n > at->nrows / 2 ? all : *at;
}

bool
DecimalsOfNumerics(DecimalBuffer *buf, const ColumnVector *column, const DecimalRows *at)
{
	DecimalVector *vec = &buf->vec;
	int64	   *narrow = RESERVE(buf, narrow);
	uint8	   *scales = RESERVE(buf, scales);
	int64		min = PG_INT64_MAX;
	int64		max = PG_INT64_MIN;
	bool		fits = true;

	memset(vec, 0, sizeof(*vec));
	SetEmpty(vec);
	vec->nulls = column->nulls;
	for (int i = 0; i < at->n; i++)
	{
		int			row = at->rows ? at->rows[i] : i;
		int128		value;
		int			scale;

		if (column->nulls && column->nulls[row])
			continue;
		if (!NumericToInt128(column->values[row], &value, &scale))
			return false;
		scales[row] = (uint8) scale;
		vec->min_scale = Min(vec->min_scale, scale);
		vec->max_scale = Max(vec->max_scale, scale);
		narrow[row] = (int64) value;
		if (likely(narrow[row] == value))
		{
			min = Min(min, narrow[row]);
			max = Max(max, narrow[row]);
			continue;
		}
		fits = false;
		vec->min = Min(vec->min, value);
		vec->max = Max(vec->max, value);
	}
	if (min <= max)
	{
		vec->min = fits ? min : Min(vec->min, min);
		vec->max = fits ? max : Max(vec->max, max);
	}
	vec->scales = vec->min_scale < vec->max_scale ? scales : NULL;
	SetRoom(buf, fits);
	if (!fits)
	{
		int			scale;

		FOR_EACH_ROW(at, if (!DecimalIsNull(vec, row))
					 (void) NumericToInt128(column->values[row], &buf->wide[row], &scale));
	}
	return true;
}

/* Find the true bounds of the values. */
static void
Measure(DecimalVector *vec, const DecimalRows *at)
{
	bool		any = false;

	if (vec->narrow != NULL)
	{
		int64		min = PG_INT64_MAX;
		int64		max = PG_INT64_MIN;

		if (vec->nulls == NULL)
			FOR_EACH_ROW(at, min = Min(min, vec->narrow[row]); max = Max(max, vec->narrow[row]));
		else
			FOR_EACH_ROW(at, if (!vec->nulls[row])
			{
				min = Min(min, vec->narrow[row]);
				max = Max(max, vec->narrow[row]);
			});
		any = min <= max;
		vec->min = min;
		vec->max = max;
	}
	else
	{
		FOR_EACH_ROW(at, if (!DecimalIsNull(vec, row))
		{
			vec->min = any ? Min(vec->min, vec->wide[row]) : vec->wide[row];
			vec->max = any ? Max(vec->max, vec->wide[row]) : vec->wide[row];
			any = true;
		});
	}
	if (!any)
		SetEmpty(vec);
}

void
DecimalsOfInts(DecimalBuffer *buf, const ColumnVector *column, const DecimalRows *at)
{
	DecimalVector *vec = &buf->vec;

	memset(vec, 0, sizeof(*vec));
	vec->narrow = (const int64 *) column->values;
	vec->nulls = column->nulls;
	Measure(vec, at);
}

bool
DecimalsOfScaled(DecimalBuffer *buf, const ScaledColumn *column, const DecimalRows *at)
{
	DecimalVector *vec = &buf->vec;

	if (column->scale > DECIMAL_MAX_SCALE)
		return false;
	memset(vec, 0, sizeof(*vec));
	vec->narrow = column->values;
	vec->nulls = column->nulls;
	vec->min_scale = vec->max_scale = column->scale;
	Measure(vec, at);
	return true;
}

void
DecimalsOfConst(DecimalBuffer *buf, int128 value, int scale, bool isnull)
{
	DecimalVector *vec = &buf->vec;

	memset(vec, 0, sizeof(*vec));
	vec->min = vec->max = value;
	vec->min_scale = vec->max_scale = scale;
	SetRoom(buf, FitsNarrow(value, value));
	for (int row = 0; row < BF_BATCH_ROWS; row++)
	{
		if (vec->narrow != NULL)
			buf->narrow[row] = (int64) value;
		else
			buf->wide[row] = value;
	}
	if (!isnull)
		return;
	SetEmpty(vec);
	vec->nulls = RESERVE(buf, nulls);
	memset(buf->nulls, true, BF_BATCH_ROWS * sizeof(bool));
}

/* The result of operands of which one is NULL is NULL. */
static void
SetNulls(DecimalBuffer *buf, const DecimalVector *a, const DecimalVector *b, const DecimalRows *at)
{
	bool	   *nulls;

	buf->vec.nulls = a->nulls != NULL ? a->nulls : b->nulls;
	if (a->nulls == NULL || b->nulls == NULL || a->nulls == b->nulls)
		return;
	nulls = RESERVE(buf, nulls);
	FOR_EACH_ROW(at, nulls[row] = a->nulls[row] || b->nulls[row]);
	buf->vec.nulls = nulls;
}

/* If one of the operands has no value, neither has the result. */
static bool
IsOfNothing(DecimalBuffer *buf, const DecimalVector *a, const DecimalVector *b)
{
	if (!IsEmpty(a) && !IsEmpty(b))
		return false;
	buf->vec = IsEmpty(a) ? *a : *b;
	return true;
}

/* value * factor, unless it is too large */
static inline bool
Scaled(int128 value, int128 factor, int128 *result)
{
	return !__builtin_mul_overflow(value, factor, result) && DecimalInLimit(*result);
}

/* out = a * pa + b * pb, in 64 bits */
static void
AddNarrow(int64 *out, const DecimalVector *a, const DecimalVector *b, int64 pa, int64 pb,
		  const DecimalRows *at)
{
	const uint64 *x = (const uint64 *) a->narrow;
	const uint64 *y = (const uint64 *) b->narrow;

	if (pa == 1 && pb == 1)
		FOR_EACH_ROW(at, out[row] = (int64) (x[row] + y[row]));
	else if (pa == 1 && pb == -1)
		FOR_EACH_ROW(at, out[row] = (int64) (x[row] - y[row]));
	else
		FOR_EACH_ROW(at, out[row] = (int64) (x[row] * (uint64) pa + y[row] * (uint64) pb));
}

/* Units differ from row to row. */
static void
AddMixed(DecimalBuffer *buf, const DecimalVector *a, const DecimalVector *b, bool subtract,
		 const DecimalRows *at)
{
	uint8	   *scales = RESERVE(buf, scales);
	int128		powers[DECIMAL_MAX_SCALE + 1];

	powers[0] = 1;
	for (int i = 1; i <= DECIMAL_MAX_SCALE; i++)
		powers[i] = powers[i - 1] * 10;
	FOR_EACH_ROW(at, if (!DecimalIsNull(&buf->vec, row))
	{
		int			sa = DecimalScaleAt(a, row);
		int			sb = DecimalScaleAt(b, row);
		int			scale = Max(sa, sb);
		int128		x = DecimalAt(a, row) * powers[scale - sa];
		int128		y = DecimalAt(b, row) * powers[scale - sb];
		int128		sum = subtract ? x - y : x + y;

		scales[row] = (uint8) scale;
		if (buf->vec.narrow != NULL)
			buf->narrow[row] = (int64) sum;
		else
			buf->wide[row] = sum;
	});
	buf->vec.scales = scales;
}

bool
DecimalsAdd(DecimalBuffer *buf, const DecimalVector *a, const DecimalVector *b, bool subtract,
			const DecimalRows *at)
{
	DecimalVector *vec = &buf->vec;
	DecimalRows most = MostRows(at);
	int128		pa;
	int128		pb;
	int128		bounds[4];

	if (IsOfNothing(buf, a, b))
		return true;
	memset(vec, 0, sizeof(*vec));
	vec->min_scale = Max(a->min_scale, b->min_scale);
	vec->max_scale = Max(a->max_scale, b->max_scale);
	/* the most that a value may have to be multiplied with */
	pa = PowerOfTen(vec->max_scale - a->min_scale);
	pb = PowerOfTen(vec->max_scale - b->min_scale);
	if (!Scaled(a->min, pa, &bounds[0]) || !Scaled(a->max, pa, &bounds[1]) ||
		!Scaled(subtract ? b->max : b->min, subtract ? -pb : pb, &bounds[2]) ||
		!Scaled(subtract ? b->min : b->max, subtract ? -pb : pb, &bounds[3]))
		return false;
	/* of a value that is multiplied with less, too */
	vec->min = Min(bounds[0], a->min) + Min(bounds[2], subtract ? -b->max : b->min);
	vec->max = Max(bounds[1], a->max) + Max(bounds[3], subtract ? -b->min : b->max);
	if (!DecimalInLimit(vec->min) || !DecimalInLimit(vec->max))
		return false;
	SetNulls(buf, a, b, at);
	SetRoom(buf, a->narrow && b->narrow && FitsNarrow(vec->min, vec->max));
	if (a->scales != NULL || b->scales != NULL)
	{
		AddMixed(buf, a, b, subtract, at);
		return true;
	}
	if (vec->narrow != NULL && FitsNarrow(-pa, pa) && FitsNarrow(-pb, pb))
		AddNarrow(buf->narrow, a, b, (int64) pa, subtract ? -(int64) pb : (int64) pb, &most);
	else
	{
		unsigned __int128 upa = (unsigned __int128) pa;
		unsigned __int128 upb = (unsigned __int128) (subtract ? -pb : pb);

		SetRoom(buf, false);
		FOR_EACH_ROW(at, buf->wide[row] = (int128) ((unsigned __int128) DecimalAt(a, row) * upa +
													(unsigned __int128) DecimalAt(b, row) * upb));
	}
	return true;
}

bool
DecimalsMultiply(DecimalBuffer *buf, const DecimalVector *a, const DecimalVector *b,
				 const DecimalRows *at)
{
	DecimalVector *vec = &buf->vec;
	DecimalRows most = MostRows(at);
	int128		corners[4];

	if (IsOfNothing(buf, a, b))
		return true;
	memset(vec, 0, sizeof(*vec));
	vec->min_scale = a->min_scale + b->min_scale;
	vec->max_scale = a->max_scale + b->max_scale;
	if (vec->max_scale > DECIMAL_MAX_SCALE ||
		!Scaled(a->min, b->min, &corners[0]) || !Scaled(a->min, b->max, &corners[1]) ||
		!Scaled(a->max, b->min, &corners[2]) || !Scaled(a->max, b->max, &corners[3]))
		return false;
	vec->min = vec->max = corners[0];
	for (int i = 1; i < 4; i++)
	{
		vec->min = Min(vec->min, corners[i]);
		vec->max = Max(vec->max, corners[i]);
	}
	SetNulls(buf, a, b, at);
	SetRoom(buf, a->narrow && b->narrow && FitsNarrow(vec->min, vec->max));
	if (a->scales != NULL || b->scales != NULL)
	{
		uint8	   *scales = RESERVE(buf, scales);

		FOR_EACH_ROW(at, scales[row] = (uint8) (DecimalScaleAt(a, row) + DecimalScaleAt(b, row)));
		vec->scales = scales;
	}
	if (vec->narrow != NULL)
	{
		const uint64 *x = (const uint64 *) a->narrow;
		const uint64 *y = (const uint64 *) b->narrow;
		int64	   *out = buf->narrow;

		FOR_EACH_ROW(&most, out[row] = (int64) (x[row] * y[row]));
	}
	else
		FOR_EACH_ROW(at, buf->wide[row] = (int128) ((unsigned __int128) DecimalAt(a, row) *
													(unsigned __int128) DecimalAt(b, row)));
	return true;
}

void
DecimalsNegate(DecimalBuffer *buf, const DecimalVector *a, const DecimalRows *at)
{
	DecimalVector *vec = &buf->vec;

	*vec = *a;
	vec->min = -a->max;
	vec->max = -a->min;
	SetRoom(buf, a->narrow && FitsNarrow(vec->min, vec->max));
	if (vec->narrow != NULL)
		FOR_EACH_ROW(at, buf->narrow[row] = (int64) -(uint64) a->narrow[row]);
	else
		FOR_EACH_ROW(at, buf->wide[row] = (int128) -(unsigned __int128) DecimalAt(a, row));
}

bool
DecimalsWithin(DecimalBuffer *buf, int64 min, int64 max, const DecimalRows *at)
{
	DecimalVector *vec = &buf->vec;

	if (vec->min < min || vec->max > max)
	{
		Measure(vec, at);
		if (vec->min < min || vec->max > max)
			return false;
	}
	if (vec->narrow == NULL)
	{
		const int128 *wide = vec->wide;

		SetRoom(buf, true);
		FOR_EACH_ROW(at, buf->narrow[row] = (int64) wide[row]);
	}
	return true;
}

void
DecimalsChoose(DecimalBuffer *buf, const uint8 *choice, int nvecs,
			   const DecimalVector *const *vecs, const DecimalRows *at)
{
	DecimalVector *vec = &buf->vec;
	bool	   *nulls = RESERVE(buf, nulls);
	uint8	   *scales = RESERVE(buf, scales);
	bool		narrow = true;

	memset(vec, 0, sizeof(*vec));
	SetEmpty(vec);
	for (int i = 0; i < nvecs; i++)
	{
		const DecimalVector *arm = vecs[i];

		if (arm == NULL || IsEmpty(arm))
			continue;
		vec->min = IsEmpty(vec) ? arm->min : Min(vec->min, arm->min);
		vec->max = IsEmpty(vec) ? arm->max : Max(vec->max, arm->max);
		vec->min_scale = Min(vec->min_scale, arm->min_scale);
		vec->max_scale = Max(vec->max_scale, arm->max_scale);
		narrow &= arm->narrow != NULL;
	}
	SetRoom(buf, narrow);
	vec->nulls = nulls;
	if (vec->min_scale < vec->max_scale)
		vec->scales = scales;
	FOR_EACH_ROW(at,
				 {
					 const DecimalVector *arm = choice[row] < nvecs ? vecs[choice[row]] : NULL;

					 nulls[row] = arm == NULL || DecimalIsNull(arm, row);
					 if (nulls[row])
						 continue;
					 if (narrow)
						 buf->narrow[row] = arm->narrow[row];
					 else
						 buf->wide[row] = DecimalAt(arm, row);
					 scales[row] = (uint8) DecimalScaleAt(arm, row);
				 });
}
