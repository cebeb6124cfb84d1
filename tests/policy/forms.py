"""Policies outside of the library: the exported file, and SQL."""

import sqlite3
from contextlib import closing

import duckdb
import polars as pl

CONNECTION = duckdb.connect()


def module(policy):
    """Return the names of the exported file."""
    names = {"__name__": "exported"}
    exec(compile(policy.to_python(), "exported.py", "exec"), names)
    return names


def in_sql(policy, rows):
    """Return what DuckDB and SQLite make of rows."""
    frame = pl.DataFrame(rows, infer_schema_length=None)
    CONNECTION.register("rows_", frame.to_arrow())
    first = CONNECTION.execute(f"SELECT {policy.to_sql('duckdb')} FROM rows_").fetchall()
    with closing(sqlite3.connect(":memory:")) as lite:
        lite.execute(f"CREATE TABLE t ({', '.join(rows[0])})")
        marks = ", ".join("?" * len(rows[0]))
        lite.executemany(f"INSERT INTO t VALUES ({marks})", [tuple(row.values()) for row in rows])
        second = lite.execute(f"SELECT {policy.to_sql('sqlite')} FROM t").fetchall()
    return [[value for (value,) in first], [None if value is None else bool(value) for (value,) in second]]
