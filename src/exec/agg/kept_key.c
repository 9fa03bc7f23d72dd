/*
 * kept_key.c
 *	  The key of the last entry of a batch, kept while the next one is read.
 */
#include "postgres.h"

#include "exec/agg/kept_key.h"
#include "utils/datum.h"
#include "utils/memutils.h"

void
KeptKeyInit(KeptKey *kept, const BatchSource *input)
{
	kept->cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw kept key",
									  ALLOCSET_SMALL_SIZES);
	kept->values = palloc(input->nkeys * sizeof(Datum));
	kept->nulls = palloc(input->nkeys * sizeof(bool));
}

void
KeptKeyCopyColumn(const BatchSource *input, int col, const ColumnVector *vec, int row,
				  Datum *value, bool *isnull)
{
	*isnull = vec->nulls && vec->nulls[row];
	*value = *isnull ? (Datum) 0 :
		datumCopy(vec->values[row], input->typbyval[col], input->typlen[col]);
}

void
KeptKeySet(KeptKey *kept, const BatchSource *input, const KeyVector *keys, int entry)
{
	int			row = KeyVectorRow(keys, entry);
	MemoryContext old;

	MemoryContextReset(kept->cxt);
	old = MemoryContextSwitchTo(kept->cxt);
	for (int k = 0; k < keys->nkeys; k++)
		KeptKeyCopyColumn(input, keys->cols[k], &keys->batch->cols[keys->cols[k]], row,
						  &kept->values[k], &kept->nulls[k]);
	MemoryContextSwitchTo(old);
}

bool
KeptKeyGoesOn(const KeptKey *kept, const KeyVector *keys, int entry)
{
	int			row = KeyVectorRow(keys, entry);

	for (int k = 0; k < keys->nkeys; k++)
	{
		const ColumnVector *vec = &keys->batch->cols[keys->cols[k]];
		bool		isnull = vec->nulls && vec->nulls[row];

		if (isnull != kept->nulls[k] ||
			(!isnull && KeyCompare(keys->classes[k], keys->types[k], kept->values[k],
								   keys->types[k], vec->values[row]) != 0))
			return false;
	}
	return true;
}
