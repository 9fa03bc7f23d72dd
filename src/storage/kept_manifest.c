/*
 * kept_manifest.c
 *	  Manifests stay in memory between the queries of a session.
 *
 * A query for one key reads a few kilobytes of one file; reading the manifest,
 * a row for each file, costs more than that.  What was read serves another
 * snapshot only where that is proven to see the same: it has the same
 * transactions running as the one that was used last, and this transaction has
 * changed nothing; or the rows of the catalog are those that were read, and all
 * who wrote them had ended before either snapshot (catalog_print.h).
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "guc.h"
#include "miscadmin.h"
#include "storage/catalog_print.h"
#include "storage/inline_catalog.h"
#include "storage/kept_manifest.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/* what a session keeps, and the largest manifest among it */
#define KEPT_BYTES (2 * 1024 * 1024)
#define LARGEST_BYTES (KEPT_BYTES / 4)
#define MAX_KEPT 64

/* Snapshots with more running transactions are not compared. */
#define MAX_RUNNING 64

/* Which transactions a snapshot sees. */
typedef struct SeenTransactions
{
	bool		known;
	bool		in_recovery;
	TransactionId xmin;
	TransactionId xmax;
	uint32		nxip;
	int32		nsubxip;
	TransactionId running[MAX_RUNNING]; /* xip, then subxip */
} SeenTransactions;

/* What a manifest is read from. */
static const char *const sources[] = {"manifest", "delete_vectors", "inline_rows"};

typedef struct KeptManifest
{
	Oid			relid;
	Oid			rowtype;		/* rows of an older table of that oid have another one */
	Manifest   *manifest;
	bool		no_inline_rows;
	SeenTransactions seen;		/* by the snapshot that was used last */
	CatalogPrint prints[lengthof(sources)];
	MemoryContext cxt;			/* of all of it */
	Size		bytes;
	int			users;
	bool		forgotten;		/* goes with its last user */
	uint64		last_used;
} KeptManifest;

/* Ends the use of a manifest. */
typedef struct ManifestPin
{
	KeptManifest *kept;
	MemoryContextCallback callback;
} ManifestPin;

static MemoryContext kept_cxt = NULL;
static KeptManifest *kept_manifests[MAX_KEPT];
static int	nkept = 0;
static Size kept_bytes = 0;
static uint64 clock_now = 0;

static void
SeenTake(SeenTransactions *seen, Snapshot snapshot)
{
	/* what a transaction sees of its own is in no snapshot */
	seen->known = !snapshot->suboverflowed && snapshot->xcnt + snapshot->subxcnt <= MAX_RUNNING &&
		!TransactionIdIsValid(GetTopTransactionIdIfAny());
	if (!seen->known)
		return;
	seen->in_recovery = snapshot->takenDuringRecovery;
	seen->xmin = snapshot->xmin;
	seen->xmax = snapshot->xmax;
	seen->nxip = snapshot->xcnt;
	seen->nsubxip = snapshot->subxcnt;
	if (snapshot->xcnt > 0)
		memcpy(seen->running, snapshot->xip, snapshot->xcnt * sizeof(TransactionId));
	if (snapshot->subxcnt > 0)
		memcpy(seen->running + snapshot->xcnt, snapshot->subxip, snapshot->subxcnt * sizeof(TransactionId));
}

/* Does the snapshot see exactly the same transactions? */
static bool
SeenSame(const SeenTransactions *seen, Snapshot snapshot)
{
	return seen->known && !snapshot->suboverflowed &&
		seen->in_recovery == snapshot->takenDuringRecovery &&
		seen->xmin == snapshot->xmin && seen->xmax == snapshot->xmax &&
		seen->nxip == snapshot->xcnt && seen->nsubxip == snapshot->subxcnt &&
		(snapshot->xcnt == 0 ||
		 memcmp(seen->running, snapshot->xip, snapshot->xcnt * sizeof(TransactionId)) == 0) &&
		(snapshot->subxcnt <= 0 ||
		 memcmp(seen->running + snapshot->xcnt, snapshot->subxip, snapshot->subxcnt * sizeof(TransactionId)) == 0) &&
		!TransactionIdIsValid(GetTopTransactionIdIfAny());
}

static void
Forget(int i)
{
	KeptManifest *kept = kept_manifests[i];

	kept_bytes -= kept->bytes;
	kept_manifests[i] = kept_manifests[--nkept];
	if (kept->users == 0)
		MemoryContextDelete(kept->cxt);
	else
		kept->forgotten = true;
}

/* Forget those that were not used for longest, until there is room. */
static void
MakeRoom(Size bytes)
{
	while (nkept > 0 && (nkept == MAX_KEPT || kept_bytes + bytes > KEPT_BYTES))
	{
		int			victim = 0;

		for (int i = 1; i < nkept; i++)
			if (kept_manifests[i]->last_used < kept_manifests[victim]->last_used)
				victim = i;
		Forget(victim);
	}
}

static void
Unpin(void *arg)
{
	KeptManifest *kept = ((ManifestPin *) arg)->kept;

	if (--kept->users == 0 && kept->forgotten)
		MemoryContextDelete(kept->cxt);
}

/* A manifest of the current context that shares what is kept. */
static Manifest *
Share(KeptManifest *kept)
{
	Manifest   *manifest = palloc(sizeof(Manifest));
	ManifestPin *pin = palloc(sizeof(ManifestPin));

	*manifest = *kept->manifest;
	/* nobody asked for statistics */
	manifest->stats = NULL;
	pin->kept = kept;
	pin->callback.func = Unpin;
	pin->callback.arg = pin;
	kept->users++;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &pin->callback);
	kept->last_used = ++clock_now;
	return manifest;
}

/* Does what is kept hold for the snapshot? */
static bool
Holds(KeptManifest *kept, Oid rowtype, Snapshot snapshot)
{
	if (kept->rowtype != rowtype)
		return false;
	if (SeenSame(&kept->seen, snapshot))
		return true;
	for (int i = 0; i < lengthof(sources); i++)
		if (!CatalogPrintHolds(&kept->prints[i], sources[i], kept->relid, snapshot))
			return false;
	SeenTake(&kept->seen, snapshot);
	return true;
}

static bool
ReadNoInlineRows(Oid relid, Snapshot snapshot)
{
	int64		n;
	uint64	   *ids = InlineIds(relid, snapshot, &n);

	pfree(ids);
	return n == 0;
}

/* For debugging: read it anew and compare. */
static void
Verify(const KeptManifest *kept, Snapshot snapshot)
{
	const Manifest *have = kept->manifest;
	Manifest   *want = ManifestRead(kept->relid, snapshot);
	bool		same = have->nfiles == want->nfiles && have->nruns == want->nruns && have->nspecs == want->nspecs &&
		have->rows == want->rows && have->deleted == want->deleted &&
		kept->no_inline_rows == ReadNoInlineRows(kept->relid, snapshot);

	for (int i = 0; same && i < want->nfiles; i++)
		same = have->files[i].file_id == want->files[i].file_id && have->files[i].spec == want->files[i].spec &&
			ManifestFileLive(&have->files[i]) == ManifestFileLive(&want->files[i]);
	if (!same)
		elog(ERROR, "kept manifest of bucketed table \"%s\" is not what the snapshot sees", get_rel_name(kept->relid));
}

/* Read what is to be kept: all of it, in a context of its own. */
static KeptManifest *
Read(Oid relid, Oid rowtype, Snapshot snapshot)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "bucketfdw kept manifest", ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	KeptManifest *kept = palloc0(sizeof(KeptManifest));

	kept->cxt = cxt;
	kept->relid = relid;
	kept->rowtype = rowtype;
	for (int i = 0; i < lengthof(sources); i++)
		CatalogPrintTake(&kept->prints[i], sources[i], relid, snapshot);
	kept->manifest = ManifestRead(relid, snapshot);
	kept->no_inline_rows = ReadNoInlineRows(relid, snapshot);
	SeenTake(&kept->seen, snapshot);
	kept->bytes = MemoryContextMemAllocated(cxt, true);
	MemoryContextSwitchTo(old);
	return kept;
}

/* Can it be of use again? */
static bool
IsWorthKeeping(const KeptManifest *kept)
{
	bool		settled = true;

	for (int i = 0; i < lengthof(sources); i++)
		settled &= kept->prints[i].settled;
	return (settled || kept->seen.known) && kept->bytes <= LARGEST_BYTES;
}

Manifest *
ManifestReadKept(Oid relid, Snapshot snapshot, bool *no_inline_rows)
{
	Oid			rowtype;
	KeptManifest *kept = NULL;

	/* a serializable transaction has to be seen reading; a worker reads once */
	if (IsolationIsSerializable() || IsParallelWorker() || snapshot == NULL ||
		snapshot->snapshot_type != SNAPSHOT_MVCC)
	{
		*no_inline_rows = false;
		return ManifestRead(relid, snapshot);
	}

	rowtype = get_rel_type_id(relid);
	for (int i = 0; i < nkept && kept == NULL; i++)
	{
		if (kept_manifests[i]->relid != relid)
			continue;
		kept = kept_manifests[i];
		if (!Holds(kept, rowtype, snapshot))
		{
			Forget(i);
			break;
		}
		*no_inline_rows = kept->no_inline_rows;
		if (bf_verify_order)
			Verify(kept, snapshot);
		return Share(kept);
	}

	kept = Read(relid, rowtype, snapshot);
	*no_inline_rows = kept->no_inline_rows;
	if (!IsWorthKeeping(kept))
		return kept->manifest;
	MakeRoom(kept->bytes);
	if (kept_cxt == NULL)
		kept_cxt = AllocSetContextCreate(TopMemoryContext, "bucketfdw kept manifests", ALLOCSET_SMALL_SIZES);
	MemoryContextSetParent(kept->cxt, kept_cxt);
	kept_bytes += kept->bytes;
	kept_manifests[nkept++] = kept;
	return Share(kept);
}

void
ManifestOwn(Manifest *manifest)
{
	ManifestFile *files = palloc_extended(Max(manifest->nfiles, 1) * sizeof(ManifestFile), MCXT_ALLOC_HUGE);
	ManifestRun *runs = palloc_extended(Max(manifest->nruns, 1) * sizeof(ManifestRun), MCXT_ALLOC_HUGE);
	BucketSpec **specs = palloc(Max(manifest->nspecs, 1) * sizeof(BucketSpec *));

	if (manifest->nfiles > 0)
		memcpy(files, manifest->files, manifest->nfiles * sizeof(ManifestFile));
	if (manifest->nruns > 0)
		memcpy(runs, manifest->runs, manifest->nruns * sizeof(ManifestRun));
	if (manifest->nspecs > 0)
		memcpy(specs, manifest->specs, manifest->nspecs * sizeof(BucketSpec *));
	manifest->files = files;
	manifest->runs = runs;
	manifest->specs = specs;
}
