"""Summaries of files, patterns, frames and engines, and of what was saved."""

from pathlib import Path

import polars as pl

from abstain.summaries import read_summary, summarize, summarize_joint
from tests.recorded import tried
from tests.recorded.populations import rows
from tests.recorded.sources import folder, refused


def _bins(summary):
    return {name: column.sum() if len(column) > 40 else column for name, column in summary.columns().items()}


def summaries_of_sources():
    """Return summaries of files, patterns, frames and engines, and of what was saved."""
    import duckdb

    p = rows(9, 60, steps=8)
    frame = pl.DataFrame({"c": p["confidence"], "e": p["loss"], "d": p["other"], "g": p["groups"], "y": p["labels"]})
    frame = frame.with_columns(z=pl.Series((p["labels"] + p["loss"].astype(int)) % 4), w=pl.col("e") > 0)
    holes = frame.with_columns(c=pl.when(pl.int_range(pl.len()) % 9 == 4).then(None).otherwise("c"))
    lost = frame.with_columns(g=pl.when(pl.int_range(pl.len()) % 9 == 4).then(None).otherwise("g"))
    told = {"confidence": "c", "loss": "e", "bits": 8}
    by = {"groups": "g"}
    with folder():
        for name, part in {"a": frame[:25], "b": frame[25:], "holes": holes, "lost": lost}.items():
            part.write_parquet(f"{name}.parquet")
            part.write_csv(f"{name}.csv")
        frame.write_csv("all.tsv", separator="\t")
        Path("damaged.parquet").write_bytes(Path("a.parquet").read_bytes()[:300])
        sources = {"pattern": "[ab].parquet", "list": ["a.csv", "b.parquet"], "tsv": "all.tsv", "lazy": frame.lazy()}
        sources |= {
            "pandas": frame.to_pandas(),
            "duckdb": duckdb.sql("SELECT * FROM 'a.parquet'"),
            "arrow": frame.to_arrow(),
        }
        found = {}
        for name, source in sources.items():
            found[name] = [_bins(summarize(source, **told)), summarize(source, **told, **by).result(["augrc", "aurc"])]
        bad = {
            "none": "no.parquet",
            "json": "a.json",
            "twice": ["a.csv", "*.csv"],
            "damaged": "damaged.parquet",
            "number": 3,
        }
        bad |= {"holes": "holes.csv", "also": holes, "lost": "lost.parquet"}
        for name, source in bad.items():
            found[name] = [
                refused(lambda **each: summarize(**each).n, source=source, **told, **more) for more in ({}, by)
            ]
        other = [{"loss": "w"}, {"loss": "g"}, {"loss": "x"}, {"labels": "y", "predictions": "z"}, {"labels": "y"}, {}]
        found["columns"] = [
            refused(lambda **each: _bins(summarize("[ab].parquet", **each)), confidence="c", bits=8, **each)
            for each in other
        ]
        found["reject"] = [_bins(summarize(source, **told, nan_policy="reject")) for source in (holes, "holes.csv")]
        found["reject"] += [refused(summarize, holes, **told, nan_policy="drop")]
        two = summarize_joint("a.parquet", ["b.csv"], confidence="c", detector="d", loss="e", bits=8)
        found["joint"] = [
            _bins(two),
            two.result(),
            refused(summarize_joint, frame, confidence="c", detector="g", loss="e"),
        ]
        found["joint"] += [summarize_joint(frame, confidence="c", detector="d", labels="y", predictions="z").n_cells]
        whole, parts = summarize(frame, **told), summarize(frame, **told, **by)
        kept = {"whole": whole, "parts": parts, "two": two}
        for name, summary in kept.items():
            summary.save(f"{name}.parquet")
            back = read_summary(f"{name}.parquet")
            found[f"saved {name}"] = [back.n, back.result(), tried(summary.save, "a.csv")]
            table = back.frame()
            n = next(each for each in ("n", "n_right") if each in table.columns)
            edits = [
                table.with_columns(pl.col(n) + 1),
                pl.concat([table, table[:1]]),
                table.drop(n),
                table.with_columns(pl.col("bin") + 1),
            ]
            edits += [
                table.with_columns(pl.col(n) + 0.5),
                table.with_columns(key=pl.lit("x/9")),
                table.with_columns(format=pl.lit("x")),
            ]
            edits += [
                table[:3],
                table.with_columns(lowest=pl.col("highest") + 1),
                table.with_columns(pl.col(n) * -1),
                table.clear(),
            ]
            for k, edit in enumerate(edits):
                edit.write_parquet("edit.parquet")
                found[f"edit {name} {k}"] = refused(lambda: str(read_summary("edit.parquet")).split())
        found["no file"] = [
            refused(read_summary, name) for name in ("no.parquet", "a.csv", "a.parquet", "damaged.parquet")
        ]
    return found
