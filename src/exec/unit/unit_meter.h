/*
 * unit_meter.h
 *	  How long units of work took, and how large the largest was; for EXPLAIN
 *	  ANALYZE.
 */
#ifndef BF_UNIT_METER_H
#define BF_UNIT_METER_H

#include "compat.h"
#include BF_EXPLAIN_STATE_HEADER
#include "executor/instrument.h"

/* units are counted by time in slots, each of which ends 1/8 above the one before */
#define UNIT_TIME_SLOTS 256

/* What is known of some units; may lie in shared memory. */
typedef struct UnitTimes
{
	int64		timed;			/* units whose time was taken */
	double		min;			/* seconds */
	double		max;
	uint32		slots[UNIT_TIME_SLOTS];
	int64		rows;			/* of the largest unit; 0: there was none */
	int64		total;			/* of all units of the pass in which that was one */
	int			group;			/* where it is, */
	int			ngroups;
	bool		part;			/* and whether it is a part of the group */
} UnitTimes;

/* Takes the time of the units of a queue. */
typedef struct UnitMeter
{
	Instrumentation *instrument;	/* of the node that works on the units; NULL: nothing is measured */
	bool		running;		/* a unit is being worked on */
	double		start;			/* seconds spent in the node when it began */
	UnitTimes	pass;			/* sizes of this pass over all units */
	UnitTimes	stats;			/* of this process */
	UnitTimes	workers;		/* of parallel workers */
} UnitMeter;

/* A pass over units begins; the one before ends, if there was one. */
extern void UnitMeterBegin(UnitMeter *meter);

/* A unit of the pass, with so many rows, of some bucket group. */
extern void UnitMeterCount(UnitMeter *meter, int ngroups, int group, bool part, int64 rows);

/* Work on a unit begins, or ends (harmless where none began). */
extern void UnitMeterStart(UnitMeter *meter);
extern void UnitMeterStop(UnitMeter *meter);

/* Add what one process measured to what others did. */
extern void UnitTimesAdd(UnitTimes *sum, const UnitTimes *add);

/* EXPLAIN lines; nothing where no unit was seen. */
extern void UnitMeterExplain(UnitMeter *meter, ExplainState *es);

#endif							/* BF_UNIT_METER_H */
