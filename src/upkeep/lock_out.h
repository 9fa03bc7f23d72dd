/*
 * lock_out.h
 *	  Files are exchanged while nobody changes rows of the table.
 */
#ifndef BF_LOCK_OUT_H
#define BF_LOCK_OUT_H

#include "utils/relcache.h"

/*
 * Wait until nobody changes rows, and lock them out to the end of the
 * transaction; without a place in the queue, where they would wait behind us.
 * false: somebody has not ended for too long, which the user is told; the
 * worker gives way by an error.
 */
extern bool LockOutChangers(Relation rel);

/* The same without keeping the lock: before work that would be for nothing. */
extern bool WaitForChangers(Relation rel);

#endif							/* BF_LOCK_OUT_H */
