/*
 * kept_manifest.h
 *	  Manifests stay in memory between the queries of a session.
 */
#ifndef BF_KEPT_MANIFEST_H
#define BF_KEPT_MANIFEST_H

#include "storage/manifest.h"

/*
 * What ManifestRead gives under the snapshot, which must be of MVCC, and
 * whether it sees no inline rows of the table.  Files, runs, specs and deletes
 * may be shared: they hold as long as the current memory context, and are not
 * to be changed.  To add to it, or take from it, ManifestOwn first.
 */
extern Manifest *ManifestReadKept(Oid relid, Snapshot snapshot, bool *no_inline_rows);

/* Give a manifest of ManifestReadKept, as long as nobody has it, files, runs and specs of its own. */
extern void ManifestOwn(Manifest *manifest);

#endif							/* BF_KEPT_MANIFEST_H */
