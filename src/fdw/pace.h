/*
 * pace.h
 *	  Long work in the background gives way to others.
 */
#ifndef BF_PACE_H
#define BF_PACE_H

/*
 * Called between blocks by what reads or writes whole tables, with the bytes
 * since the last call: it sleeps, or ends the work by an error because somebody
 * waits.  NULL in the foreground.
 */
typedef void (*PaceFunction) (int64 bytes);

extern PaceFunction bf_pace;

#endif							/* BF_PACE_H */
