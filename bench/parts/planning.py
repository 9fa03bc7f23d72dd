"""Planning time of the join, with 64 buckets, and with 4096 buckets of ten runs each."""
import re
from statistics import median

from common.report import ms

TIMES = 30


def planning(session, query):
    found = []
    for _ in range(TIMES + 3):
        text = session.explain(query, "COSTS OFF, SUMMARY ON")
        found.append(float(re.search(r"Planning Time: ([0-9.]+) ms", text).group(1)))
    return median(found[3:])


def run(bench):
    bench.shop()
    report, admin = bench.report, bench.admin
    query = "select count(*) from orders join customers using (customer_id)"
    admin.send("CREATE SCHEMA many")
    for table, columns in (("orders", "order_id int, customer_id bigint, amount numeric(10,2)"), ("customers", "customer_id bigint, age int")):
        admin.send(f"CREATE FOREIGN TABLE many.{table} ({columns}) SERVER bucketfdw OPTIONS (bucket_by 'customer_id', buckets '4096')")
        for number in range(10):
            admin.send(f"INSERT INTO many.{table} SELECT {'i, i, i' if table == 'orders' else 'i, 1'} "
                       f"FROM generate_series({number * 40000 + 1}, {number * 40000 + 40000}) i")
    admin.send("ANALYZE many.orders, many.customers")
    runs = admin.value("SELECT max(runs) FROM bucketfdw.bucket_stats('many.orders')")
    heap = bench.session("heap", "heap")
    few = bench.session("bucketed", "bucketed")
    many = bench.session("many", "many")
    base = planning(heap, query)
    rows = [("heap", ms(base), "", "")]
    for what, session, goal in ((f"{bench.options.buckets} buckets, one run each", few, "<= 1"),
                                (f"4096 buckets, {runs} runs each", many, "<= 10")):
        taken = planning(session, query)
        rows.append((what, ms(taken), f"{taken - base:.2f}", report.goal(taken - base, goal)))
    report.table("Planning the join, in a session that planned it before", ["tables", "ms", "more than heap", "goal"], rows)
    bench.drop([heap, few, many])
    admin.send("DROP SCHEMA many CASCADE")
