"""Random queries in all plans that settings bring about: reports where the one chosen is not nearly the fastest.

Every query is planned with the settings as they are, and again with each kind of node forbidden.  Each different plan
is run in turn with the others, some rounds long, and counts with its best time.  Planning time does not count."""
import argparse
import json
import os
import random
import re
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "random"))
from pg_wire import Connection  # noqa: E402

OURS = ["bucketfdw.enable_bucketjoin", "bucketfdw.enable_bucketagg", "bucketfdw.enable_routing", "bucketfdw.enable_broadcastjoin"]
CORES = ["enable_hashjoin", "enable_mergejoin", "enable_nestloop", "enable_hashagg", "enable_sort", "enable_memoize"]
# pairs that leave one way only
TOGETHER = [("enable_hashjoin", "enable_mergejoin"), ("enable_hashjoin", "enable_nestloop"), ("enable_mergejoin", "enable_nestloop"),
            ("bucketfdw.enable_bucketjoin", "bucketfdw.enable_bucketagg"), ("bucketfdw.enable_bucketjoin", "enable_nestloop"),
            ("bucketfdw.enable_bucketjoin", "enable_hashjoin")]

TABLES = """
CREATE TABLE o_h AS SELECT i AS id, (i * 7919::bigint %% %(keys)d)::int AS k, i %% 100 AS v, (i %% 100000)::numeric(12,2) AS n,
	date '2020-01-01' + i %% 1500 AS d, md5(i::text) || md5((-i)::text) AS wide, (ARRAY['red','green','blue','black','white'])[1 + i %% 5] AS color
	FROM generate_series(1, %(rows)d) i;
CREATE INDEX ON o_h (k);
CREATE TABLE c_h AS SELECT i AS k, 'customer ' || i AS name, i %% 1000 AS w, i %% 25 AS region FROM generate_series(0, %(keys)d - 1) i;
CREATE INDEX ON c_h (k);
CREATE TABLE e_h AS SELECT (i * 31::bigint %% %(keys)d)::int AS src, (i * 17::bigint %% %(keys)d)::int AS dst, i %% 7 AS kind FROM generate_series(1, %(rows)d / 2) i;
CREATE TABLE s_h AS SELECT i AS v, 'dimension ' || i AS label, i %% 10 AS kind FROM generate_series(0, 99) i;
SELECT bucketfdw.create_table_as('o_b', 'SELECT * FROM o_h', bucket_by => 'k', buckets => 16, sort_by => 'k, id');
SELECT bucketfdw.create_table_as('c_b', 'SELECT * FROM c_h', bucket_by => 'k', buckets => 16);
SELECT bucketfdw.create_table_as('e_b', 'SELECT * FROM e_h', bucket_by => 'src', buckets => 16);
SELECT bucketfdw.create_table_as('s_b', 'SELECT * FROM s_h', bucket_by => 'v', buckets => 4);
CREATE FOREIGN TABLE r_b (id int, k int, v int, n numeric(12,2), d date, wide text, color text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '16');
CREATE TABLE p_b (id int, k int, v int, n numeric(12,2), d date, wide text, color text) PARTITION BY RANGE (d);
"""
LOADS = 24


def connect(name):
    return Connection(name, wait=20)


def run(conn, sql):
    r = conn.query(sql)
    if r.error:
        sys.exit(f"{sql}\nERROR: {r.message}")
    return r.rows


def make_tables(conn, rows):
    sizes = {"rows": rows, "keys": rows // 10}
    run(conn, "CREATE EXTENSION bucketfdw")
    for statement in (TABLES % sizes).split(";\n"):
        if statement.strip():
            run(conn, statement)
    for i in range(LOADS):
        run(conn, f"INSERT INTO r_b SELECT * FROM o_h WHERE id % {LOADS} = {i}")
    for year in range(2020, 2025):
        run(conn, f"CREATE FOREIGN TABLE p{year}_b PARTITION OF p_b FOR VALUES FROM ('{year}-01-01') TO ('{year + 1}-01-01') "
                  f"SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '16')")
    run(conn, "INSERT INTO p_b SELECT * FROM o_h")
    for name in ("o_h", "c_h", "e_h", "s_h", "o_b", "c_b", "e_b", "s_b", "r_b", "p_b"):
        run(conn, f"ANALYZE {name}")


class Generator:
    """Queries of the shapes that people write over such tables."""

    def __init__(self, rng, rows):
        self.rng, self.rows, self.keys = rng, rows, rows // 10

    def key(self):
        return self.rng.randrange(self.keys)

    def fact_conditions(self, a):
        r = self.rng
        lo = self.key()
        return r.choice([
            [], [], [], [f"{a}.v < {r.choice([1, 10, 50])}"], [f"{a}.k = {lo}"], [f"{a}.k BETWEEN {lo} AND {lo + r.choice([10, 1000])}"],
            [f"{a}.k IN ({lo}, {self.key()}, {self.key()})"], [f"{a}.color = 'red'"], [f"{a}.color LIKE 'b%'"], [f"{a}.n < {r.choice([10, 5000])}"],
            [f"{a}.d >= date '2023-06-01'"], [f"{a}.d = date '2021-05-05'"], [f"{a}.wide LIKE '%abc%'"], [f"length({a}.wide) > 63 AND {a}.v = 7"],
            [f"({a}.k, {a}.id) > ({lo}, {r.randrange(self.rows)})"], [f"{a}.v % 10 = 3", f"{a}.color <> 'red'"]])

    def dim_conditions(self, a):
        r = self.rng
        return r.choice([[], [], [f"{a}.region = {r.randrange(25)}"], [f"{a}.w < {r.choice([1, 50, 500])}"], [f"{a}.name LIKE '%77%'"], [f"{a}.k < {self.key()}"]])

    def fact(self):
        return self.rng.choice(["o_b", "o_b", "o_b", "r_b", "p_b", "o_h"])

    def dim(self):
        return self.rng.choice(["c_b", "c_b", "c_b", "c_h"])

    def source(self):
        """FROM, conditions, and columns to work with: of the key, few values, numbers, texts."""
        r, f, d = self.rng, self.fact(), self.dim()
        fact, dim = self.fact_conditions("f"), self.dim_conditions("c")
        cols = {"key": "f.k", "few": r.choice(["f.v", "f.color"]), "number": r.choice(["f.n", "f.v", "f.id"]), "text": "f.wide"}
        shape = r.choice(["scan", "scan", "join", "join", "join", "left", "dims", "star", "exists", "not exists", "graph", "either", "lateral"])
        if shape == "scan":
            return f"{f} f", fact, cols
        if shape in ("join", "left"):
            cols.update({"few": r.choice(["c.region", "f.v"]), "text": r.choice(["c.name", "f.wide"])})
            return f"{f} f {'LEFT ' if shape == 'left' else ''}JOIN {d} c ON c.k = f.k", fact + (dim if shape == "join" else []), cols
        if shape == "dims":
            cols.update({"few": "s.label", "text": "s.label"})
            return f"{f} f JOIN {r.choice(['s_b', 's_h'])} s ON s.v = f.v", fact + r.choice([[], ["s.kind = 3"]]), cols
        if shape == "star":
            cols.update({"few": r.choice(["s.label", "c.region"]), "text": "c.name"})
            return f"{f} f JOIN {d} c ON c.k = f.k JOIN {r.choice(['s_b', 's_h'])} s ON s.v = f.v", fact + dim + r.choice([[], ["s.kind = 3"]]), cols
        if shape in ("exists", "not exists"):
            where = " AND ".join(["c.k = f.k"] + dim)
            return f"{f} f", fact + [f"{shape.upper()} (SELECT FROM {d} c WHERE {where})"], cols
        if shape == "either":
            return f"{d} f", [f"(EXISTS (SELECT FROM {self.fact()} a WHERE a.k = f.k AND a.v = 3) OR EXISTS (SELECT FROM {self.fact()} b WHERE b.k = f.k AND b.v = 9))"], \
                {"key": "f.k", "few": "f.region", "number": "f.w", "text": "f.name"}
        if shape == "lateral":
            return f"{d} f CROSS JOIN LATERAL (SELECT max(n) AS top FROM {self.fact()} a WHERE a.k = f.k) m", [f"f.w < {r.choice([1, 10])}"], \
                {"key": "f.k", "few": "f.region", "number": "m.top", "text": "f.name"}
        return f"e_b e JOIN {d} c ON c.k = e.src JOIN {r.choice(['c_b', 'c_h'])} g ON g.k = e.dst", dim + r.choice([[], ["e.kind = 2"]]), \
            {"key": "e.src", "few": "g.region", "number": "g.w", "text": "g.name"}

    def query(self):
        r = self.rng
        tables, conditions, c = self.source()
        where = " WHERE " + " AND ".join(conditions) if conditions else ""
        limit = r.choice([1, 20, 1000])
        return r.choice([
            f"SELECT count(*) FROM {tables}{where}", f"SELECT sum({c['number']}), count(*) FROM {tables}{where}",
            f"SELECT max({c['text']}), min({c['number']}) FROM {tables}{where}",
            f"SELECT {c['key']}, count(*), sum({c['number']}) FROM {tables}{where} GROUP BY 1",
            f"SELECT {c['few']}, count(*), max({c['number']}) FROM {tables}{where} GROUP BY 1",
            f"SELECT {c['few']}, max({c['text']}) FROM {tables}{where} GROUP BY 1 ORDER BY 1",
            f"SELECT DISTINCT {c['key']} FROM {tables}{where}", f"SELECT {c['key']}, {c['text']} FROM {tables}{where} LIMIT {limit}",
            f"SELECT {c['key']}, {c['text']} FROM {tables}{where} ORDER BY 1 LIMIT {limit}", f"SELECT {c['key']}, {c['few']} FROM {tables}{where} ORDER BY 2, 1 LIMIT {limit}",
            f"SELECT {c['key']}, {c['number']} FROM {tables}{where} ORDER BY 1",
            f"SELECT {c['key']}, count(*) FROM {tables}{where} GROUP BY 1 ORDER BY 1 LIMIT {limit}",
            f"SELECT count(*) FROM (SELECT {c['key']} AS k, {c['number']} AS x FROM {tables}{where}) q JOIN c_b z ON z.k = q.k"])


def shape_of(plan):
    """What makes two plans the same: nodes, relations, conditions; not costs and rows."""
    keep = {k: v for k, v in plan.items() if not re.search(r"Cost|Rows$|Width|Plans|Bucket Join|Parent Relationship", k)}
    return json.dumps([keep, [shape_of(p) for p in plan.get("Plans", [])]], sort_keys=True)


def lines(plan, depth=0):
    """A plan in short."""
    name = plan.get("Custom Plan Provider", plan["Node Type"])
    words = [name] + [str(plan[k]) for k in ("Join Type", "Strategy", "Relation Name") if k in plan]
    out = ["  " * depth + " ".join(words) + f"  (cost={plan['Startup Cost']:.0f}..{plan['Total Cost']:.0f} rows={plan['Plan Rows']})"]
    for child in plan.get("Plans", []):
        out += lines(child, depth + 1)
    return out


class Variant:
    def __init__(self, settings, plan):
        self.settings, self.plan, self.times = settings, plan, []

    def best(self):
        return min(self.times) if self.times else None


class Tester:
    def __init__(self, conn, args, rng):
        self.conn, self.args, self.rng = conn, args, rng
        names = {row[0] for row in run(conn, "SELECT name FROM pg_settings WHERE name LIKE 'enable_%' OR name LIKE 'bucketfdw.%'")}
        ways = [[(s, "off")] for s in OURS + CORES + ["bucketfdw.enable"] if s in names]
        ways += [[(a, "off"), (b, "off")] for a, b in TOGETHER if a in names and b in names]
        self.ways = [[]] + ways

    def under(self, settings, statement):
        sets = "".join(f"SET LOCAL {name} = '{value}'; " for name, value in settings)
        r = self.conn.query(f"BEGIN; {sets}{statement}")
        error = r.error and (r.error, r.message)
        self.conn.query("ROLLBACK")
        return r, error

    def variants(self, query, base):
        found = {}
        for workers in ("2", "0"):
            for way in self.ways:
                settings = base + [("max_parallel_workers_per_gather", workers)] + way
                r, error = self.under(settings, "EXPLAIN (FORMAT json) " + query)
                if error:
                    sys.exit(f"{query}\n{settings}\nERROR: {error}")
                plan = json.loads(r.rows[0][0])[0]["Plan"]
                found.setdefault(shape_of(plan), Variant(settings, plan))
        return list(found.values())

    def measure(self, query, variant, limit_ms):
        settings = variant.settings + [("statement_timeout", str(int(limit_ms)))]
        r, error = self.under(settings, "EXPLAIN (ANALYZE, TIMING off, FORMAT json) " + query)
        if error:
            if error[0] != "57014":
                sys.exit(f"{query}\n{settings}\nERROR: {error}")
            variant.times.append(limit_ms * 1.0)
        else:
            variant.times.append(json.loads(r.rows[0][0])[0]["Execution Time"])

    def test(self, query, base):
        """None, or what is wrong with the plan that is chosen with workers allowed, or with none."""
        variants = self.variants(query, base)
        chosen = variants[0]
        for round_ in range(self.args.rounds):
            for v in variants:
                # what is far behind need not be run again
                if round_ > 0 and v is not chosen and v.best() > chosen.best() * 1.2:
                    continue
                self.measure(query, v, 60000 if v is chosen else max(chosen.best() * 2, 500))
        best = min(variants, key=Variant.best)
        if chosen.best() <= best.best() * self.args.ratio or chosen.best() - best.best() < self.args.least_ms:
            return None
        return chosen, best


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--seconds", type=float, default=300)
    p.add_argument("--seed", type=int, default=None)
    p.add_argument("--scale", type=float, default=1, help="times 200,000 rows")
    p.add_argument("--ratio", type=float, default=1.5)
    p.add_argument("--least-ms", type=float, default=4)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--database", default="plans")
    p.add_argument("--keep", action="store_true", help="use the tables that are there")
    p.add_argument("--query", help="only this one")
    args = p.parse_args()
    seed = args.seed if args.seed is not None else random.randrange(1 << 30)
    rows = int(200000 * args.scale)
    print(f"seed {seed}, {rows} rows", flush=True)
    if not args.keep:
        admin = connect("postgres")
        run(admin, f"DROP DATABASE IF EXISTS {args.database}")
        run(admin, f"CREATE DATABASE {args.database}")
    conn = connect(args.database)
    if not args.keep:
        make_tables(conn, rows)
    explained = []
    with open(os.path.join(HERE, "explained.txt"), encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                pattern, reason = line.rstrip("\n").split("\t")
                explained.append((re.compile(pattern), reason))
    rng = random.Random(seed)
    tester, generator = Tester(conn, args, rng), Generator(rng, rows)
    end = time.monotonic() + args.seconds
    tested = bad = known = 0
    while time.monotonic() < end:
        query = args.query or generator.query()
        base = [("work_mem", rng.choice(["64kB", "4MB", "4MB", "64MB", "1GB"])), ("min_parallel_table_scan_size", "0"),
                ("parallel_leader_participation", rng.choice(["on", "on", "off"]))]
        found = tester.test(query, base)
        tested += 1
        if found:
            chosen, best = found
            reason = next((why for pattern, why in explained if pattern.search(query)), None)
            known += reason is not None
            bad += reason is None
            print(f"\n{'known: ' + reason if reason else 'WORSE'}: {chosen.best():.1f} ms, could be {best.best():.1f} ms\n{query};")
            for v in (chosen, best):
                print(f"-- {v.best():.1f} ms with " + ", ".join(f"{n}={x}" for n, x in v.settings))
                print("\n".join(lines(v.plan, 1)), flush=True)
        if args.query:
            break
    print(f"\n{tested} queries, {bad} with a plan more than {args.ratio} times slower than another, {known} known")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
