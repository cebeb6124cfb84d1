"""Decisions of policies in every form, over a table of odd values; policies that are saved and loaded."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import polars as pl

import abstain
from abstain.policy import compute
from tests.recorded import tried
from tests.recorded.contents import chosen, easy, said, shortened, whole
from tests.recorded.forms import INF, NAN, forms

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
                every = [*forms(policy, rows), [each if isinstance(each, str) else each.codes for each in arrays]]
                yield f"{kind} {score} {temperature} {threshold}", [*every, lists]


@shortened()
def decisions_on_many_classes():
    """Return decisions on 30 and 31 classes, of which SQL writes out the margins of 30."""
    for many, score in product((30, 31), ("msp", "softmax_margin")):
        columns = [f"c{k}" for k in range(many)]
        matrix = np.random.default_rng(many).dirichlet(np.full(many, 0.2), 12)
        policy = _at(_policy({"score": score, "probabilities": columns}), 0.3)
        yield f"{many} {score}", forms(policy, [dict(zip(columns, map(float, row), strict=True)) for row in matrix])


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
        yield f"{score} {threshold}", [forms(made, [{"p": value} for value in values]), each]
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
        each += [
            tried(policy.decide, pl.DataFrame({"s": column})) for column in (["x", "0.9"], [0.9, None], [True, False])
        ]
        every = [*forms(policy, rows), whole(vars(arrays)), arrays.counts, whole(vars(audited)), each]
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
        yield [forms(policy, rows, text), vars(policy.decide(scores, groups=NAMES)), vars(policy.decide(rows))]
        yield [tried(policy.accept, scores, _text_of(NAMES)), said(repr(policy)), said(words)]
        yield [tried(policy.decide, 0.9, groups=name) for name in NAMES]
        yield [policy.decide(pd.Series(rows[0])), tried(policy.decide, pl.DataFrame(text).lazy())]
        yield [tried(policy.accept, 0.9, "a"), policy.accept(0.5, "a")]
        yield [tried(bool, policy.decide(scores[:n], groups=NAMES[:n])) for n in (1, 2)]


def _text_of(names):
    """Return names as text; those that are missing are called so."""
    return ["none" if name is None or name != name else str(name) for name in names]
