"""Interleaved rounds of one query over several peers, and are their answers the same."""
import math
import sys
from decimal import Decimal
from statistics import median

TIMEOUT = "57014"


class Differs(Exception):
    """Two peers answered differently: the worst that can be found here."""


class Slow:
    """A peer that did not answer within the time it had."""

    def __init__(self, seconds):
        self.seconds = seconds


def say(*words):
    print("==", *words, file=sys.stderr, flush=True)


def cell(value, number, floating):
    if value is None:
        return None
    if floating:
        return float(value)
    if number:
        return Decimal(value)
    return value.rstrip()


def comparable(answer, numbers, floats):
    rows = [tuple(cell(v, n, f) for v, n, f in zip(row, numbers, floats)) for row in answer.rows]
    # an order that does not hang on the last digits of floats, nor on that of equal keys of ORDER BY
    return sorted(rows, key=lambda row: [("%.6g" % v if isinstance(v, float) else str(v)) if v is not None else "" for v in row])


def same_cell(a, b):
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)
    return a == b


def must_agree(query, first, label_a, second, label_b):
    """Floats (DuckDB's averages and quotients of decimals are floats) within 1e-9 of each other, all else exactly."""
    floats = [a or b for a, b in zip(first.floats, second.floats)]
    numbers = [a or b for a, b in zip(first.numbers, second.numbers)]
    a, b = comparable(first, numbers, floats), comparable(second, numbers, floats)
    if len(a) != len(b):
        raise Differs(f"{label_a} gives {len(a)} rows, {label_b} {len(b)}:\n{query}")
    for left, right in zip(a, b):
        if len(left) != len(right) or not all(same_cell(x, y) for x, y in zip(left, right)):
            raise Differs(f"{label_a} gives {left}\n{label_b} gives {right}\nof {query}")


def timed(peer, query, seconds):
    """An answer, or Slow after so many seconds."""
    from .peers import Failed
    try:
        return peer.run(query)
    except Failed as failure:
        if failure.state != TIMEOUT or seconds is None:
            raise
        return Slow(seconds)


def measure(peers, query, rounds, long_ms=5000, seconds=None):
    """Median milliseconds for each peer's label, in turns; None for those that took more than so many seconds (their
    statement_timeout).  The first run warms up and is not counted, unless it took longer than long_ms: then it is the
    only one, as it is with no rounds.  Every answer is compared with the first peer's."""
    times = {peer.label: [] for peer in peers}
    reference = None
    once = set()
    for number in range(rounds + 1):
        for peer in peers:
            if peer.label in once:
                continue
            answer = timed(peer, query, seconds)
            if isinstance(answer, Slow):
                once.add(peer.label)
                continue
            if reference is None:
                reference = (answer, peer.label)
            else:
                must_agree(query, *reference, answer, peer.label)
            if rounds == 0 or (number == 0 and answer.ms > long_ms):
                once.add(peer.label)
            if number > 0 or peer.label in once:
                times[peer.label].append(answer.ms)
    return {label: (median(ms) if ms else None) for label, ms in times.items()}


def best(times, *labels):
    found = [times[label] for label in labels if times.get(label) is not None]
    return min(found) if found else None
