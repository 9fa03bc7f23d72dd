"""Rows of one key: a hundred keys, one after the other, in a session that has been used before."""
import random
from statistics import median

from common.measure import must_agree
from common.report import ms
from common.svg import number

KEYS = 100


def run(bench):
    shop, report = bench.shop(), bench.report
    peers = [bench.session("bucketed", "bucketed"), bench.session("heap, B-tree on the key", "heap")] + shop.duck
    pick = random.Random(1)
    keys = [pick.randint(1, bench.options.rows) for _ in range(KEYS)]
    rows = []
    for name, text in (("orders of a customer", "select count(*), sum(amount) from orders where customer_id = {}"),
                       ("orders and customer joined", "select count(*), sum(amount), max(country) from orders "
                                                      "join customers using (customer_id) where customer_id = {}")):
        found = {peer.label: [] for peer in peers}
        for peer in peers:
            peer.run(text.format(keys[0]))
        for key in keys:
            query = text.format(key)
            answers = [peer.run(query) for peer in peers]
            for peer, answer in zip(peers, answers):
                found[peer.label].append(answer.ms)
                must_agree(query, answers[0], peers[0].label, answer, peer.label)
        for i, (label, taken) in enumerate(found.items()):
            rows.append((name if i == 0 else "", label, ms(median(taken)), number(sorted(taken)[int(KEYS * 0.95)]),
                         report.goal(median(taken), "<= 1") if i == 0 else ""))
    report.table(f"Rows of one key, {bench.options.rows:,} orders", ["query", "peer", "ms, median", "ms, 95 of 100 under", "goal"], rows,
                 "Planning and the way to psql included.")
    plan = peers[0].explain(f"select count(*) from orders where customer_id = {keys[0]}", "ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF")
    report.put("", "```", *plan.splitlines(), "```")
    report.save()
    bench.drop(peers[:2])
