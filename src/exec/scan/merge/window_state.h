/*
 * window_state.h
 *	  A window of runs: what collecting its rows, sorting and giving them have in
 *	  common.
 */
#ifndef BF_WINDOW_STATE_H
#define BF_WINDOW_STATE_H

#include "exec/scan/block/block_cursor.h"

/* rows of a window; it starts small, so that little is sorted in vain where most rows are skipped */
#define WINDOW_RUN_ROWS 4		/* of each run, at least */
#define WINDOW_ROWS (32 * 1024)
#define WINDOW_ENOUGH (8 * 1024)	/* no more runs begin than give so many */
#define WINDOW_ROOM (WINDOW_ROWS + BF_BATCH_ROWS + WINDOW_RUN_ROWS * MERGE_FAN_IN)

/* an entry: part of the image, cursor, entry of its block */
#define POS_BITS 13
#define CURSOR_BITS 9
#define TAG_BITS (POS_BITS + CURSOR_BITS)
#define ENTRY_POS(e) ((int) ((e) & ((1 << POS_BITS) - 1)))
#define ENTRY_CURSOR(e) ((int) ((e) >> POS_BITS) & ((1 << CURSOR_BITS) - 1))

StaticAssertDecl(BF_BATCH_ROWS <= 1 << POS_BITS, "entries of a block need more bits");
StaticAssertDecl(MERGE_FAN_IN <= 1 << CURSOR_BITS, "cursors need more bits");

typedef struct ImageRow
{
	uint64		image;			/* in unsigned order */
	uint64		entry;
} ImageRow;

/* A run that has not begun. */
typedef struct WaitingRun
{
	int64		first;			/* no image of it is below */
	int			cursor;
} WaitingRun;

/* A column of the block a cursor stands in; values NULL: not decoded yet. */
typedef struct CursorColumn
{
	const Datum *values;
	const bool *nulls;
} CursorColumn;

/* no scale: not all blocks hold integers of the same one */
#define SCALE_NONE (-2)

typedef struct MergeWindow
{
	LeafReader *leaf;
	int			keycol;
	KeyClass	keyclass;
	Oid			keytype;
	bool		direct;			/* an image is the key itself */

	int			waiting_at;		/* runs before it have begun */
	int			nwaiting;
	WaitingRun *waiting;		/* by their first images */
	int			nactive;
	int		   *active;			/* cursors of runs that have begun and not ended */
	int		   *end;			/* per cursor: where its part of the window ends */
	int			run_rows;		/* a window takes at most so many of each run */

	int			n;				/* entries of the window */
	int			at;				/* next of them */
	int			from;			/* first of those last returned */
	int64		base;			/* least image */
	int			shift;			/* bits of the images, less the base, that entries do not have */
	bool		keys_only;		/* entries are 32-bit images, less the base, without cursor and place */
	bool		counted;		/* that, and each image is there once */
	bool		count_pays;		/* keys had several rows in the last window that was counted */
	int			counter_bits;
	uint16	   *counters;		/* by images, less the base, of so many bits; zero between windows */
	uint64	   *entry;
	uint64	   *spare;			/* for sorting; then, where rows are counted, how many entries have */
	int64	   *image;			/* of the entries, where they do not have all of it */
	ImageRow   *group;			/* for groups with the same first bits; made when needed */
	ImageRow   *group_spare;
	Datum	   *keys;			/* of the rows last returned */

	bool		selected;		/* there was a block not all of whose rows are entries */
	bool	   *any_nulls;		/* per column: in any block so far */
	CursorColumn **columns;		/* per column, made when first gathered: per cursor */
	CursorColumn **scaled;		/* the same of integers that stand for numerics */
	int		   *scale;			/* per column, of them; -1: none is loaded yet, SCALE_NONE: there is no such one */
} MergeWindow;

#endif							/* BF_WINDOW_STATE_H */
