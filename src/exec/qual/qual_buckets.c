/*
 * qual_buckets.c
 *	  The buckets that quals leave.
 */
#include "postgres.h"

#include "exec/qual/int_test.h"

/* more key combinations than this are not enumerated for pruning */
#define MAX_PRUNE_KEYS 4096

bool
LeafQualSaysBucket(const LeafQual *qual, const BucketSpec *spec)
{
	if (!LeafQualIsBucket(qual) || spec->nkeys != qual->nhash ||
		spec->nbuckets % qual->modulus != 0 || !BucketSpecHashKnown(spec))
		return false;
	for (int k = 0; k < spec->nkeys; k++)
	{
		if (spec->sort[k].attnum != qual->hashattnums[k])
			return false;
	}
	return true;
}

int
LeafQualOfBucket(const LeafQual *qual, const BucketSpec *spec, int bucket)
{
	if (!LeafQualSaysBucket(qual, spec))
		return -1;
	return !qual->never &&
		IntTestHas(&qual->test, bucket % qual->modulus) ? 1 : 0;
}

/* The qual that pins a column to a few values (or to NULL), if there is one. */
static const LeafQual *
FindPin(AttrNumber attnum, KeyClass keyclass, int nquals, const LeafQual *quals)
{
	const LeafQual *best = NULL;

	for (int i = 0; i < nquals; i++)
	{
		const LeafQual *q = &quals[i];

		if (q->attnum != attnum)
			continue;
		if (q->op == LEAF_ISNULL)
			return q;
		if ((q->op == LEAF_EQ || q->op == LEAF_ANY) && q->keyclass == keyclass &&
			(best == NULL || q->nvalues < best->nvalues))
			best = q;
	}
	return best;
}

/* Buckets that values of the key columns leave, or NULL. */
static uint8 *
PinnedBuckets(const BucketSpec *spec, int nquals, const LeafQual *quals)
{
	const LeafQual **pins = palloc(spec->nkeys * sizeof(LeafQual *));
	int		   *counter = palloc0(spec->nkeys * sizeof(int));
	int64		combinations = 1;
	uint8	   *bits;

	for (int k = 0; k < spec->nkeys; k++)
	{
		pins[k] = FindPin(spec->sort[k].attnum, spec->sort[k].keyclass, nquals, quals);
		if (pins[k] != NULL && pins[k]->op != LEAF_ISNULL)
			combinations *= pins[k]->nvalues;
		if (pins[k] == NULL || combinations > MAX_PRUNE_KEYS)
		{
			pfree(pins);
			pfree(counter);
			return NULL;
		}
	}

	bits = palloc0((spec->nbuckets + 7) / 8);
	for (;;)
	{
		uint32		hash = 0;
		int			bucket;
		int			k;

		for (k = 0; k < spec->nkeys; k++)
		{
			if (pins[k]->op != LEAF_ISNULL)
				hash = KeyHash(spec->sort[k].keyclass, pins[k]->valuetype,
							   pins[k]->values[counter[k]], hash);
		}
		bucket = KeyBucket(hash, spec->nbuckets);
		bits[bucket / 8] |= (uint8) (1 << (bucket % 8));

		/* next combination */
		for (k = 0; k < spec->nkeys; k++)
		{
			if (pins[k]->op != LEAF_ISNULL && ++counter[k] < pins[k]->nvalues)
				break;
			counter[k] = 0;
		}
		if (k == spec->nkeys)
			break;
	}
	pfree(pins);
	pfree(counter);
	return bits;
}

uint8 *
LeafQualsBuckets(const BucketSpec *spec, int nquals, const LeafQual *quals)
{
	Size		size = (spec->nbuckets + 7) / 8;
	uint8	   *bits;

	for (int i = 0; i < nquals; i++)
	{
		/* a NULL comparison value: no row, hence no bucket, qualifies */
		if (quals[i].never)
			return palloc0(size);
	}
	bits = BucketSpecHashKnown(spec) ? PinnedBuckets(spec, nquals, quals) : NULL;
	for (int i = 0; i < nquals; i++)
	{
		if (!LeafQualSaysBucket(&quals[i], spec))
			continue;
		if (bits == NULL)
		{
			bits = palloc(size);
			memset(bits, 0xff, size);
		}
		for (int b = 0; b < spec->nbuckets; b++)
		{
			if (LeafQualOfBucket(&quals[i], spec, b) == 0)
				bits[b / 8] &= (uint8) ~(1 << (b % 8));
		}
	}
	return bits;
}
