/*
 * free_space.c
 *	  Room that writing leaves free on the volumes of data and WAL.
 */
#include "postgres.h"

#include <sys/statvfs.h>

#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "catalog/pg_tablespace_d.h"
#include "guc.h"
#include "storage/free_space.h"
#include "storage/locator.h"
#include "utils/lsyscache.h"

/* free space is looked at again after so many bytes */
#define SPACE_CHECK_BYTES (16 * 1024 * 1024)

/* bytes written since the last look at the free space, over all files */
static uint64 unchecked_bytes = 0;

/* Error unless so many bytes stay free on the volume of a directory. */
static void
CheckVolume(Oid relid, const char *directory, const char *what, uint64 len)
{
	struct statvfs fs;
	uint64		needed = (uint64) bf_min_free_space * 1024 * 1024 + len;
	uint64		avail;
	const char *relname;

	/* a file system that cannot tell will fail in write, if it must */
	if (statvfs(directory, &fs) != 0)
		return;
	avail = (uint64) fs.f_bavail * fs.f_frsize;
	if (avail >= needed)
		return;
	relname = OidIsValid(relid) ? get_rel_name(relid) : NULL;
	ereport(ERROR,
			(errcode(ERRCODE_DISK_FULL),
			 relname ? errmsg("not enough free space to write bucketed table \"%s\"", relname) :
			 errmsg("not enough free space to sort rows for a bucketed table"),
			 errdetail("%llu MB are free on the volume of %s, %llu MB are needed (bucketfdw.min_free_space is %d MB).",
					   (unsigned long long) (avail >> 20), what,
					   (unsigned long long) ((needed + (1 << 20) - 1) >> 20),
					   bf_min_free_space),
			 errhint("Free disk space; bucketfdw.cleanup() removes dead files of bucketed tables.")));
}

void
StoreCheckSpace(Oid relid, Oid tablespace, size_t len, bool always)
{
	char		directory[MAXPGPATH];

	unchecked_bytes += len;
	if (!always && unchecked_bytes < SPACE_CHECK_BYTES)
		return;
	unchecked_bytes = 0;

	tablespace = TablespaceOid(tablespace);
	if (!OidIsValid(relid) || tablespace == DEFAULTTABLESPACE_OID)
		CheckVolume(relid, ".", "the data directory", len);
	else
	{
		snprintf(directory, sizeof(directory), "pg_tblspc/%u", tablespace);
		CheckVolume(relid, directory, "the tablespace", len);
	}
	if (OidIsValid(relid) && XLogIsNeeded())
		CheckVolume(relid, XLOGDIR, "the write-ahead log", len);
}
