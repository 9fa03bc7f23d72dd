/*
 * hooks.h
 *	  The hooks of core's planner that we are called from.
 */
#ifndef BF_PLAN_HOOKS_H
#define BF_PLAN_HOOKS_H

/* Install them, once, from _PG_init. */
extern void PlanHooksInit(void);

#endif							/* BF_PLAN_HOOKS_H */
