/*
 * file_copy.c
 *	  The copy of a file in another tablespace.
 */
#include "postgres.h"

#include "format/file_format.h"
#include "format/read/reader.h"
#include "storage/file_store.h"

typedef struct CopySink
{
	FileSink	sink;			/* must be first */
	FileSink   *to;
	bool		begun;
} CopySink;

/*
 * FileSink's write.  The header, whole in the first page, is to name the
 * transaction that makes the copy: the sweep asks whether that still runs.
 */
static void
CopyWrite(FileSink *sink, const void *data, size_t len)
{
	CopySink   *copy = (CopySink *) sink;
	const char *from = data;

	if (!copy->begun)
	{
		DiskHeader	header;

		memcpy(&header, from, sizeof(header));
		header.xid = U64FromFullTransactionId(GetTopFullTransactionId());
		header.crc = FileChecksum(&header, offsetof(DiskHeader, crc));
		copy->to->write(copy->to, &header, sizeof(header));
		from += sizeof(header);
		len -= sizeof(header);
		copy->begun = true;
	}
	copy->to->write(copy->to, from, len);
}

FileLocator
StoreCopy(Oid relid, const char *relname, const ManifestFile *file, Oid tablespace)
{
	FileSource *source = StoreOpen(relid, relname, file);
	StoreWriter *writer = StoreCreate(relid, tablespace, file->file_id);
	CopySink	copy = {.sink = {CopyWrite}, .to = StoreSink(writer)};

	/* a header that is damaged must not get a checksum that is right */
	FileReaderClose(FileReaderOpen(source, file->file_id, relid));
	StoreVerifyPages(source, &copy.sink);
	StoreClose(source);
	return StoreFinish(writer);
}
