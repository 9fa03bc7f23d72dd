/*
 * join_route.h
 *	  Cost of routing the rows of an input to buckets.  The ways themselves:
 *	  JoinRoutes in join_check.h.
 */
#ifndef BF_JOIN_ROUTE_H
#define BF_JOIN_ROUTE_H

#include "plan/bucketed.h"

/* Hashing, sorting and reading back the rows, without making them; 0 for an input that is bucketed. */
extern Cost RoutingCost(const BucketInput *input);

#endif							/* BF_JOIN_ROUTE_H */
