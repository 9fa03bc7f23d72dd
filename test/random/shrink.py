"""Makes a failing case small: fewer operations, fewer rows, a smaller query, and prints it as a script for psql."""
import re
import time

from changes import Change
from tables import Load, Statement
from tree import params, render, smaller
from values import SETUP


class Shrinker:
    """fails(ops, tree) tells whether the case still fails in the same way."""

    def __init__(self, fails, seconds):
        self.fails, self.end, self.tests = fails, time.monotonic() + seconds, 0

    def test(self, ops, tree):
        if time.monotonic() > self.end:
            return False
        self.tests += 1
        return self.fails(ops, tree)

    def shrink(self, ops, tree):
        ops = list(ops)
        ops, tree = self.tables_used(ops, tree)
        changed = True
        while changed and time.monotonic() < self.end:
            before = (len(ops), sum(len(o.rows) for o in ops if isinstance(o, Load)), len(render(tree)) if tree else 0)
            tree = self.query(ops, tree)
            ops, tree = self.tables_used(ops, tree)
            ops = self.operations(ops, tree)
            ops = self.rows(ops, tree)
            ops = self.columns(ops, tree)
            changed = before != (len(ops), sum(len(o.rows) for o in ops if isinstance(o, Load)), len(render(tree)) if tree else 0)
        return ops, tree

    def tables_used(self, ops, tree):
        """Without all operations on tables and views one by one."""
        for name in sorted({o.table for o in ops if o.table}, reverse=True):
            fewer = [o for o in ops if o.table != name]
            if self.test(fewer, tree):
                ops = fewer
        return ops, tree

    def query(self, ops, tree):
        again = tree is not None
        while again and time.monotonic() < self.end:
            again = False
            for candidate in smaller(tree):
                if self.test(ops, candidate):
                    tree, again = candidate, True
                    break
        return tree

    def operations(self, ops, tree):
        size = max(1, len(ops) // 2)
        while size:
            i = 0
            while i < len(ops):
                fewer = ops[:i] + ops[i + size:]
                if self.test(fewer, tree):
                    ops = fewer
                else:
                    i += size
            size //= 2
        for i, o in enumerate(ops):
            again = isinstance(o, Change)
            while again and time.monotonic() < self.end:
                again = False
                for less in ops[i].smaller():
                    fewer = ops[:i] + [less] + ops[i + 1:]
                    if self.test(fewer, tree):
                        ops, again = fewer, True
                        break
        # loads by one plain INSERT read best
        for i, o in enumerate(ops):
            if isinstance(o, Load) and o.how != "values":
                plain = ops[:i] + [Load(o.table, o.columns, o.rows, "values")] + ops[i + 1:]
                if self.test(plain, tree):
                    ops = plain
        return ops

    def rows(self, ops, tree):
        for i in range(len(ops)):
            if not isinstance(ops[i], Load):
                continue
            size = max(1, len(ops[i].rows) // 2)
            while size:
                at = 0
                while at < len(ops[i].rows):
                    o = ops[i]
                    less = ops[:i] + [Load(o.table, o.columns, o.rows[:at] + o.rows[at + size:], o.how)] + ops[i + 1:]
                    if self.test(less, tree):
                        ops = less
                    else:
                        at += size
                size //= 2
        return ops

    def columns(self, ops, tree):
        """Without columns that nothing needs: out of the loads, then out of the CREATE TABLE."""
        for table in {o.table for o in ops if isinstance(o, Load)}:
            for name in [c.name for o in ops if isinstance(o, Load) and o.table == table for c in o.columns]:
                less = [Load(o.table, [c for c in o.columns if c.name != name], o.rows, o.how)
                        if isinstance(o, Load) and o.table == table and len(o.columns) > 1 else o for o in ops]
                gone = [self.create_without(o, name) if isinstance(o, Statement) and o.table == table else o for o in less]
                if self.test(gone, tree):
                    ops = gone
        return ops

    @staticmethod
    def create_without(o, name):
        texts = {}
        for s, t in o.texts.items():
            if t and t.startswith("CREATE") and "(\n" in t:
                head, body = t.split("(\n", 1)
                end = body.index(")\n") if ")\n" in body else body.index(") PARTITION") if ") PARTITION" in body else len(body) - 1
                lines = [x.strip().rstrip(",") for x in body[:end].split("\n")]
                lines = [x for x in lines if x.split(" ")[0] != name]
                if not lines:
                    return o
                rest = re.sub(r"(?<=sort_by ')[^']*", lambda m: ", ".join(x for x in m[0].split(", ") if x.split(" ")[0] != name), body[end:])
                t = head + "(\n  " + ",\n  ".join(lines) + rest
            texts[s] = t
        return Statement(texts["h"], texts["b"], o.table, o.refusable)


def script(ops, tree, kind, settings, what, which):
    """The case as SQL for psql."""
    lines = ["-- " + x for x in what.split("\n")]
    lines.append("CREATE EXTENSION IF NOT EXISTS bucketfdw;")
    used = " ".join(text for o in ops for text, _ in o.sql("b")) + (render(tree) if tree is not None else "")
    lines += [x for x in SETUP.strip().split("\n") if x.split()[2].split(".")[1] in used]
    lines += ["CREATE SCHEMA h;", "CREATE SCHEMA b;"]
    for o in ops:
        for s in ("h", "b"):
            for text, data in o.sql(s):
                lines.append(text + ";")
                if data is not None:
                    lines.append(data.decode() + "\\.")
    if tree is not None:
        text = render(tree, which)
        lines += ["SET search_path = h, public;", text + ";", "SET search_path = b, public;"]
        lines += [f"SET {name} = {value};" for name, value in settings]
        if kind == "prepared":
            ps = params(tree)
            names = [ps[i].typ for i in sorted(ps)]
            lines.append(f"-- as a prepared statement: {render(tree)}")
            lines.append("-- parameters of " + ", ".join(names) + ": " + "; ".join(
                ", ".join(ps[i].literal(w) for i in sorted(ps)) for w in range(4)))
        if kind == "cursor":
            lines.append(f"BEGIN; DECLARE c SCROLL CURSOR FOR {text}; FETCH 3 FROM c; FETCH ALL FROM c; MOVE ABSOLUTE 0 FROM c; FETCH ALL FROM c; ROLLBACK;")
        else:
            lines.append(f"EXPLAIN (COSTS OFF) {text};")
            lines.append(text + ";")
    return "\n".join(lines)
