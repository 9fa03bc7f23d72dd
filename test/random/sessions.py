#!/usr/bin/env python3
"""Sessions that change the rows of one bucketed table at the same time, beside a heap table changed by the same transactions.

usage: sessions.py [--seconds N] [--seed N] [--sessions N] [--round SECONDS] [--level LEVEL]

A statement changes b.t first, which orders it against the others that change those rows, and then, by the ids it has
returned, h.t; so nobody ever waits for a row of the heap.  What must hold: the heap gives the very rows that the bucketed
table returned; of the rows there were before and are still there none was passed over; in every snapshot, and in one
statement that reads both, the tables are equal; READ COMMITTED never fails; REPEATABLE READ fails exactly where the heap
does.  Half of the rounds have files rewritten meanwhile, where REPEATABLE READ may fail more often; every third table
has partitions, one of them a heap.  A table of pairs that only SERIALIZABLE transactions take from must never be short."""
import argparse
import collections
import itertools
import os
import random
import sys
import threading
import time
import types

from pg_wire import Connection, ServerGone
from upkeep import Upkeep

KEYS = 24
COLUMNS = "id int8, k int4, kv int8, v int4, t text"
DIFFERENCE = "(SELECT 'heap', * FROM (TABLE h.t EXCEPT ALL TABLE b.t) x UNION ALL SELECT 'bucketed', * FROM (TABLE b.t EXCEPT ALL TABLE h.t) y) LIMIT 5"
SAME = ["SELECT (SELECT (count(*), sum(v), min(id), max(k)) FROM {s}.t)", "SELECT k, count(*), sum(v) FROM {s}.t GROUP BY k ORDER BY k",
        "SELECT count(*), sum(x.v) FROM {s}.t x JOIN {s}.t y USING (k)", "SELECT * FROM {s}.t WHERE k = {k} ORDER BY id", "SELECT id, v FROM {s}.t ORDER BY k, id LIMIT 20"]
FUNCTIONS = """
CREATE FUNCTION b.run(q text) RETURNS SETOF b.t LANGUAGE plpgsql AS 'BEGIN RETURN QUERY EXECUTE q; END';
CREATE FUNCTION b.bump(x int) RETURNS SETOF b.t LANGUAGE sql AS 'UPDATE b.t SET v = v + 1 WHERE k = x RETURNING *';
CREATE FUNCTION b.drop(x int) RETURNS SETOF b.t LANGUAGE plpgsql AS 'BEGIN RETURN QUERY DELETE FROM b.t WHERE k = x RETURNING *; END';
"""


class Failure(Exception):
    pass


class Refused(Exception):
    """The transaction has failed as transactions may."""

    def __init__(self, result):
        super().__init__(f"{result.error} {result.message}")
        self.code, self.message = result.error, result.message


class Round:
    """What the sessions of a round share."""

    def __init__(self, database, rnd):
        self.database, self.partitioned, self.upkeep = database, rnd.random() < 0.33, rnd.random() < 0.5
        self.ids, self.stamps = itertools.count(1000), itertools.count(1)
        self.done, self.refused, self.stop, self.failure = collections.Counter(), collections.Counter(), threading.Event(), None
        self.options = (f"SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '{rnd.choice([1, 3, 4, 16, 64])}', block_rows '{rnd.choice([2, 10, 100])}'"
                        f"{rnd.choice(['', ', sort_by $$k, id desc$$']).replace('$$', chr(39))})")
        self.inline = rnd.choice(["0", "500B", "16kB"])

    def setup(self, c):
        # a worker of the round before would make transactions fail that do not here
        while c.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'bucketfdw upkeep' AND datname = current_database()").rows:
            time.sleep(0.2)
        made = f"CREATE FOREIGN TABLE b.t ({COLUMNS}) {self.options}"
        if self.partitioned:
            made = (f"CREATE TABLE b.t ({COLUMNS}) PARTITION BY RANGE (k); CREATE FOREIGN TABLE b.t_0 PARTITION OF b.t FOR VALUES FROM (MINVALUE) TO (8) {self.options}; "
                    f"CREATE TABLE b.t_1 PARTITION OF b.t FOR VALUES FROM (8) TO (12); CREATE FOREIGN TABLE b.t_2 PARTITION OF b.t FOR VALUES FROM (12) TO (MAXVALUE) {self.options}")
        for text in ("DROP SCHEMA IF EXISTS b CASCADE; DROP SCHEMA IF EXISTS h CASCADE; CREATE SCHEMA b; CREATE SCHEMA h", made,
                     f"CREATE TABLE h.t ({COLUMNS.replace('id int8', 'id int8 PRIMARY KEY')})", FUNCTIONS,
                     f"CREATE FOREIGN TABLE b.pair (k int4, side int4, v int4) {self.options.replace('id desc', 'side')}",
                     f"SET bucketfdw.inline_limit = '{self.inline}'",
                     f"INSERT INTO h.t SELECT i, i % {KEYS}, 0, i % 10, repeat('x', i % 30) FROM generate_series(1, 300) i",
                     "INSERT INTO b.t SELECT * FROM h.t WHERE id <= 200", "INSERT INTO b.t SELECT * FROM h.t WHERE id > 200",
                     "INSERT INTO b.pair SELECT k, s, 1 FROM generate_series(1, 6) k, generate_series(0, 1) s"):
            r = c.query(text)
            if r.error:
                raise Failure(f"{r!r}: {text}")


class Session(threading.Thread):
    """Random transactions until the round ends."""

    def __init__(self, a_round, seed, number):
        super().__init__(daemon=True)
        self.round, self.rnd, self.number = a_round, random.Random(seed), number
        self.history = []
        self.c = Connection(a_round.database, wait=10)
        self.c.query(f"SET deadlock_timeout = '100ms'; SET statement_timeout = '50s'; SET bucketfdw.inline_limit = '{a_round.inline}'; "
                     f"SET bucketfdw.upkeep = {'on' if a_round.upkeep else 'off'}")
        for text in ("PREPARE bump(int) AS UPDATE b.t SET v = v + 1 WHERE k = $1 RETURNING *", "PREPARE rid(int) AS DELETE FROM b.t WHERE k = $1 RETURNING *",
                     "PREPARE add(int, int) AS UPDATE b.t SET v = v + $2 WHERE k = $1 AND v % 3 = 0 RETURNING *", "PREPARE look(int) AS SELECT * FROM b.t WHERE k = $1"):
            self.sql(text)

    def run(self):
        try:
            while not self.round.stop.is_set():
                self.transaction()
                if self.round.upkeep:       # files are given up as long as somebody changes rows
                    self.round.stop.wait(self.rnd.choice([0, 0.01, 0.05, 0.2]))
        except Failure as e:
            self.fail(str(e))
        except (ServerGone, OSError) as e:
            self.fail(f"the server process ended: {e}")
        finally:
            self.round.stop.set() if self.round.failure else None
            self.c.close()

    def fail(self, text):
        if self.round.failure is None:
            self.round.failure = f"session {self.number}: {text}\nits transaction ({self.level}):\n" + "\n".join("  " + h for h in self.history[-25:])

    def sql(self, text):
        start = time.time()
        r = self.c.query(text)
        self.history.append(f"{start % 1000:.3f} +{time.time() - start:.3f} {text[:300]} -> {r!r} {[row[:4] for row in r.rows[:6]]}")
        if r.error:
            raise Refused(r)
        return r

    # --- transactions

    def transaction(self):
        rnd = self.rnd
        self.level = self.round.level or rnd.choice(["READ COMMITTED"] * 4 + ["REPEATABLE READ"] * 3 + ["SERIALIZABLE"])
        self.history.clear()
        self.stable = self.level != "READ COMMITTED"
        try:
            self.sql("BEGIN ISOLATION LEVEL " + self.level)
            if self.level == "SERIALIZABLE" and rnd.random() < 0.6:
                self.take_from_pair()
            else:
                self.steps()
            self.sql(rnd.choice(["COMMIT"] * 5 + ["ROLLBACK"]))
            self.round.done[self.level] += 1
        except Refused as e:
            self.c.query("ROLLBACK")
            self.round.refused[f"{self.level} {e.code}"] += 1
            moved = self.round.partitioned and "moved to another partition" in e.message
            if e.code != "40P01" and not (e.code == "40001" and (self.stable or moved)) and not (e.code == "55P03" and "NOWAIT" in self.history[-1]):
                raise Failure(str(e)) from e

    def steps(self):
        rnd = self.rnd
        for _ in range(rnd.choice([1, 1, 2, 4])):
            undone = rnd.random() < 0.15
            if undone:
                self.sql("SAVEPOINT outer_")
            rnd.choice([self.change, self.change, self.change, self.change, self.insert, self.insert, self.upsert, self.lock_first, self.read, self.cursor])()
            if undone:
                self.sql(rnd.choice(["ROLLBACK TO outer_", "RELEASE outer_"]))
        if rnd.random() < 0.3 and self.level != "SERIALIZABLE":
            self.read()

    def statement(self):
        """A change: (words before WHERE, condition, other ways to say both)."""
        rnd = self.rnd
        k, n = rnd.randrange(KEYS), rnd.randint(1, 5)
        x = rnd.random()
        if x < 0.25:
            return "UPDATE b.t SET v = v + 1", f"k = {k}", [f"EXECUTE bump({k})", f"SELECT * FROM b.bump({k})"]
        if x < 0.37:
            return "DELETE FROM b.t", f"k = {k}", [f"EXECUTE rid({k})", f"SELECT * FROM b.drop({k})"]
        if x < 0.47:
            return f"UPDATE b.t SET v = v + {n}", f"k = {k} AND v % 3 = 0", [f"EXECUTE add({k}, {n})"]
        if x < 0.55:
            return f"UPDATE b.t SET k = {rnd.randrange(KEYS)}, kv = {next(self.round.stamps)}", f"k = {k}", []
        if x < 0.62:
            return f"UPDATE b.t SET k = (k + {n}) % {KEYS}, kv = {next(self.round.stamps)}", f"v % 7 = {n}", []
        if x < 0.7:
            return f"DELETE FROM b.t", f"k IN ({k}, {(k + n) % KEYS}) AND v % 2 = {n % 2}", []
        if x < 0.8:
            return f"UPDATE b.t SET v = v + {n}, t = t || 'y'", f"v BETWEEN {n} AND {n + 3} AND length(t) < 200", []
        if x < 0.97:
            return rnd.choice([f"UPDATE b.t SET v = v - {n}", "DELETE FROM b.t"]), f"id % 13 = {n}", []
        return "DELETE FROM b.t", "true", []

    def change(self):
        """The same change on both sides."""
        rnd = self.rnd
        words, where, others = self.statement()
        plain = f"{words} WHERE {where} RETURNING *"
        texts = [plain, plain, f"WITH d AS ({plain}) SELECT * FROM d", f"SELECT * FROM b.run($q${plain}$q$)"] + others * 2
        text = rnd.choice(texts)
        heap = words.replace("b.t", "h.t")
        if self.stable:
            self.sql("SAVEPOINT change")
            try:
                got = self.sql(text).rows
            except Refused as e:
                if e.code == "40001" and self.level == "REPEATABLE READ" and not self.round.upkeep and not self.round.partitioned:
                    self.sql("ROLLBACK TO change")
                    self.sql(f"{heap} WHERE {where}")
                    raise Failure(f"{e}, but the heap changes the same rows without an error") from e
                raise
            self.compare(f"{heap} WHERE {where} RETURNING *", got)
            return
        before = {tuple(r) for r in self.sql(f"SELECT id, kv FROM h.t WHERE {where}").rows}
        got = self.sql(text).rows
        after = {tuple(r) for r in self.sql(f"SELECT id, kv FROM h.t WHERE {where}").rows}
        ids = {r[0] for r in got}
        if len(ids) != len(got):
            raise Failure(f"a row was changed twice by {text}: {got}")
        missed = [r for r in before & after if r[0] not in ids]
        if missed and not self.round.partitioned:
            raise Failure(f"{text} passed over the rows {missed[:5]}")
        if not ids <= {r[0] for r in after}:
            raise Failure(f"{text} changed the rows {sorted(ids - {r[0] for r in after})[:5]}, which it should not see")
        self.compare(f"{heap} WHERE id = ANY('{{{','.join(ids)}}}') RETURNING *", got)

    def compare(self, text, got):
        """Runs the heap's statement, which must give the same rows."""
        try:
            rows = self.sql(text).rows
        except Refused as e:
            if e.code == "40001" and "concurrent" in e.message:
                raise Failure(f"the heap refuses what the bucketed table did: {e}") from e
            raise
        x, y = collections.Counter(rows), collections.Counter(got)
        if x != y:
            raise Failure(f"the heap gives {list((x - y).items())[:4]} where the bucketed table gave {list((y - x).items())[:4]}: {text}")

    def insert(self):
        rows = ", ".join(f"({next(self.round.ids)}, {self.rnd.randrange(KEYS)}, {next(self.round.stamps)}, {self.rnd.randint(0, 9)}, 'n')" for _ in range(self.rnd.choice([1, 1, 3, 30])))
        for s in self.rnd.choice(["hb", "bh"]):
            self.sql(f"INSERT INTO {s}.t VALUES {rows}")

    def upsert(self):
        """Rows by id: some there are, and some that nobody but upserts inserts."""
        rnd = self.rnd
        there = [int(r[0]) for r in self.sql("SELECT id FROM h.t").rows]
        ids = set(rnd.sample(there, min(len(there), rnd.choice([1, 2, 6]))) + rnd.sample(range(1, 100), rnd.choice([1, 3])))
        values = "SELECT * FROM (VALUES " + ", ".join(f"({i}::int8, {rnd.randrange(KEYS)}, {next(self.round.stamps)}::int8, {rnd.randint(0, 9)}, 'u'::text)" for i in ids) + ") q(id, k, kv, v, t)"
        self.sql(f"SELECT bucketfdw.upsert('b.t', $q${values}$q$, key => 'id')")
        try:
            self.sql(f"INSERT INTO h.t {values} ON CONFLICT (id) DO UPDATE SET (k, kv, v, t) = (excluded.k, excluded.kv, excluded.v, excluded.t)")
        except Refused as e:
            if e.code == "40001" and "concurrent" in e.message:
                raise Failure(f"the heap refuses an upsert that the bucketed table did: {e}") from e
            raise

    def lock_first(self):
        """FOR UPDATE, and a new value computed here."""
        rnd = self.rnd
        k = rnd.randrange(KEYS)
        where = rnd.choice([f"k = {k}", f"k = {k}", f"id % 40 = {k}"])
        word = rnd.choice(["UPDATE", "UPDATE", "NO KEY UPDATE", "UPDATE NOWAIT"])
        rows = self.sql(f"SELECT id, v FROM b.t WHERE {where} FOR {word}").rows
        if not rows:
            return
        row = rnd.choice(rows)
        got = self.sql(f"UPDATE b.t SET v = {int(row[1]) + 1} WHERE {where} AND id = {row[0]} RETURNING *").rows
        if len(got) != 1:
            raise Failure(f"row {row[0]} was locked, and the update found {len(got)} of it")
        self.compare(f"UPDATE h.t SET v = v + 1 WHERE id = {row[0]} RETURNING *", got)

    # --- readers

    def read(self):
        rnd = self.rnd
        rows = self.sql(DIFFERENCE).rows
        if rows:
            raise Failure(f"the tables differ in one snapshot: {rows}")
        if self.level == "REPEATABLE READ":
            text = rnd.choice(SAME).replace("{k}", str(rnd.randrange(KEYS)))
            answers = [self.sql(text.replace("{s}", s)).rows for s in rnd.choice(["hb", "bh"])]
            if answers[0] != answers[1]:
                raise Failure(f"in one snapshot {answers[0][:5]} and {answers[1][:5]} from {text}")
            if rnd.random() < 0.2:
                time.sleep(rnd.choice([0.1, 0.5, 1.5]))
                again = self.sql(text.replace("{s}", "b")).rows
                if answers[0] != again:
                    raise Failure(f"the snapshot has changed: {answers[0][:5]}, then {again[:5]} from {text}")

    def cursor(self):
        """A cursor from before later changes of this and other transactions."""
        self.sql("DECLARE c CURSOR FOR SELECT (SELECT array_agg(x::text ORDER BY id) FROM h.t x) = array_agg(y::text ORDER BY y.id), count(*) FROM (SELECT * FROM b.t ORDER BY id) y")
        self.sql("DECLARE d CURSOR FOR SELECT y.*, x.id FROM b.t y FULL JOIN h.t x USING (id) WHERE (y.k, y.kv, y.v, y.t) IS DISTINCT FROM (x.k, x.kv, x.v, x.t)")
        self.change()
        rows = self.sql("FETCH ALL FROM d").rows
        if rows:
            raise Failure(f"a cursor's snapshot has different rows: {rows[:5]}")
        got = self.sql("FETCH ALL FROM c").rows
        if got[0][0] == "f":
            raise Failure(f"a cursor's snapshot has different rows: {got}")
        self.sql("CLOSE c; CLOSE d")

    def take_from_pair(self):
        """Takes one from one side of a pair if both together have it; or gives one."""
        k, side = self.rnd.randint(1, 6), self.rnd.randrange(2)
        have = int(self.sql(f"SELECT sum(v) FROM b.pair WHERE k = {k}").rows[0][0])
        how = -1 if have > 0 else 1
        self.sql(f"UPDATE b.pair SET v = v + ({how}) WHERE k = {k} AND side = {side}")


def run_round(database, seed, sessions, seconds, level):
    """One table, its sessions, and what must be there at the end; what went wrong, or None."""
    rnd = random.Random(seed)
    a_round = Round(database, rnd)
    c = Connection(database)
    a_round.setup(c)
    a_round.level = level
    threads = [Session(a_round, seed * 100 + i, i) for i in range(sessions)]
    upkeep = None
    if a_round.upkeep:
        names = ["t_0", "t_2"] if a_round.partitioned else ["t"]
        upkeep = Upkeep(database, rnd, [types.SimpleNamespace(name=n, heap=False) for n in names + ["pair"]])
        upkeep.start()
    for t in threads:
        t.start()
    a_round.stop.wait(seconds)
    a_round.stop.set()
    for t in threads:
        t.join()
    failure = a_round.failure
    if upkeep:
        failure = upkeep.finish() or failure
    a_round.rewrites = upkeep.calls if upkeep else 0
    if failure is None:
        for text, what in ((DIFFERENCE, "at the end the tables differ"), ("SELECT * FROM bucketfdw.verify() LIMIT 3", "verify"),
                           ("SELECT k, sum(v) FROM b.pair GROUP BY k HAVING sum(v) < 0 OR count(*) <> 2", "pairs are short")):
            r = c.query(text)
            if r.error or r.rows:
                failure = f"{what}: {r!r} {r.rows}"
                break
    c.close()
    return failure, a_round


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--seconds", type=float, default=60)
    p.add_argument("--seed", type=int, default=None)
    p.add_argument("--sessions", type=int, default=5)
    p.add_argument("--round", type=float, default=10, help="seconds of a round")
    p.add_argument("--level", help="all transactions have this isolation level")
    args = p.parse_args()
    seed = random.randrange(1, 10 ** 6) * 100 if args.seed is None else args.seed
    print(f"seed {seed}", flush=True)
    database = f"sessions_{os.getpid()}"
    c = Connection("postgres", wait=10)
    c.query(f"CREATE DATABASE {database} TEMPLATE template0")
    c.close()
    c = Connection(database)
    c.query("CREATE EXTENSION bucketfdw; SET client_min_messages = warning")
    c.close()
    end, done, refused, rounds, rewrites, code = time.monotonic() + args.seconds, collections.Counter(), collections.Counter(), 0, 0, 0
    while time.monotonic() < end:
        failure, a_round = run_round(database, seed + rounds, args.sessions, min(args.round, max(2, end - time.monotonic())), args.level)
        done += a_round.done
        refused += a_round.refused
        rewrites += a_round.rewrites
        if failure:
            print(f"FAILURE in the round of seed {seed + rounds} ({'partitions, ' if a_round.partitioned else ''}{'files rewritten meanwhile, ' if a_round.upkeep else ''}"
                  f"{a_round.options}, inline_limit {a_round.inline}):\n{failure}", flush=True)
            code = 1
            break
        rounds += 1
    print(f"{rounds} rounds; transactions: " + ", ".join(f"{n} {k}" for k, n in done.most_common()) + "; given up: " +
          (", ".join(f"{n} {k}" for k, n in refused.most_common()) or "none") + f"; {rewrites} rewrites of tables")
    if not code and sum(done.values()) < args.seconds * 2:
        print("FAILURE: hardly a transaction came to its end")
        code = 1
    c = Connection("postgres", wait=30)
    c.query(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")
    c.close()
    sys.exit(code)


main()
