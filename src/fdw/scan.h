/*
 * scan.h
 *	  FDW callbacks for planning and executing scans, and for ANALYZE.
 */
#ifndef BF_FDW_SCAN_H
#define BF_FDW_SCAN_H

#include "foreign/fdwapi.h"

/* Fill in the scan callbacks. */
extern void ScanRoutine(FdwRoutine *routine);

/* Fill in the ANALYZE callback. */
extern void AnalyzeRoutine(FdwRoutine *routine);

/* Error: rows of ours have no system columns but tableoid. */
extern void RefuseSystemColumn(const char *relname, int attno);

#endif							/* BF_FDW_SCAN_H */
