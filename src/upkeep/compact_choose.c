/*
 * compact_choose.c
 *	  Which files the next step of a compaction replaces.
 *
 * A bucket may have some runs, about twelve.  One that has more merges its
 * smallest ones: as many as are too many, and on while the next is no larger
 * than all before together.  So runs grow like the carries of a counter, and a
 * row is rewritten about as often as the number of rows has doubled a few times,
 * not as often as the table is appended to.
 *
 * Small runs of many buckets share a file, and files are replaced whole.  If
 * each bucket chose by its own sizes, files would be rewritten for the bucket
 * that is first above the limit, too early for all others.  So the size of a
 * run is that of its file, in parts of all rows that the buckets of the file
 * have.  Runs that were written together look the same from each bucket then,
 * however many of the rows it has, and all buckets choose the same ones.  What
 * they chose is kept while it takes several steps: the first of these replaces
 * the shared files, and buckets whose other runs stayed would differ from the
 * rest from then on.
 *
 * When nothing is appended, buckets are merged on to one run, all at once or not
 * at all, if the table has credit: so many rows for each that it has, less those
 * that compaction wrote.  Two are read hardly faster than ten, one much faster;
 * where credit is not enough for that, or there is too little beside the largest
 * run, they are merged to two.
 *
 * Deleted rows do not count.  They are taken out with what is merged, and of a
 * file of which a large part is deleted by itself: so each deleted row pays for
 * a few that are written anew, however rows are deleted.  A file without other
 * rows just goes.
 */
#include "postgres.h"

#include "format/file_format.h"
#include "load/run_files.h"
#include "miscadmin.h"
#include "upkeep/compact_choose.h"

/* rows that may be rewritten for each row of the table, in all, while nothing is appended */
#define CREDIT 4
/* they are merged to one run if the rows outside of the largest runs are so large a part */
#define SMALL_PART (1.0 / 8)

/* more than any run has */
#define ALL_PARTS 2.0

/* of a file */
typedef struct FileSize
{
	int64		live;			/* rows that are not deleted */
	int64		rows;			/* the same of all eligible files, in its buckets */
	double		part;			/* of these that it has */
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
	const bool *eligible;		/* per file */
	const bool *fresh;			/* the same; NULL: none */
	FileSize   *sizes;			/* the same */
	int64		rows;			/* of the eligible files */
	int64		credit;			/* rows */
	const ManifestRun **runs;	/* the eligible ones that have rows, by bucket, then size */
	int			nruns;
	bool	   *chosen;			/* per file */
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

static int64
RunLive(const ManifestRun *run)
{
	return run->rows - run->deleted;
}

/* Is so much of the file deleted that it is to be written anew? */
static bool
IsDirty(const Chooser *chooser, int f)
{
	const ManifestFile *file = &chooser->manifest->files[f];
	int64		deleted = file->rows - ManifestFileLive(file);

	if (!chooser->eligible[f] || deleted == 0 || (chooser->fresh != NULL && chooser->fresh[f]))
		return false;
	return chooser->limits->full || deleted == file->rows || deleted > chooser->limits->deleted * file->rows;
}

static double
RunPart(const Chooser *chooser, const ManifestRun *run)
{
	return chooser->sizes[run->file].part;
}

/* By bucket, then the smallest. */
static int
CompareRuns(const void *a, const void *b, void *arg)
{
	const ManifestRun *x = *(const ManifestRun *const *) a;
	const ManifestRun *y = *(const ManifestRun *const *) b;
	double		x_part = RunPart(arg, x);
	double		y_part = RunPart(arg, y);

	if (x->bucket != y->bucket)
		return x->bucket < y->bucket ? -1 : 1;
	if (x_part != y_part)
		return x_part < y_part ? -1 : 1;
	return (x->file > y->file) - (x->file < y->file);
}

/* Sizes of the eligible files, and the credit that they give. */
static void
MeasureFiles(Chooser *chooser, int nbuckets)
{
	const Manifest *manifest = chooser->manifest;
	int64	   *rows = palloc0(nbuckets * sizeof(int64));

	chooser->sizes = palloc0(sizeof(FileSize) * Max(manifest->nfiles, 1));
	for (int r = 0; r < manifest->nruns; r++)
	{
		if (chooser->eligible[manifest->runs[r].file])
			rows[manifest->runs[r].bucket] += RunLive(&manifest->runs[r]);
	}
	for (int r = 0; r < manifest->nruns; r++)
	{
		const ManifestRun *run = &manifest->runs[r];
		FileSize   *size = &chooser->sizes[run->file];

		if (!chooser->eligible[run->file])
			continue;
		size->rows += rows[run->bucket];
		size->memory = Max(size->memory, chooser->limits->row_memory * Min(run->rows, BF_BATCH_ROWS));
	}
	for (int f = 0; f < manifest->nfiles; f++)
	{
		const ManifestFile *file = &manifest->files[f];
		FileSize   *size = &chooser->sizes[f];

		if (!chooser->eligible[f])
			continue;
		size->live = ManifestFileLive(file);
		size->part = (double) size->live / Max(size->rows, 1);
		chooser->rows += size->live;
		chooser->credit += CREDIT * size->live - (int64) (file->rewritten * ((double) size->live / Max(file->rows, 1)));
	}
	pfree(rows);
}

static void
ChooserInit(Chooser *chooser, int nbuckets)
{
	const Manifest *manifest = chooser->manifest;

	MeasureFiles(chooser, nbuckets);
	chooser->runs = palloc_extended(sizeof(ManifestRun *) * Max(manifest->nruns, 1), MCXT_ALLOC_HUGE);
	for (int r = 0; r < manifest->nruns; r++)
	{
		if (chooser->eligible[manifest->runs[r].file] && RunLive(&manifest->runs[r]) > 0)
			chooser->runs[chooser->nruns++] = &manifest->runs[r];
	}
	qsort_arg(chooser->runs, chooser->nruns, sizeof(ManifestRun *), CompareRuns, chooser);
}

static void
ChooserFree(Chooser *chooser)
{
	pfree(chooser->runs);
	pfree(chooser->sizes);
}

/* The runs of the next bucket begin at *at; returns how many there are, 0 at the end. */
static int
NextBucket(const Chooser *chooser, int at)
{
	int			end = at;

	CHECK_FOR_INTERRUPTS();
	while (end < chooser->nruns && chooser->runs[end]->bucket == chooser->runs[at]->bucket)
		end++;
	return end - at;
}

/*
 * Runs that a bucket may have whose smallest one is this: not the same number
 * in all, so that not all are merged at the same time, but where they share
 * files.
 */
static int
AllowedRuns(const Chooser *chooser, const ManifestRun *smallest)
{
	if (chooser->limits->full)
		return 1;
	if (IsShared(&chooser->manifest->files[smallest->file]))
		return chooser->limits->runs;
	return chooser->limits->runs - 1 + smallest->bucket % 3;
}

/* The runs of a bucket up to which part are too many?  0: none. */
static double
PartTooMany(const Chooser *chooser, const ManifestRun *const *runs, int n)
{
	int			allowed = AllowedRuns(chooser, runs[0]);
	double		part = 0;

	if (n <= allowed)
		return 0;
	for (int k = 0; k < n; k++)
	{
		double		next = RunPart(chooser, runs[k]);

		if (k >= 2 && n - k < allowed && next > part && !chooser->limits->full)
			break;
		part += next;
	}

	/* what a step makes of some of them is one of them too */
	return part * 1.001;
}

/* The same for all but the largest of three runs or more. */
static double
PartBehindLargest(const Chooser *chooser, const ManifestRun *const *runs, int n)
{
	double		part = 0;

	if (n <= 2)
		return 0;
	for (int k = 0; k < n - 1; k++)
		part += RunPart(chooser, runs[k]);
	return Max(RunPart(chooser, runs[n - 2]), Min(part, RunPart(chooser, runs[n - 1]) * 0.999));
}

/* Decide to merge all buckets to one run, if there is credit for that. */
static bool
SpendOnOne(const Chooser *chooser, double *parts)
{
	int64		rows = 0;
	int64		small = 0;
	int			n;

	for (int at = 0; (n = NextBucket(chooser, at)) > 0; at += n)
	{
		for (int i = at; i < at + n && n > 1; i++)
		{
			rows += RunLive(chooser->runs[i]);
			small += i < at + n - 1 ? RunLive(chooser->runs[i]) : 0;
		}
	}
	if (small == 0 || small < rows * SMALL_PART || rows > chooser->credit)
		return false;
	for (int at = 0; (n = NextBucket(chooser, at)) > 0; at += n)
		parts[chooser->runs[at]->bucket] = n > 1 ? ALL_PARTS : 0;
	return true;
}

/* Decide to merge all buckets to two runs, if there is credit for that. */
static bool
SpendOnTwo(const Chooser *chooser, double *parts)
{
	bool	   *counted = palloc0(Max(chooser->manifest->nfiles, 1) * sizeof(bool));
	int64		rows = 0;
	int			n;

	for (int at = 0; (n = NextBucket(chooser, at)) > 0; at += n)
	{
		double		part = PartBehindLargest(chooser, chooser->runs + at, n);

		for (int i = at; i < at + n && RunPart(chooser, chooser->runs[i]) <= part; i++)
		{
			int			f = chooser->runs[i]->file;

			if (!counted[f])
				rows += chooser->sizes[f].live;
			counted[f] = true;
		}
	}
	pfree(counted);
	if (rows == 0 || rows > chooser->credit)
		return false;
	for (int at = 0; (n = NextBucket(chooser, at)) > 0; at += n)
		parts[chooser->runs[at]->bucket] = PartBehindLargest(chooser, chooser->runs + at, n);
	return true;
}

/* Decide up to which part the runs of each bucket are merged; false: nothing is. */
static bool
DecideParts(const Chooser *chooser, double *parts)
{
	bool		any = false;
	int			n;

	for (int at = 0; (n = NextBucket(chooser, at)) > 0; at += n)
	{
		double	   *part = &parts[chooser->runs[at]->bucket];

		*part = Max(*part, PartTooMany(chooser, chooser->runs + at, n));
		/* is that done? */
		if (n < 2 || RunPart(chooser, chooser->runs[at + 1]) > *part)
			*part = 0;
		any |= *part > 0;
	}
	return any || (chooser->limits->quiet && (SpendOnOne(chooser, parts) || SpendOnTwo(chooser, parts)));
}

/*
 * How many of the n runs of a bucket, the smallest first, this step merges: those
 * up to a part, as far as memory and the size of a step allow; two in any case.
 */
static int
RunsOfStep(const Chooser *chooser, const ManifestRun *const *runs, int n, double part)
{
	const CompactLimits *limits = chooser->limits;
	int64		bytes = 0;
	Size		shared = chooser->shared;
	Size		own = 0;
	int			k;

	for (k = 0; k < n && RunPart(chooser, runs[k]) <= part; k++)
	{
		int			f = runs[k]->file;
		const ManifestFile *file = &chooser->manifest->files[f];

		if (!IsShared(file))
			own += chooser->sizes[f].memory;
		else if (!chooser->chosen[f])
		{
			bytes += file->bytes;
			shared += chooser->sizes[f].memory;
		}
		if (k >= 2 && (bytes > limits->step_bytes || shared > limits->memory / 2 || own > limits->memory / 2))
			break;
	}
	return k >= 2 ? k : 0;
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

/* Choose the dirty files of a bucket, as memory allows; false: the step is large enough without them. */
static bool
ChooseDirty(Chooser *chooser, const ManifestRun *const *runs, int n)
{
	const Manifest *manifest = chooser->manifest;
	Size		own = 0;

	for (int i = 0; i < n; i++)
	{
		if (chooser->chosen[runs[i]->file] && !IsShared(&manifest->files[runs[i]->file]))
			own += chooser->sizes[runs[i]->file].memory;
	}
	for (int i = 0; i < n; i++)
	{
		int			f = runs[i]->file;
		Size		memory = IsShared(&manifest->files[f]) ? 0 : chooser->sizes[f].memory;

		if (chooser->chosen[f] || !IsDirty(chooser, f) ||
			(own > 0 && memory > 0 && own + memory > chooser->limits->memory / 2))
			continue;
		if (!ChooseRuns(chooser, runs + i, 1))
			return false;
		own += memory;
	}
	return true;
}

/* Files that have no rows any more take nothing from the step. */
static void
ChooseEmpty(Chooser *chooser)
{
	for (int f = 0; f < chooser->manifest->nfiles; f++)
	{
		if (IsDirty(chooser, f) && chooser->sizes[f].live == 0)
		{
			chooser->chosen[f] = true;
			chooser->nchosen++;
		}
	}
}

int
CompactChoose(const Manifest *manifest, const bool *eligible, const bool *fresh, const CompactLimits *limits,
			  double *parts, bool *chosen)
{
	Chooser		chooser = {
		.manifest = manifest, .eligible = eligible, .fresh = fresh, .limits = limits, .chosen = chosen
	};
	bool		more = true;
	int			nbuckets = 0;
	int			n;

	memset(chosen, 0, manifest->nfiles * sizeof(bool));
	for (int f = 0; f < manifest->nfiles; f++)
	{
		if (eligible[f])
			nbuckets = manifest->specs[manifest->files[f].spec]->nbuckets;
	}
	if (nbuckets == 0)
		return 0;
	ChooserInit(&chooser, nbuckets);
	if (DecideParts(&chooser, parts))
	{
		for (int at = 0; more && (n = NextBucket(&chooser, at)) > 0; at += n)
		{
			int			k = RunsOfStep(&chooser, chooser.runs + at, n, parts[chooser.runs[at]->bucket]);

			more = k == 0 || ChooseRuns(&chooser, chooser.runs + at, k);
		}
	}
	for (int at = 0; more && (n = NextBucket(&chooser, at)) > 0; at += n)
		more = ChooseDirty(&chooser, chooser.runs + at, n);
	ChooseEmpty(&chooser);
	ChooserFree(&chooser);
	return chooser.nchosen;
}

int
CompactDue(const Manifest *manifest, const BucketSpec *spec, const CompactLimits *limits)
{
	bool	   *eligible = palloc0(Max(manifest->nfiles, 1) * sizeof(bool));
	double	   *parts = palloc0(spec->nbuckets * sizeof(double));
	Chooser		chooser = {.manifest = manifest, .eligible = eligible, .limits = limits};
	int			due = 0;

	for (int f = 0; f < manifest->nfiles; f++)
		eligible[f] = BucketSpecAlike(manifest->specs[manifest->files[f].spec], spec);
	ChooserInit(&chooser, spec->nbuckets);
	if (DecideParts(&chooser, parts))
		due |= COMPACT_MERGE;
	for (int f = 0; f < manifest->nfiles; f++)
	{
		if (IsDirty(&chooser, f))
			due |= COMPACT_CLEAN;
	}
	ChooserFree(&chooser);
	pfree(parts);
	pfree(eligible);
	return due;
}
