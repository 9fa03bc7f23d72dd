/*
 * test_merge.c
 *	  The merge join against a nested loop, over random inputs and all join
 *	  types: batches of one row and of many, duplicates across batch borders on
 *	  both inputs, NULLs, selections, several key columns, groups that go to a
 *	  temporary file, conditions beside the key.
 *
 * An input frees the batch it gave before it gives the next one, so that a
 * use of stale memory shows, above all under the address sanitizer.
 */
#include "pg_shim.h"

#include "catalog/pg_type_d.h"
#include "common/pg_prng.h"
#include "exec/join/merge/merge_join.h"
#include "utils/memutils.h"

#define MAX_ROWS 4000
#define MAX_KEYS 2
#define NCOLS (MAX_KEYS + 2)	/* keys, row number, a text */
#define COL_ID MAX_KEYS
#define COL_PAYLOAD (MAX_KEYS + 1)

typedef struct Row
{
	Datum		keys[MAX_KEYS];
	bool		nulls[MAX_KEYS];
	int64		id;
} Row;

/* how the keys of a test are made */
typedef struct KeyShape
{
	const char *name;
	int			nkeys;
	KeyClass	classes[MAX_KEYS];
	Oid			left_types[MAX_KEYS];
	Oid			right_types[MAX_KEYS];
} KeyShape;

static const KeyShape shapes[] = {
	{"bigint", 1, {KEYCLASS_INT}, {INT8OID}, {INT8OID}},
	{"integer with bigint", 1, {KEYCLASS_INT}, {INT4OID}, {INT8OID}},
	{"smallint with integer", 1, {KEYCLASS_INT}, {INT2OID}, {INT4OID}},
	{"double precision", 1, {KEYCLASS_FLOAT}, {FLOAT8OID}, {FLOAT8OID}},
	{"text", 1, {KEYCLASS_TEXT}, {TEXTOID}, {VARCHAROID}},
	{"integer, text", 2, {KEYCLASS_INT, KEYCLASS_TEXT}, {INT4OID, TEXTOID}, {INT8OID, TEXTOID}},
	{"bigint, date", 2, {KEYCLASS_INT, KEYCLASS_DATE}, {INT8OID, DATEOID}, {INT8OID, DATEOID}},
	{"integer, smallint", 2, {KEYCLASS_INT, KEYCLASS_INT}, {INT4OID, INT2OID}, {INT2OID, INT4OID}},
	{"timestamp, integer", 2, {KEYCLASS_TIMESTAMP, KEYCLASS_INT}, {TIMESTAMPOID, INT4OID}, {TIMESTAMPOID, INT4OID}},
	{"text, integer", 2, {KEYCLASS_TEXT, KEYCLASS_INT}, {TEXTOID, INT4OID}, {TEXTOID, INT4OID}},
	{"char(n)", 1, {KEYCLASS_BPCHAR}, {BPCHAROID}, {BPCHAROID}},
	{"short text", 1, {KEYCLASS_TEXT}, {NAMEOID}, {NAMEOID}},
	{"bytea", 1, {KEYCLASS_BYTEA}, {BYTEAOID}, {BYTEAOID}},
	{"numeric", 1, {KEYCLASS_NUMERIC}, {NUMERICOID}, {NUMERICOID}},
};

typedef struct Input
{
	const KeyShape *shape;
	const Oid  *types;
	Row		   *rows;
	int			nrows;
	int			next;			/* row */
	int			max_batch;
	bool		with_selection;
	bool		heeds_bounds;
	bool		touched;		/* asked for a batch at all */
	MemoryContext cxt;			/* of the present batch */
	Batch		batch;
	KeyVector	keys;			/* for bounds */
} Input;

static pg_prng_state prng;

static int
Random(int below)
{
	return (int) pg_prng_uint64_range(&prng, 0, below - 1);
}

static Datum
MakeText(const char *string)
{
	int			len = strlen(string);
	struct varlena *result = palloc(len + VARHDRSZ);

	if (Random(2) == 0)
	{
		SET_VARSIZE_SHORT(result, len + VARHDRSZ_SHORT);
		memcpy((char *) result + VARHDRSZ_SHORT, string, len);
	}
	else
	{
		SET_VARSIZE(result, len + VARHDRSZ);
		memcpy(VARDATA(result), string, len);
	}
	return PointerGetDatum(result);
}

/* Bytes that differ in the number of zero bytes at their end. */
static Datum
MakeBytes(int n)
{
	int			zeros = n % 4;
	struct varlena *result = palloc0(VARHDRSZ + 3 + zeros);

	SET_VARSIZE(result, VARHDRSZ + 3 + zeros);
	memcpy(VARDATA(result), "ab", 2);
	VARDATA(result)[2] = (char) (n / 4);
	return PointerGetDatum(result);
}

/* Numbers in numeric's short form that share three digits of base 10000, NaN, and some of both signs. */
static Datum
MakeNumeric(int n)
{
	uint16		words[6] = {0x8003, 1234, 0, 5678, n + 1};
	int			nwords = 5;
	struct varlena *result;

	if (n % 7 == 0)
		words[0] |= 0x2000;
	if (n % 11 == 1)
	{
		words[0] = 0x8000;
		words[1] = n + 1;
		nwords = 2;
	}
	if (n == 5)
	{
		words[0] = 0xC000;
		nwords = 1;
	}
	result = palloc(VARHDRSZ + sizeof(words));
	SET_VARSIZE(result, VARHDRSZ + nwords * sizeof(uint16));
	memcpy(VARDATA(result), words, nwords * sizeof(uint16));
	return PointerGetDatum(result);
}

/* The value number n of a type; the order of the numbers is not that of the values. */
static Datum
MakeKey(Oid typid, int n)
{
	char		buf[64];

	switch (typid)
	{
		case INT2OID:
			return Int16GetDatum(n - 3);
		case INT4OID:
			return Int32GetDatum(n - 3);
		case DATEOID:
			return Int32GetDatum(n - 3);
		case TIMESTAMPOID:
			/* some are too large to share an image */
			return Int64GetDatum(n % 50 == 49 ? (n % 100 == 49 ? PG_INT64_MAX - n : PG_INT64_MIN + n) : n - 3);
		case INT8OID:
			return Int64GetDatum(n - 3);
		case FLOAT8OID:
			return Float8GetDatum(n == 0 ? (Random(2) ? 0.0 : -0.0) : (n - 3) / 4.0);
		case BPCHAROID:
			snprintf(buf, sizeof(buf), "key %d%*s", n, Random(4), "");
			return MakeText(buf);
		case NAMEOID:
			/* stands for texts of which the images decide, once what all begin with is gone */
			snprintf(buf, sizeof(buf), "customer %d", n);
			return MakeText(buf);
		case BYTEAOID:
			return MakeBytes(n);
		case NUMERICOID:
			return MakeNumeric(n);
		default:
			/* most differ behind the eighth byte only */
			snprintf(buf, sizeof(buf), n % 5 == 0 ? "%d" : "a common beginning %d", n);
			return MakeText(buf);
	}
}

static const Oid *compare_types;
static const KeyShape *compare_shape;

static int
CompareRows(const void *a, const void *b)
{
	const Row  *ra = a;
	const Row  *rb = b;

	for (int k = 0; k < compare_shape->nkeys; k++)
	{
		int			cmp;

		if (ra->nulls[k] || rb->nulls[k])
			cmp = ra->nulls[k] - rb->nulls[k];
		else
			cmp = KeyCompare(compare_shape->classes[k], compare_types[k], ra->keys[k], compare_types[k], rb->keys[k]);
		if (cmp != 0)
			return cmp;
	}
	return 0;
}

/* Decoding on first use, as in a real scan: the columns are there, only the flag is missing. */
static void
LoadColumn(Batch *batch, int col)
{
	batch->loaded[col] = true;
}

static Batch *
NextBatch(void *arg, const KeyBound *bound)
{
	Input	   *input = arg;
	Batch	   *batch = &input->batch;
	MemoryContext old;
	int			nrows;
	int			noise;
	int			total;

	input->touched = true;

	/* the bound may point into the other input's batch, never into ours */
	if (bound != NULL && input->heeds_bounds)
	{
		while (input->next < input->nrows)
		{
			Row		   *row = &input->rows[input->next];
			int			cmp = 0;

			for (int k = 0; k < bound->nkeys && cmp == 0; k++)
				cmp = row->nulls[k] ? 1 :
					KeyCompare(bound->classes[k], input->types[k], row->keys[k], bound->types[k], bound->values[k]);
			if (cmp >= 0)
				break;
			input->next++;
		}
	}

	MemoryContextReset(input->cxt);
	if (input->next == input->nrows)
		return NULL;

	old = MemoryContextSwitchTo(input->cxt);
	nrows = 1 + Random(input->max_batch);
	nrows = Min(nrows, input->nrows - input->next);
	noise = input->with_selection ? Random(nrows + 1) : 0;
	total = nrows + noise;
	memset(batch, 0, sizeof(*batch));
	batch->ncols = NCOLS;
	batch->cols = palloc0(NCOLS * sizeof(ColumnVector));
	batch->loaded = palloc0(NCOLS * sizeof(bool));
	batch->load = LoadColumn;
	batch->nrows = total;
	batch->nselected = nrows;
	batch->selection = noise > 0 ? palloc(nrows * sizeof(uint16)) : NULL;
	for (int c = 0; c < NCOLS; c++)
	{
		batch->cols[c].values = palloc0(total * sizeof(Datum));
		batch->cols[c].nulls = palloc0(total * sizeof(bool));
	}
	for (int i = 0, taken = 0; i < total; i++)
	{
		bool		selected = Random(total - i) < nrows - taken;
		Row		   *row = &input->rows[input->next + Min(taken, nrows - 1)];

		/* a row that is not selected repeats its neighbour, with an id nobody has */
		for (int k = 0; k < input->shape->nkeys; k++)
		{
			batch->cols[k].nulls[i] = row->nulls[k];
			if (!row->nulls[k])
				batch->cols[k].values[i] = input->types[k] == TEXTOID || input->types[k] == VARCHAROID ||
					input->types[k] == BPCHAROID ?
					PointerGetDatum(memcpy(palloc(VARSIZE_ANY(DatumGetPointer(row->keys[k]))),
										   DatumGetPointer(row->keys[k]),
										   VARSIZE_ANY(DatumGetPointer(row->keys[k])))) :
					row->keys[k];
		}
		batch->cols[COL_ID].values[i] = Int64GetDatum(selected ? row->id : -1);
		if (row->id % 7 == 0)
			batch->cols[COL_PAYLOAD].nulls[i] = true;
		else
		{
			char		buf[32];

			snprintf(buf, sizeof(buf), "payload %d", (int) row->id);
			batch->cols[COL_PAYLOAD].values[i] = MakeText(buf);
		}
		if (selected)
		{
			if (batch->selection != NULL)
				batch->selection[taken] = i;
			taken++;
		}
	}
	/* a column without nulls may say so */
	for (int c = 0; c < NCOLS; c++)
	{
		if (memchr(batch->cols[c].nulls, true, total) == NULL)
			batch->cols[c].nulls = NULL;
	}
	input->next += nrows;
	MemoryContextSwitchTo(old);
	return batch;
}

static void
FillInput(Input *input, const KeyShape *shape, const Oid *types, int nrows, int nvalues, int null_percent)
{
	memset(input, 0, sizeof(*input));
	input->shape = shape;
	input->types = types;
	input->nrows = nrows;
	input->rows = palloc0(Max(nrows, 1) * sizeof(Row));
	input->max_batch = Random(3) == 0 ? 1 : 1 + Random(Random(2) ? 10 : 1000);
	input->with_selection = Random(3) == 0;
	input->heeds_bounds = Random(2) == 0;
	input->cxt = AllocSetContextCreate(CurrentMemoryContext, "input", ALLOCSET_DEFAULT_SIZES);
	for (int i = 0; i < nrows; i++)
	{
		for (int k = 0; k < shape->nkeys; k++)
		{
			input->rows[i].nulls[k] = Random(100) < null_percent;
			if (!input->rows[i].nulls[k])
				input->rows[i].keys[k] = MakeKey(types[k], Random(nvalues));
		}
		input->rows[i].id = i;
	}
	compare_shape = shape;
	compare_types = types;
	qsort(input->rows, nrows, sizeof(Row), CompareRows);
}

/* Does a payload that came through the join belong to the row? */
static bool
PayloadIsRight(Batch *batch, int row)
{
	ColumnVector *vec = BatchColumn(batch, COL_PAYLOAD);
	int64		id = DatumGetInt64(BatchColumn(batch, COL_ID)->values[row]);
	char		buf[32];
	struct varlena *value;

	if (id < 0)
		return false;
	if (id % 7 == 0)
		return vec->nulls != NULL && vec->nulls[row];
	if (vec->nulls != NULL && vec->nulls[row])
		return false;
	snprintf(buf, sizeof(buf), "payload %d", (int) id);
	value = (struct varlena *) DatumGetPointer(vec->values[row]);
	return VARSIZE_ANY_EXHDR(value) == strlen(buf) && memcmp(VARDATA_ANY(value), buf, strlen(buf)) == 0;
}

/* A condition beside the key. */
static bool
Residual(int64 l, int64 r)
{
	return (l + r) % 3 != 0;
}

/* What came out of a join. */
typedef struct Output
{
	MergeType	type;
	bool		residual;
	const Input *left;
	int			nright;
	uint8	   *pairs;			/* per pair of ids, how often */
	uint8	   *lonly;			/* per left id: given alone */
	uint8	   *ronly;
	const Row  *last;			/* the left row of the entry before */
	int64		n;				/* candidate pairs */
	int64	   *group[2];		/* ids of the rows of the key that is counted, left and right */
	int			ngroup[2];
} Output;

static const Row *
LeftRow(const Output *out, int64 id)
{
	for (int i = 0; i < out->left->nrows; i++)
	{
		if (out->left->rows[i].id == id)
			return &out->left->rows[i];
	}
	return NULL;
}

/* Take one entry as an executor would; false when something is wrong with it. */
static bool
TakeEntry(Output *out, MergePairs *pairs, int i)
{
	bool		has_left = pairs->lrow[i] != MERGE_NONE;
	bool		has_right = pairs->rrow[i] != MERGE_NONE;
	bool		once = out->type == MERGE_SEMI || out->type == MERGE_ANTI;
	bool		settled = i < pairs->settled;
	int64		l = has_left ? DatumGetInt64(BatchColumn(pairs->left, COL_ID)->values[pairs->lrow[i]]) : -1;
	int64		r = has_right ? DatumGetInt64(BatchColumn(pairs->right, COL_ID)->values[pairs->rrow[i]]) : -1;

	if (has_left && !PayloadIsRight(pairs->left, pairs->lrow[i]))
		return false;
	if (has_right && !PayloadIsRight(pairs->right, pairs->rrow[i]))
		return false;

	/* left rows come in key order, which nodes above rely on */
	if (has_left && out->type != MERGE_FULL)
	{
		const Row  *row = LeftRow(out, l);

		compare_shape = out->left->shape;
		compare_types = out->left->types;
		if (out->last != NULL && CompareRows(out->last, row) > 0)
			return false;
		out->last = row;
	}
	if (!has_right)
	{
		if (!has_left || out->type == MERGE_INNER || out->type == MERGE_SEMI)
			return false;
		if (settled || !pairs->lmatched[pairs->lrow[i]])
			out->lonly[l]++;
		return true;
	}
	if (!has_left)
	{
		if (out->type != MERGE_FULL)
			return false;
		if (!pairs->rmatched[pairs->rrow[i]])
			out->ronly[r]++;
		return true;
	}
	out->n++;
	if (settled && out->residual)
		return false;
	if (once && !settled && pairs->lmatched[pairs->lrow[i]])
		return true;
	if (out->residual && !Residual(l, r))
		return true;
	if (pairs->lmatched && !settled)
		pairs->lmatched[pairs->lrow[i]] = true;
	if (pairs->rmatched && !settled)
		pairs->rmatched[pairs->rrow[i]] = true;
	if (out->type == MERGE_SEMI)
		out->lonly[l]++;
	else if (out->type != MERGE_ANTI)
		out->pairs[l * out->nright + r]++;
	return true;
}

/* The key that is counted is finished. */
static void
FinishGroup(Output *out)
{
	for (int l = 0; l < out->ngroup[0]; l++)
	{
		for (int r = 0; r < out->ngroup[1]; r++)
			out->pairs[out->group[0][l] * out->nright + out->group[1][r]]++;
	}
	out->n += (int64) out->ngroup[0] * out->ngroup[1];
	out->ngroup[0] = out->ngroup[1] = 0;
}

/* Take a list of stretches; false when something is wrong with it. */
static bool
TakeStretches(Output *out, MergePairs *pairs, int64 *counted)
{
	int			i = 0;

	if (out->residual || pairs->settled != pairs->n ||
		pairs->stretches[pairs->nstretches - 1].to != pairs->n)
		return false;
	for (int s = 0; s < pairs->nstretches; s++)
	{
		const BatchStretch *stretch = &pairs->stretches[s];
		int			side = stretch->left ? 0 : 1;

		if (stretch->begins)
		{
			FinishGroup(out);
			if (pairs->lrow[i] == MERGE_NONE || pairs->rrow[i] == MERGE_NONE)
				return false;
		}
		if (stretch->to <= i)
			return false;
		for (; i < stretch->to; i++)
		{
			Batch	   *batch = side == 0 ? pairs->left : pairs->right;
			int			row = side == 0 ? pairs->lrow[i] : pairs->rrow[i];

			if (row == MERGE_NONE || !PayloadIsRight(batch, row))
				return false;
			out->group[side][out->ngroup[side]++] = DatumGetInt64(BatchColumn(batch, COL_ID)->values[row]);
			(*counted)++;
		}
	}
	return true;
}

/* rows in stretches, of all joins */
static int64 all_counted = 0;

/* One random join; returns whether every row of the result came exactly once. */
static bool
RunOne(const KeyShape *shape, int nleft, int nright, int nvalues, int null_percent, Size work_bytes,
	   int64 *npairs, int64 *spilled)
{
	Input		left;
	Input		right;
	int			keycols[MAX_KEYS] = {0, 1};
	int16		typlen[2][NCOLS];
	bool		typbyval[2][NCOLS];
	MergeSideSpec specs[2];
	MergeJoin  *join;
	MergePairs *pairs = palloc(sizeof(MergePairs));
	MergeJoinCounters counters;
	Output		out = {0};
	bool		counts;
	int64		counted = 0;
	bool		good = true;

	FillInput(&left, shape, shape->left_types, nleft, nvalues, null_percent);
	FillInput(&right, shape, shape->right_types, nright, nvalues, null_percent);
	for (int s = 0; s < 2; s++)
	{
		const Oid  *types = s == 0 ? shape->left_types : shape->right_types;

		for (int c = 0; c < NCOLS; c++)
		{
			bool		is_text = c == COL_PAYLOAD || (c < shape->nkeys && !KeyClassIsFixed(shape->classes[c]));

			typlen[s][c] = is_text ? -1 : 8;
			typbyval[s][c] = !is_text;
		}
		specs[s].next = NextBatch;
		specs[s].arg = s == 0 ? &left : &right;
		specs[s].keycols = keycols;
		specs[s].keytypes = types;
		specs[s].keyclasses = shape->classes;
		specs[s].ncols = NCOLS;
		specs[s].typlen = typlen[s];
		specs[s].typbyval = typbyval[s];
	}

	out.type = (MergeType) Random(5);
	out.residual = Random(2) == 0;
	out.left = &left;
	out.nright = nright;
	join = MergeJoinCreate(out.type, out.residual, shape->nkeys,
						   &specs[0], &specs[1], work_bytes);
	counts = !out.residual && out.type != MERGE_SEMI && out.type != MERGE_ANTI && Random(2) == 0;
	if (counts)
		MergeJoinCount(join);
	out.group[0] = palloc(Max(nleft, 1) * sizeof(int64));
	out.group[1] = palloc(Max(nright, 1) * sizeof(int64));
	out.pairs = palloc((Size) Max(nleft, 1) * Max(nright, 1));
	out.lonly = palloc(Max(nleft, 1));
	out.ronly = palloc(Max(nright, 1));

	/* twice: a join is used for unit after unit */
	for (int unit = 0; unit < 2 && good; unit++)
	{
		bool		left_first = Random(2) == 0;
		bool	   *rmatched = palloc0(Max(nright, 1) * sizeof(bool));

		left.next = right.next = 0;
		left.touched = right.touched = false;
		memset(out.pairs, 0, (Size) nleft * nright);
		memset(out.lonly, 0, nleft);
		memset(out.ronly, 0, nright);
		out.last = NULL;
		out.n = 0;
		out.ngroup[0] = out.ngroup[1] = 0;
		MergeJoinStart(join, left_first);
		while (good && MergeJoinNext(join, pairs))
		{
			if (pairs->n < 1 || pairs->n > MERGE_PAIRS)
				good = false;
			if (pairs->nstretches > 0)
			{
				good &= counts && TakeStretches(&out, pairs, &counted);
				/* now and then a unit is given up in the middle */
				if (unit == 0 && Random(20) == 0)
					break;
				continue;
			}
			FinishGroup(&out);
			for (int i = 0; i < pairs->n && good; i++)
				good = TakeEntry(&out, pairs, i);
			/* now and then a unit is given up in the middle */
			if (unit == 0 && Random(200) == 0)
				break;
		}
		FinishGroup(&out);
		*npairs = out.n;
		if (unit == 0)
			continue;

		/* the input named first decides that the other one is not needed */
		if (out.type == MERGE_INNER && (left_first ? nleft : nright) == 0 &&
			(left_first ? right.touched : left.touched))
			good = false;

		for (int l = 0; l < nleft; l++)
		{
			int64		lid = left.rows[l].id;
			bool		lmatched = false;

			for (int r = 0; r < nright; r++)
			{
				int64		rid = right.rows[r].id;
				bool		match = !out.residual || Residual(lid, rid);

				for (int k = 0; k < shape->nkeys && match; k++)
					match = !left.rows[l].nulls[k] && !right.rows[r].nulls[k] &&
						KeyCompare(shape->classes[k], shape->left_types[k], left.rows[l].keys[k],
								   shape->right_types[k], right.rows[r].keys[k]) == 0;
				lmatched |= match;
				rmatched[rid] |= match;
				if (out.pairs[lid * nright + rid] !=
					(match && out.type != MERGE_SEMI && out.type != MERGE_ANTI))
					good = false;
			}
			switch (out.type)
			{
				case MERGE_INNER:
					break;
				case MERGE_SEMI:
					good &= out.lonly[lid] == lmatched;
					break;
				default:
					good &= out.lonly[lid] == !lmatched;
			}
		}
		for (int r = 0; r < nright && out.type == MERGE_FULL; r++)
			good &= out.ronly[r] == !rmatched[r];
	}
	MergeJoinGetCounters(join, &counters);
	*spilled = counters.spilled;
	/* nothing is kept of a key that is counted */
	if (counts && counters.peak_memory > 0)
		good = false;
	all_counted += counted;
	if (counters.peak_memory > work_bytes)
		good = false;
	MergeJoinReset(join);
	if (ShimOpenTempFiles() != 0)
		good = false;
	return good;
}

int
main(int argc, char **argv)
{
	uint64		seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 20240229;
	MemoryContext cxt;

	ShimInit();
	cxt = AllocSetContextCreate(TopMemoryContext, "test", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(cxt);
	printf("# seed %llu\n", (unsigned long long) seed);

	for (int s = 0; s < (int) lengthof(shapes); s++)
	{
		const struct
		{
			const char *name;
			int			max_rows;
			int			nvalues;
			int			null_percent;
			Size		work_bytes;
			int			times;
		}			loads[] = {
			{"few duplicates", 300, 400, 0, 1024 * 1024, 60},
			{"many duplicates", 200, 12, 0, 1024 * 1024, 60},
			{"one key", 150, 1, 0, 1024 * 1024, 20},
			{"one key, no memory", 150, 1, 0, 0, 20},
			{"two keys, little memory", 800, 2, 0, 8192, 10},
			{"nulls", 200, 30, 30, 1024 * 1024, 40},
			{"nulls only", 20, 5, 100, 1024 * 1024, 10},
			{"tiny", 3, 3, 10, 1024 * 1024, 100},
			{"keys mostly once", 300, 3000, 0, 1024 * 1024, 40},
		};

		for (int k = 0; k < (int) lengthof(loads); k++)
		{
			bool		good = true;
			int64		all_pairs = 0;
			int64		all_spilled = 0;
			int			t;

			for (t = 0; t < loads[k].times && good; t++)
			{
				int64		npairs;
				int64		spilled;

				pg_prng_seed(&prng, seed + s * 1000000 + k * 10000 + t);
				good = RunOne(&shapes[s], Random(loads[k].max_rows + 1), Random(loads[k].max_rows + 1),
							  loads[k].nvalues, loads[k].null_percent, loads[k].work_bytes, &npairs, &spilled);
				all_pairs += npairs;
				all_spilled += spilled;
				MemoryContextReset(cxt);
			}
			if (!ShimOk(good, "%s, %s: %lld pairs%s", shapes[s].name, loads[k].name, (long long) all_pairs,
						all_spilled > 0 ? ", spilled" : ""))
				printf("# failed at try %d\n", t);
			if (loads[k].work_bytes == 0)
				ShimOk(all_spilled > 0, "%s, %s: went to a temporary file", shapes[s].name, loads[k].name);
		}
	}
	ShimOk(all_counted > 0, "%lld rows were counted instead of paired", (long long) all_counted);
	return ShimDone();
}
