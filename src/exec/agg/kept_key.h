/*
 * kept_key.h
 *	  The key of the last entry of a batch, kept while the next one is read.
 */
#ifndef BF_KEPT_KEY_H
#define BF_KEPT_KEY_H

#include "exec/source/batch_source.h"
#include "vector/key_vector.h"

typedef struct KeptKey
{
	MemoryContext cxt;			/* reset at each KeptKeySet */
	Datum	   *values;
	bool	   *nulls;
} KeptKey;

/* Room for keys of the input, in a context below the current one. */
extern void KeptKeyInit(KeptKey *kept, const BatchSource *input);

/* A column of a row, copied into the current context. */
extern void KeptKeyCopyColumn(const BatchSource *input, int col, const ColumnVector *vec, int row,
							  Datum *value, bool *isnull);

/* Keep the key of an entry; what was kept before is gone. */
extern void KeptKeySet(KeptKey *kept, const BatchSource *input, const KeyVector *keys, int entry);

/* Does an entry have the kept key?  NULLs are equal. */
extern bool KeptKeyGoesOn(const KeptKey *kept, const KeyVector *keys, int entry);

#endif							/* BF_KEPT_KEY_H */
