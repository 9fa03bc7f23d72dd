"""Random conditions over the columns in scope."""
from tree import Alt, Lst, Param, Seq
from values import KIND, quote


class Ref:
    """A column as a query sees it.  fuzzy: equal values of different looks (5 and 5.0) may stand for one another."""

    def __init__(self, expr, column, fuzzy=False):
        self.expr, self.column, self.fuzzy = expr, column, fuzzy
        self.kind, self.domain = column.kind, column.domain


class Rel:
    """Something in FROM: its columns, the expressions that tell its rows apart (None if there are none)."""

    def __init__(self, alias, refs, ids, key=(), whole=True):
        self.alias, self.refs, self.ids, self.key, self.whole = alias, refs, ids, list(key), whole
        self.lateral = False
        self.merged = []        # after a full join with this: COALESCE of the keys of both sides

    def named(self, name):
        return next((r for r in self.refs if r.column.name == name), None)


OPS = ["=", "=", "=", "<", "<=", ">", ">=", "<>"]
PLAIN = {"varchar": "text", "varchar(500)": "text", "d_text": "text", "d_int4": "int4", "d_numeric": "numeric", "char(6)": "char(9)"}


class Predicates:
    """Mixed into the query generator, which has rnd, params and subquery()."""

    def chance(self, p):
        return self.rnd.random() < p

    def widened(self, ref):
        """The column, or under a cast that may or may not be one a bucket join looks through."""
        if not self.chance(0.13):
            return ref.expr
        k = ref.kind.name
        if k == "int":
            return f"{ref.expr}::{self.rnd.choice(['int8', 'int8', 'int4', 'numeric'] if ref.column.typ != 'int8' else ['int8', 'numeric'])}"
        if k == "float":
            return f"{ref.expr}::float8"
        if k == "text":
            return f"{ref.expr}::{self.rnd.choice(['text', 'varchar'])}"
        if k == "bpchar":
            return f"{ref.expr}::{self.rnd.choice(['bpchar', 'text'])}" if not ref.fuzzy else ref.expr
        return f"({ref.expr})"

    def value(self, ref, typ=None, allow_param=True):
        """A constant to compare the column with: mostly one of its own values."""
        kind = ref.kind
        pool = ref.column.values if self.chance(0.8) or not ref.column.values else kind.special
        v = self.rnd.choice(pool or kind.special)
        if allow_param and self.chance(0.2):
            typ = typ or next((t for t in kind.types if kind.fits(t, v)), "int8")
            if kind.name == "int":
                typ = "int8"
            if kind.name == "bpchar":
                typ = "bpchar"
            values = [v] + [self.rnd.choice(pool or kind.special) for _ in range(3)]
            values = [w if kind.fits(typ, w) else v for w in values]
            if self.chance(0.2):
                values[self.rnd.randint(1, 3)] = None
            return self.param(typ, values)
        if typ is None and self.chance(0.4):
            return quote(v) if kind.fits(ref.column.typ, v) else kind.literal(self.rnd, v)
        return kind.literal(self.rnd, v, typ)

    def param(self, typ, values):
        p = Param(len(self.params) + 1, typ, values)
        self.params.append(p)
        return p

    def equality(self, a, b):
        x, y = self.widened(a), self.widened(b)
        if self.chance(0.5):
            x, y = y, x
        return f"{x} = {y}"

    def simple(self, refs):
        """A condition on one column or two of one kind."""
        rnd = self.rnd
        keyed = [r for r in refs if r.kind]
        if not keyed or self.chance(0.04):
            r = rnd.choice(refs)
            return f"{r.expr} IS {rnd.choice(['', 'NOT '])}NULL" if r.column.typ != "pair" else f"({r.expr}).n = 1"
        wanted = [r for r in keyed if r.domain]
        r = rnd.choice(wanted if wanted and self.chance(0.7) else keyed)
        x = rnd.random()
        if x < 0.3:
            parts = [r.expr if self.chance(0.9) else self.widened(r), f" {rnd.choice(OPS)} ", self.value(r)]
            if self.chance(0.2):
                flipped = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
                op = parts[1].strip()
                parts = [parts[2], f" {flipped.get(op, op)} ", parts[0]]
            return Seq(*parts)
        if x < 0.42:
            items = [self.value(r) for _ in range(rnd.randint(1, 5))]
            if self.chance(0.1):
                items.append("NULL")
            return Seq(r.expr, rnd.choice([" IN (", " IN (", " IN (", " NOT IN ("]), Lst("", items, empty="NULL"), ")")
        if x < 0.5:
            typ = rnd.choice([t for t in r.kind.types if all(r.kind.fits(t, v) for v in r.column.values)] or [r.kind.types[-1]])
            if r.kind.name == "bpchar":
                typ = "bpchar"
            items = [self.value(r, typ, False) if r.kind.name != "int" else self.value(r, "int8", False) for _ in range(rnd.randint(0, 4))]
            typ = "int8" if r.kind.name == "int" else typ
            if items and self.chance(0.15):
                items.append("NULL")
            return Seq(f"{r.expr} {rnd.choice(['= ANY', '= ANY', '= ANY', '<> ALL', '< ANY', '>= ALL'])} (ARRAY[", Lst("", items), f"]::{typ}[])")
        if x < 0.58:
            return Seq(f"{r.expr} {rnd.choice(['', '', '', 'NOT '])}BETWEEN {rnd.choice(['', '', 'SYMMETRIC '])}", self.value(r), " AND ", self.value(r))
        if x < 0.66:
            return f"{r.expr} IS {rnd.choice(['', 'NOT '])}NULL"
        if x < 0.7:
            return Seq(f"{r.expr} IS {rnd.choice(['', 'NOT '])}DISTINCT FROM ", self.value(r))
        if x < 0.76:
            return Seq(f"coalesce({r.expr}, ", self.value(r, self.plain(r)), f") {rnd.choice(OPS)} ", self.value(r))
        if x < 0.8 and r.kind.name in ("bool", "text"):
            return self.oddity(r)
        if x < 0.9:
            near = {"int": ["numeric"], "numeric": ["int"], "date": ["timestamp"], "timestamp": ["date"]}.get(r.kind.name, [])
            same = [s for s in keyed if (s.kind is r.kind or s.kind.name in near) and s is not r]
            if same:
                return f"{self.widened(r)} {rnd.choice(OPS)} {self.widened(rnd.choice(same))}"
            return f"{r.expr} {rnd.choice(['=', '<=', '<>'])} {r.expr}"
        if x < 0.95:
            s = rnd.choice(keyed)
            return Seq(f"({r.expr}, {s.expr}) {rnd.choice(['=', '<', '>=', '<>'])} (", self.value(r, self.plain(r)), ", ", self.value(s, self.plain(s)), ")")
        return self.oddity(r)

    def plain(self, r):
        """A type all values of the column fit."""
        return next(t for t in reversed(PLAIN_TYPES[r.kind.name]))

    def oddity(self, r):
        rnd = self.rnd
        k = r.kind.name
        if k == "bool":
            return rnd.choice([r.expr, f"NOT {r.expr}", f"{r.expr} IS {rnd.choice(['', 'NOT '])}{rnd.choice(['TRUE', 'FALSE', 'UNKNOWN'])}"])
        if k == "text":
            if self.chance(0.5):
                pattern = "".join(rnd.choice(["%", "%", "k", "1", "a", "A", "K", "ey", "ä", "x", "_", " ", "\\\\", "\\%"]) for _ in range(rnd.randint(0, 4)))
                return f"{r.expr} {rnd.choice(['', '', 'NOT '])}LIKE {quote(pattern)}"
            if self.chance(0.3):
                return f"{rnd.choice(['', 'NOT '])}starts_with({r.expr}, {quote(rnd.choice(['k', 'k1', 'ä', '', 'the same']))})"
            return rnd.choice([f"{r.expr} LIKE 'k%'", f"{r.expr} ~ '[0-5]$'", f"length({r.expr}) > 2", f"lower({r.expr}) = 'a'", f"{r.expr} || 'x' > 'k1'",
                               f"substring({r.expr}, 1, 2) IN ('k1', 'k2', 'a')", f"coalesce({r.expr}, 'a') = 'a'"])
        if k == "bpchar":
            return rnd.choice([f"length({r.expr}) < 3", f"{r.expr} LIKE 'c1%'", f"{r.expr} NOT LIKE '%1 %'", f"substring({r.expr}, 1, 1) = 'c'"])
        if k in ("int", "oid"):
            return f"{r.expr}::int8 % 2 = {rnd.choice('01')}"
        if k == "numeric" and not r.fuzzy:
            return f"scale({r.expr}) = {rnd.choice('012')}"
        if k == "float":
            return f"{r.expr} - 1 < 1.5" if r.column.typ != "float4" else f"{r.expr}::float8 * 2 > 1"
        if k == "date":
            return rnd.choice([f"isfinite({r.expr})", f"extract(year FROM {r.expr}) = 2000", f"{r.expr} > timestamp '2000-01-01 12:00'", f"{r.expr} IS DISTINCT FROM '2000-01-01'"])
        if k == "timestamptz":
            return rnd.choice([f"{r.expr} < date '2000-01-02'", f"{r.expr} >= timestamp '1999-12-31 17:00'", f"isfinite({r.expr})"])
        if k == "timestamp":
            return f"isfinite({r.expr})"
        return f"{r.expr}::text > '1'"

    def condition(self, refs, depth=2):
        """Any condition."""
        rnd = self.rnd
        x = rnd.random()
        if depth > 0 and x < 0.12:
            items = [self.condition(refs, depth - 1) for _ in range(rnd.randint(2, 3))]
            return Seq("(", Lst("", items, " OR ", empty="true"), ")")
        if depth > 0 and x < 0.16 and self.chance(0.5):
            # what a scan tests on whole batches: an OR over the columns of one table
            one = rnd.choice(refs).expr.split(".")[0]
            mine = [r for r in refs if r.expr.split(".")[0] == one]
            arms = [self.simple(mine) if self.chance(0.6) else
                    Seq("(", Lst("", [self.simple(mine) for _ in range(rnd.randint(2, 3))], " AND ", empty="true"), ")") for _ in range(rnd.randint(2, 4))]
            return Seq(rnd.choice(["(", "(", "NOT ("]), Lst("", arms, " OR ", empty="true"), ")")
        if depth > 0 and x < 0.16:
            inner = self.condition(refs, depth - 1)
            return Alt(Seq("NOT (", inner, ")"), inner)
        if depth > 0 and x < 0.2:
            return Seq("CASE WHEN ", self.condition(refs, depth - 1), " THEN ", self.simple(refs), " ELSE ", self.simple(refs), " END")
        if x < 0.23:
            return rnd.choice(["true", "false", "random() >= 0", "1 = 1", "NULL::bool", self.param("bool", ["t", "f", None, "t"])])
        return self.simple(refs)

    def semi(self, refs, depth):
        """EXISTS, IN and their like over another table."""
        rnd = self.rnd
        alias = self.alias()
        rel_node, rel = self.base(alias)
        pairs = self.pairs(refs, rel)
        if not pairs:
            return self.simple(refs)
        extra = [self.simple(rel.refs)] if self.chance(0.3) else []
        if self.chance(0.2):
            extra.append(self.simple(refs + rel.refs))
        inner_from = rel_node
        if depth > 0 and self.chance(0.2):
            other_node, other = self.base(self.alias())
            more = self.pairs(rel.refs, other)
            if more:
                inner_from = Alt(Seq("(", rel_node, f" {rnd.choice(['JOIN', 'LEFT JOIN'])} ", other_node, " ON ",
                                     Lst("", [self.equality(a, b) for a, b in more], " AND ", "true"), ")"), rel_node)
        if self.chance(0.55):
            eq = [self.equality(a, b) for a, b in pairs]
            rnd.shuffle(eq)
            return Seq(rnd.choice(["EXISTS", "EXISTS", "NOT EXISTS", "NOT EXISTS"]), " (SELECT ", rnd.choice(["1", "", "NULL"]), " FROM ", inner_from,
                       Lst(" WHERE ", eq + extra, " AND "), ")")
        outer = ", ".join(a.expr for a, _ in pairs)
        inner = ", ".join(b.expr for _, b in pairs)
        where = Lst(" WHERE ", extra, " AND ")
        if len(pairs) == 1 and self.chance(0.25):
            a, b = pairs[0]
            agg = rnd.choice(["max", "min"]) if b.kind.minmax else None
            if agg:
                return Seq(f"{a.expr} {rnd.choice(['=', '>=', '<>'])} (SELECT {agg}({b.expr}) FROM ", inner_from, where, ")")
            return Seq(f"(SELECT count(*) FROM ", inner_from, Lst(" WHERE ", [self.equality(a, b)] + extra, " AND "), f") {rnd.choice(['> 1', '= 0', '< 3'])}")
        return Seq(f"({outer}) {rnd.choice(['IN', 'IN', 'NOT IN', '= ANY', '<> ALL'])} (SELECT {inner} FROM ", inner_from, where, ")")

    def pairs(self, refs, rel):
        """Pairs of columns to equate: the bucket columns of rel with columns of their domains where there are any."""
        rnd = self.rnd
        out = []
        if rel.key and self.chance(0.93):
            aliases = list({r.expr.split(".")[0] for r in refs})
            rnd.shuffle(aliases)
            for al in aliases:
                mine = [r for r in refs if r.expr.split(".")[0] == al]
                out, used = [], set()
                for k in rel.key:
                    cand = [r for r in mine if r.domain is k.domain and r.domain and r.expr not in used]
                    if not cand:
                        out = []
                        break
                    # same name first: that is how two tables of one signature agree
                    same = [r for r in cand if r.column.name == k.column.name]
                    r = rnd.choice(same if same and self.chance(0.95) else cand)
                    used.add(r.expr)
                    out.append((r, k))
                if out:
                    break
        if not out:
            all_pairs = [(a, b) for a in refs for b in rel.refs if a.domain and a.domain is b.domain]
            if not all_pairs:
                return []
            out = rnd.sample(all_pairs, min(len(all_pairs), rnd.choice([1, 1, 2])))
        elif len(out) > 1 and self.chance(0.06):
            out.pop(rnd.randrange(len(out)))
        rnd.shuffle(out)
        return out


PLAIN_TYPES = {k.name: [t for t in k.types if not t.startswith("d_")] for k in KIND.values()}
PLAIN_TYPES["int"] = ["int8"]
PLAIN_TYPES["numeric"] = ["numeric"]
PLAIN_TYPES["float"] = ["float8"]
PLAIN_TYPES["text"] = ["text"]
PLAIN_TYPES["bpchar"] = ["bpchar"]
