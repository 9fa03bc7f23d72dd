/*
 * leaf_reader.h
 *	  Reads one bucketed table as batches: either all blocks in file order, or
 *	  a group of buckets as one stream sorted by the bucket columns.
 *
 * The manifest it is made with decides which files are read; nothing the
 * planner saw does.
 */
#ifndef BF_LEAF_READER_H
#define BF_LEAF_READER_H

#include "exec/scan/block/leaf_counters.h"
#include "exec/qual/leaf_qual.h"
#include "exec/unit/unit_cutter.h"
#include "format/read/reader.h"
#include "storage/manifest.h"
#include "utils/relcache.h"
#include "vector/batch.h"
#include "vector/key_vector.h"

/*
 * Make a reader.  attnums are the columns wanted; column i of its batches is
 * attnums[i], which may be ctid, see storage/row_id.h, if the manifest's rows have
 * numbers.  Quals are applied to whole batches.  All memory, and open
 * files, belong to a child of the current context.
 */
extern LeafReader *LeafReaderCreate(Relation rel, Manifest *manifest,
									int ncols, const AttrNumber *attnums,
									int nquals, LeafQual *quals);

/* Drop open files and buffers. */
extern void LeafReaderEnd(LeafReader *leaf);

/*
 * Buckets that can hold wanted rows, decided from the present values of the
 * quals; call after the quals' values changed and before opening.
 */
extern void LeafReaderPrune(LeafReader *leaf);

/*
 * The reader will be opened again and again with other values of the quals:
 * keep files open and decoded blocks at hand, within work_mem.
 */
extern void LeafReaderRescanned(LeafReader *leaf);

/*
 * Of sorted units, nothing but the keys will be asked for: where there is one
 * key column, several rows of a key may become one with the number of them, see
 * Batch.times.
 */
extern void LeafReaderCountRows(LeafReader *leaf);

/*
 * Set the flags of the buckets (by the gcd of the files' counts, one flag
 * each) of which a block was read so far.
 */
extern void LeafReaderMarkTouched(LeafReader *leaf, bool *flags);

/* Rows the group can hold at most, from the manifest; 0: nothing to read there. */
extern int64 LeafGroupRows(LeafReader *leaf, int ngroups, int group);

/* The table, so that its groups can be cut. */
extern void LeafCutSource(LeafReader *leaf, CutSource *source);

/*
 * Start reading all blocks in file order; where processes share them, those
 * runs, or parts of runs, that no other one takes.  NULL: all are ours.
 */
extern void LeafOpenAll(LeafReader *leaf, UnitClaim *claim);

/*
 * Start reading the buckets congruent to group modulo ngroups, sorted by the
 * first nkeys sort columns.  Every file's count must be a multiple of ngroups.
 * With a part, its rows only; its cuts must live until the unit is closed.
 */
extern void LeafOpenGroup(LeafReader *leaf, int ngroups, int group, int nkeys,
						  const UnitPart *part);

/*
 * Start reading all buckets as one stream sorted by the first nkeys sort
 * columns of every file.  Perhaps only the first few rows will be asked for.
 */
extern void LeafOpenOrdered(LeafReader *leaf, int nkeys);

/* The runs that merges. */
extern int	LeafWantedRuns(LeafReader *leaf);

/*
 * Next batch, or NULL at the end.  At least one row is selected.  The batch
 * and all it points to live until the next call.  With a bound (sorted
 * streams only), rows below it may be left out.
 */
extern Batch *LeafNextBatch(LeafReader *leaf, const KeyBound *bound);

/* End the unit: closes files that serve one bucket only, keeps shared ones. */
extern void LeafClose(LeafReader *leaf);

extern const LeafCounters *LeafReaderCounters(LeafReader *leaf);
extern Manifest *LeafReaderManifest(LeafReader *leaf);

/* Bytes read by all readers this process has ended. */
extern uint64 LeafBytesRead(void);

#endif							/* BF_LEAF_READER_H */
