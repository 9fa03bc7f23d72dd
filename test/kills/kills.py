"""Kills a server at random moments while sessions write bucketed tables, and looks at what is there afterwards.

Each bucketed table b_N has a heap twin h_N; every transaction does the same to both and notes in the heap table journal
what it did.  The bucketed table is always first: its lock orders the transactions, and so do the numbers in the journal.
Heap tables are emptied by DELETE, since core itself leaves the files of a TRUNCATE that a crash interrupts.

SIGKILL loses nothing that was written.  So after an immediate stop pages of bucketed tables are taken away that a machine
without power might not have: those that recovery brings back, as their WAL comes after the redo pointer."""
import argparse
import collections
import glob
import os
import random
import re
import signal
import struct
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "random"))
from pg_wire import Connection, ServerGone  # noqa: E402

TABLES = 6
SESSIONS = 5
DATABASE = "postgres"
LIMIT = 300000  # rows of a table from which on it is emptied
TABLESPACES = ("pg_default", "side")
PAGE = 8192
MAGIC = b"BFDWHEAD"  # of our files, behind the page header

# What a session may run into: a lock it did not get in time, a deadlock, rows changed by others, a table that was dropped
# while it waited.
EXPECTED = {"55P03", "40P01", "40001", "42P01", "42704"}

SETUP = """
CREATE EXTENSION bucketfdw;
CREATE SEQUENCE place;
CREATE TABLE journal (place bigint, id bigint, tab int, clears bool, n bigint, sum bigint);
"""


def rows_of(rng, big):
    """The first key and the number of rows of a load."""
    n = rng.choice((500, 5000, 20000, 50000)) if big else 1
    return rng.randrange(1, 1000000), n


def select_of(first, n):
    """Rows that hardly compress, 100 bytes each."""
    return f"SELECT i AS k, md5(i::text) || md5((i + 1)::text) || md5((i + 2)::text) AS v FROM generate_series({first}, {first + n - 1}) i"


class Failure(Exception):
    pass


class Refused(Exception):
    """A statement failed: the transaction is given up."""

    def __init__(self, result, sql):
        super().__init__(f"{result.error}: {result.message} ({sql[:100]})")
        self.code = result.error


class Session(threading.Thread):
    """Random transactions until the server goes away."""

    def __init__(self, run, number, seed):
        super().__init__(daemon=True)
        self.run_, self.number, self.rng = run, number, random.Random(seed)
        self.conn, self.pid, self.prepared, self.failure = None, None, [], None

    def run(self):
        try:
            while True:
                self.transaction()
        except (ServerGone, OSError):
            pass
        except Exception as e:  # noqa: BLE001: shown by the main thread
            self.failure = e

    def connect(self):
        self.conn = Connection(DATABASE, wait=60)
        self.pid = int(self.sql("SELECT pg_backend_pid()").rows[0][0])
        self.sql("SET lock_timeout = '700ms'; SET deadlock_timeout = '200ms'")

    def sql(self, text, copy=None):
        r = self.conn.query(text, copy)
        if r.error:
            raise Refused(r, text)
        return r

    def transaction(self):
        what = self.rng.choices(("insert", "copy", "small", "single", "savepoint", "prepare", "finish", "truncate", "recreate",
                                 "overwrite", "move", "cleanup", "checkpoint", "abort", "compact", "rebucket",
                                 "maintain", "change", "upsert"),
                                (16, 12, 8, 6, 12, 8, 8, 5, 4, 5, 4, 6, 4, 4, 8, 4, 4, 16, 5))[0]
        self.tab = self.rng.randrange(TABLES)
        self.id = self.run_.next_id()
        if what not in ("finish", "compact", "rebucket", "maintain") and self.run_.sizes[self.tab] > LIMIT:
            what = self.rng.choice(("truncate", "recreate", "overwrite"))
        if self.number == 0 and self.run_.only:
            what = self.run_.only
        self.run_.doing[self.number] = what
        try:
            getattr(self, "do_" + what)()
            self.run_.done[what] += 1
        except Refused as e:
            if e.code not in EXPECTED:
                raise
            self.run_.refused[e.code] += 1
            if self.conn.in_transaction:
                self.conn.query("ROLLBACK")

    # parts of transactions

    def note(self, clears, first, n):
        """To the journal, when the lock is held; and what will be known to be there once the commit is confirmed."""
        self.count(clears, n, sum(range(first, first + n)))

    def count(self, clears, n, total):
        """The same of rows whose keys have a sum; both can be less than 0."""
        self.sql(f"INSERT INTO journal VALUES (nextval('place'), {self.id}, {self.tab}, {clears}, {n}, {total})")
        self.run_.sizes[self.tab] = n if clears else self.run_.sizes[self.tab] + n

    def insert(self, big=True):
        first, n = rows_of(self.rng, big)
        self.sql(f"INSERT INTO b_{self.tab} {select_of(first, n)}")
        self.sql(f"INSERT INTO h_{self.tab} {select_of(first, n)}")
        self.note(False, first, n)

    def change(self):
        """Deletes or updates rows of a few or many keys; both tables in one statement, so that they are seen by one snapshot."""
        first = self.rng.randrange(1, 1000000)
        last = first + self.rng.choice((0, 1000, 20000, 200000, 1000000))
        delete = self.rng.random() < 0.6
        what = "DELETE FROM {0} WHERE k BETWEEN {1} AND {2} RETURNING k" if delete else \
            "UPDATE {0} SET k = k + 1, v = md5(v) || v WHERE k BETWEEN {1} AND {2} RETURNING k"
        b, h = (what.format(f"{kind}_{self.tab}", first, last) for kind in "bh")
        n, total, n_h, total_h = (int(x) for x in self.sql(
            f"WITH b AS ({b}), h AS ({h}) SELECT count(b), coalesce(sum(b), 0), count(h), coalesce(sum(h), 0) FROM "
            "(SELECT k AS b, NULL::int AS h FROM b UNION ALL SELECT NULL, k FROM h) x").rows[0])
        if (n, total) != (n_h, total_h):
            raise Failure(f"{self.id}: {n} rows, sum {total}, changed in b_{self.tab}, {n_h} rows, sum {total_h}, in its twin")
        self.count(False, -n if delete else 0, -total if delete else n)
        self.run_.figures["rows deleted or updated"] += n

    def copy(self):
        first, n = rows_of(self.rng, True)
        data = "".join(f"{i}\t{self.rng.getrandbits(320):080x}\n" for i in range(first, first + n)).encode()
        for kind in "bh":
            self.sql(f"COPY {kind}_{self.tab} FROM STDIN", data)
        self.note(False, first, n)

    def clear(self):
        self.sql(f"DELETE FROM h_{self.tab}")
        self.note(True, 0, 0)

    def load(self):
        (self.insert if self.rng.random() < 0.6 else self.copy)()

    def commit(self):
        self.sql("COMMIT")
        self.run_.committed.append(self.id)

    # transactions

    def do_insert(self):
        self.sql("BEGIN")
        self.insert()
        self.commit()

    def do_copy(self):
        self.sql("BEGIN")
        self.copy()
        self.commit()

    def do_small(self):
        """Many small inserts in one transaction."""
        self.sql("BEGIN")
        for _ in range(self.rng.randrange(5, 60)):
            self.insert(big=False)
        self.commit()

    def do_single(self):
        """Many transactions of one row."""
        for _ in range(self.rng.randrange(5, 30)):
            self.id = self.run_.next_id()
            self.sql("BEGIN")
            self.insert(big=False)
            self.commit()

    def do_savepoint(self):
        self.sql("BEGIN")
        self.load()
        for i in range(self.rng.randrange(1, 4)):
            before = list(self.run_.sizes)
            self.sql(f"SAVEPOINT s{i}")
            if self.rng.random() < 0.2:
                self.sql(f"TRUNCATE b_{self.tab}")
                self.clear()
            self.rng.choice((self.load, self.change))()
            if self.rng.random() < 0.6:
                self.sql(f"ROLLBACK TO s{i}")
                self.run_.sizes[self.tab] = before[self.tab]
            elif self.rng.random() < 0.5:
                self.sql(f"RELEASE s{i}")
        if self.rng.random() < 0.5:
            self.insert(big=False)
        self.commit()

    def do_prepare(self):
        self.sql("BEGIN")
        if self.rng.random() < 0.2:
            self.sql(f"TRUNCATE b_{self.tab}")
            self.clear()
        self.load()
        if self.rng.random() < 0.3:
            self.change()
        if self.rng.random() < 0.4:
            self.sql("SAVEPOINT s")
            self.rng.choice((self.load, self.change))()
            self.sql("ROLLBACK TO s")
        self.sql(f"PREPARE TRANSACTION 'p{self.id}'")
        self.prepared.append(self.id)
        self.run_.prepared.append(self.id)

    def do_change(self):
        """Changes of rows, perhaps of those that the transaction has loaded or changed itself."""
        self.sql("BEGIN")
        for _ in range(self.rng.randrange(1, 4)):
            self.rng.choice((self.change, self.change, self.load))()
        self.commit()

    def do_upsert(self):
        """Rows replace those of their keys.  Who has loaded rows has the lock of the twin, so that none come between."""
        first, n = rows_of(self.rng, True)
        self.sql(f"BEGIN; LOCK TABLE h_{self.tab} IN SHARE ROW EXCLUSIVE MODE")
        self.sql(f"SELECT bucketfdw.upsert('b_{self.tab}', $$ {select_of(first, n)} $$)")
        deleted, total = (int(x) for x in self.sql(
            f"WITH h AS (DELETE FROM h_{self.tab} WHERE k BETWEEN {first} AND {first + n - 1} RETURNING k) "
            "SELECT count(*), coalesce(sum(k), 0) FROM h").rows[0])
        self.sql(f"INSERT INTO h_{self.tab} {select_of(first, n)}")
        self.count(False, -deleted, -total)
        self.note(False, first, n)
        self.commit()

    def do_finish(self):
        """The end of what this session has prepared."""
        while self.prepared:
            gid = self.prepared.pop()
            commit = self.rng.random() < 0.7
            self.run_.ending[gid] = commit
            self.sql(f"{'COMMIT' if commit else 'ROLLBACK'} PREPARED 'p{gid}'")
            self.run_.ended(gid, commit)

    def do_truncate(self):
        self.sql("BEGIN")
        self.sql(f"TRUNCATE b_{self.tab}")
        self.clear()
        if self.rng.random() < 0.5:
            self.load()
        self.commit()

    def do_recreate(self):
        self.sql("BEGIN")
        self.sql(f"DROP FOREIGN TABLE b_{self.tab}")
        self.sql(create(self.tab, self.rng))
        self.clear()
        if self.rng.random() < 0.5:
            self.load()
        self.commit()

    def do_overwrite(self):
        first, n = rows_of(self.rng, True)
        self.sql("BEGIN")
        self.sql(f"SELECT bucketfdw.create_table_as('b_{self.tab}', $$ {select_of(first, n)} $$, mode => 'overwrite')")
        self.sql(f"DELETE FROM h_{self.tab}")
        self.sql(f"INSERT INTO h_{self.tab} {select_of(first, n)}")
        self.note(True, first, n)
        self.commit()

    def do_move(self):
        """Into a tablespace, now and then the one where the table is."""
        self.sql("BEGIN")
        if self.rng.random() < 0.3:
            self.sql("SAVEPOINT s")
            self.sql(f"ALTER FOREIGN TABLE b_{self.tab} OPTIONS (SET tablespace '{self.rng.choice(TABLESPACES)}')")
            self.sql("ROLLBACK TO s")
        self.sql(f"ALTER FOREIGN TABLE b_{self.tab} OPTIONS (SET tablespace '{self.rng.choice(TABLESPACES)}')")
        self.load()
        self.commit()

    def do_cleanup(self):
        self.sql("SELECT bucketfdw.cleanup()")

    def do_compact(self):
        """Runs merged, in transactions of its own; rows stay the same."""
        self.sql(f"CALL bucketfdw.compact('b_{self.tab}', full => {self.rng.choice(('true', 'false'))})")

    def do_rebucket(self):
        """Another number of buckets, or only another way to compress; in transactions of its own."""
        self.sql(f"CALL bucketfdw.rebucket('b_{self.tab}', buckets => {self.rng.choice((1, 4, 6, 16, 64))}, "
                 f"compression => '{self.rng.choice(('none', 'lz4', 'zstd'))}')")

    def do_maintain(self):
        self.sql(f"CALL bucketfdw.maintain('b_{self.tab}')")

    def do_checkpoint(self):
        if not self.run_.quiet:
            self.sql("CHECKPOINT")

    def do_abort(self):
        self.sql("BEGIN")
        size = self.run_.sizes[self.tab]
        if self.rng.random() < 0.3:
            self.sql(f"TRUNCATE b_{self.tab}")
            self.clear()
        self.rng.choice((self.load, self.change))()
        self.sql("ROLLBACK")
        self.run_.sizes[self.tab] = size
        self.run_.undone.append(self.id)


def create(tab, rng):
    return (f"CREATE FOREIGN TABLE b_{tab} (k int, v text) SERVER bucketfdw OPTIONS (bucket_by 'k', "
            f"tablespace '{rng.choice(TABLESPACES)}', buckets '{rng.choice((1, 4, 16, 64))}', compression '{rng.choice(('none', 'lz4', 'zstd'))}')")


class Run:
    def __init__(self, args):
        self.args, self.rng = args, random.Random(args.seed)
        self.data, self.bin = os.environ["BFDW_DATA"], os.environ["BFDW_PG"]
        self.log = os.environ["BFDW_LOG"]
        self.last_id, self.lock = 0, threading.Lock()
        self.sizes = [0] * TABLES
        self.doing = [""] * SESSIONS
        self.done, self.refused, self.kills = collections.Counter(), collections.Counter(), collections.Counter()
        self.figures = collections.Counter()
        self.started = time.monotonic()

    def next_id(self):
        with self.lock:
            self.last_id += 1
            return self.last_id

    def new_round(self):
        """What is known of the transactions of the round that begins."""
        self.committed, self.undone, self.prepared = [], [], []
        self.headless = set()  # files whose first page was taken away
        self.ending = {}  # prepared transactions whose end was asked for, and whether that was COMMIT

    def ended(self, gid, commit):
        del self.ending[gid]
        self.prepared.remove(gid)
        (self.committed if commit else self.undone).append(gid)

    # the server

    def pg_ctl(self, *words):
        r = subprocess.run([os.path.join(self.bin, "pg_ctl"), "-D", self.data, "-w", "-t", "120", *words],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=150, check=False)
        if r.returncode != 0:
            raise Failure(f"pg_ctl {' '.join(words)}: {r.stdout}")

    def start(self):
        words = []
        self.minimal = self.rng.random() < 0.25
        if self.minimal:
            self.figures["starts with wal_level minimal"] += 1
            words = ["-o", "-c wal_level=minimal -c max_wal_senders=0"]
        self.pg_ctl("-l", self.log, *words, "start")

    def start_and_stop(self):
        """A crash during recovery, or right after it."""
        subprocess.run([os.path.join(self.bin, "pg_ctl"), "-D", self.data, "-W", "-l", self.log, "start"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60, check=True)
        while not os.path.exists(os.path.join(self.data, "postmaster.pid")):  # pg_ctl does not wait for it
            time.sleep(0.01)
        time.sleep(self.rng.choice((0.05, 0.2, 0.5, 1)))
        self.pg_ctl("-m", "immediate", "stop")
        self.lose()
        self.figures["second crashes"] += 1

    def redo(self):
        """Where recovery would start."""
        out = subprocess.run([os.path.join(self.bin, "pg_controldata"), self.data], stdout=subprocess.PIPE, text=True, timeout=30, check=True).stdout
        high, low = re.search(r"REDO location: +([0-9A-F]+)/([0-9A-F]+)", out).groups()
        return int(high, 16) << 32 | int(low, 16)

    def main_forks(self):
        """The main forks of the database, in segments: paths from the data directory."""
        os.chdir(self.data)
        folders = [f"base/{self.database}"] + glob.glob(f"pg_tblspc/*/PG_*/{self.database}")
        return [f"{folder}/{name}" for folder in folders for name in os.listdir(folder)
                if re.fullmatch(r"[0-9]+(\.[0-9]+)?", name)]

    def files(self):
        """The files of bucketed tables on disk, in segments."""
        found = []
        for path in self.main_forks():
            try:
                with open(re.sub(r"\.[0-9]+$", "", path), "rb") as f:
                    if f.read(24 + len(MAGIC))[24:] == MAGIC:
                        found.append(path)
            except FileNotFoundError:
                pass
        return found

    def lose(self):
        """Takes away pages that are not on disk for certain: those with an LSN after the redo pointer, and where none has
        moved since the files were listed, all of later ones."""
        redo = self.redo()
        for path in self.files():
            if self.rng.random() < 0.3:
                continue
            with open(path, "r+b") as f:
                size = os.path.getsize(path)
                later = redo == self.known_redo and path not in self.known_files and not self.minimal
                lost = []
                for at in range(0, size - PAGE + 1, PAGE):
                    f.seek(at)
                    high, low = struct.unpack("<II", f.read(8))
                    if later or high << 32 | low > redo:
                        lost.append(at)
                if not lost:
                    continue
                self.figures["files that lost pages"] += 1
                how = self.rng.choice(("zero", "tear", "cut"))
                if how == "cut":
                    while lost and lost[-1] == size - PAGE and self.rng.random() < 0.95:
                        size = lost.pop()
                    f.truncate(size)
                    self.figures["files cut"] += 1
                    continue
                self.figures["pages lost"] += len(lost)
                for at in lost:
                    begin = 0 if how == "zero" else self.rng.choice((0, 512, 4096))
                    if self.rng.random() < 0.7:
                        f.seek(at + begin)
                        f.write(bytes(PAGE - begin))
                        if at + begin == 0:
                            self.headless.add(path)

    def process(self, title):
        """The process id of an auxiliary process; None: there is none, and need not be."""
        with open(os.path.join(self.data, "postmaster.pid"), encoding="utf-8") as f:
            postmaster = f.readline().strip()
        for name in os.listdir("/proc"):
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as f:
                    parent = f.read().rpartition(")")[2].split()[1]
                with open(f"/proc/{name}/cmdline", encoding="utf-8", errors="replace") as f:
                    if parent == postmaster and title in f.read():
                        return int(name)
            except (OSError, IndexError):
                pass
        if title == "upkeep":
            return None
        raise Failure(f"there is no {title}")

    def kill(self, sessions):
        """Kills something; says what."""
        what = self.rng.choices(("backend", "checkpointer", "walwriter", "upkeep", "stop"), (4, 2, 2, 3, 5))[0]
        number = 0 if self.only and self.rng.random() < 0.5 else self.rng.randrange(SESSIONS)
        text = f"{what} {self.doing[number]}" if what == "backend" else what
        if what == "stop":
            self.pg_ctl("-m", "immediate", "stop")
        else:
            pid = sessions[number].pid if what == "backend" else self.process(what)
            if pid is None:  # there is not always something to keep up
                text, what, pid = f"backend {self.doing[number]}", "backend", sessions[number].pid
            os.kill(pid, signal.SIGKILL)
        self.kills[what] += 1
        return text, what == "stop"

    def rows(self, sql):
        r = self.conn.query(sql)
        if r.error:
            raise Failure(f"{r.error}: {r.message} ({sql[:200]})")
        return r.rows

    # what must be there

    def orphans(self):
        """Main forks that no row of any catalog names.  Of no bytes: what a drop leaves to the next checkpoint."""
        sizes = {}
        for path in self.main_forks():
            try:
                sizes[path] = os.path.getsize(path)
            except FileNotFoundError:
                pass
        named = {path for (path,) in self.rows(
            "SELECT pg_relation_filepath(oid) FROM pg_class UNION ALL SELECT path FROM bucketfdw.files UNION ALL "
            "SELECT path FROM bucketfdw.garbage")}
        return {path: size for path, size in sizes.items() if size > 0 and path.partition(".")[0] not in named}

    def check(self):
        left = [r[0] for r in self.rows("SELECT gid FROM pg_prepared_xacts")]
        for gid in self.prepared:
            if (f"p{gid}" not in left) and gid not in self.ending:
                raise Failure(f"prepared transaction {gid} is gone")
        self.figures["prepared transactions over crashes"] += len(left)
        for gid in left:
            commit = self.rng.random() < 0.5
            self.rows(f"{'COMMIT' if commit else 'ROLLBACK'} PREPARED '{gid}'")
            self.ending.pop(int(gid[1:]), None)
            (self.committed if commit else self.undone).append(int(gid[1:]))

        # an end that was asked for and whose transaction is gone has happened
        for gid, commit in self.ending.items():
            (self.committed if commit else self.undone).append(gid)

        ids = {int(r[0]) for r in self.rows("SELECT DISTINCT id FROM journal")}
        lost = [i for i in self.committed if i not in ids]
        undead = [i for i in self.undone if i in ids]
        if lost or undead:
            raise Failure(f"committed, but not there: {lost}; undone, but there: {undead}")
        self.figures["confirmed transactions"] += len(self.committed)
        self.sound("after the restart")
        before = self.orphans()
        self.figures["orphans before cleanup"] += len(before)
        removed = int(self.rows("SELECT bucketfdw.cleanup()")[0][0])
        self.figures["files removed by cleanup"] += removed
        for _ in range(2):
            self.rows("CHECKPOINT")
        after = self.orphans()
        if set(after) - self.headless:
            # an id that the crash took back may have been given to the very transaction that swept
            self.figures["sweeps that had to be repeated"] += 1
            self.rows("SELECT bucketfdw.cleanup()")
            self.rows("CHECKPOINT")
            after = self.orphans()
        for path in self.headless.intersection(after):
            # its WAL was lost too, so nothing tells whose it was
            after.pop(path)
            os.unlink(path)
            self.figures["orphans that lost their first page"] += 1
        if after:
            raise Failure(f"orphans after cleanup: {after}; before: {before}")
        self.sound("after cleanup")

    def sound(self, when):
        defects = self.rows("SELECT * FROM bucketfdw.verify()")
        if defects:
            raise Failure(f"{when}: verify() says {defects[:5]}")
        for tab in range(TABLES):
            self.sizes[tab] = self.same(tab, when)

    def same(self, tab, when):
        """The table, its twin and the journal agree; how many rows there are."""
        sums = "count(*), coalesce(sum(k::bigint), 0), coalesce(sum(hashtext(v)::bigint), 0)"
        bucketed, heap = (self.rows(f"SELECT {sums} FROM {kind}_{tab}")[0] for kind in "bh")
        journal = self.rows(
            "SELECT coalesce(sum(n), 0), coalesce(sum(sum), 0) FROM journal j WHERE tab = %d AND place >= "
            "coalesce((SELECT max(place) FROM journal c WHERE c.tab = j.tab AND c.clears), 0)" % tab)[0]
        if bucketed != heap or bucketed[:2] != journal:
            raise Failure(f"{when}: table {tab}: bucketed {bucketed}, heap {heap}, journal {journal}")
        self.figures["rows compared"] += int(heap[0])
        return int(heap[0])

    def upkeep(self):
        """Keeps the heap tables and the journal small."""
        self.rows("DELETE FROM journal j WHERE EXISTS (SELECT FROM journal c WHERE c.tab = j.tab AND c.clears AND c.place > j.place)")
        for table in ["journal"] + [f"h_{tab}" for tab in range(TABLES)]:
            self.rows(f"VACUUM {table}")

    # the loop

    def round(self, number):
        self.new_round()
        self.quiet = self.rng.random() < 0.5  # no checkpoint but the server's own
        self.only = self.rng.choice((None, None, "cleanup", "compact", "rebucket", "change"))  # what one session does all the time
        self.known_files, self.known_redo = set(self.files()), self.redo()
        sessions = [Session(self, i, self.rng.getrandbits(64)) for i in range(SESSIONS)]
        for s in sessions:
            s.connect()
        for s in sessions:
            s.start()
        wait = self.rng.choice((0.1, 0.5, 1, 2, 3)) * (0.5 + self.rng.random())
        time.sleep(wait)
        for s in sessions:
            if s.failure:
                raise Failure(f"a session failed: {s.failure!r}")
        what, stopped = self.kill(sessions)
        print(f"{time.monotonic() - self.started:7.1f} s, kill {number}: {what} after {wait:.2f} s; sessions: {' '.join(self.doing)}",
              flush=True)
        for s in sessions:
            s.join(150)
            if s.is_alive():
                raise Failure(f"a session goes on after the kill: {self.doing[s.number]}")
            s.conn.close()
            if s.failure:
                raise Failure(f"a session failed: {s.failure!r}")
        if stopped:
            self.lose()
            if self.rng.random() < 0.3:
                self.start_and_stop()
            self.start()
        self.conn = Connection(DATABASE, wait=120)
        self.rows("SET bucketfdw.upkeep = off")  # files that it is about to name would be orphans
        self.check()
        if number % 5 == 0:
            self.upkeep()
        self.conn.close()

    def log_errors(self):
        """What the server itself should not have said."""
        bad = re.compile(r"PANIC: |TRAP: |terminated by signal (?!9:)|WARNING: ")
        usual = re.compile("terminating connection because of crash|skipping analyze|removing future two-phase state")
        with open(self.log, encoding="utf-8", errors="replace") as f:
            return [line.strip() for line in f if bad.search(line) and not usual.search(line)]

    def main(self):
        self.conn = Connection(DATABASE, wait=30)
        side = os.path.join(os.path.dirname(self.data), "side")
        os.mkdir(side)
        self.rows(f"CREATE TABLESPACE side LOCATION '{side}'")
        self.rows(SETUP)
        for tab in range(TABLES):
            self.rows(create(tab, self.rng))
            self.rows(f"CREATE TABLE h_{tab} (k int, v text)")
        self.minimal = False
        self.database = self.rows("SELECT oid FROM pg_database WHERE datname = current_database()")[0][0]
        self.conn.close()
        failure, number = None, 0
        try:
            for number in range(1, self.args.kills + 1):
                self.round(number)
            bad = self.log_errors()
            if bad:
                raise Failure("the server's log: " + "; ".join(bad[:10]))
            self.pg_ctl("-m", "fast", "stop")
            subprocess.run([os.path.join(self.bin, "pg_checksums"), "--check", "-D", self.data], timeout=300, check=True)
        except (Failure, ServerGone, OSError, subprocess.SubprocessError) as e:
            failure = e
            print(f"FAILED at kill {number}: {e!r}", flush=True)
        for what, counts in (("transactions", self.done), ("refused", self.refused), ("figures", self.figures)):
            print(f"{what}: " + ", ".join(f"{k} {v}" for k, v in sorted(counts.items())))
        print(f"seed {self.args.seed}: {sum(self.kills.values())} kills ({', '.join(f'{k} {v}' for k, v in sorted(self.kills.items()))}), "
              f"{sum(self.done.values())} transactions, {time.monotonic() - self.started:.0f} s: {'FAILED' if failure else 'all sound'}")
        return 1 if failure else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=None)
    args = parser.parse_args()
    if args.seed is None:
        args.seed = random.SystemRandom().randrange(1 << 31)
    print(f"seed {args.seed}", flush=True)
    return Run(args).main()


if __name__ == "__main__":
    sys.exit(main())
