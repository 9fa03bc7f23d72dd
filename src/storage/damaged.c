/*
 * damaged.c
 *	  Work that may fail, files that cannot be read, and tables without them.
 */
#include "postgres.h"

#include "access/xact.h"
#include "format/read/reader.h"
#include "miscadmin.h"
#include "storage/damaged.h"
#include "storage/file_store.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

ErrorData *
TryWork(void (*work) (void *arg), void *arg, bool keep)
{
	MemoryContext cxt = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	int			nestlevel = GetCurrentTransactionNestLevel();
	ErrorData  *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(cxt);
	PG_TRY();
	{
		work(arg);
		if (keep)
			ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		/* whoever catches the error next rolls back one subtransaction: his own */
		MemoryContextSwitchTo(cxt);
		error = CopyErrorData();
		FlushErrorState();
	}
	PG_END_TRY();
	while (GetCurrentTransactionNestLevel() > nestlevel)
		RollbackAndReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(cxt);
	CurrentResourceOwner = owner;
	return error;
}

ErrorData *
TryRead(void (*work) (void *arg), void *arg)
{
	ErrorData  *error = TryWork(work, arg, true);

	if (error != NULL && error->sqlerrcode != ERRCODE_DATA_CORRUPTED &&
		error->sqlerrcode != ERRCODE_UNDEFINED_FILE && error->sqlerrcode != ERRCODE_IO_ERROR)
		ReThrowError(error);
	return error;
}

/* A file that is read to the end. */
typedef struct FileCheck
{
	const Manifest *manifest;
	const char *relname;
	int			file;
	int			first_run;		/* of the file */
	int			nruns;
} FileCheck;

/* Does the file say of itself what its manifest row says? */
static bool
MatchesManifest(const FileCheck *check, const FileReader *reader)
{
	const Manifest *m = check->manifest;
	const ManifestFile *file = &m->files[check->file];

	if (!BucketSpecEqual(reader->spec, m->specs[file->spec]) || reader->nrows != file->rows)
		return false;
	for (int i = 0; i < check->nruns; i++)
	{
		const ManifestRun *run = &m->runs[check->first_run + i];

		if (run->run < 0 || run->run >= reader->nruns || reader->runs[run->run].bucket != run->bucket ||
			reader->runs[run->run].nrows != run->rows)
			return false;
	}
	return true;
}

/* TryRead's work: everything that scans read of a file, and what they ask of it. */
static void
ReadFile(void *arg)
{
	const FileCheck *check = arg;
	const Manifest *m = check->manifest;
	const ManifestFile *file = &m->files[check->file];
	FileSource *source = StoreOpen(m->relid, check->relname, file);
	FileReader *reader = FileReaderOpen(source, file->file_id, m->relid);
	ColumnBuffer *buffer = ColumnBufferCreate(CurrentMemoryContext, NULL);

	if (!MatchesManifest(check, reader))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("file \"%s\" of bucketed table \"%s\" does not match its manifest row",
						source->path, source->relname)));
	for (int block = 0; block < reader->nblocks; block++)
		for (int col = 0; col < reader->ncols; col++)
		{
			BlockColumnStats stats;
			ColumnVector vector;
			uint64		bytes = 0;

			CHECK_FOR_INTERRUPTS();
			FileReaderColumnStats(reader, block, col, &stats);
			FileReaderDecode(reader, block, col, buffer, &vector, &bytes);
		}
}

/* Is the file damaged?  Then that is a warning. */
static bool
IsDamaged(FileCheck *check)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw file check",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	const ManifestFile *file = &check->manifest->files[check->file];
	ErrorData  *error = TryRead(ReadFile, check);

	if (error != NULL)
		ereport(WARNING,
				(errcode(error->sqlerrcode),
				 errmsg("file \"%s\" of bucketed table \"%s\" is left out with its %lld rows",
						StorePath(file->locator), check->relname, (long long) ManifestFileLive(file)),
				 error->detail ? errdetail("%s: %s", error->message, error->detail) :
				 errdetail("%s.", error->message)));

	/* closes the file too */
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
	return error != NULL;
}

/*
 * A reader comes to damage in the middle of a merge, or of a unit that other
 * processes count on, and cannot go on without the file there.  So it gets a
 * manifest that does not name the file.
 */
void
ManifestLeaveOutDamaged(Manifest *manifest)
{
	FileCheck	check = {.manifest = manifest, .relname = get_rel_name(manifest->relid)};
	bool	   *sound = palloc(Max(manifest->nfiles, 1) * sizeof(bool));

	/* workers that found other damage than the leader would skip rows, or read them twice */
	if (IsInParallelMode())
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot look for damaged files of bucketed table \"%s\" in a parallel query", check.relname),
				 errdetail("The query was planned before bucketfdw.ignore_damaged_files was set, or calls a function that reads the table."),
				 errhint("Set max_parallel_workers to 0.")));
	for (int f = 0; f < manifest->nfiles; f++, check.first_run += check.nruns)
	{
		check.file = f;
		check.nruns = 0;
		while (check.first_run + check.nruns < manifest->nruns &&
			   manifest->runs[check.first_run + check.nruns].file == f)
			check.nruns++;
		sound[f] = !IsDamaged(&check);
	}
	ManifestKeepFiles(manifest, sound);
	pfree(sound);
}
