/*
 * start.h
 *	  The commit that leaves a table in need starts a worker.
 */
#ifndef BF_START_H
#define BF_START_H

/* Register the callback at the end of transactions; before that of the loads, which then comes first. */
extern void UpkeepInit(void);

/* Commits of this process start no worker. */
extern void UpkeepStartNone(void);

#endif							/* BF_START_H */
