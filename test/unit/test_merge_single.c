/*
 * test_merge_single.c
 *	  MergeSingle against a loop over all pairs: dense and sparse keys, arrays of
 *	  one entry and of a whole batch, little room, going on where it stopped.
 */
#include "pg_shim.h"

#include "common/pg_prng.h"
#include "exec/join/merge/merge_single.h"
#include "vector/batch.h"

static pg_prng_state prng;
static int64 many[BF_BATCH_ROWS];
static int64 single[BF_BATCH_ROWS];
static uint16 many_out[BF_BATCH_ROWS];
static uint16 single_out[BF_BATCH_ROWS];

static int
Random(int n)
{
	return (int) (pg_prng_uint64(&prng) % n);
}

static int
CompareImages(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return (x > y) - (x < y);
}

/* Random images around a place, now and then the ends of the range. */
static void
Fill(int64 *k64, int n, int nvalues, int64 place)
{
	for (int i = 0; i < n; i++)
		k64[i] = Random(1000) == 0 ? (Random(2) ? PG_INT64_MAX : PG_INT64_MIN) : place + Random(nvalues);
	qsort(k64, n, sizeof(int64), CompareImages);
}

static int
Unique(int64 *k64, int n)
{
	int			kept = 0;

	for (int i = 0; i < n; i++)
	{
		if (kept == 0 || k64[kept - 1] != k64[i])
			k64[kept++] = k64[i];
	}
	return kept;
}

/* One pair of arrays; whether all pairs came, in order, and the positions are right. */
static bool
RunOne(int nmany, int nsingle, int many_values, int single_values, int64 *npairs)
{
	int			m = Random(3) == 0 ? Random(nmany) : 0;
	int			s = 0;
	int			want_m = m;
	int			want_s = 0;
	int			max_room = Random(2) ? BF_BATCH_ROWS : 1 + Random(100);
	int			room;
	int			n;

	Fill(many, nmany, many_values, Random(2) ? 0 : Random(many_values));
	Fill(single, nsingle, single_values, Random(2) ? 0 : Random(single_values));
	nsingle = Unique(single, nsingle);
	if (!ImagesDiffer(single, nsingle))
		return false;
	do
	{
		room = 1 + Random(max_room);
		memset(many_out, 0xff, sizeof(many_out));
		n = MergeSingle(many, nmany, &m, single, nsingle, &s, many_out, single_out, room);
		if (n > room || (room < BF_BATCH_ROWS && many_out[room] != 0xffff))
			return false;
		*npairs += n;
		for (int i = 0; i < n; i++)
		{
			while (want_m < nmany && want_s < nsingle && many[want_m] != single[want_s])
			{
				if (many[want_m] < single[want_s])
					want_m++;
				else
					want_s++;
			}
			if (many_out[i] != want_m || single_out[i] != want_s || want_s == nsingle - 1)
				return false;
			want_m++;
		}
		/* nothing is passed over that has a partner */
		for (int i = want_m; i < m; i++)
		{
			while (want_s < nsingle && single[want_s] < many[i])
				want_s++;
			if (want_s < nsingle && single[want_s] == many[i])
				return false;
		}
		if (m < want_m || s >= nsingle || (m < nmany && s > 0 && single[s - 1] >= many[m]))
			return false;
		want_m = m;
		want_s = s;
	} while (n == room);
	/* it stopped because one of them has no more to give */
	return m == nmany || many[m] >= single[nsingle - 1] || s == nsingle - 1;
}

int
main(int argc, char **argv)
{
	uint64		seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 20240229;
	const struct
	{
		const char *name;
		int			nmany;
		int			nsingle;
		int			many_values;
		int			single_values;
	}			loads[] = {
		{"as many of both", BF_BATCH_ROWS, BF_BATCH_ROWS, 10000, 10000},
		{"many duplicates", BF_BATCH_ROWS, 2000, 500, 600},
		{"few of the single ones", BF_BATCH_ROWS, 50, 10000, 10000},
		{"few of the others", 50, BF_BATCH_ROWS, 10000, 10000},
		{"far apart", 3000, 3000, 100000000, 100000000},
		{"small", 40, 40, 50, 50},
		{"tiny", 3, 3, 4, 4},
	};

	ShimInit();
	printf("# seed %llu\n", (unsigned long long) seed);
	for (int k = 0; k < (int) lengthof(loads); k++)
	{
		bool		good = true;
		int64		npairs = 0;
		int			t;

		for (t = 0; t < 400 && good; t++)
		{
			pg_prng_seed(&prng, seed + k * 10000 + t);
			good = RunOne(1 + Random(loads[k].nmany), 1 + Random(loads[k].nsingle),
						  loads[k].many_values, loads[k].single_values, &npairs);
		}
		if (!ShimOk(good, "%s: %lld pairs", loads[k].name, (long long) npairs))
			printf("# failed at try %d\n", t);
	}
	many[0] = 1;
	many[1] = many[2] = 2;
	ShimOk(ImagesDiffer(many, 2) && !ImagesDiffer(many, 3), "images that differ, and do not");
	return ShimDone();
}
