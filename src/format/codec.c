/*
 * codec.c
 *	  General compression of chunks: lz4 and zstd by their libraries.
 */
#include "postgres.h"

#include <lz4.h>
#include <lz4hc.h>
#include <zstd.h>

#include "format/codec.h"

/* below this nothing is gained */
#define MIN_COMPRESS_BYTES 48

/* a compression context larger than this is not kept */
#define MAX_KEPT_CONTEXT (8 * 1024 * 1024)

/*
 * The libraries' contexts are expensive to make and live outside palloc, so
 * each process keeps one of each kind; an error leaves them usable.
 */
static ZSTD_CCtx *zstd_cctx = NULL;
static ZSTD_DCtx *zstd_dctx = NULL;

static size_t
compress_lz4(int level, const char *in, size_t len, char *out, size_t limit)
{
	int			result;

	if (len > LZ4_MAX_INPUT_SIZE)
		return 0;
	if (level <= 0)
		result = LZ4_compress_default(in, out, (int) len, (int) limit);
	else
		result = LZ4_compress_HC(in, out, (int) len, (int) limit, Min(level, LZ4HC_CLEVEL_MAX));
	return result > 0 ? (size_t) result : 0;
}

static size_t
compress_zstd(int level, const char *in, size_t len, char *out, size_t limit)
{
	size_t		result;

	if (zstd_cctx == NULL)
	{
		zstd_cctx = ZSTD_createCCtx();
		if (zstd_cctx == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_OUT_OF_MEMORY),
					 errmsg("out of memory"),
					 errdetail("Could not create a zstd compression context.")));
	}
	if (level == 0)
		level = ZSTD_CLEVEL_DEFAULT;
	level = Max(ZSTD_minCLevel(), Min(level, ZSTD_maxCLevel()));
	result = ZSTD_compressCCtx(zstd_cctx, out, limit, in, len, level);

	/* the one error that can happen is that it does not fit in limit */
	return ZSTD_isError(result) ? 0 : result;
}

bool
CodecCompress(BfCompression codec, int level, const char *in, size_t len, ByteBuffer *out)
{
	size_t		limit = len - len / 20;
	size_t		result = 0;

	if (codec == BF_COMPRESS_NONE || len < MIN_COMPRESS_BYTES)
		return false;
	ByteBufferPrepare(out, limit);
	switch (codec)
	{
		case BF_COMPRESS_NONE:
			break;
		case BF_COMPRESS_LZ4:
			result = compress_lz4(level, in, len, out->data, limit);
			break;
		case BF_COMPRESS_ZSTD:
			result = compress_zstd(level, in, len, out->data, limit);
			break;
	}
	out->len = result;
	return result > 0;
}

void
CodecRelease(void)
{
	if (zstd_cctx != NULL && ZSTD_sizeof_CCtx(zstd_cctx) > MAX_KEPT_CONTEXT)
	{
		ZSTD_freeCCtx(zstd_cctx);
		zstd_cctx = NULL;
	}
}

uint64
CodecMaxRaw(int codec, uint64 stored_len)
{
	stored_len = Min(stored_len, UINT64CONST(1) << 40); /* the products must not overflow */
	switch (codec)
	{
		case BF_COMPRESS_NONE:
			return stored_len;
		case BF_COMPRESS_LZ4:
			/* a length byte of a match stands for at most 255 bytes */
			return stored_len * 255 + 64;
		case BF_COMPRESS_ZSTD:
			/* a block of 4 bytes stands for at most 128 kB */
			return stored_len * 32768 + 128 * 1024;
	}
	return 0;
}

const char *
CodecDecompress(int codec, const char *in, size_t len, char *out, size_t raw_len)
{
	switch (codec)
	{
		case BF_COMPRESS_LZ4:
			if (len > PG_INT32_MAX || raw_len > PG_INT32_MAX ||
				LZ4_decompress_safe(in, out, (int) len, (int) raw_len) != (int) raw_len)
				return "lz4 data cannot be decompressed";
			return NULL;
		case BF_COMPRESS_ZSTD:
			if (zstd_dctx == NULL)
			{
				zstd_dctx = ZSTD_createDCtx();
				if (zstd_dctx == NULL)
					ereport(ERROR,
							(errcode(ERRCODE_OUT_OF_MEMORY),
							 errmsg("out of memory"),
							 errdetail("Could not create a zstd decompression context.")));
			}
			if (ZSTD_decompressDCtx(zstd_dctx, out, raw_len, in, len) != raw_len)
				return "zstd data cannot be decompressed";
			return NULL;
	}
	return "unknown codec";
}
