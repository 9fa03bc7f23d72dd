"""Orders with a tenth of as many customers, and with a ten-thousandth, with buckets on both sides, on one or on none."""
from common.measure import measure, say
from common.report import ms, ratio, times
from common.shop import copy_to_ducks

QUERY = "select country, sum(amount) from orders join customers using (customer_id) group by country"


def tables(admin, orders, customers, buckets):
    admin.send("DROP SCHEMA IF EXISTS sides, sides_both, sides_orders, sides_customers CASCADE")
    for schema in ("sides", "sides_both", "sides_orders", "sides_customers"):
        admin.send(f"CREATE SCHEMA {schema}")
    admin.send("SELECT setseed(0.42)")
    admin.send(f"CREATE TABLE sides.orders AS SELECT i AS order_id, (1 + floor(random() * {customers}))::bigint AS customer_id, "
               f"(random() * 1000)::numeric(10,2) AS amount FROM generate_series(1, {orders}) i")
    admin.send(f"CREATE TABLE sides.customers AS SELECT i::bigint AS customer_id, (ARRAY['KR', 'DE', 'BR'])[1 + i % 3] AS country "
               f"FROM generate_series(1, {customers}) i")
    for table in ("orders", "customers"):
        for schema in ("sides_both", "sides_" + table):
            admin.send(f"SELECT bucketfdw.create_table_as('{schema}.{table}', 'TABLE sides.{table}', bucket_by => 'customer_id', "
                       f"buckets => {buckets})")
    admin.send("VACUUM ANALYZE sides.orders, sides.customers")


def run(bench):
    o, report, admin = bench.options, bench.report, bench.admin
    rows, groups = [], []
    for customers in (max(o.rows // 10, 1), max(o.rows // 10000, 1)):
        say(f"{o.rows} orders with {customers} customers")
        tables(admin, o.rows, customers, o.buckets)
        unrouted = {"bucketfdw.enable_routing": "off"}
        peers = (bench.workers("bucketed: both", "sides_both")
                 + bench.workers("bucketed: orders", "sides_orders, sides") + bench.workers("bucketed: orders, no routing", "sides_orders, sides", **unrouted)
                 + bench.workers("bucketed: customers", "sides_customers, sides")
                 + bench.workers("bucketed: customers, no routing", "sides_customers, sides", **unrouted)
                 + bench.workers("none", "sides"))
        ducks = bench.duck("sides")
        copy_to_ducks(admin, ducks, "sides", bench.folder("sides-csv"))
        found = measure(peers + ducks, QUERY, o.rounds)
        name = f"{o.rows:,} with {customers:,}"
        none = found["none, 1 process"], found["none, 2 workers"]
        for i, peer in enumerate(peers + ducks):
            plan = peer.explain(QUERY) if peer in peers else ""
            how = next((node for node in ("BucketJoin", "Hash Join", "Merge Join", "Nested Loop") if node in plan), "")
            rows.append((name if i == 0 else "", peer.label, ms(found[peer.label]), times(ratio(min(none), found[peer.label])), how))
        groups.append((name, list(found.items())))
        bench.drop(peers + ducks)
    admin.send("DROP SCHEMA sides, sides_both, sides_orders, sides_customers CASCADE")
    report.table("Which side is bucketed", ["orders with customers", "bucketed", "ms", "none's best / this", "join"], rows,
                 "sum(numeric) by country over the join. no routing: bucketfdw.enable_routing off.")
    report.bars("sides", "Which side is bucketed", "medians", "milliseconds", groups)
