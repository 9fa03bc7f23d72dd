"""Compaction and changes of the number of buckets beside the queries, in a session of its own: what is read stays the same at every step."""
import threading

from pg_wire import Connection, ServerGone


class Upkeep(threading.Thread):
    """Rewrites files of the tables of a round again and again until it is stopped."""

    def __init__(self, database, rnd, tables):
        super().__init__(daemon=True)
        self.rnd, self.names = rnd, [f"b.{t.name}" for t in tables if not t.heap]
        self.c = Connection(database)
        self.ending = threading.Event()
        self.calls, self.failure = 0, None

    def call(self):
        name = self.rnd.choice(self.names)
        if self.rnd.random() < 0.3:
            return f"CALL bucketfdw.compact('{name}', full => {self.rnd.choice(['true', 'false'])})"
        return (f"CALL bucketfdw.rebucket('{name}', buckets => {self.rnd.choice([1, 3, 4, 6, 16])}, "
                f"compression => '{self.rnd.choice(['none', 'lz4', 'zstd'])}')")

    def run(self):
        try:
            while self.names and not self.ending.is_set():
                text = self.call()
                r = self.c.query(text)
                if r.error:
                    self.failure = f"{r.error} {r.message}: {text}"
                    return
                self.calls += 1
                self.ending.wait(self.rnd.choice([0, 0, 0.01, 0.1]))
        except (ServerGone, OSError) as e:
            self.failure = f"the server process ended: {e}"

    def finish(self):
        """Ends it; what went wrong, or None."""
        self.ending.set()
        self.join()
        self.c.close()
        return self.failure
