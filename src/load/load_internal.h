/*
 * load_internal.h
 *	  What waits in the current transaction; for the files of this folder.
 */
#ifndef BF_LOAD_INTERNAL_H
#define BF_LOAD_INTERNAL_H

#include "lib/ilist.h"
#include "load/load.h"
#include "rows/row_buffer.h"
#include "utils/timestamp.h"

/* The layout of a table as of the last look at it. */
typedef struct LoadTable
{
	Oid			relid;
	bool		valid;			/* layout is up to date */
	bool		invalidated;	/* while it was looked at */
	RowLayout  *layout;
} LoadTable;

struct LoadState
{
	dlist_node	node;
	SubTransactionId subid;		/* whose rows these are */
	RowLayout  *layout;
	RowSet	   *open;			/* takes new rows; NULL: none yet */
	RowSet	   *older;			/* more rows that wait, linked by next */
	bool		detached;		/* nobody sees these rows before LoadSealDetached */
};

/* A set that was sealed or discarded in a subtransaction deeper than its own. */
typedef struct ConsumedSet
{
	dlist_node	node;
	SubTransactionId subid;		/* whose rows these are */
	SubTransactionId consumed_in;
	RowSet	   *set;
} ConsumedSet;

/* Everything about the current transaction; zeroed at its end. */
typedef struct LoadTransaction
{
	MemoryContext cxt;			/* NULL: nothing loaded yet */
	MemoryContext scratch;		/* detoasted values of one row */
	RowPool		pool;
	List	   *tables;			/* LoadTable */
	dlist_head	states;			/* LoadState, those of inner subtransactions first */
	dlist_head	consumed;		/* ConsumedSet */
	TimestampTz statement;		/* the client's statement we saw last */
	CommandId	statement_cid;	/* its first command we know of */
} LoadTransaction;

extern LoadTransaction bf_load;

typedef struct PendingSet
{
	LoadState  *state;
	RowSet	   *set;
} PendingSet;

/* load.c */
extern void LoadRowsInit(void);
extern void LoadNoteStatement(void);
extern LoadState *LoadFindState(SubTransactionId subid, const RowLayout *layout, bool detached);

/* load_seal.c */
extern void LoadSealInit(void);
extern List *LoadPendingTables(void);
extern List *LoadPendingSets(Oid relid, CommandId from, CommandId before);
extern bool LoadSealPending(Oid relid, List *pending);
extern void LoadTakeOut(LoadState *state, RowSet *set);

#endif							/* BF_LOAD_INTERNAL_H */
