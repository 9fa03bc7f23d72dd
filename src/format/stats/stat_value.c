/*
 * stat_value.c
 *	  Values in block statistics and key tuples, as stored in the footer.
 */
#include "postgres.h"

#include "format/stats/stat_value.h"
#include "format/varlena_pack.h"
#include "spec/key_image.h"

/* short headers always, numerics and texts have alignment 4 */
static const VarlenaForm stat_form = {4, true};

bool
StatValueKept(KeyClass keyclass, Datum value)
{
	return keyclass != KEYCLASS_NUMERIC ||
		VARSIZE_ANY_EXHDR(DatumGetPointer(value)) <= BF_STAT_BYTES;
}

/* The bytes of a varlena that are kept; *cut: there are more. */
static const char *
kept_bytes(KeyClass keyclass, Datum value, size_t *len, bool *cut)
{
	const char *content = (const char *) KeyTextBytes(keyclass, value, len);

	*cut = KeyClasses[keyclass].text && *len > BF_STAT_BYTES;
	if (*cut)
		*len = BF_STAT_BYTES;
	return content;
}

void
StatValueWrite(ByteBuffer *out, KeyClass keyclass, bool isnull, Datum value)
{
	const KeyClassInfo *info = &KeyClasses[keyclass];
	const char *content = NULL;
	size_t		len = 0;
	bool		cut = false;
	char		flags;

	if (!isnull && info->form == KEYFORM_VARLENA)
		content = kept_bytes(keyclass, value, &len, &cut);
	flags = isnull ? BF_VALUE_NULL : cut ? BF_VALUE_TRUNCATED : 0;
	ByteBufferAppend(out, &flags, 1);
	if (isnull)
		return;
	if (info->form == KEYFORM_INT64)
		ByteBufferAppend(out, &value, sizeof(Datum));
	else if (info->form == KEYFORM_BYTES)
		ByteBufferAppend(out, DatumGetPointer(value), info->lengths);
	else
		VarlenaAppend(out, content, len, stat_form);
}

void
StatValueKeep(StatValue *to, char *buffer, KeyClass keyclass, Datum value)
{
	const KeyClassInfo *info = &KeyClasses[keyclass];
	const char *content;
	size_t		len;

	to->isnull = false;
	to->truncated = false;
	to->value = value;
	if (info->form == KEYFORM_INT64)
		return;
	to->value = PointerGetDatum(buffer);
	if (info->form == KEYFORM_BYTES)
	{
		memcpy(buffer, DatumGetPointer(value), info->lengths);
		return;
	}
	content = kept_bytes(keyclass, value, &len, &to->truncated);
	SET_VARSIZE_SHORT(buffer, len + VARHDRSZ_SHORT);
	memcpy(VARDATA_SHORT(buffer), content, len);
}

const char *
StatValueRead(const char *base, size_t len, size_t *at, KeyClass keyclass, StatValue *result)
{
	const KeyClassInfo *info = &KeyClasses[keyclass];
	size_t		size = info->form == KEYFORM_INT64 ? sizeof(Datum) : info->lengths;
	const char *v;
	uint8		flags;

	if (*at >= len)
		return "key value is cut off";
	flags = base[(*at)++];
	if ((flags & ~(BF_VALUE_NULL | BF_VALUE_TRUNCATED)) != 0 ||
		((flags & BF_VALUE_TRUNCATED) && !KeyClasses[keyclass].text))
		return "key value has invalid flags";
	result->isnull = (flags & BF_VALUE_NULL) != 0;
	result->truncated = (flags & BF_VALUE_TRUNCATED) != 0;
	result->value = (Datum) 0;
	if (result->isnull)
		return NULL;

	if (info->form != KEYFORM_VARLENA)
	{
		if (len - *at < size)
			return "key value is cut off";
		if (info->form == KEYFORM_INT64)
			memcpy(&result->value, base + *at, size);
		else
			result->value = PointerGetDatum(base + *at);
		*at += size;
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
