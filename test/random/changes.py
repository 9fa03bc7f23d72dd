"""Random changes of rows: DELETE, UPDATE, upsert and their company, the same statement on the heap and the bucketed side.

Everything is deterministic: u tells the rows of a table apart, and only its sign is ever changed; where rows of other
tables decide about new values, there is one of them for each row."""
from modes import MODES
from queries import Generator
from tables import Op, Transaction
from tree import Alt, Lst, Seq, prepared, render, smaller
from values import quote

NOTE = """CREATE FUNCTION {s}.note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO {s}.log VALUES (TG_TABLE_NAME, TG_WHEN, TG_OP, CASE WHEN TG_OP <> 'INSERT' THEN OLD::text END, CASE WHEN TG_OP <> 'DELETE' THEN NEW::text END);
	IF TG_WHEN = 'AFTER' THEN RETURN NULL; END IF;
	IF TG_OP = 'DELETE' THEN RETURN CASE WHEN OLD.u % 5 <> 0 THEN OLD END; END IF;
	IF NEW.u % 7 = 0 THEN RETURN NULL; END IF;
	RETURN NEW;
END $$"""


class Change(Op):
    """Statements whose answers on both sides are compared: rows (as a multiset), command tags, whether they fail.  parts:
    trees, with {s} where the name of the schema is wanted; settings: of the bucketed side; rows: compare them."""

    def __init__(self, table, parts, settings=(), rows=True):
        self.table, self.parts, self.settings, self.rows = table, list(parts), list(settings), rows

    def texts(self, schema):
        return [render(p, 0).replace("{s}", schema) for p in self.parts]

    def head(self, schema):
        text = f"RESET ALL; SET client_min_messages = warning; SET statement_timeout = '30s'; SET search_path = {schema}, public"
        return text + "".join(f"; SET {n} = {v}" for n, v in self.settings if schema == "b")

    def sql(self, schema):
        return [(self.head(schema), None)] + [(t, None) for t in self.texts(schema)]

    def smaller(self):
        """The same with one of the statements made smaller, or without its settings."""
        if self.settings:
            yield Change(self.table, self.parts, (), self.rows)
        for i, part in enumerate(self.parts):
            for less in smaller(part):
                yield Change(self.table, self.parts[:i] + [less] + self.parts[i + 1:], self.settings, self.rows)


class Changes:
    """Makes batches of operations for the tables of a world."""

    def __init__(self, rnd, world, version):
        self.rnd, self.world, self.g, self.version = rnd, world, Generator(rnd, world), version
        self.names = 0              # of prepared statements, cursors, views
        self.triggers, self.log = {}, False
        self.beside = False         # files are rewritten by another session at the same time

    def chance(self, p):
        return self.rnd.random() < p

    def name(self, what):
        self.names += 1
        return f"{what}{self.names}_{{s}}"

    def number(self, t, n):
        """The first of n values of u that no row has."""
        t.nrows += n
        return t.nrows - n + 1

    def settings(self):
        rnd = self.rnd
        out = list(MODES[rnd.choice(list(MODES))]) if self.chance(0.6) else []
        if self.chance(0.5):
            out.append(("bucketfdw.inline_limit", f"'{rnd.choice(['0', '500B', '16kB', '1MB'])}'"))
        return out

    # --- parts of statements

    def target(self, t, alias="z"):
        """The table, or one of its partitions."""
        self.g.reset()
        name = f"{t.name}_{self.rnd.choice('012')}" if t.partitioned and self.chance(0.15) else t.name
        return f"{name} {alias}", self.g.table_rel(t, alias)

    def few(self, rel):
        """A condition that leaves most rows alone."""
        rnd, u = self.rnd, f"{rel.alias}.u"
        m = rnd.choice([2, 3, 5, 5, 17])
        at = rnd.randint(0, max(1, self.world.size * 2))
        return rnd.choice([f"{u} % {m} = {rnd.randrange(m)}", f"abs({u}) BETWEEN {at} AND {at + rnd.choice([0, 3, 20])}", f"{u} = {at}", f"{u} < {-at}",
                           Seq(f"{u} % 10 = ", self.g.param("int8", [str(i) for i in rnd.sample(range(10), 4)]))])

    def key(self, rel):
        """The bucket key against constants or parameters; None where there is no key."""
        if not rel.key:
            return None
        return Lst("", [Seq(f"{k.expr} = ", self.g.value(k)) for k in rel.key], " AND ", "true")

    def where(self, rel, more=()):
        """Conditions for the rows to change: the key, another column, another table, anything."""
        rnd = self.rnd
        conds, x = list(more), rnd.random()
        if x < 0.3:
            conds.append(self.key(rel) or self.few(rel))
        elif x < 0.45:
            conds += [self.g.condition(rel.refs), self.few(rel)]
        elif x < 0.55:
            conds += [self.g.semi(rel.refs, 1), self.few(rel)]
        elif x < 0.6:
            conds.append(f"{rnd.choice(rel.refs).expr} IS NULL")
        elif x < 0.65 and rel.key:
            conds.append(Seq(f"{rel.key[0].expr} IN (", Lst("", [self.g.value(rel.key[0]) for _ in range(3)], empty="NULL"), ")"))
        elif x < 0.98:
            conds.append(self.few(rel))
        if rnd.random() < 0.15:
            conds.append(self.few(rel))
        return Lst(" WHERE ", conds, " AND ")

    def new_value(self, t, rel, c, other=None):
        """What a column is set to."""
        rnd = self.rnd
        if c.name == "u":
            return f"- {rel.alias}.u"
        mine = rel.named(c.name).expr
        same = [r for r in (other or rel).refs if r.column.typ == c.typ and r.column.collation == c.collation and r.column.name != "u"]
        if other is not None and same:
            return rnd.choice(same).expr
        x = rnd.random()
        if x < 0.25 and same:
            return rnd.choice(same).expr
        if x < 0.32 and (not c.not_null or self.chance(0.1)):
            return rnd.choice(["NULL", "DEFAULT"])
        if x < 0.45 and c.kind and c.kind.name == "int":
            return rnd.choice([f"{mine} + 1", f"- {mine}", f"{mine} / 2"])
        if x < 0.5 and c.typ == "int8":
            return f"(SELECT count(*) FROM {rnd.choice(self.world.tables).name} s WHERE s.u <= {rel.alias}.u)"
        if x < 0.5 and c.typ == "text" and not (c.kind and c.domain):
            return f"{mine} || '+'"
        value = f"{quote(rnd.choice(c.values))}::{c.typ}"
        if x < 0.65:
            return Seq("CASE WHEN ", self.few(rel), f" THEN {value} ELSE {mine} END")
        if x < 0.75 and c.kind:
            return self.g.value(rel.named(c.name), c.typ)
        return value

    def assignments(self, t, rel, other=None):
        rnd = self.rnd
        columns = [c for c in t.columns if c.values or c.name == "u"]
        picked = rnd.sample(columns, min(len(columns), rnd.choice([1, 1, 2, 3])))
        keys = [c for c in t.columns if c.name in t.key_names and c not in picked]
        if keys and self.chance(0.25):
            picked.append(rnd.choice(keys))
        return Lst(" SET ", [Seq(f"{c.name} = ", self.new_value(t, rel, c, other)) for c in picked], empty=" SET u = z.u")

    def returning(self, rel):
        rnd = self.rnd
        if self.chance(0.45):
            return ""
        alias = rel.alias
        if self.version >= 180000 and self.chance(0.4):
            c = rnd.choice(rel.refs).column.name
            return Alt(rnd.choice([" RETURNING old.*, new.*", " RETURNING old, new", f" RETURNING new.u, old.{c}, new.{c}"]), "")
        return Alt(f" RETURNING " + rnd.choice(["*" if alias == "z" else f"{alias}.*", f"{alias}.*", f"{alias}", f"{alias}.u", f"{alias}.u, {rnd.choice(rel.refs).expr}",
                                                f"{rnd.choice(rel.refs).expr} IS NULL, abs({alias}.u)", "1"]), "")

    # --- statements

    def delete(self, t):
        head, rel = self.target(t)
        return Seq(f"DELETE FROM {head}", self.where(rel), self.returning(rel))

    def update(self, t):
        head, rel = self.target(t)
        return Seq(f"UPDATE {head}", self.assignments(t, rel), self.where(rel), self.returning(rel))

    def delete_using(self, t):
        """With the rows of another table, several for a row too."""
        head, rel = self.target(t)
        node, other = self.g.base("y")
        if t.name in self.triggers:     # a BEFORE trigger fires for each match
            conds = [f"y.u = z.u"]
        else:
            conds = [self.g.equality(a, b) for a, b in self.g.pairs(other.refs, rel)] or ["y.u = z.u"]
        if self.chance(0.3):
            conds.append(self.g.simple(other.refs))
        tail = Alt(self.rnd.choice(["", " RETURNING z.*", " RETURNING z.u, z"]), "")
        return Seq(f"DELETE FROM {head} USING ", node, self.where(rel, conds), tail)

    def update_from(self, t):
        """New values out of another table, one row of it for each."""
        rnd = self.rnd
        head, rel = self.target(t)
        node, other = self.g.base("y")
        if self.chance(0.4):
            tail = Alt(rnd.choice(["", " RETURNING *", " RETURNING z.*, y.u"]), "")
            return Seq(f"UPDATE {head}", self.assignments(t, rel, other), " FROM ", node, self.where(rel, ["y.u = z.u"]), tail)
        pairs = [(a, b) for a, b in self.g.pairs(rel.refs, other) if a.column.comparable and b.kind]
        pairs = [p for i, p in enumerate(pairs) if p[1].expr not in [q[1].expr for q in pairs[:i]]]
        if not pairs:
            return self.update(t)
        names = [b.column.name for _, b in pairs]
        source = Seq(f"(SELECT {', '.join(b.expr for _, b in pairs)}, max(y.u) AS most, count(*) AS times FROM ", node, f" GROUP BY {', '.join(b.expr for _, b in pairs)}) x")
        conds = [f"{a.expr} = x.{n}" for (a, _), n in zip(pairs, names)]
        columns = [c for c in t.columns if c.kind and c.kind.name == "int" and c.typ == "int8" or c.typ == "text" and not c.domain]
        sets = ["u = - z.u"] if not columns or self.chance(0.2) else [f"{(c := rnd.choice(columns)).name} = x.{rnd.choice(['most', 'times'])}::{c.typ}"]
        return Seq(f"UPDATE {head}", Lst(" SET ", sets), " FROM ", source, self.where(rel, conds), self.returning(rel) if self.chance(0.5) else "")

    def insert(self, t):
        """Rows of the table once more."""
        names = [c.name for c in t.columns]
        n = self.rnd.choice([1, 5, 40])
        first = self.number(t, n)
        items = [f"row_number() OVER (ORDER BY z.u) + {first - 1}" if c == "u" else f"z.{c}" for c in names]
        head, rel = self.target(t)
        return Seq(f"INSERT INTO {t.name} ({', '.join(names)}) SELECT {', '.join(items)} FROM {head}", self.where(rel), f" ORDER BY z.u LIMIT {n}",
                   Alt(self.rnd.choice(["", " RETURNING *"]), ""))

    def any(self, t):
        return self.rnd.choice([self.delete, self.update, self.update, self.delete_using, self.update_from])(t)

    def with_clause(self, t):
        """Rows that come back under a new number, or are counted beside what is still there."""
        head, rel = self.target(t)
        names = [c.name for c in t.columns]
        first = self.number(t, 100000)
        items = ", ".join(f"abs(d.u) + {first}" if c == "u" else f"d.{c}" for c in names)
        inner = self.rnd.choice([Seq(f"DELETE FROM {head}", self.where(rel), " RETURNING z.*"),
                                 Seq(f"UPDATE {head}", self.assignments(t, rel), self.where(rel), " RETURNING z.*")])
        outer = self.rnd.choice([f"INSERT INTO {t.name} ({', '.join(names)}) SELECT {items} FROM d", f"INSERT INTO {t.name} ({', '.join(names)}) SELECT {items} FROM d RETURNING *",
                                 f"SELECT count(*), sum(d.u), (SELECT count(*) FROM {t.name}), (SELECT sum(u) FROM {t.name}) FROM d",
                                 f"SELECT count(*) FROM d JOIN {t.name} z USING (u)"])
        return Seq("WITH d AS (", inner, f") {outer}")

    def loop(self, t):
        """Single rows one after the other, in plpgsql."""
        rnd = self.rnd
        body = []
        for _ in range(rnd.choice([1, 2, 3])):
            _, rel = self.target(t)
            at = rnd.choice(["z.u = r_.u", "z.u = r_.u", "z.u = - r_.u", "abs(z.u) = abs(r_.u) + 1"])
            where = Lst(" WHERE ", [at] + ([self.g.simple(rel.refs)] if self.chance(0.2) else []), " AND ")
            statement = Seq(f"DELETE FROM {t.name} z", where) if self.chance(0.35) else Seq(f"UPDATE {t.name} z", self.assignments(t, rel), where)
            step = Seq(statement, "; GET DIAGNOSTICS n_ = ROW_COUNT; m_ := m_ || n_; ")
            if self.chance(0.2):
                step = Seq(f"IF r_.u % {rnd.choice([2, 3])} = 0 THEN ", step, "END IF; ")
            if self.chance(0.25):
                step = Seq("BEGIN ", step, rnd.choice(["", f"IF r_.u % 4 = 1 THEN RAISE 'no'; END IF; "]), "EXCEPTION WHEN raise_exception THEN m_ := m_ || '!'; END; ")
            if self.chance(0.2):
                step = Seq(step, f"m_ := m_ || ':' || (SELECT count(*) FROM {t.name}) || ';'; ")
            body.append(step)
        return [Seq(f"DO $$ DECLARE r_ record; n_ int; m_ text := ''; BEGIN FOR r_ IN SELECT * FROM {t.name} ORDER BY u {rnd.choice(['', 'DESC'])} LIMIT {rnd.choice([1, 3, 8])} LOOP ",
                    Lst("", body, "", "NULL; "), "END LOOP; PERFORM set_config('test.log', m_, false); END $$"), "SELECT current_setting('test.log')"]

    def prepared(self, t):
        tree = self.any(t)
        name = self.name("p")
        head, order = prepared(tree)
        calls = [f"EXECUTE {name}" + (f" ({', '.join(p.literal(i) for p in order)})" if order else "") for i in range(self.rnd.choice([2, 7]))]
        return [f"PREPARE {name} {head}"] + calls + [f"DEALLOCATE {name}"]

    def view(self, t):
        """Through a view that can be updated."""
        rnd = self.rnd
        _, rel = self.target(t)
        cond = rnd.choice([self.g.simple(rel.refs), self.few(rel)])
        check = rnd.choice(["", "", " WITH CHECK OPTION", " WITH LOCAL CHECK OPTION"])
        name = self.name("view").replace("_{s}", "")
        create = Seq(f"CREATE VIEW {name} AS SELECT * FROM {t.name} z WHERE ", cond, check)
        _, rel = self.target(t)
        tail = self.returning(rel)
        change = Seq(f"DELETE FROM {name} z", self.where(rel), tail) if self.chance(0.4) else Seq(f"UPDATE {name} z", self.assignments(t, rel), self.where(rel), tail)
        return [create, change, f"DROP VIEW {name}"]

    def upsert(self, t):
        """Rows that replace those with their key."""
        rnd = self.rnd
        names = [c.name for c in t.columns]
        by = ["u"] if self.chance(0.3) else list(t.key_names)
        if self.chance(0.7):
            first = self.number(t, 100000)
            source = ", ".join(f"abs(u) + {first} AS u" if n == "u" and by != ["u"] else n for n in names)
            query = f"SELECT DISTINCT ON ({', '.join(by)}) {source} FROM {{s}}.{t.name} s WHERE u % {rnd.choice([1, 2, 5])} = 0 ORDER BY {', '.join(by)}, s.u"
        else:
            rows = t.rows(rnd, rnd.choice([1, 2, 6]))
            values = ", ".join("(" + ", ".join("NULL" if r[n] is None else quote(r[n]) for n in names) + ")" for r in rows)
            query = f"SELECT {', '.join(f's.{c.name}::{c.typ}' for c in t.columns)} FROM (VALUES {values}) s({', '.join(names)})"
        key = "" if by == list(t.key_names) and self.chance(0.5) else f", key => {quote(', '.join(by))}"
        heap = f"SELECT public.heap_upsert('h.{t.name}', {quote(query)}, '{', '.join(by)}')"
        return Upsert(t.name, heap.replace("{s}", "h"), f"SELECT bucketfdw.upsert('b.{t.name}', {quote(query)}{key})".replace("{s}", "b"), self.settings())

    def trigger(self, t):
        """Triggers that note every row and keep some as they are; or the end of them."""
        if t.name in self.triggers:
            names = self.triggers.pop(t.name)
            return [Change(t.name, [f"DROP TRIGGER {n} ON {t.name}"]) for n in names]
        ops = []
        if not self.log:
            self.log = True
            ops.append(Change("log", ["CREATE TABLE {s}.log (tab text, t text, op text, o text, n text)", NOTE]))
        kinds = self.rnd.choice([("AFTER",), ("BEFORE",), ("BEFORE", "AFTER")])
        self.triggers[t.name] = [f"{k.lower()}_row" for k in kinds]
        events = self.rnd.choice(["DELETE", "UPDATE", "DELETE OR UPDATE", "INSERT OR DELETE OR UPDATE"])
        return ops + [Change(t.name, [f"CREATE TRIGGER {k.lower()}_row {k} {events} ON {t.name} FOR EACH ROW EXECUTE FUNCTION {{s}}.note()"]) for k in kinds]

    def cursor(self, t):
        """A cursor from before a change, read after it."""
        name = self.name("c")
        head, rel = self.target(t)
        ops = [Change(t.name, [Seq(f"DECLARE {name} CURSOR FOR SELECT * FROM {head}", self.where(rel) if self.chance(0.4) else "", " ORDER BY z.u")], self.settings())]
        if self.chance(0.5):
            ops.append(Change(t.name, [f"FETCH {self.rnd.choice([1, 3])} FROM {name}"]))
        for _ in range(self.rnd.choice([1, 2])):
            ops += self.step(t)
            if self.chance(0.5):
                ops.append(Change(t.name, [f"FETCH {self.rnd.choice([1, 3])} FROM {name}"]))
        return ops + [Change(t.name, [f"FETCH ALL FROM {name}"])]

    # --- batches

    def step(self, t=None, inside=True):
        """One change, as operations."""
        rnd = self.rnd
        t = t or rnd.choice(self.world.tables)
        x = rnd.random()
        if x < 0.45:
            return [Change(t.name, [self.any(t)], self.settings())]
        if x < 0.53:
            return [Change(t.name, self.prepared(t), self.settings())]
        if x < 0.6:
            return [Change(t.name, [self.with_clause(t)], self.settings())]
        if x < 0.67:
            return [Change(t.name, self.loop(t), self.settings())]
        if x < 0.7:
            return [Change(t.name, [Seq("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ", self.any(t))], self.settings(), rows=False)]
        if x < 0.74:
            return [Change(t.name, self.view(t), self.settings())]
        if x < 0.8 and t.key_names and not t.heap and t.name not in self.triggers:
            return [self.upsert(t)]
        if x < 0.83:
            node, rel = self.target(t)
            return [Change(t.name, [Seq(f"SELECT * FROM {node}", self.where(rel))], self.settings())]
        if x < 0.85 and not inside and not t.partitioned:
            return self.trigger(t)
        if x < 0.86:
            return [Change(t.name, [f"TRUNCATE {t.name}"])]
        if x < 0.9 and not inside and not self.beside:
            return self.upkeep(t)
        if x < 0.95:
            return [Change(t.name, [self.insert(t)], self.settings())]
        start = len(self.world.ops)
        self.world.load(t, max(1, self.world.size // 4))
        return self.taken(start)

    def upkeep(self, t):
        start = len(self.world.ops)
        self.rnd.choice([self.world.compact, self.world.rebucket])(t)
        return self.taken(start)

    def taken(self, start):
        """The operations the world has added to itself since start."""
        out = self.world.ops[start:]
        del self.world.ops[start:]
        return out

    def transaction(self):
        """Changes with savepoints and cursors, and an end of one or the other kind."""
        rnd = self.rnd
        level = "" if self.beside or self.chance(0.7) else " ISOLATION LEVEL REPEATABLE READ"
        ops, depth = [Transaction("BEGIN" + level)], 0
        for _ in range(rnd.choice([1, 2, 4, 8])):
            x = rnd.random()
            if x < 0.2:
                depth += 1
                ops.append(Transaction(f"SAVEPOINT s{depth}"))
            elif x < 0.38 and depth:
                word = rnd.choice(["ROLLBACK TO", "ROLLBACK TO", "RELEASE"])
                ops.append(Transaction(f"{word} s{depth}"))
                depth -= word == "RELEASE"
            elif x < 0.5:
                t = rnd.choice(self.world.tables)
                ops.append(Change(t.name, [f"SELECT count(*), sum(u), min(u) FROM {t.name}"], self.settings()))
            elif x < 0.65:
                ops += self.cursor(rnd.choice(self.world.tables))
            else:
                ops += self.step()
        return ops + [Transaction(rnd.choice(["COMMIT", "COMMIT", "ROLLBACK"]))]

    def batch(self):
        """Some changes, alone or in transactions."""
        out = []
        for _ in range(self.rnd.choice([1, 2, 3, 5])):
            out += self.transaction() if self.chance(0.35) else self.step(inside=False)
        return out


class Upsert(Change):
    """An upsert, which the heap side takes apart."""

    def __init__(self, table, heap, bucketed, settings):
        super().__init__(table, [], settings)
        self.both = {"h": heap, "b": bucketed}

    def texts(self, schema):
        return [self.both[schema]]

    def smaller(self):
        if self.settings:
            yield Upsert(self.table, self.both["h"], self.both["b"], ())
