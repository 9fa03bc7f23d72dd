"""The driver of bench/run: options, and the parts one after the other."""
import argparse
import importlib
import os
import shlex
import shutil
import subprocess
import sys

PARTS = {
    "loads": "CREATE TABLE AS, INSERT ... SELECT and COPY into heap and bucketed tables; sizes on disk",
    "joins": "joins and aggregations of orders and customers",
    "lookups": "rows of one key",
    "rates": "pgbench: rows of one key and one key's join, prepared, by 2 and 16 clients",
    "planning": "planning time with 64 and with 4096 buckets",
    "manytables": "planning time of joins of up to ten tables",
    "cold": "the joins once more after a restart, with the page cache dropped",
    "growth": "the join from 1 million rows on, doubled up to --growth-max; memory",
    "sides": "20 million with 2 million and with 2 thousand (as --rows has it), one, both or no side bucketed",
    "skew": "half of all rows on one key, and 0.9 of them on five, with one and two processes",
    "graph": "edges with the vertices at their source and at their end",
    "histories": "appends, one-row INSERTs and --nights nightly loads, with upkeep and without",
    "tpch": "the 22 queries of TPC-H",
}


def options(arguments):
    parser = argparse.ArgumentParser(prog="bench/run", formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="parts:\n" + "\n".join(f"  {n:<10} {t}" for n, t in PARTS.items()))
    parser.add_argument("--part", default=",".join(PARTS), help="comma separated; default all")
    parser.add_argument("--rows", type=int, default=2000000, help="orders, and customers; goals are judged from 20000000 on")
    parser.add_argument("--buckets", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3, help="timed runs of each query and peer, in turns; medians count")
    parser.add_argument("--loads", type=int, default=1, help="timed loads of orders and customers")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="DuckDB's")
    parser.add_argument("--no-duckdb", action="store_true", help="leaves DuckDB out, and does not install it")
    parser.add_argument("--jit", choices=("on", "off"), default="off", help="jit of all sessions")
    parser.add_argument("--growth-max", type=int, default=4000000, help="rows of the last step of growth")
    parser.add_argument("--growth-min", type=int, default=1000000, help="rows of the first one")
    parser.add_argument("--vertices", type=int, default=200000)
    parser.add_argument("--edges", type=int, default=4000000)
    parser.add_argument("--graph-work-mem", default="64MB", help="work_mem of the part graph, for all sessions")
    parser.add_argument("--rate-seconds", type=int, default=10, help="how long pgbench runs for each rate")
    parser.add_argument("--nights", type=int, default=365, help="appends of the longest of the histories")
    parser.add_argument("--night-rows", type=int, default=50000, help="rows of each")
    parser.add_argument("--tpch-scale", default="1", help="scale factor: 0.1, 1, 5")
    parser.add_argument("--tpch-timeout", type=int, default=120, help="seconds a query of TPC-H may take")
    parser.add_argument("--tpch-queries", default="", help="comma separated numbers; default all")
    parser.add_argument("--tpch-indexes", action="store_true", help="indexes on the foreign keys of the heap tables too")
    parser.add_argument("--cold-by", choices=("drop_caches", "fadvise"), default="drop_caches",
                        help="how the part cold empties the page cache: all of the machine's, or of the files it made")
    parser.add_argument("--smoke", action="store_true",
                        help="every part at a tiny size and each query once, with bucketfdw.verify_order: only the answers count")
    parser.add_argument("--out", default="", help="folder for report.md and charts; default bench/out in the tree")
    parser.add_argument("--check", action="store_true", help=argparse.SUPPRESS)
    smoke = ["--rows=20000", "--rounds=0", "--growth-min=10000", "--growth-max=20000", "--vertices=1000", "--edges=10000",
             "--nights=12", "--night-rows=1000",
             "--tpch-scale=0.01", "--graph-work-mem=1MB", "--cold-by=fadvise"]
    found = parser.parse_args((smoke if "--smoke" in arguments else []) + arguments)
    found.part = found.part.split(",")
    for part in found.part:
        if part not in PARTS:
            parser.error(f"there is no part {part}; parts are {', '.join(PARTS)}")
    found.tpch_queries = [int(n) for n in found.tpch_queries.split(",") if n]
    if found.rounds == 0 and not found.smoke:
        parser.error("--rounds is less than 1")
    for name in ("rows", "buckets", "loads", "threads", "vertices", "edges", "nights", "night_rows", "rate_seconds", "growth_min"):
        if getattr(found, name) < 1:
            parser.error(f"--{name.replace('_', '-')} is less than 1")
    if found.growth_max < found.growth_min:
        parser.error("--growth-max is less than --growth-min")
    return found


def bytes_needed(o):
    """About what the greatest of the parts has on disk at once."""
    shop = 2 * o.rows * (1000 if {"joins", "lookups", "rates", "cold", "loads"} & set(o.part) else 250)
    grow = 2 * o.growth_max * 200 if "growth" in o.part else 0
    graph = o.vertices * 1500 + o.edges * 250 if "graph" in o.part else 0
    kept = (o.rows + o.nights * o.night_rows) * 250 if "histories" in o.part else 0
    tpch = int(float(o.tpch_scale) * 4.5e9) if "tpch" in o.part else 0
    return max(shop, grow, graph, kept, tpch) + 4_000_000_000


def main():
    o = options(sys.argv[1:])
    if o.check:
        return 0
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    from common.bench import Bench
    from common.measure import Differs, say
    free = shutil.disk_usage(os.environ["BFDW_WORK"]).free
    if free < bytes_needed(o):
        say(f"this needs about {bytes_needed(o) >> 20} MB in {os.environ['BFDW_WORK']}, {free >> 20} MB are free; "
            "set BFDW_TMP to another folder, or ask for less")
        return 2
    bench = Bench(o, "bench/run " + " ".join(map(shlex.quote, sys.argv[1:])))
    try:
        for part in PARTS:
            if part in o.part:
                say(part)
                importlib.import_module("parts." + part).run(bench)
    except Differs as wrong:
        bench.report.put("", f"ANSWERS DIFFER: {wrong}")
        bench.report.save()
        return 1
    finally:
        bench.close()
    missed = bench.report.missed
    bench.report.put("", "All answers are the same." + (f" Goals missed: {missed}." if missed else ""))
    bench.report.save()
    say(f"report and charts in {bench.report.folder}")
    return 1 if missed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as failed:
        sys.exit(f"error: {failed}")
