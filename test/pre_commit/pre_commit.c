/*
 * pre_commit.c
 *	  A library of somebody else that runs a query when a transaction is about
 *	  to commit.  For t/013_pre_commit.pl, which builds it.
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "utils/guc.h"
#include "utils/snapmgr.h"

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);

static char *query = NULL;

static void
AtXactEvent(XactEvent event, void *arg)
{
	if (event != XACT_EVENT_PRE_COMMIT || query == NULL || query[0] == '\0')
		return;
	PushActiveSnapshot(GetTransactionSnapshot());
	SPI_connect();
	if (SPI_execute(query, false, 0) < 0)
		elog(ERROR, "query of pre_commit failed");
	SPI_finish();
	PopActiveSnapshot();
}

void
_PG_init(void)
{
	DefineCustomStringVariable("pre_commit.query", "Query that is run before each commit.", NULL,
							   &query, "", PGC_USERSET, 0, NULL, NULL, NULL);
	RegisterXactCallback(AtXactEvent, NULL);
}
