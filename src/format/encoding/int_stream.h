/*
 * int_stream.h
 *	  Int streams: integers in few bits (docs/format.md).
 */
#ifndef BF_INT_STREAM_H
#define BF_INT_STREAM_H

#include "format/byte_buffer.h"

/* What IntStreamPlan found out about n values. */
typedef struct IntStreamPlan
{
	DiskIntStream head;
	int64		min;
	int64		max;
	size_t		size;			/* bytes of the stream, a multiple of 8 */
} IntStreamPlan;

/* Bytes of a FOR or DELTA stream of count packed values. */
static inline size_t
IntStreamSize(int width, size_t count)
{
	return sizeof(DiskIntStream) + BF_ALIGN8(((uint64) count * width + 7) / 8);
}

/* Bytes of the head and the packed integers of a stream of n values, but one of repeats. */
static inline size_t
IntStreamPackedSize(const DiskIntStream *head, int n)
{
	bool		delta = head->kind == INT_STREAM_DELTA || head->kind == INT_STREAM_PATCHED_DELTA;

	return IntStreamSize(head->width, head->kind == INT_STREAM_TRIPLES ? (n + 2) / 3 : delta ? n - 1 : n);
}

/* Value i of packed bits of any width 0 .. 64; BF_SLACK bytes behind them may be read. */
static inline uint64
IntStreamBits(const char *in, size_t i, int width)
{
	uint64		bit = (uint64) i * width;
	const char *p = in + (bit >> 3);
	int			shift = bit & 7;
	uint64		v;

	memcpy(&v, p, sizeof(v));
	v >>= shift;
	if (shift + width > 64)
		v |= (uint64) (uint8) p[8] << (64 - shift);
	return width == 64 ? v : v & ((UINT64CONST(1) << width) - 1);
}

/* Bits needed for x. */
extern int	IntWidth(uint64 x);

/* Decide how to store n >= 1 values. */
extern void IntStreamMakePlan(const int64 *values, int n, IntStreamPlan *plan);

/* Append the stream, as planned for the same values. */
extern void IntStreamWrite(ByteBuffer *out, const int64 *values, int n, const IntStreamPlan *plan);

/*
 * Decode the stream of n >= 1 values at in; len bytes may belong to it and
 * BF_SLACK more may be read.  Sets *used to its length.  NULL, or what is
 * wrong.
 */
extern const char *IntStreamRead(const char *in, size_t len, int n, int64 *out, size_t *used);

/* The head of a stream.  NULL, or what is wrong. */
extern const char *IntStreamHead(const char *in, size_t len, DiskIntStream *head);

/* Decode n >= 1 values of the packed integers at in, which are of FOR or DELTA. */
extern void IntStreamReadPacked(const DiskIntStream *head, const char *in, int n, int64 *values);

/*
 * Check the bitmap of a stream of n values that is one of REPEATS.  Sets *used
 * to the bytes before the stream inside it.  NULL, or what is wrong.
 */
extern const char *IntStreamBitmap(const char *in, size_t len, int n, size_t *used);

#endif							/* BF_INT_STREAM_H */
