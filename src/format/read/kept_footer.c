/*
 * kept_footer.c
 *	  Footers stay in memory between the queries of a session.
 *
 * A query for one key reads a few kilobytes of a block; reading, summing and
 * checking the footer of its file, up to 100 kB, costs more than that.  A file
 * never changes and its id is never given again, so its footer holds as long as
 * somebody asks for it.
 */
#include "postgres.h"

#include "format/read/reader.h"
#include "miscadmin.h"
#include "utils/memutils.h"

/* what a session keeps: as much as work_mem, but within these; and the largest footer among it */
#define MIN_KEPT_KB (2 * 1024)
#define MAX_KEPT_KB (16 * 1024)
#define LARGEST_BYTES (512 * 1024)
#define MAX_KEPT 512

typedef struct KeptFooter
{
	FileReader *reader;			/* without a source */
	Size		bytes;
	int			users;			/* readers that point to it */
	uint64		last_used;
} KeptFooter;

/* Ends a reader's use of a footer. */
typedef struct FooterPin
{
	KeptFooter *kept;
	MemoryContextCallback callback;
} FooterPin;

static MemoryContext kept_cxt = NULL;
static KeptFooter *kept_footers[MAX_KEPT];
static uint64 kept_ids[MAX_KEPT];	/* of their files: what is searched stands together */
static int	nkept = 0;
static Size kept_bytes = 0;
static uint64 clock_now = 0;

static KeptFooter *
Find(uint64 file_id, Oid relid)
{
	for (int i = 0; i < nkept; i++)
		if (kept_ids[i] == file_id && kept_footers[i]->reader->relid == relid)
			return kept_footers[i];
	return NULL;
}

/* Forget those that were not used for longest, until there is room; false: those in use leave none. */
static bool
MakeRoom(Size bytes)
{
	Size		limit = (Size) Min(Max(work_mem, MIN_KEPT_KB), MAX_KEPT_KB) * 1024;

	while (nkept == MAX_KEPT || kept_bytes + bytes > limit)
	{
		int			victim = -1;

		for (int i = 0; i < nkept; i++)
			if (kept_footers[i]->users == 0 &&
				(victim < 0 || kept_footers[i]->last_used < kept_footers[victim]->last_used))
				victim = i;
		if (victim < 0)
			return false;
		kept_bytes -= kept_footers[victim]->bytes;
		MemoryContextDelete(kept_footers[victim]->reader->cxt);
		kept_footers[victim] = kept_footers[--nkept];
		kept_ids[victim] = kept_ids[nkept];
	}
	return true;
}

static void
Unpin(void *arg)
{
	((FooterPin *) arg)->kept->users--;
}

/* A reader of the current context that shares what is kept. */
static FileReader *
Share(KeptFooter *kept, FileSource *source)
{
	FileReader *reader = palloc(sizeof(FileReader));
	FooterPin  *pin = palloc(sizeof(FooterPin));

	*reader = *kept->reader;
	reader->source = source;
	pin->kept = kept;
	pin->callback.func = Unpin;
	pin->callback.arg = pin;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &pin->callback);
	kept->users++;
	kept->last_used = ++clock_now;
	return reader;
}

FileReader *
FileReaderOpenKept(FileSource *source, uint64 file_id, Oid relid)
{
	KeptFooter *kept = Find(file_id, relid);
	FileReader *reader;
	Size		bytes;

	if (kept != NULL)
		return Share(kept, source);
	reader = FileReaderOpen(source, file_id, relid);
	bytes = MemoryContextMemAllocated(reader->cxt, true);
	if (bytes > LARGEST_BYTES || !MakeRoom(bytes))
		return reader;
	if (kept_cxt == NULL)
		kept_cxt = AllocSetContextCreate(TopMemoryContext, "bucketfdw kept footers", ALLOCSET_SMALL_SIZES);

	/* it goes with the footer */
	kept = MemoryContextAllocZero(reader->cxt, sizeof(KeptFooter));
	kept->reader = reader;
	kept->bytes = bytes;
	MemoryContextSetParent(reader->cxt, kept_cxt);
	reader->source = NULL;
	kept_bytes += bytes;
	kept_ids[nkept] = file_id;
	kept_footers[nkept++] = kept;
	return Share(kept, source);
}
