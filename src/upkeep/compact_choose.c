/*
 * compact_choose.c
 *	  Which files the next step of a compaction replaces.
 *
 * A bucket may have 11 to 13 runs.  One that has more merges its smallest
 * ones: as many as are too many, and on while the next is no larger than all
 * before together.  So runs grow like the carries of a counter, and a row is
 * rewritten about as often as the number of rows has doubled a few times, not
 * as often as the table is appended to.  The limit differs from bucket to
 * bucket so that not all merge after the same append.
 */
#include "postgres.h"

#include "format/file_format.h"
#include "miscadmin.h"
#include "upkeep/compact_choose.h"

#define LEAST_LIMIT 11
#define LIMIT_SPREAD 3

/*
 * Runs of all buckets in a file of several are merged, whichever bucket it was
 * chosen for: of the memory for one bucket, such files get one half, and
 * chosen files of the bucket alone the other.
 */
typedef struct Chooser
{
	const Manifest *manifest;
	const CompactLimits *limits;
	Size	   *memory;			/* per file: that its largest run takes */
	bool	   *chosen;
	int			nchosen;
	int64		bytes;			/* of the chosen files */
	Size		shared;			/* memory for those of them that hold several buckets */
} Chooser;

static bool
IsShared(const ManifestFile *file)
{
	return file->first_bucket != file->last_bucket;
}

static int
CompareRuns(const void *a, const void *b)
{
	const ManifestRun *x = *(const ManifestRun *const *) a;
	const ManifestRun *y = *(const ManifestRun *const *) b;

	if (x->bucket != y->bucket)
		return x->bucket < y->bucket ? -1 : 1;
	if (x->rows != y->rows)
		return x->rows < y->rows ? -1 : 1;
	return (x->file > y->file) - (x->file < y->file);
}

/* How many of the n runs of a bucket, smallest first, are to be merged; 0: none. */
static int
RunsToMerge(const Chooser *chooser, const ManifestRun *const *runs, int n)
{
	const CompactLimits *limits = chooser->limits;
	int			allowed = limits->full ? 1 : LEAST_LIMIT + runs[0]->bucket % LIMIT_SPREAD;
	int64		sum = 0;
	int64		bytes = 0;
	Size		shared = chooser->shared;
	Size		own = 0;
	int			k = 0;

	if (n <= allowed)
		return 0;
	for (; k < n; k++)
	{
		int			f = runs[k]->file;

		if (!IsShared(&chooser->manifest->files[f]))
			own += chooser->memory[f];
		else if (!chooser->chosen[f])
		{
			/* all of it is rewritten for the run */
			bytes += chooser->manifest->files[f].bytes;
			shared += chooser->memory[f];
		}
		if (k >= 2 && ((n - k < allowed && runs[k]->rows > sum && !limits->full) ||
					   bytes > limits->step_bytes ||
					   shared > limits->memory / 2 || own > limits->memory / 2))
			break;
		sum += runs[k]->rows;
	}
	return k;
}

/* Choose the files of the k smallest runs of a bucket; false: the step is large enough without them. */
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
			shared += chooser->memory[runs[i]->file];
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
	chooser.memory = palloc0(sizeof(Size) * Max(manifest->nfiles, 1));
	for (int r = 0; r < manifest->nruns; r++)
	{
		const ManifestRun *run = &manifest->runs[r];
		Size		memory = limits->row_memory * Min(run->rows, BF_BATCH_ROWS);

		if (!eligible[run->file])
			continue;
		chooser.memory[run->file] = Max(chooser.memory[run->file], memory);
		runs[nruns++] = run;
	}
	qsort(runs, nruns, sizeof(ManifestRun *), CompareRuns);
	for (int first = 0, end; first < nruns; first = end)
	{
		int			k;

		CHECK_FOR_INTERRUPTS();
		for (end = first + 1; end < nruns && runs[end]->bucket == runs[first]->bucket;)
			end++;
		k = RunsToMerge(&chooser, runs + first, end - first);
		if (k > 0 && !ChooseRuns(&chooser, runs + first, k))
			break;
	}
	pfree(runs);
	pfree(chooser.memory);
	return chooser.nchosen;
}
