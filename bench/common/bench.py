"""What a part gets: options, report, sessions, DuckDB and the tables that several parts share."""
import os
import subprocess

from .peers import Duck, Session
from .report import Report
from .shop import Shop

WORK = os.environ["BFDW_WORK"]
SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Bench:
    def __init__(self, options, command):
        self.options, self.sessions, self.ducks = options, [], []
        self.admin = self.session("admin")
        self.admin.send("CREATE EXTENSION bucketfdw")
        # the library is there before a session sets its parameters
        self.admin.send("ALTER DATABASE postgres SET session_preload_libraries = 'bucketfdw'")
        self.admin.connect()
        version = self.admin.value("SELECT extversion FROM pg_extension WHERE extname = 'bucketfdw'")
        also = [f"bucketfdw {version}"]
        if not options.no_duckdb:
            import duckdb
            also.append(f"DuckDB {duckdb.__version__} with {options.threads} threads")
        settings = ", ".join(f"{name} {self.admin.value('SHOW ' + name)}" for name in
                             ("shared_buffers", "work_mem", "maintenance_work_mem", "lc_collate"))
        machine = (f"{os.environ['BFDW_MACHINE']}, {', '.join(also)}; jit {options.jit}, {settings}, "
                   f"{options.buckets} buckets, medians of {options.rounds} interleaved rounds, milliseconds")
        folder = options.out or os.path.join(os.environ["BFDW_TREE"], "bench", "out")
        self.report = Report(os.path.join(os.environ["BFDW_FOLDER"], folder), machine, command, options.rows >= 20_000_000)
        self.report.put(machine, command)
        self.shop_tables = None

    def session(self, label, schema="public", **settings):
        common = {"jit": self.options.jit}
        if self.options.smoke:
            common["bucketfdw.verify_order"] = "on"
        self.sessions.append(Session(label, schema, **common, **settings))
        return self.sessions[-1]

    def workers(self, label, schema, **settings):
        """The same session twice: by one process, and with two workers."""
        return [self.session(f"{label}, 1 process", schema, max_parallel_workers_per_gather=0, **settings),
                self.session(f"{label}, 2 workers", schema, max_parallel_workers_per_gather=2, **settings)]

    def duck(self, name):
        """[] when DuckDB is left out, so that a list of peers can have it added."""
        if self.options.no_duckdb:
            return []
        self.ducks.append(Duck(os.path.join(WORK, name + ".duckdb"), self.options.threads))
        return [self.ducks[-1]]

    def drop(self, peers):
        for peer in peers:
            peer.close()
            if isinstance(peer, Duck):
                self.ducks.remove(peer)
                os.remove(peer.path)
            else:
                self.sessions.remove(peer)

    def script(self, name, **variables):
        command = [os.path.join(os.environ["BFDW_PG"], "psql"), "-X", "-q", "-d", "postgres", "-v", "ON_ERROR_STOP=1"]
        for key, value in variables.items():
            command += ["-v", f"{key}={value}"]
        subprocess.run(command + ["-f", os.path.join(SOURCE, name)], check=True, stdout=subprocess.DEVNULL)

    def folder(self, name):
        """A folder of the work folder into which the server may write."""
        path = os.path.join(WORK, name)
        os.makedirs(path, exist_ok=True)
        os.chmod(path, 0o777)
        return path

    def restart(self):
        """Ends and starts the server; sessions are opened anew."""
        for session in self.sessions:
            session.close()
        control = [os.path.join(os.environ["BFDW_PG"], "pg_ctl"), "-D", os.environ["BFDW_DATA"], "-l", os.environ["BFDW_LOG"], "-w"]
        subprocess.run(["runuser", "-u", os.environ["BFDW_ACCOUNT"], "--"] + control + ["-m", "fast", "stop"], check=True,
                       stdout=subprocess.DEVNULL)
        return lambda: self.start(control)

    def start(self, control):
        subprocess.run(["runuser", "-u", os.environ["BFDW_ACCOUNT"], "--"] + control + ["start"], check=True,
                       stdout=subprocess.DEVNULL)
        for session in self.sessions:
            session.connect()

    def shop(self):
        """The orders and customers of --rows, made when a part first asks for them."""
        if self.shop_tables is None:
            self.shop_tables = Shop(self)
        return self.shop_tables

    def close(self):
        for session in self.sessions:
            session.close()
        for duck in self.ducks:
            duck.close()
