#!/usr/bin/env python3
"""Random tables and queries, over bucketed tables and over heap copies of them; every difference is a failure.

usage: random_queries.py [--seconds N] [--seed N] [--rounds N] [--enough N] [--all] [--shrink SECONDS]
                         [--standby DIRECTORY]
Connects as PGHOST, PGPORT and PGUSER say (a Unix socket, trust) and makes a database of its own.  --all goes on after a
failure; without it the first one ends the run.  --enough ends it when so many queries have been compared.
--standby is the folder of the socket of a standby that has always replayed what is committed."""
import argparse
import collections
import json
import os
import random
import re
import sys
import time

from pg_wire import Connection, ServerGone
from changes import Change, Changes
from modes import FORCE, MODES, canonical, same_rows
from queries import Generator
from shrink import Shrinker, script
from tables import Statement, World
from tree import params, prepared, render
from upkeep import Upkeep
from values import SETUP
from waiting import Waiting

TOO_MANY = 8000        # rows; such queries are not compared


# classes of errors of which the order of rows decides: data, constraints
ALIKE = {(x, y) for x in ("22", "23") for y in ("22", "23")}


class Slow(Exception):
    """Ended by statement_timeout; the plan may just be bad, with costs forced as they are."""


class Failure(Exception):
    """kind: difference, error or crash; what tells two failures apart in shrinking."""

    def __init__(self, kind, text, mode=None, which=0):
        super().__init__(text)
        self.kind, self.text, self.mode, self.which = kind, text, mode, which

    def alike(self, other):
        return other is not None and self.kind == other.kind and (self.kind != "error" or signature(self.text) == signature(other.text))


def signature(text):
    return re.sub(r'"[^"]*"|\d+', "?", text.split("\n")[0])


class Tester:
    def __init__(self, args):
        self.args = args
        self.database = f"random_{os.getpid()}"
        c = Connection("postgres", wait=10)
        self.must(c, f"CREATE DATABASE {self.database} TEMPLATE template0")
        c.close()
        self.c = Connection(self.database)
        self.standby = None
        self.version = int(self.must(self.c, "SHOW server_version_num").rows[0][0])
        self.must(self.c, "CREATE EXTENSION bucketfdw")
        self.must(self.c, SETUP)
        if self.version >= 160000:
            MODES["parallel"] = [("debug_parallel_query" if n == "force_parallel_mode" else n, v) for n, v in MODES["parallel"]]
        self.transactions = self.changes = 0
        self.queries = self.skipped = self.executions = self.slow = 0
        self.joins = collections.Counter()
        self.bucketed = collections.Counter()
        self.routed = collections.Counter()
        self.kinds = collections.Counter()
        self.counted = 0        # aggregates that may count frequent keys
        self.failures = []
        self.upkeep, self.upkeep_calls = None, 0

    @staticmethod
    def must(c, sql):
        r = c.query(sql)
        if r.error:
            raise SystemExit(f"{sql}: {r!r}")
        return r

    def reconnect(self):
        try:
            self.c.close()
        except OSError:
            pass
        self.c = Connection(self.database, wait=60)

    # --- one case

    def build(self, ops):
        """Carries out the operations; a difference between the schemas raises Failure."""
        self.c.query("ROLLBACK; RESET ALL; DEALLOCATE ALL; SET client_min_messages = warning; SET statement_timeout = '30s'")
        r = self.c.query("DROP SCHEMA IF EXISTS h CASCADE; DROP SCHEMA IF EXISTS b CASCADE; CREATE SCHEMA h; CREATE SCHEMA b")
        if r.error:
            raise Failure("error", f"dropping the tables: {r.message}")
        for op in ops:
            self.apply(op)

    def apply(self, op):
        if isinstance(op, Change):
            self.apply_change(op)
            return
        answers = []
        for s in ("h", "b"):
            for text, data in op.sql(s):
                r = self.c.query(text, data)
                if r.error and s == "b":
                    raise Failure("error", f"{r.error} {r.message}\n{text[:300]}")
                if r.error:     # a case that shrinking made invalid
                    raise ValueError(f"{r!r}: {text[:200]}")
                answers.append(r)
        if isinstance(op, Statement) and op.texts["h"].startswith("SELECT count") and answers[0].rows != answers[1].rows:
            raise Failure("difference", f"{answers[0].rows[:3]} in the heap, {answers[1].rows[:3]} bucketed: {op.texts['b']}")

    def apply_change(self, op):
        """The same change on both sides: what it returns, counts and refuses must be the same."""
        answers = {}
        for s in ("h", "b"):
            r = self.c.query(op.head(s))
            if r.error:
                raise SystemExit(f"settings: {r!r}: {op.head(s)}")
            # the bucketed side runs without a savepoint where all is well
            guarded = self.c.in_transaction and (s == "h" or failed)
            if guarded:
                self.c.query("SAVEPOINT change")
            answers[s] = []
            for text in op.texts(s):
                answers[s].append(self.c.query(text))
                if answers[s][-1].error and guarded:
                    break
            failed = any(r.error for r in answers[s])
            if guarded:
                self.c.query("ROLLBACK TO change" if failed else "RELEASE change")
        self.changes += 1
        for text, h, b in zip(op.texts("b"), answers["h"], answers["b"]):
            if b.error and (not h.error or (b.error[:2], h.error[:2]) not in ALIKE and b.error != h.error):
                raise Failure("error", f"{b.error} {b.message} (heap {h!r})\n{text[:1500]}")
            rows = collections.Counter(h.rows), collections.Counter(b.rows)
            if h.error and not b.error or h.tags != b.tags or op.rows and rows[0] != rows[1]:
                missing, extra = list((rows[0] - rows[1]).items()), list((rows[1] - rows[0]).items())
                raise Failure("difference", f"heap {h!r} {h.tags}, bucketed {b!r} {b.tags}; missing {len(missing)}: {missing[:3]}; "
                              f"too many {len(extra)}: {extra[:3]}"[:1200] + f"\n{text[:1500]}")

    def settings(self, schema, settings):
        text = f"RESET ALL; SET client_min_messages = warning; SET search_path = {schema}, public; SET statement_timeout = '{'700ms' if schema == 'h' else '3s'}'"
        text += "".join(f"; SET {n} = {v}" for n, v in settings)
        r = self.c.query(text)
        if r.error == "57014":
            raise Slow
        if r.error:
            raise SystemExit(f"settings: {r!r}")

    def reference(self, query):
        """What the heap tables say for each parameter set; None when the query is no use."""
        self.settings("h", [])
        n = 4 if query.kind == "prepared" and params(query.tree) else 1
        out = []
        for which in range(n):
            r = self.c.query(render(query.tree, which))
            if r.error or len(r.rows) > TOO_MANY:
                return None
            out.append(r)
        return out

    def check(self, r, expected, query, mode, which=0):
        self.executions += 1
        if r.error == "57014":
            raise Slow
        if r.error == "0A000" and "has no system column" in r.message:
            return              # FOR UPDATE of a partitioned table
        if r.error == "0A000" and "nullable side of an outer join" in r.message:
            return              # FOR UPDATE: with constants in place of parameters it may be an inner one
        if r.error:
            raise Failure("error", f"{r.error} {r.message}", mode, which)
        if not same_rows(expected, r, query):
            x, y = (collections.Counter(canonical(a, query.canon)) for a in (expected, r))
            missing, extra = list((x - y).items()), list((y - x).items())
            raise Failure("difference", f"{len(expected.rows)} rows from the heap, {len(r.rows)} bucketed; missing {len(missing)}: {missing[:3]}; "
                          f"too many {len(extra)}: {extra[:3]}"[:1200] + ("" if missing or extra else "; the order differs"), mode, which)

    def on_standby(self, query, expected):
        """The query on the standby, in a few of the modes."""
        if self.standby is None:
            host, os.environ["PGHOST"] = os.environ["PGHOST"], self.args.standby
            self.standby = Connection(self.database)
            os.environ["PGHOST"] = host
        primary, self.c = self.c, self.standby
        try:
            for mode in ("on", "force", "parallel"):
                self.run_mode(query, expected, mode)
        except Failure as e:
            raise Failure(e.kind, "on the standby: " + str(e), None, e.which) from e
        finally:
            self.c = primary

    def run_mode(self, query, expected, mode):
        """The query on the bucketed tables under one mode's settings."""
        self.settings("b", MODES[mode])
        text = render(query.tree, 0)
        if query.kind == "cursor" and mode in ("on", "force"):
            self.run_cursor(text, expected[0], query, mode)
        elif query.kind == "prepared" and params(query.tree):
            head, order = prepared(query.tree)
            r = self.c.query(f"PREPARE p {head}")
            if r.error:
                raise Failure("error", f"{r.error} {r.message}", mode)
            try:
                for i in range(7 if mode in ("on", "force") else 2):
                    which = i % len(expected)
                    r = self.c.query(f"EXECUTE p ({', '.join(p.literal(which) for p in order)})")
                    self.check(r, expected[which], query, mode, which)
            finally:
                if self.inside:
                    self.c.query("ROLLBACK TO q")
                self.c.query("DEALLOCATE p")
        else:
            self.check(self.c.query(text), expected[0], query, mode)

    def run_cursor(self, text, expected, query, mode):
        self.c.query("SAVEPOINT cursor" if self.inside else "BEGIN")
        try:
            r = self.c.query(f"DECLARE c SCROLL CURSOR FOR {text}")
            if r.error:
                if r.error == "0A000":      # FOR UPDATE
                    return
                raise Failure("error", f"{r.error} {r.message}", mode)
            first = self.c.query("FETCH 3 FROM c")
            self.c.query("FETCH 2 FROM c; FETCH BACKWARD 2 FROM c") if len(first.rows) == 3 else None
            rest = self.c.query("FETCH ALL FROM c") if len(first.rows) == 3 else None
            if len(first.rows) == 3 and not rest.error:
                self.c.query("MOVE ABSOLUTE 3 FROM c")
                rest = self.c.query("FETCH ALL FROM c")
            if rest is not None:
                first.rows, first.error, first.message = first.rows + rest.rows, first.error or rest.error, first.message or rest.message
            self.check(first, expected, query, mode)
            back = self.c.query("FETCH BACKWARD ALL FROM c")
            if not back.error and back.rows != first.rows[::-1]:
                raise Failure("difference", "a cursor read backwards gives other rows than forwards", mode)
            self.c.query("MOVE ABSOLUTE 0 FROM c")
            self.check(self.c.query("FETCH ALL FROM c"), expected, query, mode)
        finally:
            self.c.query("ROLLBACK TO cursor" if self.inside else "ROLLBACK")

    def run_query(self, query, modes=None):
        """None when all is well; raises Failure.  Returns False when the query was of no use."""
        self.inside = self.c.in_transaction
        if self.inside:
            self.c.query("SAVEPOINT q")
        try:
            expected = self.reference(query)
            if expected is None:
                return False
            for mode in modes or MODES:
                if mode != "generic" or query.kind == "prepared":
                    if self.inside:
                        self.c.query("ROLLBACK TO q")
                    self.run_mode(query, expected, mode)
            if self.args.standby and not self.inside:
                self.on_standby(query, expected)
        except Slow:
            self.slow += 1
        finally:
            if self.inside:
                self.c.query("ROLLBACK TO q")
        return True

    def count_joins(self, query):
        """Which joins of the plan are bucket joins, with the other methods switched off."""
        if self.c.in_transaction:
            self.c.query("SAVEPOINT q")
        self.settings("b", FORCE)
        r = self.c.query("EXPLAIN (FORMAT JSON, COSTS OFF) " + render(query.tree, 0))
        if r.error:
            if self.c.in_transaction:
                self.c.query("ROLLBACK TO q")
            return

        def walk(node):
            provider = node.get("Custom Plan Provider")
            if provider:
                self.kinds[provider] += 1
                self.counted += "Frequent Keys" in node
            if provider == "BucketJoin" or node["Node Type"] in ("Hash Join", "Merge Join", "Nested Loop"):
                typ = node.get("Join Type", "?")
                self.joins[typ] += 1
                self.bucketed[typ] += provider == "BucketJoin"
                self.routed[typ] += "Routed" in node
            for child in node.get("Plans", []):
                walk(child)
        walk(json.loads(r.rows[0][0])[0]["Plan"])

    # --- rounds

    def table_queries(self, world):
        """Every table as it is, before any join."""
        class Whole:
            canon, ordered, kind = False, False, "simple"
        for name in [t.name for t in world.tables] + (["log"] if self.changer.log else []):
            q = Whole()
            q.tree = f"SELECT * FROM {name}"
            yield q

    def guarded(self, action, ops, query):
        """Runs action; a failure is shrunk and reported.  Returns whether all was well."""
        try:
            action()
            return True
        except ValueError as e:
            raise SystemExit(f"the tables' operations failed in the heap: {e}") from e
        except Failure as e:
            failure = e
        except ServerGone as e:
            failure = Failure("crash", f"the server process ended: {e}")
            self.reconnect()
        self.end_upkeep()
        self.report(failure, ops, query)
        return False

    def end_upkeep(self):
        """Whether what ran beside the queries, if anything, had no error."""
        if self.upkeep is None:
            return True
        text = self.upkeep.finish()
        self.upkeep_calls += self.upkeep.calls
        self.upkeep = None
        if text is not None:
            self.failures.append(Failure("error", text))
            print(f"FAILURE {len(self.failures)}, beside the queries: {text}\n--------", flush=True)
        return text is None

    def fails(self, failure, query):
        """For the shrinker: does the case fail in the same way?"""
        built = []

        def test(ops, tree):
            try:
                if not (built and built[0] is ops):
                    built.clear()
                    self.build(ops)
                    built.append(ops)
                if failure.kind == "verify":
                    r = self.c.query("SELECT * FROM bucketfdw.verify() LIMIT 3")
                    return bool(r.error or r.rows)
                if tree is None:
                    return False
                q = type(query).__new__(type(query))
                q.__dict__.update(vars(query))
                q.canon, q.ordered, q.kind, q.tree = query.canon, query.ordered, query.kind, tree
                self.run_query(q, [failure.mode] if failure.mode else None)
            except (ValueError, UnicodeError):
                return False
            except Failure as e:
                return failure.alike(e) and (e.mode is not None or tree is None)
            except ServerGone:
                built.clear()
                self.reconnect()
                return failure.kind == "crash"
            return False
        return test

    def report(self, failure, ops, query):
        self.failures.append(failure)
        number = len(self.failures)
        print(f"FAILURE {number}, mode {failure.mode}: {failure.kind}: {failure.text}", flush=True)
        tree = query.tree if query else None
        kind = query.kind if query else None
        if query is not None and tree is not None and kind != "simple":
            # most failures do not need the cursor or the prepared statement
            kind, query.kind = "simple", "simple"
            if not self.fails(failure, query)(ops, tree):
                kind = query.kind = "prepared" if params(tree) else "cursor"
        try:
            self.reconnect()
        except OSError:
            pass
        if not self.fails(failure, query)(ops, tree):
            print(f"It does not repeat in a new session by itself; the round of seed {self.seed} may show it.  The query:\n"
                  f"{render(tree, failure.which) if tree is not None else None}\nSettings: {MODES.get(failure.mode)}", flush=True)
            return
        shrinker = Shrinker(self.fails(failure, query), self.args.shrink)
        ops, tree = shrinker.shrink(ops, tree)
        text = script(ops, tree, kind, MODES.get(failure.mode, []), f"{failure.kind}, mode {failure.mode}: {failure.text}", failure.which)
        print(f"-------- a script that shows it (after {shrinker.tests} tries)\n{text}\n--------", flush=True)

    def waiting_round(self, seed):
        """Transactions that read what they write; not shrunk, the round is small."""
        try:
            text = Waiting(random.Random(seed)).difference(self.c)
        except ServerGone as e:
            text = f"the server process ended: {e}"
            self.reconnect()
        self.transactions += 1
        if text is not None:
            self.failures.append(Failure("difference", text))
            print(f"FAILURE {len(self.failures)}, rows that wait: {text}\n--------", flush=True)
        return text is None

    def round(self, seed):
        self.seed = seed
        if not all([self.waiting_round(seed * 5 + i) for i in range(5)]):
            return False
        rnd = random.Random(seed)
        world = World(rnd)
        generator = Generator(rnd, world)
        if not self.guarded(lambda: self.build(world.ops), world.ops, None):
            return False
        for _ in range(rnd.choice([0, 1, 2])):
            op = generator.add_view()
            if self.c.query(op.texts["h"]).error:
                world.views.pop()
                continue
            self.c.query(op.texts["h"].split(";")[0] + f"; DROP VIEW h.{op.table}")
            world.ops.append(op)
            if not self.guarded(lambda: self.apply(op), world.ops, None):
                return False
        self.changer = Changes(rnd, world, self.version)
        if rnd.random() < 0.7 and not self.all_of(self.changer.batch(), world):
            return False
        if not self.all_of(world.unfinished(self.changer.step), world):
            return False
        fine = self.tables_same(world)
        if not fine and not self.args.all:
            return False
        self.changer.beside = seed % 2 == 1
        if not self.c.in_transaction and seed % 2:
            self.upkeep = Upkeep(self.database, random.Random(seed), world.tables)
            self.upkeep.start()
        fine = self.queries_of(world, generator) and fine
        return self.end_upkeep() and fine

    def all_of(self, ops, world):
        """Carries out more operations; whether all was well."""
        for op in ops:
            world.ops.append(op)
            if not self.guarded(lambda: self.apply(op), world.ops, None):
                return False
        return True

    def tables_same(self, world, modes=None):
        """Whether all tables have the rows of their heap copies, and files without faults."""
        fine = True
        for q in self.table_queries(world):
            fine = self.guarded(lambda: self.run_query(q, modes), world.ops, q) and fine
        r = self.c.query("SELECT * FROM bucketfdw.verify() LIMIT 3")
        if r.error or r.rows:
            self.end_upkeep()
            self.report(Failure("verify", f"{r!r} {r.rows}"), world.ops, None)
            return False
        return fine

    def queries_of(self, world, generator):
        """The random queries of a round, and changes of the rows between them."""
        fine, rnd = True, self.changer.rnd
        for i in range(self.args.queries):
            if not fine and not self.args.all:
                return False
            if i % 6 == 5 and not self.c.in_transaction:
                modes = rnd.sample([m for m in MODES if m != "generic"], 3)
                if not self.all_of(self.changer.batch(), world) or not self.tables_same(world, modes):
                    return False
            if time.monotonic() > self.end:
                break
            query = generator.query()
            ran = []
            ok = self.guarded(lambda: ran.append(self.run_query(query)), world.ops, query)
            if not ok:
                fine = False
                if self.args.all:
                    return False
                continue
            if ran and ran[0]:
                self.queries += 1
                try:
                    self.count_joins(query)
                except Slow:
                    if self.c.in_transaction:
                        self.c.query("ROLLBACK TO q")
            else:
                self.skipped += 1
        return fine

    def run(self):
        start = time.monotonic()
        self.end = start + self.args.seconds
        rounds, told = 0, start
        while time.monotonic() < self.end and (not self.args.rounds or rounds < self.args.rounds) and \
                (not self.args.enough or self.queries < self.args.enough):
            seed = self.args.seed + rounds
            if not self.round(seed):
                print(f"(round of seed {seed})", flush=True)
                if not self.args.all:
                    break
            rounds += 1
            if time.monotonic() - told > 30:
                told = time.monotonic()
                print(f"{told - start:.0f} s, {rounds} rounds, {self.queries} queries", flush=True)
        total, hit = sum(self.joins.values()), sum(self.bucketed.values())
        print(f"{rounds} rounds, {self.queries} queries ({self.skipped} more were refused or too big on the heap, {self.slow} timed out), {self.executions} executions compared; {self.changes} changes of rows, {self.transactions} transactions that read what they write, {self.upkeep_calls} rewrites of tables beside queries")
        print(f"{hit} of {total} joins were bucket joins: " + ", ".join(f"{t} {self.bucketed[t]} of {n}" for t, n in self.joins.most_common()) +
              "; with one side sorted: " + (", ".join(f"{t} {n}" for t, n in self.routed.most_common() if n) or "none") +
              "; custom scans: " + ", ".join(f"{k} {n}" for k, n in self.kinds.most_common()) + f"; frequent keys counted by {self.counted}")
        inner = self.joins["Inner"]
        if inner >= 100 and self.bucketed["Inner"] * 3 < inner:
            print("FAILURE: less than a third of the inner joins were bucket joins")
            self.failures.append(None)
        if inner >= 300 and sum(self.routed.values()) < 20:
            print("FAILURE: hardly a join had one side sorted into the buckets of the other")
            self.failures.append(None)
        if inner >= 300 and self.counted < 20:
            print("FAILURE: hardly an aggregate counted the frequent keys of a join")
            self.failures.append(None)
        if self.queries < self.args.enough and not self.failures:
            print(f"FAILURE: time was up after {self.queries} queries, {self.args.enough} are wanted")
            self.failures.append(None)
        if self.failures:
            print(f"{len(self.failures)} failures")
        return 1 if self.failures else 0

    def finish(self):
        try:
            self.c.close()
            c = Connection("postgres", wait=30)
            c.query(f"DROP DATABASE IF EXISTS {self.database} WITH (FORCE)")
            c.close()
        except (OSError, ServerGone):
            pass


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--seconds", type=float, default=120)
    p.add_argument("--seed", type=int, default=None)
    p.add_argument("--rounds", type=int, default=0)
    p.add_argument("--enough", type=int, default=0)
    p.add_argument("--queries", type=int, default=30)
    p.add_argument("--shrink", type=float, default=60)
    p.add_argument("--all", action="store_true")
    p.add_argument("--standby")
    args = p.parse_args()
    if args.seed is None:
        args.seed = random.randrange(1, 10 ** 6) * 1000
    print(f"seed {args.seed}", flush=True)
    t = Tester(args)
    try:
        code = t.run()
    finally:
        t.finish()
    sys.exit(code)


main()
