"""Planning time of joins of up to ten tables: bucketed, the same without bucket plans, and heap tables with primary keys."""
import re
from statistics import median

from common.report import ms, times

GOAL = "<= 1.3"
TABLES = range(1, 11)
PARTITIONS = 12


def rows_of(table):
    return 1000 * table * table


def names(tables):
    return ", ".join(f"t{t}" for t in tables)


def shapes():
    """Name, query, times that it is planned, and the goal where there is one."""
    chain = " AND ".join(f"t{t}.next = t{t + 1}.id" for t in TABLES[:-1])
    star = " AND ".join(f"facts.f{t} = t{t}.id" for t in TABLES[:-1])
    same = " AND ".join(f"t{t}.id = t{t + 1}.id" for t in TABLES[:5])
    left = " ".join(f"LEFT JOIN t{t + 1} ON t{t}.next = t{t + 1}.id" for t in TABLES[:4])
    return (
        ("one table, by its key", "SELECT * FROM t5 WHERE id = 77", 200, ""),
        ("two tables, both by their keys", "SELECT * FROM t5 JOIN t6 USING (id)", 200, ""),
        ("the same, grouped by the key", "SELECT id, count(*) FROM t5 JOIN t6 USING (id) GROUP BY id", 200, ""),
        ("a row of one table and its row of another", "SELECT * FROM t5 JOIN t6 ON t5.next = t6.id WHERE t5.id = 77", 200, ""),
        ("three tables, all by their keys", "SELECT * FROM t4 JOIN t5 USING (id) JOIN t6 USING (id)", 100, ""),
        ("five tables, LEFT JOIN in a chain", f"SELECT count(*) FROM t1 {left}", 50, ""),
        ("six tables, all by their keys", f"SELECT count(*) FROM {names(TABLES[:6])} WHERE {same}", 20, ""),
        ("ten tables in a chain", f"SELECT count(*) FROM {names(TABLES)} WHERE {chain}", 50, GOAL),
        ("a star of ten tables", f"SELECT count(*), sum(amount) FROM facts, {names(TABLES[:-1])} WHERE {star}", 10, ""),
        (f"two tables of {PARTITIONS} partitions, partition-wise", "SELECT count(*) FROM parts1 JOIN parts2 USING (id, part)", 50, ""),
    )


def create(admin, schema, bucketed):
    foreign, key = ("FOREIGN ", "") if bucketed else ("", " PRIMARY KEY")

    def by(column):
        return f" SERVER bucketfdw OPTIONS (bucket_by '{column}', buckets '16')" if bucketed else ""

    admin.send(f"CREATE SCHEMA {schema}")
    for t in TABLES:
        admin.send(f"CREATE {foreign}TABLE {schema}.t{t} (id int NOT NULL{key}, next int, word text){by('id')}")
        admin.send(f"INSERT INTO {schema}.t{t} SELECT i, i % {rows_of(t % 10 + 1)} + 1, 'w' || i FROM generate_series(1, {rows_of(t)}) i")
    columns = ", ".join(f"f{t} int" for t in TABLES[:-1])
    values = ", ".join(f"i % {rows_of(t)} + 1" for t in TABLES[:-1])
    admin.send(f"CREATE {foreign}TABLE {schema}.facts (id int NOT NULL{key}, {columns}, amount numeric(10,2)){by('f1')}")
    admin.send(f"INSERT INTO {schema}.facts SELECT i, {values}, i FROM generate_series(1, 100000) i")
    for table in ("parts1", "parts2"):
        also = "" if bucketed else ", PRIMARY KEY (id, part)"
        admin.send(f"CREATE TABLE {schema}.{table} (id int NOT NULL, part int NOT NULL, amount int{also}) PARTITION BY RANGE (part)")
        for p in range(PARTITIONS):
            admin.send(f"CREATE {foreign}TABLE {schema}.{table}_{p} PARTITION OF {schema}.{table} "
                       f"FOR VALUES FROM ({p}) TO ({p + 1}){by('id')}")
        admin.send(f"INSERT INTO {schema}.{table} SELECT i, p, i FROM generate_series(0, {PARTITIONS - 1}) p, generate_series(1, 1000) i")
    tables = ", ".join(f"{schema}.{t}" for t in [f"t{t}" for t in TABLES] + ["facts", "parts1", "parts2"])
    admin.send(f"{'ANALYZE' if bucketed else 'VACUUM ANALYZE'} {tables}")


def planning(session, query):
    return float(re.search(r"Planning Time: ([0-9.]+) ms", session.explain(query, "COSTS OFF, SUMMARY ON")).group(1))


def run(bench):
    report, admin = bench.report, bench.admin
    create(admin, "many_heap", False)
    create(admin, "many_bucketed", True)
    settings = {"geqo": "off", "join_collapse_limit": 12, "from_collapse_limit": 12, "enable_partitionwise_join": "on"}
    ours = bench.session("bucketed", "many_bucketed", **settings)
    stock = [bench.session("bucketed, bucketfdw.enable off", "many_bucketed", **{"bucketfdw.enable": "off"}, **settings),
             bench.session("heap with primary keys", "many_heap", **settings)]
    rows = []
    for name, query, repeats, goal in shapes():
        taken = {peer.label: [] for peer in [ours] + stock}
        for number in range(1 if bench.options.smoke else repeats + 3):
            for peer in [ours] + stock:
                found = planning(peer, query)
                if number >= 3 or bench.options.smoke:
                    taken[peer.label].append(found)
        mine, off, heap = (median(taken[peer.label]) for peer in [ours] + stock)
        rows.append((name, ms(mine), ms(off), ms(heap), times(mine / off), times(mine / heap), report.goal(mine / heap, goal, always=not bench.options.smoke)))
    report.table("Planning of joins", ["query", "bucketed, ms", "bucketfdw.enable off", "heap", "/ off", "/ heap", "goal for that"], rows,
                 "Planning Time of EXPLAIN in sessions that planned the query before, in turns; geqo off, collapse limits 12.")
    bench.drop([ours] + stock)
    admin.send("DROP SCHEMA many_heap, many_bucketed CASCADE")
