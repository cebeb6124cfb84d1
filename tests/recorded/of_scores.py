"""Confidence scores with their options; what their fits keep."""

import tempfile
import warnings
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np

import abstain
from abstain import scores
from tests.recorded import tried

#: Banks of neighbours are kept in single precision.
TOLERANCE = 1e-6

#: Options of each score that are tried, the first ones on tensors, too.
OPTIONS = {"energy": ({"temperature": 2.5},), "column": ({"column": "side"},)}
OPTIONS |= {"gen": ({"gamma": 0.5, "top": 2}, {"gamma": 2.0}, {"gamma": 0.01, "top": 3})}
OPTIONS |= {"klm": ({"shrinkage": 0.0}, {"shrinkage": 10.0}), "knn": ({"neighbours": 4}, {"neighbours": 1})}
OPTIONS |= {"openmax": ({"tail": 5, "alpha": 2}, {"tail": 3, "alpha": 1})}
OPTIONS |= dict.fromkeys(("vim", "residual"), ({"dim": 2}, {"dim": 3}))
OPTIONS |= dict.fromkeys(("sirc_msp_res", "sirc_neg_entropy_res"), ({"dim": 2},))
OPTIONS |= dict.fromkeys(("ash_p", "ash_b", "ash_s", "scale"), ({"percentile": 0.5}, {"percentile": 0.25}))
OPTIONS |= {"react": ({"quantile": 0.7}, {"quantile": 0.95}), "dice": ({"sparsity": 0.5}, {"sparsity": 0.2})}
OPTIONS |= {"nnguide": ({"neighbours": 3, "fraction": 0.5}, {"neighbours": 5})}
OPTIONS |= {"fdbd": ({"normaliser": "norm"}, {"normaliser": "distance_to_mean"})}
OPTIONS |= {"platt": ({"score": "energy"}, {"score": "max_logit"})}
OPTIONS |= {"combine_logistic": ({"scores": ("msp", "energy")}, {"scores": ("msp", "gen", "neg_gini"), "ridge": 0.01})}
OPTIONS |= {"combine_ranks": ({"scores": ("msp", "energy")}, {"scores": ("neg_gini", "logit_margin"), "ridge": 100.0})}


def _outputs(n, seed, noise, *, single=False):
    """Return outputs of a linear model with four classes on six features, some of them 0, some rows tied."""
    rng, weight = np.random.default_rng([7, seed]), np.random.default_rng(8).normal(size=(4, 6))
    labels = rng.integers(0, 4, n)
    features = np.maximum(1.2 * weight[labels] + noise * rng.normal(size=(n, 6)), 0.0) + np.eye(6)[0] / 10.0
    features[: n // 5] = features[n // 5 : 2 * (n // 5)]
    features[-(n // 3) :] = np.round(features[-(n // 3) :])  # ties within rows
    head = weight, np.array([0.1, -0.2, 0.3, 0.0])
    logits = features @ head[0].T + head[1]
    noisy = logits + rng.normal(0.0, 1.0, (3, n, 4))
    passes = np.exp(noisy - noisy.max(axis=-1, keepdims=True))
    columns = {"logits": logits, "features": features, "passes": passes / passes.sum(-1, keepdims=True)}
    columns |= {"confidence": logits.max(axis=1), "head": head}
    if single:
        columns |= {name: columns[name].astype(np.float32) for name in ("logits", "features", "passes", "confidence")}
        columns["head"] = tuple(each.astype(np.float32) for each in head)
    return abstain.Outputs(labels=labels, scores={"side": rng.normal(size=n)}, **columns)


@lru_cache
def _parts():
    return _outputs(60, 1, 0.5), _outputs(50, 2, 1.5), _outputs(15, 3, 1.0)


def _scored(name, options):
    """Return a score of a few rows, fitted where it has to be."""
    train, validation, rows = _parts()
    entry = scores.get(name, **options)
    if entry.fit_name is None:
        return entry(rows)
    return entry(rows, entry.fit(validation if entry.fit_split == "validation" else train))


def of_double_precision():
    """Return every score with all options."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in scores.names():
            for number, options in enumerate(({}, *OPTIONS.get(name, ()))):
                yield f"{name} {number}", tried(_scored, name, options)


def of_extreme_logits():
    """Return scores of large, tied and equal logits, and of probabilities with zeros."""
    logits = np.array([[800.0, 0.0, -800.0, 0.0], [0.0, 0.0, 0.0, 0.0], [5.0, 5.0, -2.0, 1.0], [1e-9, 0.0, 0.0, -40.0]])
    hard = np.array([[1.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25], [0.7, 0.1, 0.1, 0.1]])
    columns = ({"logits": logits}, {"probabilities": hard})
    for given in (abstain.Outputs(labels=[0, 1, 0, 0], **each) for each in columns):
        for name in scores.available(given, _parts()[1]):
            entry = scores.get(name)
            yield f"{name} {given.logits is None}", tried(scores.compute, name, given, _parts()[1]) if entry else None


def of_fits():
    """Return what fitted scores keep, what they are called, and what a saved file gives again."""
    train, validation, rows = _parts()
    found = {}
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        for name in scores.names():
            entry = scores.get(name, **OPTIONS.get(name, ({},))[0])
            found[f"{name} about"] = [entry.spec, entry.needs, entry.settings, entry.available(rows, train)]
            if entry.fit_name is None:
                continue
            fitted = entry.fit(validation if entry.fit_split == "validation" else train)
            fitted.save(Path(folder) / "file.npz")
            again = scores.load(Path(folder) / "file.npz")
            kept = {key: each for key, each in fitted.arrays.items() if np.asarray(each).dtype.kind in "fiu"}
            arrays = {key: [np.shape(each), np.abs(each).sum(), np.square(each).sum()] for key, each in kept.items()}
            found[name] = [arrays, fitted.n_fit, [each.name for each in fitted.parts], repr(fitted) == repr(again)]
            found[name] += [bool(np.array_equal(again.score(rows), fitted.score(rows)))]
    return found


def of_lists_and_heads():
    """Return which scores there are for what outputs hold, specs, heads found again, and who judges."""
    train, _, rows = _parts()
    squares = np.asarray(rows.logits) ** 2
    lean = abstain.Outputs(labels=rows.labels, probabilities=squares / squares.sum(axis=1, keepdims=True))
    only = abstain.Outputs(labels=rows.labels, passes=rows.passes)
    yield from [scores.available(each, fit) for each, fit in product((rows, lean, only), (None, train))]
    yield from [tried(scores.default, each) for each in (rows, lean, only)]
    yield from [scores.parse_list("msp, gen(gamma=0.5, top=2),knn"), scores.parse("gen(gamma=0.5, top=2)").settings]
    headless = abstain.Outputs(labels=train.labels, logits=train.logits, features=train.features)
    yield from [scores.recover_head(each).head for each in (train, headless)]
    yield from [scores.judged(name, rows).predicted() for name in ("msp", "pass_msp", "pass_vote_agreement")]
    yield from [scores.pass_predictions(rows, rule) for rule in ("mean", "votes")]


def of_collinear_features():
    """Return scores where features have fewer dimensions than columns, and where a class has a single row."""
    base = _parts()[0]
    features = np.asarray(base.features).copy()
    features[:, 5] = features[:, 0] + features[:, 1]
    labels = np.where(np.arange(60) == 3, 3, np.asarray(base.labels) % 3)
    train = abstain.Outputs(labels=labels, logits=base.logits, features=features, head=base.head)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = ["mds", "rmds", "knn", "residual", "vim", "she", "fdbd", "react", "dice", "openmax", "klm", "temp_msp"]
        for name in cases:
            fitted = tried(scores.get(name).fit, train)
            yield name, fitted if isinstance(fitted, str) else tried(fitted.score, _parts()[2])
        one = {"labels": [0], "logits": np.zeros((1, 4)), "features": [[1.0, 1.0, 2.0, 3.0, 0.0, 0.5]]}
        rows = abstain.Outputs(**one, head=base.head)
        for name in ("ash_p", "ash_b", "ash_s", "scale"):  # two features tie for the last place
            yield name, scores.get(name, percentile=0.5)(rows)
        small = abstain.Outputs(labels=base.labels, logits=0.05 * np.asarray(base.logits))
        yield "small", scores.get("temp_msp").fit(small).arrays["temperature"]
