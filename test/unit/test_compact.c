/*
 * test_compact.c
 *	  Which files compaction chooses, over histories of appends: how often rows
 *	  are rewritten and how many runs a bucket has, whether all buckets grow
 *	  alike or not.
 *
 * Files are those that RunFiles would write: runs of 1 MB and more alone,
 * smaller ones of neighbours together in up to 16 MB.
 */
#include "pg_shim.h"

#include <math.h>

#include "load/run_files.h"
#include "upkeep/compact_choose.h"

#define NBUCKETS 64
#define ROW_BYTES 20			/* in files */
#define SHARED_FILE_BYTES (16 * 1024 * 1024)
#define MAX_FILES 4096

typedef struct History
{
	const char *name;
	int			days;
	int64		first;			/* rows before */
	int64		night;			/* rows of a nightly append */
	int			hours;			/* further appends of a day */
	int64		hour;			/* rows of each */
	bool		quiet;			/* between appends, else at the end only */
	double		skew;			/* bucket b gets 1 / (b + 1) ^ skew of the rows */
	double		max_rewritten;
	int			max_runs;		/* of a bucket */
	int			max_runs_at_end;
} History;

static const History histories[] = {
	{"365 x 50,000", 365, 0, 50000, 0, 0, true, 0, 5.0, 12, 12},
	{"500 x 1,000 on 2 M", 500, 2000000, 1000, 0, 0, false, 0, 1.6, 12, 1},
	{"3,650 x 50,000", 3650, 0, 50000, 0, 0, true, 0, 5.0, 12, 12},
	{"10,000 x 1,000", 10000, 0, 1000, 0, 0, true, 0, 5.0, 12, 12},
	{"year of 50,000 and 24 x 1,000", 365, 0, 50000, 24, 1000, true, 0, 5.0, 12, 12},
	{"365 x 50,000 without a quiet moment", 365, 0, 50000, 0, 0, false, 0, 3.0, 12, 2},
	{"365 x 500,000, large buckets", 365, 0, 500000, 0, 0, true, 1, 5.0, 13, 12},
	{"year of 50,000 and 24 x 1,000, large buckets", 365, 0, 50000, 24, 1000, true, 1, 5.5, 12, 12},
	{"365 x 50,000, most in one bucket", 365, 0, 50000, 0, 0, true, 2, 5.0, 12, 12},
	{"365 x 5,000,000, no shared files", 365, 0, 5000000, 0, 0, true, 0, 5.0, 13, 13},
};

static ManifestFile files[MAX_FILES];
static ManifestRun runs[MAX_FILES * NBUCKETS];
static bool eligible[MAX_FILES];
static bool chosen[MAX_FILES];
static BucketSpec spec = {.nbuckets = NBUCKETS};
static BucketSpec *specs = &spec;
static Manifest table = {.files = files, .runs = runs, .nspecs = 1, .specs = &specs};
static double share[NBUCKETS];	/* of appended rows */
static double part[NBUCKETS];	/* of a row, not yet appended */

/* A write adds its files. */
static void
Write(const int64 *rows, int64 rewritten)
{
	ManifestFile *file = NULL;
	bool		own = false;
	int			first = table.nfiles;
	int64		total = 0;

	for (int b = 0; b < NBUCKETS; b++)
	{
		int64		bytes = rows[b] * ROW_BYTES;

		if (rows[b] == 0)
			continue;
		if (file == NULL || own || bytes >= BF_OWN_FILE_BYTES || file->bytes + bytes > SHARED_FILE_BYTES)
		{
			own = bytes >= BF_OWN_FILE_BYTES;
			file = &files[table.nfiles++];
			*file = (ManifestFile) {.first_bucket = b};
		}
		runs[table.nruns++] = (ManifestRun) {.bucket = b, .rows = rows[b], .bytes = bytes, .file = table.nfiles - 1};
		file->last_bucket = b;
		file->rows += rows[b];
		file->bytes += bytes;
		total += rows[b];
	}
	for (int f = first; f < table.nfiles; f++)
		files[f].rewritten = rewritten * ((double) files[f].rows / total);
	table.rows += total;
}

static void
Append(int64 n)
{
	int64		rows[NBUCKETS];

	for (int b = 0; b < NBUCKETS; b++)
	{
		part[b] += n * share[b];
		rows[b] = (int64) part[b];
		part[b] -= rows[b];
	}
	Write(rows, 0);
}

/* Take the chosen files out; rows[] are those they had. */
static void
TakeOut(int64 *rows)
{
	int			nfiles = 0;
	int			nruns = 0;
	int			at = 0;

	for (int f = 0; f < table.nfiles; f++)
	{
		for (; at < table.nruns && runs[at].file == f; at++)
		{
			if (chosen[f])
				rows[runs[at].bucket] += runs[at].rows;
			else
			{
				runs[nruns] = runs[at];
				runs[nruns++].file = nfiles;
			}
		}
		if (!chosen[f])
			files[nfiles++] = files[f];
		else
			table.rows -= files[f].rows;
	}
	table.nfiles = nfiles;
	table.nruns = nruns;
}

/* All steps of a compaction; returns the rows it wrote, or -1: CompactDue says otherwise. */
static int64
Compact(const CompactLimits *limits)
{
	bool		due = CompactDue(&table, &spec, limits);
	double		parts[NBUCKETS] = {0};
	int64		total = 0;

	while (CompactChoose(&table, eligible, limits, parts, chosen) > 0)
	{
		int64		rows[NBUCKETS] = {0};
		int64		rewritten = 0;
		int64		taken = 0;

		for (int f = 0; f < table.nfiles; f++)
		{
			if (chosen[f])
			{
				taken += files[f].rows;
				rewritten += files[f].rewritten;
			}
		}
		TakeOut(rows);
		Write(rows, rewritten + taken);
		total += taken;
	}
	return due == (total > 0) && !CompactDue(&table, &spec, limits) ? total : -1;
}

static int
MostRuns(void)
{
	int			count[NBUCKETS] = {0};
	int			most = 0;

	for (int r = 0; r < table.nruns; r++)
		count[runs[r].bucket]++;
	for (int b = 0; b < NBUCKETS; b++)
		most = Max(most, count[b]);
	return most;
}

static void
Empty(double skew)
{
	double		sum = 0;

	table.nfiles = table.nruns = 0;
	table.rows = 0;
	for (int b = 0; b < NBUCKETS; b++)
		sum += 1 / pow(b + 1, skew);
	for (int b = 0; b < NBUCKETS; b++)
	{
		share[b] = 1 / pow(b + 1, skew) / sum;
		part[b] = 0;
	}
}

static void
TestHistory(const History *history, CompactLimits limits)
{
	int64		rewritten = 0;
	int64		burst = 0;
	int			most = 0;
	bool		due_right = true;

	Empty(history->skew);
	if (history->first > 0)
		Append(history->first);
	for (int i = 0; i < history->days * (history->hours + 1); i++)
	{
		int64		now;

		Append(i % (history->hours + 1) == 0 ? history->night : history->hour);
		limits.quiet = false;
		now = Compact(&limits);
		most = Max(most, MostRuns());
		due_right &= now >= 0;
		if (history->quiet)
		{
			int64		more;

			limits.quiet = true;
			more = Compact(&limits);
			due_right &= more >= 0;
			now += more;
		}
		burst = Max(burst, now);
		rewritten += now;
	}
	limits.quiet = true;
	rewritten += Compact(&limits);
	ShimOk((double) rewritten / table.rows <= history->max_rewritten && most <= history->max_runs &&
		   MostRuns() <= history->max_runs_at_end && due_right,
		   "%s: rewritten %.2f times, at once %lld rows; %d runs, %d at the end", history->name,
		   (double) rewritten / table.rows, (long long) burst, most, MostRuns());
}

/* With little memory, and steps of few bytes, a full compaction ends with one run for each bucket. */
static void
TestFull(CompactLimits limits)
{
	int64		before;
	int64		rewritten;

	Empty(1);
	for (int i = 0; i < 100; i++)
		Append(20000);
	before = table.rows;
	limits.full = true;
	limits.step_bytes = 1024 * 1024;
	limits.memory = 1024 * 1024;
	rewritten = Compact(&limits);
	ShimOk(rewritten >= before && MostRuns() == 1 && table.rows == before,
		   "full: %lld rows in %d run, rewritten %.2f times", (long long) table.rows, MostRuns(),
		   (double) rewritten / before);
}

int
main(void)
{
	CompactLimits limits = {
		.runs = 12,
		.step_bytes = INT64CONST(256) * 1024 * 1024,
		.row_memory = 80,
		.memory = 64 * 1024 * 1024
	};

	ShimInit();
	memset(eligible, true, sizeof(eligible));
	for (int i = 0; i < lengthof(histories); i++)
		TestHistory(&histories[i], limits);
	TestFull(limits);
	return ShimDone();
}
