/*
 * compat.h
 *	  The one place with PostgreSQL version guards.
 */
#ifndef BF_COMPAT_H
#define BF_COMPAT_H

#include "postgres.h"

#if PG_VERSION_NUM < 150000
#error "bucketfdw needs PostgreSQL 15 or later"
#endif

/* the varlena macros moved out of postgres.h */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#ifdef WORDS_BIGENDIAN
#error "bucketfdw needs a little-endian machine"
#endif
#ifdef WIN32
#error "bucketfdw needs statvfs and fsync of directories, which Windows has not"
#endif
StaticAssertDecl(sizeof(Datum) == 8, "bucketfdw keeps 64-bit integers in Datums");

/* a generated column that is computed when read, and never stored */
#if PG_VERSION_NUM >= 180000
#define BfAttributeIsVirtual(att) ((att)->attgenerated == ATTRIBUTE_GENERATED_VIRTUAL)
#else
#define BfAttributeIsVirtual(att) (false)
#endif

/* 18 leaves room before the tuple if asked to */
#if PG_VERSION_NUM >= 180000
#define BfHeapFormMinimalTuple(desc, values, nulls) heap_form_minimal_tuple(desc, values, nulls, 0)
#else
#define BfHeapFormMinimalTuple(desc, values, nulls) heap_form_minimal_tuple(desc, values, nulls)
#endif

/* an attribute, or one before it, has another length now; 18 keeps a digest of each; needs access/tupdesc.h */
#if PG_VERSION_NUM >= 180000
#define BfAttributeChanged(desc, i) populate_compact_attribute(desc, i)
#else
#define BfAttributeChanged(desc, i) (TupleDescAttr(desc, i)->attcacheoff = -1)
#endif

/* a hint that memory will soon be read */
#if defined(__GNUC__)
#define BfPrefetch(ptr) __builtin_prefetch(ptr)
#else
#define BfPrefetch(ptr) ((void) (ptr))
#endif

/* 18 can count what an index scan does; needs access/genam.h */
#if PG_VERSION_NUM >= 180000
#define BfIndexBeginScan(rel, index, snapshot, nkeys) index_beginscan(rel, index, snapshot, NULL, nkeys, 0)
#else
#define BfIndexBeginScan(rel, index, snapshot, nkeys) index_beginscan(rel, index, snapshot, nkeys, 0)
#endif

/* EXPLAIN's output functions moved to their own header in 18 */
#if PG_VERSION_NUM >= 180000
#define BF_EXPLAIN_HEADER "commands/explain_format.h"
#define BF_EXPLAIN_STATE_HEADER "commands/explain_state.h"
#else
#define BF_EXPLAIN_HEADER "commands/explain.h"
#define BF_EXPLAIN_STATE_HEADER "commands/explain.h"
#endif

/* how a row of the table that was named becomes one of a partition */
#if PG_VERSION_NUM >= 160000
#define BfRootToPartitionMap(rinfo, estate) ExecGetRootToChildMap(rinfo, estate)
#else
#define BfRootToPartitionMap(rinfo, estate) ((rinfo)->ri_RootToPartitionMap)
#endif

/* may some children of an Append be left out when it is executed? */
#if PG_VERSION_NUM >= 180000
#define BfAppendIsPruned(append) ((append)->part_prune_index >= 0)
#else
#define BfAppendIsPruned(append) ((append)->part_prune_info != NULL)
#endif

/*
 * Partitions that the values of one execution leave, found before it begins:
 * an executor state gets the range table, then, from 18 on, all is pruned, then
 * each Append or MergeAppend that is pruned has its result.  Need
 * executor/executor.h and executor/execPartition.h.
 */
#if PG_VERSION_NUM >= 180000
#define BfInitRangeTable(estate, stmt) \
	ExecInitRangeTable(estate, (stmt)->rtable, (stmt)->permInfos, bms_copy((stmt)->unprunableRelids))
#define BfPruneAtStart(estate, stmt) \
	((estate)->es_plannedstmt = (stmt), (estate)->es_part_prune_infos = (stmt)->partPruneInfos, \
	 ExecDoInitialPruning(estate))
#define BfPruneAppend(node, append, nchildren, valid) \
	(*(valid) = list_nth((node)->state->es_part_prune_results, (append)->part_prune_index), \
	 (PartitionPruneState *) list_nth((node)->state->es_part_prune_states, (append)->part_prune_index))
#else
#if PG_VERSION_NUM >= 160000
#define BfInitRangeTable(estate, stmt) ExecInitRangeTable(estate, (stmt)->rtable, (stmt)->permInfos)
#else
#define BfInitRangeTable(estate, stmt) ExecInitRangeTable(estate, (stmt)->rtable)
#endif
#define BfPruneAtStart(estate, stmt) ((void) 0)
#define BfPruneAppend(node, append, nchildren, valid) \
	ExecInitPartitionPruning(node, nchildren, (append)->part_prune_info, valid)
#endif

/* read exactly size bytes of a BufFile or raise an error */
#if PG_VERSION_NUM >= 160000
#define BfBufFileReadExact(file, ptr, size) BufFileReadExact(file, ptr, size)
#else
#define BfBufFileReadExact(file, ptr, size) \
	do { \
		if (BufFileRead(file, ptr, size) != (size)) \
			ereport(ERROR, \
					(errcode_for_file_access(), \
					 errmsg("could not read from a temporary file"))); \
	} while (0)
#endif

/* create_foreignscan_path of a base relation: no target, outer path, fdw_restrictinfo */
#if PG_VERSION_NUM >= 180000
#define BfCreateScanPath(root, rel, rows, startup, total, pathkeys, outer, private) \
	create_foreignscan_path(root, rel, NULL, rows, 0, startup, total, pathkeys, outer, NULL, NIL, private)
#elif PG_VERSION_NUM >= 170000
#define BfCreateScanPath(root, rel, rows, startup, total, pathkeys, outer, private) \
	create_foreignscan_path(root, rel, NULL, rows, startup, total, pathkeys, outer, NULL, NIL, private)
#else
#define BfCreateScanPath(root, rel, rows, startup, total, pathkeys, outer, private) \
	create_foreignscan_path(root, rel, NULL, rows, startup, total, pathkeys, outer, NULL, private)
#endif

/* create_foreignscan_path without pathkeys */
#define BfCreateForeignScanPath(root, rel, rows, startup, total, outer, private) \
	BfCreateScanPath(root, rel, rows, startup, total, NIL, outer, private)

/* the ascending pathkey of an expression of a base relation, if somebody has use for it */
#if PG_VERSION_NUM >= 160000
#define BfExpressionPathkey(root, expr, opno, rel) \
	build_expression_pathkey(root, expr, opno, (rel)->relids, false)
#else
#define BfExpressionPathkey(root, expr, opno, rel) \
	build_expression_pathkey(root, expr, NULL, opno, (rel)->relids, false)
#endif

/* the same with another direction; strategies got another name in 18; needs access/stratnum.h */
#if PG_VERSION_NUM >= 180000
#define BfCanonicalPathkey(root, pathkey, descending, nulls_first) \
	make_canonical_pathkey(root, (pathkey)->pk_eclass, (pathkey)->pk_opfamily, \
						   (descending) ? COMPARE_GT : COMPARE_LT, nulls_first)
#else
#define BfCanonicalPathkey(root, pathkey, descending, nulls_first) \
	make_canonical_pathkey(root, (pathkey)->pk_eclass, (pathkey)->pk_opfamily, \
						   (descending) ? BTGreaterStrategyNumber : BTLessStrategyNumber, \
						   nulls_first)
#endif

/* do aggregates with DISTINCT or ORDER BY expect their input sorted, as they may from 16 on? */
#if PG_VERSION_NUM >= 160000
#define BfAggregatesPresorted(root) (list_length((root)->group_pathkeys) > (root)->num_groupby_pathkeys)
#else
#define BfAggregatesPresorted(root) (false)
#endif

/* a provider must hand the join's clauses back from 17 on, or one-time filters are lost */
#if PG_VERSION_NUM >= 170000
#define BfSetCustomRestrictInfo(path, list) ((path)->custom_restrictinfo = (list))
#else
#define BfSetCustomRestrictInfo(path, list) ((void) (list))
#endif

/* estimate_array_length got a PlannerInfo argument in 17 */
#if PG_VERSION_NUM >= 170000
#define BfEstimateArrayLength(node) estimate_array_length(NULL, node)
#else
#define BfEstimateArrayLength(node) ((double) estimate_array_length(node))
#endif

/* outer joins that may set the Var to NULL at this place; known from 16 on */
#if PG_VERSION_NUM >= 160000
#define BfVarIsNullable(var) (!bms_is_empty((var)->varnullingrels))
#else
#define BfVarIsNullable(var) (false)
#endif

/* does an outer join of the query, at whatever place, null the table of a Var? */
#if PG_VERSION_NUM >= 160000
#define BfMayBeNulled(root, var) (!bms_is_empty(find_base_rel(root, (var)->varno)->nulling_relids))
#else
#define BfMayBeNulled(root, var) bms_is_member((var)->varno, (root)->nullable_baserels)
#endif

/* are two Vars of a column the same value, or has one passed an outer join that the other has not? */
#if PG_VERSION_NUM >= 160000
#define BfSameNullingRels(a, b) bms_equal((a)->varnullingrels, (b)->varnullingrels)
#else
#define BfSameNullingRels(a, b) (true)
#endif

/* a copy of an expression as it is above an outer join; needs rewrite/rewriteManip.h */
#if PG_VERSION_NUM >= 160000
#define BfAddNullingRel(node, ojrelid) \
	add_nulling_relids(node, pull_varnos(NULL, node), bms_make_singleton(ojrelid))
#else
#define BfAddNullingRel(node, ojrelid) ((Node *) copyObject(node))
#endif

/* the range table index of an outer join, 0: it has none, or columns do not tell of it */
#if PG_VERSION_NUM >= 160000
#define BfOuterJoinRelid(sjinfo) ((int) (sjinfo)->ojrelid)
#else
#define BfOuterJoinRelid(sjinfo) (0)
#endif

/* members of a class below an outer join may differ (one NULL) in 15 */
#if PG_VERSION_NUM >= 160000
#define BfEclassBelowOuterJoin(ec) (false)
#else
#define BfEclassBelowOuterJoin(ec) ((ec)->ec_below_outer_join)
#endif

/* the equalities that classes of equal expressions give for a join; needs optimizer/paths.h */
#if PG_VERSION_NUM >= 160000
#define BfJoinEqualities(root, joined, outer, inner) \
	generate_join_implied_equalities(root, joined, outer, inner, NULL)
#else
#define BfJoinEqualities(root, joined, outer, inner) \
	generate_join_implied_equalities(root, joined, outer, inner)
#endif

/* vacuum_delay_point got an argument in 18 */
#if PG_VERSION_NUM >= 180000
#define BfVacuumDelayPoint() vacuum_delay_point(true)
#else
#define BfVacuumDelayPoint() vacuum_delay_point()
#endif

/* ExecutorRun lost its argument execute_once in 18 */
#if PG_VERSION_NUM >= 180000
#define BfExecutorRun(desc) ExecutorRun(desc, ForwardScanDirection, 0)
#else
#define BfExecutorRun(desc) ExecutorRun(desc, ForwardScanDirection, 0, true)
#endif

/* rights on tables; ownership checks of all classes became one function in 16; need utils/acl.h, catalog/pg_class_d.h and catalog/pg_authid_d.h */
#if PG_VERSION_NUM >= 160000
#define BfIsTableOwner(relid, role) object_ownercheck(RelationRelationId, relid, role)
#else
#define BfIsTableOwner(relid, role) pg_class_ownercheck(relid, role)
#endif
#if PG_VERSION_NUM >= 170000
#define BfMayMaintain(role) has_privs_of_role(role, ROLE_PG_MAINTAIN)
#else
#define BfMayMaintain(role) superuser_arg(role)
#endif

/* a NOT NULL constraint that holds for all rows; needs access/tupdesc.h */
#if PG_VERSION_NUM >= 180000
#define BfColumnNotNull(desc, i) \
	(TupleDescCompactAttr(desc, i)->attnullability == ATTNULLABLE_VALID)
#else
#define BfColumnNotNull(desc, i) (TupleDescAttr(desc, i)->attnotnull)
#endif

/* subtypes of ALTER TABLE; 15 marks recursion in them; need nodes/parsenodes.h */
#if PG_VERSION_NUM < 160000
#define BfAlterSubtype(subtype) \
	((subtype) == AT_AddColumnRecurse ? AT_AddColumn : \
	 (subtype) == AT_DropColumnRecurse ? AT_DropColumn : \
	 (subtype) == AT_AddConstraintRecurse ? AT_AddConstraint : \
	 (subtype) == AT_ValidateConstraintRecurse ? AT_ValidateConstraint : (subtype))
#else
#define BfAlterSubtype(subtype) (subtype)
#endif
#if PG_VERSION_NUM >= 170000
#define BfIsSetExpression(subtype) ((subtype) == AT_SetExpression)
#else
#define BfIsSetExpression(subtype) (false)
#endif

/* grouping and distinct clauses without the columns core found redundant */
#if PG_VERSION_NUM >= 160000
#define BfGroupClause(root) ((root)->processed_groupClause)
#define BfDistinctClause(root) ((root)->processed_distinctClause)
#else
#define BfGroupClause(root) ((root)->parse->groupClause)
#define BfDistinctClause(root) ((root)->parse->distinctClause)
#endif

/* joins whose sides stand the other way round; need nodes/nodes.h */
#if PG_VERSION_NUM >= 180000
#define BfJoinIsMirrored(type) \
	((type) == JOIN_RIGHT || (type) == JOIN_RIGHT_ANTI || (type) == JOIN_RIGHT_SEMI)
#define BfMirrorOfJoin(type) \
	((type) == JOIN_RIGHT ? JOIN_LEFT : (type) == JOIN_RIGHT_ANTI ? JOIN_ANTI : JOIN_SEMI)
#elif PG_VERSION_NUM >= 160000
#define BfJoinIsMirrored(type) ((type) == JOIN_RIGHT || (type) == JOIN_RIGHT_ANTI)
#define BfMirrorOfJoin(type) ((type) == JOIN_RIGHT ? JOIN_LEFT : JOIN_ANTI)
#else
#define BfJoinIsMirrored(type) ((type) == JOIN_RIGHT)
#define BfMirrorOfJoin(type) JOIN_LEFT
#endif

/* from 18 on paths count the nodes below that somebody switched off */
#if PG_VERSION_NUM >= 180000
#define BfAddDisabledNodes(path, child) ((path)->disabled_nodes += (child)->disabled_nodes)
#define BfSetDisabledNodes(path, n) ((path)->disabled_nodes = (n))
#else
#define BfAddDisabledNodes(path, child) ((void) (child))
#define BfSetDisabledNodes(path, n) ((void) (n))
#endif

/* may a path of any order and without parameters of such costs be of use?  Needs optimizer/pathnode.h. */
#if PG_VERSION_NUM >= 180000
#define BfAddPathPrecheck(rel, disabled, startup, total) \
	add_path_precheck(rel, disabled, startup, total, NIL, NULL)
#define BfAddPartialPathPrecheck(rel, disabled, total) add_partial_path_precheck(rel, disabled, total, NIL)
#else
#define BfAddPathPrecheck(rel, disabled, startup, total) add_path_precheck(rel, startup, total, NIL, NULL)
#define BfAddPartialPathPrecheck(rel, disabled, total) add_partial_path_precheck(rel, total, NIL)
#endif

/* inputs of a set operation's path */
#if PG_VERSION_NUM >= 180000
#define BfSetOpChildren(path) list_make2((path)->leftpath, (path)->rightpath)
#else
#define BfSetOpChildren(path) list_make1((path)->subpath)
#endif

/* rights on the tables of one query level, as the executor checks them; needs executor/executor.h */
#if PG_VERSION_NUM >= 160000
#define BfCheckRelationRights(query) \
	((void) ExecCheckPermissions((query)->rtable, (query)->rteperminfos, true))
#else
#define BfCheckRelationRights(query) ((void) ExecCheckRTPerms((query)->rtable, true))
#endif

/* the same of all tables of a plan, with the error */
#if PG_VERSION_NUM >= 160000
#define BfCheckPlanRights(stmt) ((void) ExecCheckPermissions((stmt)->rtable, (stmt)->permInfos, true))
#else
#define BfCheckPlanRights(stmt) ((void) ExecCheckRTPerms((stmt)->rtable, true))
#endif

/*
 * May statistics of a column of a base relation reach operators that are not
 * leakproof?  Core's own test is there since its minor releases of August 2025.
 * Needs access/sysattr.h, utils/acl.h and utils/selfuncs.h.
 */
#if PG_VERSION_NUM >= 180000 || \
	(PG_VERSION_NUM >= 170006 && PG_VERSION_NUM < 180000) || \
	(PG_VERSION_NUM >= 160010 && PG_VERSION_NUM < 170000) || \
	(PG_VERSION_NUM >= 150014 && PG_VERSION_NUM < 160000)
#define BfMaySeeAllRows(root, varno, rte, attnum) \
	all_rows_selectable(root, varno, \
						bms_make_singleton((attnum) - FirstLowInvalidHeapAttributeNumber))
#elif PG_VERSION_NUM >= 160000
#define BfMaySeeAllRows(root, varno, rte, attnum) \
	((rte)->securityQuals == NIL && \
	 pg_class_aclcheck((rte)->relid, \
					   OidIsValid((root)->simple_rel_array[varno]->userid) ? \
					   (root)->simple_rel_array[varno]->userid : GetUserId(), \
					   ACL_SELECT) == ACLCHECK_OK)
#else
#define BfMaySeeAllRows(root, varno, rte, attnum) \
	((rte)->securityQuals == NIL && \
	 pg_class_aclcheck((rte)->relid, \
					   OidIsValid((rte)->checkAsUser) ? (rte)->checkAsUser : GetUserId(), \
					   ACL_SELECT) == ACLCHECK_OK)
#endif

/*
 * Storage below the relation cache.  The name of a relation's file was a
 * RelFileNode in 15; needs storage/sync.h, storage/smgr.h, catalog/catalog.h,
 * access/nbtxlog.h and common/relpath.h where used.
 */
#if PG_VERSION_NUM >= 160000
#include "storage/relfilelocator.h"
#include "utils/relfilenumbermap.h"
typedef RelFileLocator BfRelLocator;
#define BfRelLocatorInit(tablespace, database, number) \
	((RelFileLocator) {.spcOid = (tablespace), .dbOid = (database), .relNumber = (number)})
#define BfNewFileNumber(tablespace) GetNewRelFileNumber(tablespace, NULL, RELPERSISTENCE_PERMANENT)
#define BfFileTagLocator(tag) ((tag).rlocator)
#define BfFileOwner(tablespace, number) RelidByRelfilenumber(tablespace, number)
#else
#include "storage/relfilenode.h"
#include "utils/relfilenodemap.h"
typedef RelFileNode BfRelLocator;
#define BfRelLocatorInit(tablespace, database, number) \
	((RelFileNode) {.spcNode = (tablespace), .dbNode = (database), .relNode = (number)})
#define BfNewFileNumber(tablespace) GetNewRelFileNode(tablespace, NULL, RELPERSISTENCE_PERMANENT)
#define BfFileTagLocator(tag) ((tag).rnode)
#define BfFileOwner(tablespace, number) RelidByRelfilenode(tablespace, number)
#endif
#if PG_VERSION_NUM >= 170000
#define BfSmgrOpen(locator) smgropen(locator, INVALID_PROC_NUMBER)
#else
#define BfSmgrOpen(locator) smgropen(locator, InvalidBackendId)
#endif
#if PG_VERSION_NUM >= 180000
#define BfRelPath(locator) pstrdup(relpathperm(locator, MAIN_FORKNUM).str)
#define BfPageIsVerified(page, block) PageIsVerified(page, block, 0, NULL)
#else
#define BfRelPath(locator) relpathperm(locator, MAIN_FORKNUM)
#define BfPageIsVerified(page, block) PageIsVerifiedExtended(page, block, 0)
#endif

/* a record of btree's whose replay does nothing but resolve conflicts with snapshots */
#if PG_VERSION_NUM >= 160000
#define BfReusePageInit(rel, xid) \
	((xl_btree_reuse_page) {.locator = (rel), .block = InvalidBlockNumber, \
		.snapshotConflictHorizon = (xid), .isCatalogRel = false})
#else
#define BfReusePageInit(rel, xid) \
	((xl_btree_reuse_page) {.node = (rel), .block = InvalidBlockNumber, \
		.latestRemovedFullXid = (xid)})
#endif

/* May the user create in the tablespace?  Needs catalog/pg_tablespace.h and utils/acl.h. */
#if PG_VERSION_NUM >= 160000
#define BfTablespaceAclCheck(tablespace, userid) \
	object_aclcheck(TableSpaceRelationId, tablespace, userid, ACL_CREATE)
#else
#define BfTablespaceAclCheck(tablespace, userid) pg_tablespace_aclcheck(tablespace, userid, ACL_CREATE)
#endif

/* May the user execute the function?  Needs catalog/pg_proc.h and utils/acl.h. */
#if PG_VERSION_NUM >= 160000
#define BfFunctionAclCheck(funcid, userid) \
	object_aclcheck(ProcedureRelationId, funcid, userid, ACL_EXECUTE)
#else
#define BfFunctionAclCheck(funcid, userid) pg_proc_aclcheck(funcid, userid, ACL_EXECUTE)
#endif

/* do we hold a lock of this very mode?  Needs storage/lock.h. */
#if PG_VERSION_NUM >= 170000
#define BfLockHeldByMe(tag, mode) LockHeldByMe(tag, mode, false)
#else
#define BfLockHeldByMe(tag, mode) LockHeldByMe(tag, mode)
#endif

/* settings that a background worker turns off, as autovacuum does */
#if PG_VERSION_NUM >= 170000
#define BF_TIMEOUTS "statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "transaction_timeout"
#else
#define BF_TIMEOUTS "statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"
#endif

#endif							/* BF_COMPAT_H */
