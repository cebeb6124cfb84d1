"""Summaries of rows, files, frames and engines: bins, bounds and curves, merged, grouped, of two scores."""

import hashlib
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

from abstain.summaries import GroupedSummary, JointSummary, Key, Summary, read_summary, sql, summarize, summarize_joint
from tests.recorded import shown, tried
from tests.recorded.populations import rows
from tests.recorded.sources import folder, refused

KEYS = [(scale, bits) for scale in ("probability", "real") for bits in (8, 11, 16)]
#: Metrics of what a threshold accepts.
BY = ("selective_risk", "generalized_risk", "selective_accuracy")
FEW = ("augrc", "aurc", "risk", "coverage_at_risk(risk=0.2)", "selective_risk(coverage=0.7)")


def _bins(summary):
    return {name: column.sum() if len(column) > 40 else column for name, column in summary.columns().items()}


def keys_of_scores():
    """Return the bins of scores at the ends, on the edges and between them."""
    scores = np.array([1.0, 1 - 2.0**-53, 1 - 2.0**-30, 0.99999, 0.96875, 0.75, 0.5, 0.4999, 0.25, 1e-9, 0.0, -np.inf])
    powers = [2.0**k for k in (33, 32, 31, -32, -33)]
    real = np.array([np.inf, *powers, 3.0, 1.0, 0.0, -(2.0**-33), -0.5, -(2.0**33), -np.inf])
    yield from [(f"{scale}/{bits}", Key(scale, bits).of(scores if scale[0] == "p" else real)) for scale, bits in KEYS]
    yield "sizes", [[Key(scale, bits).bins, Key(scale, bits).steps, Key(scale, bits).orders] for scale, bits in KEYS]
    yield "bad", [refused(Key, *each) for each in (("real", 7), ("real", 21), ("other", 16), ("real", 8.5))]
    yield "named", [refused(Key.named, name) for name in ("real/9", "real", "other/9", "probability/x")]
    texts = [sql(Key(scale, bits), confidence='a"b', loss="l", groups=by) for scale, bits in KEYS for by in (None, "g")]
    yield "sql", [hashlib.sha256(text.encode()).hexdigest()[:16] for text in texts]


def bounds_of_metrics():
    """Return results, curves and bins, with ties and without, of 0/1 and graded losses, on both scales."""
    for seed, options in enumerate(({}, {"steps": 6}, {"graded": True}, {"steps": 4, "graded": True})):
        p = rows(seed, 60, **options)
        for scale, bits in KEYS[:-1]:
            one, key = Summary(scale, bits).update(p["loss"], p["confidence"]), f"{options} {scale} {bits}"
            yield key, [one.result(None if bits == 8 else FEW), one.n_bins, one.binary, _bins(one)]
            if bits == 8:
                yield f"{key} curve", one.curve()
    one = Summary().update([0.0, 0.5], [0.7, 0.7])
    yield "one bin", [shown(one.result()), one.curve(), one.n, str(one).split()]
    yield "all right", Summary().update([0] * 5, np.linspace(0, 1, 5)).result()
    wrong = Summary("real", 8).update([2] * 5, np.linspace(-9, 9, 5))
    yield "all wrong", [wrong.result(), wrong.curve()]


def rows_that_are_taken():
    """Return what is left of bad columns, of NaN, of parts that are merged and of none."""
    p, nothing = rows(5, 40), Summary("real", 9)
    holes = np.where(np.arange(40) % 7 == 2, np.nan, p["confidence"])
    bad = [([0.0], [np.nan]), ([-1.0], [0.5]), ([0.0], [1.5]), ([0.0], [-0.5]), ([0, 1], [0.5]), ([np.inf], [0.5])]
    bad += [([], [])]
    yield "bad", [refused(lambda *each: Summary().update(*each).n, *each) for each in bad]
    for scale, policy in product(("probability", "real"), ("raise", "other")):
        yield f"{scale} {policy}", refused(Summary(scale).update, p["loss"], holes, nan_policy=policy)
    rejected = Summary("probability", 8).update(p["loss"], holes, nan_policy="reject")
    yield "rejected", [shown(rejected.result()), _bins(rejected), rejected.curve()]
    parts = [Summary("probability", 8).update(p["loss"][k::3], p["confidence"][k::3]) for k in range(3)]
    merged = parts[0].merge(*parts[1:])
    yield "merged", [_bins(merged), merged.n, parts[0].n, merged.result(FEW)]
    yield "apart", [refused(nothing.merge, other) for other in (Summary("real", 8), Summary(bits=9), JointSummary(), 3)]
    unscored = Summary("real", 8).update([0.0, 1.0], [-np.inf, -np.inf])
    several = ("aurc", "coverage_at_risk(risk=0.6)", "selective_risk(threshold=0)")
    yield "unscored", [refused(unscored.bounds, each) for each in several]
    yield "none", [refused(nothing.result), refused(nothing.bounds, "aurc"), nothing.n, nothing.n_bins]
    metrics = ("ece", "cwsa", *(f"{name}(threshold={at})" for name in BY for at in (0.05, 0.41, 0.5, 0.77, 2, -1)))
    metrics += ("nothing", "aurc(own)", "selective_risk(coverage=0.3)", "trust", "auroc_f")
    yield "metrics", [refused(merged.bounds, metric) for metric in metrics]


def summaries_of_groups():
    """Return grouped summaries by words and numbers, merged, and what is refused."""
    p = rows(6, 60, steps=7)
    for name, groups in {"words": p["groups"], "numbers": p["labels"], "truths": p["labels"] > 1}.items():
        one = GroupedSummary(name, "real", 9).update(p["loss"][:40], p["confidence"][:40], groups[:40])
        both = one.merge(GroupedSummary(name, "real", 9).update(p["loss"][40:], p["confidence"][40:], groups[40:]))
        yield name, [shown(both.result(FEW[:3])), both.n, list(both.parts), both.whole.n, str(both).split(), one.n]
        yield f"{name} usual", shown(both.result())
    words = GroupedSummary("g", bits=8).update([0, 1], [0.5, 0.6], ["a", "b"])
    bad = ([1, 2], ["a"], ["a", None], [np.nan, 1.0])
    yield "bad", [refused(words.update, [0, 1], [0.5, 0.6], each) for each in bad]
    yield "no name", [refused(GroupedSummary, ""), refused(GroupedSummary("g", bits=8).result)]
    yield "others", [refused(words.merge, each) for each in (Summary(), GroupedSummary("h", bits=8))]
    many = np.arange(1001)
    found = refused(GroupedSummary("g", bits=8).update, many * 0, many / 2000, many)
    yield "sizes", [words.n, words.update([], [], []).n, found]


def summaries_of_two_scores():
    """Return joint summaries, merged and weighted, and what is refused."""
    for seed, steps in ((7, 0), (8, 5)):
        p, q = rows(seed, 50, steps=steps), rows(seed + 10, 30, steps=steps)
        for bits in (8, 10):
            one = JointSummary(bits=bits).update(p["loss"], id_confidence=p["confidence"], id_detector=p["other"])
            two = JointSummary(bits=bits).update(ood_confidence=q["other"] * 0.8, ood_detector=q["confidence"] - 0.2)
            both = one.merge(two)
            yield f"{seed} {bits}", [refused(both.result, prevalence=share) for share in (None, 0.0, 0.9, 1.0)]
            yield f"{seed} {bits} shown", [shown(both.result(prevalence=0.25)), one.result(), refused(two.result)]
            yield f"{seed} {bits} few", [refused(one.result, prevalence=0.2), both.n_id, both.n_ood, both.n]
            yield f"{seed} {bits} bins", [both.n_cells, str(both).split(), _bins(both)]
            for name in ("ds_f1", "ds_aurc", "ds_augrc", "ds_x"):
                yield f"{seed} {bits} {name}", refused(both.bounds, name)
    empty = JointSummary("real", "probability", 9)
    known = {"id_loss": [1], "id_confidence": [0.5], "id_detector": [0.5]}
    unknown = {"ood_confidence": [0.5], "ood_detector": [0.5]}
    bad = [known | each for each in ({"id_loss": [0.5]}, {"id_loss": [1, 0]}, {"id_detector": [1.5]})]
    bad += [unknown | each for each in ({"ood_confidence": [np.nan]}, {"ood_confidence": [0.5, 1.0]})]
    bad += [unknown | {"ood_detector": [-0.5]}, known | {"id_loss": [0], "id_confidence": [-np.inf]}, {}]
    yield "bad", [refused(lambda **each: empty.update(**each).n, **each) for each in bad]
    yield "bits", [*(refused(JointSummary, bits=bits) for bits in (7, 13)), refused(empty.merge, JointSummary(bits=9))]


def summaries_of_sources():
    """Return summaries of files, patterns, frames and engines, and of what was saved."""
    import duckdb

    p = rows(9, 60, steps=8)
    frame = pl.DataFrame({"c": p["confidence"], "e": p["loss"], "d": p["other"], "g": p["groups"], "y": p["labels"]})
    frame = frame.with_columns(z=pl.Series((p["labels"] + p["loss"].astype(int)) % 4), w=pl.col("e") > 0)
    holes = frame.with_columns(c=pl.when(pl.int_range(pl.len()) % 9 == 4).then(None).otherwise("c"))
    lost = frame.with_columns(g=pl.when(pl.int_range(pl.len()) % 9 == 4).then(None).otherwise("g"))
    told, by = {"confidence": "c", "loss": "e", "bits": 8}, {"groups": "g"}
    with folder():
        for name, part in {"a": frame[:25], "b": frame[25:], "holes": holes, "lost": lost}.items():
            part.write_parquet(f"{name}.parquet")
            part.write_csv(f"{name}.csv")
        frame.write_csv("all.tsv", separator="\t")
        Path("damaged.parquet").write_bytes(Path("a.parquet").read_bytes()[:300])
        sources = {"pattern": "[ab].parquet", "list": ["a.csv", "b.parquet"], "tsv": "all.tsv", "lazy": frame.lazy()}
        sources |= {"pandas": frame.to_pandas(), "duckdb": duckdb.sql("SELECT * FROM 'a.parquet'")}
        sources |= {"arrow": frame.to_arrow()}
        for name, source in sources.items():
            yield name, [_bins(summarize(source, **told)), summarize(source, **told, **by).result(["augrc", "aurc"])]
        bad = {"none": "no.parquet", "json": "a.json", "twice": ["a.csv", "*.csv"], "damaged": "damaged.parquet"}
        bad |= {"number": 3, "holes": "holes.csv", "also": holes, "lost": "lost.parquet"}
        for (name, source), more in product(bad.items(), ({}, by)):
            yield f"{name} {more}", refused(lambda **each: summarize(**each).n, source=source, **told, **more)
        other = [{"loss": "w"}, {"loss": "g"}, {"loss": "x"}, {"labels": "y", "predictions": "z"}, {"labels": "y"}, {}]
        for each in other:
            found = refused(lambda **each: _bins(summarize("[ab].parquet", **each)), confidence="c", bits=8, **each)
            yield f"columns {each}", found
        yield "reject", [_bins(summarize(source, **told, nan_policy="reject")) for source in (holes, "holes.csv")]
        yield "drop", refused(summarize, holes, **told, nan_policy="drop")
        two = summarize_joint("a.parquet", ["b.csv"], confidence="c", detector="d", loss="e", bits=8)
        bad = refused(summarize_joint, frame, confidence="c", detector="g", loss="e")
        judged = summarize_joint(frame, confidence="c", detector="d", labels="y", predictions="z")
        yield "joint", [_bins(two), two.result(), bad, judged.n_cells]
        kept = {"whole": summarize(frame, **told), "parts": summarize(frame, **told, **by), "two": two}
        for name, summary in kept.items():
            summary.save(f"{name}.parquet")
            back = read_summary(f"{name}.parquet")
            yield f"saved {name}", [back.n, back.result(), tried(summary.save, "a.csv")]
            table = back.frame()
            n = next(each for each in ("n", "n_right") if each in table.columns)
            edits = [pl.col(n) + 1, pl.col("bin") + 1, pl.col(n) + 0.5, pl.lit("x/9").alias("key"), pl.col(n) * -1]
            edits += [pl.lit("x").alias("format"), (pl.col("highest") + 1).alias("lowest")]
            tables = [table.with_columns(each) for each in edits]
            for k, edit in enumerate([*tables, pl.concat([table, table[:1]]), table.drop(n), table[:3], table.clear()]):
                edit.write_parquet("edit.parquet")
                yield f"edit {name} {k}", refused(lambda: str(read_summary("edit.parquet")).split())
        several = ("no.parquet", "a.csv", "a.parquet", "damaged.parquet")
        yield "no file", [refused(read_summary, name) for name in several]
