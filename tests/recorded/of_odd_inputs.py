"""Inputs at the edges of what is understood: names of columns, few rows, unlabelled ones, plugins, scores of others."""

import sys
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

import abstain
from tests.recorded import rows_of, shown, tried
from tests.recorded.commands import all_of, files
from tests.recorded.sources import CONF, LOGITS, P1, PRED, SITE, TWO, WHO, N, P, Y, read, refused

THREE = (P[:, 0], P[:, 1], P[:, 2])


def names_of_classes():
    """Return the readings of matrices whose columns are alike in part, and of labels that columns are called by."""
    words = np.array(["no", "yes"])[TWO]
    named = {
        f"{one} {two} {three}": {"y": Y, one: P[:, 0], two: P[:, 1], three: P[:, 2]}
        for one, two, three in (
            ("a1", "b2", "c3"), ("a", "b", "c7"), ("a9", "a10", "a11"), ("a01", "a02", "a03"), ("x.1", "x.2", "x"),
            ("p-1", "p-0", "p-2"), ("P0", "p1", "P2"), ("s1e1", "s1e2", "s1e3"), ("a_p", "b_p", "c_p"),
        )
    }  # fmt: skip
    for name, each in named.items():
        yield name, [read(each, probabilities=name.split()), read(each)]
    yield "two words", [read({"y": words, "no": 1 - P1, "yes": P1}), read({"y": words, "yes": P1, "no": 1 - P1})]
    yield "one word", [read({"y": words[TWO == 1], "yes": P1[TWO == 1]}), read({"y": words, "yes": P1})]
    yield "beside", [read({"y": words, "no": SITE, "yes": WHO, "conf": P1}), read({"y": words, "no": P1, "yes": P1})]
    half = {"y": Y, "p_0": P[:, 0], "p_1": P[:, 1], "p_2": P[:, 2], "q_0": CONF, "q_1": 1 - CONF}
    yield "two families", [read(half), read(half, probabilities="p_*"), read(half, probabilities="q_*")]
    for shift in (5e-4, 9e-4, 1.1e-3, 2e-3):
        yield f"nearly one {shift}", read({"y": Y, "probs": P + shift / 3})
    for k in (1, 2, 3):
        yield f"first {k} rows", [read({"y": Y[:k], "probs": P[:k]})]
        yield f"first {k} rows 2", [read({"y": Y[:k], "pred": PRED[:k], "conf": CONF[:k]})]
        yield f"first {k} rows 3", [read({"y": Y[:k], "logits": LOGITS[:k]})]


def evaluations_of_few_rows():
    """Return evaluations, comparisons and thresholds of one to six rows, as they are shown."""
    for n in range(1, 7):
        loss, score = np.arange(n) % 2 * 1.0, np.linspace(0.9, 0.3, n)
        for name, wrong in {"half": loss, "none": 0.0 * loss, "all": loss * 0.0 + 1.0, "graded": loss / 3.0}.items():
            made = tried(abstain.evaluate, loss=wrong, confidence=score, metrics=["augrc", "risk", "ece", "auroc_f"])
            yield f"{n} {name}", rows_of(made) if isinstance(made, str) else [shown(made)["sentences"], made.rows()]
        yield f"{n} compared", rows_of(tried(abstain.compare, loss, {"a": score, "b": score[::-1]}))
        chosen = tried(abstain.choose_threshold, loss, score, risk=0.4, delta=0.3)
        yield f"{n} chosen", chosen if isinstance(chosen, str) else [chosen.threshold, chosen.n_accepted]


def pools_without_labels():
    """Return evaluations of Outputs by a plan: of no label, of some, of losses, of metrics that it cannot give."""
    base = {"confidence": CONF, "ids": np.arange(N)}
    bare = abstain.Outputs(**base, unlabelled=True)
    plan = abstain.plan_labels(CONF, 20, ids=np.arange(N), seed=3)
    wrong = np.where(np.isin(np.arange(N), list(plan.planned)), (PRED != Y) * 1.0, np.nan)
    given = {"plan": plan, "metrics": ["risk", "augrc"]}
    found = [refused(abstain.evaluate, bare, **given), refused(abstain.evaluate, bare)]
    found += [refused(abstain.evaluate, loss=wrong, **base, **given)]
    found += [refused(abstain.evaluate, loss=(PRED != Y) * 1.0, **base, labelled="at random", metrics=["risk", "ece"])]
    for more in ({}, {"metrics": "all"}, {"metrics": "f1_auc"}, {"metrics": ["augrc", "auroc_f"]}):
        made = refused(abstain.evaluate, loss=wrong, **base, plan=plan, **more)
        found.append(made if isinstance(made, list) else [made.rows(), shown(made)["sentences"]])
    return [each if isinstance(each, list) else each.rows() for each in found]


def plugins():
    """Return what a file of somebody's own does that a command loads, and what is refused of such files."""
    sys.modules.pop("own_words", None)
    try:
        with files():
            Path("sub").mkdir()
            Path("own_words.py").write_text("print('loaded 17 words')\n")
            Path("sub/own_words.py").write_text("x = 1\n")
            return all_of("""
                evaluate a.csv --confidence conf --metrics risk --plugin : own_words.py | none.py | no_module_here
                | own_words.py --json - | sub/own_words.py""")
    finally:
        sys.modules.pop("own_words", None)


def matrices_in_scans():
    """Return evaluations of lazy frames that hold a matrix in one column, or numbers as text."""
    whole = pl.DataFrame({"y": Y, "probs": P.tolist(), "conf": CONF, "text": CONF.astype(str)})
    cases = [{"scores": ["msp"]}, {"probabilities": "probs", "scores": ["msp"]}, {"confidence": "conf"}]
    cases += [{"confidence": "text"}]
    for options, source in product(cases, (whole.lazy(), whole)):
        made = refused(abstain.evaluate, source, labels="y", metrics=["risk"], **options)
        yield made if isinstance(made, list) else made.rows()
