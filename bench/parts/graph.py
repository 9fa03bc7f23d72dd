"""A social graph: edges bucketed by their source, vertices of 59 columns joined at the source and at the end."""
import re

from common.measure import measure, say
from common.report import ms, ratio, times

KINDS = ["int", "bigint", "numeric(12,2)", "float8", "date", "text"]
VALUES = ["(i * {n} % 1000)::int", "(i * {n})::bigint", "((i * {n}) % 100000 / 7.0)::numeric(12,2)", "(i % 97) * {n}.25::float8",
          "date '2020-01-01' + (i * {n} % 1500)::int", "'value ' || (i * {n} % 5000)"]
ATTRIBUTES = 58


def columns(values):
    kind = (lambda n: VALUES[n % 6].format(n=n + 1)) if values else (lambda n: KINDS[n % 6])
    return ", ".join(f"{kind(n)} AS a{n}" if values else f"a{n} {kind(n)}" for n in range(ATTRIBUTES))


def carried(alias, count):
    """max() of that many of the columns, so that the join has to carry them."""
    return ", ".join(f"max({alias}.a{n})" for n in range(count))


QUERIES = {
    "source and end, counted": "select count(*), sum(a.a0), sum(b.a0) from edges e join vertices a on a.id = e.src join vertices b on b.id = e.dst",
    "source and end, 12 columns of each": "select count(*), " + carried("a", 12) + ", " + carried("b", 12)
                                          + " from edges e join vertices a on a.id = e.src join vertices b on b.id = e.dst",
    "source only, all 59 columns": "select count(*), max(a.id), " + carried("a", ATTRIBUTES) + " from edges e join vertices a on a.id = e.src",
    "two hops, counted": "select count(*) from edges e join edges f on e.dst = f.src where e.weight < 0.05",
}


def spilled(plan):
    """MB written to temporary files, of the topmost line that says so, which counts what is below it."""
    found = re.search(r"temp (?:read=\d+ )?written=(\d+)", plan)
    return int(found.group(1)) * 8192 / 1048576 if found else 0


def run(bench):
    o, report, admin = bench.options, bench.report, bench.admin
    say(f"{o.vertices} vertices, {o.edges} edges")
    admin.send("DROP SCHEMA IF EXISTS graph, graph_b CASCADE")
    for schema in ("graph", "graph_b"):
        admin.send(f"CREATE SCHEMA {schema}")
    admin.send("SELECT setseed(0.42)")
    admin.send(f"CREATE TABLE graph.vertices AS SELECT i::bigint AS id, {columns(True)} FROM generate_series(1, {o.vertices}) i")
    # a few vertices have most of the followers
    admin.send(f"CREATE TABLE graph.edges AS SELECT (1 + floor(random() * {o.vertices}))::bigint AS src, "
               f"(1 + floor(power(random(), 2) * {o.vertices}))::bigint AS dst, random() AS weight, "
               f"date '2020-01-01' + (random() * 1500)::int AS since FROM generate_series(1, {o.edges}) i")
    admin.send(f"SELECT bucketfdw.create_table_as('graph_b.vertices', 'TABLE graph.vertices', bucket_by => 'id', buckets => {o.buckets})")
    admin.send(f"SELECT bucketfdw.create_table_as('graph_b.edges', 'TABLE graph.edges', bucket_by => 'src', buckets => {o.buckets})")
    admin.send("ALTER TABLE graph.vertices ADD PRIMARY KEY (id)")
    admin.send("VACUUM ANALYZE graph.vertices, graph.edges")
    ducks = bench.duck("graph")
    for duck in ducks:
        path = bench.folder("graph-csv") + "/table.csv"
        for table, kinds in (("vertices", f"id bigint, {columns(False)}"), ("edges", "src bigint, dst bigint, weight double, since date")):
            admin.send(f"COPY graph.{table} TO '{path}' (FORMAT csv)")
            duck.send(f"create table {table} ({kinds.replace('numeric', 'decimal').replace('float8', 'double').replace('text', 'varchar')})")
            duck.send(f"copy {table} from '{path}' (header false)")
        admin.send(f"COPY (SELECT 1) TO '{path}'")
    memory = {"work_mem": f"'{o.graph_work_mem}'"}
    peers = (bench.workers("bucketed", "graph_b", **memory)
             + bench.workers("bucketed, no routing", "graph_b", **memory, **{"bucketfdw.enable_routing": "off"})
             + bench.workers("stock", "graph", **memory) + ducks)
    rows, groups = [], []
    for name, query in QUERIES.items():
        say(name)
        found = measure(peers, query, o.rounds)
        stock = min(found["stock, 1 process"], found["stock, 2 workers"])
        for i, peer in enumerate(peers):
            temp = "" if peer in ducks else f"{spilled(peer.explain(query, 'ANALYZE, BUFFERS, COSTS OFF, TIMING OFF')):,.0f}"
            rows.append((name if i == 0 else "", peer.label, ms(found[peer.label]), times(ratio(stock, found[peer.label])), temp))
        groups.append((name, list(found.items())))
    title = f"Social graph, {o.vertices:,} vertices and {o.edges:,} edges"
    report.table(title, ["query", "peer", "ms", "stock's best / this", "temporary files, MB"], rows,
                 f"work_mem {o.graph_work_mem} for all sessions; edges bucketed by src alone.")
    report.bars("graph", title, "medians", "milliseconds", groups)
    bench.drop(peers)
    admin.send("DROP SCHEMA graph, graph_b CASCADE")
