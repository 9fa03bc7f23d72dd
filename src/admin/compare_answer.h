/*
 * compare_answer.h
 *	  The answer of a query as a multiset of rows, and whether two of them are
 *	  the same.
 */
#ifndef BF_COMPARE_ANSWER_H
#define BF_COMPARE_ANSWER_H

#include "executor/tuptable.h"

typedef struct Answer Answer;

/*
 * Begin an answer with the columns of desc.  Memory and temporary files belong
 * to the current memory context and resource owner, also those of later
 * calls; memory is bounded by work_mem.
 */
extern Answer *AnswerBegin(TupleDesc desc);

/* Add a row; its values are copied. */
extern void AnswerAdd(Answer *answer, TupleTableSlot *slot);

/* No more rows will come. */
extern void AnswerFinish(Answer *answer);

/* Two finished answers whose columns are of the same types: have they the same rows? */
extern bool AnswersSame(Answer *a, Answer *b);

extern void AnswerFree(Answer *answer);

#endif							/* BF_COMPARE_ANSWER_H */
