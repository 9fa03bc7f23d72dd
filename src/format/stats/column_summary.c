/*
 * column_summary.c
 *	  Statistics of the columns of one write as bytes, and back.
 */
#include "postgres.h"

#include "format/stats/column_summary.h"
#include "format/stats/stat_value.h"

#define FLAG_ALL_HASHES 1

typedef struct DiskSummaries
{
	uint32		version;
	uint32		ncolumns;
} DiskSummaries;

typedef struct DiskSummaryEntry
{
	int16		attnum;
	uint16		keyclass;
	uint32		offset;
} DiskSummaryEntry;

typedef struct DiskSummary
{
	int64		nulls;
	int64		values;
	int64		bytes;
	uint16		nhashes;
	uint8		ncommon;
	uint8		nbounds;
	uint8		flags;
	uint8		reserved[3];
} DiskSummary;

/*
 * A few kB in all, however many columns there are: planning reads the
 * summaries of all writes of a table.
 */
void
SummaryGetLimits(int ncolumns, SummaryLimits *limits)
{
	int			share = Max(1, ncolumns / 8);

	limits->hashes = Max(SKETCH_HASHES / share, 8);
	limits->common = Max(SUMMARY_COMMON / share, 2);
	limits->bounds = Max(SUMMARY_BOUNDS / share, 3);
}

void
SummaryBegin(ByteBuffer *out, int ncolumns)
{
	DiskSummaries head = {BF_SUMMARY_VERSION, ncolumns};
	size_t		entries = ncolumns * sizeof(DiskSummaryEntry);

	out->len = 0;
	ByteBufferAppend(out, &head, sizeof(head));
	memset(ByteBufferExtend(out, entries), 0, entries);
}

void
SummaryAdd(ByteBuffer *out, int index, const ColumnSummary *summary)
{
	DiskSummaryEntry entry = {summary->attnum, summary->keyclass, 0};
	DiskSummary disk = {summary->nulls, summary->values, summary->bytes, summary->nhashes,
	summary->ncommon, summary->nbounds, 0, {0}};

	/* with a bound, it is the last hash that sets it */
	if (summary->nhashes == 0 || summary->below > (uint64) summary->hashes[summary->nhashes - 1] + 1)
		disk.flags = FLAG_ALL_HASHES;
	ByteBufferAlign(out, 8);
	entry.offset = out->len;
	memcpy(out->data + sizeof(DiskSummaries) + index * sizeof(entry), &entry, sizeof(entry));
	ByteBufferAppend(out, &disk, sizeof(disk));
	ByteBufferAppend(out, summary->hashes, summary->nhashes * sizeof(uint32));
	ByteBufferAppend(out, summary->shares, summary->ncommon * sizeof(float));
	for (int i = 0; i < summary->ncommon; i++)
		StatValueWrite(out, summary->keyclass, false, summary->common[i].value);
	for (int i = 0; i < summary->nbounds; i++)
		StatValueWrite(out, summary->keyclass, false, summary->bounds[i].value);
}

/* Bytes of an array, moving *at behind it; NULL when they are not there. */
static const char *
take(const char *base, size_t len, size_t *at, size_t bytes)
{
	const char *result = base + *at;

	if (len - *at < bytes)
		return NULL;
	*at += bytes;
	return result;
}

static bool
read_values(const char *base, size_t len, size_t *at, KeyClass keyclass, StatValue *values, int n)
{
	for (int i = 0; i < n; i++)
	{
		if (StatValueRead(base, len, at, keyclass, &values[i]) != NULL || values[i].isnull)
			return false;
	}
	return true;
}

static bool
read_summary(const char *base, size_t len, const DiskSummaryEntry *entry, ColumnSummary *summary)
{
	size_t		at = entry->offset;
	const char *p;
	DiskSummary disk;

	if (at > len || entry->keyclass > KEYCLASS_LAST ||
		(p = take(base, len, &at, sizeof(disk))) == NULL)
		return false;
	memcpy(&disk, p, sizeof(disk));
	if (disk.nulls < 0 || disk.values < 0 || disk.bytes < 0 || disk.nhashes > SKETCH_HASHES ||
		disk.ncommon > SUMMARY_COMMON || disk.nbounds > SUMMARY_BOUNDS ||
		(entry->keyclass == KEYCLASS_NONE && (disk.ncommon > 0 || disk.nbounds > 0)))
		return false;
	summary->attnum = entry->attnum;
	summary->keyclass = (KeyClass) entry->keyclass;
	summary->nulls = disk.nulls;
	summary->values = disk.values;
	summary->bytes = disk.bytes;
	summary->nhashes = disk.nhashes;
	summary->ncommon = disk.ncommon;
	summary->nbounds = disk.nbounds;
	if ((p = take(base, len, &at, disk.nhashes * sizeof(uint32))) == NULL)
		return false;
	memcpy(summary->hashes, p, disk.nhashes * sizeof(uint32));
	summary->below = UINT64CONST(1) << 32;
	if (disk.nhashes > 0 && !(disk.flags & FLAG_ALL_HASHES))
		summary->below = (uint64) summary->hashes[disk.nhashes - 1] + 1;
	if ((p = take(base, len, &at, disk.ncommon * sizeof(float))) == NULL)
		return false;
	memcpy(summary->shares, p, disk.ncommon * sizeof(float));
	return read_values(base, len, &at, summary->keyclass, summary->common, disk.ncommon) &&
		read_values(base, len, &at, summary->keyclass, summary->bounds, disk.nbounds);
}

/* The directory of the summaries; NULL when the bytes are none that we can read. */
static const DiskSummaryEntry *
find_entries(const char *base, size_t len, uint32 *n)
{
	const DiskSummaries *head = (const DiskSummaries *) base;

	if (len < sizeof(*head) || head->version != BF_SUMMARY_VERSION ||
		head->ncolumns > (len - sizeof(*head)) / sizeof(DiskSummaryEntry))
		return NULL;
	*n = head->ncolumns;
	return (const DiskSummaryEntry *) (head + 1);
}

bool
SummaryFind(const char *base, size_t len, AttrNumber attnum, ColumnSummary *summary)
{
	uint32		n = 0;
	const DiskSummaryEntry *entries = find_entries(base, len, &n);

	for (uint32 i = 0; entries != NULL && i < n; i++)
	{
		if (entries[i].attnum == attnum)
			return read_summary(base, len, &entries[i], summary);
	}
	return false;
}

bool
SummaryIsComplete(const char *base, size_t len)
{
	uint32		n = 0;

	return find_entries(base, len, &n) != NULL && n < SUMMARY_COLUMNS;
}
