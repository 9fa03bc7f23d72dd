/*
 * footer.c
 *	  Read and check header, tail and footer of a file.
 *
 * Nothing read here is believed before it is checked: every count is bounded
 * by the bytes of its section, so that garbage allocates no more than a small
 * multiple of the file's size.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "format/read/reader_private.h"
#include "format/stats/stat_value.h"
#include "miscadmin.h"

/* a file of so many bytes is read at once; of a larger one, whose footer may have any size, first the end */
#define WHOLE_READ_BYTES (32 * 1024)
#define TAIL_READ_BYTES (4 * 1024)

typedef struct Section
{
	const char *data;			/* NULL: not there */
	size_t		len;
} Section;

static void
corrupt(FileReader *reader, const char *problem)
{
	FileReaderCorrupt(reader, -1, -1, 0, problem);
}

static void
too_new(FileReader *reader, const char *what, uint32 number)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("file \"%s\" of table \"%s\" was written by a newer version of bucketfdw",
					reader->source->path, reader->source->relname),
			 errdetail("It has %s %u, which this version does not know.", what, number),
			 errhint("Install the newer version again.")));
}

static bool
crc_matches(const void *data, size_t len, uint32 expected)
{
	return FileChecksum(data, len) == expected;
}

static void
check_tail(FileReader *reader, const DiskTail *tail, uint64 file_id)
{
	uint64		end = reader->source->size - sizeof(DiskTail);

	if (tail->magic != BF_TAIL_MAGIC)
		FileReaderCorrupt(reader, -1, -1, end, "the file does not end as a file of bucketfdw");
	if (!crc_matches(tail, offsetof(DiskTail, crc), tail->crc))
		FileReaderCorrupt(reader, -1, -1, end, "checksum of the tail does not match");
	if (tail->version != BF_FORMAT_VERSION)
		too_new(reader, "format version", tail->version);
	if (tail->footer_offset < sizeof(DiskHeader) || tail->footer_offset > end ||
		tail->footer_offset % 8 != 0 || tail->footer_length != end - tail->footer_offset)
		FileReaderCorrupt(reader, -1, -1, end, "position of the footer is invalid");
	if (tail->file_id != file_id)
		FileReaderCorrupt(reader, -1, -1, end, "the tail belongs to another file");
}

static void
check_header(FileReader *reader, const DiskHeader *header, uint64 file_id, Oid relid)
{
	if (header->magic != BF_HEAD_MAGIC)
		corrupt(reader, "the file does not begin as a file of bucketfdw");
	if (!crc_matches(header, offsetof(DiskHeader, crc), header->crc))
		corrupt(reader, "checksum of the header does not match");
	if (header->version != BF_FORMAT_VERSION)
		too_new(reader, "format version", header->version);
	if (header->length < sizeof(DiskHeader) || header->length > reader->priv->footer_offset)
		corrupt(reader, "length of the header is invalid");
	if (header->file_id != file_id || header->relid != relid)
		corrupt(reader, psprintf("the file belongs to table %u (file id %016llx), not to table %u (file id %016llx)",
								 header->relid, (unsigned long long) header->file_id,
								 relid, (unsigned long long) file_id));
	reader->priv->header_length = header->length;
	reader->file_id = file_id;
	reader->relid = relid;
}

/* Find the known sections. */
static void
split_sections(FileReader *reader, const char *footer, size_t len, Section *sections)
{
	size_t		at = 0;

	memset(sections, 0, (SECTION_LAST + 1) * sizeof(Section));
	while (at < len)
	{
		DiskSection section;

		if (len - at < sizeof(section))
			corrupt(reader, "footer is cut off");
		memcpy(&section, footer + at, sizeof(section));
		at += sizeof(section);
		if (section.length > len - at)
			corrupt(reader, "section of the footer is cut off");
		if (section.tag >= 1 && section.tag <= SECTION_LAST)
		{
			if (sections[section.tag].data != NULL)
				corrupt(reader, "section of the footer occurs twice");
			sections[section.tag].data = footer + at;
			sections[section.tag].len = section.length;
		}
		else if (section.flags & BF_SECTION_REQUIRED)
			too_new(reader, "footer section", section.tag);
		/* the footer's length is a multiple of 8, so this stays inside */
		at += BF_ALIGN8(section.length);
	}
	for (int tag = 1; tag <= SECTION_LAST; tag++)
	{
		if (sections[tag].data == NULL && tag != SECTION_ROW_TYPES)
			corrupt(reader, psprintf("section %d of the footer is missing", tag));
	}
}

static void
read_columns(FileReader *reader, const Section *section)
{
	const DiskColumn *disk = (const DiskColumn *) section->data;
	int			n = section->len / sizeof(DiskColumn);
	AttrNumber	last = 0;

	if (section->len % sizeof(DiskColumn) != 0 || section->len / sizeof(DiskColumn) > MaxHeapAttributeNumber)
		corrupt(reader, "section of columns has a wrong length");
	reader->ncols = n;
	reader->cols = palloc0(Max(n, 1) * sizeof(FileColumn));
	for (int i = 0; i < n; i++)
	{
		FileColumn *col = &reader->cols[i];

		if (disk[i].attnum <= last || disk[i].attnum > MaxHeapAttributeNumber)
			corrupt(reader, "columns are out of order");
		last = col->attnum = disk[i].attnum;
		col->typid = disk[i].typid;
		col->typmod = disk[i].typmod;
		col->collation = disk[i].collation;
		col->typlen = disk[i].typlen;
		col->typbyval = disk[i].typbyval != 0;
		col->typalign = disk[i].typalign;
		col->typstorage = disk[i].typstorage;
		if (col->typbyval ?
			(col->typlen != 1 && col->typlen != 2 && col->typlen != 4 && col->typlen != 8) :
			(col->typlen != -1 && col->typlen <= 0))
			corrupt(reader, psprintf("column %d has an invalid length", col->attnum));
		if (strchr("csid", col->typalign) == NULL || col->typalign == '\0')
			corrupt(reader, psprintf("column %d has an invalid alignment", col->attnum));
		if (disk[i].keyclass > KEYCLASS_LAST)
			corrupt(reader, psprintf("column %d has an invalid key class", col->attnum));
		col->keyclass = (KeyClass) disk[i].keyclass;
		/* what the decoders rely on */
		if (!KeyClassFits(col->keyclass, col->typlen, col->typbyval))
			corrupt(reader, psprintf("column %d has a key class that does not fit its type", col->attnum));
	}
}

int
FileReaderFindColumn(const FileReader *reader, AttrNumber attnum)
{
	int			low = 0;
	int			high = reader->ncols - 1;

	while (low <= high)
	{
		int			mid = (low + high) / 2;

		if (reader->cols[mid].attnum == attnum)
			return mid;
		if (reader->cols[mid].attnum < attnum)
			low = mid + 1;
		else
			high = mid - 1;
	}
	return -1;
}

static void
read_spec(FileReader *reader, const Section *section)
{
	DiskSpec	disk;
	const DiskSortColumn *sort = (const DiskSortColumn *) (section->data + sizeof(disk));
	BucketSpec *spec;

	if (section->len < sizeof(disk))
		corrupt(reader, "section of the bucket spec is cut off");
	memcpy(&disk, section->data, sizeof(disk));
	/* rows can be read whatever hash placed them; who relies on their buckets asks for the version */
	if (disk.hash_version < 1 || disk.hash_version > PG_INT16_MAX ||
		disk.nbuckets < 1 || disk.nbuckets > BF_MAX_BUCKETS ||
		disk.nkeys < 1 || disk.nkeys > disk.nsort || disk.nsort > MaxHeapAttributeNumber ||
		section->len != sizeof(disk) + disk.nsort * sizeof(DiskSortColumn))
		corrupt(reader, "bucket spec is invalid");

	spec = reader->spec = palloc0(BucketSpecSize(disk.nsort));
	spec->hash_version = disk.hash_version;
	spec->nbuckets = disk.nbuckets;
	spec->nkeys = disk.nkeys;
	spec->nsort = disk.nsort;
	for (int i = 0; i < spec->nsort; i++)
	{
		int			col = FileReaderFindColumn(reader, sort[i].attnum);

		if (col < 0 || sort[i].keyclass == KEYCLASS_NONE ||
			sort[i].keyclass != (uint8) reader->cols[col].keyclass ||
			(sort[i].flags & ~(BF_SORT_DESC | BF_SORT_NULLS_FIRST)) != 0)
			corrupt(reader, "sort column of the bucket spec is invalid");
		spec->sort[i].attnum = sort[i].attnum;
		spec->sort[i].keyclass = (KeyClass) sort[i].keyclass;
		spec->sort[i].typid = sort[i].typid;
		spec->sort[i].flags = sort[i].flags;
	}
}

static void
read_blocks(FileReader *reader, const Section *section, const Section *keys)
{
	const DiskBlock *disk = (const DiskBlock *) section->data;
	uint64		n = section->len / sizeof(DiskBlock);
	uint64		bytes_left = reader->priv->footer_offset - reader->priv->header_length;
	int			nsort = reader->spec->nsort;
	StatValue  *tuples;
	size_t		at = 0;

	if (section->len % sizeof(DiskBlock) != 0 || n > PG_INT32_MAX)
		corrupt(reader, "section of blocks has a wrong length");
	/* every key value takes at least its flag byte */
	if (n * 2 * nsort > keys->len)
		corrupt(reader, "section of keys is cut off");
	reader->nblocks = (int) n;
	reader->blocks = MemoryContextAllocHuge(reader->cxt, Max(n, 1) * sizeof(FileBlock));
	tuples = MemoryContextAllocHuge(reader->cxt, Max(n, 1) * 2 * nsort * sizeof(StatValue));

	for (int i = 0; i < reader->nblocks; i++)
	{
		FileBlock  *block = &reader->blocks[i];

		CHECK_FOR_INTERRUPTS();
		if (disk[i].nrows < 1 || disk[i].nrows > BF_BATCH_ROWS)
			FileReaderCorrupt(reader, i, -1, 0, "number of rows is invalid");
		if (disk[i].first_row != (uint64) reader->nrows)
			FileReaderCorrupt(reader, i, -1, 0, "number of the first row is wrong");
		if (disk[i].bytes > bytes_left)
			FileReaderCorrupt(reader, i, -1, 0, "the block is larger than the file");
		bytes_left -= disk[i].bytes;
		block->nrows = disk[i].nrows;
		block->first_row = disk[i].first_row;
		block->bytes = disk[i].bytes;
		block->first = tuples;
		block->last = tuples + nsort;
		for (int k = 0; k < 2 * nsort; k++)
		{
			const char *problem = StatValueRead(keys->data, keys->len, &at,
												reader->spec->sort[k % nsort].keyclass, tuples++);

			if (problem)
				FileReaderCorrupt(reader, i, -1, 0, problem);
		}
		reader->nrows += block->nrows;
	}
	if (at != keys->len)
		corrupt(reader, "section of keys has a wrong length");
}

static void
read_runs(FileReader *reader, const Section *section)
{
	const DiskRun *disk = (const DiskRun *) section->data;
	size_t		n = section->len / sizeof(DiskRun);
	int			block = 0;

	if (section->len % sizeof(DiskRun) != 0 || n > BF_MAX_BUCKETS)
		corrupt(reader, "section of runs has a wrong length");
	reader->nruns = (int) n;
	reader->runs = palloc0(Max(n, 1) * sizeof(FileRun));
	for (int i = 0; i < reader->nruns; i++)
	{
		FileRun    *run = &reader->runs[i];

		if (disk[i].bucket >= (uint32) reader->spec->nbuckets || (i > 0 && disk[i].bucket <= disk[i - 1].bucket))
			corrupt(reader, "runs are out of order");
		if (disk[i].nblocks > (uint32) (reader->nblocks - block))
			corrupt(reader, "runs have more blocks than the file");
		run->bucket = disk[i].bucket;
		run->first_block = block;
		run->nblocks = disk[i].nblocks;
		for (int end = block + run->nblocks; block < end; block++)
			run->nrows += reader->blocks[block].nrows;
		if ((uint64) run->nrows != disk[i].nrows)
			corrupt(reader, "number of rows of a run is wrong");
	}
	if (block != reader->nblocks)
		corrupt(reader, "there are blocks that belong to no run");
}

void
FooterRead(FileReader *reader, uint64 file_id, Oid relid)
{
	FileSource *source = reader->source;
	FileReaderPrivate *priv = reader->priv;
	size_t		got;
	char	   *end;
	DiskTail	tail;
	DiskHeader	header;
	bool		have_footer;
	Section		sections[SECTION_LAST + 1];

	if (source->size < sizeof(DiskHeader) + sizeof(DiskTail))
		corrupt(reader, "the file is too short");
	got = source->size <= WHOLE_READ_BYTES ? source->size : TAIL_READ_BYTES;
	end = palloc(got);
	source->read(source, end, got, source->size - got);
	memcpy(&tail, end + got - sizeof(tail), sizeof(tail));
	if (source->read_again != NULL && !crc_matches(&tail, offsetof(DiskTail, crc), tail.crc))
	{
		source->read_again(source, end, got, source->size - got);
		memcpy(&tail, end + got - sizeof(tail), sizeof(tail));
	}
	check_tail(reader, &tail, file_id);
	priv->footer_offset = tail.footer_offset;

	if (got == source->size)
		memcpy(&header, end, sizeof(header));
	else
		source->read(source, &header, sizeof(header), 0);
	check_header(reader, &header, file_id, relid);

	priv->footer = MemoryContextAllocHuge(reader->cxt, tail.footer_length + BF_SLACK);
	have_footer = tail.footer_offset >= source->size - got;
	if (have_footer)
		memcpy(priv->footer, end + (tail.footer_offset - (source->size - got)), tail.footer_length);
	pfree(end);
	if (!(have_footer && crc_matches(priv->footer, tail.footer_length, tail.footer_crc)) &&
		!FileReadSummed(source, priv->footer, tail.footer_length, tail.footer_offset, tail.footer_crc))
		FileReaderCorrupt(reader, -1, -1, tail.footer_offset, "checksum of the footer does not match");
	if (tail.footer_length % 8 != 0)
		FileReaderCorrupt(reader, -1, -1, tail.footer_offset, "length of the footer is invalid");

	split_sections(reader, priv->footer, tail.footer_length, sections);
	read_columns(reader, &sections[SECTION_COLUMNS]);
	read_spec(reader, &sections[SECTION_SPEC]);
	read_blocks(reader, &sections[SECTION_BLOCKS], &sections[SECTION_KEYS]);
	read_runs(reader, &sections[SECTION_RUNS]);
	if (sections[SECTION_CHUNKS].len !=
		(uint64) reader->nblocks * reader->ncols * sizeof(DiskChunk))
		corrupt(reader, "section of chunks has a wrong length");
	priv->chunks = (const DiskChunk *) sections[SECTION_CHUNKS].data;
	priv->stats = sections[SECTION_STATS].data;
	priv->stats_len = sections[SECTION_STATS].len;
	priv->row_types = sections[SECTION_ROW_TYPES].data;
	priv->row_types_len = sections[SECTION_ROW_TYPES].len;
}
