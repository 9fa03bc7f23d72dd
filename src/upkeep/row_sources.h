/*
 * row_sources.h
 *	  Which rows of replaced files the rows of the new ones were.
 *
 * Whoever deletes rows while files are written anew names rows of the old
 * ones.  So it is kept from where each row came, about a byte a row.
 */
#ifndef BF_ROW_SOURCES_H
#define BF_ROW_SOURCES_H

#include "storage/manifest.h"

typedef struct RowSources RowSources;

/*
 * For rows of a manifest, which are given numbers; it must stay as it is.  In
 * the current context, and a temporary file.
 */
extern RowSources *RowSourcesBegin(Manifest *inputs);

/* What comes next are rows of runs of one bucket.  To be called for each run that is written, or for none. */
extern void RowSourcesBucket(RowSources *sources, int bucket);

/* The next row that is written is the one that has this number in the manifest. */
extern void RowSourcesAdd(RowSources *sources, int64 number);

/*
 * Rows that were deleted since the manifest was read are deleted in the new
 * files: inserts their vectors with a command id and returns the number of
 * rows.  now are the files of the manifest as they are, NULL: one is not there
 * any more, as all its rows are deleted; their snapshot must be registered.
 */
extern int64 RowSourcesTranslate(RowSources *sources, const ManifestFile *const *now, const ManifestWrite *write,
								 CommandId cid);

extern void RowSourcesEnd(RowSources *sources);

#endif							/* BF_ROW_SOURCES_H */
