"""Policies with two scores, of models that abstain themselves, saved and loaded, read from files, applied to files."""

import json
import tempfile
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl

import abstain
from abstain import thresholds
from abstain.policy import SecondScore, load_policy, schema, score_reading
from tests.recorded import tried
from tests.recorded.contents import chosen, easy, said, shortened, whole
from tests.recorded.forms import INF, NAN, forms

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
        yield f"{uncertain} {limit}", [*forms(policy, [{"s": a, "t": b} for a, b in values]), each]
    for kind, second in product(("logits", "probabilities"), ("max_logit", "softmax_margin")):
        matrix = [[0.6, 0.3, 0.1], [0.4, 0.35, 0.25], [1.0, 0.0, 0.0]]
        matrix = matrix if kind == "probabilities" else [[3.0 * x + 1.0 for x in row] for row in matrix]
        pair = tried(SecondScore, second, {kind: ["x", "y", "z"]}, None, False, threshold=0.3)
        policy = FOUND.policy(score="msp", second=pair, **{kind: ["x", "y", "z"]})
        rows = [dict(zip("xyz", row, strict=True)) for row in matrix]
        if (kind, second) != ("probabilities", "max_logit"):
            yield f"{kind} {second}", [*forms(policy, rows), policy.decide(np.array(matrix)).codes]


@shortened()
def decisions_of_models_that_abstain():
    """Return decisions where a column says that the model itself abstained."""
    words = [True, False, "yes", "No", "1", "0.0", " T ", "", None, NAN, 1, 0, 1.0, 0.0, "maybe", "y"]
    policy = FOUND.policy(score="s", reading={"abstained": "said"})
    rows = [{"s": 0.9, "said": word} for word in words]
    text = [{"s": 0.9, "said": None if word is None or word != word else str(word)} for word in words]
    yield "one by one", [tried(policy.decide, row) for row in rows]
    yield "forms", forms(policy, text[:14])
    yield "given", [tried(policy.decide, 0.9, declined=each) for each in (True, False, "yes")]
    yield "given rows", [tried(policy.decide, {"s": 0.9}, declined=each) for each in (True, False, "yes", "odd")]
    yield "given many", policy.decide(np.array([0.9, 0.9, 0.1]), declined=np.array([True, False, True])).codes
    yield "without", [tried(policy.decide, {"s": 0.9}), FOUND.policy(score="s").decide(pd.Series({"s": 0.9}))]
    answered = FOUND.about_answered().policy(score="s", reading={"correct": "right"})
    said_so = [{"s": 0.9, "right": word} for word in ("yes", "no", "abstained", "", None, 1, 0)]
    yield "answered", [[tried(answered.decide, row) for row in said_so], answered.said_declined()]


def policies_that_are_saved():
    """Return policies that are saved, loaded, edited, checked, and exported."""
    found = {}
    grouped = abstain.choose_threshold(**chosen(P, "groups"), risk=0.2, delta=0.1)
    clustered = abstain.choose_threshold(**chosen(P, "clusters"), risk=0.3, delta=0.2, max_cluster=14)
    about = {"model": "m-1", "author": "x", "note": "of June"}
    policies = {"plain": FOUND.policy(score="s"), "about": CERTIFIED.policy(score="s", class_names=[0, 1], **about)}
    policies |= {"answered": CERTIFIED.about_answered().policy(score="s", reading={"correct": "right"})}
    policies |= {"groups": grouped.policy(score="s", group="g")}
    policies |= {"clusters": clustered.policy(score="s", reading={"clusters": "patient"})}
    policies |= {"computed": FOUND.policy(score="energy", logits=["a", "b"], temperature=1.5)}
    policies |= {"second": FOUND.policy(score="s", second=SecondScore("t", None, None, True, threshold=-INF))}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "policy.json"
        for name, policy in policies.items():
            policy.save(path)
            content = json.loads(path.read_text())
            if name == "groups":
                grouped.save(path, score="s", group="g")
            again = load_policy(path)
            found[name] = [
                whole(vars(policy), "sketch"),
                again == policy,
                list(content),
                said(str(policy).partition("Created")[0]),
                policy.row_policy,
            ]
            checks = [{"model": "m-1"}, {"class_names": ["0", "1"]}, {"class_names": [1, 0]}]
            checks += [{"columns": ["s", "g"]}, {"columns": ["b", "a"]}, {"temperature": 1.5}, {"temperature": 1.0}]
            found[name] += [[type(tried(policy.check, **each)).__name__ for each in checks]]
            given = [{}, {"loss": "l"}, {"labels": "y", "groups": None}, {"correct": "right"}]
            found[name] += [tried(policy.columns, **each) for each in given]
            for field, value in EDITS.items():
                path.write_text(json.dumps(content | {field: value}))
                edited = tried(load_policy, path, edited=True)
                kept = edited if isinstance(edited, str) else [edited.guarantee, len(edited.calibration)]
                found[name] += [[field, tried(load_policy, path) if field == "score" else 0, kept]]
    whole_one = {"risk": 0.1, "delta": 0.1, "max_loss": 1.0, "statement": "s"}
    for field, value in product(("risk", "delta", "max_loss"), ("x", 0.0, -1.0, True, 1.0, None)):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "policy.json"
            path.write_text(
                json.dumps(content | {"format": "abstain.policy/2", "guarantee": whole_one | {field: value}})
            )
            edited = tried(load_policy, path, edited=True)
            found[f"guarantee {field} {value}"] = edited if isinstance(edited, str) else "taken"
    found["authors"] = [type(tried(FOUND.policy, score="s", author=text)).__name__ for text in (3, " ", "", None, "x")]
    found["schema"] = sorted(schema()["properties"])
    return whole(found, "fingerprint", "bins", "sketch")


@shortened()
def policies_of_readings():
    """Return how the score of a file is read, with what a policy keeps of it."""
    n, labels, p = 6, [0, 1, 2, 0, 1, 2], easy(2, 6)["probabilities"][:, :3]
    p = p / p.sum(axis=1, keepdims=True)
    wrong = [0.0, 1.0, 0.0, 0.0, 1.0, 0.0]
    files = {
        "probabilities": {"labels": labels, "probabilities": p},
        "logits": {"labels": labels, "logits": np.log(p) * 2.0},
        "both": {"labels": labels, "logits": np.log(p), "probabilities": p, "confidence": p.max(axis=1)},
        "confidence": {"loss": wrong, "confidence": np.linspace(0.1, 0.9, n)},
        "uncertainty": {"loss": wrong, "uncertainty": np.linspace(0.1, 0.9, n)},
        "scores": {"loss": wrong, "score_a": np.linspace(0.1, 0.9, n), "score_b": np.linspace(0.9, 0.3, n)},
        "binary": {"labels": [0, 1, 1, 0, 1, 0], "positive_probability": np.linspace(0.1, 0.9, n)},
        "words": {"loss": wrong, "confidence": ["90%", "80%", "10%", "50%", "0%", "99%"]},
        "declines": {"correct": ["yes", "no", "abstained", "yes", "no", "yes"], "confidence": np.linspace(0.1, 0.9, n)},
        "patients": {"loss": wrong, "confidence": np.linspace(0.1, 0.9, n), "clusters": [1, 1, 2, 2, 3, 3]},
    }
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
    q = easy(9, 60, share=0.5)
    base = pl.DataFrame({"id": np.arange(60), "s": q["confidence"], "g": q["groups"]})
    odd = base.with_columns(pl.when(pl.col("id") % 7 == 0).then(None).otherwise(pl.col("s")).alias("s"))
    grouped = abstain.choose_threshold(P["loss"], P["confidence"], groups=P["groups"], coverage=0.5)
    certified = abstain.choose_threshold(**chosen(P), risk=0.2, delta=0.1)
    abstaining = FOUND.policy(score="s", reading={"abstained": "said"})
    two = replace(FOUND.policy(score="s"), second=SecondScore("t", None, None, True, threshold=-0.6))
    words = FOUND.policy(score="s", reading={"confidence_levels": ["%"]})
    matrix = pl.DataFrame({"id": np.arange(60), **{f"p{k}": q["probabilities"][:, k] for k in range(4)}})
    computed = FOUND.policy(score="softmax_margin", probabilities=["p0", "p1", "p2", "p3"])
    logits = FOUND.policy(score="energy", logits=["p0", "p1", "p2", "p3"], temperature=2.0)
    tasks = {"plain": (FOUND.policy(score="s"), base), "odd": (certified.policy(score="s"), odd)}
    tasks |= {"low": (FOUND.policy(score="s"), base.with_columns(pl.col("s") * 0.01 - 5.0))}
    tasks |= {"high": (FOUND.policy(score="s"), base.with_columns(pl.col("s") * 100.0 + 1.0))}
    tasks |= {"mostly high": (FOUND.policy(score="s"), base.with_columns(pl.col("s") * 100.0 * (pl.col("id") > 15)))}
    tasks |= {"half": (FOUND.policy(score="s"), base.with_columns(pl.col("s") - (pl.col("id") >= 30) * 9.0))}
    tasks |= {"few": (FOUND.policy(score="s"), base.head(19).with_columns(pl.col("s") * 100.0 + 1.0))}
    tasks |= {"uncertain": (FOUND.policy(score="s", reading={"uncertainty": "s"}), odd)}
    tasks |= {"groups": (grouped.policy(score="s", group="g"), odd.with_columns(g=pl.col("g").replace("a", "other")))}
    tasks |= {"abstaining": (abstaining, base.with_columns(said=pl.col("id") % 3 == 0))}
    tasks |= {"two": (two, odd.with_columns(t=pl.col("id") / 60.0))}
    tasks |= {"words": (words, base.with_columns(s=(pl.col("s") * 100).cast(pl.Int64).cast(pl.String) + "%"))}
    tasks |= {"classes": (computed, matrix), "logits": (logits, matrix * 5.0)}
    with tempfile.TemporaryDirectory() as folder:
        for (name, (policy, frame)), kind in product(tasks.items(), ("csv", "parquet", "jsonl")):
            source, out = Path(folder) / f"in.{kind}", Path(folder) / f"out.{kind}"
            getattr(frame, {"csv": "write_csv", "parquet": "write_parquet", "jsonl": "write_ndjson"}[kind])(source)
            draws = {"audit": 0.3, "ids": "id", "seed": 5} if name in ("plain", "groups") else {}
            done = thresholds.apply_policy(policy, source, out, **draws)
            read = {"csv": pl.read_csv, "parquet": pl.read_parquet, "jsonl": pl.read_ndjson}[kind](out)
            fresh = [each for each in read.columns if each not in frame.columns]
            marks = "".join("01"[bool(each)] for each in read["accepted"])
            drawn = [read[each].cast(pl.Float64).to_list() for each in fresh[1:]]
            notes = [said(each) for each in done.notes]
            yield f"{name} {kind}", [whole(done, "notes"), notes, int(marks, 2), drawn, fresh]
        yield from (_odd_files(Path(folder), base)).items()


def _odd_files(folder, base):
    """Return what becomes of columns of lists, decimal commas, objects, and columns that are missing or no numbers."""
    found = {}
    base.with_columns(more=pl.concat_list("s", "s")).write_parquet(folder / "lists.parquet")
    base.with_columns(more=pl.struct("s")).rename({"s": "t"}).write_ndjson(folder / "objects.jsonl")
    texts = {"comma": "id;s\n1;0,9\n2;0,1\n3;\n", "text": "id,s\n1,0.9\n2,high\n", "other": "id,t\n1,0.9\n"}
    for name, text in texts.items():
        (folder / f"{name}.csv").write_text(text)
    for path in sorted(each for each in folder.iterdir() if each.stem in (*texts, "lists", "objects")):
        policy = FOUND.policy(score="more.s" if path.stem == "objects" else "s")
        for kind in ("csv", "parquet"):
            found[f"{path.name} {kind}"] = tried(thresholds.apply_policy, policy, path, folder / f"decided.{kind}")
    return found
