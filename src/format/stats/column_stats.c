/*
 * column_stats.c
 *	  Count the values of a column while it is written.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "format/stats/column_stats.h"
#include "format/stats/stat_value.h"

/* the table is cleared of all but the smallest hashes when it has so many */
#define SKETCH_FULL (2 * SKETCH_HASHES)

#define NO_BOUND (UINT64CONST(1) << 32)

void
ColumnSketchInit(ColumnSketch *sketch)
{
	memset(sketch, 0, sizeof(*sketch));
	sketch->below = NO_BOUND;
}

void
ColumnStatsInit(ColumnStats *stats)
{
	memset(stats, 0, sizeof(*stats));
	ColumnSketchInit(&stats->sketch);
}

static int
compare_hashes(const void *a, const void *b)
{
	uint32		x = *(const uint32 *) a;
	uint32		y = *(const uint32 *) b;

	return (x > y) - (x < y);
}

/* All hashes that count, ascending. */
static int
sorted_hashes(const ColumnSketch *sketch, uint32 *hashes)
{
	int			n = 0;

	for (int i = 0; i < SKETCH_SLOTS; i++)
	{
		if (sketch->slots[i] != 0 && sketch->slots[i] < sketch->below)
			hashes[n++] = sketch->slots[i];
	}
	qsort(hashes, n, sizeof(uint32), compare_hashes);
	return n;
}

static void
insert_hash(ColumnSketch *sketch, uint32 hash)
{
	uint32		slot = hash % SKETCH_SLOTS;

	while (sketch->slots[slot] != 0)
	{
		if (sketch->slots[slot] == hash)
			return;
		slot = (slot + 1) % SKETCH_SLOTS;
	}
	sketch->slots[slot] = hash;
	sketch->nhashes++;
}

static void
keep_smallest(ColumnSketch *sketch)
{
	uint32		hashes[SKETCH_FULL];
	int			n = sorted_hashes(sketch, hashes);

	memset(sketch->slots, 0, sizeof(sketch->slots));
	sketch->nhashes = 0;
	if (n > SKETCH_HASHES)
	{
		n = SKETCH_HASHES;
		sketch->below = (uint64) hashes[n - 1] + 1;
	}
	for (int i = 0; i < n; i++)
		insert_hash(sketch, hashes[i]);
}

static inline void
add_hash(ColumnSketch *sketch, uint32 hash)
{
	/* one value in four billion */
	hash = Max(hash, 1);
	if (hash >= sketch->below)
		return;
	insert_hash(sketch, hash);
	if (unlikely(sketch->nhashes == SKETCH_FULL))
		keep_smallest(sketch);
}

void
ColumnSketchMerge(ColumnSketch *sketch, const uint32 *hashes, int n, uint64 below)
{
	sketch->below = Min(sketch->below, below);
	for (int i = 0; i < n && hashes[i] < sketch->below; i++)
		add_hash(sketch, hashes[i]);
}

int
ColumnSketchRead(const ColumnSketch *sketch, int max, uint32 *hashes, uint64 *below)
{
	uint32		all[SKETCH_FULL];
	int			n = sorted_hashes(sketch, all);

	*below = sketch->below;
	if (n > max)
	{
		n = max;
		*below = (uint64) all[n - 1] + 1;
	}
	memcpy(hashes, all, n * sizeof(uint32));
	return n;
}

double
ColumnSketchDistinct(int n, uint64 below)
{
	if (below >= NO_BOUND || n < 2)
		return n;
	/* the last of them defines the bound */
	return (n - 1) * ((double) NO_BOUND / (double) below);
}

/* Mix the bits of a value well into 32; never on disk but in sketches. */
static inline uint32
mix(uint64 x)
{
	x ^= x >> 32;
	x *= UINT64CONST(0xd6e8feb86659fd93);
	x ^= x >> 32;
	x *= UINT64CONST(0xd6e8feb86659fd93);
	return (uint32) (x >> 32);
}

static inline uint32
hash_bytes(const char *data, size_t len)
{
	uint64		hash = len;
	uint64		word;

	while (len >= sizeof(word))
	{
		memcpy(&word, data, sizeof(word));
		hash = (hash ^ word) * UINT64CONST(0x9e3779b97f4a7c15);
		hash ^= hash >> 29;
		data += sizeof(word);
		len -= sizeof(word);
	}
	/* behind the last value is the buffer's slack */
	memcpy(&word, data, sizeof(word));
	return mix(hash ^ (word & ((UINT64CONST(1) << (8 * len)) - 1)));
}

static inline uint32
hash_varlena(const char *value)
{
	return hash_bytes(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));
}

/* Hash of a value of a column as the builder has it. */
static inline uint32
hash_value(int typlen, bool typbyval, const char *data, Datum value)
{
	/* integers, or the bits of floats */
	if (typbyval)
		return mix(value);
	return typlen == -1 ? hash_varlena(data + value) : hash_bytes(data + value, typlen);
}

/* Order of two values of a column as the builder has them. */
static int
compare_values(const FileColumn *col, Datum a, Datum b)
{
	if (col->keyclass == KEYCLASS_FLOAT)
	{
		Oid			typid = col->typlen == 4 ? FLOAT4OID : FLOAT8OID;

		return KeyCompare(KEYCLASS_FLOAT, typid, a, typid, b);
	}
	if (KeyClassIsFixed(col->keyclass))
		return ((int64) a > (int64) b) - ((int64) a < (int64) b);
	return KeyCompare(col->keyclass, InvalidOid, a, InvalidOid, b);
}

static void
add_minmax(ColumnStats *stats, const FileColumn *col, const EncodedColumn *encoded)
{
	if (!stats->has_minmax || compare_values(col, encoded->min, stats->min.value) < 0)
		StatValueKeep(&stats->min, stats->min_buffer.bytes, col->keyclass, encoded->min);
	if (!stats->has_minmax || compare_values(col, encoded->max, stats->max.value) > 0)
		StatValueKeep(&stats->max, stats->max_buffer.bytes, col->keyclass, encoded->max);
	stats->has_minmax = true;
}

void
ColumnStatsAdd(ColumnStats *stats, const ColumnValues *values, const EncodedColumn *encoded)
{
	const FileColumn *col = values->col;
	const ColumnValues *distinct = &encoded->distinct;
	ColumnSketch *sketch = &stats->sketch;

	stats->nulls += encoded->null_count;
	stats->values += values->n;
	stats->bytes += col->typbyval ? (int64) values->n * col->typlen : (int64) values->len;
	if (encoded->has_minmax)
		add_minmax(stats, col, encoded);
	for (int i = 0; i < distinct->n; i++)
		add_hash(sketch, hash_value(col->typlen, col->typbyval, distinct->data, distinct->values[i]));
}

void
ColumnSketchAddValue(ColumnSketch *sketch, int typlen, bool typbyval, Datum value)
{
	if (typbyval)
		add_hash(sketch, hash_value(typlen, true, NULL, value));
	else
	{
		size_t		len = typlen > 0 ? (size_t) typlen : VARSIZE_ANY(DatumGetPointer(value));
		char	   *copy = palloc0(len + BF_SLACK);

		memcpy(copy, DatumGetPointer(value), len);
		add_hash(sketch, hash_value(typlen, false, copy, 0));
		pfree(copy);
	}
}
