/*
 * table_options.c
 *	  The options of a bucketed table: names, values, and the spec they make.
 */
#include "postgres.h"

#include <limits.h>

#include "catalog/heap.h"
#include "commands/defrem.h"
#include "compat.h"
#include "nodes/parsenodes.h"
#include "spec/column_list.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/varlena.h"

#define VALID_OPTIONS "bucket_by, buckets, sort_by, compression, compression_level, block_rows, tablespace, upkeep"

#define MAX_LEVEL_LZ4 12
#define MAX_LEVEL_ZSTD 22

/* The options as written; NULL and -1 stand for "not given". */
typedef struct OptionValues
{
	const char *bucket_by;
	const char *sort_by;
	int			buckets;
	BfCompression compression;
	int			compression_level;
	int			block_rows;
	const char *tablespace;
} OptionValues;

/* Words of other systems, lower case and without underscores. */
typedef struct ForeignWord
{
	const char *word;
	const char *option;
} ForeignWord;

static const ForeignWord foreign_words[] = {
	{"bucketby", "bucket_by"},
	{"bucketedby", "bucket_by"},
	{"bucketcol", "bucket_by"},
	{"bucketcols", "bucket_by"},
	{"bucketcolumn", "bucket_by"},
	{"bucketcolumns", "bucket_by"},
	{"bucketcolumnnames", "bucket_by"},
	{"bucketkey", "bucket_by"},
	{"bucketkeys", "bucket_by"},
	{"bucketing", "bucket_by"},
	{"clusterby", "bucket_by"},
	{"clusteredby", "bucket_by"},
	{"clusteringkey", "bucket_by"},
	{"colocateby", "bucket_by"},
	{"distby", "bucket_by"},
	{"distcol", "bucket_by"},
	{"distkey", "bucket_by"},
	{"distributeby", "bucket_by"},
	{"distributedby", "bucket_by"},
	{"distributioncolumn", "bucket_by"},
	{"distributionkey", "bucket_by"},
	{"hashby", "bucket_by"},
	{"hashkey", "bucket_by"},
	{"joinkey", "bucket_by"},
	{"key", "bucket_by"},
	{"keys", "bucket_by"},
	{"partitionby", "bucket_by"},
	{"partitionedby", "bucket_by"},
	{"shardby", "bucket_by"},
	{"shardkey", "bucket_by"},
	{"bucket", "buckets"},
	{"bucketcount", "buckets"},
	{"bucketnum", "buckets"},
	{"bucketnumber", "buckets"},
	{"intobuckets", "buckets"},
	{"nbuckets", "buckets"},
	{"numbucket", "buckets"},
	{"numbuckets", "buckets"},
	{"numberofbuckets", "buckets"},
	{"shardcount", "buckets"},
	{"clusterorder", "sort_by"},
	{"orderby", "sort_by"},
	{"orderedby", "sort_by"},
	{"sort", "sort_by"},
	{"sortcol", "sort_by"},
	{"sortcols", "sort_by"},
	{"sortcolumn", "sort_by"},
	{"sortcolumns", "sort_by"},
	{"sortcolumnnames", "sort_by"},
	{"sortedby", "sort_by"},
	{"sortkey", "sort_by"},
	{"sortkeys", "sort_by"},
	{"sortorder", "sort_by"},
	{"writeorder", "sort_by"},
	{"codec", "compression"},
	{"compress", "compression"},
	{"compresstype", "compression"},
	{"compressioncodec", "compression"},
	{"compressiontype", "compression"},
	{"orccompress", "compression"},
	{"parquetcompression", "compression"},
	{"writecompression", "compression"},
	{"codeclevel", "compression_level"},
	{"compresslevel", "compression_level"},
	{"level", "compression_level"},
	{"zstdlevel", "compression_level"},
	{"blocksize", "block_rows"},
	{"chunkgrouprowlimit", "block_rows"},
	{"rowgroupsize", "block_rows"},
	{"rowsperblock", "block_rows"},
	{"stripesize", "block_rows"},
	{"striperowlimit", "block_rows"},
	{"tablespacename", "tablespace"},
};

static const char *const option_names[] = {
	"bucket_by", "buckets", "sort_by", "compression", "compression_level", "block_rows", "tablespace",
	"upkeep"
};

/* The option that an unknown name may have meant, or NULL. */
static const char *
GuessOption(const char *name)
{
	char		lower[NAMEDATALEN];
	char		plain[NAMEDATALEN];
	int			lower_len = 0;
	int			plain_len = 0;
	const char *best = NULL;
	int			best_distance = INT_MAX;

	for (const char *p = name; *p != '\0' && lower_len < NAMEDATALEN - 1; p++)
	{
		lower[lower_len] = (*p >= 'A' && *p <= 'Z') ? *p - 'A' + 'a' : *p;
		if (*p != '_' && *p != '-' && *p != '.' && *p != ' ')
			plain[plain_len++] = lower[lower_len];
		lower_len++;
	}
	lower[lower_len] = '\0';
	plain[plain_len] = '\0';

	for (int i = 0; i < (int) lengthof(foreign_words); i++)
	{
		if (strcmp(plain, foreign_words[i].word) == 0)
			return foreign_words[i].option;
	}

	/* a slip of the pen; with more than a third of the letters wrong it would be guessing */
	for (int i = 0; i < (int) lengthof(option_names); i++)
	{
		int			target_len = strlen(option_names[i]);
		int			limit = Min(3, target_len / 3);
		int			distance;

		distance = varstr_levenshtein_less_equal(lower, lower_len, option_names[i], target_len,
												 1, 1, 1, limit, true);
		if (distance <= limit && distance < best_distance)
		{
			best = option_names[i];
			best_distance = distance;
		}
	}
	return best;
}

static void
UnknownOption(const char *name)
{
	const char *guess = GuessOption(name);

	ereport(ERROR,
			(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
			 errmsg("invalid option \"%s\"", name),
			 errdetail("Valid options of a bucketed table are: %s.", VALID_OPTIONS),
			 guess != NULL ? errhint("Perhaps you meant the option \"%s\".", guess) : 0));
}

static int
IntegerOption(const char *name, const char *value, int min, int max)
{
	char	   *end;
	long		number;

	errno = 0;
	number = strtol(value, &end, 10);
	if (end == value || *end != '\0' || errno != 0 || number < min || number > max)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
				 errmsg("invalid value for option \"%s\": \"%s\"", name, value),
				 errdetail("The value must be an integer from %d to %d.", min, max)));
	return (int) number;
}

static BfCompression
CompressionOption(const char *value)
{
	if (pg_strcasecmp(value, "lz4") == 0)
		return BF_COMPRESS_LZ4;
	if (pg_strcasecmp(value, "zstd") == 0)
		return BF_COMPRESS_ZSTD;
	if (pg_strcasecmp(value, "none") == 0)
		return BF_COMPRESS_NONE;
	ereport(ERROR,
			(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
			 errmsg("invalid value for option \"compression\": \"%s\"", value),
			 errdetail("Valid values are: lz4, zstd, none.")));
}

/* Does the level fit the codec? */
static void
CheckCompressionLevel(const OptionValues *values)
{
	int			max = values->compression == BF_COMPRESS_ZSTD ? MAX_LEVEL_ZSTD : MAX_LEVEL_LZ4;

	if (values->compression_level <= 0)
		return;
	if (values->compression == BF_COMPRESS_NONE)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
				 errmsg("option \"compression_level\" has no meaning with compression 'none'"),
				 errhint("Drop the option \"compression_level\", or choose compression 'lz4' or 'zstd'.")));
	if (values->compression_level > max)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
				 errmsg("invalid value for option \"compression_level\": \"%d\"", values->compression_level),
				 errdetail("Levels of %s go from 1 to %d; 0 stands for its default.",
						   values->compression == BF_COMPRESS_ZSTD ? "zstd" : "lz4", max)));
}

/* All checks that need no columns. */
static void
ReadOptions(List *options, OptionValues *values)
{
	ListCell   *lc;

	values->bucket_by = NULL;
	values->sort_by = NULL;
	values->buckets = -1;
	values->compression = BF_COMPRESS_LZ4;
	values->compression_level = 0;
	values->block_rows = BF_DEFAULT_BLOCK_ROWS;
	values->tablespace = NULL;

	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);
		const char *value = defGetString(def);

		if (strcmp(def->defname, "bucket_by") == 0)
			values->bucket_by = value;
		else if (strcmp(def->defname, "sort_by") == 0)
			values->sort_by = value;
		else if (strcmp(def->defname, "buckets") == 0)
			values->buckets = IntegerOption("buckets", value, 1, BF_MAX_BUCKETS);
		else if (strcmp(def->defname, "compression") == 0)
			values->compression = CompressionOption(value);
		else if (strcmp(def->defname, "compression_level") == 0)
			values->compression_level = IntegerOption("compression_level", value, 0, MAX_LEVEL_ZSTD);
		else if (strcmp(def->defname, "block_rows") == 0)
			values->block_rows = IntegerOption("block_rows", value, 1, BF_DEFAULT_BLOCK_ROWS);
		else if (strcmp(def->defname, "tablespace") == 0)
			values->tablespace = value;
		else if (strcmp(def->defname, "upkeep") == 0)
			(void) defGetBoolean(def);
		else
			UnknownOption(def->defname);
	}
	CheckCompressionLevel(values);
}

void
TableOptionsValidate(List *options)
{
	OptionValues values;

	ReadOptions(options, &values);
	if (values.bucket_by != NULL)
		(void) ColumnListParse("bucket_by", values.bucket_by, false);
	if (values.sort_by != NULL)
		(void) ColumnListParse("sort_by", values.sort_by, true);
}

/* The column of the table whose name differs only in case, or NULL. */
static const char *
ColumnInOtherCase(TupleDesc desc, const char *name)
{
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (!att->attisdropped && pg_strcasecmp(NameStr(att->attname), name) == 0)
			return NameStr(att->attname);
	}
	return NULL;
}

/* The live user column of that name. */
static Form_pg_attribute
FindColumn(TupleDesc desc, const char *relname, const char *name, const char *option)
{
	const char *other;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (!att->attisdropped && strcmp(NameStr(att->attname), name) == 0)
			return att;
	}

	if (SystemAttributeByName(name) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("system column \"%s\" cannot be used in option \"%s\"", name, option)));
	other = ColumnInOtherCase(desc, name);
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("column \"%s\" of relation \"%s\" does not exist", name, relname),
			 errdetail("The column is named in option \"%s\".", option),
			 other != NULL ? errhint("Perhaps you meant the column %s; names that are not plain lower case "
									 "need double quotes inside the option.", quote_identifier(other)) : 0));
}

/* Check that a column can be a key, and describe it. */
static void
ResolveColumn(TupleDesc desc, const char *relname, const ColumnItem *item, const char *option,
			  SortColumn *result)
{
	Form_pg_attribute att = FindColumn(desc, relname, item->name, option);

	if (BfAttributeIsVirtual(att))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("virtual generated column \"%s\" cannot be used in option \"%s\"", item->name, option),
				 errdetail("Virtual generated columns are not stored."),
				 errhint("Declare the column as GENERATED ALWAYS AS (...) STORED.")));

	result->attnum = att->attnum;
	result->typid = getBaseType(att->atttypid);
	result->keyclass = KeyClassOfType(result->typid);
	result->flags = item->flags;

	if (result->keyclass == KEYCLASS_NONE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\" of type %s cannot be used in option \"%s\"",
						item->name, format_type_be(att->atttypid), option),
				 errdetail("Bucket and sort columns can be of type %s, or of a domain over one of them.",
						   KeyClassTypeList())));

	if (OidIsValid(att->attcollation) && !get_collation_isdeterministic(att->attcollation))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\" with nondeterministic collation \"%s\" cannot be used in option \"%s\"",
						item->name, get_collation_name(att->attcollation), option),
				 errdetail("Values that such a collation holds equal can differ in their bytes, which decide the bucket.")));
}

/* The sort_by that would be right: the bucket columns, then the others as they were given. */
static char *
SuggestSortBy(List *bucket_items, List *sort_items)
{
	StringInfoData buf;
	ListCell   *lc;
	ListCell   *lc2;

	initStringInfo(&buf);
	foreach(lc, bucket_items)
		ColumnItemAppend(&buf, ((ColumnItem *) lfirst(lc))->name, 0);
	foreach(lc, sort_items)
	{
		ColumnItem *item = lfirst(lc);
		bool		is_key = false;

		foreach(lc2, bucket_items)
			is_key |= strcmp(((ColumnItem *) lfirst(lc2))->name, item->name) == 0;
		if (!is_key)
			ColumnItemAppend(&buf, item->name, item->flags);
	}
	return quote_literal_cstr(buf.data);
}

/* sort_by begins with the bucket columns, each ascending with nulls last. */
static void
CheckSortPrefix(List *bucket_items, List *sort_items)
{
	for (int i = 0; i < list_length(bucket_items); i++)
	{
		ColumnItem *key = list_nth(bucket_items, i);
		ColumnItem *sort = i < list_length(sort_items) ? list_nth(sort_items, i) : NULL;

		if (sort == NULL || strcmp(key->name, sort->name) != 0)
			ereport(ERROR,
					(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
					 errmsg("option \"sort_by\" must begin with the columns of \"bucket_by\", in the same order"),
					 errhint("Write sort_by %s.", SuggestSortBy(bucket_items, sort_items))));
		if (sort->flags != 0)
			ereport(ERROR,
					(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
					 errmsg("bucket column \"%s\" must be sorted ascending, nulls last", key->name),
					 errdetail("Only the columns behind the bucket columns can be sorted otherwise."),
					 errhint("Write sort_by %s.", SuggestSortBy(bucket_items, sort_items))));
	}
}

TableOptions *
TableOptionsParse(List *options, TupleDesc desc, const char *relname, int default_buckets)
{
	OptionValues values;
	TableOptions *result = palloc0(sizeof(TableOptions));
	List	   *bucket_items;
	List	   *sort_items;
	BucketSpec *spec;

	ReadOptions(options, &values);
	if (values.bucket_by == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_DYNAMIC_PARAMETER_VALUE_NEEDED),
				 errmsg("option \"bucket_by\" is required for bucketed table \"%s\"", relname),
				 errdetail("It names the column or columns whose hash decides the bucket of a row."),
				 errhint("Add OPTIONS (bucket_by 'column'), with the columns by which the table is joined most.")));

	bucket_items = ColumnListParse("bucket_by", values.bucket_by, false);
	sort_items = values.sort_by != NULL ? ColumnListParse("sort_by", values.sort_by, true) : bucket_items;

	spec = palloc0(BucketSpecSize(list_length(sort_items)));
	spec->hash_version = BF_HASH_VERSION;
	spec->nbuckets = values.buckets >= 0 ? values.buckets : default_buckets;
	spec->nkeys = list_length(bucket_items);
	spec->nsort = list_length(sort_items);

	/* a column that does not exist is the more useful message, so names come first */
	for (int i = 0; i < spec->nkeys; i++)
	{
		SortColumn	unused;

		ResolveColumn(desc, relname, list_nth(bucket_items, i), "bucket_by", &unused);
	}
	for (int i = 0; i < spec->nsort; i++)
		ResolveColumn(desc, relname, list_nth(sort_items, i), "sort_by", &spec->sort[i]);
	CheckSortPrefix(bucket_items, sort_items);

	result->spec = spec;
	result->compression = values.compression;
	result->compression_level = values.compression_level;
	result->block_rows = values.block_rows;
	result->tablespace = values.tablespace;
	result->buckets_given = values.buckets >= 0;
	return result;
}
