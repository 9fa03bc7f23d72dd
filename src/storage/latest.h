/*
 * latest.h
 *	  The files of a table at the moment, for those who change it.
 */
#ifndef BF_LATEST_H
#define BF_LATEST_H

#include "utils/snapshot.h"

/*
 * The ids of the files and inline writes that a snapshot sees, an array of *n,
 * ascending.  A serializable transaction does not count it as read.
 */
extern uint64 *LatestFileIds(Oid relid, Snapshot snapshot, int64 *n);

#endif							/* BF_LATEST_H */
