"""Evaluations of rows that an engine holds, and of files."""

from itertools import product
from pathlib import Path

import polars as pl

import abstain
from tests.recorded import sources
from tests.recorded.commands import rows, told

FRAME = rows(40, 160).rename({"w": "sample_weight"})
FRAME = FRAME.with_columns(correct=1 - pl.col("wrong"), half=pl.col("wrong") / 2, entropy=1 - pl.col("conf"))
FRAME = FRAME.with_columns(prediction_vague="y")
PLAIN = FRAME.drop("id", "sample_weight", "vague", "prediction_vague", "day", "code", *(f"logit_{k}" for k in range(3)))
HOLES = PLAIN.with_columns(conf=pl.when(pl.int_range(pl.len()) % 9 == 4).then(None).otherwise("conf"))
SAID = ("yhat", "conf")


def _evaluated(source, **options):
    metrics = {"metrics": ["augrc", "risk", "coverage_at_risk(risk=0.1)"], "level": None}
    found = sources.refused(abstain.evaluate, source, **(metrics | options))
    if isinstance(found, list):
        return found
    return [told(found.to_dict()), [[each.n, each.n_rejected, each.largest_tie] for each in found.summaries]]


def _lost(name, value, *more):
    """Return rows of which one has another value, after those by which columns are understood."""
    late, plain = pl.int_range(pl.len()) == 10_070, PLAIN.select(*{name: 0, "y": 0} | dict.fromkeys(more))
    many = pl.concat([plain] * 63).with_columns(pl.when(late).then(pl.lit(value)).otherwise(name).alias(name))
    return many.with_columns(pl.col(name).cast(PLAIN.schema[name])).lazy()


def evaluations_in_a_scan():
    """Return evaluations of a lazy frame: losses of every kind, computed scores, groups, weights, clusters, holes."""
    weighted = FRAME.select("y", "yhat", "conf", "site", "sample_weight", "vague", "prediction_vague").lazy()
    lazy, bare = PLAIN.lazy(), PLAIN.select("y", "p_0", "p_1", "p_2")
    words = PLAIN.select("name", "p_0", "p_1", "p_2", yhat=pl.Series(["ant", "bee", "cat"])[PLAIN["yhat"]])
    options = {"plain": {}, "groups": {"groups": "site"}, "clusters": {"clusters": "who"}}
    options |= {"two": {"scores": ["conf", "other"]}, "loss": {"loss": "half"}, "correct": {"correct": "correct"}}
    options |= {"uncertainty": {"uncertainty": "entropy"}, "level": {"level": 0.9, "clusters": "who"}}
    options |= {"group who": {"groups": ["site", "name"]}, "nothing": {"confidence": "no"}}
    options |= {"names": {"labels": "name", "predictions": "yhat"}, "features": {"features": "p_0"}}
    options |= {"number": {"loss": "name"}}
    yield from [(name, _evaluated(lazy, **each)) for name, each in options.items()]
    for score in ("msp", "softmax_margin", "neg_entropy", "neg_gini", "energy"):
        yield f"computed {score}", [_evaluated(bare.lazy(), labels="y", scores=[score])]
        yield f"computed {score} 2", [_evaluated(lazy, scores=[score])]
    yield "weighted", [_evaluated(weighted), _evaluated(weighted, scores=["vague", "conf"])]
    given = {"labels": "name", "probabilities": "p_*"}
    for names in (["ant", "bee", "cat"], ["a", "b", "c"], None):
        yield f"class names {names}", _evaluated(words.lazy(), class_names=names, **given)
    yield "words", _evaluated(words.lazy(), predictions="yhat", class_names=["ant", "bee", "cat"], **given)
    kinds = [pl.col("yhat").cast(float), pl.col("y", "yhat").cast(str), pl.col("name").cast(pl.Categorical).alias("y")]
    yield "kinds", [_evaluated(PLAIN.lazy().with_columns(each)) for each in kinds]
    yield "holes", [_evaluated(HOLES.lazy(), nan_policy=each) for each in ("raise", "reject", "drop")]
    bad = [("half", -1.0), ("half", float("nan")), ("half", None), ("half", float("inf")), ("half", 1e300)]
    yield "bad losses", [_evaluated(_lost(*each, *SAID), loss="half") for each in bad]
    yield "bad verdicts", [_evaluated(_lost("correct", each, *SAID), correct="correct") for each in (2, None)]
    odd = [("p_0", 0.9), ("p_1", -0.2), ("p_2", None), ("y", 7), ("y", None), ("p_0", 0.3501)]
    yield "bad probabilities", [_evaluated(_lost(*each, "p_0", "p_1", "p_2"), scores=["msp"]) for each in odd]
    yield "lost groups", [_evaluated(_lost("site", None, *SAID), groups="site")]
    yield "lost groups 2", [_evaluated(_lost("who", None, *SAID), clusters="who")]
    yield "none", [_evaluated(lazy.filter(pl.col("conf") > 2)), _evaluated(PLAIN[:1].lazy())]


def engines_and_files():
    """Return evaluations of DuckDB and of files in parts, partitioned, empty and unlike."""
    import duckdb

    with sources.folder():
        for k, site in product(range(3), ("1", "02")):
            (place := Path(f"parts/day={k}/site={site}")).mkdir(parents=True)
            PLAIN.drop("site")[40 * k : 40 * k + 20 + 5 * len(site)].write_parquet(place / "a.parquet")
        PLAIN[:70].write_parquet("one.parquet")
        PLAIN[70:].with_columns(pl.col("who").cast(pl.Int16)).write_parquet("two.parquet")
        PLAIN[:0].write_parquet("zero.parquet")
        Path("other.txt").write_text("x")
        table = duckdb.sql("SELECT * FROM 'one.parquet'")
        for name, options in {"plain": {}, "groups": {"groups": "site"}, "two": {"scores": ["conf", "other"]}}.items():
            yield f"duckdb {name}", _evaluated(table, **options)
            yield f"files {name}", _evaluated("*o*.parquet", **options)
        Path("odd/k=x=y").mkdir(parents=True)
        PLAIN[:40].write_parquet("odd/k=x=y/a.parquet")
        yield "sign in a value", _evaluated("odd", groups="k")
        yield "partitions", [_evaluated("parts", groups=each) for each in (["day"], ["site"], ["day", "site"], ["no"])]
        Path("bad1.parquet").write_bytes(Path("one.parquet").read_bytes()[:400])
        yield "damaged", [_evaluated(each) for each in ("bad*.parquet", "[bo]*.parquet")]
        yield "refused", [_evaluated(each) for each in ("none*.parquet", "o*", "*.txt", "parts/day=0", ".")]
        yield "interval", _evaluated(duckdb.sql("SELECT *, INTERVAL 1 DAY AS gap FROM 'one.parquet'"), groups="gap")
        objectives = ({"coverage": 0.6}, {"risk": 0.2, "delta": 0.1}, {"cost": (5, 1)})
        for (source, by), objective in product(((table, None), (PLAIN.lazy(), "site")), objectives):
            given = {"frame": source, "loss": "wrong", "confidence": "conf", "groups": by, **objective}
            yield f"{type(source).__name__} {by} {objective}", sources.refused(abstain.choose_threshold, **given)
        several = ({}, {"clusters": "who"})
        found = [sources.refused(abstain.compare, PLAIN.lazy(), scores=["conf", "other"], **each) for each in several]
        yield "compared", found
        yield "arguments", [sources.refused(abstain.choose_threshold, PLAIN.lazy(), PLAIN["conf"], coverage=0.5)]
        yield "arguments 2", [sources.refused(abstain.choose_threshold, [0, 1], coverage=0.5)]
        yield "arguments 3", [sources.refused(abstain.choose_threshold, [0, 1], [0.1, 0.2], labels="y", coverage=0.5)]
