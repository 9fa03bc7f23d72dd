/*
 * qual_describe.c
 *	  Quals as a plan keeps them: without their values.
 */
#include "postgres.h"

#include "exec/qual/leaf_qual.h"
#include "nodes/pg_list.h"

/* Positions in the list of a leaf; bucket_id has more behind them. */
enum LeafPosition
{
	AT_ATTNUM,
	AT_KEYCLASS,
	AT_COLTYPE,
	AT_OP,
	AT_VALUETYPE,
	AT_COMPARE,
	AT_OTHERNUM,
	AT_OTHERTYPE,
	AT_MODULUS,
	AT_HASHED
};

List *
LeafQualDescribe(const LeafQual *qual)
{
	List	   *desc;

	/* a list of lists is AND or OR, which is what the first one says */
	if (LeafQualHasArms(qual))
	{
		desc = list_make1(list_make1_int(qual->op));
		for (int a = 0; a < qual->narms; a++)
			desc = lappend(desc, LeafQualDescribe(&qual->arms[a]));
		return desc;
	}
	/* Oids travel as integers: list_make of int reads them back bit for bit */
	desc = list_make4_int(qual->attnum, (int) qual->keyclass, (int) qual->coltype, (int) qual->op);
	desc = lappend_int(desc, (int) qual->valuetype);
	desc = lappend_int(desc, (int) qual->compare);
	desc = lappend_int(desc, qual->othernum);
	desc = lappend_int(desc, (int) qual->othertype);
	if (LeafQualIsBucket(qual))
	{
		desc = lappend_int(desc, qual->modulus);
		for (int h = 0; h < qual->nhash; h++)
		{
			desc = lappend_int(desc, qual->hashattnums[h]);
			desc = lappend_int(desc, (int) qual->hashtypes[h]);
		}
	}
	return desc;
}

void
LeafQualRead(List *desc, LeafQual *qual)
{
	qual->scale = -1;
	qual->cxt = CurrentMemoryContext;
	if (IsA(desc, List))
	{
		qual->op = (LeafQualOp) linitial_int(linitial(desc));
		qual->narms = list_length(desc) - 1;
		qual->arms = palloc0(qual->narms * sizeof(LeafQual));
		for (int a = 0; a < qual->narms; a++)
			LeafQualRead(list_nth(desc, a + 1), &qual->arms[a]);
		qual->attnum = qual->arms[0].attnum;
		return;
	}
	qual->attnum = (AttrNumber) list_nth_int(desc, AT_ATTNUM);
	qual->keyclass = (KeyClass) list_nth_int(desc, AT_KEYCLASS);
	qual->coltype = (Oid) list_nth_int(desc, AT_COLTYPE);
	qual->op = (LeafQualOp) list_nth_int(desc, AT_OP);
	qual->valuetype = (Oid) list_nth_int(desc, AT_VALUETYPE);
	qual->compare = (LeafQualOp) list_nth_int(desc, AT_COMPARE);
	qual->othernum = (AttrNumber) list_nth_int(desc, AT_OTHERNUM);
	qual->othertype = (Oid) list_nth_int(desc, AT_OTHERTYPE);
	qual->of_numeric = LeafQualIntOfNumeric(qual);
	if (qual->of_numeric)
		qual->valuetype = INT8OID;
	if (!LeafQualIsBucket(qual))
		return;
	qual->modulus = list_nth_int(desc, AT_MODULUS);
	qual->nhash = (list_length(desc) - AT_HASHED) / 2;
	qual->hashattnums = palloc(qual->nhash * sizeof(AttrNumber));
	qual->hashtypes = palloc(qual->nhash * sizeof(Oid));
	for (int h = 0; h < qual->nhash; h++)
	{
		qual->hashattnums[h] = (AttrNumber) list_nth_int(desc, AT_HASHED + 2 * h);
		qual->hashtypes[h] = (Oid) list_nth_int(desc, AT_HASHED + 1 + 2 * h);
	}
}
