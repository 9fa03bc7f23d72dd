/*
 * pg_shim_buffile.c
 *	  Temporary files in memory for stand-alone programs; see pg_shim.h.
 */
#include "postgres.h"

#include "compat.h"
#include "pg_shim.h"
#include "storage/buffile.h"

#if PG_VERSION_NUM >= 160000
typedef const void *WrittenData;
#else
typedef void *WrittenData;
#endif

struct BufFile
{
	char	   *data;
	size_t		size;
	size_t		room;
	size_t		pos;
};

static int	open_files = 0;

int
ShimOpenTempFiles(void)
{
	return open_files;
}

BufFile *
BufFileCreateTemp(bool interXact)
{
	open_files++;
	return palloc0(sizeof(BufFile));
}

void
BufFileClose(BufFile *file)
{
	open_files--;
	if (file->data != NULL)
		pfree(file->data);
	pfree(file);
}

void
BufFileWrite(BufFile *file, WrittenData ptr, size_t size)
{
	while (file->pos + size > file->room)
	{
		file->room = Max(1024, file->room * 2);
		file->data = file->data == NULL ? palloc(file->room) : repalloc(file->data, file->room);
	}
	memcpy(file->data + file->pos, ptr, size);
	file->pos += size;
	file->size = Max(file->size, file->pos);
}

size_t
BufFileRead(BufFile *file, void *ptr, size_t size)
{
	size_t		len = Min(size, file->size - file->pos);

	memcpy(ptr, file->data + file->pos, len);
	file->pos += len;
	return len;
}

#if PG_VERSION_NUM >= 160000
void
BufFileReadExact(BufFile *file, void *ptr, size_t size)
{
	if (BufFileRead(file, ptr, size) != size)
		elog(ERROR, "temporary file ends too early");
}
#endif

int
BufFileSeek(BufFile *file, int fileno, off_t offset, int whence)
{
	if (fileno != 0 || whence != SEEK_SET || offset < 0 || (size_t) offset > file->size)
		return EOF;
	file->pos = offset;
	return 0;
}

void
BufFileTell(BufFile *file, int *fileno, off_t *offset)
{
	*fileno = 0;
	*offset = file->pos;
}
