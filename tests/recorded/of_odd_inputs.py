"""Inputs at the edges of what is understood, and what is refused, with the numbers that the messages name."""

import sys
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

import abstain
from abstain import inference
from tests.recorded import rows_of, shown, tried
from tests.recorded.commands import all_of, files
from tests.recorded.contents import refusal
from tests.recorded.sources import CONF, LOGITS, P1, PRED, SITE, TWO, WHO, N, P, Y, read, refused


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
    yield from [(name, [read(each, probabilities=name.split()), read(each)]) for name, each in named.items()]
    yield "two words", [read({"y": words, "no": 1 - P1, "yes": P1}), read({"y": words, "yes": P1, "no": 1 - P1})]
    yield "one word", [read({"y": words[TWO == 1], "yes": P1[TWO == 1]}), read({"y": words, "yes": P1})]
    yield "beside", [read({"y": words, "no": SITE, "yes": WHO, "conf": P1}), read({"y": words, "no": P1, "yes": P1})]
    half = {"y": Y, "p_0": P[:, 0], "p_1": P[:, 1], "p_2": P[:, 2], "q_0": CONF, "q_1": 1 - CONF}
    yield "two families", [read(half), read(half, probabilities="p_*"), read(half, probabilities="q_*")]
    yield "nearly one", [read({"y": Y, "probs": P + shift / 3}) for shift in (9e-4, 1.1e-3)]
    for k, held in product((1, 2, 3), ({"probs": P}, {"pred": PRED, "conf": CONF}, {"logits": LOGITS})):
        yield f"first {k} rows of {list(held)}", read({name: each[:k] for name, each in ({"y": Y} | held).items()})


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
    bare, plan = abstain.Outputs(**base, unlabelled=True), abstain.plan_labels(CONF, 20, ids=np.arange(N), seed=3)
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


def _by_options(call, values, *several):
    return [refusal(call, *values, **options) for options in several]


def _by_values(call, *several):
    return [refusal(call, *values) for values in several]


def refusals_of_metrics():
    """Return what is refused of columns and options, and the numbers that the message names."""
    loss, score = [0.0, 1.0, 0.0, 1.0], [0.9, 0.2, 0.6, 0.4]
    columns = {
        "negative": {"loss": [0.0, -1.0, 0.0, 1.0]}, "nan": {"loss": [0.0, np.nan, 0.0, 1.0]},
        "huge": {"loss": [1e300] * 4},
        "short": {"loss": [0.0, 1.0]}, "matrix": {"loss": [[0.0, 1.0]] * 4}, "text": {"loss": ["a"] * 4},
        "none": {"loss": []},
        "scores": {"confidence": [0.9, np.nan, np.nan, 0.1]}, "cents": {"confidence": [90.0, 20.0, 60.0, 40.0]},
        "signed": {"confidence": [-90.0, 20.0, 60.0, 40.0]}, "large": {"loss": [0.0, 3.0, 0.0, 1.0]},
        "weights": {"sample_weight": [1.0, -1.0, 1.0, 1.0]}, "no weight": {"sample_weight": [0.0] * 4},
    }  # fmt: skip
    for name, (kind, bad) in product(("augrc", "cwsa", "ece", "auroc_f", "coverage_at_risk"), columns.items()):
        yield f"{name} {kind}", refusal(getattr(abstain, name), **{"loss": loss, "confidence": score} | bad)
    for kind, bad in columns.items():
        yield f"sweep {kind}", refusal(abstain.cwsa_sweep, **{"loss": loss, "confidence": score} | bad)
    wrong = (
        ("aurc", {"coverage_range": (0.5, 0.5)}), ("aurc", {"coverage_range": (-0.1, 0.5)}), ("ece", {"bins": 2.5}),
        ("augrc", {"coverage_range": (0.2, 1.2)}), ("fpr95_error", {"recall": 95}), ("nll_confidence", {"clip": 0.6}),
        ("cwsa", {"threshold": -0.1}), ("aurc", {"estimator": "harmonik"}), ("aumcc", {"metric": "ece"}),
    )  # fmt: skip
    for name, options in wrong:
        yield f"{name} {options}", refusal(getattr(abstain, name), loss, score, **options)
    for spec in ("augcr", "aurc(estimator=", "aurc(estimater=log)", "coverage_at_risk(risk=5)", "risk_at_coverage", ""):
        yield f"parse {spec}", refusal(abstain.metrics.parse, spec)
    matrix = [[0.9, 0.1], [0.3, 0.7], [0.6, 0.4]]
    for labels, bad in (([0, 1, 2], matrix), ([0, 1], matrix), ([0, 1, 0], [[0.9, 0.2]] * 3), ([-1, 0, 1], matrix)):
        for name in ("nll", "brier_score", "classwise_ece", "auroc_accepted_area"):
            yield f"{name} {labels} {bad is matrix}", refusal(getattr(abstain, name), labels, bad)


LOSS, SCORE = np.arange(30) % 3 // 2 * 1.0, np.sqrt((7.0 * np.arange(30)) % 30)
PAIR, ONE = (LOSS, SCORE), ("augrc", LOSS, SCORE)


def refusals_of_inference():
    """Return what functions of errors, tests and sizes refuse."""
    two, n = {"a": SCORE, "b": SCORE[::-1]}, np.arange(30)
    few = {"n_resamples": 1, "method": "percentile"}
    yield from _by_options(inference.confidence_interval, ONE, {"level": 1.0}, {"level": 95}, few, {"method": "other"})
    yield from _by_options(inference.confidence_interval, ONE, {"clusters": 0 * n}, {"strata": n}, {"unseen": "low"})
    yield from _by_values(inference.confidence_interval, ("auroc_f", LOSS / 2.0, SCORE), ("auroc_f", 0 * LOSS, SCORE))
    yield from _by_values(inference.standard_error, ("f1_auc", LOSS, SCORE))
    yield from _by_options(inference.bootstrap, ONE, {"n_resamples": 0}, {"backend": "other"}, {"rng": -1})
    yield from _by_values(inference.clopper_pearson, (3, 2), (-1, 2), (1, 0))
    yield from _by_options(inference.clopper_pearson, (1, 2), {"side": "left"})
    yield from _by_values(inference.holm, ([0.5, 1.5],))
    yield from _by_values(inference.kendall_tau, ([1, 2], [1]))
    both = {"kind": "simultaneous"}
    yield from _by_options(inference.risk_band, PAIR, {"method": "dkw"}, both | {"method": "influence"})
    yield from _by_options(inference.risk_band, PAIR, {"min_coverage": 0.2}, both | {"min_coverage": 1.2})
    yield from _by_options(inference.risk_band, PAIR, both | {"n_draws": 99})
    yield refusal(inference.samples_for_difference, 0.0, sd=0.1)
    yield refusal(inference.samples_for_difference, 1e-12, sd=10.0)
    yield from _by_options(inference.samples_for_difference, (0.1,), {}, {"sd": -1.0}, {"sd": 0.1, "power": 1.0})
    yield refusal(inference.detectable_difference, 1, sd=0.1)
    yield from _by_values(inference.samples_for_width, (0.0, PAIR), (0.1, (*PAIR, SCORE)))
    yield from _by_values(inference.compare_groups, (*PAIR, 0 * n))
    yield from _by_options(inference.compare_groups, (*PAIR, n % 2), {"clusters": n // 15})
    margins = [{"margin": 0.0}, {"margin": 0.1, "level": 0.4}, {"margin": 0.1}]
    yield from _by_options(inference.non_inferiority, (LOSS, two), *margins)
    yield refusal(inference.non_inferiority, LOSS, two | {"c": SCORE}, margin=0.1)
    yield from _by_values(inference.permutation_test, (*PAIR, SCORE[:9]))
    yield refusal(inference.permutation_test, *PAIR, SCORE, n_permutations=0)
    yield from _by_values(inference.wilcoxon_over_resamples, ([1.0, 2.0],))
    yield from _by_values(inference.letter_groups, ([[0, 1], [0, 0]],), ([[1]],))
    yield refusal(abstain.ranking_study, LOSS, two, n_resamples=10)
    yield from _by_values(abstain.compare, (LOSS, {"a": SCORE}), (LOSS, two | {"b": SCORE[:4]}), ({"a": LOSS}, two))
    yield from _by_options(abstain.compare, (LOSS, two), {"adjust": "other"}, {"method": "other"}, {"level": 0.0})
    yield refusal(abstain.compare, LOSS, {"a": [SCORE, SCORE], "b": [SCORE] * 3}, paired_runs=True)


def refusals_of_results():
    """Return what evaluations, gates, selections and curves refuse."""
    found = abstain.evaluate(loss=LOSS, confidence=SCORE, metrics=["augrc", "risk"])
    outputs = (abstain.Outputs(loss=LOSS, confidence=SCORE),)
    options = [{"level": 95}, {"n_resamples": 1}, {"nan_policy": "ignore"}, {"metrics": []}, {"metrics": "augcr"}]
    options += [{"metrics": "nll"}, {"scores": "msp"}, {"groups": "site"}, {"target": "population"}, {"unseen": "low"}]
    yield from _by_options(abstain.evaluate, outputs, *options, {"plan": 3}, {"labelled": "all"})
    yield refusal(abstain.evaluate, loss=[np.nan, 0.0], confidence=[0.1, 0.2])
    yield refusal(abstain.evaluate, {})
    conditions = ("augrc>=0.1", "augrc<=x", "augrc", [], "aurc<=0.1")
    yield from _by_values(abstain.gate, *((found, each) for each in conditions))
    yield refusal(abstain.gate, found, "augrc<=0.1", unclear="maybe")
    against = [{"against": found}, {"against": found, "margin": -0.1}]
    against += [{"against": each, "margin": 0.1} for each in ([], {})]
    yield from _by_options(abstain.gate, (found, "augrc"), *against)
    yield refusal(abstain.select, {"a": PAIR}, level=2.0)
    splits = {"a": {"validation": PAIR, "test": PAIR}, "b": PAIR}, {"a": {"validation": PAIR}, "b": PAIR}
    yield from _by_values(abstain.select, ({},), splits[:1], (splits[1], "nll"))
    yield refusal(abstain.select, {"a": PAIR, "b": (LOSS[:5], SCORE[:5])})
    yield from [refusal(found.value, "aurc"), refusal(found.curve, "msp")]
    points = [{}, {"coverage": 1.5}, {"coverage": 0.5, "risk": 0.1}, {"risk": -0.5}, {"threshold": np.nan}]
    yield from _by_options(abstain.risk_coverage_curve(*PAIR).at, (), *points)
