/*
 * directory.c
 *	  Directories of tables: make, sync, walk, remove.
 *
 * Removal also runs after commit and abort, where an error would be a PANIC:
 * it uses the C library's calls and only logs.
 */
#include "postgres.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "miscadmin.h"
#include "storage/directory.h"
#include "storage/fd.h"

static void
OwnDatabasePath(char *path)
{
	snprintf(path, MAXPGPATH, "%s/%u", BF_DIRECTORY, MyDatabaseId);
}

static void
OwnTablePath(char *path, Oid relid)
{
	snprintf(path, MAXPGPATH, "%s/%u/%u", BF_DIRECTORY, MyDatabaseId, relid);
}

void
DirectoryFilePath(char *path, Oid dboid, Oid relid, uint64 file_id, int first_bucket)
{
	snprintf(path, MAXPGPATH, "%s/%u/%u/%016llx_%d", BF_DIRECTORY, dboid, relid,
			 (unsigned long long) file_id, first_bucket);
}

void
DirectoryCheck(void)
{
	struct stat st;

	if (lstat(BF_DIRECTORY, &st) == 0 && !S_ISDIR(st.st_mode))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("\"%s\" in the data directory is not a directory", BF_DIRECTORY),
				 errdetail("Backup tools would skip a symbolic link or read it at another time than the data directory."),
				 errhint("Move the files of bucketed tables into the data directory.")));
}

/* Make one directory; true if it was missing. */
static bool
MakeDirectory(const char *path)
{
	if (MakePGDirectory(path) == 0)
		return true;
	if (errno != EEXIST && errno != ENOENT)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not create directory \"%s\": %m", path)));
	return false;
}

bool
DirectoryCreate(Oid relid)
{
	char		path[MAXPGPATH];
	struct stat st;
	bool		created = false;

	/*
	 * A dropped table's backend may remove the directories above at the same
	 * moment, as they were empty: begin again then.
	 */
	for (int attempt = 0;; attempt++)
	{
		OwnTablePath(path, relid);
		if (stat(path, &st) == 0)
			return created;
		if (attempt > 100)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not create directory \"%s\": %m", path)));
		MakeDirectory(BF_DIRECTORY);
		OwnDatabasePath(path);
		MakeDirectory(path);
		OwnTablePath(path, relid);
		created |= MakeDirectory(path);
	}
}

void
DirectorySync(Oid relid, bool parents)
{
	char		path[MAXPGPATH];

	OwnTablePath(path, relid);
	fsync_fname(path, true);
	if (parents)
	{
		OwnDatabasePath(path);
		fsync_fname(path, true);
		fsync_fname(BF_DIRECTORY, true);
		fsync_fname(".", true);
	}
}

void
DirectoryWalk(const char *path, DirectoryCallback callback, void *arg)
{
	DIR		   *dir = opendir(path);
	struct dirent *entry;

	if (dir == NULL)
	{
		if (errno != ENOENT)
			ereport(LOG,
					(errcode_for_file_access(),
					 errmsg("could not open directory \"%s\": %m", path)));
		return;
	}
	while (errno = 0, (entry = readdir(dir)) != NULL)
	{
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			callback(path, entry->d_name, arg);
	}
	if (errno != 0)
		ereport(LOG,
				(errcode_for_file_access(),
				 errmsg("could not read directory \"%s\": %m", path)));
	closedir(dir);
}

bool
DirectoryParseFile(const char *name, uint64 *file_id, int *first_bucket)
{
	char	   *end;
	unsigned long bucket;

	if (strspn(name, "0123456789abcdef") != 16 || name[16] != '_' ||
		name[17] < '0' || name[17] > '9')
		return false;
	*file_id = strtoull(name, NULL, 16);
	errno = 0;
	bucket = strtoul(name + 17, &end, 10);
	if (errno != 0 || *end != '\0' || bucket > PG_INT32_MAX)
		return false;
	*first_bucket = (int) bucket;
	return true;
}

bool
DirectoryParseTable(const char *name, Oid *relid)
{
	char	   *end;
	unsigned long value;

	if (name[0] < '1' || name[0] > '9')
		return false;
	errno = 0;
	value = strtoul(name, &end, 10);
	if (errno != 0 || *end != '\0' || value > PG_UINT32_MAX)
		return false;
	*relid = (Oid) value;
	return true;
}

bool
DirectoryUnlink(const char *path, int elevel, int64 *count)
{
	if (unlink(path) == 0)
	{
		(*count)++;
		return true;
	}
	if (errno == ENOENT)
		return true;
	ereport(elevel,
			(errcode_for_file_access(),
			 errmsg("could not remove file \"%s\": %m", path)));
	return false;
}

/* DirectoryCallback: remove one file of a table. */
static void
RemoveEntry(const char *path, const char *name, void *arg)
{
	char		file[MAXPGPATH];
	uint64		file_id;
	int			first_bucket;

	/* what is not ours is left, and with it the directory */
	if (!DirectoryParseFile(name, &file_id, &first_bucket))
		return;
	snprintf(file, sizeof(file), "%s/%s", path, name);
	(void) DirectoryUnlink(file, LOG, arg);
}

int64
DirectoryRemoveTable(Oid relid)
{
	char		path[MAXPGPATH];
	int64		files = 0;

	OwnTablePath(path, relid);
	DirectoryWalk(path, RemoveEntry, &files);
	DirectoryRemoveEmpty(relid);
	return files;
}

/* DirectoryCallback: remove the files and the directory of one table. */
static void
RemoveTableEntry(const char *path, const char *name, void *arg)
{
	char		directory[MAXPGPATH];
	Oid			relid;

	if (!DirectoryParseTable(name, &relid))
		return;
	snprintf(directory, sizeof(directory), "%s/%s", path, name);
	DirectoryWalk(directory, RemoveEntry, arg);
	(void) rmdir(directory);
}

int64
DirectoryRemoveDatabase(Oid dboid)
{
	char		path[MAXPGPATH];
	int64		files = 0;

	snprintf(path, sizeof(path), "%s/%u", BF_DIRECTORY, dboid);
	DirectoryWalk(path, RemoveTableEntry, &files);
	(void) rmdir(path);
	return files;
}

void
DirectoryRemoveEmpty(Oid relid)
{
	char		path[MAXPGPATH];

	OwnTablePath(path, relid);
	if (rmdir(path) != 0 && errno != ENOENT)
		return;
	OwnDatabasePath(path);
	if (rmdir(path) != 0 && errno != ENOENT)
		return;
	(void) rmdir(BF_DIRECTORY);
}
