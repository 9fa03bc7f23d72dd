/*
 * row_sources.c
 *	  Which rows of replaced files the rows of the new ones were.
 *
 * A row is kept as the run that it is of, among those it can be of, and how far
 * it is from the one before of that run: as rows of a run keep their order, and
 * most are there, that is one byte where runs are few.
 */
#include "postgres.h"

#include "format/byte_buffer.h"
#include "miscadmin.h"
#include "storage/temp_file.h"
#include "upkeep/row_sources.h"
#include "utils/lsyscache.h"

/* bytes in memory: a part of maintenance_work_mem, and at least so many; also what is read at once */
#define MEMORY_PART 8
#define LEAST_MEMORY (64 * 1024)

/* what a row takes at most: twice 10 bytes */
#define MOST_BYTES 20

struct RowSources
{
	Manifest   *inputs;
	int64	   *starts;			/* of each run of the inputs, the number of its first row; one more at the end */
	int		   *by_bucket;		/* the runs by bucket, then number; NULL before RowSourcesBucket */
	int		   *first;			/* of each bucket in by_bucket, one more at the end */
	int			nbuckets;
	const int  *runs;			/* those that rows can be of now; NULL: all */
	int			nruns;
	int			last_run;		/* of the row before, among them */
	int64	   *next;			/* per run of the inputs: the row after the last that came */
	char	   *buf;
	Size		room;
	Size		len;
	Size		at;				/* reading: in buf */
	File		file;			/* what did not fit, 0: none */
	int64		written;		/* bytes there */
	int64		read;
	int64		rows;
};

RowSources *
RowSourcesBegin(Manifest *inputs)
{
	RowSources *sources = palloc0(sizeof(RowSources));
	int64		number = ManifestNumberRows(inputs);

	sources->inputs = inputs;
	sources->starts = palloc_extended((inputs->nruns + 1) * sizeof(int64), MCXT_ALLOC_HUGE);
	sources->next = palloc_extended((inputs->nruns + 1) * sizeof(int64), MCXT_ALLOC_HUGE);
	sources->starts[inputs->nruns] = number;
	for (int r = inputs->nruns - 1; r >= 0; r--)
	{
		number -= inputs->runs[r].rows;
		sources->starts[r] = sources->next[r] = number;
	}
	if (number != 0)
		elog(ERROR, "runs of table \"%s\" have not as many rows as its files", get_rel_name(inputs->relid));
	sources->nruns = inputs->nruns;
	sources->room = Max((Size) maintenance_work_mem * 1024 / MEMORY_PART, LEAST_MEMORY);
	sources->buf = palloc_extended(sources->room, MCXT_ALLOC_HUGE);
	return sources;
}

/* Sort the runs by bucket. */
static void
SortByBucket(RowSources *sources)
{
	const Manifest *inputs = sources->inputs;
	int			n = inputs->nruns;

	for (int r = 0; r < n; r++)
		sources->nbuckets = Max(sources->nbuckets, inputs->runs[r].bucket + 1);
	sources->by_bucket = palloc_extended(Max(n, 1) * sizeof(int), MCXT_ALLOC_HUGE);

	/* counts of bucket b at b + 2, so that filling moves b + 1 from its start to its end */
	sources->first = palloc0((sources->nbuckets + 2) * sizeof(int));
	for (int r = 0; r < n; r++)
		sources->first[inputs->runs[r].bucket + 2]++;
	for (int b = 2; b < sources->nbuckets + 2; b++)
		sources->first[b] += sources->first[b - 1];
	for (int r = 0; r < n; r++)
		sources->by_bucket[sources->first[inputs->runs[r].bucket + 1]++] = r;
}

void
RowSourcesBucket(RowSources *sources, int bucket)
{
	if (sources->by_bucket == NULL)
		SortByBucket(sources);
	Assert(bucket < sources->nbuckets);
	sources->runs = sources->by_bucket + sources->first[bucket];
	sources->nruns = sources->first[bucket + 1] - sources->first[bucket];
	sources->last_run = 0;
}

/* The run of the inputs that is the i-th of those that rows can be of. */
static inline int
RunAt(const RowSources *sources, int i)
{
	return sources->runs ? sources->runs[i] : i;
}

/* Which of the runs that rows can be of has the row of this number? */
static int
FindRun(const RowSources *sources, int64 number)
{
	int			low = 0;
	int			high = sources->nruns - 1;
	int			run = RunAt(sources, sources->last_run);

	if (number >= sources->starts[run] && number < sources->starts[run + 1])
		return sources->last_run;
	while (low < high)
	{
		int			middle = (low + high + 1) / 2;

		if (sources->starts[RunAt(sources, middle)] <= number)
			low = middle;
		else
			high = middle - 1;
	}
	run = RunAt(sources, low);
	if (number < sources->starts[run] || number >= sources->starts[run + 1])
		elog(ERROR, "row %lld is of no run that is written anew", (long long) number);
	return low;
}

static inline void
PutNumber(RowSources *sources, uint64 value)
{
	while (value >= 0x80)
	{
		sources->buf[sources->len++] = (char) (value | 0x80);
		value >>= 7;
	}
	sources->buf[sources->len++] = (char) value;
}

static void
WriteBuffer(RowSources *sources)
{
	if (sources->file == 0)
		sources->file = TempFileOpen();
	TempFileWrite(sources->file, sources->buf, sources->len, sources->written);
	sources->written += sources->len;
	sources->len = 0;
}

void
RowSourcesAdd(RowSources *sources, int64 number)
{
	int			i = FindRun(sources, number);
	int64	   *next = &sources->next[RunAt(sources, i)];
	int64		away = number - *next;

	if (sources->len + MOST_BYTES > sources->room)
		WriteBuffer(sources);
	PutNumber(sources, (uint64) i * 2 + (away != 0));
	if (away != 0)
		PutNumber(sources, ((uint64) away << 1) ^ (uint64) (away >> 63));
	*next = number + 1;
	sources->last_run = i;
	sources->rows++;
}

/* Begin to read what was added. */
static void
Rewind(RowSources *sources)
{
	if (sources->file != 0)
	{
		WriteBuffer(sources);
		sources->at = 0;
	}
	for (int r = 0; r < sources->inputs->nruns; r++)
		sources->next[r] = sources->starts[r];
	sources->runs = NULL;
	sources->nruns = sources->inputs->nruns;
}

static inline uint64
GetNumber(RowSources *sources)
{
	uint64		value = 0;
	int			shift = 0;
	uint8		byte;

	do
	{
		byte = (uint8) sources->buf[sources->at++];
		value |= (uint64) (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return value;
}

/* Have the bytes of a row in the buffer. */
static inline void
Fill(RowSources *sources)
{
	Size		left = sources->len - sources->at;
	Size		n;

	if (left >= MOST_BYTES || sources->read == sources->written)
		return;
	memmove(sources->buf, sources->buf + sources->at, left);
	n = (Size) Min((int64) (sources->room - left), sources->written - sources->read);
	TempFileRead(sources->file, sources->buf + left, n, sources->read);
	sources->read += n;
	sources->len = left + n;
	sources->at = 0;
	CHECK_FOR_INTERRUPTS();
}

/* The number of the next row that was added, and its run. */
static int64
NextRow(RowSources *sources, int *run)
{
	uint64		head;
	int64		away = 0;

	Fill(sources);
	head = GetNumber(sources);
	if (head % 2 != 0)
	{
		uint64		zigzag = GetNumber(sources);

		away = (int64) (zigzag >> 1) ^ -(int64) (zigzag & 1);
	}
	*run = RunAt(sources, (int) (head / 2));
	sources->next[*run] += away + 1;
	return sources->next[*run] - 1;
}

/* What is deleted of a file now that was not when it was read. */
typedef struct NewDeletes
{
	bool		all;			/* the file is gone */
	RowNumbers *rows;			/* those, and those that were; NULL: none are new */
} NewDeletes;

/* Of all files; returns how many rows that are. */
static int64
FindNew(const Manifest *inputs, const ManifestFile *const *now, NewDeletes *deletes)
{
	int64		rows = 0;

	for (int f = 0; f < inputs->nfiles; f++)
	{
		const ManifestFile *file = &inputs->files[f];
		const ManifestFile *found = now[f];

		if (found != NULL && ManifestFileLive(found) == ManifestFileLive(file))
			continue;
		rows += ManifestFileLive(file) - (found ? ManifestFileLive(found) : 0);
		deletes[f].all = found == NULL;
		if (found != NULL)
			deletes[f].rows = DeletedRows(found->deletes, inputs->relid, file->rows);
	}
	return rows;
}

static inline bool
IsNew(const NewDeletes *deletes, int64 row)
{
	return deletes->all || (deletes->rows != NULL && RowNumbersHas(deletes->rows, row));
}

int64
RowSourcesTranslate(RowSources *sources, const ManifestFile *const *now, const ManifestWrite *write,
					CommandId cid)
{
	const Manifest *inputs = sources->inputs;
	NewDeletes *deletes = palloc0(Max(inputs->nfiles, 1) * sizeof(NewDeletes));
	int64		expected = FindNew(inputs, now, deletes);
	int64		found = 0;
	int			r = 0;

	if (expected == 0)
		return 0;
	Rewind(sources);
	for (int f = 0; f < write->nfiles; f++)
	{
		int			first = r;
		int64		row = 0;
		RowNumbers *set = RowNumbersCreate();
		int64	   *run_deleted;

		while (r < write->nruns && write->runs[r].file == f)
			r++;
		run_deleted = palloc0(Max(r - first, 1) * sizeof(int64));
		for (int i = first; i < r; i++)
		{
			if (sources->by_bucket != NULL)
				RowSourcesBucket(sources, write->runs[i].bucket);
			for (int64 end = row + write->runs[i].rows; row < end; row++)
			{
				int			run;
				int64		number = NextRow(sources, &run);
				int			file = inputs->runs[run].file;

				if (!IsNew(&deletes[file], number - inputs->files[file].first_number))
					continue;
				(void) RowNumbersAdd(set, row);
				run_deleted[i - first]++;
			}
		}
		if (RowNumbersCount(set) > 0)
			DeletesInsert(inputs->relid, write->files[f].file_id, set, run_deleted, r - first, cid);
		found += RowNumbersCount(set);
		RowNumbersFree(set);
		pfree(run_deleted);
	}
	if (found != expected)
		elog(ERROR, "%lld rows of table \"%s\" were deleted since it was read, %lld are in the files written",
			 (long long) expected, get_rel_name(inputs->relid), (long long) found);
	return found;
}

void
RowSourcesEnd(RowSources *sources)
{
	if (sources->file != 0)
		FileClose(sources->file);
	sources->file = 0;
}
