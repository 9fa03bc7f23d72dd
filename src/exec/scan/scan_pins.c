/*
 * scan_pins.c
 *	  Which buckets a scan will read, before there is a state of it.
 */
#include "postgres.h"

#include "exec/scan/scan_node.h"
#include "nodes/params.h"
#include "nodes/primnodes.h"

/* The value of a constant or of a parameter of the whole execution; false: it is known later. */
static bool
ValueAtStart(Node *node, ParamListInfo params, Datum *value, bool *isnull)
{
	ParamExternData *param;
	ParamExternData data;
	int			id;

	while (IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	if (IsA(node, Const))
	{
		*value = ((Const *) node)->constvalue;
		*isnull = ((Const *) node)->constisnull;
		return true;
	}
	if (!IsA(node, Param) || ((Param *) node)->paramkind != PARAM_EXTERN || params == NULL)
		return false;
	id = ((Param *) node)->paramid;
	if (id < 1 || id > params->numParams)
		return false;

	/* whoever gives parameters one by one does not have to give this one already */
	param = params->paramFetch != NULL ? params->paramFetch(params, id, true, &data) : &params->params[id - 1];
	if (param->ptype != ((Param *) node)->paramtype)
		return false;
	*value = param->value;
	*isnull = param->isnull;
	return true;
}

/* How many expressions a qual has, those of its arms too. */
static int
QualExprs(const LeafQual *qual)
{
	int			n = LeafQualHasExpr(qual) ? 1 : 0;

	for (int a = 0; a < qual->narms; a++)
		n += QualExprs(&qual->arms[a]);
	return n;
}

uint8 *
ScanBucketsAtStart(const ForeignScan *plan, const BucketSpec *spec, ParamListInfo params)
{
	List	   *descs = list_nth(plan->fdw_private, SCAN_PRIVATE_QUALS);
	LeafQual   *quals = palloc0(Max(list_length(descs), 1) * sizeof(LeafQual));
	int			nquals = 0;
	int			nexprs = 0;
	ListCell   *lc;

	foreach(lc, descs)
	{
		LeafQual   *qual = &quals[nquals];
		Datum		value = (Datum) 0;
		bool		isnull = true;
		bool		known;

		memset(qual, 0, sizeof(LeafQual));
		LeafQualRead(lfirst(lc), qual);
		known = !LeafQualHasArms(qual) &&
			(!LeafQualHasValue(qual) ||
			 ValueAtStart(list_nth(plan->fdw_exprs, nexprs), params, &value, &isnull));
		nexprs += QualExprs(qual);
		if (!known)
			continue;
		if (LeafQualIsArray(qual))
			LeafQualSetArray(qual, value, isnull);
		else if (LeafQualHasValue(qual))
			LeafQualSetValue(qual, value, isnull);
		nquals++;
	}
	return LeafQualsBuckets(spec, nquals, quals);
}
