/*
 * codec.h
 *	  General compression of chunks: lz4 and zstd by their libraries.
 */
#ifndef BF_CODEC_H
#define BF_CODEC_H

#include "format/byte_buffer.h"
#include "spec/bucket_spec.h"

/*
 * Compress len bytes into out (its content is replaced).  False when the
 * codec is none or the result is not at least 5 % smaller; out is then
 * undefined.  level 0 is the codec's default.
 */
extern bool CodecCompress(BfCompression codec, int level, const char *in, size_t len,
						  ByteBuffer *out);

/* Give back what CodecCompress keeps between calls, if that is much. */
extern void CodecRelease(void);

/*
 * The largest raw length that stored_len bytes of this codec can stand for:
 * what a reader may allocate before it believes a length in the file.
 */
extern uint64 CodecMaxRaw(int codec, uint64 stored_len);

/* Decompress exactly raw_len bytes.  NULL, or what is wrong. */
extern const char *CodecDecompress(int codec, const char *in, size_t len,
								   char *out, size_t raw_len);

#endif							/* BF_CODEC_H */
