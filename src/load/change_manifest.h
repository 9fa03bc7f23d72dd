/*
 * change_manifest.h
 *	  The manifest that all parts of a statement which changes rows of a table
 *	  share: a row's number means something within one manifest only.
 */
#ifndef BF_CHANGE_MANIFEST_H
#define BF_CHANGE_MANIFEST_H

#include "nodes/execnodes.h"
#include "storage/manifest.h"

/* That of a table in a statement, read under its snapshot when it is first asked for. */
extern Manifest *ChangeManifest(EState *estate, Oid relid);

/*
 * Which row a number stands for: the id of its file or inline write, and its
 * number there; and the file of the manifest.
 */
extern uint64 ChangeManifestRow(const Manifest *manifest, int64 number, int *file, int64 *row, bool *inlined);

#endif							/* BF_CHANGE_MANIFEST_H */
