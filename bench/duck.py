"""DuckDB's part of bench/run.

duck.py load DATABASE CSV-FOLDER THREADS    makes orders and customers of orders.csv and customers.csv
duck.py run DATABASE QUERY-FILE THREADS     runs its queries once more than timed, and prints a line for each:
                                            number, tab, milliseconds, tab, the answer as psql -A -t prints it
"""
import os
import sys
import time

import duckdb

TABLES = {
    "orders": "order_id int, customer_id bigint, amount decimal(10,2), order_date date, status varchar",
    "customers": "customer_id bigint, country varchar, age int, score double",
}


def connect(path, threads):
    db = duckdb.connect(path)
    db.execute(f"set threads = {int(threads)}")
    return db


def load(path, folder, threads):
    db = connect(path, threads)
    for table, columns in TABLES.items():
        db.execute(f"create table {table} ({columns})")
        db.execute(f"copy {table} from '{os.path.join(folder, table)}.csv' (header false)")
    db.execute("checkpoint")
    db.close()


def text(value):
    # float8 as PostgreSQL prints it, to the digits that do not hang on the order of summing
    return "%.6g" % value if isinstance(value, float) else str(value)


def queries(path):
    with open(path) as file:
        return [line.strip() for line in file if line.startswith("select")]


def run(path, query_file, threads):
    db = connect(path, threads)
    for number, query in enumerate(queries(query_file)):
        db.execute(query).fetchall()
        start = time.perf_counter()
        rows = db.execute(query).fetchall()
        ms = (time.perf_counter() - start) * 1000
        answer = " ".join("|".join(text(value) for value in row) for row in rows)
        print(number, f"{ms:.3f}", answer, sep="\t")


if __name__ == "__main__":
    {"load": load, "run": run}[sys.argv[1]](*sys.argv[2:])
