/*
 * file_io.c
 *	  Checksums of what is read and written.
 */
#include "postgres.h"

#include "format/file_io.h"
#include "port/pg_crc32c.h"

uint32
FileChecksum(const void *data, size_t len)
{
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, data, len);
	FIN_CRC32C(crc);
	return crc;
}

bool
FileReadSummed(FileSource *source, void *buf, size_t len, uint64 offset, uint32 checksum)
{
	source->read(source, buf, len, offset);
	if (FileChecksum(buf, len) == checksum)
		return true;
	if (source->read_again == NULL)
		return false;
	source->read_again(source, buf, len, offset);
	return FileChecksum(buf, len) == checksum;
}
