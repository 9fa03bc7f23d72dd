/*
 * pg_shim.c
 *	  Memory contexts, errors, interrupts and test output for stand-alone
 *	  programs; see pg_shim.h.
 */
#include "postgres.h"

#include <unistd.h>

#include "miscadmin.h"
#include "nodes/memnodes.h"
#include "pg_shim.h"
#include "utils/memutils.h"

/* ---------------------------------------------------------------------
 * Memory contexts: every chunk is a malloc of its own, in a list.
 * ---------------------------------------------------------------------
 */

typedef struct Chunk
{
	struct Chunk *prev;
	struct Chunk *next;
	Size		size;
	struct ShimContext *context;	/* last: 15 looks for it right before the data */
} Chunk;

typedef struct ShimContext
{
	MemoryContextData header;
	Chunk	   *chunks;
	Size		allocated;
} ShimContext;

#define CHUNK_OF(p) ((Chunk *) (p) - 1)

MemoryContext CurrentMemoryContext = NULL;
MemoryContext TopMemoryContext = NULL;
MemoryContext ErrorContext = NULL;
MemoryContext CacheMemoryContext = NULL;

int			work_mem = 4096;
int			maintenance_work_mem = 65536;
double		hash_mem_multiplier = 1.0;
Oid			MyDatabaseId = 5;

static Size total_allocated = 0;

/* Put a context into the list of its parent. */
static void
Link(MemoryContext context, MemoryContext parent)
{
	context->parent = parent;
	context->prevchild = NULL;
	context->nextchild = parent->firstchild;
	if (parent->firstchild != NULL)
		parent->firstchild->prevchild = context;
	parent->firstchild = context;
}

static MemoryContext
ContextCreate(MemoryContext parent, const char *name)
{
	ShimContext *context = calloc(1, sizeof(ShimContext));

	if (context == NULL)
		abort();
	context->header.type = T_AllocSetContext;
	context->header.name = name;
	if (parent != NULL)
		Link(&context->header, parent);
	return &context->header;
}

MemoryContext
AllocSetContextCreateInternal(MemoryContext parent, const char *name,
							  Size minContextSize, Size initBlockSize, Size maxBlockSize)
{
	return ContextCreate(parent, name);
}

MemoryContext
GenerationContextCreate(MemoryContext parent, const char *name,
						Size minContextSize, Size initBlockSize, Size maxBlockSize)
{
	return ContextCreate(parent, name);
}

void *
MemoryContextAllocExtended(MemoryContext context, Size size, int flags)
{
	ShimContext *shim = (ShimContext *) context;
	Chunk	   *chunk;

	if (!((flags & MCXT_ALLOC_HUGE) ? AllocHugeSizeIsValid(size) : AllocSizeIsValid(size)))
		elog(ERROR, "invalid memory alloc request size %zu", size);

	chunk = malloc(sizeof(Chunk) + size);
	if (chunk == NULL)
	{
		if (flags & MCXT_ALLOC_NO_OOM)
			return NULL;
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	}

	/* fresh memory holds garbage in a server, too */
	memset(chunk + 1, (flags & MCXT_ALLOC_ZERO) ? 0 : 0x7e, size);

	chunk->prev = NULL;
	chunk->next = shim->chunks;
	chunk->context = shim;
	chunk->size = size;
	if (shim->chunks != NULL)
		shim->chunks->prev = chunk;
	shim->chunks = chunk;
	shim->allocated += size;
	total_allocated += size;
	return chunk + 1;
}

void *
MemoryContextAlloc(MemoryContext context, Size size)
{
	return MemoryContextAllocExtended(context, size, 0);
}

void *
MemoryContextAllocZero(MemoryContext context, Size size)
{
	return MemoryContextAllocExtended(context, size, MCXT_ALLOC_ZERO);
}

void *
MemoryContextAllocZeroAligned(MemoryContext context, Size size)
{
	return MemoryContextAllocExtended(context, size, MCXT_ALLOC_ZERO);
}

void *
MemoryContextAllocHuge(MemoryContext context, Size size)
{
	return MemoryContextAllocExtended(context, size, MCXT_ALLOC_HUGE);
}

void *
palloc(Size size)
{
	return MemoryContextAlloc(CurrentMemoryContext, size);
}

void *
palloc0(Size size)
{
	return MemoryContextAllocZero(CurrentMemoryContext, size);
}

void *
palloc_extended(Size size, int flags)
{
	return MemoryContextAllocExtended(CurrentMemoryContext, size, flags);
}

void
pfree(void *pointer)
{
	Chunk	   *chunk = CHUNK_OF(pointer);

	if (chunk->prev != NULL)
		chunk->prev->next = chunk->next;
	else
		chunk->context->chunks = chunk->next;
	if (chunk->next != NULL)
		chunk->next->prev = chunk->prev;
	chunk->context->allocated -= chunk->size;
	total_allocated -= chunk->size;
	free(chunk);
}

static void *
Reallocate(void *pointer, Size size, int flags)
{
	Chunk	   *chunk = CHUNK_OF(pointer);
	void	   *result = MemoryContextAllocExtended(&chunk->context->header, size, flags);

	memcpy(result, pointer, Min(size, chunk->size));
	pfree(pointer);
	return result;
}

void *
repalloc(void *pointer, Size size)
{
	return Reallocate(pointer, size, 0);
}

void *
repalloc_huge(void *pointer, Size size)
{
	return Reallocate(pointer, size, MCXT_ALLOC_HUGE);
}

#if PG_VERSION_NUM >= 160000
void *
repalloc0(void *pointer, Size oldsize, Size size)
{
	void	   *result = Reallocate(pointer, size, 0);

	memset((char *) result + oldsize, 0, size - oldsize);
	return result;
}
#endif

char *
MemoryContextStrdup(MemoryContext context, const char *string)
{
	Size		len = strlen(string) + 1;

	return memcpy(MemoryContextAlloc(context, len), string, len);
}

char *
pstrdup(const char *in)
{
	return MemoryContextStrdup(CurrentMemoryContext, in);
}

char *
pnstrdup(const char *in, Size len)
{
	char	   *out;

	len = strnlen(in, len);
	out = palloc(len + 1);
	memcpy(out, in, len);
	out[len] = '\0';
	return out;
}

Size
GetMemoryChunkSpace(void *pointer)
{
	return CHUNK_OF(pointer)->size + sizeof(Chunk);
}

#if PG_VERSION_NUM >= 160000
MemoryContext
GetMemoryChunkContext(void *pointer)
{
	return &CHUNK_OF(pointer)->context->header;
}
#endif

void
MemoryContextRegisterResetCallback(MemoryContext context, MemoryContextCallback *cb)
{
	cb->next = context->reset_cbs;
	context->reset_cbs = cb;
}

void
MemoryContextDeleteChildren(MemoryContext context)
{
	while (context->firstchild != NULL)
		MemoryContextDelete(context->firstchild);
}

void
MemoryContextReset(MemoryContext context)
{
	ShimContext *shim = (ShimContext *) context;

	MemoryContextDeleteChildren(context);
	while (context->reset_cbs != NULL)
	{
		MemoryContextCallback *cb = context->reset_cbs;

		context->reset_cbs = cb->next;
		cb->func(cb->arg);
	}
	while (shim->chunks != NULL)
		pfree(shim->chunks + 1);
}

/* Take a context out of the list of its parent. */
static void
Unlink(MemoryContext context)
{
	if (context->prevchild != NULL)
		context->prevchild->nextchild = context->nextchild;
	else if (context->parent != NULL)
		context->parent->firstchild = context->nextchild;
	if (context->nextchild != NULL)
		context->nextchild->prevchild = context->prevchild;
}

void
MemoryContextDelete(MemoryContext context)
{
	MemoryContextReset(context);
	Unlink(context);
	free(context);
}

void
MemoryContextSetParent(MemoryContext context, MemoryContext new_parent)
{
	Unlink(context);
	Link(context, new_parent);
}

Size
MemoryContextMemAllocated(MemoryContext context, bool recurse)
{
	Size		total = ((ShimContext *) context)->allocated;

	if (recurse)
	{
		for (MemoryContext child = context->firstchild; child != NULL; child = child->nextchild)
			total += MemoryContextMemAllocated(child, true);
	}
	return total;
}

Size
ShimMemoryInUse(void)
{
	return total_allocated;
}

/* ---------------------------------------------------------------------
 * Errors.  One message is built at a time, in fixed buffers.
 * ---------------------------------------------------------------------
 */

static ErrorData current_error;
static char error_text[4][2048];	/* message, detail, hint, context */

sigjmp_buf *PG_exception_stack = NULL;
ErrorContextCallback *error_context_stack = NULL;

#define ERROR_TEXT(n, fmt) \
	do { \
		va_list		args_; \
		va_start(args_, fmt); \
		vsnprintf(error_text[n], sizeof(error_text[n]), fmt, args_); \
		va_end(args_); \
	} while (0)

bool
errstart(int elevel, const char *domain)
{
	if (elevel < WARNING)
		return false;
	memset(&current_error, 0, sizeof(current_error));
	memset(error_text, 0, sizeof(error_text));
	current_error.elevel = elevel;
	current_error.sqlerrcode = elevel >= ERROR ? ERRCODE_INTERNAL_ERROR : ERRCODE_WARNING;
	return true;
}

bool
errstart_cold(int elevel, const char *domain)
{
	return errstart(elevel, domain);
}

void
errfinish(const char *filename, int lineno, const char *funcname)
{
	for (ErrorContextCallback *cb = error_context_stack; cb != NULL; cb = cb->previous)
		cb->callback(cb->arg);

	current_error.filename = filename;
	current_error.lineno = lineno;
	current_error.funcname = funcname;

	if (current_error.elevel < ERROR)
	{
		fprintf(stderr, "# warning: %s\n", error_text[0]);
		return;
	}
	if (current_error.elevel == ERROR)
		pg_re_throw();
	fprintf(stderr, "# fatal: %s\n", error_text[0]);
	abort();
}

void
pg_re_throw(void)
{
	if (PG_exception_stack != NULL)
		siglongjmp(*PG_exception_stack, 1);
	fprintf(stderr, "# error: %s (%s:%d)\n", error_text[0], current_error.filename, current_error.lineno);
	abort();
}

int
errcode(int sqlerrcode)
{
	current_error.sqlerrcode = sqlerrcode;
	return 0;
}

int
errcode_for_file_access(void)
{
	return errcode(ERRCODE_IO_ERROR);
}

int
errmsg(const char *fmt,...)
{
	ERROR_TEXT(0, fmt);
	return 0;
}

int
errmsg_internal(const char *fmt,...)
{
	ERROR_TEXT(0, fmt);
	return 0;
}

int
errdetail(const char *fmt,...)
{
	ERROR_TEXT(1, fmt);
	return 0;
}

int
errdetail_internal(const char *fmt,...)
{
	ERROR_TEXT(1, fmt);
	return 0;
}

int
errhint(const char *fmt,...)
{
	ERROR_TEXT(2, fmt);
	return 0;
}

int
set_errcontext_domain(const char *domain)
{
	return 0;
}

int
errcontext_msg(const char *fmt,...)
{
	ERROR_TEXT(3, fmt);
	return 0;
}

/* A copy in the current context, as in a server. */
ErrorData *
CopyErrorData(void)
{
	ErrorData  *copy = palloc(sizeof(ErrorData));

	*copy = current_error;
	copy->message = pstrdup(error_text[0]);
	copy->detail = error_text[1][0] ? pstrdup(error_text[1]) : NULL;
	copy->hint = error_text[2][0] ? pstrdup(error_text[2]) : NULL;
	copy->context = error_text[3][0] ? pstrdup(error_text[3]) : NULL;
	return copy;
}

void
FreeErrorData(ErrorData *edata)
{
	if (edata->message != NULL)
		pfree(edata->message);
	if (edata->detail != NULL)
		pfree(edata->detail);
	if (edata->hint != NULL)
		pfree(edata->hint);
	if (edata->context != NULL)
		pfree(edata->context);
	pfree(edata);
}

void
FlushErrorState(void)
{
	memset(&current_error, 0, sizeof(current_error));
	memset(error_text, 0, sizeof(error_text));
}

#ifdef USE_ASSERT_CHECKING
void
#if PG_VERSION_NUM >= 160000
ExceptionalCondition(const char *conditionName, const char *fileName, int lineNumber)
#else
ExceptionalCondition(const char *conditionName, const char *errorType, const char *fileName, int lineNumber)
#endif
{
	fprintf(stderr, "# failed assertion: %s (%s:%d)\n", conditionName, fileName, lineNumber);
	abort();
}
#endif

/* ---------------------------------------------------------------------
 * Interrupts, start, test output
 * ---------------------------------------------------------------------
 */

volatile sig_atomic_t InterruptPending = false;
volatile uint32 InterruptHoldoffCount = 0;
volatile uint32 CritSectionCount = 0;

void
ProcessInterrupts(void)
{
	InterruptPending = false;
}

void
ShimInit(void)
{
	TopMemoryContext = ContextCreate(NULL, "TopMemoryContext");
	ErrorContext = ContextCreate(TopMemoryContext, "ErrorContext");
	CacheMemoryContext = ContextCreate(TopMemoryContext, "CacheMemoryContext");
	CurrentMemoryContext = TopMemoryContext;
}

static int	tests_run = 0;
static int	tests_failed = 0;

bool
ShimOk(bool pass, const char *fmt,...)
{
	char		text[1024];
	va_list		args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	tests_run++;
	if (!pass)
		tests_failed++;
	printf("%sok %d - %s\n", pass ? "" : "not ", tests_run, text);
	return pass;
}

int
ShimDone(void)
{
	printf("1..%d\n", tests_run);
	if (tests_failed > 0)
		printf("# %d of %d tests failed\n", tests_failed, tests_run);
	return tests_failed > 0 || tests_run == 0 ? 1 : 0;
}
