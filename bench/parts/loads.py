"""Loading times and sizes of orders and customers."""
from common.report import ms, ratio, times
from common.svg import number


def run(bench):
    shop, report, admin = bench.shop(), bench.report, bench.admin
    rows = []
    for what, heap, ours in (("orders: CREATE TABLE AS; INSERT ... SELECT", "heap orders", "bucketed orders"),
                             ("customers: the same", "heap customers", "bucketed customers"),
                             ("orders: COPY FROM", "heap copy", "bucketed copy")):
        part = ratio(shop.ms(ours), shop.ms(heap))
        duck = shop.ms("duck orders") if heap == "heap copy" else None
        rows.append((what, number(shop.ms(heap)), number(shop.ms(ours)), ms(duck), times(part), report.goal(part, "<= 1")))
    report.table(f"Loading, {bench.options.rows:,} orders and as many customers", ["ms", "heap", "bucketed", "DuckDB", "bucketed / heap", "goal"], rows,
                 "heap: without indexes, WAL as usual.")

    def size(kind, table):
        function = "bucketfdw.table_size" if kind == "bucketed" else "pg_table_size"
        return int(admin.value(f"SELECT {function}('{kind}.{table}')"))

    mb = 1 << 20
    rows, heaps, bucketed = [], 0, 0
    for table, goal in (("orders", "<= 0.18"), ("customers", "")):
        heap, ours = size("heap", table), size("bucketed", table)
        heaps, bucketed = heaps + heap, bucketed + ours
        rows.append((table, f"{heap / mb:.1f}", f"{ours / mb:.1f}", "", f"{ours / heap:.3f}", report.goal(ours / heap, goal)))
    admin.send(f"CREATE FOREIGN TABLE bucketed.packed (order_id int, customer_id bigint, amount numeric(10,2), order_date date, "
               f"status text) SERVER bucketfdw OPTIONS (bucket_by 'customer_id', buckets '{bench.options.buckets}', compression 'zstd')")
    admin.send("INSERT INTO bucketed.packed TABLE bucketed.orders")
    packed, heap = size("bucketed", "packed"), size("heap", "orders")
    admin.send("DROP FOREIGN TABLE bucketed.packed")
    rows.append(("orders, compression zstd", f"{heap / mb:.1f}", f"{packed / mb:.1f}", "", f"{packed / heap:.3f}",
                 report.goal(packed / heap, "<= 0.155")))
    there = shop.duck[0].size() if shop.duck else None
    rows.append(("both", f"{heaps / mb:.1f}", f"{bucketed / mb:.1f}", f"{there / mb:.1f}" if there else "-",
                 f"{bucketed / heaps:.3f}", report.goal(bucketed / heaps, "<= 0.18")))
    report.table("Size on disk", ["MB", "heap", "bucketed", "DuckDB", "bucketed / heap", "goal"], rows, "heap: without its indexes.")
    if there:
        report.put("", f"Bucketed as part of DuckDB's file: {bucketed / there:.3f} {report.goal(bucketed / there, '<= 1')}")
        report.save()
