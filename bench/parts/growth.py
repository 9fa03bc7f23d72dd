"""The join from a million rows on, doubled step by step: milliseconds and memory."""
from common.measure import best, measure, say
from common.report import ms, ratio, times

QUERY = "select country, sum(amount) from orders join customers using (customer_id) group by country"


def run(bench):
    o, report, admin = bench.options, bench.report, bench.admin
    rows, memory, n = [], [], o.growth_min
    series, peaks = {}, {}
    sizes = []
    while n < o.growth_max:
        sizes.append(n)
        n *= 2
    sizes.append(o.growth_max)
    for n in sizes:
        say(f"{n} orders and customers")
        admin.send("DROP SCHEMA IF EXISTS source, grown, grown_b CASCADE")
        bench.script("tables.sql", rows=n, customers=n)
        for schema in ("grown", "grown_b"):
            admin.send(f"CREATE SCHEMA {schema}")
        ducks = bench.duck("growth")
        for table, columns in (("orders", "customer_id, amount"), ("customers", "customer_id, country")):
            admin.send(f"CREATE TABLE grown.{table} AS SELECT {columns} FROM source.{table}")
            admin.send(f"SELECT bucketfdw.create_table_as('grown_b.{table}', 'SELECT {columns} FROM grown.{table}', "
                       f"bucket_by => 'customer_id', buckets => {o.buckets})")
            for duck in ducks:
                path = bench.folder("growth-csv") + f"/{table}.csv"
                admin.send(f"COPY grown.{table} TO '{path}' (FORMAT csv)")
                kinds = "customer_id bigint, amount decimal(10,2)" if table == "orders" else "customer_id bigint, country varchar"
                duck.send(f"create table {table} ({kinds})")
                duck.send(f"copy {table} from '{path}' (header false)")
                admin.send(f"COPY (SELECT 1) TO '{path}'")
        admin.send("DROP SCHEMA source CASCADE")
        admin.send("VACUUM ANALYZE grown.orders, grown.customers")
        peers = bench.workers("bucketed", "grown_b") + bench.workers("stock hash", "grown", enable_mergejoin="off") + ducks
        labels = [p.label for p in peers]
        found = measure(peers, QUERY, o.rounds)
        mine = best(found, *labels[:2])
        rows.append((f"{n:,}", *[ms(found[label]) for label in labels], times(ratio(best(found, *labels[2:4]), mine))))
        for label in labels:
            series.setdefault(label, []).append((n, found[label]))
        peak = {}
        for peer in (peers[0], peers[2]):
            bytes_held = peer.value(f"SELECT peak_memory FROM bucketfdw.compare($q${QUERY}$q$, 1) WHERE plan = "
                                    f"'{'bucket' if peer is peers[0] else 'stock'}'")
            peak[peer.label] = int(bytes_held) / 1048576
            peaks.setdefault(peer.label, []).append((n, peak[peer.label]))
        memory.append((f"{n:,}", *[f"{value:.1f}" for value in peak.values()]))
        bench.drop(peers)
    admin.send("DROP SCHEMA grown, grown_b CASCADE")
    report.table("Growth: sum(numeric) by country over the join", ["orders and customers", *labels, "stock / bucketed"], rows)
    report.table("Growth: most memory of the executor, MB", ["orders and customers", *[m for m in peaks]], memory,
                 "As bucketfdw.compare counts it; stock hash has a work_mem of 1 GB and spills beyond it.")
    report.growth("growth", "Growth: sum(numeric) by country over the join", "medians", "orders, and as many customers",
                  "milliseconds", series)
    report.growth("memory", "Growth: most memory of the executor", "one process", "orders, and as many customers", "MB", peaks)
