/*
 * like_pattern.h
 *	  LIKE, byte by byte: patterns of plain characters and %.
 */
#ifndef BF_LIKE_PATTERN_H
#define BF_LIKE_PATTERN_H

#include "postgres.h"

typedef struct LikePattern LikePattern;

/*
 * May a pattern (a text) be compared so?  It must have no _, which is a
 * character and no byte, and not end within an escape, which is an error; and
 * bytes of a character must not be found in others.
 */
extern bool LikePatternFits(Datum pattern);

/* If it begins with characters and goes on with %: how many bytes that begin are, and nothing follows; else -1. */
extern int	LikePatternPrefix(Datum pattern);

/* Make it, in the current context. */
extern LikePattern *LikePatternMake(Datum pattern);

/* Is a text, which is neither compressed nor external, LIKE the pattern? */
extern bool LikePatternMatches(const LikePattern *like, Datum value);

/* What all such texts begin with; 0: they may begin with anything. */
extern Datum LikePatternBegin(const LikePattern *like);

#endif							/* BF_LIKE_PATTERN_H */
