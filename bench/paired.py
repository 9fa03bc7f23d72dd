"""Called by bench/paired: two servers (the folders of their sockets), the same data in both, every query in turns."""
import argparse
import glob
import os
import random
import re
import subprocess
import sys
from math import exp, log

from common.bench import SOURCE
from common.measure import must_agree, say
from common.peers import Session
from parts.cold import forget
from parts.sides import QUERY as SIDES
from parts.skew import QUERIES as SKEW, SPREADS
from parts.tpch import BUCKETED, KEYS, TABLES, queries as tpch_queries


NESTED = ("enable_hashjoin", "enable_mergejoin", "bucketfdw.enable_bucketjoin")


class Side:
    """One version: sessions of its server by schema and number of workers."""

    def __init__(self, label, socket):
        self.label, self.socket, self.sessions = label, socket, {}
        self.admin = self.session("public", 0)
        self.admin.send("CREATE EXTENSION IF NOT EXISTS bucketfdw")

    def session(self, schema, workers):
        os.environ["PGHOST"] = self.socket
        key = schema, workers
        if key not in self.sessions:
            self.sessions[key] = Session(f"{self.label}, {workers} workers", schema, jit="off",
                                         max_parallel_workers_per_gather=workers, statement_timeout="'120s'")
        return self.sessions[key]

    def script(self, name, **variables):
        command = [os.path.join(os.environ["BFDW_PG"], "psql"), "-X", "-q", "-h", self.socket, "-d", "postgres", "-v", "ON_ERROR_STOP=1"]
        for key, value in variables.items():
            command += ["-v", f"{key}={value}"]
        subprocess.run(command + ["-f", os.path.join(SOURCE, name)], check=True, stdout=subprocess.DEVNULL)


class Pairs:
    def __init__(self, sides, rounds):
        self.sides, self.rounds, self.ratios = sides, rounds, {}

    def note(self, part, name, before, after):
        ratio = min(after) / min(before)
        self.ratios.setdefault(part, []).append(ratio)
        print(f"{part:8} {name:62} {min(before):10.2f} {min(after):10.2f} {ratio:6.2f}{'  WORSE' if ratio > 1.05 else ''}", flush=True)

    def query(self, part, name, schema, text, workers=(0, 2), cold=False):
        """In turns, so that what else the machine does hits both; the lowest of the rounds counts.  Cold: without page cache."""
        for w in workers:
            times = [[], []]
            sessions = [side.session(schema, w) for side in self.sides]
            first = None
            for number in range(self.rounds + 1):
                for i in ((0, 1) if number % 2 else (1, 0)):
                    if cold:
                        forget("drop_caches")
                    answer = sessions[i].run(text)
                    if first is None:
                        first = answer, sessions[i].label
                    else:
                        must_agree(text, *first, answer, sessions[i].label)
                    if number:
                        times[i].append(answer.ms)
            self.note(part, f"{name}, {w} workers" if w else name, *times)

    def statement(self, part, name, statements, rounds):
        """Statements that change something; the time of the last of them counts."""
        times = [[], []]
        for number in range(rounds):
            for i in ((0, 1) if number % 2 else (1, 0)):
                for text in statements[:-1]:
                    self.sides[i].admin.send(text)
                times[i].append(self.sides[i].admin.send(statements[-1])[1])
        self.note(part, name, *times)

    def end(self):
        for part, ratios in self.ratios.items():
            print(f"{part:8} geometric mean {exp(sum(map(log, ratios)) / len(ratios)):.3f} of {len(ratios)} figures, worst {max(ratios):.2f}")


def joins(p, rows):
    for side in p.sides:
        side.script("tables.sql", rows=rows, customers=rows)
        side.admin.send("CREATE SCHEMA b")
        for table in ("orders", "customers"):
            side.admin.send(f"SELECT bucketfdw.create_table_as('b.{table}', 'TABLE source.{table}', bucket_by => 'customer_id', buckets => 64)")
    with open(os.path.join(SOURCE, "queries.sql"), encoding="utf-8") as file:
        for name, text in re.findall(r"^-- (.*)\n(select.*)$", file.read(), re.M):
            p.query("joins", name, "b", text)
            p.query("cold", name, "b", text, cold=True)


def lookups(p, rows):
    pick = random.Random(1)
    keys = [pick.randint(1, rows) for _ in range(300)]
    for name, text in (("orders of a customer", "select count(*), sum(amount) from orders where customer_id = {}"),
                       ("orders and customer joined", "select count(*), sum(amount), max(country) from orders "
                                                      "join customers using (customer_id) where customer_id = {}")):
        times = [[], []]
        for number, key in enumerate(keys):
            for i in ((0, 1) if number % 2 else (1, 0)):
                times[i].append(p.sides[i].session("b", 0).run(text.format(key)).ms)
        p.note("lookups", name + ", median of 300", *[[sorted(t)[len(t) // 2]] for t in times])
    for side in p.sides:
        side.admin.send("SET search_path = b")
        for name in NESTED:
            side.admin.send(f"SET {name} = off")
    p.statement("lookups", "20,000 in a nested loop", [
        f"SELECT count(*), sum(o.amount) FROM (SELECT (customer_id * 7919) % {rows} c FROM customers LIMIT 20000) x JOIN orders o ON o.customer_id = x.c"
    ], p.rounds)
    for side in p.sides:
        for name in NESTED:
            side.admin.send(f"RESET {name}")


def loads(p, rows):
    for side in p.sides:
        side.admin.send("SET search_path = public")
        side.admin.send("CREATE FOREIGN TABLE load_target (order_id int, customer_id bigint, amount numeric(10,2), order_date date, "
                        "status text) SERVER bucketfdw OPTIONS (bucket_by 'customer_id')")
        path = os.path.join(side.socket, "orders.csv")
        side.admin.send(f"COPY source.orders TO '{path}' (FORMAT csv)")
    p.statement("loads", "INSERT ... SELECT", ["TRUNCATE load_target", "CHECKPOINT", "INSERT INTO load_target TABLE source.orders"], 3)
    times = [[], []]
    for number in range(3):
        for i in ((0, 1) if number % 2 else (1, 0)):
            side = p.sides[i]
            side.admin.send("TRUNCATE load_target")
            side.admin.send("CHECKPOINT")
            times[i].append(side.admin.send(f"COPY load_target FROM '{side.socket}/orders.csv' (FORMAT csv)")[1])
    p.note("loads", "COPY", *times)
    for side in p.sides:
        os.remove(os.path.join(side.socket, "orders.csv"))
        side.admin.send("DROP FOREIGN TABLE load_target")
        side.admin.send("DROP SCHEMA b, source CASCADE")


def sides_and_skew(p, rows):
    few = max(rows // 10, 1)
    for side in p.sides:
        admin = side.admin
        for schema in ("s", "two", "only_o", "only_c"):
            admin.send(f"CREATE SCHEMA {schema}")
        admin.send("SELECT setseed(0.42)")
        admin.send(f"CREATE TABLE s.orders AS SELECT i AS order_id, (1 + floor(random() * {few}))::bigint AS customer_id, "
                   f"(random() * 1000)::numeric(10,2) AS amount FROM generate_series(1, {rows}) i")
        admin.send("CREATE TABLE s.customers AS SELECT i::bigint AS customer_id, (ARRAY['KR', 'DE', 'BR'])[1 + i % 3] AS country "
                   f"FROM generate_series(1, {few}) i")
        for table, only in (("orders", "only_o"), ("customers", "only_c")):
            for schema in ("two", only):
                admin.send(f"SELECT bucketfdw.create_table_as('{schema}.{table}', 'TABLE s.{table}', bucket_by => 'customer_id', buckets => 64)")
        admin.send("VACUUM ANALYZE s.orders, s.customers")
    for schema in ("two", "only_o, s", "only_c, s"):
        p.query("sides", "sum by country, bucketed: " + schema.split(",")[0], schema, SIDES)
    for side in p.sides:
        side.admin.send("DROP SCHEMA s, two, only_o, only_c CASCADE")
    for spread, formula in SPREADS.items():
        for side in p.sides:
            side.admin.send("CREATE SCHEMA skew")
            side.admin.send("SELECT setseed(0.42)")
            side.admin.send("SELECT bucketfdw.create_table_as('skew.orders', $$SELECT i AS order_id, "
                            f"({formula.format(n=rows)})::bigint AS customer_id, (random() * 1000)::numeric(10,2) AS amount "
                            f"FROM generate_series(1, {rows}) i$$, bucket_by => 'customer_id', buckets => 64)")
            side.admin.send("SELECT bucketfdw.create_table_as('skew.customers', $$SELECT i::bigint AS customer_id, "
                            f"(ARRAY['KR', 'DE', 'BR'])[1 + i % 3] AS country FROM generate_series(1, {rows}) i$$, bucket_by => 'customer_id', "
                            "buckets => 64)")
        for name, text in SKEW.items():
            p.query("skew", f"{spread}: {name}", "skew", text, (0, 1))
        for side in p.sides:
            side.admin.send("DROP SCHEMA skew CASCADE")


def tpch(p, scale, wanted):
    csv = os.path.join(p.sides[0].socket, "tpch-csv")
    os.makedirs(csv)
    subprocess.run([os.path.join(os.path.dirname(sys.executable), "tpchgen-cli"), "csv", "-s", scale, "--output-dir", csv, "--quiet"], check=True)
    os.chmod(csv, 0o755)
    for path in glob.glob(csv + "/*"):
        os.chmod(path, 0o644)
    for side in p.sides:
        for schema in ("heap", "bucketed"):
            side.admin.send(f"CREATE SCHEMA {schema}")
        side.script("tpch/tables.sql", buckets=64)
        for table in TABLES:
            kinds = ["heap"] if table not in BUCKETED else ["heap", "bucketed"]
            for kind in kinds:
                side.admin.send(f"COPY {kind}.{table} FROM '{csv}/{table}.csv' (FORMAT csv, HEADER)")
            side.admin.send(f"ALTER TABLE heap.{table} ADD PRIMARY KEY ({KEYS[table]})")
            side.admin.send(f"VACUUM ANALYZE heap.{table}")
            if len(kinds) > 1:
                side.admin.send(f"ANALYZE bucketed.{table}")
    for number, text in tpch_queries(scale).items():
        if wanted is None or number in wanted:
            p.query("tpch", f"Q{number}", "bucketed, heap", text)


def main():
    a = argparse.ArgumentParser(prog="bench/paired TREE")
    a.add_argument("sockets", nargs=2, help=argparse.SUPPRESS)
    a.add_argument("--rows", type=int, default=2_000_000)
    a.add_argument("--rounds", type=int, default=5)
    a.add_argument("--tpch-scale", default=None)
    a.add_argument("--tpch-queries", default=None, help="numbers; default all but 17 and 20, which end on neither side")
    o = a.parse_args()
    p = Pairs([Side("before", o.sockets[0]), Side("after", o.sockets[1])], o.rounds)
    print(f"{'part':8} {'figure':62} {'before ms':>10} {'after ms':>10} {'ratio':>6}")
    if o.rows:
        joins(p, o.rows)
        lookups(p, o.rows)
        loads(p, o.rows)
        sides_and_skew(p, o.rows)
    if o.tpch_scale:
        say(f"TPC-H at scale {o.tpch_scale}")
        wanted = {int(n) for n in o.tpch_queries.split(",")} if o.tpch_queries else set(range(1, 23)) - {17, 20}
        tpch(p, o.tpch_scale, wanted)
    p.end()


main()
