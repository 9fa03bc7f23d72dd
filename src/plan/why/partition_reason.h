/*
 * partition_reason.h
 *	  Why the partitions of a table are not joined as one bucketed table.
 */
#ifndef BF_PARTITION_REASON_H
#define BF_PARTITION_REASON_H

#include "plan/words/reason.h"

/*
 * Are all of these partitions (Oids, locked by the caller) bucketed by the
 * same columns?  If not, return true and say which one stands in the way;
 * label is the name of the partitioned table.
 */
extern bool PartitionsReason(const char *label, List *leaves, Rejection *rejection);

#endif							/* BF_PARTITION_REASON_H */
