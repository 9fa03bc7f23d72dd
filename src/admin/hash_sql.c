/*
 * hash_sql.c
 *	  bucketfdw.hash and bucketfdw.bucket_id: the frozen hash for SQL, so that
 *	  anybody can check where a row belongs.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "spec/bucket_spec.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* What one call site hashes; kept in fn_extra. */
typedef struct HashArgument
{
	Oid			typid;			/* base type */
	KeyClass	keyclass;
	bool		is_cstring;		/* an untyped literal, which counts as text */
	bool		is_varlena;
} HashArgument;

typedef struct HashCall
{
	bool		variadic;		/* VARIADIC array: args[0] is its element type */
	int16		elemlen;
	bool		elembyval;
	char		elemalign;
	HashArgument args[FLEXIBLE_ARRAY_MEMBER];
} HashCall;

PG_FUNCTION_INFO_V1(bucketfdw_hash);
PG_FUNCTION_INFO_V1(bucketfdw_bucket_id);
PG_FUNCTION_INFO_V1(bucketfdw_key_class);

PGDLLEXPORT Datum bucketfdw_hash(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum bucketfdw_bucket_id(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum bucketfdw_key_class(PG_FUNCTION_ARGS);

static void
DescribeArgument(Oid typid, HashArgument *arg)
{
	arg->is_cstring = typid == UNKNOWNOID;
	arg->typid = arg->is_cstring ? TEXTOID : getBaseType(typid);
	arg->keyclass = KeyClassOfType(arg->typid);
	if (arg->keyclass == KEYCLASS_NONE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("values of type %s have no bucket hash", format_type_be(typid)),
				 errdetail("Values that can be hashed are of type %s, or of a domain over one of them.",
						   KeyClassTypeList())));
	arg->is_varlena = get_typlen(arg->typid) == -1;
}

/* Types of the arguments from number first on, looked up once per call site. */
static HashCall *
DescribeCall(FunctionCallInfo fcinfo, int first)
{
	HashCall   *call = fcinfo->flinfo->fn_extra;
	int			nargs = PG_NARGS() - first;

	if (call != NULL)
		return call;

	call = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt,
								  offsetof(HashCall, args) + Max(nargs, 1) * sizeof(HashArgument));
	call->variadic = get_fn_expr_variadic(fcinfo->flinfo);
	for (int i = 0; i < nargs; i++)
	{
		Oid			typid = get_fn_expr_argtype(fcinfo->flinfo, first + i);

		if (!OidIsValid(typid))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("could not determine data type of argument %d", first + i + 1)));
		if (call->variadic)
		{
			typid = get_base_element_type(typid);
			if (!OidIsValid(typid))
				ereport(ERROR,
						(errcode(ERRCODE_DATATYPE_MISMATCH),
						 errmsg("VARIADIC argument must be an array")));
			get_typlenbyvalalign(typid, &call->elemlen, &call->elembyval, &call->elemalign);
		}
		DescribeArgument(typid, &call->args[i]);
	}
	fcinfo->flinfo->fn_extra = call;
	return call;
}

/* Hash of one non-null value, which may be toasted. */
static uint32
HashValue(const HashArgument *arg, Datum value, uint32 seed)
{
	if (arg->is_cstring)
		value = CStringGetTextDatum(DatumGetCString(value));
	else if (arg->is_varlena)
		value = PointerGetDatum(PG_DETOAST_DATUM_PACKED(value));
	return KeyHash(arg->keyclass, arg->typid, value, seed);
}

/* Hash of the elements of an array, one after the other. */
static uint32
HashArray(const HashCall *call, ArrayType *array)
{
	uint32		hash = 0;
	Datum	   *values;
	bool	   *nulls;
	int			count;

	deconstruct_array(array, ARR_ELEMTYPE(array), call->elemlen, call->elembyval, call->elemalign,
					  &values, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!nulls[i])
			hash = HashValue(&call->args[0], values[i], hash);
	}
	pfree(values);
	pfree(nulls);
	return hash;
}

/* Chained hash of the arguments from number first on; nulls change nothing. */
static uint32
HashArguments(FunctionCallInfo fcinfo, int first)
{
	HashCall   *call = DescribeCall(fcinfo, first);
	uint32		hash = 0;

	if (call->variadic)
		return PG_ARGISNULL(first) ? 0 : HashArray(call, PG_GETARG_ARRAYTYPE_P(first));

	for (int i = first; i < PG_NARGS(); i++)
	{
		if (!PG_ARGISNULL(i))
			hash = HashValue(&call->args[i - first], PG_GETARG_DATUM(i), hash);
	}
	return hash;
}

/* bucketfdw.hash(VARIADIC "any") returns integer; never null. */
Datum
bucketfdw_hash(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32((int32) HashArguments(fcinfo, 0));
}

/*
 * bucketfdw.bucket_id(buckets integer, VARIADIC "any") returns integer; null
 * only for a null number of buckets.
 */
Datum
bucketfdw_bucket_id(PG_FUNCTION_ARGS)
{
	int			nbuckets;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	nbuckets = PG_GETARG_INT32(0);
	if (nbuckets < 1 || nbuckets > BF_MAX_BUCKETS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of buckets must be from 1 to %d", BF_MAX_BUCKETS)));
	PG_RETURN_INT32(KeyBucket(HashArguments(fcinfo, 1), nbuckets));
}

/* bucketfdw.key_class(type oid) returns smallint */
Datum
bucketfdw_key_class(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT16((int16) KeyClassOfType(getBaseType(PG_GETARG_OID(0))));
}
