"""Short queries at full rate: pgbench with prepared statements, rows of one random key each, by 2 and by 16 clients."""
import os
import re
import subprocess
from statistics import median

from common.measure import must_agree, say
from common.report import ms, times

CLIENTS = (2, 16)
PARTITIONS = 8
QUERIES = (
    ("rows of one key", "SELECT * FROM orders WHERE customer_id = {}"),
    ("one key's join", "SELECT o.order_id, o.amount, c.country, c.age FROM orders o JOIN customers c USING (customer_id) "
                       "WHERE c.customer_id = {}"),
    ("rows of one key, partitioned", "SELECT * FROM parts WHERE customer_id = {}"),
)


def partitions(bench):
    """The orders once more, below a parent with partitions by range of the key."""
    admin, rows = bench.admin, bench.options.rows
    step = rows // PARTITIONS + 1
    for schema in ("heap", "bucketed"):
        admin.send(f"CREATE TABLE {schema}.parts (LIKE heap.orders) PARTITION BY RANGE (customer_id)")
        for i in range(PARTITIONS):
            foreign, how = ("FOREIGN ", " SERVER bucketfdw OPTIONS (bucket_by 'customer_id', buckets '16')") if schema == "bucketed" else ("", "")
            admin.send(f"CREATE {foreign}TABLE {schema}.parts{i} PARTITION OF {schema}.parts "
                       f"FOR VALUES FROM ({i * step}) TO ({(i + 1) * step}){how}")
        admin.send(f"INSERT INTO {schema}.parts TABLE heap.orders")
    admin.send("CREATE INDEX ON heap.parts (customer_id)")
    admin.send("VACUUM ANALYZE heap.parts")
    admin.send("ANALYZE bucketed.parts")
    admin.send("CHECKPOINT")


def rate(schema, script, clients, options):
    """Transactions a second of as many clients."""
    settings = f"-c search_path={schema} -c jit=off" + (" -c bucketfdw.verify_order=on" if options.smoke else "")
    command = [os.path.join(os.environ["BFDW_PG"], "pgbench"), "-n", "-M", "prepared", "-c", str(clients), "-j", "2", "-f", script]
    command += ["-t", "5"] if options.smoke else ["-T", str(options.rate_seconds)]
    done = subprocess.run(command + ["postgres"], env={**os.environ, "PGOPTIONS": settings}, check=True, capture_output=True, text=True)
    return float(re.search(r"^tps = ([0-9.]+)", done.stdout, re.M).group(1))


def run(bench):
    bench.shop()
    options, report = bench.options, bench.report
    say("orders in partitions")
    partitions(bench)
    peers = [bench.session(schema, schema) for schema in ("bucketed", "heap")]
    folder, rows = bench.folder("rates"), []
    for n, (name, text) in enumerate(QUERIES):
        for key in (1, options.rows // 2, options.rows):
            query = text.format(key)
            answers = [peer.run(query) for peer in peers]
            must_agree(query, answers[0], "bucketed", answers[1], "heap")
        script = os.path.join(folder, f"{n}.sql")
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"\\set key random(1, {options.rows})\n{text.format(':key')};\n")
        for clients in CLIENTS:
            found = {"bucketed": [], "heap": []}
            for _ in range(max(options.rounds, 1)):
                for schema, rates in found.items():
                    rates.append(rate(schema, script, clients, options))
            ours, heap = (median(rates) for rates in found.values())
            rows.append((name, clients, ms(ours), ms(heap), times(ours / heap), report.goal(ours / heap, ">= 0.5")))
    report.table(f"Transactions a second, {options.rows:,} orders and customers",
                 ["query", "clients", "bucketed", "heap, B-tree on the key", "bucketed / heap", "goal"], rows,
                 f"pgbench, prepared statements, a random key each; parents of {PARTITIONS} partitions.")
    for schema in ("heap", "bucketed"):
        bench.admin.send(f"DROP TABLE {schema}.parts")
    bench.drop(peers)
