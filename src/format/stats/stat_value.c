/*
 * stat_value.c
 *	  Values in block statistics and key tuples, as stored in the footer.
 */
#include "postgres.h"

#include "format/stats/stat_value.h"
#include "format/varlena_pack.h"
#include "utils/uuid.h"

/* short headers always, numerics and texts have alignment 4 */
static const VarlenaForm stat_form = {4, true};

static inline bool
is_text_class(KeyClass keyclass)
{
	return keyclass == KEYCLASS_TEXT || keyclass == KEYCLASS_BPCHAR || keyclass == KEYCLASS_BYTEA;
}

bool
StatValueKept(KeyClass keyclass, Datum value)
{
	return keyclass != KEYCLASS_NUMERIC ||
		VARSIZE_ANY_EXHDR(DatumGetPointer(value)) <= BF_STAT_BYTES;
}

void
StatValueWrite(ByteBuffer *out, KeyClass keyclass, bool isnull, Datum value)
{
	const char *content;
	size_t		len;
	char		flags = 0;

	if (isnull)
	{
		flags = BF_VALUE_NULL;
		ByteBufferAppend(out, &flags, 1);
		return;
	}
	if (KeyClassIsFixed(keyclass))
	{
		ByteBufferAppend(out, &flags, 1);
		ByteBufferAppend(out, &value, sizeof(Datum));
		return;
	}
	if (keyclass == KEYCLASS_UUID)
	{
		ByteBufferAppend(out, &flags, 1);
		ByteBufferAppend(out, DatumGetPointer(value), UUID_LEN);
		return;
	}
	content = VARDATA_ANY(DatumGetPointer(value));
	len = VARSIZE_ANY_EXHDR(DatumGetPointer(value));
	if (keyclass == KEYCLASS_BPCHAR)
		len = KeyBlankTrimmedLength(content, (int) len);
	if (is_text_class(keyclass) && len > BF_STAT_BYTES)
	{
		len = BF_STAT_BYTES;
		flags = BF_VALUE_TRUNCATED;
	}
	ByteBufferAppend(out, &flags, 1);
	VarlenaAppend(out, content, len, stat_form);
}

const char *
StatValueRead(const char *base, size_t len, size_t *at, KeyClass keyclass, StatValue *result)
{
	const char *v;
	uint8		flags;

	if (*at >= len)
		return "key value is cut off";
	flags = base[(*at)++];
	if ((flags & ~(BF_VALUE_NULL | BF_VALUE_TRUNCATED)) != 0 ||
		((flags & BF_VALUE_TRUNCATED) && !is_text_class(keyclass)))
		return "key value has invalid flags";
	result->isnull = (flags & BF_VALUE_NULL) != 0;
	result->truncated = (flags & BF_VALUE_TRUNCATED) != 0;
	result->value = (Datum) 0;
	if (result->isnull)
		return NULL;

	if (KeyClassIsFixed(keyclass))
	{
		if (len - *at < sizeof(Datum))
			return "key value is cut off";
		memcpy(&result->value, base + *at, sizeof(Datum));
		*at += sizeof(Datum);
		return NULL;
	}
	if (keyclass == KEYCLASS_UUID)
	{
		if (len - *at < UUID_LEN)
			return "key value is cut off";
		result->value = PointerGetDatum(base + *at);
		*at += UUID_LEN;
		return NULL;
	}
	v = VarlenaNext(base, len, at, stat_form.align);
	if (v == NULL)
		return "key value is invalid";
	if (keyclass == KEYCLASS_NUMERIC && !NumericContentValid(v))
		return "key value is no valid numeric";
	result->value = PointerGetDatum(v);
	return NULL;
}
