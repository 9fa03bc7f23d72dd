/*
 * radix_sort.h
 *	  Template: sort structs by a 64-bit number in them, stable, in linear time.
 *
 * Define before including:
 *	RS_SORT		name of the function
 *	RS_ELEMENT	type of the elements
 *	RS_NUMBER	its uint64 field
 * It gives
 *	static void RS_SORT(RS_ELEMENT **elements, RS_ELEMENT **spare, int64 n, uint64 differing)
 * Both arrays have room for n elements, and change places as often as need be:
 * *elements is the sorted one.  differing has a bit set where numbers differ;
 * digits without one are left out.
 */
static void
RS_SORT(RS_ELEMENT **elements, RS_ELEMENT **spare, int64 n, uint64 differing)
{
	for (int shift = 0; shift < 64; shift += 8)
	{
		RS_ELEMENT *from = *elements;
		RS_ELEMENT *to = *spare;
		int64		start[256] = {0};
		int64		sum = 0;

		if (((differing >> shift) & 0xff) == 0)
			continue;
		CHECK_FOR_INTERRUPTS();
		for (int64 i = 0; i < n; i++)
			start[(from[i].RS_NUMBER >> shift) & 0xff]++;
		for (int d = 0; d < 256; d++)
		{
			int64		count = start[d];

			start[d] = sum;
			sum += count;
		}
		for (int64 i = 0; i < n; i++)
			to[start[(from[i].RS_NUMBER >> shift) & 0xff]++] = from[i];
		*elements = to;
		*spare = from;
	}
}

#undef RS_SORT
#undef RS_ELEMENT
#undef RS_NUMBER
