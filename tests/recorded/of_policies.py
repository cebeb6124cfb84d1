"""Decisions of policies in every form; policies with two scores, saved, loaded, read from files, applied to files."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl

import abstain
from abstain import thresholds
from abstain.policy import SecondScore, compute, load_policy, schema, score_reading
from tests.recorded import tried
from tests.recorded.contents import chosen, easy, said, shortened, whole
from tests.recorded.sources import folder

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


def _forms(policy, rows, sql=None):
    """Return the decisions on each row in Python, in the exported file and in a frame, and those of SQL."""
    plain = tried(_exported, policy)
    each = [[tried(policy.decide, row), "none" if isinstance(plain, str) else tried(plain, row)] for row in rows]
    valid = [row for row, (one, _) in zip(rows, each, strict=True) if not isinstance(one, str)]
    frame = policy.decide(pl.DataFrame(valid, infer_schema_length=None, strict=False))
    columns = policy.first.columns
    lists = [] if isinstance(plain, str) else [tried(plain, [row.get(name) for name in columns]) for row in rows]
    alone = plain if isinstance(plain, str) else tried(plain, 0.4)
    return [each, [frame.codes, frame.score], tried(_in_sql, policy, sql or rows), lists, alone]


SCORES = {"logits": ("msp", "softmax_margin", "max_logit", "logit_margin", "neg_entropy", "energy"),
          "probabilities": ("msp", "softmax_margin", "neg_entropy", "gini")}  # fmt: skip
#: Rows of classes that are odd: ties, signed zeros, sums near one, missing and infinite values, logits far apart.
ODD = {
    "logits": [[1.0, 2.0, 0.5], [0.0, -0.0, 0.0], [2.0, 2.0, -1.0], [800.0, 0.0, -800.0], [NAN, 1.0, 2.0],
               [INF, 1.0, 2.0], [-INF, 1.0, 2.0], [-690.5, 0.0, -689.5], [-5.0, -6.0, -7.0], [0.2, 0.3, 0.6],
               [1.5, 700.0, 699.0], [1e-9, 2e-9, -1e-9], [None, 0.0, 1.0], [30.0, -3.0, 29.999999],
               [0.0, 0.4, 0.6], [1.0, 0.0, 0.0]],
    "probabilities": [[0.5, 0.3, 0.2], [1.0, 0.0, 0.0], [0.0, -0.0, 1.0], [0.3333, 0.3333, 0.3334], [0.4, 0.4, 0.2],
                      [0.5009, 0.3, 0.2], [0.4991, 0.3, 0.2], [0.5002, 0.5, -0.0002], [NAN, 0.5, 0.5],
                      [INF, 0.0, 0.0], [None, 0.5, 0.5], [0.9999, 0.0001, 0.0], [1.0004, 0.0, -0.0004],
                      [0.5, 0.501, -0.001], [1.001, -0.0005, -0.0005], [1.001, 0.0, 0.0], [0.999, 0.0, 0.0]],
}  # fmt: skip
COLUMN = [0.9, 0.5, 0.31, 0.3, 0.0, -0.0, -1.0, NAN, INF, -INF, None, 0.7]
NAMES = ["a", "b", "c", "True", True, None, "d", 1, 1.0, NAN, "TRUE", "a"]


def _policy(columns, **options):
    return abstain.choose_threshold(**chosen(easy(1, 300, share=0.5)), coverage=0.6).policy(**columns, **options)


def _at(policy, threshold):
    """Return the policy with another threshold."""
    return replace(policy, thresholds=dict.fromkeys(policy.thresholds, threshold))


@shortened()
def scores_that_a_policy_computes():
    """Return the scores of odd rows, together and one by one, by temperature; a single number is of two classes."""
    for kind, scores in SCORES.items():
        for score, temperature in product(scores, (None, 0.5, 2.5)):
            rows = [[NAN if each is None else each for each in row] for row in ODD[kind]]
            several = np.array([row for row in rows if kind == "logits" or np.nan_to_num(row[0]) <= 1.0])
            name = f"{kind} {score} {temperature}"
            yield name, [tried(compute, score, kind, [row], temperature) for row in rows]
            yield f"{name} all", tried(compute, score, kind, several, temperature)
            if kind == "probabilities":
                alone = [[0.25], [0.5], [0.1234567], [1.0], [0.0], [NAN], [1.0009], [-0.0009], [0.3]]
                yield f"{name} alone", tried(compute, score, kind, alone, temperature)
            many = easy(3, 900)["probabilities"] if kind == "probabilities" else easy(3, 900)["probabilities"] * 9.0
            values = tried(compute, score, kind, many, temperature)
            yield f"{name} many", values if isinstance(values, str) else [values[:9], values.sum(), values @ values]


@shortened()
def decisions_on_classes():
    """Return decisions by scores that are computed, in all forms and at several thresholds."""
    columns = ["x", "y", "z"]
    for kind, scores in SCORES.items():
        rows = [dict(zip(columns, row, strict=True)) for row in ODD[kind]]
        for score, temperature in product(scores[:4], (None, 1.7) if kind == "logits" else (None,)):
            made = tried(_policy, {"score": score, kind: columns, "temperature": temperature})
            for threshold in (0.2, 0.5) if not isinstance(made, str) else ():
                policy = _at(made, threshold)
                arrays = [tried(policy.decide, np.array([row], dtype=float)) for row in ODD[kind]]
                lists = [tried(policy.decide, row) for row in ODD[kind]]
                every = [*_forms(policy, rows), [each if isinstance(each, str) else each.codes for each in arrays]]
                yield f"{kind} {score} {temperature} {threshold}", [*every, lists]


@shortened()
def decisions_on_many_classes():
    """Return decisions on 30 and 31 classes, of which SQL writes out the margins of 30."""
    for many, score in product((30, 31), ("msp", "softmax_margin")):
        columns = [f"c{k}" for k in range(many)]
        matrix = np.random.default_rng(many).dirichlet(np.full(many, 0.2), 12)
        policy = _at(_policy({"score": score, "probabilities": columns}), 0.3)
        yield f"{many} {score}", _forms(policy, [dict(zip(columns, map(float, row), strict=True)) for row in matrix])


@shortened()
def decisions_on_one_probability():
    """Return decisions by the probability of the second of two classes, and of lists in one column."""
    values = [0.2, 0.8, 0.35, 0.65, 0.5, 0.123456789012, 0.1234567890123, 1.0, 0.0, NAN, None, 1.0005, -0.0005, 0.3]
    for score, threshold in product(("msp", "softmax_margin"), (0.65, 0.3, 0.7, 0.0, 0.876543210988)):
        made = _at(_policy({"score": score, "probabilities": "p", "class_names": ["no", "yes"]}), threshold)
        pairs = [{"p": None if each is None else [1.0 - each, each]} for each in values]
        some = np.array([[each] for each in values if each is not None])
        listed = pl.DataFrame({"p": [row["p"] for row in pairs if row["p"] is None or row["p"][1] == row["p"][1]]})
        each = [tried(made.decide, some), [tried(made.decide, value) for value in values], made.decide(listed).score]
        each += [tried(made.decide, np.array(row)) for row in ([0.3], [0.3, 0.7], [[0.3, 0.7]], [[0.2, 0.3, 0.5]])]
        yield f"{score} {threshold}", [_forms(made, [{"p": value} for value in values]), each]
        yield f"{score} {threshold} lists", [tried(made.decide, row) for row in pairs]


@shortened()
def decisions_on_a_column():
    """Return decisions on a column of scores, or of uncertainties, with thresholds that accept none or all."""
    rows = [{"s": value} for value in COLUMN]
    numbers = np.array([NAN if value is None else value for value in COLUMN])
    for reading, threshold in product(({}, {"uncertainty": "s"}), (0.3, 0.0, -0.3, INF, -INF)):
        policy = _at(_policy({"score": "s", "reading": reading}), threshold)
        arrays = policy.decide(numbers)
        audited = policy.decide(numbers, ids=np.arange(len(numbers)) + 7.0, audit=0.4, seed="k")
        each = [tried(policy.decide, value) for value in COLUMN]
        one = policy.decide(0.31, ids="a", audit=0.5, seed=2)
        each += [policy.decide(0.31).action, policy.decide(np.float32(0.31)), one.drawn, one.label_probability]
        frames = [pl.DataFrame({"s": column}) for column in (["x", "0.9"], [0.9, None], [True, False])]
        each += [tried(policy.decide, frame) for frame in frames]
        every = [*_forms(policy, rows), whole(vars(arrays)), arrays.counts, whole(vars(audited)), each]
        yield f"{reading} {threshold}", [*every, policy.accept(numbers), said(repr(policy))]
        yield f"{reading} {threshold} 2", [said(str(policy).partition("Created")[0])]
    for levels in (["%"], ["no", "not sure|unsure", "sure"]):
        policy = _at(_policy({"score": "s", "reading": {"confidence_levels": levels}}), 0.6)
        words = ["90%", "9/10", " 3 out of 5", "60 percent", "0.6", 0.59, "Sure", "not  SURE", "unsure", 2, 4, None, ""]
        words += [float("nan"), True, "1/0", "120%", "12,5%", "0 per cent", 1.0, 0.0, "hardly"]
        yield str(levels), [[tried(policy.decide, {"s": each}), tried(policy.decide, each)] for each in words]
        yield f"{levels} all", [tried(policy.accept, words[:5]), tried(policy.accept, words[6:9])]


@shortened()
def decisions_by_group():
    """Return decisions with a threshold for each group, some of which have none or are unknown."""
    p, groups = easy(4, 400, share=0.5), np.array(["a", "b", "true", "1"])[np.arange(400) % 4]
    loss = np.where(groups == "b", 1.0, p["loss"])
    for options in ({"coverage": 0.5}, {"risk": 0.3, "delta": 0.2}, {"cost": (3.0, 0.4)}):
        made = abstain.choose_threshold(loss, p["confidence"], groups=groups, **options)
        policy = made.policy(score="s", group="g", model="m", author="x", note='n \\x """')
        rows = [{"s": 0.95 - 0.06 * k, "g": name} for k, name in enumerate(NAMES)]
        text = [{"s": row["s"], "g": None if row["g"] in (None, NAN) else str(row["g"])} for row in rows]
        scores, words = np.array([row["s"] for row in rows]), str(policy).partition("Created")[0]
        yield [_forms(policy, rows, text), vars(policy.decide(scores, groups=NAMES)), vars(policy.decide(rows))]
        yield [tried(policy.accept, scores, _text_of(NAMES)), said(repr(policy)), said(words)]
        yield [tried(policy.decide, 0.9, groups=name) for name in NAMES]
        yield [policy.decide(pd.Series(rows[0])), tried(policy.decide, pl.DataFrame(text).lazy())]
        yield [tried(policy.accept, 0.9, "a"), policy.accept(0.5, "a")]
        yield [tried(bool, policy.decide(scores[:n], groups=NAMES[:n])) for n in (1, 2)]


def _text_of(names):
    """Return names as text; those that are missing are called so."""
    return ["none" if name is None or name != name else str(name) for name in names]


P = easy(1, 300, share=0.5)
FOUND = abstain.choose_threshold(**chosen(P), coverage=0.6)
CERTIFIED = abstain.choose_threshold(**chosen(P), risk=0.2, delta=0.1)

#: Fields of a saved policy, and what somebody wrote there.
EDITS = {
    "thresholds": {"": "inf"}, "temperature": 2, "score": "", "classes": [1], "group": 3, "inputs": {},
    "guarantee": {"risk": 1}, "second": {}, "about": {"a": 1}, "reading": {"loss": ""}, "calibration": {"n": 0},
    "objective": None, "score ": "s",
}  # fmt: skip


@shortened()
def decisions_on_two_scores():
    """Return decisions where a second score must reach a threshold, too, as a column or computed."""
    values = [(0.9, 0.9), (0.9, 0.1), (0.1, 0.9), (0.1, 0.1), (NAN, 0.9), (0.9, NAN), (None, None), (INF, 0.3)]
    values += [(0.9, -0.3)]
    for uncertain, limit in product((False, True), (0.3, -0.3, -INF)):
        policy = FOUND.policy(score="s", second=SecondScore("t", None, None, uncertain, threshold=limit))
        first, other = (np.array([NAN if e[k] is None else e[k] for e in values], dtype=float) for k in (0, 1))
        one, both = policy.as_one(first, other)
        each = [policy.decide(first, second=other).codes, tried(policy.decide, first), tried(policy.decide, 0.9), both]
        each += [one.decide(both).codes]
        each += [tried(policy.decide, 0.9, second=0.3), said(repr(policy.of_second()))]
        yield f"{uncertain} {limit}", [*_forms(policy, [{"s": a, "t": b} for a, b in values]), each]
    for kind, second in product(("logits", "probabilities"), ("max_logit", "softmax_margin")):
        matrix = [[0.6, 0.3, 0.1], [0.4, 0.35, 0.25], [1.0, 0.0, 0.0]]
        matrix = matrix if kind == "probabilities" else [[3.0 * x + 1.0 for x in row] for row in matrix]
        pair = tried(SecondScore, second, {kind: ["x", "y", "z"]}, None, False, threshold=0.3)
        policy = FOUND.policy(score="msp", second=pair, **{kind: ["x", "y", "z"]})
        rows = [dict(zip("xyz", row, strict=True)) for row in matrix]
        if (kind, second) != ("probabilities", "max_logit"):
            yield f"{kind} {second}", [*_forms(policy, rows), policy.decide(np.array(matrix)).codes]


@shortened()
def decisions_of_models_that_abstain():
    """Return decisions where a column says that the model itself abstained."""
    words = [True, False, "yes", "No", "1", "0.0", " T ", "", None, NAN, 1, 0, 1.0, 0.0, "maybe", "y"]
    policy = FOUND.policy(score="s", reading={"abstained": "said"})
    rows = [{"s": 0.9, "said": word} for word in words]
    text = [{"s": 0.9, "said": None if word is None or word != word else str(word)} for word in words]
    yield "one by one", [tried(policy.decide, row) for row in rows]
    yield "forms", _forms(policy, text[:14])
    yield "given", [tried(policy.decide, 0.9, declined=each) for each in (True, False, "yes")]
    yield "given rows", [tried(policy.decide, {"s": 0.9}, declined=each) for each in (True, False, "yes", "odd")]
    yield "given many", policy.decide(np.array([0.9, 0.9, 0.1]), declined=np.array([True, False, True])).codes
    yield "without", [tried(policy.decide, {"s": 0.9}), FOUND.policy(score="s").decide(pd.Series({"s": 0.9}))]
    answered = FOUND.about_answered().policy(score="s", reading={"correct": "right"})
    said_so = [{"s": 0.9, "right": word} for word in ("yes", "no", "abstained", "", None, 1, 0)]
    yield "answered", [[tried(answered.decide, row) for row in said_so], answered.said_declined()]


@shortened("fingerprint", "bins", "sketch")
def policies_that_are_saved():
    """Return policies that are saved, loaded, edited, checked, and exported."""
    grouped = abstain.choose_threshold(**chosen(P, "groups"), risk=0.2, delta=0.1)
    clustered = abstain.choose_threshold(**chosen(P, "clusters"), risk=0.3, delta=0.2, max_cluster=14)
    about = {"model": "m-1", "author": "x", "note": "of June"}
    policies = [FOUND.policy(score="s"), CERTIFIED.policy(score="s", class_names=[0, 1], **about)]
    policies += [CERTIFIED.about_answered().policy(score="s", reading={"correct": "right"})]
    policies += [grouped.policy(score="s", group="g"), clustered.policy(score="s", reading={"clusters": "patient"})]
    policies += [FOUND.policy(score="energy", logits=["a", "b"], temperature=1.5)]
    policies += [FOUND.policy(score="s", second=SecondScore("t", None, None, True, threshold=-INF))]
    checks = [{"model": "m-1"}, {"class_names": ["0", "1"]}, {"class_names": [1, 0]}, {"temperature": 1.0}]
    checks += [{"columns": ["s", "g"]}, {"columns": ["b", "a"]}, {"temperature": 1.5}]
    whole_one = {"risk": 0.1, "delta": 0.1, "max_loss": 1.0, "statement": "s"}
    with folder():
        path = Path("policy.json")
        for policy in policies:
            policy.save(path)
            content = json.loads(path.read_text())
            if policy.group:
                grouped.save(path, score="s", group="g")
            words = said(str(policy).partition("Created")[0])
            yield [whole(vars(policy), "sketch"), load_policy(path) == policy, list(content), words, policy.row_policy]
            yield [type(tried(policy.check, **each)).__name__ for each in checks]
            given = [{}, {"loss": "l"}, {"labels": "y", "groups": None}, {"correct": "right"}]
            yield [tried(policy.columns, **each) for each in given]
            for field, value in EDITS.items():
                path.write_text(json.dumps(content | {field: value}))
                edited = tried(load_policy, path, edited=True)
                kept = edited if isinstance(edited, str) else [edited.guarantee, len(edited.calibration)]
                yield [field, tried(load_policy, path) if field == "score" else 0, kept]
        for field, value in product(("risk", "delta", "max_loss"), ("x", 0.0, -1.0, True, 1.0, None)):
            more = {"format": "abstain.policy/2", "guarantee": whole_one | {field: value}}
            path.write_text(json.dumps(content | more))
            edited = tried(load_policy, path, edited=True)
            yield edited if isinstance(edited, str) else "taken"
    yield [type(tried(FOUND.policy, score="s", author=text)).__name__ for text in (3, " ", "", None, "x")]
    yield sorted(schema()["properties"])


@shortened()
def policies_of_readings():
    """Return how the score of a file is read, with what a policy keeps of it."""
    labels, p = [0, 1, 2, 0, 1, 2], easy(2, 6)["probabilities"][:, :3]
    p = p / p.sum(axis=1, keepdims=True)
    wrong, line, words = {"loss": [0.0, 1.0, 0.0, 0.0, 1.0, 0.0]}, np.linspace(0.1, 0.9, 6), ["yes", "no", "abstained"]
    files = {"probabilities": {"labels": labels, "probabilities": p}, "confidence": wrong | {"confidence": line}}
    files |= {"logits": {"labels": labels, "logits": np.log(p) * 2.0}, "uncertainty": wrong | {"uncertainty": line}}
    files |= {"both": {"labels": labels, "logits": np.log(p), "probabilities": p, "confidence": p.max(axis=1)}}
    files |= {"scores": wrong | {"score_a": line, "score_b": np.linspace(0.9, 0.3, 6)}}
    files |= {"binary": {"labels": [0, 1, 1, 0, 1, 0], "positive_probability": line}}
    files |= {"words": wrong | {"confidence": ["90%", "80%", "10%", "50%", "0%", "99%"]}}
    files |= {"declines": {"correct": [*words, *words[:2], "yes"], "confidence": line}}
    files |= {"patients": wrong | {"confidence": line, "clusters": [1, 1, 2, 2, 3, 3]}}
    for (name, columns), score, temperature in product(files.items(), (None, "msp", "energy", "a"), (None, 2.0)):
        outputs = tried(abstain.read_outputs, pl.DataFrame(_listed(columns)))
        how = outputs if isinstance(outputs, str) else tried(score_reading, outputs, score, temperature)
        made = how if isinstance(how, str) else [vars(how), tried(how.confidence, outputs), how.arguments()]
        yield f"{name} {score} {temperature}", made
    frame = pl.DataFrame(_listed(files["probabilities"])).with_columns(said=pl.Series([True, False] * 3), w=1.0)
    given = {"costs": {"cost_matrix": ["1=2", "2=5"]}, "names": {"class_names": list("abc")}}
    given |= {"abstaining": {"abstained": "said"}, "groups": {"groups": "said"}, "weights": {"sample_weight": "w"}}
    given |= {"columns": {"labels": "labels", "probabilities": ["prob_0", "prob_1", "prob_2"]}}
    for name, more in given.items():
        outputs = tried(abstain.read_outputs, frame, **more)
        yield name, outputs if isinstance(outputs, str) else [vars(score_reading(outputs)), outputs.reading.given]


def _listed(columns):
    """Return columns for a frame; those of classes are one by one."""
    found = {}
    for name, values in columns.items():
        if np.ndim(values) == 2:
            short = {"logits": "logit", "probabilities": "prob"}[name]
            found |= {f"{short}_{k}": values[:, k] for k in range(values.shape[1])}
        else:
            found[name] = values
    return found


@shortened()
def files_that_are_decided():
    """Return files that a policy decided, their counts and what is said of them."""
    q, row, s = easy(9, 60, share=0.5), pl.col("id"), pl.col("s")
    base = pl.DataFrame({"id": np.arange(60), "s": q["confidence"], "g": q["groups"]})
    odd = base.with_columns(pl.when(row % 7 == 0).then(None).otherwise(s).alias("s"))
    grouped = abstain.choose_threshold(**chosen(P, "groups"), coverage=0.5).policy(score="s", group="g")
    plain, names = FOUND.policy(score="s"), ["p0", "p1", "p2", "p3"]
    matrix = pl.DataFrame({"id": np.arange(60), **dict(zip(names, q["probabilities"].T, strict=True))})
    tasks = {"plain": (plain, base), "odd": (CERTIFIED.policy(score="s"), odd)}
    tasks |= {"groups": (grouped, odd.with_columns(g=pl.col("g").replace("a", "other")))}
    changed = [(60, s * 0.01 - 5.0), (60, s * 100.0 + 1.0), (60, s * 100.0 * (row > 15)), (60, s - (row >= 30) * 9.0)]
    changed += [(19, s * 100.0 + 1.0)]
    tasks |= {f"changed {k}": (plain, base.head(n).with_columns(each)) for k, (n, each) in enumerate(changed)}
    tasks |= {"uncertain": (FOUND.policy(score="s", reading={"uncertainty": "s"}), odd)}
    abstaining = FOUND.policy(score="s", reading={"abstained": "said"})
    tasks |= {"abstaining": (abstaining, base.with_columns(said=row % 3 == 0))}
    two = replace(plain, second=SecondScore("t", None, None, True, threshold=-0.6))
    tasks |= {"two": (two, odd.with_columns(t=row / 60.0))}
    words = FOUND.policy(score="s", reading={"confidence_levels": ["%"]})
    tasks |= {"words": (words, base.with_columns(s=(s * 100).cast(pl.Int64).cast(pl.String) + "%"))}
    tasks |= {"classes": (FOUND.policy(score="softmax_margin", probabilities=names), matrix)}
    tasks |= {"logits": (FOUND.policy(score="energy", logits=names, temperature=2.0), matrix * 5.0)}
    kinds = {"csv": ("write_csv", pl.read_csv), "parquet": ("write_parquet", pl.read_parquet)}
    kinds |= {"jsonl": ("write_ndjson", pl.read_ndjson)}
    with folder() as here:
        for (name, (policy, frame)), (kind, (write, read)) in product(tasks.items(), kinds.items()):
            if kind != "csv" and name not in ("odd", "groups"):
                continue
            source, out = here / f"in.{kind}", here / f"out.{kind}"
            getattr(frame, write)(source)
            draws = {"audit": 0.3, "ids": "id", "seed": 5} if name in ("plain", "groups") else {}
            done = thresholds.apply_policy(policy, source, out, **draws)
            fresh = [each for each in read(out).columns if each not in frame.columns]
            marks = "".join("01"[bool(each)] for each in read(out)["accepted"])
            drawn = [read(out)[each].cast(pl.Float64).to_list() for each in fresh[1:]]
            yield [whole(done, "notes"), [said(each) for each in done.notes], int(marks, 2), drawn, fresh]


@shortened()
def files_that_are_odd():
    """Return what becomes of columns of lists, decimal commas, objects, and columns that are missing or no numbers."""
    q = easy(9, 60, share=0.5)
    base = pl.DataFrame({"id": np.arange(60), "s": q["confidence"], "g": q["groups"]})
    texts = {"comma": "id;s\n1;0,9\n2;0,1\n3;\n", "text": "id,s\n1,0.9\n2,high\n", "other": "id,t\n1,0.9\n"}
    texts["long"] = "s,g\n0.9,a\n0.5,b,c\n"
    with folder() as here:
        base.with_columns(more=pl.concat_list("s", "s")).write_parquet("lists.parquet")
        base.with_columns(more=pl.struct("s")).rename({"s": "t"}).write_ndjson("objects.jsonl")
        base.write_csv("tabs.tsv", separator="\t")
        np.savez("arrays.npz", s=q["confidence"], matrix=np.zeros((60, 2)), class_names=["a", "b"])
        Path("rows.json").write_text(base.write_json())
        for name, text in texts.items():
            (here / f"{name}.csv").write_text(text)
        for path, kind in product(sorted(here.iterdir()), ("csv", "parquet")):
            policy = FOUND.policy(score="more.s" if path.stem == "objects" else "s")
            yield f"{path.name} {kind}", tried(thresholds.apply_policy, policy, path, here / f"decided.{kind}")
