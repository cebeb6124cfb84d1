"""Bootstraps, replicates and covariances, and designs with few units."""

from itertools import product

import numpy as np

from abstain import inference
from tests.recorded import tried
from tests.recorded.populations import kinds, rows


def bootstraps():
    """Return bootstraps, by design, with what is undefined in some resamples."""
    for kind, columns in kinds(39, 40, steps=8):
        for name, backend in product(("augrc", "aurc", "auroc_f", "f1_auc", "fpr95_error"), ("auto", "numpy")):
            given = {"n_resamples": 20, "rng": 5, "backend": backend}
            result = inference.bootstrap(name, **columns, **given)
            facts = [result.estimate, result.replicates, result.method, result.df, result.warning, result.rests_on]
            ends = [tried(result.interval, level=each) for each in (0.5, 0.9)]
            yield f"{kind} {name} {backend}", [*facts, result.n_undefined, result.standard_error, ends]
    few = (np.arange(30) == 4) * 1.0
    for method in ("percentile", "bca"):
        given = {"method": method, "n_resamples": 1000}
        yield f"few {method}", tried(inference.confidence_interval, "auroc_f", few, np.arange(30) % 11, **given)


def replicates():
    """Return replicates of several metrics of two scores."""
    for kind, columns in kinds(40, 30, steps=6):
        other = rows(41, 30)["other"]
        pair = [(columns["loss"], columns["confidence"]), (columns["loss"], other)]
        design = {key: each for key, each in columns.items() if key not in ("loss", "confidence")}
        for backend in ("auto", "numpy"):
            given = {"n_resamples": 6, "rng": 2, "backend": backend}
            yield (
                f"{kind} {backend}",
                tried(inference.replicates, ["augrc", "auroc_f", "risk"], pair, **design, **given),
            )


def covariances():
    """Return the covariance of three metrics in each design."""
    for kind, columns in kinds(38, 40, steps=8):
        weight = columns.get("sample_weight")
        terms = [
            inference.influence(m, columns["loss"], columns["confidence"], sample_weight=weight)
            for m in ("risk", "augrc", "auroc_f")
        ]
        design = {key: each for key, each in columns.items() if key not in ("loss", "confidence")}
        yield kind, inference.covariance(*terms, **design)


def few_units():
    """Return errors and intervals of few clusters and strata, of weights of 0, and of one unit that decides."""
    n, p = np.arange(36), rows(42, 36, steps=9)
    nothing = np.where(n % 5 == 2, 0.0, p["sample_weight"])
    heavy = np.where(n == 7, 30.0, 1.0)
    designs = {f"{k} clusters": {"clusters": n % k} for k in (1, 2, 3, 6, 18)}
    designs |= {f"{k} strata": {"strata": n % k} for k in (1, 2, 12, 18)}
    designs |= {"nothing": {"sample_weight": nothing}, "heavy": {"sample_weight": heavy}}
    designs |= {"unequal": {"clusters": np.sqrt(n) // 1}, "one large": {"clusters": np.where(n < 25, 0, n)}}
    designs |= {"both": {"sample_weight": nothing, "clusters": n // 3}, "shares": {"sample_weight": nothing / 50.0}}
    designs |= {"strata, clusters": {"strata": n % 2, "clusters": n % 12}}
    for name, given in designs.items():
        for metric in ("augrc", "aurc", "risk", "auroc_f", "coverage_at_risk(risk=0.2)"):
            columns = {"loss": p["loss"], "confidence": p["confidence"], "n_resamples": 40, **given}
            yield f"{metric} {name}", tried(inference.confidence_interval, metric, **columns)
            for unseen in ("random", "top"):
                clean = columns | {"loss": 0.0 * p["loss"], "unseen": unseen}
                yield f"{metric} {name} clean {unseen}", tried(inference.confidence_interval, metric, **clean)


def bands_of_clusters():
    """Return bands of few and of many clusters, of which a few more may be wrong as a whole or alike."""
    p = rows(43, 60, steps=6)
    for units, wrong in product((4, 6, 9, 19, 30), (0, 1, 5)):
        loss = np.where(np.arange(60) % units < wrong, p["loss"], 0.0)
        for unseen, kind in product(("whole", "alike"), ("pointwise", "simultaneous")):
            given = {"clusters": np.arange(60) % units, "unseen": unseen, "kind": kind}
            band = tried(inference.risk_band, loss, p["confidence"], n_draws=100, **given)
            known = [] if isinstance(band, str) else [band.low, band.high, band.rests_on, band.warning]
            yield f"{units} {wrong} {unseen} {kind}", known or band
