"""The settings a statement over the bucketed tables runs under, and when two answers are the same."""
import collections

FORCE = [("enable_hashjoin", "off"), ("enable_nestloop", "off"), ("enable_mergejoin", "off")]
MODES = {
    "on": [("bucketfdw.verify_order", "off")],
    "off": [("bucketfdw.enable", "off")],
    "force": FORCE,
    "no routing": FORCE + [("bucketfdw.enable_routing", "off")],
    "no pruning": FORCE + [("bucketfdw.enable_pruning", "off")],
    "small memory": FORCE + [("work_mem", "'64kB'")],
    "parallel": FORCE + [("force_parallel_mode", "on"), ("min_parallel_table_scan_size", "0"), ("parallel_setup_cost", "0"),
                         ("parallel_tuple_cost", "0"), ("max_parallel_workers_per_gather", "2")],
    "sorted": [("enable_hashjoin", "off"), ("enable_nestloop", "off"), ("enable_hashagg", "off"), ("enable_sort", "off"),
               ("enable_partitionwise_join", "on"), ("enable_partitionwise_aggregate", "on")],
    "lookups": [("enable_hashjoin", "off"), ("enable_mergejoin", "off"), ("bucketfdw.enable_bucketjoin", "off"), ("enable_material", "off")],
    "parts": FORCE + [("bucketfdw.debug_unit_rows", "4")],
    "runs": FORCE + [("bucketfdw.debug_unit_rows", "1000000")],
    "generic": FORCE + [("plan_cache_mode", "force_generic_plan")],
}
NUMERIC, FLOATS, BPCHAR = 1700, (700, 701), 1042


def canonical(result, loose):
    """The rows with one look for each value: floats as Python prints them; if loose also 5.0 as 5, -0 as 0, no trailing blanks."""
    if not loose or not any(t == NUMERIC or t in FLOATS or t == BPCHAR for t in result.types):
        return result.rows

    def one(typ, v):
        if v is None:
            return v
        if typ == NUMERIC and "." in v:
            return v.rstrip("0").rstrip(".")
        if typ in FLOATS:
            return "0" if v == "-0" else "%.14g" % float(v)
        if typ == BPCHAR:
            return v.rstrip(" ")
        return v
    return [tuple(one(t, v) for t, v in zip(result.types, row)) for row in result.rows]


def same_rows(a, b, query):
    x, y = canonical(a, query.canon), canonical(b, query.canon)
    if len(x) != len(y):
        return False
    return x == y if query.ordered else collections.Counter(x) == collections.Counter(y)
