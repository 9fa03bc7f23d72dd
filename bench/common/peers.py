"""Those that are measured side by side: sessions of the private server with settings, and DuckDB in this process.

A peer runs a statement and says how long it took and what it answered; the same text goes to all of them, the schema a
session looks into decides which kind of table it reads.
"""
import os
import re
import subprocess
import time
from decimal import Decimal

SEPARATOR = "\x1f"
NULL = "\x01"


class Failed(Exception):
    """A statement failed; SQLSTATE in .state."""

    def __init__(self, text, state=""):
        super().__init__(text)
        self.state = state


class Answer:
    """Milliseconds, rows of text (None is NULL), and for each column whether it is a number and a float."""

    def __init__(self, ms, rows, numbers=None, floats=None):
        self.ms, self.rows, self.numbers, self.floats = ms, rows, numbers, floats


class Session:
    """psql on the private server, kept open, so that what a session learns once is not measured again."""

    TIME = re.compile(r"^Time: ([0-9.]+) ms")

    def __init__(self, label, schema="public", **settings):
        self.label, self.types = label, {}
        self.start = {"search_path": schema, **settings}
        self.psql = None
        self.connect()

    def connect(self):
        self.close()
        self.psql = subprocess.Popen(
            [os.path.join(os.environ["BFDW_PG"], "psql"), "-X", "-A", "-t", "-q", "-d", "postgres", "-F", SEPARATOR,
             "-P", "null=" + NULL],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1)
        self.send("SET client_min_messages = warning")
        self.send("\\timing on")
        for name, value in self.start.items():
            self.send(f"SET {name} = {value}")

    def close(self):
        if self.psql:
            self.psql.stdin.close()
            self.psql.wait()
            self.psql = None

    def send(self, statement):
        """The lines the statement printed and its milliseconds; a backslash command ends by itself."""
        end = "" if statement.startswith("\\") or statement.rstrip().endswith("\\gdesc") else ";"
        self.psql.stdin.write(statement + end + "\n\\echo END-OF-ANSWER :ERROR :SQLSTATE\n")
        self.psql.stdin.flush()
        lines, ms = [], 0.0
        for line in self.psql.stdout:
            line = line.rstrip("\n")
            if line.startswith("END-OF-ANSWER "):
                _, error, state = line.split(" ")
                if error == "true":
                    raise Failed(f"{self.label}: {' '.join(lines)}\n{statement}", state)
                return lines, ms
            timed = self.TIME.match(line)
            if timed:
                ms = float(timed.group(1))
            else:
                lines.append(line)
        raise Failed(f"{self.label}: the server went away\n{statement}\n{' '.join(lines)}")

    def run(self, query):
        lines, ms = self.send(query)
        rows = [tuple(None if cell == NULL else cell for cell in line.split(SEPARATOR)) for line in lines]
        if query not in self.types:
            described, _ = self.send(query + " \\gdesc")
            self.types[query] = [line.split(SEPARATOR)[1] for line in described]
        types = self.types[query]
        floats = [t in ("real", "double precision") for t in types]
        numbers = [t.startswith(("numeric", "integer", "bigint", "smallint")) for t in types]
        return Answer(ms, rows, numbers, floats)

    def value(self, query):
        return self.send(query)[0][0]

    def explain(self, query, options="COSTS OFF"):
        return "\n".join(self.send(f"EXPLAIN ({options}) {query}")[0])


class Duck:
    """DuckDB on a database file of the work folder."""

    def __init__(self, path, threads):
        import duckdb
        self.label = f"DuckDB, {threads} thread{'s' if threads > 1 else ''}"
        self.path, self.threads, self.duckdb = path, threads, duckdb
        self.db = None
        self.connect()

    def connect(self):
        self.close()
        self.db = self.duckdb.connect(self.path)
        self.db.execute(f"set threads = {self.threads}")

    def close(self):
        if self.db:
            self.db.close()
            self.db = None

    def send(self, statement):
        start = time.perf_counter()
        self.db.execute(statement)
        return [], (time.perf_counter() - start) * 1000

    def run(self, query):
        start = time.perf_counter()
        found = self.db.execute(query).fetchall()
        ms = (time.perf_counter() - start) * 1000
        columns = range(len(self.db.description))
        floats = [any(isinstance(row[i], float) for row in found) for i in columns]
        numbers = [any(isinstance(row[i], (int, Decimal)) for row in found) for i in columns]
        return Answer(ms, [tuple(None if v is None else str(v) for v in row) for row in found], numbers, floats)

    def size(self):
        self.db.execute("checkpoint")
        return os.path.getsize(self.path)
