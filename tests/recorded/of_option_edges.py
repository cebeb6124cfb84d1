"""Options at their edges: what each of them takes of numbers, words and missing values, and what is said of others."""

import inspect
import math
import re
from functools import partial

import numpy as np

import abstain
from abstain.live import LiveCertificate
from abstain.monitoring import Monitor
from tests.recorded import of_scores
from tests.recorded.calls import guaranteed

EDGES = (-1, 0, 1, 2, 3.5, 0.5, 1.0, -0.0, 1e-300, math.nan, math.inf, "x", None, True, (), (1, 2))
LOSS, SCORE = np.arange(40) % 4 // 3 * 1.0, np.sqrt((7.0 * np.arange(40)) % 40) / 7.0
TWO = [[0.9, 0.1], [0.3, 0.7]]
COLUMNS = {"loss", "confidence", "labels", "probabilities", "sample_weight", "nan_policy", "trust"}
#: What decides nothing that can be seen here, or takes what has no edges.
WITHOUT = {"kwargs", "rng", "seed", "fit", "cache", "frame", "source", "columns", "progress", "model", "generator"}


def _outcome(call):
    """Return whether a call is refused, with the numbers and names of the message, which say what is taken."""
    try:
        call()
    except ValueError as error:
        return "/".join([type(error).__name__, *re.findall(r"'[^']*'|-?\d+(?:\.\d+)?", str(error))][:9])
    except Exception as error:  # of whatever kind: this is what a user sees
        return type(error).__name__
    return "taken"


def _edges(call, options=None, edges=EDGES):
    """Return the outcome of a call for every option, by default those that have a default, at every edge."""
    known = inspect.signature(call).parameters.values()
    names = options if options is not None else [each.name for each in known if each.default is not each.empty]
    wanted = [name for name in names if name not in WITHOUT]
    return {name: [_outcome(partial(call, **{name: edge})) for edge in edges] for name in wanted}


def of_scores_and_metrics():
    """Return which options the scores and metrics take."""
    train, validation, test = of_scores._parts()
    table = abstain.TieBlocks.from_samples(LOSS, SCORE, oracle=True)

    def scored(name, **options):
        entry = abstain.scores.get(name, **options)
        if entry.fit_name is None:
            return entry(test)
        return entry(test, entry.fit(validation if entry.fit_split == "validation" else train))

    def measured(name, **options):
        entry = abstain.metrics.get(name, **options)
        return entry(table) if entry.input == "blocks" else entry(abstain.Outputs(labels=[0, 1], probabilities=TWO))

    found = {}
    for name in abstain.scores.names():
        found[name] = _edges(partial(scored, name), abstain.scores.get(name).settings, EDGES[:12])
    for name in [each for each in abstain.metrics.names() if not each.startswith("joint.")]:
        options = inspect.signature(abstain.metrics.get(name).function).parameters
        found[f"metric {name}"] = _edges(partial(measured, name), [each for each in options if each not in COLUMNS])
    return {name: each for name, each in found.items() if each}


def of_live_certificates_and_monitors():
    """Return which options certificates and monitors take."""
    live = partial(LiveCertificate, thresholds=[0.2, 0.5, 0.8], risk=0.1)
    return [_edges(live), _edges(LiveCertificate, ("scores")), _edges(partial(Monitor, guaranteed()))]


def of_evaluations():
    """Return which options evaluations, comparisons, summaries and curves take."""
    given, two = {"loss": LOSS, "confidence": SCORE}, {"a": SCORE, "b": SCORE[::-1]}
    yield "evaluate", _edges(partial(abstain.evaluate, metrics=["risk"], **given), ("level", "n_resamples", "unseen"))
    yield "compare", _edges(partial(abstain.compare, LOSS, two), ("level", "method", "adjust", "n_resamples"))
    yield "select", _edges(partial(abstain.select, {"a": (LOSS, SCORE), "b": (LOSS, -SCORE)}), ("level", "delta"))
    yield "sweep", _edges(partial(abstain.risk_coverage_curve, LOSS, SCORE), ("sample_weight", "nan_policy"))
    yield "at", _edges(abstain.risk_coverage_curve(LOSS, SCORE).at, ("coverage", "risk", "threshold"))
