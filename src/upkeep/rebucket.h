/*
 * rebucket.h
 *	  A table gets another bucket spec, and its files are written anew.
 */
#ifndef BF_REBUCKET_H
#define BF_REBUCKET_H

#include "nodes/pg_list.h"

/* One table, from step to step. */
typedef struct Rebucketing Rebucketing;

/*
 * given are the options that are wanted, as for SpecChangeMake.  In the current
 * context, which outlives the transactions of the steps, as the list does.
 */
extern Rebucketing *RebucketBegin(Oid relid, List *given);

/*
 * One step, in a transaction as StepOfTable wants it.  The first makes the new
 * spec that of the table; another key or order takes no further step.  false:
 * nothing more is to be done.
 */
extern bool RebucketStep(Rebucketing *rebucketing);

#endif							/* BF_REBUCKET_H */
