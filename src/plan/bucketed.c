/*
 * bucketed.c
 *	  The "bucketed" property of a relation.
 */
#include "postgres.h"

#include "compat.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "plan/bucketed.h"
#include "plan/scan_path.h"
#include "utils/lsyscache.h"

#define BUCKETED_MAGIC 0x626b6564

/* fdw_private of a join relation; no other wrapper may look there. */
typedef struct BucketedJoin
{
	int			magic;
	List	   *inputs;			/* BucketInput */
	Cost		cheapest;		/* total cost of the cheapest bucket join, 0: there is none */
} BucketedJoin;

/* Ways kept per join relation; more would make planning of many tables slow. */
#define MAX_INPUTS 4

bool
BucketedAllowed(RelOptInfo *joinrel)
{
	BucketedJoin *bucketed = joinrel->fdw_private;

	return bucketed == NULL || bucketed->magic == BUCKETED_MAGIC;
}

/* The Var of a column of a base relation. */
static Var *
ColumnVar(PlannerInfo *root, RelOptInfo *rel, AttrNumber attnum)
{
	Oid			relid = planner_rt_fetch(rel->relid, root)->relid;
	Oid			type;
	int32		typmod;
	Oid			collation;

	get_atttypetypmodcoll(relid, attnum, &type, &typmod, &collation);
	return makeVar(rel->relid, attnum, type, typmod, collation, 0);
}

static BucketInput *
BaseInput(PlannerInfo *root, RelOptInfo *rel)
{
	BucketRelInfo *info = BucketRelInfoGet(rel);
	const BucketSpec *spec = info->options->spec;
	BucketInput *input = palloc0(sizeof(BucketInput));
	List	   *attnums = NIL;

	input->nkeys = spec->nkeys;
	input->hash_version = spec->hash_version;
	input->classes = palloc(spec->nkeys * sizeof(KeyClass));
	input->vars = palloc(spec->nkeys * sizeof(List *));
	for (int k = 0; k < spec->nkeys; k++)
	{
		input->classes[k] = spec->sort[k].keyclass;
		input->vars[k] = list_make1(ColumnVar(root, rel, spec->sort[k].attnum));
		attnums = lappend_int(attnums, spec->sort[k].attnum);
	}
	input->nbuckets = spec->nbuckets;
	input->path = (Path *) BucketScanPath(root, rel, true, attnums);
	input->rows_path = BucketClusteredPath(root, rel, attnums);
	return input;
}

List *
BucketInputs(PlannerInfo *root, RelOptInfo *rel)
{
	if (rel->reloptkind == RELOPT_BASEREL)
		return BucketRelInfoGet(rel) ? list_make1(BaseInput(root, rel)) : NIL;
	if (rel->reloptkind == RELOPT_JOINREL && rel->fdw_private != NULL)
	{
		BucketedJoin *bucketed = rel->fdw_private;

		if (bucketed->magic == BUCKETED_MAGIC)
			return bucketed->inputs;
	}
	return NIL;
}

/* Do two ways have the same keys, so that one can stand for the other? */
static bool
SameKeys(const BucketInput *a, const BucketInput *b)
{
	if (a->nkeys != b->nkeys)
		return false;
	for (int k = 0; k < a->nkeys; k++)
	{
		ListCell   *lc;

		if (list_length(a->vars[k]) != list_length(b->vars[k]))
			return false;
		foreach(lc, a->vars[k])
		{
			if (!list_member(b->vars[k], lfirst(lc)))
				return false;
		}
	}
	return true;
}

/* The property of a join relation, made when it is not there. */
static BucketedJoin *
BucketedGet(RelOptInfo *joinrel)
{
	BucketedJoin *bucketed = joinrel->fdw_private;

	if (bucketed == NULL)
	{
		bucketed = palloc0(sizeof(BucketedJoin));
		bucketed->magic = BUCKETED_MAGIC;
		joinrel->fdw_private = bucketed;
	}
	return bucketed;
}

void
BucketedNoteCost(RelOptInfo *joinrel, const Path *path)
{
	BucketedJoin *bucketed = BucketedGet(joinrel);

	if (bucketed->cheapest == 0 || path->total_cost < bucketed->cheapest)
		bucketed->cheapest = path->total_cost;
}

bool
BucketedCost(RelOptInfo *joinrel, Cost *total)
{
	BucketedJoin *bucketed = joinrel->fdw_private;

	if (bucketed == NULL || bucketed->magic != BUCKETED_MAGIC || bucketed->cheapest == 0)
		return false;
	*total = bucketed->cheapest;
	return true;
}

void
BucketInputAdd(RelOptInfo *joinrel, BucketInput *input)
{
	BucketedJoin *bucketed = BucketedGet(joinrel);
	ListCell   *lc;

	foreach(lc, bucketed->inputs)
	{
		BucketInput *old = lfirst(lc);

		if (!SameKeys(old, input))
			continue;
		if (input->path->total_cost < old->path->total_cost)
			lfirst(lc) = input;
		return;
	}
	if (list_length(bucketed->inputs) < MAX_INPUTS)
		bucketed->inputs = lappend(bucketed->inputs, input);
}
