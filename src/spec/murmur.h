/*
 * murmur.h
 *	  murmur3_x86_32.
 */
#ifndef BF_MURMUR_H
#define BF_MURMUR_H

/* Of raw bytes. */
extern uint32 KeyHashBytes(const void *data, size_t len, uint32 seed);

/* Of the eight little-endian bytes of an int64. */
extern uint32 KeyHashInt64(uint64 value, uint32 seed);

#endif							/* BF_MURMUR_H */
