/*
 * page.h
 *	  Pages of our files: a header as core's pages have, and payload.
 *
 * The payloads in order of blocks are the file.  A page is written once, whole;
 * its header tells it from one that has not been written yet (short or zero)
 * and, by a tag, from a page of another file that had the number before.
 * The rest of the header is what PageIsVerified wants.
 */
#ifndef BF_PAGE_H
#define BF_PAGE_H

#include "storage/bufpage.h"

#define PAGE_PAYLOAD	(BLCKSZ - (int) MAXALIGN(SizeOfPageHeaderData))

/* of memory that pages are read to and written from, for direct I/O */
#define BF_PAGE_ALIGN	4096

StaticAssertDecl(MAXALIGN(SizeOfPageHeaderData) == SizeOfPageHeaderData, "payload follows the header");

/* The tag of a block: both numbers mixed (multipliers of splitmix64). */
static inline uint32
PageTag(uint64 file_id, BlockNumber block)
{
	uint64		x = file_id + (uint64) block * UINT64CONST(0x9E3779B97F4A7C15);

	x = (x ^ (x >> 30)) * UINT64CONST(0xBF58476D1CE4E5B9);
	x = (x ^ (x >> 27)) * UINT64CONST(0x94D049BB133111EB);
	return (uint32) (x >> 32);
}

/* Header of a page whose payload is there or will be before it is written. */
static inline void
PageInitOurs(char *page, uint64 file_id, BlockNumber block)
{
	PageHeader	header = (PageHeader) page;

	memset(header, 0, SizeOfPageHeaderData);
	header->pd_lower = header->pd_upper = header->pd_special = BLCKSZ;
	PageSetPageSizeAndVersion((Page) page, BLCKSZ, PG_PAGE_LAYOUT_VERSION);
	header->pd_prune_xid = PageTag(file_id, block);
}

/* Is this page written, and of this block of this file? */
static inline bool
PageIsOurs(const char *page, uint64 file_id, BlockNumber block)
{
	const PageHeaderData *header = (const PageHeaderData *) page;

	return header->pd_upper == BLCKSZ && header->pd_special == BLCKSZ &&
		header->pd_pagesize_version == (BLCKSZ | PG_PAGE_LAYOUT_VERSION) &&
		header->pd_prune_xid == PageTag(file_id, block);
}

/* Where the payload of a page begins. */
#define PagePayload(page)	((page) + BLCKSZ - PAGE_PAYLOAD)

/* Blocks that a file of so many bytes has. */
static inline BlockNumber
PagesOf(uint64 bytes)
{
	return (BlockNumber) ((bytes + PAGE_PAYLOAD - 1) / PAGE_PAYLOAD);
}

#endif							/* BF_PAGE_H */
