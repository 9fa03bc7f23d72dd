/*
 * test_compact.c
 *	  Which files compaction chooses, over histories of appends: how often rows
 *	  are rewritten and how many runs a bucket has, whether all buckets grow
 *	  alike or not; and of deletes: how much of a file is deleted at most.
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
	{"365 x 50,000 without a quiet moment", 365, 0, 50000, 0, 0, false, 0, 3.2, 12, 1},
	{"365 x 500,000, large buckets", 365, 0, 500000, 0, 0, true, 1, 5.0, 13, 12},
	{"year of 50,000 and 24 x 1,000, large buckets", 365, 0, 50000, 24, 1000, true, 1, 5.5, 12, 12},
	{"365 x 50,000, most in one bucket", 365, 0, 50000, 0, 0, true, 2, 5.0, 12, 12},
	{"365 x 5,000,000, no shared files", 365, 0, 5000000, 0, 0, true, 0, 5.0, 13, 13},
};

typedef struct DeleteHistory
{
	const char *name;
	int64		first;			/* rows before */
	int			steps;
	int64		append;			/* in each step, */
	int			after;			/* from a step on */
	double		part;			/* of the rows of each run, which is deleted then */
	int			every;			/* only of each so many'th file that there is */
	bool		quiet;			/* after each step, else at the end only */
	double		max_rewritten;	/* for each row appended or deleted */
} DeleteHistory;

static const DeleteHistory delete_histories[] = {
	{"1 % at random, 230 times", 2000000, 230, 0, 0, 0.01, 1, true, 2.0},
	{"the same in large files", 100000000, 230, 0, 0, 0.01, 1, true, 2.0},
	{"1 % of each third file, 690 times", 100000000, 690, 0, 0, 0.01, 3, true, 2.0},
	{"0.1 % at random, 1,000 times", 2000000, 1000, 0, 0, 0.001, 1, true, 2.0},
	{"365 x 50,000, of 90 days", 0, 365, 50000, 90, 1.0 / 90, 1, true, 3.0},
	{"the same without a quiet moment", 0, 365, 50000, 90, 1.0 / 90, 1, false, 2.0},
	{"365 x 51,000 replaced of 5 M", 5000000, 365, 51000, 0, 0.0102, 1, true, 3.0},
	{"365 x 2,000,000 replaced of 100 M", 100000000, 365, 2000000, 0, 0.02, 1, true, 3.0},
	{"one half, 10 times", 2000000, 10, 0, 0, 0.5, 1, true, 0.6},
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
	for (int f = first; f < table.nfiles && total > 0; f++)
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

/* Delete a part of each run of some files; returns how many rows that are. */
static int64
Delete(double part_of_run, int every, int step)
{
	int64		deleted = 0;

	for (int r = 0; r < table.nruns; r++)
	{
		ManifestRun *run = &runs[r];
		ManifestFile *file = &files[run->file];
		int64		n = (int64) ceil((run->rows - run->deleted) * part_of_run);
		FileDeletes *deletes;

		if (n == 0 || (run->file + step) % every != 0)
			continue;
		if (file->deletes == NULL)
			file->deletes = palloc0(sizeof(FileDeletes));
		deletes = (FileDeletes *) file->deletes;
		deletes->rows += n;
		run->deleted += n;
		deleted += n;
	}
	table.rows -= deleted;
	return deleted;
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
				rows[runs[at].bucket] += runs[at].rows - runs[at].deleted;
			else
			{
				runs[nruns] = runs[at];
				runs[nruns++].file = nfiles;
			}
		}
		if (!chosen[f])
			files[nfiles++] = files[f];
		else
			table.rows -= ManifestFileLive(&files[f]);
	}
	table.nfiles = nfiles;
	table.nruns = nruns;
}

/* All steps of a compaction; returns the rows it wrote, or -1: CompactDue says otherwise. */
static int64
Compact(const CompactLimits *limits)
{
	bool		due = CompactDue(&table, &spec, limits) != 0;
	double		parts[NBUCKETS] = {0};
	int64		total = 0;
	bool		any = false;

	while (CompactChoose(&table, eligible, NULL, limits, parts, chosen) > 0)
	{
		int64		rows[NBUCKETS] = {0};
		int64		rewritten = 0;
		int64		taken = 0;

		for (int f = 0; f < table.nfiles; f++)
		{
			if (chosen[f])
			{
				int64		live = ManifestFileLive(&files[f]);

				taken += live;
				rewritten += (int64) (files[f].rewritten * ((double) live / files[f].rows));
			}
		}
		TakeOut(rows);
		Write(rows, rewritten + taken);
		total += taken;
		any = true;
	}
	return due == any && CompactDue(&table, &spec, limits) == 0 ? total : -1;
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
	int			times = history->days * (history->hours + 1);
	int			one = 0;
	bool		due_right = true;

	Empty(history->skew);
	if (history->first > 0)
		Append(history->first);
	for (int i = 0; i < times; i++)
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
		one += MostRuns() == 1;
	}
	limits.quiet = true;
	rewritten += Compact(&limits);
	ShimOk((double) rewritten / table.rows <= history->max_rewritten && most <= history->max_runs &&
		   MostRuns() <= history->max_runs_at_end && due_right,
		   "%s: rewritten %.2f times, at once %lld rows; %d runs, %d at the end; one run %.2f of the time", history->name,
		   (double) rewritten / table.rows, (long long) burst, most, MostRuns(), (double) one / times);
}

static double
MostDeleted(void)
{
	double		most = 0;

	for (int f = 0; f < table.nfiles; f++)
		most = Max(most, 1 - (double) ManifestFileLive(&files[f]) / files[f].rows);
	return most;
}

/* Rows are deleted, and others come: deleted ones go before they are many, and few are written anew for each. */
static void
TestDeletes(const DeleteHistory *history, CompactLimits limits)
{
	int64		appended = history->first;
	int64		deleted = 0;
	int64		rewritten = 0;
	double		most = 0;
	bool		due_right = true;

	Empty(0);
	if (history->first > 0)
		Append(history->first);
	for (int i = 0; i < history->steps; i++)
	{
		int64		now;

		if (history->append > 0)
			Append(history->append);
		appended += history->append;
		if (i >= history->after)
			deleted += Delete(history->part, history->every, i);
		limits.quiet = history->quiet;
		limits.deleted = history->quiet ? 0.2 : 0.5;
		now = Compact(&limits);
		due_right &= now >= 0;
		rewritten += now;
		most = Max(most, MostDeleted() - limits.deleted);
	}
	limits.quiet = true;
	limits.deleted = 0.2;
	rewritten += Compact(&limits);
	ShimOk((double) rewritten / (appended + deleted) <= history->max_rewritten && most <= 0 && MostDeleted() <= 0.2 &&
		   MostRuns() <= 12 && due_right,
		   "%s: rewritten %.2f times for each row appended or deleted, %.2f of those deleted; %d runs, %.3f deleted at the end",
		   history->name, (double) rewritten / (appended + deleted), (double) rewritten / deleted, MostRuns(),
		   MostDeleted());
}

/* Files without rows go, whatever is allowed; all deleted rows go in a full compaction, but those of fresh files. */
static void
TestEmpty(CompactLimits limits)
{
	double		parts[NBUCKETS] = {0};
	bool		fresh[MAX_FILES] = {false};
	int			n;

	Empty(0);
	Append(4000);
	Append(1000000);
	limits.deleted = 1;
	(void) Delete(1, table.nfiles, 0);
	n = CompactChoose(&table, eligible, NULL, &limits, parts, chosen);
	ShimOk(n == 1 && chosen[0] && CompactDue(&table, &spec, &limits) == COMPACT_CLEAN && Compact(&limits) == 0 &&
		   table.rows == 1000000 && MostDeleted() == 0, "a file without rows goes, and nothing is written");
	(void) Delete(0.001, 1, 0);
	ShimOk(Compact(&limits) == 0 && MostDeleted() > 0, "few deleted rows stay");
	limits.full = true;
	memset(fresh, true, sizeof(fresh));
	ShimOk(CompactChoose(&table, eligible, fresh, &limits, parts, chosen) == 0, "those of fresh files stay");
	ShimOk(Compact(&limits) > 0 && MostDeleted() == 0, "all deleted rows are taken out in full");
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
		.deleted = 1,
		.memory = 64 * 1024 * 1024
	};

	ShimInit();
	memset(eligible, true, sizeof(eligible));
	for (int i = 0; i < lengthof(histories); i++)
		TestHistory(&histories[i], limits);
	TestFull(limits);
	for (int i = 0; i < lengthof(delete_histories); i++)
		TestDeletes(&delete_histories[i], limits);
	TestEmpty(limits);
	return ShimDone();
}
