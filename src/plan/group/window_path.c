/*
 * window_path.c
 *	  Window functions over partitions that are the bucket key.
 *
 * Core's WindowAgg wants the rows of a partition together, in the order of the
 * window; how partitions follow each other does not matter to it.  Its own
 * path says all about the window: run conditions, target, costs.  Ours is that
 * path over other rows.
 */
#include "postgres.h"

#include "compat.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/tlist.h"
#include "plan/group/group_rows.h"
#include "plan/group/window_path.h"

/* Core's path of the only window of the query; NULL: there are several. */
static WindowAggPath *
OnlyWindow(RelOptInfo *input_rel, RelOptInfo *window_rel)
{
	ListCell   *lc;

	foreach(lc, window_rel->pathlist)
	{
		WindowAggPath *path = lfirst(lc);
		Path	   *below;

		if (!IsA(path, WindowAggPath))
			continue;
		below = path->subpath;
		/* IncrementalSortPath begins as SortPath */
		while (IsA(below, SortPath) || IsA(below, IncrementalSortPath))
			below = ((SortPath *) below)->subpath;
		if (below->parent == input_rel)
			return path;
	}
	return NULL;
}

/* How the rows of each key must be sorted for the window. */
static BucketReason
OrderOfWindow(PlannerInfo *root, RelOptInfo *input_rel, const BucketInput *input,
			  WindowClause *window, RowOrder *order)
{
	bool		others;
	BucketReason reason = GroupsByKey(root, input, window->partitionClause, &others);

	memset(order, 0, sizeof(*order));
	if (reason != REASON_NONE)
		return reason;
	if (!RowOrderAddGroups(root, input_rel, input, order, window->partitionClause,
						   root->processed_tlist) ||
		!RowOrderAddClauses(order, input, window->orderClause, root->processed_tlist))
		return REASON_GROUP_KEY_SUPERSET;
	return REASON_NONE;
}

/* Core's path over these rows. */
static Path *
WindowOver(PlannerInfo *root, RelOptInfo *input_rel, const WindowAggPath *core, Path *rows)
{
	WindowAggPath *path = makeNode(WindowAggPath);

	rows = (Path *) create_projection_path(root, input_rel, rows, core->subpath->pathtarget);
	*path = *core;
	path->subpath = rows;
	path->path.pathkeys = NIL;
	path->path.parallel_safe = false;
	path->path.startup_cost = rows->startup_cost +
		Max(0, core->path.startup_cost - core->subpath->startup_cost);
	path->path.total_cost = rows->total_cost +
		core->path.total_cost - core->subpath->total_cost;
	BfSetDisabledNodes(&path->path, rows);
	return (Path *) path;
}

void
WindowAddPaths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *window_rel)
{
	WindowAggPath *core;
	ListCell   *lc;

	if (window_rel->reloptkind != RELOPT_UPPER_REL || root->rowMarks != NIL ||
		root->parse->hasTargetSRFs || IS_DUMMY_REL(input_rel))
		return;
	core = OnlyWindow(input_rel, window_rel);
	if (core == NULL)
		return;
	foreach(lc, BucketInputs(root, input_rel))
	{
		BucketInput *input = lfirst(lc);
		RowOrder	order;
		Path	   *rows;

		if (OrderOfWindow(root, input_rel, input, core->winclause, &order) != REASON_NONE)
			continue;
		/* window functions are not computed in workers, whatever the rows are */
		rows = RowsForGroups(root, input_rel, input, &order, 0);
		if (rows == NULL)
			continue;
		add_path(window_rel, WindowOver(root, input_rel, core, rows));
		return;
	}
}
