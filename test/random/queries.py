"""Random queries over a World: joins of all kinds, subqueries, aggregates, windows, set operations."""
from predicates import Predicates, Ref, Rel
from tables import Column, Statement
from tree import Alt, Lst, Seq, render
from values import KIND

BIGINT = KIND["int"]


class Query:
    """A query tree; canon: equal values of different looks are the same; ordered: the order of rows is part of it."""

    def __init__(self, tree, canon, ordered, kind):
        self.tree, self.canon, self.ordered, self.kind = tree, canon, ordered, kind


class Generator(Predicates):
    def __init__(self, rnd, world):
        self.rnd, self.world = rnd, world
        self.reset()

    def reset(self):
        self.params, self.naliases, self.canon, self.ctes, self.late = [], 0, False, [], []

    def alias(self):
        self.naliases += 1
        return "abcdefghijklmnopqrstuvwxyz"[(self.naliases - 1) % 26] + ("" if self.naliases <= 26 else str(self.naliases))

    def add_view(self):
        """A view of the same name in both schemas; returns the operation that makes it."""
        self.reset()
        node, refs, ids = self.sub_select(1)
        name = f"v{len(self.world.views)}"
        text = render(node, 0)
        op = Statement(*[f"SET search_path = {s}, public; CREATE VIEW {s}.{name} AS {text}" for s in ("h", "b")], table=name)
        # what the view does inside may make equal values change their looks
        self.world.views.append((name, [(n, c, f or self.canon) for n, c, f in refs], ids))
        return op

    # --- things in FROM

    def table_rel(self, t, alias):
        refs = [Ref(f"{alias}.{c.name}", c) for c in t.columns]
        rel = Rel(alias, refs, [f"{alias}.u"])
        rel.key = [r for r in (rel.named(c) for c in t.key_names) if r] if t.key_names else []
        return rel

    def base(self, alias):
        """A table under an alias."""
        t = self.rnd.choice(self.world.tables)
        rel = self.table_rel(t, alias)
        return f"{t.name} {alias}", rel

    def item(self, alias, depth, left=()):
        """A table, a view, a CTE, a subquery, LATERAL when there is something on its left."""
        rnd = self.rnd
        x = rnd.random()
        if depth <= 0 or x < 0.87:
            return self.base(alias)
        if x < 0.89 and (self.world.views or self.ctes):
            name, refs, ids = rnd.choice(self.world.views + self.ctes)
            self.canon = self.canon or any(fuzzy for _, _, fuzzy in refs)
            return f"{name} {alias}", self.renamed(alias, refs, ids)
        if x < 0.92:
            inner = self.alias()
            node, rel = self.base(inner)
            where = Lst(" WHERE ", [self.condition(rel.refs, 1) for _ in range(rnd.randint(0, 2))], " AND ")
            tail = Alt(f" ORDER BY {rel.ids[0]}{rnd.choice(['', ' DESC'])} LIMIT {rnd.choice([0, 1, 5, 20])} OFFSET {rnd.choice([0, 2])}", "") if self.chance(0.4) else ""
            out = Rel(alias, [Ref(f"{alias}.{r.column.name}", r.column) for r in rel.refs], [f"{alias}.u"])
            out.key = [out.named(k.column.name) for k in rel.key]
            return Alt(Seq("(SELECT * FROM ", node, where, tail, f") {alias}"), f"{node.split()[0]} {alias}"), out
        if x < 0.94 and left:
            inner = self.alias()
            node, rel = self.base(inner)
            pairs = self.pairs(left, rel)
            if pairs:
                where = Lst(" WHERE ", [self.equality(a, b) for a, b in pairs] + ([self.simple(left + rel.refs)] if self.chance(0.3) else []), " AND ")
                tail = f" ORDER BY {inner}.u LIMIT {rnd.choice([1, 3])}" if self.chance(0.6) else ""
                out = Rel(alias, [Ref(f"{alias}.{r.column.name}", r.column) for r in rel.refs], [f"{alias}.u"])
                out.lateral = True
                return Seq("LATERAL (SELECT * FROM ", node, where, tail, f") {alias}"), out
        if x < 0.96:
            inner = self.alias()
            node, rel = self.base(inner)
            by = [r for r in rel.refs if r.kind]
            keys = rel.key if self.chance(0.7) and rel.key else rnd.sample(by, min(len(by), rnd.choice([1, 2])))
            keys = [k for i, k in enumerate(keys) if k not in keys[:i]]
            self.canon = True
            refs = [Ref(f"{alias}.{k.column.name}", k.column, True) for k in keys]
            refs.append(Ref(f"{alias}.n", Column("n", "int8", BIGINT, None, ["1", "2", "5"])))
            aggs = [f"count(*) AS n"]
            where = Lst(" WHERE ", [self.condition(rel.refs, 1) for _ in range(rnd.choice([0, 0, 1]))], " AND ")
            names = ", ".join(k.expr for k in keys)
            out = Rel(alias, refs, [r.expr for r in refs[:-1]], [r for r in refs[:-1]], whole=False)
            return Seq(f"(SELECT {names}, ", ", ".join(aggs), " FROM ", node, where, f" GROUP BY {names}) {alias}"), out
        if x < 0.985:
            node, refs, ids = self.sub_select(depth - 1)
            return Seq("(", node, f") {alias}"), self.renamed(alias, refs, ids)
        return self.union_item(alias)

    def renamed(self, alias, refs, ids):
        out = [Ref(f"{alias}.{name}", column, fuzzy) for name, column, fuzzy in refs]
        return Rel(alias, out, [f"{alias}.{i}" for i in ids] if ids else None, whole=not any(r.fuzzy for r in out))

    def union_item(self, alias):
        """UNION ALL of the keys of two tables."""
        rnd = self.rnd
        a_node, a = self.base(self.alias())
        b_node, b = self.base(self.alias())
        pairs = [(x, y) for x in a.refs for y in b.refs if x.domain and x.domain is y.domain and x.column.typ == y.column.typ]
        if not pairs:
            return self.base(alias)
        x, y = rnd.choice(pairs)
        word = rnd.choice(["UNION ALL", "UNION ALL", "UNION"])
        if word == "UNION":
            self.canon = True
        refs = [Ref(f"{alias}.x", Column("x", x.column.typ, x.kind, x.domain, x.column.values), True)]
        return Seq(f"(SELECT {x.expr} AS x FROM ", a_node, f" {word} SELECT {y.expr} FROM ", b_node, f") {alias}"), Rel(alias, refs, None, refs, whole=False)

    def sub_select(self, depth):
        """A subquery of one to three things with columns c0.. and i0..: (node, [(name, column, fuzzy)], ids)."""
        rnd = self.rnd
        outside, self.late = self.late, []
        node, rels = self.from_tree(rnd.choice([1, 2, 2, 3]), depth)
        late, self.late = self.late, outside
        refs = [r for rel in rels for r in rel.refs]
        picked = rnd.sample(refs, min(len(refs), rnd.randint(1, 6)))
        keys = [r for r in refs if r.domain]
        if keys and not any(r.domain for r in picked):
            picked.append(rnd.choice(keys))
        columns = []
        for i, r in enumerate(picked):
            c = Column(f"c{i}", r.column.typ, r.kind, r.domain, r.column.values, r.column.comparable)
            columns.append((f"c{i}", c, r.fuzzy))
        items = [f"{r.expr} AS c{i}" for i, r in enumerate(picked)]
        ids = None
        if all(rel.ids for rel in rels):
            exprs = [e for rel in rels for e in rel.ids]
            ids = [f"i{i}" for i in range(len(exprs))]
            items += [f"{e} AS i{i}" for i, e in enumerate(exprs)]
        where = Lst(" WHERE ", late + [self.condition(refs, 1) for _ in range(rnd.choice([0, 0, 1, 2]))], " AND ")
        return Seq("SELECT ", Lst("", items), " FROM ", node, where), columns, ids

    def from_tree(self, n, depth, left=()):
        """A join of n things; returns the node and the rels in scope."""
        rnd = self.rnd
        if n <= 1:
            node, rel = self.item(self.alias(), depth, list(left))
            return node, [rel]
        right_n = 1 if self.chance(0.75) else rnd.randint(1, n - 1)
        l_node, l_rels = self.from_tree(n - right_n, depth)
        l_refs = [r for rel in l_rels for r in rel.refs]
        r_node, r_rels = self.from_tree(right_n, depth, l_refs if right_n == 1 else ())
        r_refs = [r for rel in r_rels for r in rel.refs]
        word = rnd.choice(["JOIN"] * 14 + ["LEFT JOIN"] * 4 + ["RIGHT JOIN"] * 2 + ["FULL JOIN"] * 2 + ["CROSS JOIN"])
        if r_rels[0].lateral and word in ("RIGHT JOIN", "FULL JOIN"):
            word = "LEFT JOIN"
        conds = []
        for rel in rnd.sample(r_rels, len(r_rels)):
            pairs = self.pairs(l_refs, rel)
            if pairs:
                conds += [self.equality(a, b) for a, b in pairs]
                if word == "FULL JOIN" and self.chance(0.7):
                    self.merge(rel, pairs)
                if self.chance(0.8):
                    break
        if word == "CROSS JOIN" or not conds:
            if conds and self.chance(0.9):
                self.late += conds
            return Alt(Seq("(", l_node, " CROSS JOIN ", r_node, ")"), l_node, r_node), l_rels + r_rels
        if self.chance(0.12) and right_n == 1 and r_rels[0].key and all(
                sum(1 for rel in l_rels if rel.named(k.column.name)) == 1 for k in r_rels[0].key):
            names = [k.column.name for k in r_rels[0].key]
            rnd.shuffle(names)
            return Alt(Seq("(", l_node, f" {word} ", r_node, f" USING ({', '.join(names)}))"), l_node, r_node), l_rels + r_rels
        if word != "FULL JOIN" or self.chance(0.2):
            while self.chance(0.25):
                conds.append(self.condition(self.rnd.choice([l_refs, r_refs, l_refs + r_refs]), 1))
        rnd.shuffle(conds)
        return Alt(Seq("(", l_node, f" {word} ", r_node, Lst(" ON ", conds, " AND ", " ON true"), ")"), l_node, r_node), l_rels + r_rels

    def merge(self, rel, pairs):
        """Puts the merged columns of a full join in scope, beside those of its right side."""
        wide = {"int2": 0, "int4": 1, "d_int4": 1, "int8": 2}
        merged = []
        for a, b in pairs:
            x, y = a.column, b.column
            if x.typ != y.typ and not (x.typ in wide and y.typ in wide):
                return
            typ = x.typ if wide.get(x.typ, 0) >= wide.get(y.typ, 0) else y.typ
            merged.append(Ref(f"coalesce({a.expr}, {b.expr})", Column(y.name, typ, y.kind, y.domain, x.values + y.values, x.comparable and y.comparable), a.fuzzy or b.fuzzy))
        rel.merged = merged
        rel.refs = rel.refs + merged

    def groups(self, rels, comparable):
        """What to group by: mostly the key of one of the rels, or a merged one, or that and more."""
        rnd = self.rnd
        keys = [k for rel in rels for k in (rel.key, rel.merged) if k]
        if not keys or self.chance(0.3):
            return rnd.sample(comparable, min(len(comparable), rnd.choice([1, 2])))
        by = list(rnd.choice(keys))
        if self.chance(0.1):
            by = by[:-1] or by
        if self.chance(0.45):
            by += rnd.sample(comparable, min(len(comparable), rnd.choice([1, 1, 2])))
        by = [r for i, r in enumerate(by) if r.expr not in [s.expr for s in by[:i]]]
        if self.chance(0.5):
            rnd.shuffle(by)
        return by

    def extra_order(self, comparable):
        """Columns to order by before those that tell all rows apart."""
        rnd = self.rnd
        plain = [r for r in comparable if not r.fuzzy]
        if not plain or self.chance(0.4):
            return ""
        return "".join(f"{r.expr}{rnd.choice(['', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST'])}, " for r in rnd.sample(plain, min(len(plain), rnd.choice([1, 1, 2]))))

    # --- what is selected

    def output(self, refs):
        rnd = self.rnd
        r = rnd.choice(refs)
        x = rnd.random()
        if x > 0.85 and r.kind:
            k = r.kind.name
            if k in ("int", "oid"):
                return f"{r.expr}::numeric + 1"
            if k == "text":
                return f"{r.expr} || '!'"
            if k == "bool":
                return f"CASE WHEN {r.expr} THEN 'yes' ELSE 'no' END"
            if not r.fuzzy:
                return f"{r.expr}::text"
        if x > 0.8 and r.kind:
            return Seq(f"{r.expr} {rnd.choice(['=', '<'])} ", self.value(r))
        return r.expr

    def arithmetic(self, numbers, refs, depth, one_side):
        """An expression of integers and numerics; many are computed for whole blocks."""
        rnd = self.rnd
        if depth == 0 or self.chance(0.2):
            if self.chance(0.25):
                return rnd.choice(["1", "2", "0.5", "1.50", "100", "(-3)", "0", "12345678901234567890.5", "0.000000000001"])
            r = rnd.choice(numbers)
            return f"{r.expr}::numeric" if r.kind.name == "int" and self.chance(0.4) else r.expr
        a, b = (self.arithmetic(numbers, refs, depth - 1, one_side) for _ in range(2))
        x = rnd.random()
        if x < 0.7:
            return Seq("(", a, f" {rnd.choice(['+', '-', '*', '*'])} ", b, ")")
        if x < 0.75:
            return Seq("(- ", a, ")")
        if x < 0.8:
            return Seq("coalesce(", a, ", ", b, ")")
        condition = self.simple(refs) if one_side else self.condition(refs, 1)
        return Seq("CASE WHEN ", condition, " THEN ", a, *(() if self.chance(0.3) else (" ELSE ", b)), " END")

    def aggregate(self, refs, order, one_side=False):
        """An aggregate call.  one_side: one that a join can count frequent keys for, if refs are those of one of its sides."""
        rnd = self.rnd
        keyed = [r for r in refs if r.kind]
        x = rnd.random()
        scaled = False
        if x < 0.2 or not keyed:
            text = "count(*)"
        else:
            r = rnd.choice(keyed)
            k = r.kind.name
            d = "" if one_side else rnd.choice(["", "", "DISTINCT "])
            comparable = True
            numbers = [n for n in keyed if n.kind.name in ("int", "numeric") and not n.fuzzy]
            if x < 0.35:
                text = f"count({d if comparable else ''}{r.expr})"
            elif x < 0.4 and k in ("int", "numeric", "text"):
                # expressions, which are computed row by row
                text = {"int": rnd.choice(["sum({0}::numeric * 3)", "avg({0} / 2)", "max(abs({0}::int8 / 2))", "count(nullif({0}, 1))", "bool_or({0} > 2)"]),
                        "numeric": rnd.choice(["sum(trim_scale({0}) * 1.5)", "avg(trim_scale({0}) / 4)", "max(trim_scale({0}))", "bool_and({0} < 5)"]),
                        "text": rnd.choice(["max({0} || '!')", "min(upper({0}))", "sum(length({0}))", "count(nullif({0}, ''))"])}[k].format(r.expr)
            elif x < 0.52 and numbers:
                call = rnd.choice(["sum", "sum", "avg", "count", "min", "max"])
                text = Seq(f"{call}(", self.arithmetic(numbers, refs, rnd.choice([1, 1, 2, 3]), one_side), "::numeric)" if call in ("min", "max") else ")")
                scaled = call in ("min", "max")
            elif x < 0.65 and r.kind.minmax:
                text = f"{rnd.choice(['min', 'max'])}({r.expr})"
                # which of 0.0 and 0.00, or of 0 and -0, is the smallest hangs on the order of rows
                scaled = k == "numeric"
                self.canon = self.canon or k == "float"
            elif x < 0.8 and k in ("int", "numeric"):
                text = f"{rnd.choice(['sum', 'avg', 'sum', 'count'])}({r.expr})" if not (k == "numeric" and r.fuzzy) else f"sum(trim_scale({r.expr}))"
            elif x < 0.8 and k == "float" and not one_side:
                text = f"{rnd.choice(['sum', 'avg'])}(CASE WHEN abs({r.expr}) BETWEEN 0.25 AND 1000 AND {r.expr}::float8 * 4 = floor({r.expr}::float8 * 4) THEN {r.expr}::float8 END)"
            elif x < 0.8 and k == "bool":
                text = f"{rnd.choice(['bool_and', 'bool_or', 'every'])}({r.expr})"
            elif order and not r.fuzzy:
                text = rnd.choice([f"array_agg({r.expr} ORDER BY {order})", f"string_agg({r.expr}::text, '|' ORDER BY {order})"])
            else:
                text = f"count({r.expr})"
        if self.chance(0.15):
            text = Seq(text, " FILTER (WHERE ", self.simple(refs) if one_side else self.condition(refs, 1), ")")
        return Seq("trim_scale(", text, ")") if scaled else text

    def query(self):
        """A whole query."""
        self.reset()
        rnd = self.rnd
        with_clause = ""
        if self.chance(0.1):
            items = []
            for _ in range(rnd.choice([1, 1, 2])):
                name = f"w{len(items)}"
                node, refs, ids = self.sub_select(1)
                items.append(Seq(f"{name} AS {rnd.choice(['', 'MATERIALIZED ', 'NOT MATERIALIZED '])}(", node, ")"))
                self.ctes.append((name, refs, ids))
            with_clause = Seq(Lst("WITH ", items), " ")
        tree, ordered = self.set_operation() if self.chance(0.06) else self.select()
        x = rnd.random()
        kind = "simple" if x < 0.75 else "prepared" if x < 0.88 or self.params else "cursor"
        if self.params and self.chance(0.6):
            kind = "prepared"
        return Query(Seq(with_clause, tree), self.canon, ordered, kind)

    def set_operation(self):
        rnd = self.rnd
        self.canon = True
        a_node, a = self.base(self.alias())
        parts = []
        refs = [r for r in a.refs if r.kind]
        picked = rnd.sample(refs, min(len(refs), rnd.choice([1, 1, 2])))
        parts = [Seq("SELECT ", ", ".join(r.expr for r in picked), " FROM ", a_node, Lst(" WHERE ", [self.simple(a.refs)] if self.chance(0.4) else [], " AND "))]
        for _ in range(rnd.choice([1, 1, 2])):
            b_node, b = self.base(self.alias())
            chosen = []
            for r in picked:
                cand = [s for s in b.refs if s.kind is r.kind]
                if not cand:
                    return self.select()
                chosen.append(rnd.choice([s for s in cand if s.domain is r.domain] or cand))
            parts.append(Seq("SELECT ", ", ".join(r.expr for r in chosen), " FROM ", b_node, Lst(" WHERE ", [self.simple(b.refs)] if self.chance(0.4) else [], " AND ")))
        word = rnd.choice(["UNION ALL", "UNION", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL"])
        tail = Alt(f" ORDER BY {', '.join(str(i + 1) for i in range(len(picked)))} LIMIT {rnd.choice([1, 7])}", "") if self.chance(0.2) else ""
        return Seq(Lst("", parts, f" {word} "), tail), False

    def one_sided(self):
        """Aggregates of one side each over a join by nothing but keys, plain or by the key; None when the tables have no key in common."""
        rnd = self.rnd
        if self.chance(0.2):
            l_node, l_rels = self.from_tree(2, 1)
        else:
            l_node, l_rel = self.base(self.alias())
            l_rels = [l_rel]
        r_node, r_rel = self.base(self.alias())
        l_refs = [r for rel in l_rels for r in rel.refs]
        pairs = self.pairs(l_refs, r_rel)
        if not pairs or self.late:
            self.late = []
            return None
        word = rnd.choice(["JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
        conds = [self.equality(a, b) for a, b in pairs]
        node = Seq("(", l_node, f" {word} ", r_node, Lst(" ON ", conds, " AND ", " ON true"), ")")
        sides = [l_refs, r_rel.refs]
        where = Lst(" WHERE ", [self.simple(rnd.choice(sides)) for _ in range(rnd.choice([0, 0, 1, 2]))] if word == "JOIN" else [], " AND ")
        items = [self.aggregate(rnd.choice(sides), None, True) for _ in range(rnd.randint(1, 5))]
        side = 1 if word == "RIGHT JOIN" else rnd.choice([0, 1]) if word == "JOIN" else 0
        names = list(dict.fromkeys(p[side].expr for p in pairs)) if self.chance(0.5) else []
        if word == "FULL JOIN" and names and self.chance(0.5):
            names = [f"coalesce({a.expr}, {b.expr})" for a, b in pairs if a.column.typ == b.column.typ] or names
        self.canon = bool(names) or self.canon
        group = f" GROUP BY {', '.join(names)}" if names else ""
        having = Lst(" HAVING ", ["count(*) > 3"] if self.chance(0.1) else [])
        return Seq("SELECT ", Lst("", names + items), " FROM ", node, where, group, having), False

    def select(self):
        rnd = self.rnd
        if self.chance(0.12):
            made = self.one_sided()
            if made:
                return made
        n = rnd.choice([1] * 2 + [2] * 12 + [3] * 2 + [4, 5])
        node, rels = self.from_tree(n, 2)
        refs = [r for rel in rels for r in rel.refs]
        where = list(self.late)
        for _ in range(rnd.choice([0, 0, 1, 1, 2, 3])):
            where.append(self.condition(refs))
        if self.chance(0.25):
            where.append(self.semi(refs, 1))
        rnd.shuffle(where)
        where = Lst(" WHERE ", where, " AND ")
        ids = [e for rel in rels for e in rel.ids] if all(rel.ids for rel in rels) else None
        order = ", ".join(ids) if ids else None
        comparable = [r for r in refs if r.column.comparable]
        # half of the lists of aggregates without one that needs an order: a single one of these keeps all of them off batches
        agg_order = order if self.chance(0.5) else None
        shape = rnd.choice(["plain"] * 6 + ["all"] * 2 + ["count"] * 2 + ["group"] * 5 + ["distinct"] * 2 + ["on"] * 2 + ["window"] * 2 + ["sets"])
        tail, ordered = "", False
        if shape in ("on", "window") and not order:
            shape = "plain"
        if shape == "all" and not all(rel.whole for rel in rels):
            shape = "plain"
        if shape in ("plain", "all"):
            if shape == "all":
                items = rnd.choice([["*"], [rel.alias for rel in rels], [f"{rel.alias}.*" for rel in rels], [f"{rel.alias}::text" for rel in rels]])
            else:
                items = [self.output(refs) for _ in range(rnd.randint(1, 6))]
                if self.chance(0.1):
                    rel = rnd.choice(rels)
                    items.append(rnd.choice([f"{rel.alias} IS NULL", f"num_nulls({rel.alias}.*)" if rel.whole else "1"] + ([f"{rel.alias}"] if rel.whole else [])))
                if self.chance(0.1) and comparable:
                    b_node, b = self.base(self.alias())
                    pairs = self.pairs(refs, b)
                    if pairs:
                        items.append(Seq(f"(SELECT count(*) FROM ", b_node, Lst(" WHERE ", [self.equality(x, y) for x, y in pairs], " AND "), ")"))
            if order and self.chance(0.3):
                ordered = True
                keys = [f"{r.expr}{rnd.choice(['', ' DESC', ' NULLS FIRST'])}" for r in rnd.sample([r for r in comparable if not r.fuzzy], 1)] if self.chance(0.5) and any(not r.fuzzy for r in comparable) else []
                tail = " ORDER BY " + ", ".join(keys + ids)
                if self.chance(0.5):
                    tail += f" LIMIT {rnd.choice([0, 1, 2, 10, 50])}" + rnd.choice(["", " OFFSET 3"])
                tail = Alt(tail, "")
            elif self.chance(0.04) and n <= 2:
                tail = Alt(rnd.choice([" FOR UPDATE", " FOR SHARE"]), "")
            return Seq("SELECT ", Lst("", items), " FROM ", node, where, tail), ordered
        if shape == "count":
            return Seq("SELECT ", Lst("", [self.aggregate(refs, agg_order) for _ in range(rnd.randint(1, 4))], empty="count(*)"), " FROM ", node, where,
                       Lst(" HAVING ", ["count(*) > 2"] if self.chance(0.05) else [])), False
        if shape == "distinct":
            self.canon = True
            picked = self.groups(rels, comparable)
            return Seq("SELECT DISTINCT ", Lst("", [r.expr for r in picked]), " FROM ", node, where), False
        if shape == "on":
            self.canon = True
            by = self.groups(rels, comparable)
            keys = ", ".join(r.expr for r in by)
            items = [r.expr for r in by] + [self.output(refs)]
            return Seq(f"SELECT DISTINCT ON ({keys}) ", Lst("", items), " FROM ", node, where, f" ORDER BY {keys}, {self.extra_order(comparable)}{order}"), False
        if shape == "window":
            part = ", ".join(r.expr for r in self.groups(rels, comparable))
            win = f"(PARTITION BY {part} ORDER BY {self.extra_order(comparable)}{order})"
            inner = rnd.choice(refs)
            items = [self.output(refs), rnd.choice(["row_number()", "rank()", f"lag({inner.expr})", f"first_value({inner.expr})", "count(*)", f"count({inner.expr})"]) + f" OVER {win}"]
            return Seq("SELECT ", Lst("", items), " FROM ", node, where), False
        self.canon = True
        by = self.groups(rels, comparable)
        names = [r.expr for r in by]
        items = names + [self.aggregate(refs, agg_order) for _ in range(rnd.randint(1, 4))]
        group = ", ".join(names)
        if shape == "sets":
            group = rnd.choice([f"ROLLUP ({group})", f"CUBE ({group})", f"GROUPING SETS (({group}), ())"])
        having = Lst(" HAVING ", [rnd.choice(["count(*) > 1", "count(*) BETWEEN 2 AND 10", f"{names[0]} IS NOT NULL", "max(1) = 1"])] if self.chance(0.2) else [], " AND ")
        return Seq("SELECT ", Lst("", items), " FROM ", node, where, f" GROUP BY {group}", having), False
