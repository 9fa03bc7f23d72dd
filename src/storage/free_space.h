/*
 * free_space.h
 *	  Room that writing leaves free on the volumes of data and WAL.
 */
#ifndef BF_FREE_SPACE_H
#define BF_FREE_SPACE_H

/*
 * Error unless bucketfdw.min_free_space stays free after a write of len bytes
 * to files of a tablespace (InvalidOid: the database's), and to the WAL, which
 * has as many: other parts of the server must not run out of space.  always:
 * look now, not only every few MB.  relid InvalidOid: for temporary files,
 * which are not logged.
 */
extern void StoreCheckSpace(Oid relid, Oid tablespace, size_t len, bool always);

#endif							/* BF_FREE_SPACE_H */
