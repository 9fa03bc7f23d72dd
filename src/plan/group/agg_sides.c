/*
 * agg_sides.c
 *	  Aggregates over a join for which the rows of frequent keys are counted
 *	  instead of paired.
 *
 * Of the n by m pairs of a key an aggregate that reads the outer rows only sees
 * each of them m times; one that reads the inner rows only, each n times.  So it
 * is enough to know both numbers, where nothing looks at the pair: neither a
 * condition nor an aggregate.  That holds for groups too, if a group has whole
 * keys, and for outer joins, whose rows without a match are paired with
 * nothing as ever.  Semi and anti joins make no pairs.  What an aggregate adds
 * up must not depend on the order, as rounding errors of floats do.
 */
#include "postgres.h"

#include "exec/agg/vector_agg.h"
#include "optimizer/optimizer.h"
#include "plan/group/agg_sides.h"
#include "plan/join/join_cost.h"
#include "plan/join/join_path.h"
#include "plan/join/join_plan.h"

/* Is the aggregate over m times the same rows known from that over the rows? */
static bool
Multiplies(const Aggref *aggref)
{
	const VectorAgg *fn = VectorAggOf(aggref);

	return fn != NULL && (fn->multiply || fn->keeps_best);
}

/* The side whose columns an aggregate reads, 0 when it reads none, -1 when it reads both. */
static int
SideOf(Aggref *aggref, Relids outer_relids)
{
	int			side = -1;
	ListCell   *lc;

	foreach(lc, pull_var_clause((Node *) list_make2(aggref->args, aggref->aggfilter),
								PVC_RECURSE_PLACEHOLDERS))
	{
		int			here = bms_is_member(lfirst_node(Var, lc)->varno, outer_relids) ? 0 : 1;

		if (side >= 0 && side != here)
			return -1;
		side = here;
	}
	return Max(side, 0);
}

List *
CountedSides(const Path *path, List *outputs)
{
	const BucketJoinPath *join = (const BucketJoinPath *) path;
	Relids		outer_relids;
	List	   *sides = NIL;
	JoinType	jointype;
	ListCell   *lc;

	if (!IsBucketJoinPath((Path *) path, &jointype) ||
		(jointype != JOIN_INNER && jointype != JOIN_LEFT && jointype != JOIN_FULL) ||
		join->residual != NIL || join->otherquals != NIL)
		return NIL;
	outer_relids = join->outer->path->parent->relids;
	foreach(lc, outputs)
	{
		Aggref	   *aggref = lfirst(lc);
		int			side = 0;

		if (IsA(aggref, Aggref))
		{
			if (!Multiplies(aggref))
				return NIL;
			side = SideOf(aggref, outer_relids);
			if (side < 0)
				return NIL;
		}
		sides = lappend_int(sides, side);
	}
	return sides;
}

double
CountedRows(const Path *path)
{
	double		rows = 0;
	ListCell   *lc;

	foreach(lc, ((const CustomPath *) path)->custom_paths)
		rows += ((Path *) lfirst(lc))->parent->rows;
	return Min(path->parent->rows, rows);
}

Path *
CountedJoinPath(const Path *path)
{
	Path	   *result = palloc(sizeof(BucketJoinPath));

	memcpy(result, path, sizeof(BucketJoinPath));
	result->total_cost -= PairsCost(path->parent->rows - CountedRows(path));
	result->startup_cost = Min(result->startup_cost, result->total_cost);
	return result;
}
