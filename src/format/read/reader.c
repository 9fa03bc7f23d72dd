/*
 * reader.c
 *	  Open and close a file, compare its columns with the table's, statistics of
 *	  blocks.
 */
#include "postgres.h"

#include "format/read/reader_private.h"
#include "format/row_types.h"
#include "format/stats/stat_value.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

FileReader *
FileReaderOpen(FileSource *source, uint64 file_id, Oid relid)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw file reader",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext oldcxt = MemoryContextSwitchTo(cxt);
	FileReader *reader = palloc0(sizeof(FileReader));

	reader->source = source;
	reader->cxt = cxt;
	reader->priv = palloc0(sizeof(FileReaderPrivate));
	PG_TRY();
	{
		FooterRead(reader, file_id, relid);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(oldcxt);
		MemoryContextDelete(cxt);
		PG_RE_THROW();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(oldcxt);
	return reader;
}

void
FileReaderClose(FileReader *reader)
{
	MemoryContextDelete(reader->cxt);
}

void
FileReaderColumnStats(FileReader *reader, int block, int col, BlockColumnStats *stats)
{
	const DiskChunk *chunk = &reader->priv->chunks[(size_t) block * reader->ncols + col];
	KeyClass	keyclass = reader->cols[col].keyclass;

	memset(stats, 0, sizeof(*stats));
	if (chunk->null_count > (uint32) reader->blocks[block].nrows)
		FileReaderCorrupt(reader, block, col, 0, "number of nulls is invalid");
	stats->null_count = chunk->null_count;
	if (chunk->flags & BF_CHUNK_MINMAX)
	{
		size_t		at = chunk->stats;
		const char *problem = NULL;

		if (keyclass == KEYCLASS_NONE || chunk->null_count == (uint32) reader->blocks[block].nrows)
			problem = "there are a minimum and maximum where none can be";
		if (problem == NULL)
			problem = StatValueRead(reader->priv->stats, reader->priv->stats_len, &at, keyclass, &stats->min);
		if (problem == NULL)
			problem = StatValueRead(reader->priv->stats, reader->priv->stats_len, &at, keyclass, &stats->max);
		if (problem == NULL && (stats->min.isnull || stats->max.isnull))
			problem = "minimum or maximum is null";
		if (problem)
			FileReaderCorrupt(reader, block, col, 0, problem);
		stats->has_minmax = true;
	}
}

bool
ColumnHoldsStored(Form_pg_attribute att, Oid typid, KeyClass keyclass, int16 typlen)
{
	Oid			base;

	if (typid == att->atttypid)
		return typlen == att->attlen;
	base = getBaseType(att->atttypid);
	if (keyclass != KeyClassOfType(base))
		return false;

	/* vectors hold integers of any width as int64 */
	if (keyclass == KEYCLASS_INT)
		return typlen <= att->attlen;
	return (keyclass != KEYCLASS_NONE || typid == base) && typlen == att->attlen;
}

/* A column of the file that the table has not, or not for its values; NULL: there is none. */
static const FileColumn *
DifferentColumn(const FileReader *reader, TupleDesc desc)
{
	for (int i = 0; i < reader->ncols; i++)
	{
		const FileColumn *col = &reader->cols[i];
		Form_pg_attribute att;

		if (col->attnum > desc->natts)
			return col;
		att = TupleDescAttr(desc, col->attnum - 1);
		if (!att->attisdropped &&
			(!ColumnHoldsStored(att, col->typid, col->keyclass, col->typlen) ||
			 att->attbyval != col->typbyval || (!att->attbyval && att->attalign != col->typalign)))
			return col;
	}
	return NULL;
}

bool
FileReaderColumnsDiffer(const FileReader *reader, TupleDesc desc)
{
	return DifferentColumn(reader, desc) != NULL;
}

void
FileReaderCheckColumns(FileReader *reader, TupleDesc desc)
{
	const FileReaderPrivate *priv = reader->priv;
	const FileColumn *col = DifferentColumn(reader, desc);
	Oid			changed;
	int			attnum;

	if (col != NULL)
	{
		if (col->attnum > desc->natts)
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("file \"%s\" of table \"%s\" has a column %d, the table has %d columns",
							reader->source->path, reader->source->relname, col->attnum, desc->natts)));
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of table \"%s\" has type %s, but file \"%s\" was written with type %s",
						NameStr(TupleDescAttr(desc, col->attnum - 1)->attname), reader->source->relname,
						format_type_be(TupleDescAttr(desc, col->attnum - 1)->atttypid),
						reader->source->path, format_type_be(col->typid)),
				 errhint("Change the type of the column back, or write the table again.")));
	}
	if (priv->row_types == NULL)
		return;
	if (!RowTypesCheck(priv->row_types, priv->row_types_len, &changed, &attnum))
		FileReaderCorrupt(reader, -1, -1, 0, "section of row types is cut off");
	if (OidIsValid(changed))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("type %s has changed since file \"%s\" of table \"%s\" was written",
						format_type_be(changed), reader->source->path, reader->source->relname),
				 errdetail("Attribute %d of the type is not what it was.", attnum),
				 errhint("Undo the change of the type, or write the table again.")));
}
