/*
 * bucket_spec.c
 *	  The bucket spec: hash and order of rows, copies, equality.
 */
#include "postgres.h"

#include "spec/bucket_spec.h"

bool
BucketSpecAlike(const BucketSpec *a, const BucketSpec *b)
{
	if (a->hash_version != b->hash_version || a->nbuckets != b->nbuckets ||
		a->nkeys != b->nkeys || a->nsort != b->nsort)
		return false;
	for (int i = 0; i < a->nsort; i++)
	{
		if (a->sort[i].attnum != b->sort[i].attnum || a->sort[i].keyclass != b->sort[i].keyclass ||
			a->sort[i].flags != b->sort[i].flags)
			return false;
	}
	return true;
}

bool
BucketSpecEqual(const BucketSpec *a, const BucketSpec *b)
{
	if (!BucketSpecAlike(a, b))
		return false;
	for (int i = 0; i < a->nsort; i++)
	{
		if (a->sort[i].typid != b->sort[i].typid)
			return false;
	}
	return true;
}

BucketSpec *
BucketSpecCopy(const BucketSpec *spec)
{
	Size		size = BucketSpecSize(spec->nsort);

	return memcpy(palloc(size), spec, size);
}

uint32
BucketSpecHash(const BucketSpec *spec, const Datum *values, const bool *nulls)
{
	uint32		hash = 0;

	for (int i = 0; i < spec->nkeys; i++)
	{
		const SortColumn *col = &spec->sort[i];

		if (!nulls[col->attnum - 1])
			hash = KeyHash(col->keyclass, col->typid, values[col->attnum - 1], hash);
	}
	return hash;
}

int
BucketSpecCompare(const BucketSpec *spec, int ncols,
				  const Datum *avalues, const bool *anulls,
				  const Datum *bvalues, const bool *bnulls)
{
	for (int i = 0; i < ncols; i++)
	{
		const SortColumn *col = &spec->sort[i];
		int			cmp;

		if (anulls[i] || bnulls[i])
		{
			/* where nulls stand is told apart from desc */
			cmp = anulls[i] - bnulls[i];
			if (cmp != 0)
				return (col->flags & BF_SORT_NULLS_FIRST) ? -cmp : cmp;
			continue;
		}
		cmp = KeyCompare(col->keyclass, col->typid, avalues[i], col->typid, bvalues[i]);
		if (cmp != 0)
		{
			if (col->flags & BF_SORT_DESC)
				return cmp > 0 ? -1 : 1;
			return cmp;
		}
	}
	return 0;
}

int
GreatestCommonDivisor(int a, int b)
{
	while (b != 0)
	{
		int			rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}
