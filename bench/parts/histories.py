"""Tables that are written to in small pieces, with upkeep and without, beside a heap table with an index on the key."""
import os
import re
import subprocess
import time
from statistics import median

from common.bench import WORK
from common.measure import must_agree, say
from common.report import ms, ratio, times
from common.svg import number

JOIN = "select count(*), sum(amount), max(age) from {} join once_customers using (customer_id)"
LOOKUP = "select count(*), sum(amount) from {} where customer_id = {}"
ROW = ("select {0} + i, 1 + (hashint8({0} + i)::bigint & 2147483647) % {1}, (i % 100000) / 100.0, date '2024-01-01' + ({0} + i) % 730, 'new' "
       "from generate_series(1, {2}) i")
COLUMNS = "order_id bigint, customer_id bigint, amount numeric(10,2), order_date date, status text"


class History:
    """A table of orders of one kind, and what is done to it."""

    def __init__(self, bench, kind, start):
        o, self.admin, self.kind, self.rows = bench.options, bench.admin, kind, 0
        self.smoke = o.smoke
        self.name = {"heap": "kept_heap", "upkeep on": "kept_on", "upkeep off": "kept_off"}[kind]
        self.customers, self.wal = o.rows, 0
        self.session = bench.session(kind, **{"bucketfdw.upkeep": "on" if kind == "upkeep on" else "off"})
        if kind == "heap":
            self.admin.send(f"CREATE TABLE {self.name} ({COLUMNS})")
            self.admin.send(f"CREATE INDEX ON {self.name} (customer_id)")
        else:
            self.admin.send(f"CREATE FOREIGN TABLE {self.name} ({COLUMNS}) SERVER bucketfdw "
                            f"OPTIONS (bucket_by 'customer_id', buckets '{o.buckets}', upkeep '{kind == 'upkeep on'}')")
        if start:
            self.insert(start)
        self.admin.send(f"ANALYZE {self.name}")
        self.admin.send("CHECKPOINT")

    def insert(self, rows):
        self.session.send(f"INSERT INTO {self.name} " + ROW.format(self.rows, self.customers, rows))
        self.rows += rows

    def appends(self, count, rows):
        for _ in range(count):
            self.insert(rows)

    def clients(self, clients, count):
        """One-row INSERTs, each a transaction of its own, by several clients; returns them per second."""
        path = os.path.join(WORK, "insert.sql")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"\\set id random(1, 1000000000)\n\\set customer random(1, {self.customers})\n"
                       f"INSERT INTO {self.name} VALUES (:id, :customer, 12.34, '2024-05-05', 'new');\n")
        pgbench = os.path.join(os.environ["BFDW_PG"], "pgbench")
        upkeep = "on" if self.kind == "upkeep on" else "off"
        found = subprocess.run([pgbench, "-n", "-M", "prepared", "-c", str(clients), "-j", str(min(clients, 2)), "-t", str(count), "-f", path,
                                "-d", "postgres"], check=True, capture_output=True, text=True,
                               env={**os.environ, "PGOPTIONS": f"-c bucketfdw.upkeep={upkeep}"}).stdout
        self.rows += clients * count
        return float(re.search(r"tps = ([0-9.]+)", found).group(1))

    def settle(self):
        """Upkeep goes on when nothing was appended for half a minute; a minute is what it may take."""
        if self.kind == "upkeep on":
            time.sleep(1 if self.smoke else 40)
            for _ in range(20):
                if self.admin.value("SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'bucketfdw%'") == "0":
                    break
                time.sleep(1)

    def timed(self, work):
        """Seconds of the work, not of the upkeep that goes on behind it, and megabytes of WAL with that."""
        place = self.admin.value("SELECT pg_current_wal_insert_lsn()")
        begin = time.perf_counter()
        found = work()
        taken = time.perf_counter() - begin
        self.settle()
        wal = int(self.admin.value(f"SELECT pg_current_wal_insert_lsn() - '{place}'::pg_lsn"))
        return taken, wal / 1048576, found

    def rewritten(self):
        if self.kind == "heap":
            return ""
        return self.admin.value(f"SELECT round(sum(rewritten) / {self.rows}.0, 2) FROM bucketfdw.manifest WHERE relid = '{self.name}'::regclass")

    def runs(self):
        return "" if self.kind == "heap" else self.admin.value(f"SELECT max_runs FROM bucketfdw.tables WHERE relid = '{self.name}'::regclass")

    def drop(self):
        self.admin.send(f"DROP {'' if self.kind == 'heap' else 'FOREIGN '}TABLE {self.name}")


def reads(bench, table, keys):
    """Milliseconds of join by one process and with two workers, and of a lookup; what they answered."""
    o, found, answers = bench.options, [], []
    for workers in (0, 2):
        session = bench.session(f"{table}, {workers} workers", max_parallel_workers_per_gather=workers, work_mem="'64MB'")
        answers = [session.run(JOIN.format(table)) for _ in range(max(o.rounds, 1) * 2 + 1)]
        found.append(min(a.ms for a in answers[1:]))
        if workers == 0:
            lookups = [session.run(LOOKUP.format(table, key)) for key in keys]
            lookups = [session.run(LOOKUP.format(table, key)) for key in keys]
        bench.drop([session])
    return found + [median(a.ms for a in lookups)], [answers[-1]] + lookups


def compare(bench, title, start, work):
    """The same history of three tables, then of one loaded at once with the rows that the second ended with."""
    rows, report, admin = [], bench.report, bench.admin
    keys = [1 + i * 7919 % bench.options.rows for i in range(51)]
    kept = []
    for kind in ("heap", "upkeep off", "upkeep on"):
        say(title, kind)
        history = History(bench, kind, start)
        kept.append((history,) + history.timed(lambda h=history: work(h)))
    ours = kept[2][0]
    admin.send(f"SELECT bucketfdw.create_table_as('kept_once', 'TABLE {ours.name}', bucket_by => 'customer_id', buckets => {bench.options.buckets})")
    admin.send("ANALYZE kept_once")
    admin.send("CHECKPOINT")
    once, expected = reads(bench, "kept_once", keys)
    for history, taken, wal, rate in kept:
        found, answers = reads(bench, history.name, keys)
        if history is ours:
            for want, got in zip(expected, answers):
                must_agree(title, want, "one load", got, history.kind)
        part = [ratio(a, b) for a, b in zip(found, once)]
        rows.append((history.kind, number(taken * 1000), "" if rate is None else number(rate), f"{wal:.1f}", history.rewritten(), history.runs())
                    + tuple(f"{ms(a)} ({times(b)})" for a, b in zip(found, part)))
        history.drop()
        bench.drop([history.session])
    rows.append(("one load", "", "", "", "", "1") + tuple(ms(a) for a in once))
    admin.send("DROP FOREIGN TABLE kept_once")
    report.table(title, ["table", "ms", "rows a second", "WAL MB", "rewritten", "runs", "join", "join, 2 workers", "lookup"], rows,
                 "ms: of the writing session, upkeep beside it; WAL: with that of upkeep; rewritten: how often compaction wrote a row;"
                 " in brackets: as part of one load's time.")


def run(bench):
    o, report = bench.options, bench.report
    scale = o.rows / 2_000_000
    small, single, nights = max(int(500 * min(scale, 1)), 5), max(int(1000 * min(scale, 1)), 10), o.nights
    bench.admin.send(f"CREATE TABLE source_customers AS SELECT i::bigint AS customer_id, 18 + i % 80 AS age FROM generate_series(1, {o.rows}) i")
    bench.admin.send("SELECT bucketfdw.create_table_as('once_customers', 'TABLE source_customers', bucket_by => 'customer_id', "
                     f"buckets => {o.buckets})")
    bench.admin.send("ANALYZE once_customers")
    compare(bench, f"{small} appends of 1,000 rows to {o.rows:,}", o.rows, lambda h: h.appends(small, 1000))
    compare(bench, f"{4 * single:,} one-row INSERTs by four clients into {o.rows:,}", o.rows, lambda h: h.clients(4, single))
    compare(bench, f"{4 * single:,} one-row INSERTs by one client into {o.rows:,}", o.rows, lambda h: h.clients(1, 4 * single))
    compare(bench, f"{nights} appends of {o.night_rows:,} rows to an empty table", 0, lambda h: h.appends(nights, o.night_rows))
    report.put("", "One-row INSERTs wait for the disk at each commit, as the rows a second of a heap table show.")
    bench.admin.send("DROP FOREIGN TABLE once_customers")
    bench.admin.send("DROP TABLE source_customers")
    report.save()
