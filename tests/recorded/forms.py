"""Decisions of a policy in all its forms."""

import sqlite3
from contextlib import closing
from functools import cache

import duckdb
import polars as pl

from tests.recorded import tried

INF, NAN = float("inf"), float("nan")


@cache
def _database():
    return duckdb.connect()


def _exported(policy):
    names = {"__name__": "exported"}
    exec(compile(policy.to_python(), "exported.py", "exec"), names)
    return lambda row: list(names["decide"](row))


def _in_sql(policy, rows):
    """Return what DuckDB and SQLite make of rows."""
    _database().register("rows_", pl.DataFrame(rows, infer_schema_length=None, strict=False).to_arrow())
    one = _database().execute(f"SELECT {policy.to_sql('duckdb')} FROM rows_").fetchall()
    with closing(sqlite3.connect(":memory:")) as lite:
        lite.execute(f"CREATE TABLE t ({', '.join(rows[0])})")
        lite.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(rows[0]))})", [tuple(e.values()) for e in rows])
        two = lite.execute(f"SELECT {policy.to_sql('sqlite')} FROM t").fetchall()
    return [[value for (value,) in each] for each in (one, two)]


def forms(policy, rows, sql=None):
    """Return the decisions on each row in Python, in the exported file and in a frame, and those of SQL."""
    plain = tried(_exported, policy)
    each = [[tried(policy.decide, row), "none" if isinstance(plain, str) else tried(plain, row)] for row in rows]
    valid = [row for row, (one, _) in zip(rows, each, strict=True) if not isinstance(one, str)]
    frame = policy.decide(pl.DataFrame(valid, infer_schema_length=None, strict=False))
    columns = policy.first.columns
    lists = [] if isinstance(plain, str) else [tried(plain, [row.get(name) for name in columns]) for row in rows]
    alone = plain if isinstance(plain, str) else tried(plain, 0.4)
    return [each, [frame.codes, frame.score], tried(_in_sql, policy, sql or rows), lists, alone]
