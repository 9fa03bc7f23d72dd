/*
 * progress.h
 *	  What writes tables tells how far it is, in pg_stat_progress_copy.
 *
 * COPY tells by itself and is left alone.  Errors end what was begun; a commit
 * does not.
 */
#ifndef BF_PROGRESS_H
#define BF_PROGRESS_H

/* rows after which it is worth telling */
#define PROGRESS_ROWS 1024

/* So many rows have come, or were merged. */
extern void ProgressRows(Oid relid, int64 rows);

/* So many bytes are to be written; so many of them are. */
extern void ProgressTotal(Oid relid, int64 bytes);
extern void ProgressDone(Oid relid, int64 bytes);

/* The table is written; harmless if nothing was told. */
extern void ProgressEnd(void);

#endif							/* BF_PROGRESS_H */
