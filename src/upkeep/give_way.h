/*
 * give_way.h
 *	  Upkeep in the background gives way to whoever waits for it.
 */
#ifndef BF_GIVE_WAY_H
#define BF_GIVE_WAY_H

#include "storage/lock.h"

/* Why a step was ended by ourselves. */
typedef enum GiveWay
{
	GIVE_WAY_NOT,
	GIVE_WAY_TABLE,				/* somebody waits for the table, or for the manifest */
	GIVE_WAY_DATABASE			/* somebody wants the database for himself */
} GiveWay;

/* Set before the error that ends a step. */
extern GiveWay bf_give_way;

/* May this process have the lock?  It does not keep it. */
extern bool CanLock(const LOCKTAG *tag, LOCKMODE mode);

/* The lock that the worker of a database holds for as long as it lives. */
extern void WorkerTag(LOCKTAG *tag);

extern bool DatabaseIsWanted(void);

/* The table that the next steps lock; from now on Pace() looks out. */
extern void GiveWayBegin(Oid relid);

/* End the step by an error. */
extern void GiveWayTo(GiveWay whom);

/* Every now and then find out whether somebody waits; then an error. */
extern void LookOut(void);

/* Sleep, or until the latch is set; read the configuration if it has changed. */
extern void SleepAWhile(long ms, uint32 event);

#endif							/* BF_GIVE_WAY_H */
