/*
 * guc.h
 *	  Settings of bucketfdw.
 */
#ifndef BF_GUC_H
#define BF_GUC_H

extern bool bf_enable;			/* bucketfdw.enable */
extern bool bf_enable_bucketjoin;	/* bucketfdw.enable_bucketjoin */
extern bool bf_enable_bucketagg;	/* bucketfdw.enable_bucketagg */
extern bool bf_enable_pruning;	/* bucketfdw.enable_pruning */
extern bool bf_enable_routing;	/* bucketfdw.enable_routing */
extern bool bf_log_rejections;	/* bucketfdw.log_rejections */
extern bool bf_verify_order;	/* bucketfdw.verify_order */
extern bool bf_ignore_damaged_files;	/* bucketfdw.ignore_damaged_files */
extern int	bf_debug_unit_rows; /* bucketfdw.debug_unit_rows; 0: not set */
extern int	bf_default_buckets; /* bucketfdw.default_buckets */
extern int	bf_inline_limit;	/* bucketfdw.inline_limit, bytes; 0: nothing is inline */
extern int	bf_min_free_space;	/* bucketfdw.min_free_space, MB */
extern bool bf_upkeep;			/* bucketfdw.upkeep */
extern double bf_upkeep_deleted;	/* bucketfdw.upkeep_deleted */
extern int	bf_upkeep_runs;		/* bucketfdw.upkeep_runs */
extern double bf_upkeep_analyze;	/* bucketfdw.upkeep_analyze */
extern int	bf_upkeep_cost_limit;	/* bucketfdw.upkeep_cost_limit */
extern double bf_upkeep_cost_delay;	/* bucketfdw.upkeep_cost_delay, ms */
extern int	bf_log_upkeep_min_duration; /* bucketfdw.log_upkeep_min_duration, ms */

extern int	bf_max_counted_tables;	/* bucketfdw.max_counted_tables */

extern void GucInit(void);

#endif							/* BF_GUC_H */
