"""A small client for PostgreSQL's wire protocol (version 3) over a Unix socket: simple queries and COPY FROM STDIN.

It gives what a comparison of answers needs and psql hides: the type of each column, NULL apart from text, and the
SQLSTATE of an error.  Only trust authentication."""
import os
import socket
import struct
import time


class ServerGone(Exception):
    """The connection broke: the server process crashed or was ended."""


class Result:
    """What one query gave: rows of text (None is NULL) with the type oid of each column, command tags, or an error."""
    __slots__ = ("types", "rows", "tags", "error", "message", "context")

    def __init__(self):
        self.types, self.rows, self.tags, self.error, self.message, self.context = [], [], [], None, None, None

    def __repr__(self):
        return f"ERROR {self.error}: {self.message}" if self.error else f"{len(self.rows)} rows"


class Connection:
    def __init__(self, database, wait=0):
        self.database = database
        self.sock = None
        self.open(wait)

    def open(self, wait=0):
        """Connects; for wait seconds tries again while the server is not ready."""
        host, port = os.environ.get("PGHOST", "/var/run/postgresql"), os.environ.get("PGPORT", "5432")
        user = os.environ.get("PGUSER", "postgres")
        end = time.monotonic() + wait
        while True:
            try:
                self.sock = socket.socket(socket.AF_UNIX)
                self.sock.settimeout(120)
                self.sock.connect(f"{host}/.s.PGSQL.{port}")
                self.buffer = b""
                words = ["user", user, "database", self.database, "client_encoding", "UTF8", "application_name", "random queries"]
                body = struct.pack("!i", 196608) + b"".join(w.encode() + b"\0" for w in words) + b"\0"
                self.sock.sendall(struct.pack("!i", len(body) + 4) + body)
                r = self.collect()
                if r.error:
                    raise OSError(r.message)
                return
            except (OSError, ServerGone):
                if time.monotonic() >= end:
                    raise
                time.sleep(0.3)

    def close(self):
        self.sock.close()

    def message(self):
        """The next message: its type and body."""
        while True:
            if len(self.buffer) >= 5:
                (n,) = struct.unpack_from("!i", self.buffer, 1)
                if len(self.buffer) > n:
                    kind, body = self.buffer[:1], self.buffer[5:n + 1]
                    self.buffer = self.buffer[n + 1:]
                    return kind, body
            try:
                data = self.sock.recv(1 << 18)
            except OSError as e:
                raise ServerGone(str(e)) from e
            if not data:
                raise ServerGone("the server closed the connection")
            self.buffer += data

    def send(self, kind, body):
        try:
            self.sock.sendall(kind + struct.pack("!i", len(body) + 4) + body)
        except OSError as e:
            raise ServerGone(str(e)) from e

    def collect(self, copy=None):
        """Everything up to ReadyForQuery; the rows of the last statement that returned rows."""
        r = Result()
        while True:
            kind, body = self.message()
            if kind == b"Z":
                self.in_transaction = body != b"I"
                return r
            if kind == b"D":
                (n,) = struct.unpack_from("!h", body)
                at, row = 2, []
                for _ in range(n):
                    (size,) = struct.unpack_from("!i", body, at)
                    at += 4
                    if size < 0:
                        row.append(None)
                    else:
                        row.append(body[at:at + size].decode("utf-8", "replace"))
                        at += size
                r.rows.append(tuple(row))
            elif kind == b"T":
                (n,) = struct.unpack_from("!h", body)
                at = 2
                r.types, r.rows = [], []
                for _ in range(n):
                    at = body.index(b"\0", at) + 1
                    r.types.append(struct.unpack_from("!i", body, at + 6)[0])
                    at += 18
            elif kind == b"C":
                r.tags.append(body[:-1].decode())
            elif kind == b"E":
                fields = {f[:1]: f[1:].decode("utf-8", "replace") for f in body.split(b"\0") if f}
                r.error, r.message, r.context = fields.get(b"C"), fields.get(b"M"), fields.get(b"W")
                if r.error in ("57P01", "57P02"):
                    raise ServerGone(r.message)
                if fields.get(b"S") in ("FATAL", "PANIC"):
                    raise ServerGone(r.message)
            elif kind == b"G":
                for i in range(0, len(copy), 1 << 16):
                    self.send(b"d", copy[i:i + (1 << 16)])
                self.send(b"c", b"")
            elif kind == b"R":
                (method,) = struct.unpack_from("!i", body)
                if method != 0:
                    raise OSError("only trust authentication is understood")

    def query(self, sql, copy=None):
        """Runs sql (several statements may be in it); copy is the data of a COPY FROM STDIN in it."""
        self.send(b"Q", sql.encode() + b"\0")
        return self.collect(copy)
