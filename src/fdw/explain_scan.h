/*
 * explain_scan.h
 *	  What EXPLAIN says of a scan.
 */
#ifndef BF_EXPLAIN_SCAN_H
#define BF_EXPLAIN_SCAN_H

#include "foreign/fdwapi.h"

/* FdwRoutine.ExplainForeignScan */
extern void ExplainForeignScan(ForeignScanState *node, ExplainState *es);

#endif							/* BF_EXPLAIN_SCAN_H */
