/*
 * agg_fused.c
 *	  Aggregates computed on batches, of all rows or of each bucket key.
 */
#include "postgres.h"

#include <math.h>

#include "access/stratnum.h"
#include "catalog/pg_type_d.h"
#include "compat.h"
#include "exec/agg/vector_agg.h"
#include "exec/agg/bucket_agg.h"
#include "exec/agg/expr/vector_exprs.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planner.h"
#include "optimizer/prep.h"
#include "optimizer/tlist.h"
#include "plan/join/join_check.h"
#include "plan/group/agg_fused.h"
#include "plan/group/agg_sides.h"
#include "plan/join/join_plan.h"
#include "plan/key/bucketed.h"
#include "plan/key/key_expr.h"
#include "plan/rel/batch_qual.h"
#include "plan/rel/scan_path.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

/* advancing an aggregate by a row, or comparing a key with the one before, in units of cpu_operator_cost */
#define ADVANCE_COST 0.1
/* the same of finding the group of a row by a column; and what is added each time that the groups' memory doubles
 * beyond what caches hold */
#define HASH_COST 0.4
#define HASH_MISS_COST 0.1
#define HASH_CACHE_BYTES (512.0 * 1024)
/* putting a row before an expression, in the same units */
#define EXPRESSION_COST 0.5
/* what is left of the cost of an expression that is computed for all rows of a batch at once */
#define VECTOR_SHARE 0.2
/* memory of a group, besides its cells and values */
#define GROUP_BYTES 64

/* Positions in CustomPath.custom_private. */
enum AggPathPrivateIndex
{
	PATH_OUTPUTS,				/* aggregate calls and columns that are grouped by */
	PATH_INPUTS,				/* columns that expressions in aggregates read */
	PATH_HAVING,
	PATH_KEYS,					/* Vars of the input */
	PATH_MODE,					/* integer list of two: BucketAggMode, BucketAggStage */
	PATH_SIDES					/* as AGG_PRIVATE_SIDES, of the outputs */
};

/* What a BucketAggregate computes. */
typedef struct AggOutputs
{
	List	   *outputs;		/* as PATH_OUTPUTS */
	List	   *inputs;			/* as PATH_INPUTS */
	int			naggs;
	Cost		per_row;		/* of expressions in aggregates */
} AggOutputs;

static Plan *PlanBucketAgg(PlannerInfo *root, RelOptInfo *rel, struct CustomPath *best_path,
						   List *tlist, List *clauses, List *custom_plans);

static const CustomPathMethods bucket_agg_path_methods = {
	.CustomName = "BucketAggregate",
	.PlanCustomPath = PlanBucketAgg,
};

/* The argument of an aggregate, without casts that change nothing; NULL: it needs none. */
static Node *
AggArgument(const Aggref *aggref)
{
	const VectorAgg *fn = VectorAggOf(aggref);

	if ((fn && fn->counts_rows) || aggref->args == NIL)
		return NULL;
	return StripRelabels((Node *) linitial_node(TargetEntry, aggref->args)->expr);
}

/*
 * Can an expression in an aggregate be computed row by row of a batch?  Its
 * columns are added to the inputs.
 */
static bool
ComputedHere(PlannerInfo *root, Node *expr, AggOutputs *result)
{
	QualCost	cost;
	List	   *conditions = NIL;
	ListCell   *lc;

	if (contain_volatile_functions(expr) || contain_subplans(expr))
		return false;
	foreach(lc, pull_var_clause(expr, PVC_INCLUDE_PLACEHOLDERS))
	{
		Var		   *var = lfirst(lc);

		if (!IsA(var, Var) || var->varattno <= 0 || var->varlevelsup > 0)
			return false;
		result->inputs = list_append_unique(result->inputs, var);
	}
	if (VectorExprsTakes(expr, &conditions))
	{
		cost_qual_eval_node(&cost, expr, root);
		result->per_row += VECTOR_SHARE * (cost.startup + cost.per_tuple);
		expr = (Node *) conditions;
	}
	if (expr != NULL)
	{
		cost_qual_eval_node(&cost, expr, root);
		result->per_row += cost.startup + cost.per_tuple + EXPRESSION_COST * cpu_operator_cost;
	}
	return true;
}

static bool
AddAggregate(PlannerInfo *root, Aggref *aggref, AggOutputs *result)
{
	const VectorAgg *fn = VectorAggOf(aggref);
	Node	   *arg = AggArgument(aggref);

	if (fn == NULL || (!fn->counts_rows && arg == NULL))
		return false;
	if (list_member(result->outputs, aggref))
		return true;
	if (arg != NULL && (IsA(arg, Var) ? ((Var *) arg)->varattno <= 0 : !ComputedHere(root, arg, result)))
		return false;
	if (aggref->aggfilter != NULL && !ComputedHere(root, (Node *) aggref->aggfilter, result))
		return false;
	result->outputs = lappend(result->outputs, aggref);
	result->naggs++;
	return true;
}

/* What expressions are made of. */
typedef struct PartSearch
{
	List	   *columns;		/* what is grouped by, expressions too: parts as they stand */
	List	   *found;
} PartSearch;

static bool
FindParts(Node *node, void *context)
{
	PartSearch *search = context;

	if (node == NULL)
		return false;
	if (IsA(node, Aggref) || IsA(node, GroupingFunc) || IsA(node, Var) || IsA(node, PlaceHolderVar) ||
		list_member(search->columns, node))
	{
		search->found = lappend(search->found, node);
		return false;
	}
	return expression_tree_walker(node, FindParts, context);
}

/* Does an expression hold one of those that are grouped by? */
static bool
HoldsComputed(Node *node, void *context)
{
	return node != NULL &&
		((!IsA(node, Var) && list_member(context, node)) || expression_tree_walker(node, HoldsComputed, context));
}

/*
 * What the expressions are computed from: aggregate calls and columns to group
 * by (NIL: the keys of the input), each once, in the order of their first use.
 * False when anything of it is core's to compute.
 */
static bool
BatchOutputs(PlannerInfo *root, const BucketInput *input, List *columns, List *exprs,
			 AggOutputs *result)
{
	PartSearch	search = {.columns = columns};
	ListCell   *lc;

	(void) FindParts((Node *) exprs, &search);
	memset(result, 0, sizeof(*result));
	foreach(lc, search.found)
	{
		Node	   *node = lfirst(lc);

		if (IsA(node, Aggref))
		{
			/* the place of such an expression has no value before there are groups */
			if (!AddAggregate(root, (Aggref *) node, result) || HoldsComputed(node, columns))
				return false;
		}
		else if (columns == NIL ? !IsA(node, Var) || BucketInputKey(input, node) < 0 : !list_member(columns, node))
			return false;
		else
			result->outputs = list_append_unique(result->outputs, node);
	}
	return true;
}

/* Cost of advancing the aggregates by a row, in units of cpu_operator_cost. */
static double
AdvanceCost(const AggOutputs *outputs, BucketAggMode mode)
{
	double		cost = 0;
	ListCell   *lc;

	foreach(lc, outputs->outputs)
	{
		Aggref	   *aggref = lfirst(lc);

		if (!IsA(aggref, Aggref))
			continue;
		/* without groups, all rows of a batch are counted at once */
		if (mode == BUCKET_AGG_ALL && VectorAggOf(aggref)->counts_rows &&
			aggref->aggfilter == NULL)
			continue;
		cost += ADVANCE_COST;
	}
	return cost;
}

/* Memory of so many groups. */
static double
GroupMemory(RelOptInfo *input_rel, const AggOutputs *outputs, double ngroups)
{
	return ngroups * (GROUP_BYTES + outputs->naggs * (sizeof(AggCell) + 16.0) +
					  input_rel->reltarget->width);
}

/* Cost of finding the group of a row by a hash of one of its columns, in units of cpu_operator_cost. */
static double
HashCost(RelOptInfo *input_rel, const AggOutputs *outputs, double ngroups)
{
	return HASH_COST +
		HASH_MISS_COST * log2(Max(GroupMemory(input_rel, outputs, ngroups) / HASH_CACHE_BYTES, 1.0));
}

/* A path without its costs. */
static CustomPath *
MakeCustomPath(RelOptInfo *output_rel, PathTarget *target, Path *child, List *private, List *sides)
{
	CustomPath *path = makeNode(CustomPath);

	path->path.pathtype = T_CustomScan;
	path->path.parent = output_rel;
	path->path.pathtarget = target;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->methods = &bucket_agg_path_methods;
	path->custom_paths = list_make1(child);
	path->custom_private = lappend(private, sides);
	return path;
}

/* Add what HAVING and the target cost, and the rows that are left. */
static void
AddResultCosts(PlannerInfo *root, Path *path, List *having, bool grouped)
{
	PathTarget *target = path->pathtarget;
	double		ngroups = path->rows;
	QualCost	cost;

	if (having != NIL)
	{
		cost_qual_eval(&cost, having, root);
		path->startup_cost += cost.startup + (grouped ? 0 : cost.per_tuple);
		path->total_cost += cost.startup + ngroups * cost.per_tuple;
		if (grouped)
			path->rows = clamp_row_est(ngroups * clauselist_selectivity(root, having, 0, JOIN_INNER,
																		NULL));
	}
	path->startup_cost += target->cost.startup;
	path->total_cost += target->cost.startup + target->cost.per_tuple * path->rows;
}

/*
 * The path that computes the outputs from an input; columns are the Vars to
 * group by, NIL: one group of all rows.
 */
static CustomPath *
MakeAggPath(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel, PathTarget *target,
			const BucketInput *input, const AggOutputs *outputs, List *having, List *columns,
			BucketAggMode mode, BucketAggStage stage, double ngroups)
{
	List	   *keys = mode == BUCKET_AGG_BY_KEY ? columns : FirstVars(input);
	/* groups by other columns than the key see some of its pairs only */
	List	   *sides = mode == BUCKET_AGG_HASHED ? NIL : CountedSides(input->path, outputs->outputs);
	Path	   *child = sides != NIL ? CountedJoinPath(input->path) : input->path;
	double		rows = sides != NIL ? CountedRows(input->path) : input_rel->rows;
	CustomPath *path = MakeCustomPath(output_rel, target, child,
									  list_make5(outputs->outputs, outputs->inputs, having, keys,
												 list_make2_int(mode, stage)), sides);
	double		work = AdvanceCost(outputs, mode) +
		list_length(columns) * (mode == BUCKET_AGG_HASHED ? HashCost(input_rel, outputs, ngroups) : 2 * ADVANCE_COST);

	path->path.parallel_safe = output_rel->consider_parallel && !input->holds_routed;
	path->path.rows = ngroups;
	path->path.total_cost = child->total_cost + ngroups * cpu_tuple_cost +
		rows * (work * cpu_operator_cost + outputs->per_row);
	path->path.startup_cost = mode == BUCKET_AGG_BY_KEY ? child->startup_cost :
		path->path.total_cost - ngroups * cpu_tuple_cost;
	AddResultCosts(root, &path->path, having, columns != NIL);
	return path;
}

/* How many processes can share the work of a path over the input; 0: it is for one. */
static int
AggWorkers(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel,
		   const BucketInput *input)
{
	if (!output_rel->consider_parallel || input->holds_routed)
		return 0;
	return PartialWorkers(root, input_rel, input->pages);
}

/*
 * What each of several processes computes: columns to group by, and a partial
 * aggregate for each aggregate call, as core marks it.  With "packed" its
 * value is a packed cell, else core's transition value.
 */
static PathTarget *
PartialTarget(PlannerInfo *root, const AggOutputs *outputs, bool packed, AggOutputs *partial)
{
	PathTarget *target = create_empty_pathtarget();
	ListCell   *lc;

	*partial = *outputs;
	partial->outputs = NIL;
	foreach(lc, outputs->outputs)
	{
		Expr	   *output = copyObject(lfirst(lc));

		if (IsA(output, Aggref))
		{
			Aggref	   *aggref = (Aggref *) output;

			mark_partial_aggref(aggref, AGGSPLIT_INITIAL_SERIAL);
			if (packed)
			{
				aggref->aggtype = BYTEAOID;
				aggref->aggcollid = InvalidOid;
			}
		}
		partial->outputs = lappend(partial->outputs, output);
		add_column_to_pathtarget(target, output, 0);
	}
	return set_pathtarget_cost_width(root, target);
}

/* Is the result of every aggregate its transition value, which core can combine? */
static bool
ResultsCombine(const AggOutputs *outputs)
{
	ListCell   *lc;

	foreach(lc, outputs->outputs)
	{
		Aggref	   *aggref = lfirst(lc);

		if (IsA(aggref, Aggref) && aggref->aggtranstype != aggref->aggtype)
			return false;
	}
	return true;
}

/*
 * The same in several processes.  Above Gather core's aggregate combines the
 * results of one group if it can, else a BucketAggregate.
 */
static void
AddPartialAggPath(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel,
				  const BucketInput *input, const AggOutputs *outputs, List *having,
				  List *columns, double ngroups)
{
	BucketAggMode mode = columns != NIL ? BUCKET_AGG_HASHED : BUCKET_AGG_ALL;
	bool		packed = columns != NIL || !ResultsCombine(outputs);
	PathTarget *target;
	AggOutputs	partial;
	CustomPath *path;
	Path	   *gather;
	AggClauseCosts costs;
	double		rows;
	int			workers = AggWorkers(root, input_rel, grouped_rel, input);

	if (workers == 0)
		return;
	target = PartialTarget(root, outputs, packed, &partial);
	path = MakeAggPath(root, input_rel, grouped_rel, target, input, &partial, NIL, columns, mode,
					   packed ? BUCKET_AGG_PARTIAL : BUCKET_AGG_COMPLETE, ngroups);
	/* all of its cost stands before its first row; each process may have all groups */
	path->path.total_cost = path->path.startup_cost;
	MakePartial((Path *) path, 0, workers);
	path->path.rows = ngroups;
	path->path.total_cost += ngroups * cpu_tuple_cost;
	rows = ngroups * (workers + 1);
	gather = (Path *) create_gather_path(root, grouped_rel, (Path *) path, target, NULL, &rows);
	if (!packed)
	{
		MemSet(&costs, 0, sizeof(costs));
		get_agg_clause_costs(root, AGGSPLIT_FINAL_DESERIAL, &costs);
		add_path(grouped_rel, (Path *)
				 create_agg_path(root, grouped_rel, gather, grouped_rel->reltarget, AGG_PLAIN,
								 AGGSPLIT_FINAL_DESERIAL, NIL, having, &costs, 1));
		return;
	}
	path = MakeCustomPath(grouped_rel, grouped_rel->reltarget, gather,
						  list_make5(outputs->outputs, NIL, having, NIL,
									 list_make2_int(mode, BUCKET_AGG_FINAL)), NIL);
	path->path.rows = ngroups;
	path->path.startup_cost = gather->total_cost +
		rows * cpu_operator_cost * (outputs->naggs + list_length(columns));
	path->path.total_cost = path->path.startup_cost + ngroups * cpu_tuple_cost;
	AddResultCosts(root, &path->path, having, columns != NIL);
	add_path(grouped_rel, (Path *) path);
}

/* Is it a parameter that is computed within the plan? */
static bool
HasExecParam(Node *node, void *context)
{
	return node != NULL && ((IsA(node, Param) && ((Param *) node)->paramkind != PARAM_EXTERN) ||
							expression_tree_walker(node, HasExecParam, context));
}

/*
 * The columns to group by when groups can be found by a hash of them: types
 * with a key class, compared as the class does.  NIL: they cannot.  They may
 * be expressions, of which core finds out what else they depend on in places
 * only where these do not stand.
 */
static List *
HashColumns(PlannerInfo *root)
{
	List	   *columns = NIL;
	ListCell   *lc;

	foreach(lc, BfGroupClause(root))
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		Node	   *expr = get_sortgroupclause_expr(clause, root->processed_tlist);
		KeyClass	keyclass;

		if (KeyOperatorStrategy(clause->eqop, &keyclass) != BTEqualStrategyNumber ||
			!CollationAllows(keyclass, exprCollation(expr), false))
			return NIL;
		expr = StripRelabels(expr);
		if (KeyClassOfType(getBaseType(exprType(expr))) != keyclass)
			return NIL;
		if (IsA(expr, Var) ? ((Var *) expr)->varattno <= 0 :
			!contain_var_clause(expr) || HasExecParam(expr, NULL))
			return NIL;
		columns = list_append_unique(columns, expr);
	}
	return columns;
}

void
FusedAggPath(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel)
{
	Query	   *parse = root->parse;
	List	   *having = (List *) parse->havingQual;
	List	   *columns = NIL;
	double		ngroups = 1;
	AggOutputs	outputs;
	BucketInput *best = NULL;
	ListCell   *lc;

	if ((!parse->hasAggs && parse->groupClause == NIL) || parse->groupingSets != NIL ||
		parse->hasTargetSRFs || RowsAreRechecked(root) || IS_DUMMY_REL(input_rel) ||
		grouped_rel->reloptkind != RELOPT_UPPER_REL || root->numOrderedAggs > 0 ||
		!bms_is_empty(input_rel->lateral_relids))
		return;
	if (parse->groupClause != NIL)
	{
		columns = enable_hashagg ? HashColumns(root) : NIL;
		if (columns == NIL)
			return;
	}
	/* no order is wanted; of joins, batches come in that of their keys */
	if (input_rel->reloptkind == RELOPT_BASEREL && input_rel->rtekind == RTE_RELATION)
		best = UnorderedInput(root, input_rel, columns);
	else
	{
		foreach(lc, BucketInputs(root, input_rel))
		{
			BucketInput *input = lfirst(lc);

			if (best == NULL || input->path->total_cost < best->path->total_cost)
				best = input;
		}
	}
	if (best == NULL)
		return;
	if (columns != NIL)
		ngroups = estimate_num_groups(root, columns, input_rel->rows, NULL, NULL);
	if (!BatchOutputs(root, best, columns,
					  list_concat_copy(grouped_rel->reltarget->exprs, having), &outputs) ||
		outputs.outputs == NIL || (columns == NIL && outputs.naggs < list_length(outputs.outputs)) ||
		(columns != NIL && GroupMemory(input_rel, &outputs, ngroups) > get_hash_memory_limit()))
		return;
	/* all of the columns, also those that are not shown */
	foreach(lc, columns)
	{
		outputs.outputs = list_append_unique(outputs.outputs, lfirst(lc));
		if (!IsA(lfirst(lc), Var) && !ComputedHere(root, lfirst(lc), &outputs))
			return;
	}
	add_path(grouped_rel, (Path *)
			 MakeAggPath(root, input_rel, grouped_rel, grouped_rel->reltarget, best, &outputs, having,
						 columns, columns != NIL ? BUCKET_AGG_HASHED : BUCKET_AGG_ALL,
						 BUCKET_AGG_COMPLETE, ngroups));
	AddPartialAggPath(root, input_rel, grouped_rel, best, &outputs, having, columns, ngroups);
}

/* The column that stands for each key in the grouping clauses, or in the input, in the order of the keys. */
static List *
GroupedVars(const BucketInput *input, List *exprs)
{
	List	   *vars = NIL;

	for (int k = 0; k < input->nkeys; k++)
	{
		/* of a merged key, and of one that is fixed to a value and not grouped by */
		Node	   *column = linitial(input->vars[k]);
		ListCell   *lc;

		foreach(lc, exprs)
		{
			Node	   *expr = StripCasts(lfirst(lc));

			if (BucketInputKey(input, expr) != k)
				continue;
			if (IsA(expr, Var))
				column = expr;
			break;
		}
		vars = lappend(vars, column);
	}
	return vars;
}

bool
FusedByKey(const Path *path)
{
	const CustomPath *custom = (const CustomPath *) path;

	return IsA(path, CustomPath) && custom->methods == &bucket_agg_path_methods &&
		linitial_int(list_nth(custom->custom_private, PATH_MODE)) == BUCKET_AGG_BY_KEY;
}

bool
FusedHashed(const Path *path)
{
	const CustomPath *custom = (const CustomPath *) path;
	List	   *mode;

	if (!IsA(path, CustomPath) || custom->methods != &bucket_agg_path_methods)
		return false;
	mode = list_nth(custom->custom_private, PATH_MODE);
	return linitial_int(mode) == BUCKET_AGG_HASHED && lsecond_int(mode) != BUCKET_AGG_PARTIAL;
}

List *
GroupingClauses(PlannerInfo *root, bool distinct)
{
	return distinct ? BfDistinctClause(root) : BfGroupClause(root);
}

Path *
FusedGroupingPath(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel,
				  bool distinct, const BucketInput *input, bool partial)
{
	int			workers = partial ? AggWorkers(root, input_rel, output_rel, input) : 0;
	/* core leaves the distinct relation's own target empty */
	PathTarget *target = distinct ? input_rel->reltarget : output_rel->reltarget;
	List	   *having = distinct ? NIL : (List *) root->parse->havingQual;
	List	   *exprs = get_sortgrouplist_exprs(GroupingClauses(root, distinct),
												root->processed_tlist);
	AggOutputs	outputs;
	Path	   *path;

	if ((partial && workers == 0) || !bms_is_empty(input_rel->lateral_relids) ||
		!BatchOutputs(root, input, NIL, list_concat_copy(target->exprs, having), &outputs) ||
		outputs.outputs == NIL)
		return NULL;
	path = (Path *) MakeAggPath(root, input_rel, output_rel, target, input, &outputs, having,
								GroupedVars(input, exprs), BUCKET_AGG_BY_KEY, BUCKET_AGG_COMPLETE,
								estimate_num_groups(root, exprs, input_rel->rows, NULL, NULL));
	if (partial)
		MakePartial(path, path->startup_cost, workers);
	return path;
}

/* Add an entry to what the scan tuple is made of. */
static void
AddOutput(CustomScan *cscan, Node *output, BucketAggRole role, List **roles)
{
	AttrNumber	resno = (AttrNumber) (list_length(cscan->custom_scan_tlist) + 1);

	cscan->custom_scan_tlist = lappend(cscan->custom_scan_tlist,
									   makeTargetEntry((Expr *) copyObject(output), resno, NULL, false));
	*roles = lappend_int(*roles, role);
}

/* Add an expression that is computed from the input columns; returns its place. */
static int
AddExpression(CustomScan *cscan, Node *expr)
{
	cscan->custom_exprs = lappend(cscan->custom_exprs, copyObject(expr));
	return list_length(cscan->custom_exprs) - 1;
}

/* Make the Vars of an expression those of the scan tuple. */
static Node *
ReadScanTuple(Node *node, void *context)
{
	List	   *tlist = context;
	ListCell   *lc;

	if (node == NULL || !IsA(node, Var))
		return node == NULL ? NULL : expression_tree_mutator(node, ReadScanTuple, context);
	foreach(lc, tlist)
	{
		if (equal(lfirst_node(TargetEntry, lc)->expr, node))
			return (Node *) makeVarFromTargetEntry(INDEX_VAR, lfirst(lc));
	}
	elog(ERROR, "column of an expression to group by is not read");
	return NULL;
}

static Plan *
PlanBucketAgg(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
			  List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *cscan = makeNode(CustomScan);
	Plan	   *child = linitial(custom_plans);
	List	   *private = best_path->custom_private;
	bool		final = lsecond_int(list_nth(private, PATH_MODE)) == BUCKET_AGG_FINAL;
	BatchSourceKind kind = KindOfChild(child);
	List	   *roles = NIL;
	List	   *columns = NIL;
	List	   *args = NIL;
	List	   *filters = NIL;
	List	   *exprs = NIL;
	List	   *computed = NIL;
	ListCell   *lc;

	foreach(lc, (List *) list_nth(private, PATH_OUTPUTS))
	{
		Node	   *output = lfirst(lc);
		Aggref	   *aggref = IsA(output, Aggref) ? (Aggref *) output : NULL;
		Node	   *arg = aggref ? AggArgument(aggref) : output;
		bool		column = arg && IsA(arg, Var);

		AddOutput(cscan, output, aggref ? BUCKET_AGG_AGGREGATE : BUCKET_AGG_COLUMN, &roles);
		columns = lappend_int(columns, final ? foreach_current_index(lc) :
							  column ? ColumnOfChild(child, kind, arg) : -1);
		if (aggref == NULL && !column && !final)
		{
			args = lappend_int(args, list_length(exprs));
			exprs = lappend(exprs, arg);
		}
		else
			args = lappend_int(args, !final && arg && !column ? AddExpression(cscan, arg) : -1);
		filters = lappend_int(filters, !final && aggref && aggref->aggfilter ?
							  AddExpression(cscan, (Node *) aggref->aggfilter) : -1);
	}
	foreach(lc, (List *) list_nth(private, PATH_INPUTS))
	{
		/* what is grouped by stands there already */
		if (list_member(list_nth(private, PATH_OUTPUTS), lfirst(lc)))
			continue;
		AddOutput(cscan, lfirst(lc), BUCKET_AGG_INPUT, &roles);
		columns = lappend_int(columns, ColumnOfChild(child, kind, lfirst(lc)));
		args = lappend_int(args, -1);
		filters = lappend_int(filters, -1);
	}
	foreach(lc, exprs)
	{
		Node	   *expr = ReadScanTuple(lfirst(lc), cscan->custom_scan_tlist);

		fix_opfuncids(expr);
		computed = lappend(computed, expr);
	}
	cscan->scan.plan.targetlist = tlist;
	cscan->scan.plan.qual = list_nth(private, PATH_HAVING);
	cscan->scan.scanrelid = 0;
	cscan->flags = best_path->flags;
	cscan->custom_plans = custom_plans;
	cscan->custom_private = list_concat(list_make5(roles, columns, args, filters,
												   KeyColumns(child, kind, list_nth(private, PATH_KEYS))),
										list_make4(list_make1_int(kind), list_nth(private, PATH_MODE),
												   list_nth(private, PATH_SIDES), computed));
	cscan->methods = &bucket_agg_scan_methods;
	return (Plan *) cscan;
}
