/*
 * directory.h
 *	  Directories bucketfdw/<database>/<table> under the data directory.
 *	  For the files of this folder and the inspection functions.
 */
#ifndef BF_DIRECTORY_H
#define BF_DIRECTORY_H

#include "postgres.h"

#define BF_DIRECTORY "bucketfdw"

/* Path of a file relative to the data directory, into a buffer of MAXPGPATH. */
extern void DirectoryFilePath(char *path, Oid dboid, Oid relid, uint64 file_id, int first_bucket);

/* Make the directory of a table where missing (after DirectoryCheck); returns true if any was made. */
extern bool DirectoryCreate(Oid relid);

/* Error if the top directory is a symbolic link. */
extern void DirectoryCheck(void);

/* fsync the directory of a table, and the entries that lead to it if asked. */
extern void DirectorySync(Oid relid, bool parents);

/*
 * Call a function for each entry of a directory that is a table's (or file's)
 * of ours; database or relid InvalidOid: level above.  Never raises an error
 * itself: problems are logged and end the walk.  A missing directory is empty.
 */
typedef void (*DirectoryCallback) (const char *path, const char *name, void *arg);
extern void DirectoryWalk(const char *path, DirectoryCallback callback, void *arg);

/* Parse the name of a file; false if it is not one of ours. */
extern bool DirectoryParseFile(const char *name, uint64 *file_id, int *first_bucket);

/* Parse the name of a table's directory; false if it is not one. */
extern bool DirectoryParseTable(const char *name, Oid *relid);

/*
 * Unlink a file and count it; that it is missing already is success too.
 * Never raises an error: failure is logged at the level given and gives false.
 */
extern bool DirectoryUnlink(const char *path, int elevel, int64 *count);

/*
 * Unlink all files of a table and its directory, and those above it when they
 * are empty.  Never raises an error.  Returns the number of files.
 */
extern int64 DirectoryRemoveTable(Oid relid);

/*
 * The same for all tables of a database that does not exist any more.  What
 * is not ours is left, and with it the directories above.
 */
extern int64 DirectoryRemoveDatabase(Oid dboid);

/* Remove a table's directory, and those above it, as far as they are empty. */
extern void DirectoryRemoveEmpty(Oid relid);

#endif							/* BF_DIRECTORY_H */
