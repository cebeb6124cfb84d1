"""Inputs at the edges of what is understood: names of columns, few rows, unlabelled ones, plugins, scores of others."""

import sys
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

import abstain
from abstain import study
from tests.recorded import of_scores, rows_of, shown, tried
from tests.recorded.commands import all_of, files
from tests.recorded.sources import CONF, LOGITS, P1, PRED, SITE, TWO, WHO, N, P, Y, folder, read, refused

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


def scores_that_are_available():
    """Return which scores outputs and data to fit on allow, by what these lack."""
    train, _, test = of_scores._parts()
    parts = {name: getattr(train, name) for name in ("labels", "logits", "features", "passes", "head")}
    for lack in ("", *parts):
        kept = {name: value for name, value in parts.items() if name != lack and value is not None}
        if lack == "logits":
            kept.pop("head", None)
        made = tried(abstain.Outputs, **kept, unlabelled=lack == "labels")
        if not isinstance(made, str):
            yield lack, [abstain.scores.available(test, made), abstain.scores.available(made, train)]
    bare = abstain.Outputs(labels=Y, predictions=PRED, confidence=CONF)
    lost = abstain.Outputs(loss=(PRED != Y) * 1.0, confidence=CONF, scores={"a": CONF})
    yield "bare", [[abstain.scores.available(a, b) for a in (bare, lost)] for b in (bare, lost, train)]


def studies_of_columns():
    """Return a study of scores that are about predictions of their own, and its verdicts by set."""
    with folder():
        for (k, model), run in product(enumerate(("one", "two")), (1, 2)):
            for seed, name in enumerate(("validation", "test", "more")):
                rng = np.random.default_rng([3, k, run, seed])
                truth = np.random.default_rng([4, seed]).integers(0, 3, 90)
                own = {"a": rng.random(90), "b": rng.random(90)}
                said = np.where(rng.random(90) < 0.6 + 0.14 * k, truth, (truth + 1) % 3)
                given = {"confidence": rng.random(90) / 2 + (said == truth) / 2, "scores": own}
                given["score_predictions"] = {"a": (truth + (own["a"] > 0.7)) % 3}
                out = abstain.Outputs(labels=truth, predictions=said, **given)
                study.add_outputs("s", out, model=model, run=f"seed{run}", set=name, data="toy")
        results = study.evaluate("s", ["a", "b"], ["augrc", "risk", "accuracy"], workers=1)
        verdicts = [
            results.only(set=name, metric=metric).verdict
            for name in ("validation", "test", "more")
            for metric in ("augrc", "risk", "accuracy")
        ]
        nothing = study.evaluate("s", "knn", ["risk"], workers=1)
        verdicts += [nothing.sums.shape, nothing.numbers, nothing.headline(), len(nothing.said)]
        return [results.rows()[::3], verdicts, [each.value for each in results.means("risk")]]


def plugins():
    """Return what a file of somebody's own does that a command loads, and what is refused of such files."""
    sys.modules.pop("own_words", None)
    try:
        with folder():
            files()
            Path("own_words.py").write_text("print('loaded 17 words')\n")
            one = "evaluate a.csv --confidence conf --metrics risk"
            more = all_of(f"{one} --plugin own_words.py", f"{one} --plugin none.py", f"{one} --plugin no_module_here")
            Path("sub").mkdir()
            Path("sub/own_words.py").write_text("x = 1\n")
            return more | all_of(f"{one} --plugin own_words.py --json -", f"{one} --plugin sub/own_words.py")
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
