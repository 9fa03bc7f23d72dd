/*
 * table_stats.c
 *	  Statistics for tables that were never analyzed, from what loading saw.
 *
 * The summaries of all writes are merged, for one column at a time and only
 * when the planner asks for it.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/pg_class_d.h"
#include "catalog/pg_statistic.h"
#include "compat.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "plan/rel/stats_merge.h"
#include "plan/rel/table_stats.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

/* A finished tuple. */
typedef struct StatsTuple
{
	Index		varno;
	AttrNumber	attnum;
	HeapTuple	tuple;			/* NULL: nothing is known */
} StatsTuple;

static bool
IsAnalyzed(Oid relid, AttrNumber attnum, bool inh)
{
	return SearchSysCacheExists3(STATRELATTINH, ObjectIdGetDatum(relid),
								 Int16GetDatum(attnum), BoolGetDatum(inh));
}

Bitmapset *
UsedColumns(RelOptInfo *rel)
{
	Bitmapset  *used = NULL;
	ListCell   *lc;

	pull_varattnos((Node *) rel->reltarget->exprs, rel->relid, &used);
	foreach(lc, rel->baserestrictinfo)
		pull_varattnos((Node *) lfirst_node(RestrictInfo, lc)->clause, rel->relid, &used);
	return used;
}

/* Has ANALYZE seen a column of a relation, and of all its parents in the query? */
static bool
IsAnalyzedAbove(PlannerInfo *root, Index varno, AttrNumber attnum)
{
	while (attnum > 0)
	{
		RangeTblEntry *rte = root->simple_rte_array[varno];
		AppendRelInfo *appinfo = root->append_rel_array ? root->append_rel_array[varno] : NULL;

		if (!IsAnalyzed(rte->relid, attnum, rte->inh))
			return false;
		if (appinfo == NULL || root->simple_rte_array[appinfo->parent_relid]->rtekind != RTE_RELATION)
			break;
		attnum = attnum <= appinfo->num_child_cols ? appinfo->parent_colnos[attnum - 1] : 0;
		varno = appinfo->parent_relid;
	}
	return true;
}

bool
TableStatsWanted(PlannerInfo *root, RelOptInfo *rel)
{
	Bitmapset  *used = UsedColumns(rel);
	int			member = -1;

	while ((member = bms_next_member(used, member)) >= 0)
	{
		if (!IsAnalyzedAbove(root, rel->relid, member + FirstLowInvalidHeapAttributeNumber))
			return true;
	}
	return false;
}

void
TableStatsSetWidths(RelOptInfo *rel, Oid relid, const TableStats *stats)
{
	ListCell   *lc;

	if (stats->nwrites == 0)
		return;
	foreach(lc, rel->reltarget->exprs)
	{
		Var		   *var = lfirst(lc);
		int32	   *width;
		int32		average;

		if (!IsA(var, Var) || var->varno != rel->relid || var->varattno <= 0 ||
			get_typlen(var->vartype) > 0 || IsAnalyzed(relid, var->varattno, false))
			continue;
		average = StatsMergeWidth(relid, stats->writes, stats->nwrites, var->varattno);
		width = &rel->attr_widths[var->varattno - rel->min_attr];
		if (average > 0)
		{
			rel->reltarget->width += average - *width;
			*width = average;
		}
	}
}

/* A source of summaries: a table and the number its column has there. */
typedef struct StatsSource
{
	Oid			relid;
	TableStats *stats;
	AttrNumber	attnum;
} StatsSource;

/*
 * Find the bucketed tables below a relation of the query.  False when there
 * are others, or the column is no plain column of them all.
 */
static bool
FindSources(PlannerInfo *root, Index varno, AttrNumber attnum, List **sources)
{
	RelOptInfo *rel = root->simple_rel_array[varno];
	BucketRelInfo *info = rel ? BucketRelInfoGet(rel) : NULL;
	bool		found = false;
	ListCell   *lc;

	check_stack_depth();
	if (info)
	{
		StatsSource *source = palloc(sizeof(StatsSource));

		source->relid = root->simple_rte_array[varno]->relid;
		source->stats = &info->stats;
		source->attnum = attnum;
		*sources = lappend(*sources, source);
		return true;
	}
	if (rel == NULL || !root->simple_rte_array[varno]->inh)
		return false;
	foreach(lc, root->append_rel_list)
	{
		AppendRelInfo *appinfo = lfirst_node(AppendRelInfo, lc);
		RelOptInfo *child = root->simple_rel_array[appinfo->child_relid];
		Var		   *var;

		if (appinfo->parent_relid != varno || child == NULL || IS_DUMMY_REL(child))
			continue;
		var = list_nth(appinfo->translated_vars, attnum - 1);
		if (var == NULL || !IsA(var, Var) ||
			!FindSources(root, appinfo->child_relid, var->varattno, sources))
			return false;
		found = true;
	}
	return found;
}

static ArrayType *
MakeArray(const Datum *values, int n, Oid typid)
{
	int16		typlen;
	bool		typbyval;
	char		typalign;

	get_typlenbyvalalign(typid, &typlen, &typbyval, &typalign);
	return construct_array(unconstify(Datum *, values), n, typid, typlen, typbyval, typalign);
}

/* A row of pg_statistic that says what was merged. */
static HeapTuple
FormTuple(Oid relid, AttrNumber attnum, bool inh, Oid typid, Oid collation, const MergedStats *merged)
{
	Relation	rel = table_open(StatisticRelationId, AccessShareLock);
	Datum		values[Natts_pg_statistic] = {0};
	bool		nulls[Natts_pg_statistic] = {false};
	TypeCacheEntry *type = lookup_type_cache(typid, TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR);
	int			slot = 0;
	HeapTuple	tuple;

	for (int i = 0; i < STATISTIC_NUM_SLOTS; i++)
	{
		nulls[Anum_pg_statistic_stanumbers1 - 1 + i] = true;
		nulls[Anum_pg_statistic_stavalues1 - 1 + i] = true;
	}
	values[Anum_pg_statistic_starelid - 1] = ObjectIdGetDatum(relid);
	values[Anum_pg_statistic_staattnum - 1] = Int16GetDatum(attnum);
	values[Anum_pg_statistic_stainherit - 1] = BoolGetDatum(inh);
	values[Anum_pg_statistic_stanullfrac - 1] = Float4GetDatum(merged->null_fraction);
	values[Anum_pg_statistic_stawidth - 1] = Int32GetDatum(merged->width);
	values[Anum_pg_statistic_stadistinct - 1] = Float4GetDatum(merged->distinct);

#define FILL_SLOT(kind, op, array, n) \
	do { \
		values[Anum_pg_statistic_stakind1 - 1 + slot] = Int16GetDatum(kind); \
		values[Anum_pg_statistic_staop1 - 1 + slot] = ObjectIdGetDatum(op); \
		values[Anum_pg_statistic_stacoll1 - 1 + slot] = ObjectIdGetDatum(collation); \
		values[Anum_pg_statistic_stavalues1 - 1 + slot] = \
			PointerGetDatum(MakeArray(array, n, typid)); \
		nulls[Anum_pg_statistic_stavalues1 - 1 + slot] = false; \
	} while (0)

	if (merged->ncommon > 0 && OidIsValid(type->eq_opr))
	{
		Datum		shares[MERGED_COMMON];

		for (int i = 0; i < merged->ncommon; i++)
			shares[i] = Float4GetDatum(merged->shares[i]);
		FILL_SLOT(STATISTIC_KIND_MCV, type->eq_opr, merged->common, merged->ncommon);
		values[Anum_pg_statistic_stanumbers1 - 1 + slot] =
			PointerGetDatum(MakeArray(shares, merged->ncommon, FLOAT4OID));
		nulls[Anum_pg_statistic_stanumbers1 - 1 + slot] = false;
		slot++;
	}
	if (merged->nbounds > 1 && OidIsValid(type->lt_opr))
	{
		FILL_SLOT(STATISTIC_KIND_HISTOGRAM, type->lt_opr, merged->bounds, merged->nbounds);
		slot++;
	}
#undef FILL_SLOT

	tuple = heap_form_tuple(RelationGetDescr(rel), values, nulls);
	table_close(rel, AccessShareLock);
	return tuple;
}

/* Merge what is known of a column; NULL when that is nothing. */
static HeapTuple
MakeTuple(const RangeTblEntry *rte, AttrNumber attnum, List *sources)
{
	StatsMerge *merge;
	MergedStats merged;
	HeapTuple	tuple = NULL;
	Oid			typid;
	int32		typmod;
	Oid			collation;
	ListCell   *lc;

	get_atttypetypmodcoll(rte->relid, attnum, &typid, &typmod, &collation);
	typid = getBaseType(typid);
	merge = StatsMergeBegin(typid, collation);
	foreach(lc, sources)
	{
		const StatsSource *source = lfirst(lc);

		StatsMergeAdd(merge, source->relid, source->stats->writes, source->stats->nwrites, source->attnum);
	}
	if (StatsMergeEnd(merge, &merged))
		tuple = FormTuple(rte->relid, attnum, rte->inh, typid, collation, &merged);
	StatsMergeFree(merge);
	return tuple;
}

/* The tuple belongs to the planner's memory, and is wanted again. */
static void
KeepTuple(HeapTuple tuple)
{
}

static bool
ProvideStats(PlannerInfo *root, RangeTblEntry *rte, AttrNumber attnum, VariableStatData *vardata)
{
	StatsTuple *made = NULL;
	BucketRelInfo *info;
	TableStats *keeper;
	List	   *sources = NIL;
	Index		varno = 1;
	ListCell   *lc;

	while (varno < root->simple_rel_array_size && root->simple_rte_array[varno] != rte)
		varno++;
	if (varno >= root->simple_rel_array_size)
		return false;
	/* of a table whose columns are all analyzed nothing was read, and core asks often */
	info = root->simple_rel_array[varno] ? BucketRelInfoGet(root->simple_rel_array[varno]) : NULL;
	if (info != NULL && info->stats.nwrites == 0)
		return false;
	if (!FindSources(root, varno, attnum, &sources) ||
		IsAnalyzed(rte->relid, attnum, rte->inh))
		return false;

	keeper = ((StatsSource *) linitial(sources))->stats;
	foreach(lc, keeper->made)
	{
		made = lfirst(lc);
		if (made->varno == varno && made->attnum == attnum)
			break;
		made = NULL;
	}
	if (made == NULL)
	{
		MemoryContext oldcxt = MemoryContextSwitchTo(root->planner_cxt);

		made = palloc(sizeof(StatsTuple));
		made->varno = varno;
		made->attnum = attnum;
		made->tuple = MakeTuple(rte, attnum, sources);
		keeper->made = lappend(keeper->made, made);
		MemoryContextSwitchTo(oldcxt);
	}
	list_free_deep(sources);
	if (made->tuple == NULL)
		return false;
	vardata->statsTuple = made->tuple;
	vardata->freefunc = KeepTuple;
	vardata->acl_ok = BfMaySeeAllRows(root, varno, rte, attnum);
	return true;
}

bool
TableStatsOf(PlannerInfo *root, RangeTblEntry *rte, AttrNumber attnum, VariableStatData *vardata)
{
	return rte->rtekind == RTE_RELATION && attnum > 0 && root->simple_rel_array != NULL &&
		(rte->relkind == RELKIND_FOREIGN_TABLE || rte->inh) &&
		ProvideStats(root, rte, attnum, vardata);
}
