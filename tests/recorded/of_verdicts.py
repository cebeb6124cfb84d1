"""What is right and wrong: verdicts, abstentions, costs, confidence in words; rows that an engine holds."""

from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

import abstain
from tests.recorded import sources
from tests.recorded.commands import rows, told
from tests.recorded.sources import CONF, LOGITS, NAMES, P1, PRED, SITE, TWO, WEIGHT, WHO, WRONG, N, P, Y, read

WORDS, SAID = NAMES[Y], NAMES[PRED]
CYCLE = np.arange(N)


def _verdicts(*words):
    return np.array(words, dtype=object)[(CYCLE * 7 + Y) % len(words)]


def verdicts_and_abstentions():
    """Return the readings of verdicts in many words, of missing ones, and of answers that are none."""
    sure = {"conf": CONF}
    holes = sure | {"conf": np.where(CYCLE % 5 == 2, np.nan, CONF), "score_x": np.where(CYCLE % 4 == 2, np.nan, CONF)}
    columns = {"words": _verdicts("correct", "wrong", "Partly correct", "abstained", "unparseable", "Yes", "FAILED.")}
    columns |= {"letters": _verdicts("C", "I", "P", "N"), "two letters": _verdicts("C", "I")}
    columns |= {"letters and no": _verdicts("C", "I", "no"), "truths": _verdicts(True, False, True)}
    columns |= {"numbers": _verdicts(1, 0, 0), "missing": _verdicts(1.0, 0.0, None, 1.0)}
    columns |= {"blank": _verdicts("right", "wrong", "", "refused", None), "graded": _verdicts(1.0, 0.5, 0.0)}
    columns |= {"none right": _verdicts("wrong", "no answer"), "nothing": _verdicts("refused", "idk")}
    columns |= {"unknown": _verdicts("right", "perhaps"), "text numbers": _verdicts("1", "0", "1.0", "0.0")}
    columns |= {"errors": _verdicts("right", "wrong", "error", "not graded")}
    more = {"sample_weight": WEIGHT, "clusters": WHO, "group_site": SITE, "y": WORDS, "pred": SAID}
    for column in columns.values():
        yield [read({**holes, "verdict": column, **more}, unscored=kind) for kind in (None, "wrong", "drop")]
    answers = [_verdicts("yes", "no", "no"), _verdicts(1, 0), _verdicts("I don't know.", "Paris", "no answer")]
    for each, should in product(answers, (_verdicts(0, 0, 1), _verdicts("t", "f", "n", None))):
        yield read({**sure, "verdict": columns["numbers"], "refused": each, "unanswerable": should})
    qualities = (CONF, _verdicts(0.25, 1.0, None), _verdicts(0.0, 1.0), 2 * CONF, CONF - 0.5)
    for kind, each in product((None, "wrong", "drop"), qualities):
        yield read({**holes, "quality": each, **more}, unscored=kind)
    losses = (_verdicts(0.0, 2.0, None), WRONG, _verdicts(0, -1))
    for kind, each, gone in product((None, "wrong", "drop"), losses, (None, TWO)):
        yield read({**holes, "loss": each, "refused": gone}, unscored=kind)
    texts = np.where(CYCLE % 6 == 1, "I do not know", SAID)
    judged, scored = {"correct": columns["numbers"], "conf": CONF}, {"y": WORDS, "pred": SAID, "conf": CONF}
    yield from [read(scored | {"pred": texts}), read(scored | {"refused": TWO}), read(judged | {"answer": texts})]
    yield read(scored | {"should_abstain": TWO, "refused": TWO == 0})
    yield read({"y": np.where(CYCLE % 6 == 2, "idk", WORDS), "pred": np.where(CYCLE % 6 < 2, "idk", SAID)})
    yield read({"y": WORDS, "pred": np.full(N, "refused")})
    yield read({"y": Y, "pred": PRED, "conf": CONF, "refused": _verdicts(1, 0, 2)})
    yield from [read(judged | {"answer": texts}, abstained="answer"), read(judged | {"response": SAID})]
    yield read(judged | {"quality": CONF})
    yield read({"y": Y, "probs": P, "refused": TWO, "passes": np.stack([P, P[::-1]]), "features": LOGITS})
    yield read({"correct": columns["numbers"], "refused": np.ones(N)})


def confidence_in_words():
    """Return the readings of confidence in words, per cent, shares and numbers as text."""
    kinds = {"low to high": _verdicts("low", "High", " very  high", "medium", None)}
    kinds |= {"moderate": _verdicts("low", "moderate"), "one word": _verdicts("low", "low")}
    kinds |= {"estimative": _verdicts("likely", "almost certain", "probably", "unlikely", "")}
    kinds |= {"felt": _verdicts("fairly confident", "confident", "not confident")}
    kinds |= {"per cent": _verdicts("90 %", "55%", "100 percent", "0%", None)}
    kinds |= {"shares": _verdicts("9/10", "5 out of 10", "3 / 4", "1/0")}
    kinds |= {"per cent and shares": _verdicts("9/10", "50%"), "numbers": _verdicts("0.9", ".5", "1e-2", "NA")}
    kinds |= {"numbers above 1": _verdicts("7", "9.5", "-1"), "per cent above": _verdicts("90 %", "110 %")}
    kinds |= {"commas": _verdicts("0,9", "0,5"), "per cent and words": _verdicts("90 %", "high")}
    kinds |= {"two scales": _verdicts("low", "likely"), "own": _verdicts("so so", "sure", "meh")}
    told = [None, ["%"], ["meh|so so", "sure"], ["low", "medium|moderate", "high", "very high"]]
    for name, column in kinds.items():
        yield name, [read({"correct": 1 - WRONG, "conf": column}, confidence_levels=levels) for levels in told]


def costs():
    """Return the readings of costs as text, as dicts and as tables."""
    columns = {"y": WORDS, "pred": SAID, "conf": CONF}
    given = ["ant=5,bee=2,cat=1", "ant=5,bee=2", "ant=5,bee=2,cat=1,ant:cat=7,cat:cat=0.5"]
    given += [["ant=5", "bee=2", "cat=1", ""], {"ant": 5, "bee": {"ant": 2, "cat": 3}, "cat": 0}]
    given += ["ant=5,bee=2,cat=1,dog=9", "ant=5,ant=6,bee=1,cat=1", "", "ant:bee=1,ant:bee=2", "ant", "=3"]
    given += ["ant=-1,bee=1,cat=1", {"ant": "x"}, 3, "none.csv", "t.csv", Path("t.csv"), "short.csv", "twice.csv"]
    given += ["semicolons.csv", "odd.csv", "ant=50,bee=20,cat=10,dog:ant=1,dog:bee=2", "a:b=1"]
    with sources.folder():
        table = "true,ant,bee,cat\nant,0,1,2\n\nbee,3,0.5,4\ncat,5,6,0\n"
        files = {"t.csv": table, "short.csv": "a,b\n1,2\n", "semicolons.csv": table.replace(",", ";")}
        files |= {"twice.csv": table.replace("bee,3", "ant,3"), "odd.csv": table.replace("4\n", "4,9\n")}
        for name, text in files.items():
            Path(name).write_text(text, encoding="utf-8-sig")
        yield from [read(columns, cost_matrix=each) for each in given]
        yield from [read({"y": Y, "probs": P}, cost_matrix=each) for each in ("0=5,1=2,2=1", "0=5", "0=5,1=2,2=1,3=1")]
        yield read({"y": Y, "pred": PRED, "loss": WRONG}, cost_matrix="0=5,1=2,2=1")
        yield read({"y": Y, "pred": PRED, "loss": WRONG}, cost_matrix="0=5,1=2,2=1", loss="loss")
        yield read({"y": Y, "probs": P, "passes": np.stack([P, P])}, cost_matrix="0=5,1=2,2=1")
        yield read({"y": Y, "probs": P, "score_x": CONF, "prediction_x": PRED}, cost_matrix="0=5,1=2,2=1")
        yield read({"conf": CONF}, cost_matrix="0=5", unlabelled=True)
        yield read({"correct": WRONG}, cost_matrix="0=5")
        colons = np.array(["a", "a:b", "b"])
        given = ("a=1,b=2,a:b=3,a:b:b=4,a:a:b=5", "a=1,a:b=2,b:a=3,b=1", "a:b:a:b=1")
        yield from [read({"y": colons[Y], "pred": colons[PRED]}, cost_matrix=each) for each in given]


def tasks():
    """Return the readings of measured numbers and of several labels in a row."""
    measured = {"y": 10 * CONF, "pred": 10 * P1, "std": 1 - CONF, "conf": CONF}
    several = {f"y_{name}": (LOGITS[:, k] > 0).astype(int) for k, name in enumerate(NAMES)}
    chances = {f"p_{name}": P[:, 2 - k] * 0.9 + 0.05 for k, name in enumerate(NAMES[::-1])}
    other = {f"q{k}": P[:, k] for k in range(3)}
    truth = np.stack(list(several.values()), axis=1)
    yield from [read(measured, task=task) for task in ("regression", "regression-absolute", "other", "multilabel")]
    for task in ("multilabel", "multilabel-exact"):
        yield read(several | chances, labels="y_*", predictions="p_*", task=task)
        yield read(several | chances, labels="y_*", probabilities="p_*", task=task)
        yield read(several | chances | {"conf": CONF}, labels="y_*", predictions="p_*", confidence="conf", task=task)
        yield read(several | other, labels="y_*", predictions="q*", task=task)
        yield read({"y": truth, "pred": np.roll(truth, 1, axis=0)}, task=task)
        yield from [read({"y": truth, "probabilities": P}, task=task), read({"y": truth, "pred": 2 * P}, task=task)]
        yield from [read({"y": truth + 0.5, "pred": P}, task=task), read({"y": truth, "pred": P[:, :2]}, task=task)]
        yield from [read({"y": truth, "pred": P, "is_ood": TWO}, task=task), read({"y": truth}, task=task)]
        yield read(several | {"pred": PRED}, labels="y_*", task=task)
    yield from [read(several | chances, labels="y_*", predictions="p_*"), read(several | chances)]
    yield read(measured, task="regression", cost_matrix="1=2")
    yield read(measured | {"loss": CONF}, task="regression")


FRAME = rows(40, 160).rename({"w": "sample_weight"})
FRAME = FRAME.with_columns(correct=1 - pl.col("wrong"), half=pl.col("wrong") / 2, entropy=1 - pl.col("conf"))
FRAME = FRAME.with_columns(prediction_vague="y")
PLAIN = FRAME.drop("id", "sample_weight", "vague", "prediction_vague", "day", "code", *(f"logit_{k}" for k in range(3)))
HOLES = PLAIN.with_columns(conf=pl.when(pl.int_range(pl.len()) % 9 == 4).then(None).otherwise("conf"))


def _evaluated(source, **options):
    metrics = {"metrics": ["augrc", "risk", "coverage_at_risk(risk=0.1)"], "level": None}
    found = sources.refused(abstain.evaluate, source, **(metrics | options))
    if isinstance(found, list):
        return found
    return [told(found.to_dict()), [[each.n, each.n_rejected, each.largest_tie] for each in found.summaries]]


def _lost(name, value):
    """Return rows of which one has another value, after those by which columns are understood."""
    late = pl.int_range(pl.len()) == 10_070
    many = pl.concat([PLAIN] * 63).with_columns(pl.when(late).then(pl.lit(value)).otherwise(name).alias(name))
    return many.with_columns(pl.col(name).cast(PLAIN.schema[name])).lazy()


def evaluations_in_a_scan():
    """Return evaluations of a lazy frame: losses of every kind, computed scores, groups, weights, clusters, holes."""
    weighted = FRAME.select("y", "yhat", "conf", "site", "sample_weight", "vague", "prediction_vague").lazy()
    lazy = PLAIN.lazy()
    bare = PLAIN.select("y", "p_0", "p_1", "p_2")
    words = PLAIN.select("name", "p_0", "p_1", "p_2", yhat=pl.Series(["ant", "bee", "cat"])[PLAIN["yhat"]])
    options = {"plain": {}, "groups": {"groups": "site"}, "clusters": {"clusters": "who"}}
    options |= {"two": {"scores": ["conf", "other"]}, "loss": {"loss": "half"}, "correct": {"correct": "correct"}}
    options |= {"uncertainty": {"uncertainty": "entropy"}, "level": {"level": 0.9, "clusters": "who"}}
    options |= {"group who": {"groups": ["site", "name"]}, "nothing": {"confidence": "no"}}
    options |= {"names": {"labels": "name", "predictions": "yhat"}, "features": {"features": "p_0"}}
    options |= {"number": {"loss": "name"}}
    for name, each in options.items():
        yield name, _evaluated(lazy, **each)
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
    yield "bad losses", [_evaluated(_lost(*each), loss="half") for each in bad]
    yield "bad verdicts", [_evaluated(_lost(*each), correct="correct") for each in (("correct", 2), ("correct", None))]
    odd = [("p_0", 0.9), ("p_1", -0.2), ("p_2", None), ("y", 7), ("y", None), ("p_0", 0.3501)]
    found = [_evaluated(_lost(*each).select("y", "p_0", "p_1", "p_2"), scores=["msp"]) for each in odd]
    yield "bad probabilities", found
    yield "lost groups", [_evaluated(_lost("site", None), groups="site")]
    yield "lost groups 2", [_evaluated(_lost("who", None), clusters="who")]
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
        for source, by, objective in product((table, PLAIN.lazy()), (None, "site"), objectives):
            given = {"frame": source, "loss": "wrong", "confidence": "conf", "groups": by, **objective}
            yield f"{type(source).__name__} {by} {objective}", sources.refused(abstain.choose_threshold, **given)
        several = ({}, {"clusters": "who"})
        found = [sources.refused(abstain.compare, PLAIN.lazy(), scores=["conf", "other"], **each) for each in several]
        yield "compared", found
        yield "arguments", [sources.refused(abstain.choose_threshold, PLAIN.lazy(), PLAIN["conf"], coverage=0.5)]
        yield "arguments 2", [sources.refused(abstain.choose_threshold, [0, 1], coverage=0.5)]
        yield "arguments 3", [sources.refused(abstain.choose_threshold, [0, 1], [0.1, 0.2], labels="y", coverage=0.5)]
