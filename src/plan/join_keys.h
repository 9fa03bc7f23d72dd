/*
 * join_keys.h
 *	  Do the clauses of a join equate the bucket columns of both inputs?
 */
#ifndef BF_JOIN_KEYS_H
#define BF_JOIN_KEYS_H

#include "nodes/pathnodes.h"
#include "plan/rel_info.h"

typedef struct JoinKeys
{
	List	   *outer_attnums;	/* integer lists, in bucket_by order */
	List	   *inner_attnums;
	List	   *residual;		/* RestrictInfos that are not key clauses */
} JoinKeys;

/*
 * Match the k-th bucket column of one input with the k-th of the other for
 * every k.  Returns false when some column has no clause, or when the columns
 * differ in number or class.
 */
extern bool JoinKeysFind(PlannerInfo *root, RelOptInfo *outer, RelOptInfo *inner,
						 List *restrictlist, JoinKeys *keys);

#endif							/* BF_JOIN_KEYS_H */
