/*
 * partition_reason.c
 *	  Why the partitions of a table are not joined as one bucketed table.
 */
#include "postgres.h"

#include "access/table.h"
#include "plan/why/reasons.h"
#include "storage/manifest.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* A bucketed partition. */
typedef struct BucketedLeaf
{
	Oid			relid;
	BucketSpec *spec;
	List	   *columns;		/* names of the bucket columns */
} BucketedLeaf;

static BucketedLeaf *
ReadLeaf(Oid relid)
{
	BucketedLeaf *leaf = palloc0(sizeof(BucketedLeaf));
	Relation	rel = table_open(relid, NoLock);

	leaf->relid = relid;
	leaf->spec = TableOptionsGet(rel)->spec;
	leaf->columns = BucketColumnNames(relid, leaf->spec);
	table_close(rel, NoLock);
	return leaf;
}

static bool
SameBuckets(const BucketedLeaf *a, const BucketedLeaf *b)
{
	if (!equal(a->columns, b->columns))
		return false;
	for (int k = 0; k < a->spec->nkeys; k++)
	{
		if (a->spec->sort[k].keyclass != b->spec->sort[k].keyclass)
			return false;
	}
	return true;
}

static char *
NameOf(Oid relid)
{
	return pstrdup(quote_identifier(get_rel_name(relid)));
}

/* The statement for a copy of a partition that is bucketed like another one. */
static char *
CopyHint(Oid relid, const BucketedLeaf *like)
{
	return psprintf("Make a copy of %s and attach it as partition in its place: %s", NameOf(relid),
					BucketedCopyStatement(relid, like->columns, NIL, (int) like->spec->nbuckets, 0));
}

bool
PartitionsReason(const char *label, List *leaves, Rejection *rejection)
{
	List	   *bucketed = NIL;
	List	   *others = NIL;
	List	   *odd = NIL;
	BucketedLeaf *like;
	BucketedLeaf *wrong;
	ListCell   *lc;

	foreach(lc, leaves)
	{
		if (IsBucketTable(lfirst_oid(lc)))
			bucketed = lappend(bucketed, ReadLeaf(lfirst_oid(lc)));
		else
			others = lappend_oid(others, lfirst_oid(lc));
	}
	if (bucketed == NIL)
	{
		rejection->code = REASON_NOT_BUCKETED;
		rejection->detail = psprintf("%s is a partitioned table without bucketed partitions", label);
		return true;
	}
	like = linitial(bucketed);
	if (others != NIL)
	{
		char	   *name = NameOf(linitial_oid(others));

		rejection->code = REASON_PARTITION_MIX;
		rejection->relation = name;
		rejection->detail = list_length(others) == 1 ?
			psprintf("partition %s of %s is not bucketed, the others are", name, label) :
			psprintf("of the partitions of %s, %d are bucketed and %d are not, %s among them", label,
					 list_length(bucketed), list_length(others), name);
		rejection->hint = CopyHint(linitial_oid(others), like);
		return true;
	}
	foreach(lc, bucketed)
	{
		if (!SameBuckets(like, lfirst(lc)))
			odd = lappend(odd, lfirst(lc));
	}
	if (odd == NIL)
		return false;
	/* if all others are unlike the first one, it is the one to be changed */
	wrong = linitial(odd);
	if (list_length(odd) > 1 && list_length(odd) == list_length(bucketed) - 1)
	{
		wrong = like;
		like = linitial(odd);
	}
	rejection->code = REASON_PARTITIONED;
	rejection->relation = NameOf(wrong->relid);
	rejection->detail = psprintf("partition %s of %s is bucketed by %s, %s by %s%s",
								 rejection->relation, label, WordList(QuotedNames(wrong->columns)),
								 NameOf(like->relid), WordList(QuotedNames(like->columns)),
								 equal(wrong->columns, like->columns) ? " of another type" : "");
	rejection->hint = equal(wrong->columns, like->columns) ? NULL : CopyHint(wrong->relid, like);
	return true;
}
