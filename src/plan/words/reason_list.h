/*
 * reason_list.h
 *	  Why a join or an aggregation does not use buckets: all codes.
 *
 * BF_REASON(code, name, detail, hint): the name is stable, users' scripts
 * compare with it.  Detail and hint stand here where they are always the same
 * but for what they are about (%s), of joins or of groupings; the other kind
 * words the reason itself.  No include guard: see reason.h.
 */
BF_REASON(REASON_NONE, "none", NULL, NULL)
BF_REASON(REASON_DISABLED, "disabled", "%s is off", "SET %s = on;")
BF_REASON(REASON_NOT_BUCKETED, "not_bucketed", NULL, NULL)
BF_REASON(REASON_SUBQUERY, "subquery", NULL, NULL)
BF_REASON(REASON_SUBPLAN, "subplan",
		  "a condition on %s has a subquery that cannot be made a join: NOT IN, or IN or EXISTS under OR or NOT",
		  "NOT EXISTS can be made a join, and differs from NOT IN where a compared value is NULL; the branches of an OR can be queries of their own, put together by UNION, which removes equal rows.")
BF_REASON(REASON_PARTITIONED, "partitioned",
		  "%s is joined partition by partition; bucketed partitions are joined all at once or not by buckets",
		  "SET enable_partitionwise_join = off;")
BF_REASON(REASON_PARTITION_MIX, "partition_mix", NULL, NULL)
BF_REASON(REASON_KEY_NOT_EQUAL_JOINED, "key_not_equal_joined", NULL, NULL)
BF_REASON(REASON_EXPRESSION_ON_KEY, "expression_on_key", NULL, NULL)
BF_REASON(REASON_TYPE_CLASS, "type_class",
		  "the grouping compares the bucket column as another type",
		  "If the cast makes no values equal that differ without it, group by the column itself.")
BF_REASON(REASON_COLLATION, "collation",
		  "the grouping compares the bucket column under a nondeterministic collation",
		  "If only identical texts are to be one group, group under a deterministic collation.")
BF_REASON(REASON_JOIN_KEYS_SUBSET, "join_keys_subset", NULL, NULL)
BF_REASON(REASON_BUCKET_COLUMN_ORDER, "bucket_column_order", NULL, NULL)
BF_REASON(REASON_BUCKET_COLUMNS_DIFFER, "bucket_columns_differ", NULL, NULL)
BF_REASON(REASON_CONSTANT_KEY, "constant_key",
		  "all that is grouped by is constant: there is one group",
		  "Nothing is to be done: the scan reads the bucket of the constant only.")
BF_REASON(REASON_OLD_HASH_VERSION, "old_hash_version", NULL, NULL)
BF_REASON(REASON_OUTER_JOIN_POSITION, "outer_join_position", NULL, NULL)
BF_REASON(REASON_ROW_MARKS, "row_marks",
		  "the query locks rows of its tables",
		  "Group in WITH g AS MATERIALIZED (...).")
BF_REASON(REASON_VOLATILE, "volatile",
		  "a join condition is volatile: its value may differ at each call",
		  "Put the join into a subquery with OFFSET 0 and the volatile condition outside.")
BF_REASON(REASON_ONE_TIME_FILTER, "one_time_filter",
		  "a condition without columns is tested once for the whole join",
		  "Put the join into a subquery with OFFSET 0 and that condition outside.")
BF_REASON(REASON_LATERAL, "lateral",
		  "%s refers to a column of another relation by LATERAL",
		  "If the subquery only computes expressions, compute those that need both sides above the join, in the SELECT list; of an outer join as CASE WHEN its bucket column IS NOT NULL THEN ... END.")
BF_REASON(REASON_PLACEHOLDER, "placeholder",
		  "an expression of a subquery has to be computed in %s, below an outer join that may set it to NULL",
		  "Give the columns out of the subquery and compute the expression above the outer join, as CASE WHEN its bucket column IS NOT NULL THEN ... END: it is NULL in rows without a match.")
BF_REASON(REASON_SYSTEM_COLUMN, "system_column",
		  "a whole row or tableoid of a table in %s is asked for, which a chain of bucket joins does not carry",
		  "Name the columns in place of the whole row.")
BF_REASON(REASON_PROVEN_EMPTY, "proven_empty",
		  "%s is proven to have no rows",
		  "Nothing is to be done: no row of it is read.")
BF_REASON(REASON_COST, "cost", NULL, NULL)
BF_REASON(REASON_MANY_RUNS, "many_runs", NULL, NULL)
BF_REASON(REASON_SMALL_TABLE, "small_table", NULL, NULL)
/* of aggregations only */
BF_REASON(REASON_KEY_NOT_GROUPED, "key_not_grouped", NULL, NULL)
BF_REASON(REASON_GROUP_KEY_SUBSET, "group_key_subset", NULL, NULL)
BF_REASON(REASON_GROUP_KEY_SUPERSET, "group_key_superset", NULL, NULL)
BF_REASON(REASON_GROUPING_SETS, "grouping_sets",
		  "grouping sets (also ROLLUP and CUBE) group the rows several times",
		  "If the aggregates can be computed in two steps, group by the bucket columns in a subquery, and its rows once more above it.")
BF_REASON(REASON_ORDERED_AGGREGATE, "ordered_aggregate",
		  "PostgreSQL sorts the rows below the aggregation for an aggregate with DISTINCT or ORDER BY",
		  "With SET enable_presorted_aggregate = off; the aggregate sorts the rows of its group itself.")
BF_REASON(REASON_SET_RETURNING, "set_returning",
		  "a set-returning function stands in the SELECT list",
		  "Group in a subquery with OFFSET 0 and call the function above it.")
BF_REASON(REASON_DISTINCT_ON, "distinct_on",
		  "DISTINCT ON takes the first row by an order, and buckets give their rows by key only",
		  "If sort_by begins with the columns of ORDER BY, a scan of the table gives rows in that order.")
BF_REASON(REASON_DISTINCT_OF_GROUPS, "distinct_of_groups",
		  "DISTINCT is applied to the result of aggregates, groups or window functions",
		  "Leave DISTINCT out where the groups differ anyway.")
