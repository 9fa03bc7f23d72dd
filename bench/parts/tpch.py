"""The 22 queries of TPC-H over heap tables with primary keys, bucketed tables and DuckDB."""
import glob
import os
import re
import shutil
import subprocess
import sys
from math import exp, log

from common.bench import SOURCE
from common.measure import best, measure, say
from common.peers import Failed
from common.report import ms, ratio, times

TABLES = ["region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem"]
BUCKETED = TABLES[3:]
KEYS = {"region": "r_regionkey", "nation": "n_nationkey", "supplier": "s_suppkey", "customer": "c_custkey", "part": "p_partkey",
        "partsupp": "ps_partkey, ps_suppkey", "orders": "o_orderkey", "lineitem": "l_orderkey, l_linenumber"}
FOREIGN_KEYS = {"customer": ["c_nationkey"], "supplier": ["s_nationkey"], "partsupp": ["ps_suppkey"], "orders": ["o_custkey"],
                "lineitem": ["l_partkey, l_suppkey", "l_suppkey"]}
SLOWER = 1.05
SMALLEST = 0.01


def queries(scale):
    """{number: text}"""
    found, number = {}, None
    with open(os.path.join(SOURCE, "tpch", "queries.sql"), encoding="utf-8") as file:
        for line in file:
            begin = re.match(r"-- Q(\d+)$", line)
            if begin:
                number = int(begin.group(1))
            elif number:
                found[number] = found.get(number, "") + " " + line.strip()
    fraction = f"{0.0001 / float(scale):.12f}".rstrip("0")
    return {n: text.strip().replace("FRACTION", fraction) for n, text in found.items()}


def load(bench, o, scale):
    admin, csv = bench.admin, bench.folder("tpch-csv")
    say(f"generating TPC-H at scale {scale}")
    subprocess.run([os.path.join(os.path.dirname(sys.executable), "tpchgen-cli"), "csv", "-s", scale, "--output-dir", csv,
                    "--quiet"], check=True)
    for path in glob.glob(csv + "/*"):
        os.chmod(path, 0o644)
    admin.send("DROP SCHEMA IF EXISTS heap, bucketed, parted CASCADE")
    bench.shop_tables = None
    admin.send("CREATE SCHEMA heap")
    admin.send("CREATE SCHEMA bucketed")
    bench.script("tpch/tables.sql", buckets=o.buckets)
    took, rows = {}, []
    for table in TABLES:
        for kind in ("heap", "bucketed"):
            if kind == "heap" or table in BUCKETED:
                admin.send("CHECKPOINT")
                took[kind, table] = admin.send(f"COPY {kind}.{table} FROM '{csv}/{table}.csv' (FORMAT csv, HEADER)")[1]
    admin.send("SET maintenance_work_mem = '1GB'")
    keys = 0.0
    for table in TABLES:
        keys += admin.send(f"ALTER TABLE heap.{table} ADD PRIMARY KEY ({KEYS[table]})")[1]
        for columns in FOREIGN_KEYS.get(table, []) if o.tpch_indexes else []:
            keys += admin.send(f"CREATE INDEX ON heap.{table} ({columns})")[1]
    admin.send("RESET maintenance_work_mem")
    admin.send("VACUUM ANALYZE " + ", ".join("heap." + t for t in TABLES))
    admin.send("ANALYZE " + ", ".join("bucketed." + t for t in BUCKETED))
    ducks = bench.duck("tpch")
    for duck in ducks:
        for table in TABLES:
            columns = admin.send("SELECT string_agg(quote_ident(attname) || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum) "
                                 f"FROM pg_attribute WHERE attrelid = 'heap.{table}'::regclass AND attnum > 0")[0][0]
            columns = re.sub(r"character( varying)?\(\d+\)", "varchar", columns).replace("numeric", "decimal")
            duck.send(f"create table {table} ({columns})")
            took["duck", table] = duck.send(f"copy {table} from '{csv}/{table}.csv' (header true)")[1]
    shutil.rmtree(csv)
    for table in TABLES:
        heap = int(admin.value(f"SELECT pg_table_size('heap.{table}')")) / 1048576
        ours = int(admin.value(f"SELECT bucketfdw.table_size('bucketed.{table}')")) / 1048576 if table in BUCKETED else None
        rows.append((table, ms(took["heap", table]), ms(took.get(("bucketed", table))), ms(took.get(("duck", table))),
                     f"{heap:.1f}", "-" if ours is None else f"{ours:.1f}"))
    admin.send("CHECKPOINT")
    bench.report.table(f"TPC-H at scale {scale}: loading and size", ["COPY", "heap, ms", "bucketed, ms", "DuckDB, ms", "heap, MB", "bucketed, MB"],
                       rows, f"Primary keys{' and indexes on foreign keys' if o.tpch_indexes else ''} of the heap tables: {keys:,.0f} ms more.")
    return ducks


def nodes(plan):
    """Our nodes in a plan, counted."""
    found = [f"{name} x{plan.count(name)}" for name in ("BucketJoin", "BucketAggregate") if name in plan]
    return ", ".join(found) or "-"


def slower_than_heap(found, ours, heap):
    """By one process, with two workers, or the best of them: the heap tables answered sooner."""
    pairs = [(found[a], found[b]) for a, b in zip(ours, heap)] + [(best(found, *ours), best(found, *heap))]
    return any(b is not None and (a is None or a > b * SLOWER) for a, b in pairs)


def evidence(bench, name, query, peers):
    """EXPLAIN ANALYZE of a query that is slower than heap, into a file beside the report."""
    with open(os.path.join(bench.report.folder, "tpch-slower.txt"), "a", encoding="utf-8") as file:
        for peer in peers:
            try:
                plan = peer.explain(query, "ANALYZE, BUFFERS")
            except Failed:  # takes longer than it may
                plan = peer.explain(query, "COSTS ON")
            file.write(f"==== {name}, {peer.label}\n{plan}\n")


def compare(bench, scale, wanted, chart):
    """Loads and measures at one scale; the queries that had no answer, on heap tables or on bucketed ones."""
    o, report = bench.options, bench.report
    ducks = load(bench, o, scale)
    limit = {"statement_timeout": o.tpch_timeout * 1000}
    peers = bench.workers("bucketed", "bucketed, heap", **limit) + bench.workers("heap", "heap", **limit) + ducks
    labels = [p.label for p in peers]
    rows, groups, slower, ratios, late = [], [], [], [], []
    for number, query in queries(scale).items():
        if number not in wanted:
            continue
        say(f"TPC-H query {number}")
        name = f"Q{number}"
        found = measure(peers, query, o.rounds, seconds=o.tpch_timeout)
        say(", ".join(f"{label} {ms(taken)}" for label, taken in found.items()))
        mine, heap = best(found, *labels[:2]), best(found, *labels[2:4])
        part = ratio(heap, mine)
        ratios += [part] if part else []
        late += [number] if part is None else []
        verdict = "SLOWER" if slower_than_heap(found, labels[:2], labels[2:4]) else ""
        if verdict:
            slower.append(name)
        if verdict and not o.smoke:
            evidence(bench, f"{name} at scale {scale}", query, peers[:4])
        # heap tables took at least the time they had
        least = ratio(o.tpch_timeout * 1000, mine)
        rows.append((name, *[ms(found[label]) for label in labels], "> " + times(least) if heap is None and least else times(part),
                     times(ratio(mine, found[labels[4]])) if ducks else "-", nodes(peers[0].explain(query)), verdict))
        groups.append((name, list(found.items())))
    mean = f"; its geometric mean is {exp(sum(map(log, ratios)) / len(ratios)):.2f}" if ratios else ""
    title = f"TPC-H at scale {scale}"
    report.table(title, ["query", *labels, "heap / bucketed", "part of DuckDB", "nodes", ""], rows,
                 f"ms; '-' is no answer within {o.tpch_timeout} s. heap / bucketed: the best of one process and two workers on either side, "
                 f"of queries that ended on both{mean}. nodes: ours in the plan by one process.")
    if slower and not o.smoke:
        report.put("", f"More than 5 % slower than heap, by one process, with two workers or the best of them: {', '.join(slower)}; plans in tpch-slower.txt.")
    report.bars(chart, title, "medians", "milliseconds", groups)
    bench.drop(peers)
    bench.admin.send("DROP SCHEMA heap, bucketed CASCADE")
    return late


def run(bench):
    o, report = bench.options, bench.report
    slower_file = os.path.join(report.folder, "tpch-slower.txt")
    if os.path.exists(slower_file):
        os.remove(slower_file)
    late = compare(bench, o.tpch_scale, o.tpch_queries or queries(o.tpch_scale).keys(), "tpch")
    scale = float(o.tpch_scale)
    while late and scale > SMALLEST:
        names = ", ".join(f"Q{number}" for number in late)
        smaller = max(scale / 10, SMALLEST)
        report.put("", f"{names}: no answer within {o.tpch_timeout} s at scale {scale:g}; compared at scale {smaller:g} instead.")
        scale = smaller
        late = compare(bench, f"{scale:g}", late, f"tpch-{scale:g}")
    if late:
        report.put("", f"{', '.join(f'Q{number}' for number in late)}: no answer within {o.tpch_timeout} s at scale {scale:g} either.")
