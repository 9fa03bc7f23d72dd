/*
 * block_stats.c
 *	  May a block be skipped, going by its statistics?
 *
 * A wrong "yes" loses rows that nothing can bring back, so every doubt is a
 * "no".  NaN needs no care: the classes order it above all, as the operators
 * do, and minima and maxima were found in that order.
 */
#include "postgres.h"

#include "compat.h"
#include "format/stats/block_stats.h"
#include "spec/key_image.h"

/*
 * Compare the block's maximum with the value: its sign, or 0 also when the
 * maximum is cut and nothing can be said.  A cut maximum stands for all that
 * begins with it, so the value is greater only if it differs, to the greater,
 * within the bytes that both have.
 */
static int
compare_max(const BlockColumnStats *stats, KeyClass keyclass, Oid coltype, Oid consttype, Datum value,
			bool *known)
{
	const char *max = DatumGetPointer(stats->max.value);
	const unsigned char *v;
	size_t		len;

	*known = true;
	if (!stats->max.truncated)
		return KeyCompare(keyclass, coltype, stats->max.value, consttype, value);

	v = KeyTextBytes(keyclass, value, &len);
	len = Min(len, VARSIZE_ANY_EXHDR(max));
	if (memcmp(v, VARDATA_ANY(max), len) > 0)
		return -1;
	*known = false;
	return 0;
}

/* Is a text, and all that begins with it, above all that begins with the prefix? */
static bool
above_prefix(Datum min, Datum prefix)
{
	const char *m = DatumGetPointer(min);
	const char *p = DatumGetPointer(prefix);

	return memcmp(VARDATA_ANY(m), VARDATA_ANY(p),
				  Min(VARSIZE_ANY_EXHDR(m), VARSIZE_ANY_EXHDR(p))) > 0;
}

bool
BlockStatsCanSkip(const BlockColumnStats *stats, int nrows, KeyClass keyclass, Oid coltype, SkipOp op,
				  Oid consttype, Datum value)
{
	bool		known;
	int			min;
	int			max;

	if (op == SKIP_ISNULL)
		return stats->null_count == 0;
	/* none of the other operators is true of a null */
	if (stats->null_count == nrows)
		return true;
	if (op == SKIP_NOTNULL || !stats->has_minmax)
		return false;

	/* a cut minimum is a prefix of the real one, so not greater than it */
	min = KeyCompare(keyclass, coltype, stats->min.value, consttype, value);
	max = compare_max(stats, keyclass, coltype, consttype, value, &known);
	switch (op)
	{
		case SKIP_EQ:
			return min > 0 || (known && max < 0);
		case SKIP_LT:
			return min >= 0;
		case SKIP_LE:
			return min > 0;
		case SKIP_GT:
			return known && max <= 0;
		case SKIP_GE:
			return known && max < 0;
		case SKIP_PREFIX:
			return keyclass == KEYCLASS_TEXT &&
				((known && max < 0) || above_prefix(stats->min.value, value));
		case SKIP_ISNULL:
		case SKIP_NOTNULL:
			break;
	}
	return false;
}
