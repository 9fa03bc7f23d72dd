/*
 * plan_report.c
 *	  Which joins and aggregations of a plan use buckets, and why the others
 *	  do not.
 *
 * At the end of each query level the path that will be the plan is walked.
 * For EXPLAIN each table remembers the join it feeds, no more: texts are made
 * when its plan node is.  Levels without a bucketed table are left at once.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "compat.h"
#include "guc.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/pathnode.h"
#include "optimizer/planner.h"
#include "parser/parsetree.h"
#include "plan/group/agg_fused.h"
#include "plan/group/agg_path.h"
#include "plan/join/join_check.h"
#include "plan/join/join_path.h"
#include "plan/why/plan_report.h"
#include "plan/why/reasons.h"
#include "tcop/tcopprot.h"

/* What is collected about a query, or a level of one. */
typedef struct PlanReport
{
	Query	   *query;
	List	   *rows;			/* ReportRow */
	struct PlanReport *previous;	/* what was collected when this started */
} PlanReport;

/* NULL but within PlanReportCollect */
static PlanReport *active_report = NULL;

/* Messages already logged: hashes of statement and message, the oldest are forgotten. */
#define LOGGED_MAX 1024
static uint64 logged[LOGGED_MAX];
static int	logged_next = 0;

static void WalkLevel(PlannerInfo *root, Path *path, PlanReport *report);

#define SUBPATH(type) \
		case T_##type: \
			return list_make1(((type *) path)->subpath)

static List *
PathChildren(Path *path)
{
	switch (nodeTag(path))
	{
		case T_NestPath:
		case T_MergePath:
		case T_HashPath:
			return list_make2(((JoinPath *) path)->outerjoinpath, ((JoinPath *) path)->innerjoinpath);
		case T_CustomPath:
			return ((CustomPath *) path)->custom_paths;
		case T_AppendPath:
			return ((AppendPath *) path)->subpaths;
		case T_MergeAppendPath:
			return ((MergeAppendPath *) path)->subpaths;
		SUBPATH(MaterialPath);
		SUBPATH(MemoizePath);
		SUBPATH(UniquePath);
		SUBPATH(GatherPath);
		SUBPATH(GatherMergePath);
		SUBPATH(ProjectionPath);
		SUBPATH(ProjectSetPath);
		case T_IncrementalSortPath: /* begins as SortPath */
		SUBPATH(SortPath);
		SUBPATH(GroupPath);
		SUBPATH(UpperUniquePath);
		SUBPATH(AggPath);
		SUBPATH(GroupingSetsPath);
		SUBPATH(WindowAggPath);
		case T_SetOpPath:
			return BfSetOpChildren((SetOpPath *) path);
		case T_RecursiveUnionPath:
			return list_make2(((RecursiveUnionPath *) path)->leftpath,
							  ((RecursiveUnionPath *) path)->rightpath);
		SUBPATH(LockRowsPath);
		SUBPATH(ModifyTablePath);
		SUBPATH(LimitPath);
		default:
			return NIL;
	}
}

/* Conditions that a nested loop hands to its inner side as parameters. */
static List *
MovedClauses(Path *path, Relids outer, List *clauses)
{
	ListCell   *lc;

	if (path->param_info == NULL)
		return clauses;
	foreach(lc, path->param_info->ppi_clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (bms_overlap(rinfo->clause_relids, outer))
			clauses = list_append_unique_ptr(clauses, rinfo);
	}
	foreach(lc, PathChildren(path))
		clauses = MovedClauses(lfirst(lc), outer, clauses);
	return clauses;
}

/* The join a path makes, as the bucket join would have to make it. */
static void
CandidateOf(PlannerInfo *root, JoinPath *path, JoinCandidate *join)
{
	bool		mirrored = BfJoinIsMirrored(path->jointype);

	memset(join, 0, sizeof(*join));
	join->root = root;
	join->joinrel = path->path.parent;
	join->jointype = mirrored ? BfMirrorOfJoin(path->jointype) : path->jointype;
	/* an inner join with a side made unique is a semi join */
	if (path->jointype == JOIN_INNER && IsA(path->innerjoinpath, UniquePath))
		join->jointype = JOIN_SEMI;
	else if (path->jointype == JOIN_INNER && IsA(path->outerjoinpath, UniquePath))
	{
		join->jointype = JOIN_SEMI;
		mirrored = true;
	}
	join->outerrel = mirrored ? path->innerjoinpath->parent : path->outerjoinpath->parent;
	join->innerrel = mirrored ? path->outerjoinpath->parent : path->innerjoinpath->parent;
	join->restrictlist = MovedClauses(path->innerjoinpath, path->outerjoinpath->parent->relids,
									  list_copy(path->joinrestrictinfo));
}

static const char *
JoinTypeWord(JoinType jointype)
{
	return jointype == JOIN_LEFT ? "left" : jointype == JOIN_FULL ? "full" :
		jointype == JOIN_SEMI ? "semi" : jointype == JOIN_ANTI ? "anti" : "inner";
}

/* Why this join was not made by buckets. */
static void
JoinPathRejection(PlannerInfo *root, JoinPath *path, JoinCandidate *join, Rejection *rejection)
{
	Cost		cost;
	bool		possible = BucketedCost(join->joinrel, &cost);
	const char *node = IsA(path, HashPath) ? "hash join" :
		IsA(path, MergePath) ? "merge join" : "nested loop";
	const char *setting = IsA(path, HashPath) ? "enable_hashjoin" :
		IsA(path, MergePath) ? "enable_mergejoin" : "enable_nestloop";

	JoinReason(join, rejection);
	if (rejection->code == REASON_NONE)
	{
		rejection->detail = psprintf(possible && cost < path->path.total_cost ?
									 "with a %s here the whole plan is estimated to cost less" :
									 "a %s is estimated to cost less", node);
		CostReason(root, join->joinrel->relids, path->path.total_cost, possible ? cost : 0, setting, rejection);
	}
	else if (rejection->code != REASON_COST && JoinRoutes(join) && possible)
	{
		/* what stands against it only adds to the costs, and the hint would help all the more */
		rejection->relation = NULL;
		rejection->detail = psprintf("%s; distributing rows to buckets for this join is estimated to cost more than a %s",
									 rejection->detail, node);
		rejection->code = REASON_COST;
	}
	else
		return;
	if (possible)
		rejection->costs = psprintf("%.2f against %.2f", path->path.total_cost, cost);
}

/* rejection NULL: it uses buckets. */
static void
AddRow(PlanReport *report, PlannerInfo *root, const char *kind, char *relations,
	   const char *join_type, const Rejection *rejection)
{
	ReportRow  *row = palloc0(sizeof(ReportRow));

	row->root = root;
	row->kind = kind;
	row->relations = relations;
	row->join_type = join_type;
	row->used = rejection == NULL;
	if (rejection != NULL)
		row->rejection = *rejection;
	report->rows = lappend(report->rows, row);
}

static char *
PairTitle(PlannerInfo *root, RelOptInfo *outer, RelOptInfo *inner)
{
	return psprintf("%s, %s", RelationTitle(root, outer->relids), RelationTitle(root, inner->relids));
}

/* A table, or a partition of one, feeds a join, unless it feeds one below. */
static void
FeedJoin(PlannerInfo *root, Index rti, JoinPath *path)
{
	RelOptInfo *rel = rti < root->simple_rel_array_size ? root->simple_rel_array[rti] : NULL;
	ListCell   *lc;

	foreach(lc, rel != NULL && IS_SIMPLE_REL(rel) ? LeafRels(root, rel) : NIL)
	{
		BucketRelInfo *info = BucketRelInfoGet(lfirst(lc));

		if (info != NULL && !info->in_bucket_join && info->feeds == NULL)
			info->feeds = path;
	}
}

/* A join of core's. */
static void
VisitJoin(PlannerInfo *root, JoinPath *path, PlanReport *report)
{
	JoinCandidate join;
	Rejection	rejection;
	ListCell   *lc;

	CandidateOf(root, path, &join);
	/* tables that one of its equalities names feed it, unless they feed one below */
	foreach(lc, join.restrictlist)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		int			rti = -1;

		if (!IsJoinEquality(rinfo))
			continue;
		while ((rti = bms_next_member(rinfo->clause_relids, rti)) >= 0)
			FeedJoin(root, rti, path);
	}
	if (report == NULL ||
		!(HoldsBucketedTable(root, join.outerrel) || HoldsBucketedTable(root, join.innerrel)))
		return;
	JoinPathRejection(root, path, &join, &rejection);
	AddRow(report, root, "join", PairTitle(root, join.outerrel, join.innerrel),
		   JoinTypeWord(join.jointype), &rejection);
}

/* Tables that a bucket join reads batch by batch. */
static void
MarkInput(Path *path)
{
	BucketRelInfo *info = BucketRelInfoGet(path->parent);
	ListCell   *lc;

	if (info != NULL)
		info->in_bucket_join = true;
	if (IsA(path, AppendPath))
	{
		foreach(lc, ((AppendPath *) path)->subpaths)
			MarkInput(lfirst(lc));
	}
}

/* A bucket join: tables right below it say nothing in EXPLAIN. */
static void
VisitBucketJoin(PlannerInfo *root, CustomPath *path, JoinType jointype, PlanReport *report)
{
	Path	   *outer = linitial(path->custom_paths);
	Path	   *inner = lsecond(path->custom_paths);

	MarkInput(outer);
	MarkInput(inner);
	if (report != NULL)
		AddRow(report, root, "join", PairTitle(root, outer->parent, inner->parent),
			   JoinTypeWord(jointype), NULL);
}

/* Finds an IN or EXISTS that became a subplan. */
static bool
HoldsSubplan(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, AlternativeSubPlan))
		return true;
	if (IsA(node, SubPlan) &&
		(((SubPlan *) node)->subLinkType == ANY_SUBLINK ||
		 ((SubPlan *) node)->subLinkType == EXISTS_SUBLINK))
		return true;
	return expression_tree_walker(node, HoldsSubplan, context);
}

/* A scan of a bucketed table: a condition with a subquery that is no join. */
static void
VisitScan(PlannerInfo *root, Path *path, PlanReport *report)
{
	Rejection	rejection = {0};
	ListCell   *lc;

	if (report == NULL || BucketRelInfoGet(path->parent) == NULL)
		return;
	foreach(lc, path->parent->baserestrictinfo)
	{
		if (!HoldsSubplan((Node *) lfirst_node(RestrictInfo, lc)->clause, NULL))
			continue;
		ReasonSay(&rejection, REASON_SUBPLAN, RelationLabel(root, path->parent->relids));
		AddRow(report, root, "join", RelationTitle(root, path->parent->relids), NULL, &rejection);
	}
}

/* Is the output relation that of this stage? */
static bool
IsUpperRel(PlannerInfo *root, RelOptInfo *rel, UpperRelationKind kind)
{
	return rel->reloptkind == RELOPT_UPPER_REL && list_member_ptr(root->upper_rels[kind], rel);
}

/* The join or scan whose rows an aggregation reads. */
static RelOptInfo *
InputOfAgg(Path *path)
{
	for (;;)
	{
		List	   *children = PathChildren(path);

		if (children == NIL)
			return NULL;
		path = linitial(children);
		if (IS_SIMPLE_REL(path->parent) || IS_JOIN_REL(path->parent))
			return path->parent;
	}
}

/* Does it read rows as buckets give them, with nothing in between? */
static bool
ReadsBuckets(Path *path)
{
	JoinType	jointype;

	path = linitial(PathChildren(path));
	while (IsA(path, ProjectionPath))
		path = ((ProjectionPath *) path)->subpath;
	return IsBucketJoinPath(path, &jointype) ||
		(IsA(path, ForeignPath) && BucketRelInfoGet(path->parent) != NULL);
}

/* GROUP BY or DISTINCT. */
static void
VisitAgg(PlannerInfo *root, Path *path, PlanReport *report)
{
	bool		distinct = IsUpperRel(root, path->parent, UPPERREL_DISTINCT);
	RelOptInfo *input;
	Rejection	rejection;
	bool		used;

	if (report == NULL || (!distinct && !IsUpperRel(root, path->parent, UPPERREL_GROUP_AGG)))
		return;
	if (!distinct && root->parse->groupClause == NIL && root->parse->groupingSets == NIL)
		return;
	if (IsA(path, CustomPath) && !FusedByKey(path) && !FusedHashed(path))
		return;
	if (IsA(path, AggPath) && (((AggPath *) path)->aggstrategy == AGG_PLAIN ||
							   ((AggPath *) path)->aggsplit == AGGSPLIT_INITIAL_SERIAL))
		return;
	input = InputOfAgg(path);
	if (input == NULL || !HoldsBucketedTable(root, input))
		return;
	if (IsA(path, CustomPath))
		used = FusedByKey(path);
	else
		used = ((IsA(path, AggPath) && ((AggPath *) path)->aggstrategy == AGG_SORTED) ||
				IsA(path, GroupPath) || IsA(path, UpperUniquePath)) && ReadsBuckets(path);
	if (!used)
		GroupingReason(root, input, path->parent, distinct, path, &rejection);
	AddRow(report, root, "aggregate", RelationTitle(root, input->relids), NULL,
		   used ? NULL : &rejection);
}

static void
WalkPath(PlannerInfo *root, Path *path, PlanReport *report)
{
	JoinType	jointype;
	ListCell   *lc;

	check_stack_depth();
	foreach(lc, PathChildren(path))
		WalkPath(root, lfirst(lc), report);
	if (IsBucketJoinPath(path, &jointype))
	{
		VisitBucketJoin(root, (CustomPath *) path, jointype, report);
		return;
	}
	switch (nodeTag(path))
	{
		case T_NestPath:
		case T_MergePath:
		case T_HashPath:
			VisitJoin(root, (JoinPath *) path, report);
			break;
		case T_ForeignPath:
			VisitScan(root, path, report);
			break;
		case T_AggPath:
		case T_GroupPath:
		case T_GroupingSetsPath:
		case T_UpperUniquePath:
		case T_CustomPath:
			VisitAgg(root, path, report);
			break;
		case T_SubqueryScanPath:

			/*
			 * When the level below was finished nobody knew which of its paths
			 * would be taken; now that is known.
			 */
			if (path->parent->subroot != NULL)
				WalkLevel(path->parent->subroot, ((SubqueryScanPath *) path)->subpath, report);
			break;
		default:
			break;
	}
}

/* Walk one level; its rows replace what an earlier walk gave. */
static void
WalkLevel(PlannerInfo *root, Path *path, PlanReport *report)
{
	ListCell   *lc;

	for (int i = 1; i < root->simple_rel_array_size; i++)
	{
		RelOptInfo *rel = root->simple_rel_array[i];
		BucketRelInfo *info = rel ? BucketRelInfoGet(rel) : NULL;

		if (info != NULL)
		{
			info->feeds = NULL;
			info->in_bucket_join = false;
		}
	}
	foreach(lc, report ? report->rows : NIL)
	{
		if (((ReportRow *) lfirst(lc))->root == root)
			report->rows = foreach_delete_current(report->rows, lc);
	}
	WalkPath(root, path, report);
}

/* Once per message and statement text, as far as memory reaches. */
static bool
LoggedBefore(const char *message)
{
	const char *statement = debug_query_string ? debug_query_string : "";
	uint64		hash = hash_bytes_extended((const unsigned char *) statement, strlen(statement), 0);

	hash = hash_bytes_extended((const unsigned char *) message, strlen(message), hash);
	for (int i = 0; i < LOGGED_MAX; i++)
	{
		if (logged[i] == hash)
			return true;
	}
	logged[logged_next] = hash;
	logged_next = (logged_next + 1) % LOGGED_MAX;
	return false;
}

static void
LogRows(List *rows)
{
	ListCell   *lc;

	foreach(lc, rows)
	{
		ReportRow  *row = lfirst(lc);
		char	   *message;

		if (row->used)
			continue;
		message = psprintf("%s of %s does not use buckets: %s", row->kind, row->relations,
						   ReasonName(row->rejection.code));
		if (LoggedBefore(message))
			continue;
		ereport(LOG,
				(errmsg_internal("%s", message),
				 row->rejection.detail ?
				 errdetail_internal("%s.", RejectionDetail(&row->rejection)) : 0,
				 row->rejection.hint ? errhint("%s", row->rejection.hint) : 0));
	}
}

/* Is this planning the one that was asked about, and not one inside of it? */
static bool
IsAskedAbout(PlannerInfo *root)
{
	if (active_report == NULL)
		return false;
	while (root->parent_root != NULL)
		root = root->parent_root;
	return root->parse == active_report->query;
}

void
PlanReportLevel(PlannerInfo *root, RelOptInfo *final_rel)
{
	bool		asked = IsAskedAbout(root);
	PlanReport	level = {0};
	PlanReport *report = asked ? active_report : bf_log_rejections ? &level : NULL;

	if ((!bf_enable && !asked) || final_rel->pathlist == NIL ||
		!LevelHoldsBucketedTable(root))
		return;
	/* what core does next, to choose the path that its user will most likely take */
	set_cheapest(final_rel);
	WalkLevel(root, get_cheapest_fractional_path(final_rel, root->tuple_fraction), report);
	if (bf_log_rejections)
		LogRows(report->rows);
}

List *
PlanReportCollect(Query *query, const char *text, int cursor_options)
{
	PlanReport	report = {.query = query,.previous = active_report};

	active_report = &report;
	PG_TRY();
	{
		(void) pg_plan_query(query, text, cursor_options, NULL);
	}
	PG_FINALLY();
	{
		active_report = report.previous;
	}
	PG_END_TRY();
	return report.rows;
}

bool
ScanRejection(PlannerInfo *root, RelOptInfo *baserel, Rejection *rejection)
{
	BucketRelInfo *info = BucketRelInfoGet(baserel);
	JoinCandidate join;

	if (info != NULL && !bf_enable)
	{
		/* then nobody has walked the plan */
		bool		feeds = baserel->has_eclass_joins;
		ListCell   *lc;

		foreach(lc, baserel->joininfo)
			feeds |= IsJoinEquality(lfirst_node(RestrictInfo, lc));
		if (!feeds)
			return false;
		memset(rejection, 0, sizeof(*rejection));
		ReasonSay(rejection, REASON_DISABLED, "bucketfdw.enable");
		return true;
	}
	if (info == NULL || info->feeds == NULL)
		return false;
	CandidateOf(root, info->feeds, &join);
	join.no_hints = true;
	JoinPathRejection(root, info->feeds, &join, rejection);
	return true;
}
