"""Orders and customers in four kinds of tables: heap with covering indexes, bucketed, hash-partitioned, DuckDB's."""
import os
import shutil
from statistics import median

from .measure import say

ORDERS = "order_id int, customer_id bigint, amount numeric(10,2), order_date date, status text"
CUSTOMERS = "customer_id bigint, country text, age int, score float8"
COLUMNS = {"orders": ORDERS, "customers": CUSTOMERS}
COVERED = {"orders": "amount, order_date, status", "customers": "country, age, score"}


def create(admin, kind, table, buckets):
    admin.send(f"DROP {'FOREIGN ' if kind == 'bucketed' else ''}TABLE IF EXISTS {kind}.{table}")
    if kind == "bucketed":
        admin.send(f"CREATE FOREIGN TABLE bucketed.{table} ({COLUMNS[table]}) SERVER bucketfdw "
                   f"OPTIONS (bucket_by 'customer_id', buckets '{buckets}')")
    elif kind == "parted":
        admin.send(f"CREATE TABLE parted.{table} ({COLUMNS[table]}) PARTITION BY HASH (customer_id)")
        for i in range(buckets):
            admin.send(f"CREATE TABLE parted.{table}_{i} PARTITION OF parted.{table} "
                       f"FOR VALUES WITH (MODULUS {buckets}, REMAINDER {i})")


def copy_to_ducks(admin, ducks, schema, folder):
    """The orders and customers of a schema in DuckDB, by way of a file that is emptied afterwards."""
    path = folder + "/table.csv"
    for duck in ducks:
        for table, columns in (("orders", "order_id int, customer_id bigint, amount decimal(10,2)"), ("customers", "customer_id bigint, country varchar")):
            admin.send(f"COPY {schema}.{table} TO '{path}' (FORMAT csv)")
            duck.send(f"create table {table} ({columns})")
            duck.send(f"copy {table} from '{path}' (header false)")
        admin.send(f"COPY (SELECT 1) TO '{path}'")


class Shop:
    def __init__(self, bench):
        self.bench, self.times = bench, {}
        o, admin = bench.options, bench.admin
        say(f"generating {o.rows} orders and {o.rows} customers")
        bench.script("tables.sql", rows=o.rows, customers=o.rows)
        csv = bench.folder("csv")
        for table in COLUMNS:
            admin.send(f"COPY source.{table} TO '{csv}/{table}.csv' (FORMAT csv)")
        for schema in ("heap", "bucketed", "parted"):
            admin.send(f"CREATE SCHEMA {schema}")
        for number in range(o.loads):
            say(f"loading, round {number + 1} of {o.loads}")
            self.load(csv)
        self.duck = bench.duck("shop")
        for duck in self.duck:
            say("loading DuckDB")
            for table, columns in COLUMNS.items():
                duck.send(f"create table {table} ({columns.replace('numeric', 'decimal').replace('float8', 'double')})")
                self.note(f"duck {table}", duck.send(f"copy {table} from '{csv}/{table}.csv' (header false)")[1])
        shutil.rmtree(csv)
        say("partitions, covering indexes, vacuum, analyze")
        admin.send("SET maintenance_work_mem = '1GB'")
        for table in COLUMNS:
            create(admin, "parted", table, o.buckets)
            admin.send(f"INSERT INTO parted.{table} TABLE source.{table}")
            admin.send(f"CREATE INDEX ON heap.{table} (customer_id)")
            admin.send(f"CREATE INDEX ON heap.{table} (customer_id) INCLUDE ({COVERED[table]})")
        admin.send("RESET maintenance_work_mem")
        admin.send("DROP SCHEMA source CASCADE")
        admin.send("VACUUM ANALYZE heap.orders, heap.customers, parted.orders, parted.customers")
        admin.send("ANALYZE bucketed.orders, bucketed.customers")
        admin.send("CHECKPOINT")

    def note(self, what, ms):
        self.times.setdefault(what, []).append(ms)

    def ms(self, what):
        return median(self.times[what]) if what in self.times else None

    def load(self, csv):
        admin, buckets = self.bench.admin, self.bench.options.buckets
        for table in COLUMNS:
            for kind in ("heap", "bucketed"):
                create(admin, kind, table, buckets)
        for table in COLUMNS:
            admin.send("CHECKPOINT")
            self.note(f"heap {table}", admin.send(f"CREATE TABLE heap.{table} AS TABLE source.{table}")[1])
            admin.send("CHECKPOINT")
            self.note(f"bucketed {table}", admin.send(f"INSERT INTO bucketed.{table} TABLE source.{table}")[1])
        copy = f"FROM '{csv}/orders.csv' (FORMAT csv)"
        admin.send("CREATE TABLE heap.copied (LIKE heap.orders)")
        admin.send("CHECKPOINT")
        self.note("heap copy", admin.send(f"COPY heap.copied {copy}")[1])
        admin.send("DROP TABLE heap.copied")
        admin.send("CREATE FOREIGN TABLE bucketed.copied (" + ORDERS + ") SERVER bucketfdw "
                   f"OPTIONS (bucket_by 'customer_id', buckets '{buckets}')")
        admin.send("CHECKPOINT")
        self.note("bucketed copy", admin.send(f"COPY bucketed.copied {copy}")[1])
        admin.send("DROP FOREIGN TABLE bucketed.copied")

    def peers(self):
        """The first two are bucketed, the last one DuckDB."""
        bench = self.bench
        no_index = {"enable_indexscan": "off", "enable_indexonlyscan": "off", "enable_bitmapscan": "off"}
        return (bench.workers("bucketed", "bucketed")
                + bench.workers("stock hash", "heap", enable_mergejoin="off", enable_nestloop="off", **no_index)
                + bench.workers("stock covering index", "heap", enable_hashjoin="off", enable_nestloop="off", enable_hashagg="off")
                + bench.workers("stock partitionwise", "parted", enable_partitionwise_join="on", enable_partitionwise_aggregate="on")
                + self.duck)
