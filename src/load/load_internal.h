/*
 * load_internal.h
 *	  What waits in the current transaction; for the files of this folder.
 */
#ifndef BF_LOAD_INTERNAL_H
#define BF_LOAD_INTERNAL_H

#include "lib/ilist.h"
#include "load/load.h"
#include "load/seal.h"
#include "rows/row_buffer.h"
#include "storage/file_image.h"
#include "utils/timestamp.h"

/* What is true of a table as long as its layout is. */
typedef struct LoadKnown
{
	bool		recorded;		/* the spec stands in the catalog */
	bool		no_row_types;	/* no column has a composite type inside */
} LoadKnown;

struct LoadState
{
	dlist_node	node;
	SubTransactionId subid;		/* whose rows these are */
	RowLayout  *layout;
	RowSet	   *open;			/* takes new rows, all of one command; NULL: none yet */
	RowSet	   *older;			/* takes none: earlier commands, and what was read; linked by next */
	bool		detached;		/* nobody sees these rows before LoadSealDetached */
	CommandId	sealed_cid;		/* the last command that was sealed at its end */
	SealCounters sealed;		/* what it wrote */
};

/* A set that was sealed or discarded in a subtransaction deeper than its own. */
typedef struct ConsumedSet
{
	dlist_node	node;
	LoadState  *state;			/* whose rows these are */
	SubTransactionId consumed_in;
	RowSet	   *set;
} ConsumedSet;

/* Rows that wait as a file for readers (waiting.c). */
typedef struct WaitingImage
{
	uint64		set;			/* id of the set whose rows these are */
	CommandId	before;			/* rows of commands before this one */
	FileImage  *image;
	ManifestWrite write;
} WaitingImage;

/* A query that is being executed, or a cursor that is open. */
typedef struct LoadReader
{
	const void *query;			/* its QueryDesc */
	SubTransactionId subid;
	CommandId	curcid;			/* of its snapshot */
} LoadReader;

/* Everything about the current transaction; zeroed at its end. */
typedef struct LoadTransaction
{
	MemoryContext cxt;			/* NULL: nothing loaded yet */
	MemoryContext scratch;		/* detoasted values of one row */
	RowPool		pool;
	dlist_head	states;			/* LoadState, those of inner subtransactions first */
	dlist_head	consumed;		/* ConsumedSet */
	uint64		last_id;		/* given to a set */
	List	   *images;			/* WaitingImage */
	List	   *sealed;			/* Oids of tables that have got files */
	List	   *inlined;		/* Oids of tables that have got inline rows */
	TimestampTz statement;		/* the client's statement we saw last */
	CommandId	statement_cid;	/* its first command we know of */
	CommandId	counted_cid;	/* the outermost command that brings rows; InvalidCommandId: none */
	int64		ncounted;		/* rows of it, for pg_stat_progress_copy */
	struct HTAB *deletes;		/* PendingFile, see pending_deletes.c; NULL: none */
	int			nreaders;
	int			readers_room;
	LoadReader *readers;
} LoadTransaction;

extern LoadTransaction bf_load;

/* Statements of this backend that are changing rows. */
extern int	bf_load_changing;

/* The work before commit is done: rows that come now are sealed at the end of their statement. */
extern bool bf_load_committing;

typedef struct PendingSet
{
	LoadState  *state;
	RowSet	   *set;
} PendingSet;

/* load_layout.c */
extern RowLayout *LoadGetLayout(Relation rel);
extern LoadKnown *LoadGetKnown(const RowLayout *layout);
extern void LoadLayoutsAtEnd(bool commit);
extern void LoadLayoutsInit(void);

/* load.c */
extern void LoadBeginTransaction(int budget_kb);
extern void LoadDropImages(const RowSet *set);
extern void LoadNoteStatement(void);
extern LoadState *LoadFindState(SubTransactionId subid, const RowLayout *layout);
extern void LoadTakeOut(LoadState *state, RowSet *set);
extern void LoadPutAside(LoadState *state, RowSet *set, bool goes_on);
extern void LoadPutAsideSeen(Oid relid, CommandId before);

/* load_seal.c */
extern List *LoadPendingSets(Oid relid);
extern void LoadSealPending(List *pending, bool divide);
extern bool LoadSealForWorkers(void);
extern int64 LoadSetBytes(const RowSet *set);
extern int64 LoadSpilledBytes(const RowSet *set);

/* waiting.c */
extern void LoadForgetImages(bool commit);

/* load_hooks.c */
extern void LoadHooksInit(void);
extern void LoadForgetReaders(SubTransactionId subid);

#endif							/* BF_LOAD_INTERNAL_H */
