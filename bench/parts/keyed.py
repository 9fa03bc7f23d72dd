"""Rows of one key together, in an order: the last row of each key."""
from common.measure import measure, say
from common.report import ms, ratio, times
from common.shop import copy_to_ducks

QUERIES = {
    "DISTINCT ON": "select count(*), sum(amount) from (select distinct on (customer_id) customer_id, order_id, amount "
                   "from orders order by customer_id, order_id desc offset 0) s",
    "DISTINCT ON, joined": "select count(*), sum(amount) from (select distinct on (o.customer_id) o.customer_id, order_id, amount "
                           "from orders o join customers using (customer_id) order by o.customer_id, order_id desc offset 0) s",
}


def run(bench):
    o, report, admin = bench.options, bench.report, bench.admin
    say("keyed")
    admin.send("DROP SCHEMA IF EXISTS keyed, keyed_b CASCADE")
    for schema in ("keyed", "keyed_b"):
        admin.send(f"CREATE SCHEMA {schema}")
    customers = max(o.rows // 5, 1)
    admin.send(f"CREATE TABLE keyed.orders AS SELECT i AS order_id, (i * 7919::bigint % {customers} + 1)::bigint AS customer_id, "
               f"(i % 1000)::numeric(10,2) AS amount FROM generate_series(1, {o.rows}) i")
    admin.send("CREATE TABLE keyed.customers AS SELECT i::bigint AS customer_id, (ARRAY['KR', 'DE', 'BR'])[1 + i % 3] AS country "
               f"FROM generate_series(1, {customers}) i")
    for table in ("orders", "customers"):
        admin.send(f"SELECT bucketfdw.create_table_as('keyed_b.{table}', 'TABLE keyed.{table}', bucket_by => 'customer_id', "
                   f"buckets => {o.buckets})")
    admin.send("VACUUM ANALYZE keyed.orders, keyed.customers")
    alone = {"max_parallel_workers_per_gather": 0}
    peers = [bench.session("bucketed", "keyed_b", **alone),
             bench.session("enable_bucketagg off", "keyed_b", **alone, **{"bucketfdw.enable_bucketagg": "off"}),
             bench.session("stock", "keyed", **alone)]
    ducks = bench.duck("keyed")
    copy_to_ducks(admin, ducks, "keyed", bench.folder("keyed-csv"))
    rows, groups = [], []
    for name, query in QUERIES.items():
        found = measure(peers + ducks, query, o.rounds)
        ours, without, stock = (found[peer.label] for peer in peers)
        node = "BucketRows" if "BucketRows" in peers[0].explain(query) else "-"
        rows.append((name, *[ms(t) for t in found.values()], times(ratio(without, ours)), times(ratio(stock, ours)), node))
        groups.append((name, list(found.items())))
    labels = list(found)
    bench.drop(peers + ducks)
    admin.send("DROP SCHEMA keyed, keyed_b CASCADE")
    title = f"Rows of a key in an order, {o.rows:,} orders of {customers:,} customers"
    report.table(title, ["query", *labels, "off / bucketed", "stock / bucketed", "node"], rows,
                 "ms, one process. enable_bucketagg off: what is left are scans in the order of the key, and core's sorts.")
    report.bars("keyed", title, "medians", "milliseconds", groups)
