/*
 * compact_choose.c
 *	  Which files the next step of a compaction replaces.
 *
 * A bucket may have twelve runs.  One that has more merges its smallest ones:
 * as many as are too many, and on while the next is no larger than all before
 * together.  So runs grow like the carries of a counter, and a row is rewritten
 * about as often as the number of rows has doubled a few times, not as often as
 * the table is appended to.
 *
 * Small runs of many buckets share a file, and files are replaced whole.  If
 * each bucket chose by its own runs, files would be rewritten for the bucket
 * that is first above the limit, too early for all others.  So shared files are
 * merged with one another, the order and the sizes being those of files, which
 * look the same from each of their buckets.  Where files of the bucket alone are
 * more than half of what is allowed, they are merged instead: that touches no
 * other bucket.
 */
#include "postgres.h"

#include "format/file_format.h"
#include "load/run_files.h"
#include "miscadmin.h"
#include "upkeep/compact_choose.h"

#define ALLOWED_RUNS 12
#define ALLOWED_OWN_RUNS 6

/* of a file */
typedef struct FileSize
{
	int			runs;
	int64		run_rows;		/* on average */
	Size		memory;			/* that its largest run takes */
} FileSize;

/*
 * Runs of all buckets in a shared file are merged, whichever bucket it was
 * chosen for: of the memory for one bucket, such files get one half, and
 * chosen files of the bucket alone the other.
 */
typedef struct Chooser
{
	const Manifest *manifest;
	const CompactLimits *limits;
	FileSize   *sizes;			/* per file */
	bool	   *chosen;
	int			nchosen;
	int64		bytes;			/* of the chosen files */
	Size		shared;			/* memory for those of them that are shared */
} Chooser;

/* Has the file runs of several buckets, or is it as small as such runs are? */
static bool
IsShared(const ManifestFile *file)
{
	return file->first_bucket != file->last_bucket || file->bytes < BF_OWN_FILE_BYTES;
}

/* By bucket, then shared files, then the smallest. */
static int
CompareRuns(const void *a, const void *b, void *arg)
{
	const Chooser *chooser = arg;
	const ManifestRun *x = *(const ManifestRun *const *) a;
	const ManifestRun *y = *(const ManifestRun *const *) b;
	int			shared = IsShared(&chooser->manifest->files[y->file]) - IsShared(&chooser->manifest->files[x->file]);
	int64		x_rows = chooser->sizes[x->file].run_rows;
	int64		y_rows = chooser->sizes[y->file].run_rows;

	if (x->bucket != y->bucket)
		return x->bucket < y->bucket ? -1 : 1;
	if (shared != 0)
		return shared;
	if (x_rows != y_rows)
		return x_rows < y_rows ? -1 : 1;
	return (x->file > y->file) - (x->file < y->file);
}

/*
 * Which of the n runs of a bucket, in that order, are to be merged: so many
 * from *first on; 0: none.
 */
static int
RunsToMerge(const Chooser *chooser, const ManifestRun *const *runs, int n, int *first)
{
	const CompactLimits *limits = chooser->limits;
	int			allowed = limits->full ? 1 : ALLOWED_RUNS;
	int			nshared = 0;
	int			end = n;
	int64		rows = 0;
	int64		bytes = 0;
	Size		shared = chooser->shared;
	Size		own = 0;
	int			k = 0;

	*first = 0;
	if (n <= allowed)
		return 0;
	while (nshared < n && IsShared(&chooser->manifest->files[runs[nshared]->file]))
		nshared++;
	if (!limits->full && (nshared < 2 || n - nshared > ALLOWED_OWN_RUNS))
		*first = nshared;
	else if (!limits->full)
		end = nshared;
	for (; *first + k < end; k++)
	{
		int			f = runs[*first + k]->file;
		const FileSize *size = &chooser->sizes[f];

		if (!IsShared(&chooser->manifest->files[f]))
			own += size->memory;
		else if (!chooser->chosen[f])
		{
			bytes += chooser->manifest->files[f].bytes;
			shared += size->memory;
		}
		if (k >= 2 && ((n - k < allowed && size->run_rows > rows && !limits->full) ||
					   bytes > limits->step_bytes ||
					   shared > limits->memory / 2 || own > limits->memory / 2))
			break;
		rows += size->run_rows;
	}
	return k;
}

/* Choose the files of k runs of a bucket; false: the step is large enough without them. */
static bool
ChooseRuns(Chooser *chooser, const ManifestRun *const *runs, int k)
{
	int64		bytes = chooser->bytes;
	Size		shared = chooser->shared;

	for (int i = 0; i < k; i++)
	{
		const ManifestFile *file = &chooser->manifest->files[runs[i]->file];

		if (chooser->chosen[runs[i]->file])
			continue;
		bytes += file->bytes;
		if (IsShared(file))
			shared += chooser->sizes[runs[i]->file].memory;
	}
	if (chooser->nchosen > 0 && bytes > chooser->bytes &&
		(bytes > chooser->limits->step_bytes || shared > chooser->limits->memory / 2))
		return false;
	for (int i = 0; i < k; i++)
	{
		chooser->nchosen += !chooser->chosen[runs[i]->file];
		chooser->chosen[runs[i]->file] = true;
	}
	chooser->bytes = bytes;
	chooser->shared = shared;
	return true;
}

int
CompactChoose(const Manifest *manifest, const bool *eligible, const CompactLimits *limits, bool *chosen)
{
	Chooser		chooser = {.manifest = manifest, .limits = limits, .chosen = chosen};
	const ManifestRun **runs = palloc_extended(sizeof(ManifestRun *) * Max(manifest->nruns, 1), MCXT_ALLOC_HUGE);
	int			nruns = 0;

	memset(chosen, 0, manifest->nfiles * sizeof(bool));
	chooser.sizes = palloc0(sizeof(FileSize) * Max(manifest->nfiles, 1));
	for (int r = 0; r < manifest->nruns; r++)
	{
		const ManifestRun *run = &manifest->runs[r];
		FileSize   *size = &chooser.sizes[run->file];

		if (!eligible[run->file])
			continue;
		size->runs++;
		size->run_rows = manifest->files[run->file].rows / size->runs;
		size->memory = Max(size->memory, limits->row_memory * Min(run->rows, BF_BATCH_ROWS));
		runs[nruns++] = run;
	}
	qsort_arg(runs, nruns, sizeof(ManifestRun *), CompareRuns, &chooser);
	for (int first = 0, end; first < nruns; first = end)
	{
		int			from;
		int			k;

		CHECK_FOR_INTERRUPTS();
		for (end = first + 1; end < nruns && runs[end]->bucket == runs[first]->bucket;)
			end++;
		k = RunsToMerge(&chooser, runs + first, end - first, &from);
		if (k > 0 && !ChooseRuns(&chooser, runs + first + from, k))
			break;
	}
	pfree(runs);
	pfree(chooser.sizes);
	return chooser.nchosen;
}
