"""Random transactions that write and read one table in turn: a round runs the same messages over a bucketed table and
over a heap, and every message must give the same rows or the same error.

Rows are inserted, deleted and updated.  Writers are volatile and readers stable functions, called in any order in one message; among them stand cursors,
savepoints, exception blocks, loops over the table and statements large enough to be sealed at their end."""

TABLE = {"h": "CREATE TABLE h.w (k int, v int, t text)",
         "b": "CREATE FOREIGN TABLE b.w (k int, v int, t text) SERVER bucketfdw OPTIONS (bucket_by 'k', buckets '%d')"}

FUNCTIONS = """
CREATE FUNCTION {s}.rd() RETURNS text LANGUAGE plpgsql STABLE AS
	$$ BEGIN RETURN (SELECT count(*) || ':' || coalesce(sum(v), 0) FROM {s}.w); END $$;
CREATE FUNCTION {s}.rdk(n int) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE r record; log text := '';
BEGIN
	FOR r IN SELECT k, v FROM {s}.w WHERE k = n ORDER BY v LOOP log := log || r.v || '.'; END LOOP;
	RETURN log;
END $$;
CREATE FUNCTION {s}.rdj() RETURNS text LANGUAGE sql STABLE AS
	$$ SELECT count(*) || ';' || count(DISTINCT a.k) FROM {s}.w a JOIN {s}.w c USING (k) WHERE a.v < 50 AND c.v < 50 $$;
CREATE FUNCTION {s}.wr(n int, x int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO {s}.w SELECT i, x FROM generate_series(1, n) i;
	RETURN (SELECT count(*) || ':' || coalesce(sum(v), 0) FROM {s}.w);
END $$;
CREATE FUNCTION {s}.blind(n int, x int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO {s}.w SELECT i, x FROM generate_series(1, n) i;
	RETURN '';
END $$;
CREATE FUNCTION {s}.gone(n int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE x int;
BEGIN
	DELETE FROM {s}.w WHERE k = n;
	GET DIAGNOSTICS x = ROW_COUNT;
	RETURN x || '-' || {s}.rd();
END $$;
CREATE FUNCTION {s}.more(n int, x int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE log text;
BEGIN
	UPDATE {s}.w SET v = v + 1 WHERE k = n;
	UPDATE {s}.w SET k = k + 1, v = x WHERE k = n AND v % 2 = 0;
	log := {s}.rd();
	DELETE FROM {s}.w WHERE v = x AND k > n + 3;
	RAISE 'no';
EXCEPTION WHEN raise_exception THEN
	UPDATE {s}.w SET v = v + 1 WHERE k = n + 1;
	RETURN log || '!' || {s}.rd();
END $$;
CREATE FUNCTION {s}.undone(n int, x int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE log text;
BEGIN
	INSERT INTO {s}.w SELECT i, x FROM generate_series(1, n) i;
	log := {s}.rd();
	RAISE 'no';
EXCEPTION WHEN raise_exception THEN
	RETURN log || '!' || {s}.rd();
END $$;
"""


class Waiting:
    def __init__(self, rnd):
        self.rnd, self.cursors, self.savepoints, self.number = rnd, 0, [], 0
        self.buckets = rnd.choice([1, 2, 4, 16])
        self.functions = []
        self.settings = [s for s in ("work_mem = '64kB'", "plan_cache_mode = force_generic_plan",
                                     "parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0",
                                     "default_transaction_isolation = 'repeatable read'") if rnd.random() < 0.3]
        self.messages = ["BEGIN"] + [self.message() for _ in range(rnd.randint(2, 12))]
        self.messages += [rnd.choice(["COMMIT", "COMMIT", "ROLLBACK"]), "SELECT {s}.rd(), {s}.rdj(), {s}.rdk(1)"]

    def change(self):
        """A statement that deletes or updates."""
        rnd = self.rnd
        self.number += 1
        n, m = rnd.choice([1, 2, 3, 40, 700]), rnd.randint(0, 2)
        where = rnd.choice([f"k = {n}", f"k = {n}", f"v % 3 = {m}", f"k <= {n}", f"v = {rnd.randint(1, self.number)}", f"k = {n} AND {{s}}.rd() <> ''",
                            f"k IN (SELECT k FROM {{s}}.w WHERE v % 3 = {m})", f"NOT EXISTS (SELECT FROM {{s}}.w c WHERE c.k = w.k AND c.v < w.v) AND k <= {n}"])
        return rnd.choice([f"DELETE FROM {{s}}.w WHERE {where}", f"UPDATE {{s}}.w SET v = v + 1 WHERE {where}", f"UPDATE {{s}}.w SET k = k + {m}, t = 'u' WHERE {where}",
                           f"WITH a AS (DELETE FROM {{s}}.w WHERE {where} RETURNING k, v) INSERT INTO {{s}}.w SELECT k, v + 1000 FROM a",
                           f"UPDATE {{s}}.w SET v = a.n FROM (SELECT k, count(*) n FROM {{s}}.w GROUP BY k) a WHERE w.k = a.k AND w.k <= {n}",
                           f"DELETE FROM {{s}}.w USING (SELECT k FROM {{s}}.w WHERE v % 3 = {m}) a WHERE w.k = a.k AND w.k <= {n}"])

    def insert(self):
        """A statement that writes."""
        rnd = self.rnd
        if rnd.random() < 0.4:
            return self.change()
        x = rnd.random()
        self.number += 1
        n = rnd.choice([1, 1, 2, 5, 40, 700])
        if x < 0.5:
            return f"INSERT INTO {{s}}.w SELECT i, {self.number} FROM generate_series(1, {n}) i"
        if x < 0.6:
            return f"INSERT INTO {{s}}.w SELECT k + 50, v FROM {{s}}.w WHERE k <= {n}"
        if x < 0.7:
            return f"INSERT INTO {{s}}.w SELECT k, {self.number}, {{s}}.{self.call()} FROM generate_series(1, 3) k"
        if x < 0.75:
            return f"INSERT INTO {{s}}.w SELECT i, {self.number}, repeat('x', 900) || i FROM generate_series(1, 6000) i"
        if x < 0.85:
            return f"WITH a AS (INSERT INTO {{s}}.w SELECT i, {self.number} FROM generate_series(1, {n}) i RETURNING k) INSERT INTO {{s}}.w SELECT k, {self.number} + 1000 FROM a"
        return f"INSERT INTO {{s}}.w VALUES ({n}, {self.number})"

    def call(self):
        self.number += 1
        return self.rnd.choice(["rd()", "rd()", f"rdk({self.rnd.randint(1, 3)})", "rdj()", f"wr({self.rnd.choice([1, 3, 60])}, {self.number})",
                                f"blind({self.rnd.choice([1, 2])}, {self.number})", f"gone({self.rnd.randint(1, 3)})",
                                f"more({self.rnd.randint(1, 3)}, {self.number})", f"undone(2, {self.number})"])

    def calls(self):
        return "concat_ws(',', " + ", ".join("{s}." + self.call() for _ in range(self.rnd.randint(2, 5))) + ")"

    def query(self):
        return self.rnd.choice(["SELECT count(*), sum(v) FROM {s}.w", "SELECT k, v FROM {s}.w WHERE k = 2 ORDER BY v", "SELECT {s}.rd(), {s}.rdj()",
                                "SELECT count(*) FROM {s}.w a JOIN {s}.w c USING (k) WHERE a.v < 60 AND c.v < 60", "SELECT " + self.calls(), "SELECT " + self.calls()])

    def steps(self, depth):
        """Statements of a block, which adds what it sees to log."""
        rnd, out = self.rnd, []
        for _ in range(rnd.randint(1, 5)):
            x = rnd.random()
            if x < 0.3:
                out.append(self.insert() + ";")
            elif x < 0.55:
                out.append(f"log := log || ' ' || {self.calls()};")
            elif x < 0.65:
                out.append(f"log := log || ' ' || (SELECT {self.calls()});")
            elif x < 0.72:
                out.append("log := log || ' ' || (SELECT count(*) || '=' || coalesce(sum(v), 0) FROM {s}.w);")
            elif x < 0.8:
                out.append(f"FOR r IN SELECT k, v FROM {{s}}.w ORDER BY k, v LIMIT {rnd.randint(1, 3)} LOOP\n{self.steps(depth + 1)}\nEND LOOP;" if depth < 2 else "NULL;")
            elif x < 0.92 and depth < 3:
                end = rnd.choice(["RAISE 'no';", "RAISE 'no';", ""])
                out.append(f"BEGIN\n{self.steps(depth + 1)}\n{end}\nEXCEPTION WHEN raise_exception THEN\n{self.steps(depth + 1)}\nEND;")
            elif depth == 0:
                self.cursors += 1
                c = f"c{self.cursors}"
                out.append(f"{c} := '{c}'; OPEN {c} FOR SELECT k, v, {{s}}.rd() FROM {{s}}.w ORDER BY k, v;\n{self.steps(1)}\nFETCH {c} INTO r; log := log || coalesce(r::text, '-');\n"
                           f"{self.steps(1)}\nFETCH {c} INTO r; log := log || coalesce(r::text, '-');")
        return "\n".join(out) or "NULL;"

    def function(self):
        name = f"f{len(self.functions)}"
        self.functions.append(None)
        at = len(self.functions) - 1
        before = self.cursors
        body = self.steps(0)
        names = "".join(f" c{i} refcursor;" for i in range(before + 1, self.cursors + 1))
        self.functions[at] = (f"CREATE FUNCTION {{s}}.{name}() RETURNS text LANGUAGE plpgsql AS $$\nDECLARE log text := ''; r record;{names}\n"
                              f"BEGIN\n{body}\nRETURN log;\nEND $$")
        return f"SELECT {{s}}.{name}()"

    def message(self):
        rnd = self.rnd
        x = rnd.random()
        if x < 0.2:
            return self.insert()
        if x < 0.35:
            return self.query()
        if x < 0.55:
            return self.function()
        if x < 0.7:
            return "; ".join(rnd.choice([self.insert, self.insert, self.query, self.function])() for _ in range(rnd.randint(2, 5)))
        if x < 0.8:
            if self.savepoints and rnd.random() < 0.6:
                name = rnd.choice(self.savepoints)
                del self.savepoints[self.savepoints.index(name) + 1:]
                if rnd.random() < 0.5:
                    return f"ROLLBACK TO {name}"
                self.savepoints.pop()
                return f"RELEASE {name}"
            self.savepoints.append(f"s{len(self.savepoints)}")
            return f"SAVEPOINT {self.savepoints[-1]}"
        if x < 0.88:
            self.cursors += 1
            return f"DECLARE c{self.cursors} CURSOR {rnd.choice(['', '', 'WITH HOLD '])}FOR SELECT k, v, {{s}}.rd(), {{s}}.rdk(2) FROM {{s}}.w ORDER BY k, v LIMIT 12"
        if x < 0.97 and self.cursors:
            return f"FETCH {rnd.choice(['1', '3', 'ALL'])} FROM c{rnd.randint(1, self.cursors)}"
        return "EXPLAIN (COSTS OFF) SELECT 1 FROM {s}.w WHERE false"

    def script(self, s):
        """All messages of one side, the first of which build it up."""
        out = ["ROLLBACK; CLOSE ALL; RESET ALL; SET client_min_messages = error; SET statement_timeout = '30s'"] + ["SET " + x for x in self.settings]
        out += [TABLE[s] % self.buckets if s == "b" else TABLE[s], FUNCTIONS] + self.functions
        return [m.replace("{s}", s) for m in out], [m.replace("{s}", s) for m in self.messages]

    def difference(self, connection):
        """Runs both sides; None, or what differs."""
        answers = {}
        for s in ("h", "b"):
            connection.query(f"ROLLBACK; CLOSE ALL; RESET ALL; SET client_min_messages = error; DROP SCHEMA IF EXISTS {s} CASCADE; CREATE SCHEMA {s}")
            build, messages = self.script(s)
            for m in build:
                r = connection.query(m)
                if r.error:
                    raise SystemExit(f"{r!r}: {m}")
            answers[s] = [connection.query(m) for m in messages]
            connection.query("ROLLBACK; CLOSE ALL")
        for i, (h, b) in enumerate(zip(answers["h"], answers["b"])):
            if h.error == "57014" or b.error == "57014":
                return None
            if (h.error, h.rows) != (b.error, b.rows):
                build, messages = self.script("b")
                return (f"message {i}: heap {h!r} {h.rows[:3]}, bucketed {b!r} {b.rows[:3]}\n-------- the bucketed side\n"
                        + ";\n".join(build + messages[:i + 1]) + ";")
        return None
