/*
 * merge_single.c
 *	  Merging sorted arrays of key images without a branch on each.
 *
 * Which array to step on in is a coin toss that no processor foresees, so the
 * step is computed instead of branched on.  Then the time is that of one
 * load and comparison after the other; two independent places of the arrays,
 * merged in turns, take hardly more time than one.
 */
#include "postgres.h"

#include "exec/join/merge/merge_join.h"
#include "exec/join/merge/merge_single.h"
#include "vector/merge_search.h"

/* entries merged in one piece */
#define PIECE 1024

/* steps after which a look is taken whether only one array moves on */
#define STRETCH 64

/* fewer are not worth two lanes */
#define TWO_LANES 32

/* one array has so many times the entries of the other: search instead of merging */
#define SPARSE 16

/* A place in both arrays, and where it ends. */
typedef struct Lane
{
	int			m;
	int			mend;
	int			s;
	int			send;
	uint16	   *many_out;
	uint16	   *single_out;
	int			n;				/* pairs written */
} Lane;

bool
ImagesDiffer(const int64 *k64, int n)
{
	int			i = 1;

	while (i < n)
	{
		int			end = Min(n, i + 64);
		uint64		differ = PG_UINT64_MAX;

		/* the highest bit of d | -d says that d is not 0: a comparison that can be vectorized everywhere */
		for (const int64 *k = k64 + i; k < k64 + end; k++)
		{
			uint64		d = (uint64) k[0] - (uint64) k[-1];

			differ &= d | (0 - d);
		}
		i = end;
		if (differ >> 63 == 0)
			return false;
	}
	return true;
}

/* Steps that neither array of the lane can end in. */
static inline int
SafeSteps(const Lane *lane)
{
	return Min(lane->mend - lane->m, lane->send - lane->s);
}

/* One step; each moves on in one of the arrays. */
#define STEP(many, single, lane) \
	do { \
		int64		x = (many)[(lane).m]; \
		int64		y = (single)[(lane).s]; \
		\
		(lane).many_out[(lane).n] = (uint16) (lane).m; \
		(lane).single_out[(lane).n] = (uint16) (lane).s; \
		(lane).n += x == y; \
		(lane).m += x <= y; \
		(lane).s += x > y; \
	} while (0)

static void
MergeLane(const int64 *many, const int64 *single, Lane *to)
{
	Lane		lane = *to;
	int			steps;

	while ((steps = SafeSteps(&lane)) > 0)
	{
		while (steps-- > 0)
			STEP(many, single, lane);
	}
	*to = lane;
}

static void
MergeTwoLanes(const int64 *many, const int64 *single, Lane *to1, Lane *to2)
{
	Lane		lane1 = *to1;
	Lane		lane2 = *to2;
	int			steps;

	while ((steps = Min(SafeSteps(&lane1), SafeSteps(&lane2))) > 0)
	{
		while (steps-- > 0)
		{
			STEP(many, single, lane1);
			STEP(many, single, lane2);
		}
	}
	*to1 = lane1;
	*to2 = lane2;
	MergeLane(many, single, to1);
	MergeLane(many, single, to2);
}

/* A lane with few entries of one array among many of the other. */
static void
SearchLane(const int64 *many, const int64 *single, Lane *lane)
{
	while (lane->m < lane->mend && lane->s < lane->send)
	{
		int64		x = many[lane->m];
		int64		y = single[lane->s];

		if (x < y)
			lane->m = Search64(many, lane->m + 1, lane->mend, y);
		else if (x > y)
			lane->s = Search64(single, lane->s + 1, lane->send, x);
		else
		{
			lane->many_out[lane->n] = (uint16) lane->m++;
			lane->single_out[lane->n++] = (uint16) lane->s;
		}
	}
}

int
MergeSingle(const int64 *many, int nmany, int *m, const int64 *single, int nsingle, int *s,
			uint16 *many_out, uint16 *single_out, int room)
{
	int			last = nsingle - 1;
	int			mlimit;
	int			n = 0;

	if (*s >= last)
		return 0;
	/* from there on, entries belong to the last one of single, if to any */
	mlimit = Search64(many, *m, nmany, single[last]);
	while (*m < mlimit && *s < last && n < room)
	{
		int			count = Min(Min(mlimit - *m, room - n), PIECE);
		int			middle;
		int			s_middle;
		int			s_end;
		Lane		lane1;
		Lane		lane2;

		/* what is far below the first entry of single has no place in a piece */
		*m = Search64(many, *m, mlimit, single[*s]);
		if (*m == mlimit)
			break;
		count = Min(count, mlimit - *m);
		middle = *m + count / 2;
		while (middle > *m && many[middle - 1] == many[middle])
			middle--;
		s_middle = Search64(single, *s, last, many[middle]);
		s_end = Search64(single, s_middle, last, many[*m + count - 1]);

		lane1.m = *m;
		lane1.mend = middle;
		lane1.s = *s;
		lane1.send = s_middle;
		lane1.many_out = many_out + n;
		lane1.single_out = single_out + n;
		lane1.n = 0;
		lane2.m = middle;
		lane2.mend = *m + count;
		lane2.s = s_middle;
		lane2.send = Min(s_end + 1, last);
		lane2.many_out = lane1.many_out + (middle - *m);
		lane2.single_out = lane1.single_out + (middle - *m);
		lane2.n = 0;

		if (s_end - *s > SPARSE * count || count > SPARSE * (s_end - *s + 1))
		{
			SearchLane(many, single, &lane1);
			SearchLane(many, single, &lane2);
		}
		else if (count < TWO_LANES)
		{
			MergeLane(many, single, &lane1);
			MergeLane(many, single, &lane2);
		}
		else
			MergeTwoLanes(many, single, &lane1, &lane2);

		if (lane2.many_out != lane1.many_out + lane1.n)
		{
			memmove(lane1.many_out + lane1.n, lane2.many_out, lane2.n * sizeof(uint16));
			memmove(lane1.single_out + lane1.n, lane2.single_out, lane2.n * sizeof(uint16));
		}
		n += lane1.n + lane2.n;
		*m += count;
		*s = s_end;
	}
	return n;
}

/* Steps within a stretch that no array can end in. */
static inline int
StretchSteps(int left, int right, int room)
{
	return Min(Min(Min(left, right), room), STRETCH);
}

int
MergeExists(const int64 *left, int nleft, int *l, const int64 *right, int nright, int *r,
			uint16 *left_out, uint16 *right_out, int room, bool found)
{
	int			i = *l;
	int			j = *r;
	int			n = 0;

	while (i < nleft && j < nright && n < room)
	{
		int			steps = StretchSteps(nleft - i, nright - j, room - n);
		int			i0 = i;
		int			j0 = j;

		for (; steps > 0; steps--)
		{
			int64		x = left[i];
			int64		y = right[j];

			left_out[n] = (uint16) i;
			right_out[n] = found ? (uint16) j : MERGE_NONE;
			n += found ? x == y : x < y;
			i += x <= y;
			j += x > y;
		}
		if (i == i0)
			j = Search64(right, j, nright, left[i]);
		else if (j == j0 && found)
			i = Search64(left, i, nleft, right[j]);
	}
	*l = i;
	*r = j;
	return n;
}

int
MergeOuterOfSingle(const int64 *left, int nleft, int *l, const int64 *right, int nright, int *r,
				   uint16 *left_out, uint16 *right_out, int room)
{
	int			last = nright - 1;
	int			i = *l;
	int			j = *r;
	int			n = 0;

	while (i < nleft && j < last && n < room)
	{
		int			steps = StretchSteps(nleft - i, last - j, room - n);
		int			i0 = i;

		for (; steps > 0; steps--)
		{
			int64		x = left[i];
			int64		y = right[j];

			left_out[n] = (uint16) i;
			right_out[n] = x == y ? (uint16) j : MERGE_NONE;
			n += x <= y;
			i += x <= y;
			j += x > y;
		}
		if (i == i0)
			j = Search64(right, j, last, left[i]);
	}
	*l = i;
	*r = j;
	return n;
}

int
MergeOuterOfMany(const int64 *left, int nleft, int *l, const int64 *right, int nright, int *r,
				 uint16 *left_out, uint16 *right_out, int room, bool *matched)
{
	int			last = nleft - 1;
	int			i = *l;
	int			j = *r;
	int			n = 0;
	int			had = *matched;

	while (i < last && j < nright && n < room)
	{
		int			steps = StretchSteps(last - i, nright - j, room - n);
		int			i0 = i;

		for (; steps > 0; steps--)
		{
			int64		x = left[i];
			int64		y = right[j];
			int			equal = x == y;
			int			less = x < y;

			left_out[n] = (uint16) i;
			right_out[n] = equal ? (uint16) j : MERGE_NONE;
			n += equal | (less & ~had);
			had = equal;
			i += less;
			j += !less;
		}
		if (i == i0)
			j = Search64(right, j, nright, left[i]);
	}
	*l = i;
	*r = j;
	*matched = had;
	return n;
}
