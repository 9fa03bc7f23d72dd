/*
 * unit_meter.c
 *	  How long units of work took, and how large the largest was.
 *
 * The time of a unit is what the node spent on it, itself and below: the
 * difference of the node's own clock.  The median comes from counts by time,
 * since those of many processes and rescans can be added up.
 */
#include "postgres.h"

#include <math.h>

#include "compat.h"
#include BF_EXPLAIN_HEADER
#include "exec/unit/unit_meter.h"

/* the first slot ends here, in seconds */
#define FIRST_SLOT 1e-7
#define SLOT_RATIO 1.125

/* Seconds the node has spent so far, now included when it is at work. */
static double
NodeTime(const Instrumentation *instrument)
{
	double		spent = instrument->total + INSTR_TIME_GET_DOUBLE(instrument->counter);

	if (!INSTR_TIME_IS_ZERO(instrument->starttime))
	{
		instr_time	now;

		INSTR_TIME_SET_CURRENT(now);
		INSTR_TIME_SUBTRACT(now, instrument->starttime);
		spent += INSTR_TIME_GET_DOUBLE(now);
	}
	return spent;
}

static int
TimeSlot(double seconds)
{
	double		slot = seconds > FIRST_SLOT ? log(seconds / FIRST_SLOT) / log(SLOT_RATIO) + 1 : 0;

	return Min((int) slot, UNIT_TIME_SLOTS - 1);
}

/* Keep the larger one of two largest units. */
static void
KeepLargest(UnitTimes *sum, const UnitTimes *add)
{
	if (add->rows <= sum->rows)
		return;
	sum->rows = add->rows;
	sum->total = add->total;
	sum->group = add->group;
	sum->ngroups = add->ngroups;
	sum->part = add->part;
}

void
UnitMeterBegin(UnitMeter *meter)
{
	if (meter->instrument == NULL)
		return;
	UnitMeterStop(meter);
	KeepLargest(&meter->stats, &meter->pass);
	memset(&meter->pass, 0, sizeof(UnitTimes));
}

void
UnitMeterCount(UnitMeter *meter, int ngroups, int group, bool part, int64 rows)
{
	UnitTimes  *pass = &meter->pass;

	if (meter->instrument == NULL)
		return;
	pass->total += rows;
	if (rows <= pass->rows)
		return;
	pass->rows = rows;
	pass->group = group;
	pass->ngroups = ngroups;
	pass->part = part;
}

void
UnitMeterStart(UnitMeter *meter)
{
	if (meter->instrument == NULL || !meter->instrument->need_timer)
		return;
	meter->start = NodeTime(meter->instrument);
	meter->running = true;
}

void
UnitMeterStop(UnitMeter *meter)
{
	UnitTimes  *stats = &meter->stats;
	double		seconds;

	if (!meter->running)
		return;
	meter->running = false;
	seconds = Max(NodeTime(meter->instrument) - meter->start, 0);
	stats->min = stats->timed > 0 ? Min(stats->min, seconds) : seconds;
	stats->max = Max(stats->max, seconds);
	stats->slots[TimeSlot(seconds)]++;
	stats->timed++;
}

void
UnitTimesAdd(UnitTimes *sum, const UnitTimes *add)
{
	KeepLargest(sum, add);
	if (add->timed == 0)
		return;
	sum->min = sum->timed > 0 ? Min(sum->min, add->min) : add->min;
	sum->max = Max(sum->max, add->max);
	for (int i = 0; i < UNIT_TIME_SLOTS; i++)
		sum->slots[i] += add->slots[i];
	sum->timed += add->timed;
}

/* The median, as exact as the slots are. */
static double
Median(const UnitTimes *stats)
{
	int64		seen = 0;
	int			slot = 0;
	double		median;

	while (slot < UNIT_TIME_SLOTS - 1 && 2 * (seen + stats->slots[slot]) < stats->timed)
		seen += stats->slots[slot++];
	/* the middle of the slot */
	median = FIRST_SLOT * pow(SLOT_RATIO, slot - 0.5);
	return Min(Max(median, stats->min), stats->max);
}

void
UnitMeterExplain(UnitMeter *meter, ExplainState *es)
{
	UnitTimes	all = {0};
	double		share;

	UnitMeterBegin(meter);
	UnitTimesAdd(&all, &meter->stats);
	UnitTimesAdd(&all, &meter->workers);
	if (all.rows == 0)
		return;
	share = 100.0 * all.rows / all.total;
	if (es->format == EXPLAIN_FORMAT_TEXT)
		ExplainPropertyText("Largest Unit",
							psprintf("%sbucket %d of %d, %.1f%% of the rows",
									 all.part ? "part of " : "", all.group, all.ngroups, share), es);
	else
	{
		ExplainPropertyInteger("Largest Unit Bucket", NULL, all.group, es);
		ExplainPropertyBool("Largest Unit Is Part", all.part, es);
		ExplainPropertyFloat("Largest Unit Share", "%", share, 1, es);
	}
	if (!es->timing || all.timed == 0)
		return;
	if (es->format == EXPLAIN_FORMAT_TEXT)
		ExplainPropertyText("Unit Time",
							psprintf("min=%.3f median=%.3f max=%.3f", 1000 * all.min,
									 1000 * Median(&all), 1000 * all.max), es);
	else
	{
		ExplainPropertyFloat("Unit Time Min", "ms", 1000 * all.min, 3, es);
		ExplainPropertyFloat("Unit Time Median", "ms", 1000 * Median(&all), 3, es);
		ExplainPropertyFloat("Unit Time Max", "ms", 1000 * all.max, 3, es);
	}
}
