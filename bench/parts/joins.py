"""The queries of queries.sql by every peer, with the goals of the design."""
import os

from common.bench import SOURCE
from common.measure import best, measure, say
from common.report import ms, ratio, times

# in the order of queries.sql: of DuckDB's time, and how many times faster than stock's best hash join
GOALS = [("<= 0.1", ">= 100"), ("<= 0.2", ""), ("<= 0.8", ">= 12"), ("<= 0.7", ">= 10"), ("<= 0.4", ">= 10")]


def queries():
    """[(name, query)]"""
    with open(os.path.join(SOURCE, "queries.sql"), encoding="utf-8") as file:
        lines = [line.strip() for line in file]
    return [(lines[i - 1][3:], line) for i, line in enumerate(lines) if line.startswith("select")]


def expect_plans(bench, peers, query):
    """The peers are what their names say."""
    serial = {peer.label.split(",")[0]: peer for peer in peers if "1 process" in peer.label}
    for name, words, without in (("bucketed", ["Custom Scan (BucketJoin)"], ["Hash", "Sort"]),
                                 ("stock hash", ["Hash Join"], ["Index"]),
                                 ("stock covering index", ["Merge Join", "Index Only Scan"], ["Sort", "Seq Scan"]),
                                 ("stock partitionwise", ["Append"], ["Nested"])):
        plan = serial[name].explain(query)
        if not all(w in plan for w in words) or any(w in plan for w in without):
            bench.report.put("", f"The plan of '{name}' is not of the kind it is meant to be:", "```", plan, "```")


def run(bench):
    shop, report = bench.shop(), bench.report
    peers = shop.peers()
    labels = [p.label for p in peers]
    ours, duck = labels[:2], [p.label for p in shop.duck]
    stock = [label for label in labels if label.startswith("stock")]
    expect_plans(bench, peers, queries()[0][1])
    rows, groups, goals = [], [], []
    for (name, query), (duck_goal, stock_goal) in zip(queries(), GOALS):
        say(name)
        found = measure(peers, query, bench.options.rounds)
        mine, hashed = best(found, *ours), best(found, *[s for s in stock if "hash" in s])
        rows += [(name if i == 0 else "", label, ms(found[label]), times(ratio(found[label], mine))) for i, label in enumerate(labels)]
        groups.append((name, list(found.items())))
        goals.append((name, ms(mine), times(ratio(hashed, mine)), report.goal(ratio(hashed, mine), stock_goal),
                      times(ratio(best(found, *stock), mine)),
                      times(ratio(mine, found[duck[0]])) if duck else "-",
                      report.goal(ratio(mine, found[duck[0]]), duck_goal) if duck else "-"))
    size = f"{bench.options.rows:,} orders and as many customers"
    report.table(f"Joins and aggregations, {size}", ["query", "peer", "ms", "times the best bucketed"], rows)
    report.table("The same against the goals", ["query", "bucketed, best", "stock hash, best, times", "goal", "stock, any, best, times",
                                                "part of DuckDB", "goal"], goals, "Best of one process and two workers on either side.")
    report.bars("joins", f"Joins and aggregations, {size}", "medians", "milliseconds", groups)
    bench.drop(peers[:len(peers) - len(duck)])
