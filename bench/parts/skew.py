"""Keys that are not spread evenly: half of all orders on one customer, and 0.9 of them on five."""
from common.measure import measure, say
from common.report import ms, ratio, times
from common.shop import copy_to_ducks

SPREADS = {
    "even": "1 + floor(random() * {n})",
    "half on one key": "CASE WHEN random() < 0.5 THEN 7 ELSE 1 + floor(random() * {n}) END",
    "0.9 on five keys": "CASE WHEN random() < 0.9 THEN 7 + 1000 * floor(random() * 5) ELSE 1 + floor(random() * {n}) END",
}
QUERIES = {
    "join, count": "select count(*) from orders join customers using (customer_id)",
    "join, sum by country": "select country, sum(amount) from orders join customers using (customer_id) group by country",
    "group by key": "select count(*), sum(n), max(n) from (select customer_id, count(*) n from orders group by customer_id) g",
}


def run(bench):
    o, report, admin = bench.options, bench.report, bench.admin
    rows, groups = [], []
    for spread, formula in SPREADS.items():
        say(f"skew: {spread}")
        admin.send("DROP SCHEMA IF EXISTS skew, skew_b CASCADE")
        for schema in ("skew", "skew_b"):
            admin.send(f"CREATE SCHEMA {schema}")
        admin.send("SELECT setseed(0.42)")
        admin.send(f"CREATE TABLE skew.orders AS SELECT i AS order_id, ({formula.format(n=o.rows)})::bigint AS customer_id, "
                   f"(random() * 1000)::numeric(10,2) AS amount FROM generate_series(1, {o.rows}) i")
        admin.send("CREATE TABLE skew.customers AS SELECT i::bigint AS customer_id, (ARRAY['KR', 'DE', 'BR'])[1 + i % 3] AS country "
                   f"FROM generate_series(1, {o.rows}) i")
        for table in ("orders", "customers"):
            admin.send(f"SELECT bucketfdw.create_table_as('skew_b.{table}', 'TABLE skew.{table}', bucket_by => 'customer_id', "
                       f"buckets => {o.buckets})")
        admin.send("VACUUM ANALYZE skew.orders, skew.customers")
        share = admin.value("SELECT round(100.0 * max(rows) / sum(rows)) FROM bucketfdw.bucket_stats('skew_b.orders')")
        peers = []
        for label, schema in (("bucketed", "skew_b"), ("stock", "skew")):
            for workers, processes in ((0, "1 process"), (1, "2 processes")):
                peers.append(bench.session(f"{label}, {processes}", schema, max_parallel_workers_per_gather=workers))
        ducks = bench.duck("skew")
        copy_to_ducks(admin, ducks, "skew", bench.folder("skew-csv"))
        for name, query in QUERIES.items():
            found = measure(peers + ducks, query, o.rounds)
            one, two = found["bucketed, 1 process"], found["bucketed, 2 processes"]
            rows.append((f"{spread} ({share} % in the largest bucket): {name}", *[ms(t) for t in found.values()],
                         times(ratio(one, two)), times(ratio(found["stock, 1 process"], found["stock, 2 processes"]))))
            groups.append((f"{spread}: {name}", list(found.items())))
        labels = list(found)
        bench.drop(peers + ducks)
    admin.send("DROP SCHEMA skew, skew_b CASCADE")
    report.table(f"Skew, {o.rows:,} orders and customers", ["spread and query", *labels, "gain of the second process, bucketed", "stock"], rows, "ms")
    report.bars("skew", f"Skew, {o.rows:,} orders and customers", "medians", "milliseconds", groups)
