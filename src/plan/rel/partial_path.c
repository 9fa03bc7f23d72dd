/*
 * partial_path.c
 *	  Paths that several processes work on.
 */
#include "postgres.h"

#include "compat.h"
#include "guc.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "plan/rel/partial_path.h"
#include "plan/rel/rel_info.h"

/*
 * What a worker does beyond what any worker does, as a part of
 * parallel_setup_cost: loading the library, opening files, reading their
 * footers, listing the units.  It takes about 2 ms where workers of core's
 * plans are started and ended in 3.6 ms.
 */
#define START_COST 0.55

int
PartialWorkers(PlannerInfo *root, RelOptInfo *rel, double pages)
{
	if (!rel->consider_parallel || !bms_is_empty(rel->lateral_relids))
		return 0;
	return compute_parallel_worker(rel, pages, -1, max_parallel_workers_per_gather);
}

double
PartialDivisor(int workers)
{
	double		divisor = workers;

	if (parallel_leader_participation)
	{
		double		leader = 1.0 - 0.3 * workers;

		if (leader > 0)
			divisor += leader;
	}
	return divisor;
}

void
MakePartial(Path *path, Cost fixed, int workers)
{
	double		divisor = PartialDivisor(workers);

	path->parallel_aware = true;
	path->parallel_safe = true;
	path->parallel_workers = workers;
	path->rows = clamp_row_est(path->rows / divisor);
	path->startup_cost = fixed + (path->startup_cost - fixed) / divisor + START_COST * parallel_setup_cost;
	path->total_cost = fixed + (path->total_cost - fixed) / divisor + START_COST * parallel_setup_cost;
}

void
BucketAddPartialPath(PlannerInfo *root, RelOptInfo *rel)
{
	int			workers;
	Path	   *path;

	if (!bf_enable)
		return;
	workers = PartialWorkers(root, rel, BucketRelInfoGet(rel)->plain_pages);
	if (workers == 0)
		return;
	path = (Path *) BucketScanPath(root, rel, false, NIL);
	MakePartial(path, path->startup_cost, workers);
	add_partial_path(rel, path);
}
