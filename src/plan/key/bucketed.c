/*
 * bucketed.c
 *	  The "bucketed" property of a relation.
 */
#include "postgres.h"

#include "compat.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "parser/parsetree.h"
#include "plan/key/bucketed.h"
#include "plan/key/key_expr.h"
#include "plan/rel/scan_path.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#define BUCKETED_MAGIC 0x626b6564

/*
 * Of a table kept in its BucketRelInfo, of a join relation or a partitioned
 * table in fdw_private: these have no wrapper of their own.
 */
typedef struct Bucketed
{
	int			magic;
	List	   *inputs;			/* BucketInput */
	Cost		cheapest;		/* total cost of the cheapest bucket join, 0: there is none */
	RelOptInfo *outerrel;		/* the pair that BucketedSeenMirrored was asked about last */
	RelOptInfo *innerrel;
} Bucketed;

/* Ways kept per join relation; more would make planning of many tables slow. */
#define MAX_INPUTS 4

bool
BucketedAllowed(RelOptInfo *joinrel)
{
	Bucketed *bucketed = joinrel->fdw_private;

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

/*
 * Sorted as the rows are, a key lies in one block of each run of its bucket.
 * How many such places there are: keys of the other side of a join that all
 * lie in few of them leave the other ones unread.
 */
static double
Pieces(const BucketRelInfo *info)
{
	return Max(1.0, info->stored_rows / BucketBlockRows(info) / info->runs_per_bucket *
			   info->bucket_fraction);
}

static BucketInput *
BaseInput(PlannerInfo *root, RelOptInfo *rel)
{
	BucketRelInfo *info = BucketRelInfoGet(rel);
	const BucketSpec *spec = info->options->spec;
	BucketInput *input = palloc0(sizeof(BucketInput));
	List	   *attnums = NIL;

	input->nkeys = spec->nkeys;
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
	input->pieces = Pieces(info);
	input->runs = info->runs_per_bucket;
	input->pages = info->plain_pages;
	input->fixed = rel->baserestrictinfo != NIL;
	return input;
}

Path *
BaseRowsPath(PlannerInfo *root, const BucketInput *input, bool partial)
{
	RelOptInfo *rel = input->path->parent;
	int			workers = partial ? PartialWorkers(root, rel, input->pages) : 0;
	Path	   *path;

	/* rows of several partitions are not merged by key */
	if (!IsA(input->path, ForeignPath) || (partial && workers == 0))
		return NULL;
	path = BucketClusteredPath(root, rel, linitial(((ForeignPath *) input->path)->fdw_private));
	if (partial)
		MakePartial(path, path->startup_cost, workers);
	return path;
}

/* The column of the topmost table that a partition's column is, 0 when there is none. */
static AttrNumber
ParentColumn(PlannerInfo *root, RelOptInfo *top, RelOptInfo *leaf, AttrNumber attnum)
{
	Index		rti = leaf->relid;

	while (rti != top->relid)
	{
		AppendRelInfo *appinfo = root->append_rel_array[rti];

		if (appinfo == NULL || attnum < 1 || attnum > appinfo->num_child_cols)
			return 0;
		attnum = appinfo->parent_colnos[attnum - 1];
		rti = appinfo->parent_relid;
	}
	return attnum;
}

bool
TargetHasColumn(const PathTarget *target, const Var *var)
{
	ListCell   *lc;

	foreach(lc, target->exprs)
	{
		Var		   *have = lfirst(lc);

		if (IsA(have, Var) && have->varno == var->varno && have->varattno == var->varattno)
			return true;
	}
	return false;
}

/*
 * A partitioned table whose live partitions, on whatever level, are all
 * bucketed by the same columns: one input with more runs.  Counts, attribute numbers and further
 * sort columns may differ.  NULL when it is not so, or when the target needs
 * more than columns.
 */
static BucketInput *
PartitionedInput(PlannerInfo *root, RelOptInfo *rel)
{
	BucketInput *input = NULL;
	List	   *leaves = LeafRels(root, rel);
	List	   *paths = NIL;
	ListCell   *lc;

	foreach(lc, rel->reltarget->exprs)
	{
		if (!IsA(lfirst(lc), Var) || lfirst_node(Var, lc)->varattno <= 0)
			return NULL;
	}
	foreach(lc, leaves)
	{
		RelOptInfo *child = lfirst(lc);
		BucketRelInfo *info = BucketRelInfoGet(child);
		const BucketSpec *spec;
		List	   *attnums = NIL;

		if (info == NULL || info->hash_version != 0)
			return NULL;
		spec = info->options->spec;
		if (input == NULL)
		{
			input = palloc0(sizeof(BucketInput));
			input->nkeys = spec->nkeys;
			input->classes = palloc(spec->nkeys * sizeof(KeyClass));
			input->vars = palloc(spec->nkeys * sizeof(List *));
			input->nbuckets = spec->nbuckets;
			for (int k = 0; k < spec->nkeys; k++)
			{
				AttrNumber	attnum = ParentColumn(root, rel, child, spec->sort[k].attnum);
				Var		   *var = attnum > 0 ? ColumnVar(root, rel, attnum) : NULL;

				if (var == NULL || !TargetHasColumn(rel->reltarget, var))
					return NULL;
				input->classes[k] = spec->sort[k].keyclass;
				input->vars[k] = list_make1(var);
			}
		}
		if (spec->nkeys != input->nkeys)
			return NULL;
		for (int k = 0; k < spec->nkeys; k++)
		{
			if (spec->sort[k].keyclass != input->classes[k] ||
				ParentColumn(root, rel, child, spec->sort[k].attnum) !=
				linitial_node(Var, input->vars[k])->varattno)
				return NULL;
			attnums = lappend_int(attnums, spec->sort[k].attnum);
		}
		input->nbuckets = Min(input->nbuckets, spec->nbuckets);
		input->pieces += Pieces(info) / list_length(leaves);
		input->runs += info->runs_per_bucket;
		input->pages += info->plain_pages;
		paths = lappend(paths, BucketScanPath(root, child, true, attnums));
	}
	if (input == NULL)
		return NULL;
	input->path = (Path *) create_append_path(root, rel, paths, NIL, NIL, NULL, 0, false, -1);
	input->fixed = rel->baserestrictinfo != NIL;
	return input;
}

BucketInput *
UnorderedInput(PlannerInfo *root, RelOptInfo *rel, List *computed)
{
	bool		inh = planner_rt_fetch(rel->relid, root)->inh;
	BucketInput *input = palloc0(sizeof(BucketInput));
	List	   *paths = NIL;
	ListCell   *lc;

	foreach(lc, rel->reltarget->exprs)
	{
		Node	   *expr = lfirst(lc);

		/* of partitions, an Append gives what stands in its target */
		if (IsA(expr, Var) ? ((Var *) expr)->varattno <= 0 : inh || !list_member(computed, StripRelabels(expr)))
			return NULL;
	}
	foreach(lc, LeafRels(root, rel))
	{
		BucketRelInfo *info = BucketRelInfoGet(lfirst(lc));

		if (info == NULL)
			return NULL;
		input->pages += info->plain_pages;
		paths = lappend(paths, BucketScanPath(root, lfirst(lc), true, NIL));
	}
	if (paths == NIL)
		return NULL;
	input->path = linitial(paths);
	if (inh)
	{
		input->path = (Path *) create_append_path(root, rel, paths, NIL, NIL, NULL, 0, false, -1);
		/* whole batches are handed on */
		input->path->total_cost = 0;
		foreach(lc, paths)
			input->path->total_cost += ((Path *) lfirst(lc))->total_cost;
	}
	return input;
}

/* Is the first partition that is read a bucketed table?  If not, nothing is kept with the parent. */
static bool
FirstLeafIsBucketed(PlannerInfo *root, RelOptInfo *rel)
{
	int			part = -1;

	while ((part = bms_next_member(rel->live_parts, part)) >= 0)
	{
		RelOptInfo *child = rel->part_rels[part];

		if (child == NULL || IS_DUMMY_REL(child))
			continue;
		return planner_rt_fetch(child->relid, root)->inh ? FirstLeafIsBucketed(root, child) :
			BucketRelInfoGet(child) != NULL;
	}
	return false;
}

/* Where the property of a relation is kept. */
static Bucketed **
BucketedPlace(RelOptInfo *rel)
{
	BucketRelInfo *info = BucketRelInfoGet(rel);

	return info != NULL ? &info->bucketed : (Bucketed **) &rel->fdw_private;
}

/* The property of a relation, made when it is not there. */
static Bucketed *
BucketedGet(RelOptInfo *rel)
{
	Bucketed  **place = BucketedPlace(rel);

	if (*place == NULL)
	{
		*place = palloc0(sizeof(Bucketed));
		(*place)->magic = BUCKETED_MAGIC;
	}
	return *place;
}

/* The way to deliver a base relation with the target that it has now, or NULL. */
static BucketInput *
MakeInput(PlannerInfo *root, RelOptInfo *rel)
{
	BucketRelInfo *info = BucketRelInfoGet(rel);

	if (info == NULL)
		return PartitionedInput(root, rel);
	return info->hash_version == 0 ? BaseInput(root, rel) : NULL;
}

/*
 * The same, kept with the relation, whose memory it takes: what GEQO makes while
 * it tries one order of joins it forgets before the next.
 */
static List *
BaseInputs(PlannerInfo *root, RelOptInfo *rel)
{
	Bucketed   *bucketed = *BucketedPlace(rel);

	/* above the last scan or join core puts another target in */
	if (bucketed == NULL || (bucketed->inputs != NIL &&
							 ((BucketInput *) linitial(bucketed->inputs))->path->pathtarget != rel->reltarget))
	{
		MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(rel));
		BucketInput *input = MakeInput(root, rel);

		bucketed = BucketedGet(rel);
		bucketed->inputs = input ? list_make1(input) : NIL;
		MemoryContextSwitchTo(old);
	}
	return bucketed->inputs;
}

List *
BucketInputs(PlannerInfo *root, RelOptInfo *rel)
{
	Bucketed   *bucketed = rel->fdw_private;

	if (rel->reloptkind == RELOPT_JOINREL)
		return bucketed != NULL && bucketed->magic == BUCKETED_MAGIC ? bucketed->inputs : NIL;
	if (rel->reloptkind != RELOPT_BASEREL)
		return NIL;
	if (BucketRelInfoGet(rel) != NULL)
		return BaseInputs(root, rel);
	/* of a partitioned table nothing is kept unless it is ours */
	if (rel->part_rels == NULL || IS_DUMMY_REL(rel))
		return NIL;
	if (bucketed == NULL ? !FirstLeafIsBucketed(root, rel) : bucketed->magic != BUCKETED_MAGIC)
		return NIL;
	return BaseInputs(root, rel);
}

int
BucketInputKey(const BucketInput *input, Node *expr)
{
	for (int k = 0; k < input->nkeys; k++)
	{
		if (IsKeyExpr(expr, input->vars[k], input->classes[k]))
			return k;
	}
	return -1;
}

/* Do two ways have the same keys, so that one can stand for the other? */
static bool
SameKeys(const BucketInput *a, const BucketInput *b)
{
	if (a->nkeys != b->nkeys)
		return false;
	for (int k = 0; k < a->nkeys; k++)
	{
		if (!SameKeyExprs(a->vars[k], b->vars[k]))
			return false;
	}
	return true;
}

/* How many of the expressions are columns. */
static int
CountColumns(const List *exprs)
{
	int			n = 0;
	ListCell   *lc;

	foreach(lc, exprs)
		n += IsA(lfirst(lc), Var);
	return n;
}

/* Do the columns of x and y make up a key? */
static bool
KeyIsOf(const List *key, const List *x, const List *y)
{
	int			n = CountColumns(x) + CountColumns(y);

	return n > 0 && CountColumns(key) == n && KeyHasColumns(key, x) && KeyHasColumns(key, y);
}

bool
BucketInputWanted(RelOptInfo *joinrel, const BucketInput *x, const BucketInput *y, Cost total)
{
	Bucketed   *bucketed = joinrel->fdw_private;
	ListCell   *lc;

	foreach(lc, bucketed ? bucketed->inputs : NIL)
	{
		BucketInput *old = lfirst(lc);
		bool		same = old->nkeys == x->nkeys && old->path->total_cost <= total;

		for (int k = 0; same && k < x->nkeys; k++)
			same = KeyIsOf(old->vars[k], x->vars[k], y ? y->vars[k] : NIL);
		if (same)
			return false;
	}
	return true;
}

bool
BucketedSeenMirrored(RelOptInfo *joinrel, RelOptInfo *outerrel, RelOptInfo *innerrel)
{
	Bucketed   *bucketed = BucketedGet(joinrel);
	bool		seen = bucketed->outerrel == innerrel && bucketed->innerrel == outerrel;

	bucketed->outerrel = outerrel;
	bucketed->innerrel = innerrel;
	return seen;
}

void
BucketedNoteCost(RelOptInfo *joinrel, Cost total)
{
	Bucketed   *bucketed = BucketedGet(joinrel);

	if (bucketed->cheapest == 0 || total < bucketed->cheapest)
		bucketed->cheapest = total;
}

bool
BucketedCost(RelOptInfo *joinrel, Cost *total)
{
	Bucketed *bucketed = joinrel->fdw_private;

	if (bucketed == NULL || bucketed->magic != BUCKETED_MAGIC || bucketed->cheapest == 0)
		return false;
	*total = bucketed->cheapest;
	return true;
}

void
BucketInputAdd(RelOptInfo *joinrel, BucketInput *input)
{
	Bucketed *bucketed = BucketedGet(joinrel);
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
