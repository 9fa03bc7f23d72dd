/*
 * steps.h
 *	  The upkeep of one table, a transaction at a time.
 */
#ifndef BF_STEPS_H
#define BF_STEPS_H

#include "datatype/timestamp.h"
#include "nodes/pg_list.h"
#include "upkeep/compact.h"

typedef enum UpkeepStage
{
	UPKEEP_COMPACT,
	UPKEEP_ANALYZE,
	UPKEEP_CLEANUP,
	UPKEEP_DONE
} UpkeepStage;

/* What may become due without anybody doing anything. */
typedef struct UpkeepWait
{
	bool		garbage;		/* the removal of files that are still needed */
	TimestampTz quiet_at;		/* more compaction, then; 0: none */
} UpkeepWait;

/* One table that is being looked after, from step to step. */
typedef struct Upkeep
{
	Oid			relid;
	UpkeepStage stage;
	Compaction *compaction;		/* NULL: none is due */
	bool		analyze;		/* it is due */
	TimestampTz begun;
	int			compacted;		/* what was done: steps of compaction, */
	bool		analyzed;
	bool		failed;			/* core did not analyze it */
	int64		removed;		/* files */
} Upkeep;

/*
 * Find out what is due, in a transaction; the current context outlives it.
 * NULL: nothing; *wait says what may be in a while.
 */
extern Upkeep *UpkeepBegin(Oid relid, UpkeepWait *wait);

/*
 * One step, in a transaction that has done nothing yet and that the caller
 * commits.  The table need not exist any more.  false: nothing more is to be
 * done.
 */
extern bool UpkeepStep(Upkeep *upkeep);

/* All bucketed tables that the current user may maintain. */
extern List *MaintainableTables(void);

/* Say what was done, if it took long enough. */
extern void UpkeepLog(const Upkeep *upkeep);

#endif							/* BF_STEPS_H */
