/*
 * ddl_columns.c
 *	  Columns that change while a table has rows: what is stored stays as it is.
 *
 * A column that is added gets one value for all older rows, as core's fast
 * default.  A column that gets another type may keep it if every value that is
 * stored, with whatever type it had then, is the same value of the new type.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "compat.h"
#include "ddl/ddl.h"
#include "executor/executor.h"
#include "format/read/reader.h"
#include "load/inline_rows.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "rewrite/rewriteHandler.h"
#include "storage/file_store.h"
#include "storage/manifest.h"
#include "storage/missing_catalog.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

AttrNumber
StoredColumn(Relation rel, const char *colname)
{
	AttrNumber	attnum = get_attnum(RelationGetRelid(rel), colname);

	if (attnum <= 0 || BfAttributeIsVirtual(TupleDescAttr(RelationGetDescr(rel), attnum - 1)))
		return 0;
	return attnum;
}

/* The column is of a kind that older rows could only have if they were written anew. */
static void
RefuseColumn(Relation rel, Form_pg_attribute att, const char *what, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot add %s to bucketed table \"%s\", which has rows", what, RelationGetRelationName(rel)),
			 errdetail("Column \"%s\" would need a value of its own in each row.", NameStr(att->attname)),
			 errhint("%s", hint)));
}

/* The expression for rows that give no value, planned; NULL: null does. */
static Expr *
DefaultOf(Relation rel, Form_pg_attribute att)
{
	Node	   *expr = build_column_default(rel, att->attnum);

	/* null is no value of some domains */
	if (expr == NULL && DomainHasConstraints(att->atttypid))
	{
		int32		typmod = att->atttypmod;
		Oid			base = getBaseTypeAndTypmod(att->atttypid, &typmod);

		expr = coerce_to_domain((Node *) makeNullConst(base, typmod, get_typcollation(base)), base, typmod,
								att->atttypid, COERCION_IMPLICIT, COERCE_IMPLICIT_CAST, -1, false);
	}
	return expr != NULL ? expression_planner((Expr *) expr) : NULL;
}

/*
 * As core does for a heap table, the default is computed once.  What is stable,
 * like now(), stays what it was.
 */
void
ColumnAdded(Relation rel, AttrNumber attnum)
{
	TupleDesc	desc = RelationGetDescr(rel);
	Form_pg_attribute att = TupleDescAttr(desc, attnum - 1);
	bool		isnull = true;
	Expr	   *expr;

	if (att->attgenerated)
		RefuseColumn(rel, att, "a stored generated column",
					 "Create another table with the column and fill it with INSERT ... SELECT from this one. From PostgreSQL 18 on, a VIRTUAL one can be added.");
	if (att->attidentity)
		RefuseColumn(rel, att, "an identity column",
					 "Add a plain column, write its values with bucketfdw.create_table_as(..., mode => 'overwrite'), then ALTER COLUMN it to be NOT NULL and GENERATED ... AS IDENTITY.");
	expr = DefaultOf(rel, att);
	if (expr != NULL && contain_volatile_functions((Node *) expr))
		RefuseColumn(rel, att, "a column with a volatile default",
					 "Add the column without it, write its values with bucketfdw.create_table_as(..., mode => 'overwrite'), and ALTER COLUMN ... SET DEFAULT for new rows.");
	if (expr != NULL)
	{
		EState	   *estate = CreateExecutorState();
		Datum		value = ExecEvalExprSwitchContext(ExecPrepareExpr(expr, estate), GetPerTupleExprContext(estate),
													  &isnull);

		if (!isnull)
			MissingValueInsert(rel, attnum, value);
		FreeExecutorState(estate);
	}
	if (isnull && BfColumnNotNull(desc, attnum - 1))
		ereport(ERROR,
				(errcode(ERRCODE_NOT_NULL_VIOLATION),
				 errmsg("column \"%s\" of relation \"%s\" contains null values",
						NameStr(att->attname), RelationGetRelationName(rel)),
				 errtablecol(rel, attnum)));
}

/* A column that was stored with one type has another one now, which need not hold what is stored. */
typedef struct TypeChange
{
	Relation	rel;
	Form_pg_attribute att;
} TypeChange;

/* Does a cast to the column's type leave the bytes of a value alone?  The checks of a domain are not meant. */
static bool
CastKeepsBytes(Form_pg_attribute att, Oid typid, int32 typmod)
{
	Node	   *expr = (Node *) makeVar(1, att->attnum, typid, typmod, att->attcollation, 0);

	expr = coerce_to_target_type(NULL, expr, typid, att->atttypid, att->atttypmod,
								 COERCION_ASSIGNMENT, COERCE_IMPLICIT_CAST, -1);

	/* planning takes away a check of the length that no value can fail */
	expr = expr != NULL ? (Node *) expression_planner((Expr *) expr) : NULL;
	while (expr != NULL && !IsA(expr, Var))
	{
		if (IsA(expr, RelabelType))
			expr = (Node *) ((RelabelType *) expr)->arg;
		else if (IsA(expr, CoerceToDomain))
			expr = (Node *) ((CoerceToDomain *) expr)->arg;
		else
			return false;
	}
	return expr != NULL;
}

/* Is every value of a type a value of the column as it is stored? */
static bool
HoldsAll(Form_pg_attribute att, Oid typid, int32 typmod)
{
	Oid			base;

	if (typid == att->atttypid && typmod == att->atttypmod)
		return true;
	base = getBaseTypeAndTypmod(typid, &typmod);
	if (!ColumnHoldsStored(att, typid, KeyClassOfType(base), get_typlen(base)))
		return false;
	return KeyClassOfType(base) == KEYCLASS_INT || CastKeepsBytes(att, base, typmod);
}

/* StoredTypeFunction */
static void
CheckStored(void *arg, Oid typid, int32 typmod)
{
	const TypeChange *change = arg;
	Form_pg_attribute att = change->att;

	if (HoldsAll(att, typid, typmod))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot change the type of column \"%s\" of bucketed table \"%s\" to %s without writing its rows anew",
					NameStr(att->attname), RelationGetRelationName(change->rel),
					format_type_with_typemod(att->atttypid, att->atttypmod)),
			 errdetail("There are rows that were written with type %s.", format_type_with_typemod(typid, typmod)),
			 errhint("Write them into another table with bucketfdw.create_table_as, with a cast of the column in its query, and rename that; or TRUNCATE this one first.")));
}

/* The type of a column of a file; of a domain that was dropped since, any that its values are of. */
static Oid
FileColumnType(const FileColumn *col, int32 *typmod)
{
	const Oid  *types = KeyClasses[col->keyclass].types;

	*typmod = col->typmod;
	if (SearchSysCacheExists1(TYPEOID, ObjectIdGetDatum(col->typid)))
		return col->typid;
	*typmod = -1;
	for (int i = 0; i < lengthof(KeyClasses[0].types); i++)
	{
		if (OidIsValid(types[i]) && get_typlen(types[i]) == col->typlen)
			return types[i];
	}
	elog(ERROR, "cache lookup failed for type %u", col->typid);
	return InvalidOid;
}

/* Files say what type each column was written with. */
static void
CheckFiles(TypeChange *change)
{
	Oid			relid = RelationGetRelid(change->rel);
	Manifest   *manifest = ManifestRead(relid, NULL);
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw file types", ALLOCSET_DEFAULT_SIZES);

	for (int f = 0; f < manifest->nfiles; f++)
	{
		MemoryContext old = MemoryContextSwitchTo(cxt);
		FileSource *source = StoreOpen(relid, RelationGetRelationName(change->rel), &manifest->files[f]);
		FileReader *reader = FileReaderOpen(source, manifest->files[f].file_id, relid);
		int			col = FileReaderFindColumn(reader, change->att->attnum);
		int32		typmod;
		Oid			typid;

		CHECK_FOR_INTERRUPTS();
		if (col >= 0)
		{
			typid = FileColumnType(&reader->cols[col], &typmod);
			CheckStored(change, typid, typmod);
		}
		FileReaderClose(reader);
		StoreClose(source);
		MemoryContextSwitchTo(old);
		MemoryContextReset(cxt);
	}
	MemoryContextDelete(cxt);
}

/* The column is of a domain with constraints: error, as core raises it, if a row fails them. */
static void
CheckDomain(Relation rel, Form_pg_attribute att)
{
	/* nothing is less than no nulls: the value is cast, that is all */
	(void) AnyRowViolates(rel, psprintf("pg_catalog.num_nulls((%s)::%s::%s) OPERATOR(pg_catalog.>=) 0",
										quote_identifier(NameStr(att->attname)),
										format_type_be_qualified(getBaseType(att->atttypid)),
										format_type_be_qualified(att->atttypid)));
}

void
ColumnTypeChanged(Relation rel, AttrNumber attnum)
{
	TypeChange	change = {rel, TupleDescAttr(RelationGetDescr(rel), attnum - 1)};
	Oid			typid;
	int32		typmod;

	CheckFiles(&change);
	InlineColumnTypes(rel, attnum, CheckStored, &change);
	if (MissingValueType(rel, attnum, &typid, &typmod))
		CheckStored(&change, typid, typmod);
	if (DomainHasConstraints(change.att->atttypid))
		CheckDomain(rel, change.att);
}
