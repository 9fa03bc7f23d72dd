/*
 * int_test.c
 *	  Comparisons of a column of int64 with a value or a list of values.
 */
#include "postgres.h"

#include "exec/qual/int_test.h"

/* a list becomes bits where there are at most so many for each of its values, or as many as are read quickly */
#define BITS_PER_VALUE	64
#define FEW_BITS		(64 * 1024)

void
IntTestMake(IntTest *test, LeafQualOp op, int nvalues, int64 *values)
{
	uint64		span;
	uint64	   *bits;

	memset(test, 0, sizeof(*test));
	test->op = op;
	test->nvalues = nvalues;
	test->values = values;
	/* few values are compared faster than looked up */
	if ((op != LEAF_ANY && op != LEAF_NONE_OF) || nvalues < 2)
		return;
	span = (uint64) values[nvalues - 1] - (uint64) values[0];
	if (span >= FEW_BITS && span / BITS_PER_VALUE >= (uint64) nvalues)
		return;
	bits = MemoryContextAllocExtended(CurrentMemoryContext, (span / 64 + 1) * sizeof(uint64),
									  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (int i = 0; i < nvalues; i++)
	{
		uint64		bit = (uint64) values[i] - (uint64) values[0];

		bits[bit / 64] |= UINT64CONST(1) << (bit % 64);
	}
	test->bits = bits;
}

/* binary search of a sorted int64 array */
static inline bool
Contains(const int64 *values, int n, int64 key)
{
	int			lo = 0;
	int			hi = n;

	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;

		if (values[mid] < key)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < n && values[lo] == key;
}

static inline bool
HasBit(const uint64 *bits, uint64 first, uint64 span, int64 key)
{
	uint64		bit = (uint64) key - first;

	return bit <= span && ((bits[bit / 64] >> (bit % 64)) & 1) != 0;
}

bool
IntTestHas(const IntTest *test, int64 value)
{
	return Contains(test->values, test->nvalues, value);
}

/* KEY is the row's value as int64 */
#define TEST_ROWS(KEY) \
	do { \
		if (test->bits != NULL) \
		{ \
			const uint64 *bits = test->bits; \
			uint64	first = (uint64) test->values[0]; \
			uint64	span = (uint64) test->values[test->nvalues - 1] - first; \
			if (test->op == LEAF_ANY) \
				KEEP_ROWS(HasBit(bits, first, span, KEY)); \
			else \
				KEEP_ROWS(!HasBit(bits, first, span, KEY)); \
			break; \
		} \
		switch (test->op) \
		{ \
			case LEAF_EQ: KEEP_ROWS((KEY) == want); break; \
			case LEAF_NE: KEEP_ROWS((KEY) != want); break; \
			case LEAF_LT: KEEP_ROWS((KEY) < want); break; \
			case LEAF_LE: KEEP_ROWS((KEY) <= want); break; \
			case LEAF_GT: KEEP_ROWS((KEY) > want); break; \
			case LEAF_GE: KEEP_ROWS((KEY) >= want); break; \
			case LEAF_ANY: KEEP_ROWS(Contains(test->values, test->nvalues, KEY)); break; \
			case LEAF_NONE_OF: KEEP_ROWS(!Contains(test->values, test->nvalues, KEY)); break; \
			case LEAF_NOTNULL: KEEP_ROWS(true); break; \
			default: elog(ERROR, "unexpected batch qual operator %d", (int) test->op); \
		} \
	} while (0)

int
IntTestApply(const IntTest *test, const int64 *values, const bool *nulls, const uint16 *rows, int n, uint16 *out)
{
	int64		want = test->nvalues > 0 ? test->values[0] : 0;
	int			kept = 0;

	if (test->none)
		return 0;
	TEST_ROWS(values[row]);
	return kept;
}

int
IntTestApplyFloats(const IntTest *test, Oid type, const Datum *values, const bool *nulls,
				   const uint16 *rows, int n, uint16 *out)
{
	int64		want = test->nvalues > 0 ? test->values[0] : 0;
	int			kept = 0;

	if (test->none)
		return 0;
	TEST_ROWS(KeySort64(KEYCLASS_FLOAT, type, values[row]));
	return kept;
}
