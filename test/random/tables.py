"""Random tables, each twice: schema h holds heap tables, schema b the same tables, most of them bucketed.

A round's tables are a list of operations (DDL, loads, transactions around them).  An operation is a small object that
can be written as SQL for either schema, so that a failure can be reduced operation by operation and row by row."""
import re

from values import KIND, KINDS, OTHER, quote

SCHEMAS = ("h", "b")


class Column:
    """A column; keys of one domain (a pool of values of one kind) may be joined."""

    def __init__(self, name, typ, kind=None, domain=None, values=(), comparable=True, collation=None):
        self.name, self.typ, self.kind, self.domain = name, typ, kind, domain
        self.values, self.comparable, self.collation = list(values), comparable, collation
        self.not_null = False

    def ddl(self):
        return self.name + " " + self.typ + (f' COLLATE "{self.collation}"' if self.collation else "") + (" NOT NULL" if self.not_null else "")


class Domain:
    """The values that key columns of a round share."""

    def __init__(self, rnd, number):
        self.name = f"k{number}"
        self.kind = KIND["int"] if rnd.random() < 0.25 else rnd.choice(KINDS)
        size = rnd.choice([1, 2, 4, 8, 8, 20, 20, 60, 150])
        self.pool = self.kind.pool(rnd, size)
        # integers and numerics join with one another
        self.mixed = self.kind.name in ("int", "numeric") and rnd.random() < 0.4
        if self.mixed:
            other = KIND["numeric" if self.kind.name == "int" else "int"].pool(rnd, max(2, size // 2))
            self.pool = list(dict.fromkeys(self.pool + other))
        self.collation = None
        if self.kind.name in ("text", "bpchar") and rnd.random() < 0.25:
            self.collation = rnd.choice(["C", "POSIX", "en-x-icu"])

    def column(self, rnd, name):
        kind = KIND[rnd.choice(["int", "numeric"])] if self.mixed else self.kind
        typ = rnd.choice(kind.types) if rnd.random() < 0.7 else kind.types[0]
        pool = [v for v in self.pool if re.fullmatch(r"-?\d+", v)] if self.mixed and kind.name == "int" else self.pool
        values = [v for v in pool if kind.fits(typ, v)] or [kind.regular(1, rnd)]
        if not all(kind.fits(typ, v) for v in values):
            values = ["1"]
        return Column(name, typ, kind, self, values, collation=self.collation)


class Op:
    """One step.  sql(schema) gives (statement, COPY data or None) pairs."""
    refusable = False           # the bucketed side may refuse with feature_not_supported
    table = None

    def sql(self, schema):
        raise NotImplementedError


class Statement(Op):
    def __init__(self, heap, bucketed=None, table=None, refusable=False):
        self.texts = {"h": heap, "b": heap if bucketed is None else bucketed}
        self.table, self.refusable = table, refusable

    def sql(self, schema):
        text = self.texts[schema]
        return [(text, None)] if text else []


class Transaction(Op):
    """BEGIN, SAVEPOINT, ROLLBACK TO ... : once, for both schemas."""

    def __init__(self, text):
        self.text = text

    def sql(self, schema):
        return [(self.text, None)] if schema == "h" else []


def copy_text(v):
    if v is None:
        return "\\N"
    return v.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


class Load(Op):
    """Rows into a table by COPY, INSERT ... VALUES, INSERT ... SELECT or one INSERT a row."""

    def __init__(self, table, columns, rows, how):
        self.table, self.columns, self.rows, self.how = table, list(columns), rows, how

    def sql(self, schema):
        if not self.rows:
            return []
        names = ", ".join(c.name for c in self.columns)
        head = f"{schema}.{self.table} ({names})"
        if self.how == "copy":
            data = "".join("\t".join(copy_text(r[c.name]) for c in self.columns) + "\n" for r in self.rows)
            return [(f"COPY {head} FROM STDIN", data.encode())]

        def values(row):
            return "(" + ", ".join("NULL" if row[c.name] is None else quote(row[c.name]) for c in self.columns) + ")"
        if self.how == "each":
            return [(f"INSERT INTO {head} VALUES {values(r)}", None) for r in self.rows]
        if self.how == "values":
            return [(f"INSERT INTO {head} VALUES " + ",\n".join(values(r) for r in self.rows), None)]
        casts = ", ".join(f"s.{c.name}::{c.typ}" for c in self.columns)
        return [(f"INSERT INTO {head} SELECT {casts} FROM (VALUES " + ",\n".join(values(r) for r in self.rows) + f") s({names})", None)]


class Table:
    def __init__(self, name):
        self.partitioned = self.heap = False
        self.name, self.columns, self.nrows, self.added, self.key_names = name, [], 0, 0, []

    def keys(self):
        return [c for c in self.columns if c.kind]

    def rows(self, rnd, n):
        """n random rows; u counts up, the other columns draw from their values."""
        nulls = {c.name: 0 if c.not_null else rnd.choice([0, 0, 0.05, 0.3, 1 if c.kind is None else 0.1]) for c in self.columns}
        out = []
        for _ in range(n):
            self.nrows += 1
            row = {}
            for c in self.columns:
                if c.name == "u":
                    row["u"] = str(self.nrows)
                elif rnd.random() < nulls[c.name]:
                    row[c.name] = None
                else:
                    row[c.name] = rnd.choice(c.values)
            out.append(row)
        return out


class World:
    """The tables of a round: ops make them, tables and views describe them for the query generator."""

    def __init__(self, rnd):
        self.rnd = rnd
        self.ops, self.tables, self.views = [], [], []
        self.domains = [Domain(rnd, i) for i in range(rnd.randint(1, 3))]
        self.signature = [rnd.choice(self.domains) for _ in range(rnd.choice([1, 1, 1, 2, 2, 3]))]
        self.counts = rnd.choice([[1], [4], [8, 16, 4], [12, 8], [64, 16, 32], [7], [70, 35, 14], [64], [3, 5], [1, 40]])
        ntables = rnd.choice([1, 2, 2, 3, 3, 4, 5])
        self.size = rnd.choice({1: [60, 400, 3000], 2: [5, 60, 150, 400], 3: [5, 40, 80], 4: [5, 20, 40], 5: [5, 20, 30]}[ntables])
        if ntables > 1:         # rows that join with one another grow with the square
            smallest = min(len(d.pool) for d in self.domains)
            while self.size ** 2 / smallest > 6000:
                self.size = int(self.size * 0.7)
        for i in range(ntables):
            self.add_table(f"t{i + 1}")
        self.fill()

    def op(self, *args, **kw):
        self.ops.append(Statement(*args, **kw))

    def add_table(self, name):
        rnd = self.rnd
        t = Table(name)
        cols = [Column("u", "int8")]
        cols[0].not_null = rnd.random() < 0.5
        match = rnd.random() < 0.95
        wanted = list(self.signature) if match else [rnd.choice(self.domains) for _ in range(rnd.randint(1, 3))]
        key = []
        for d in wanted:
            n = sum(1 for c in key if c.domain is d)
            key.append(d.column(rnd, d.name + "bcd"[n - 1] if n else d.name))
        cols += key
        for d in self.domains:
            if d not in wanted and rnd.random() < 0.6:
                cols.append(d.column(rnd, d.name))
            if d in wanted and rnd.random() < 0.3:
                cols.append(d.column(rnd, d.name + "x"))
        for i in range(rnd.choice([0, 1, 1, 2, 4])):
            if rnd.random() < 0.5:
                kind = rnd.choice(KINDS)
                typ = rnd.choice(kind.types)
                values = [v for v in kind.pool(rnd, 12) if kind.fits(typ, v)] or [next(v for v in kind.special + ["1"] if kind.fits(typ, v))]
                cols.append(Column(f"v{i}", typ, kind, None, values))
            else:
                typ, values, comparable = rnd.choice(OTHER)
                cols.append(Column(f"v{i}", typ, None, None, values, comparable))
        for c in cols[1:]:
            c.not_null = rnd.random() < 0.1
        rest = cols[1:]
        rnd.shuffle(rest)
        cols = [cols[0]] + rest
        if rnd.random() < 0.15:
            cols.insert(rnd.randint(0, len(cols)), Column("gone", rnd.choice(["int4", "text", "numeric"]), None, None, ["1", "22"]))
        t.columns = cols
        t.key_names = [c.name for c in key]
        sort = [c.name for c in key]
        for c in rnd.sample(cols, rnd.choice([0, 0, 1, 2, min(3, len(cols))])):
            if c.name not in [s.split()[0] for s in sort] and (c.kind or c.name == "u"):
                sort.append(c.name + rnd.choice(["", " desc", " nulls first", " desc nulls last", " asc"]))
        options = [f"bucket_by '{', '.join(c.name for c in key)}'", f"buckets '{rnd.choice(self.counts)}'"]
        if len(sort) > len(key) or rnd.random() < 0.2:
            options.append(f"sort_by '{', '.join(sort)}'")
        if rnd.random() < 0.7:
            options.append(f"block_rows '{rnd.choice([1, 2, 3, 5, 10, 40, 100, 300])}'")
        if rnd.random() < 0.5:
            options.append(f"compression '{rnd.choice(['lz4', 'zstd', 'none'])}'")
        opts = f"SERVER bucketfdw OPTIONS ({', '.join(options)})"
        ddl = ",\n  ".join(c.ddl() for c in cols)
        kind = rnd.random()
        if kind < 0.12:
            self.partitioned(t, key, ddl, opts)
        elif kind < 0.35:
            # no buckets here either: a partner whose rows are sorted into the buckets of the others
            t.heap = True
            self.op(*[f"CREATE TABLE {s}.{name} (\n  {ddl})" for s in SCHEMAS], table=name)
        else:
            self.op(f"CREATE TABLE h.{name} (\n  {ddl})", f"CREATE FOREIGN TABLE b.{name} (\n  {ddl})\n  {opts}", table=name)
        self.tables.append(t)

    def partitioned(self, t, key, ddl, opts):
        """A partitioned table; of its partitions some are bucketed, one may be a heap."""
        rnd = self.rnd
        t.partitioned = True
        if rnd.random() < 0.5:
            by = rnd.choice(key).name
            parts = [f"FOR VALUES WITH (MODULUS 3, REMAINDER {i})" for i in range(3)]
            self.op(*[f"CREATE TABLE {s}.{t.name} (\n  {ddl}) PARTITION BY HASH ({by})" for s in SCHEMAS], table=t.name)
        else:
            at = max(1, self.size // 2)
            parts = [f"FOR VALUES FROM (MINVALUE) TO ({at})", f"FOR VALUES FROM ({at}) TO ({at * 2})", f"FOR VALUES FROM ({at * 2}) TO (MAXVALUE)"]
            self.op(*[f"CREATE TABLE {s}.{t.name} (\n  {ddl}) PARTITION BY RANGE (u)" for s in SCHEMAS], table=t.name)
        heap = rnd.choice([None, 0, 1])
        for i, bounds in enumerate(parts):
            head = f"{t.name}_{i} PARTITION OF %s.{t.name} {bounds}"
            self.op("CREATE TABLE h." + head % "h",
                    "CREATE TABLE b." + head % "b" if i == heap else "CREATE FOREIGN TABLE b." + head % "b" + "\n  " + opts, table=t.name)

    def load(self, t, n):
        rnd = self.rnd
        how = rnd.choice(["copy", "copy", "values", "select", "each"])
        if how == "each":
            n = min(n, 12)
        if rnd.random() < 0.6 and not t.heap:
            # files, rows in the catalog, and some of each
            self.op("", f"SET bucketfdw.inline_limit = '{rnd.choice(['0', '0', '500B', '16kB', '16kB', '1MB'])}'", table=t.name)
        columns = list(t.columns)
        if rnd.random() < 0.3:
            rnd.shuffle(columns)
        self.ops.append(Load(t.name, columns, t.rows(rnd, n), how))

    def fill(self):
        """Loads, with transactions and changes of the tables among them."""
        rnd = self.rnd
        left = {t.name: rnd.choice([0, 1, 1, 2, 3, 5]) if rnd.random() < 0.9 else 12 for t in self.tables}
        tables = list(self.tables)
        depth, inside = 0, False
        while any(left.values()) or inside:
            x = rnd.random()
            if not any(left.values()) and inside:
                self.ops.append(Transaction(rnd.choice(["COMMIT", "COMMIT", "ROLLBACK"])))
                inside, depth = False, 0
                continue
            if x < 0.12:
                if not inside:
                    self.ops.append(Transaction("BEGIN"))
                    inside = True
                else:
                    self.ops.append(Transaction(rnd.choice(["COMMIT", "COMMIT", "ROLLBACK"])))
                    inside, depth = False, 0
            elif x < 0.3 and inside:
                if depth and rnd.random() < 0.6:
                    self.ops.append(Transaction(rnd.choice([f"ROLLBACK TO s{depth}", f"RELEASE s{depth}"])))
                    if self.ops[-1].text.startswith("RELEASE"):
                        depth -= 1
                else:
                    depth += 1
                    self.ops.append(Transaction(f"SAVEPOINT s{depth}"))
            elif x < 0.36 and not inside:
                self.change(rnd.choice(tables))
            elif x < 0.42 and not inside:
                rnd.choice([self.compact, self.rebucket])(rnd.choice(tables))
            elif x < 0.44:
                t = rnd.choice(tables)
                self.op(f"TRUNCATE h.{t.name}", f"TRUNCATE b.{t.name}", table=t.name)
            elif x < 0.48:
                t = rnd.choice(tables)
                self.op(*[f"SELECT count(*) FROM {s}.{t.name}" for s in SCHEMAS], table=t.name)
            else:
                name = rnd.choice([n for n, k in left.items() if k] or [None])
                if name:
                    left[name] -= 1
                    t = next(t for t in tables if t.name == name)
                    self.load(t, max(1, int(self.size * rnd.choice([0.05, 0.3, 0.6, 1]))))
        for t in tables:
            if any(c.name == "gone" for c in t.columns) and rnd.random() < 0.8:
                self.drop_column(t, "gone")
                if rnd.random() < 0.7:
                    self.load(t, max(1, self.size // 4))
            if rnd.random() < 0.2:
                rnd.choice([self.compact, self.rebucket])(t)
        while rnd.random() < 0.3:
            self.derive()
        if rnd.random() < 0.5:
            for t in self.tables:
                self.op(*[f"ANALYZE {s}.{t.name}" for s in SCHEMAS], table=t.name)

    def derive(self):
        """Tables made and overwritten by create_table_as."""
        rnd = self.rnd
        t = rnd.choice(self.tables)
        if rnd.random() < 0.4 and not t.partitioned and not t.heap:
            self.op(f"DELETE FROM h.{t.name} WHERE u % 2 = 0",
                    f"SELECT bucketfdw.create_table_as('b.{t.name}', 'SELECT * FROM h.{t.name}', mode => 'overwrite')", table=t.name)
        elif len(self.tables) < 5:
            new = Table(f"t{len(self.tables) + 1}")
            new.columns = [c for c in t.columns if c.name == "u" or c.name in t.key_names or rnd.random() < 0.8]
            new.key_names, new.nrows = t.key_names, t.nrows
            names = ", ".join(c.name for c in new.columns)
            select = f"SELECT {names} FROM %s.{t.name} WHERE u %% 3 > 0"
            self.op(f"CREATE TABLE h.{new.name} AS " + select % "h",
                    f"SELECT bucketfdw.create_table_as('b.{new.name}', '{select % rnd.choice('hb')}', bucket_by => '{', '.join(t.key_names)}', "
                    f"buckets => {rnd.choice(self.counts)})", table=new.name)
            self.tables.append(new)
            if rnd.random() < 0.5:
                self.load(new, max(1, self.size // 3))

    def unfinished(self, change):
        """Operations of a transaction that stays open while the queries run; often none.  change() makes some of them."""
        rnd = self.rnd
        if rnd.random() < 0.75:
            return []
        start = len(self.ops)
        self.ops.append(Transaction("BEGIN"))
        for _ in range(rnd.choice([0, 1, 2])):
            self.load(rnd.choice(self.tables), max(1, self.size // 3))
            for _ in range(rnd.choice([0, 1, 2])):
                self.ops += change()
            if rnd.random() < 0.4:
                self.ops.append(Transaction("SAVEPOINT s1"))
                self.load(rnd.choice(self.tables), max(1, self.size // 5))
                self.ops += change()
                if rnd.random() < 0.5:
                    self.ops.append(Transaction("ROLLBACK TO s1"))
        out = self.ops[start:]
        del self.ops[start:]
        return out

    def change(self, t):
        rnd = self.rnd
        if any(c.name == "gone" for c in t.columns) and rnd.random() < 0.6:
            self.drop_column(t, "gone")
            return
        if t.added > 1:
            return
        t.added += 1
        name = f"w{t.added}"
        kind = rnd.choice(KINDS)
        typ = kind.types[0]
        column = Column(name, typ, kind, None, [v for v in kind.pool(rnd, 6) if kind.fits(typ, v)] or [kind.regular(1, rnd)])
        self.op(*[f"ALTER TABLE {s}.{t.name} ADD COLUMN {column.ddl()}" for s in SCHEMAS], table=t.name)
        t.columns.append(column)

    def compact(self, t):
        if not t.heap:
            self.op("", f"CALL bucketfdw.compact('b.{t.name}', {self.rnd.choice(['true', 'true', 'false'])})", table=t.name)

    def rebucket(self, t):
        """Another number of buckets; now and then another key."""
        rnd = self.rnd
        if t.heap:
            return
        changes = [f"buckets => {rnd.choice(self.counts + [2, 5])}"]
        if rnd.random() < 0.3:
            t.key_names = [c.name for c in rnd.sample(t.keys(), rnd.choice([1, min(2, len(t.keys()))]))]
            changes.append(f"bucket_by => '{', '.join(t.key_names)}'")
        if rnd.random() < 0.3:
            changes.append(f"compression => '{rnd.choice(['none', 'lz4', 'zstd'])}'")
        self.op("", f"CALL bucketfdw.rebucket('b.{t.name}', {', '.join(changes)})", table=t.name)

    def drop_column(self, t, name):
        self.op(*[f"ALTER TABLE {s}.{t.name} DROP COLUMN {name}" for s in SCHEMAS], table=t.name)
        t.columns = [c for c in t.columns if c.name != name]

    def script(self):
        """(statement, COPY data) of all operations."""
        return [x for op in self.ops for s in SCHEMAS for x in op.sql(s)]
