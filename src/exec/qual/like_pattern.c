/*
 * like_pattern.c
 *	  LIKE as a search for pieces between the % of a pattern.
 *
 * Core compares characters under a deterministic collation byte by byte, too.
 * In UTF-8, and where a character is a byte, a piece is found nowhere but at
 * the beginning of a character; elsewhere the second byte of one may look like
 * another.
 */
#include "postgres.h"

#include "compat.h"
#include "exec/qual/like_pattern.h"
#include "mb/pg_wchar.h"

/* Bytes between two %, without escapes. */
typedef struct LikePiece
{
	const char *data;
	size_t		len;
} LikePiece;

struct LikePattern
{
	bool		open_left;		/* begins with % */
	bool		open_right;		/* ends with % */
	int			npieces;		/* none of them is empty */
	LikePiece  *pieces;
	size_t		min_len;		/* of a text that matches */
	Datum		begin;			/* the first piece as a text, where nothing may stand before it */
};

bool
LikePatternFits(Datum pattern)
{
	const char *p = VARDATA_ANY(DatumGetPointer(pattern));
	size_t		len = VARSIZE_ANY_EXHDR(DatumGetPointer(pattern));

	if (pg_database_encoding_max_length() > 1 && GetDatabaseEncoding() != PG_UTF8)
		return false;
	for (size_t i = 0; i < len; i++)
	{
		if (p[i] == '_')
			return false;
		if (p[i] == '\\' && ++i == len)
			return false;
	}
	return true;
}

int
LikePatternPrefix(Datum pattern)
{
	const char *p = VARDATA_ANY(DatumGetPointer(pattern));
	size_t		len = VARSIZE_ANY_EXHDR(DatumGetPointer(pattern));

	if (len < 2 || p[len - 1] != '%')
		return -1;
	for (size_t i = 0; i < len - 1; i++)
	{
		if (p[i] == '%' || p[i] == '_' || p[i] == '\\')
			return -1;
	}
	return (int) len - 1;
}

LikePattern *
LikePatternMake(Datum pattern)
{
	const char *p = VARDATA_ANY(DatumGetPointer(pattern));
	size_t		len = VARSIZE_ANY_EXHDR(DatumGetPointer(pattern));
	LikePattern *like = palloc0(sizeof(LikePattern));
	char	   *to = palloc(len + 1);
	LikePiece  *piece = NULL;

	like->pieces = palloc((len + 1) * sizeof(LikePiece));
	like->open_left = len > 0 && p[0] == '%';
	for (size_t i = 0; i < len; i++)
	{
		like->open_right = p[i] == '%';
		if (like->open_right)
		{
			piece = NULL;
			continue;
		}
		if (p[i] == '\\')
			i++;
		if (piece == NULL)
		{
			piece = &like->pieces[like->npieces++];
			piece->data = to;
			piece->len = 0;
		}
		*to++ = p[i];
		piece->len++;
		like->min_len++;
	}
	if (like->npieces > 0 && !like->open_left)
	{
		text	   *begin = palloc(VARHDRSZ + like->pieces[0].len);

		SET_VARSIZE(begin, VARHDRSZ + like->pieces[0].len);
		memcpy(VARDATA(begin), like->pieces[0].data, like->pieces[0].len);
		like->begin = PointerGetDatum(begin);
	}
	return like;
}

/* The first place of a piece in [v, end), or NULL. */
static inline const char *
FindPiece(const LikePiece *piece, const char *v, const char *end)
{
	const char *last = end - piece->len;
	char		first = piece->data[0];

	/* texts are short: a call for each byte that fits costs more than looking at the next ones */
	while (v <= last)
	{
		v = memchr(v, first, last - v + 1);
		if (v == NULL)
			return NULL;
		if (piece->len == 1 ||
			(v[piece->len - 1] == piece->data[piece->len - 1] && memcmp(v + 1, piece->data + 1, piece->len - 1) == 0))
			return v;
		v++;
	}
	return NULL;
}

bool
LikePatternMatches(const LikePattern *like, Datum value)
{
	const char *v = VARDATA_ANY(DatumGetPointer(value));
	size_t		len = VARSIZE_ANY_EXHDR(DatumGetPointer(value));
	const char *end = v + len;
	int			first = 0;
	int			last = like->npieces;

	if (len < like->min_len)
		return false;
	if (like->npieces == 0)
		return like->open_left || len == 0;
	if (!like->open_left)
	{
		const LikePiece *piece = &like->pieces[first++];

		if (memcmp(v, piece->data, piece->len) != 0)
			return false;
		v += piece->len;
		/* no % at all */
		if (first == last && !like->open_right)
			return v == end;
	}
	if (!like->open_right)
	{
		const LikePiece *piece = &like->pieces[--last];

		end -= piece->len;
		if (memcmp(end, piece->data, piece->len) != 0)
			return false;
	}
	for (; first < last; first++)
	{
		v = FindPiece(&like->pieces[first], v, end);
		if (v == NULL)
			return false;
		v += like->pieces[first].len;
	}
	return true;
}

Datum
LikePatternBegin(const LikePattern *like)
{
	return like->begin;
}
