/*
 * rebucket.h
 *	  A table gets another bucket spec, and its files are written anew.
 */
#ifndef BF_REBUCKET_H
#define BF_REBUCKET_H

#include "utils/relcache.h"

/* What is wanted, as in options; NULL: as it is. */
typedef struct RebucketRequest
{
	const char *buckets;
	const char *bucket_by;
	const char *sort_by;
	const char *compression;
} RebucketRequest;

/* One table, from step to step. */
typedef struct Rebucketing Rebucketing;

/* Error if the columns of a table do not allow it. */
extern void RebucketCheck(Relation rel, const RebucketRequest *request);

/* In the current context, which outlives the transactions of the steps, as the request does. */
extern Rebucketing *RebucketBegin(Oid relid, const RebucketRequest *request);

/*
 * One step, in a transaction that has done nothing yet and that the caller
 * commits; it is made READ COMMITTED.  The first makes the new spec that of the
 * table; another key or order takes no further step.  false: nothing more is to
 * be done.  The table need not exist any more.
 */
extern bool RebucketStep(Rebucketing *rebucketing);

#endif							/* BF_REBUCKET_H */
