/*
 * free_space.h
 *	  Room that writing leaves free on the volume of the data directory.
 */
#ifndef BF_FREE_SPACE_H
#define BF_FREE_SPACE_H

/*
 * Error unless the volume keeps bucketfdw.min_free_space free after a write of
 * len bytes: other parts of the server must not run out of space.  always:
 * look now, not only every few MB.  relid InvalidOid: for temporary files.
 */
extern void StoreCheckSpace(Oid relid, size_t len, bool always);

#endif							/* BF_FREE_SPACE_H */
