"""The queries once more, each after a restart of the server with the page cache dropped: once per query and peer."""
import os

from common.bench import WORK
from common.measure import must_agree, say
from common.report import ms, ratio, times
from parts.joins import queries

DROP = "/proc/sys/vm/drop_caches"


def forget(by):
    """Empties the page cache; how it was done, or None when it could not be."""
    os.sync()
    try:
        if by == "drop_caches":
            with open(DROP, "w", encoding="ascii") as file:
                file.write("1")
            return "through " + DROP
    except OSError:
        pass  # not ours to write, as in a container
    if not hasattr(os, "posix_fadvise"):
        return None
    for folder, _, files in os.walk(WORK):
        for name in files:
            try:
                handle = os.open(os.path.join(folder, name), os.O_RDONLY)
            except OSError:
                continue
            try:
                os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            except OSError:
                return None
            finally:
                os.close(handle)
    return "by posix_fadvise on every file of the work folder"


def run(bench):
    shop, report = bench.shop(), bench.report
    peers = bench.workers("bucketed", "bucketed") + bench.workers("stock", "heap") + shop.duck
    rows, groups, how = [], [], None
    for name, query in [queries()[0], queries()[2]]:
        answers = []
        for peer in peers:
            say(f"{name}: {peer.label}")
            start = bench.restart()
            for duck in shop.duck:
                duck.close()
            how = forget(bench.options.cold_by)
            start()
            for duck in shop.duck:
                duck.connect()
            if how is None:
                report.put("", "## Cold", "", "Skipped: the page cache cannot be dropped here.")
                report.save()
                bench.drop(peers[:4])
                return
            answers.append(peer.run(query))
            must_agree(query, answers[0], peers[0].label, answers[-1], peer.label)
        stock = min(answers[2].ms, answers[3].ms)
        for i, (peer, answer) in enumerate(zip(peers, answers)):
            rows.append((name if i == 0 else "", peer.label, ms(answer.ms), times(ratio(stock, answer.ms))))
        groups.append((name, [(p.label, a.ms) for p, a in zip(peers, answers)]))
    report.table("Cold", ["query", "peer", "ms", "stock's best / this"], rows,
                 f"The first query of a server that was just started, page cache dropped {how}; stock with any plan and its covering indexes.")
    report.bars("cold", "Cold: first query after a restart", "one run each", "milliseconds", groups)
    bench.drop(peers[:4])
