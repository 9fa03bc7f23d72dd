/*
 * change_lock.c
 *	  The lock under which rows of a table are deleted and updated.
 */
#include "postgres.h"

#include "load/change_lock.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "storage/lock.h"
#include "storage/manifest.h"
#include "utils/inval.h"

StaticAssertDecl(sizeof(ChangeSlots) * BITS_PER_BYTE == CHANGE_SLOTS, "a bit a slot");

/*
 * Modes of part 0 and of the slots.  Of part 0 those who change, or share, the
 * whole table exclude those who change slots of it; those who share slots
 * exclude only who changes the whole.
 */
typedef struct PartModes
{
	LOCKMODE	whole;
	LOCKMODE	table_of_slots;
	LOCKMODE	slot;
} PartModes;

static const PartModes part_modes[] = {
	[CHANGE_LOCK_SHARE] = {ShareLock, RowShareLock, ShareLock},
	[CHANGE_LOCK_EXCLUSIVE] = {ExclusiveLock, RowExclusiveLock, ExclusiveLock},
};

static void
PartTag(LOCKTAG *tag, Oid manifest, Oid relid, int part)
{
	SET_LOCKTAG_OBJECT(*tag, MyDatabaseId, manifest, relid, part);
}

/* true if the whole table is to be locked */
static bool
IsWhole(ChangeSlots slots)
{
	return pg_popcount32(slots) > CHANGE_MAX_SLOTS;
}

/* Lock a part; false: not without waiting. */
static bool
LockPart(Oid manifest, Oid relid, int part, LOCKMODE mode, bool wait)
{
	LOCKTAG		tag;

	PartTag(&tag, manifest, relid, part);
	return LockAcquire(&tag, mode, false, !wait) != LOCKACQUIRE_NOT_AVAIL;
}

static bool
LockParts(Oid relid, ChangeSlots slots, ChangeLockMode mode, bool wait)
{
	const PartModes *modes = &part_modes[mode];
	Oid			manifest = BucketCatalogOid("manifest");
	bool		done = LockPart(manifest, relid, 0, IsWhole(slots) ? modes->whole : modes->table_of_slots, wait);

	/* all take them in one order */
	for (int s = 0; s < CHANGE_SLOTS && done && !IsWhole(slots); s++)
	{
		if (slots & (1 << s))
			done = LockPart(manifest, relid, 1 + s, modes->slot, wait);
	}

	/* as after every lock that may have been waited for */
	AcceptInvalidationMessages();
	return done;
}

void
ChangeLock(Oid relid, ChangeSlots slots, ChangeLockMode mode)
{
	(void) LockParts(relid, slots, mode, true);
}

bool
ChangeLockIfFree(Oid relid, ChangeSlots slots, ChangeLockMode mode)
{
	return LockParts(relid, slots, mode, false);
}

bool
ChangeLockIsFree(Oid relid)
{
	LOCKMODE	mode = part_modes[CHANGE_LOCK_EXCLUSIVE].whole;
	LOCKTAG		tag;

	PartTag(&tag, BucketCatalogOid("manifest"), relid, 0);
	if (LockAcquire(&tag, mode, false, true) == LOCKACQUIRE_NOT_AVAIL)
		return false;
	(void) LockRelease(&tag, mode, false);
	return true;
}
