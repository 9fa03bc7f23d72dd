/*
 * agg_float.c
 *	  Sums and averages of floats, in the order of the rows.
 */
#include "postgres.h"

#include <math.h>

#include "exec/agg/agg_loops.h"
#include "utils/float.h"

/* As float4pl and float8pl: the order of the additions is that of the rows. */
static inline void
AddFloat4(const BatchAgg *agg, AggCell *cell, Datum value)
{
	float4		x = DatumGetFloat4(value);

	cell->u.f.sx = cell->count == 0 ? x : float4_pl((float4) cell->u.f.sx, x);
	cell->count++;
}

static inline void
AddFloat8(const BatchAgg *agg, AggCell *cell, Datum value)
{
	float8		x = DatumGetFloat8(value);

	cell->u.f.sx = cell->count == 0 ? x : float8_pl(cell->u.f.sx, x);
	cell->count++;
}

/* As float8_accum. */
static inline void
AddDeviation(const BatchAgg *agg, AggCell *cell, Datum value)
{
	float8		x = agg->type == FLOAT4OID ? (float8) DatumGetFloat4(value) :
		DatumGetFloat8(value);
	float8		n = (float8) cell->count + 1.0;
	float8		sx = cell->u.f.sx + x;

	if (cell->count > 0)
	{
		float8		d = x * n - sx;

		cell->u.f.sxx += d * d / (n * (float8) cell->count);
		if (unlikely(isinf(sx) || isinf(cell->u.f.sxx)))
		{
			if (!isinf(cell->u.f.sx) && !isinf(x))
				float_overflow_error();
			cell->u.f.sxx = get_float8_nan();
		}
	}
	else if (isnan(x) || isinf(x))
		cell->u.f.sxx = get_float8_nan();
	cell->u.f.sx = sx;
	cell->count++;
}

DEFINE_LOOPS(Float4, AddFloat4);
DEFINE_LOOPS(Float8, AddFloat8);
DEFINE_LOOPS(Deviation, AddDeviation);

static void
CombineFloat4(const BatchAgg *agg, AggCell *cell, const AggCell *other)
{
	cell->u.f.sx = cell->count == 0 ? other->u.f.sx :
		float4_pl((float4) cell->u.f.sx, (float4) other->u.f.sx);
}

static void
CombineFloat8(const BatchAgg *agg, AggCell *cell, const AggCell *other)
{
	cell->u.f.sx = cell->count == 0 ? other->u.f.sx : float8_pl(cell->u.f.sx, other->u.f.sx);
}

/* As float8_combine. */
static void
CombineDeviations(const BatchAgg *agg, AggCell *cell, const AggCell *other)
{
	float8		n = (float8) cell->count;
	float8		m = (float8) other->count;
	float8		d;
	float8		sxx;

	if (cell->count == 0)
	{
		cell->u.f = other->u.f;
		return;
	}
	d = cell->u.f.sx / n - other->u.f.sx / m;
	sxx = cell->u.f.sxx + other->u.f.sxx + n * m * d * d / (n + m);
	if (isinf(sxx) && !isinf(cell->u.f.sxx) && !isinf(other->u.f.sxx))
		float_overflow_error();
	cell->u.f.sx = float8_pl(cell->u.f.sx, other->u.f.sx);
	cell->u.f.sxx = sxx;
}

static Datum
SumFloat4(const BatchAgg *agg, AggCell *cell)
{
	return Float4GetDatum((float4) cell->u.f.sx);
}

static Datum
SumFloat8(const BatchAgg *agg, AggCell *cell)
{
	return Float8GetDatum(cell->u.f.sx);
}

static Datum
Average(const BatchAgg *agg, AggCell *cell)
{
	return Float8GetDatum(cell->u.f.sx / (float8) cell->count);
}

const VectorAgg sum_float4_agg = {
	.advance = Float4Advance,
	.scatter = Float4Scatter,
	.combine = CombineFloat4,
	.result = SumFloat4,
};

const VectorAgg sum_float8_agg = {
	.advance = Float8Advance,
	.scatter = Float8Scatter,
	.combine = CombineFloat8,
	.result = SumFloat8,
};

const VectorAgg avg_float_agg = {
	.advance = DeviationAdvance,
	.scatter = DeviationScatter,
	.combine = CombineDeviations,
	.result = Average,
};
