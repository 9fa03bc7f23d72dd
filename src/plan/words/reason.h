/*
 * reason.h
 *	  Why a join or an aggregation does not use buckets.
 *
 * The planner's tests return a code and keep what it is about; texts are
 * built only for somebody who asks: EXPLAIN, why_not, log_rejections.
 */
#ifndef BF_REASON_H
#define BF_REASON_H

#include "nodes/pathnodes.h"
#include "spec/bucket_spec.h"

typedef enum BucketReason
{
#define BF_REASON(code, name, detail, hint) code,
#include "plan/words/reason_list.h"
#undef BF_REASON
} BucketReason;

/* A reason in words.  costs are apart, for EXPLAIN (COSTS OFF). */
typedef struct Rejection
{
	BucketReason code;
	char	   *relation;		/* NULL, or the name of a relation that is to blame */
	char	   *detail;			/* what stands against it; no period */
	char	   *costs;			/* NULL, or what follows the detail in parentheses */
	char	   *hint;			/* NULL, or what would help, one or more sentences */
} Rejection;

/* The name of a code, as users see it. */
extern const char *ReasonName(BucketReason code);

/* The code of a name. */
extern BucketReason ReasonOfName(const char *name);

/* Fill in a rejection whose texts are always the same, but for what they are about. */
extern void ReasonSay(Rejection *rejection, BucketReason code, const char *about);

/* The code, and the relation to blame: "cost", "not_bucketed: vips". */
extern char *RejectionShort(const Rejection *rejection);

/* detail and costs in one. */
extern char *RejectionDetail(const Rejection *rejection);

/*
 * Names of things of a query.  RelationLabel: the alias, as EXPLAIN shows it;
 * a join as "(a, b)".  RelationTitle: table and alias.
 */
#define RelationLabel(root, relids) RelationLabels(root, relids, false)
#define RelationTitle(root, relids) RelationLabels(root, relids, true)
extern char *RelationLabels(PlannerInfo *root, Relids relids, bool title);
extern char *ColumnLabel(PlannerInfo *root, Var *var);

/* The name of a table, with its schema where search_path does not find it. */
extern char *TableLabel(Oid relid);

/* The type of a column, as declared. */
extern char *ColumnType(Var *var);

/* The table, called label, has files whose rows were placed by another version of the hash. */
extern void HashVersionReason(Oid relid, const char *label, int version, Rejection *rejection);

/* "x", "x and y" or "x, y and z" of a list of C strings. */
extern char *WordList(List *words);

/* Names (String nodes) of the bucket columns of a table. */
extern List *BucketColumnNames(Oid relid, const BucketSpec *spec);

/* Names (String nodes) as SQL writes them, as C strings. */
extern List *QuotedNames(List *names);

/*
 * The statement that makes a bucketed copy of a table.  columns are the
 * bucket columns (String nodes); types (C strings, or NULL elements, or NIL)
 * what they are cast to.  The copy gets a name that is free; the nth such
 * name, from 0, for several copies of one table.
 */
extern char *BucketedCopyStatement(Oid relid, List *columns, List *types, int nbuckets, int nth);

#endif							/* BF_REASON_H */
