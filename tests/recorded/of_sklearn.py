"""Classifiers with a reject option, scorers, confusion matrices, and what conformance makes of implementations."""

import warnings
from itertools import product

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import abstain
from abstain import conformance
from abstain.sklearn import SelectiveClassifier, confusion_matrix_with_reject, selective_scorer
from tests.recorded import shown, tried

OBJECTIVES = (
    {"coverage": 0.7}, {"risk": 0.2}, {"risk": 0.4, "delta": 0.1}, {"cost": (1.0, 0.2)}, {"capacity": 0.5},
    {"risk": 0.05, "delta": 0.01}, {"metric": "cwsa"}, {},
)  # fmt: skip


def _rows(n=160, classes=3, seed=0):
    rng = np.random.default_rng([61, n, classes, seed])
    y = rng.integers(0, classes, n)
    return np.column_stack([y + rng.normal(0.0, 0.8, n), rng.normal(size=n), -y + rng.normal(0.0, 1.5, n)]), y


def _tree(depth=3):
    return DecisionTreeClassifier(max_depth=depth, random_state=0)


def _fitted(X, y, estimator, groups=None, **options):
    """Return what a fitted classifier knows and says."""
    made = SelectiveClassifier(estimator, **options).fit(X, y, groups=groups)
    more = {} if groups is None else {"groups": groups}
    said = [made.predict(X, **more)[:20], made.accept(X, **more).sum(), made.score(X, y, **more)]
    said += [made.confidence(X)[:5]]
    return [made.threshold_, made.n_calibration_, made.classes_, *said, made.predict_proba(X).sum(axis=0)]


def selective_classifiers():
    """Return classifiers by objective, score, calibration and rejected label, in groups and per class."""
    (X, y), (a, b) = _rows(), _rows(120, 2, 1)
    groups = np.array(["east", "west"])[np.arange(160) % 2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number, objective in enumerate(OBJECTIVES):
            for name, more in {"plain": {}, "classes": {"per_class": True}, "groups": {"groups": groups}}.items():
                yield f"objective {number} {name}", tried(_fitted, X, y, _tree(), **more, **objective)
        for score, share in product(("msp", "margin", "neg_entropy", lambda p: p[:, 0], "other"), (0.25, 0.6, "cv")):
            options = {"confidence_score": score, "calibration": share, "coverage": 0.6, "cv": 3}
            row = [tried(_fitted, X, y, _tree(4), random_state=2, **options), tried(_fitted, a, b, _tree(2), **options)]
            yield f"{score if isinstance(score, str) else 'own'} {share}", row
        for value, kind in ((-1, int), ("?", str), (None, int), (-1, str)):
            found = tried(_fitted, X, y.astype(kind), _tree(), coverage=0.5, reject_value=value)
            yield f"{value} {kind.__name__}", found
        fitted = _tree().fit(X, y)
        kinds = ((fitted, True), (FrozenEstimator(fitted), False), (fitted, False))
        yield "fitted", [tried(_fitted, X, y, each, coverage=0.5, prefit=prefit) for each, prefit in kinds]
        for name, each in (("ridge", RidgeClassifier()), ("default", None)):
            made = SelectiveClassifier(each, coverage=0.5).fit(a, b)
            yield name, [made.threshold_.coverage, made.accept(a).sum(), made.decision_function(a)[:3].round(6)]
        plain, each = (SelectiveClassifier(_tree(), coverage=0.5, per_class=k).fit(X, y) for k in (False, True))
        yield "policies", [plain.policy(score="s"), each.policy(score="s", predicted="p")]
        made = SelectiveClassifier(_tree(), coverage=0.5).fit(X, y, groups=groups)
        yield "grouped", made.policy(score="s", group="g")


def scorers():
    """Return what scorers give of classifiers, pipelines, searches and selective classifiers."""
    X, y = _rows()
    weight = np.linspace(0.0, 2.0, 160)
    fitted = [_tree().fit(X, y), make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)]
    fitted += [GridSearchCV(_tree(), {"max_depth": [1, 2]}, cv=2).fit(X, y), RidgeClassifier().fit(X, y)]
    fitted += [SelectiveClassifier(_tree(), coverage=0.5, reject_value=-1, confidence_score="margin").fit(X, y)]
    cases = [("augrc", {}), ("aurc", {}), ("auroc_f", {}), ("coverage_at_risk", {"risk": 0.3})]
    for (metric, options), score in product(cases, ("msp", "margin", "neg_entropy")):
        scorer = selective_scorer(metric, confidence_score=score, **options)
        yield f"{metric} {score}", [tried(scorer, each, X, y, w) for each in fitted for w in (None, weight)]
    yield "nll", tried(selective_scorer, "nll", confidence_score="msp")


def confusion_matrices():
    """Return confusion matrices with labels, weights and words, and what is refused."""
    truth, said = np.array([0, 1, 2, 2, 1, 0, 2]), np.array([0, 1, 1, 2, 0, 0, 5])
    accept, names = np.array([1, 1, 1, 0, 1, 0, 0]), (None, [2, 0, 1], [0, 1], [0, 0, 1, 2], [0, 1, 2, 7])
    for labels, weight in product(names, (None, np.arange(7.0), -np.ones(7), [1.0])):
        yield tried(confusion_matrix_with_reject, truth, said, accept, labels=labels, sample_weight=weight)
    yield confusion_matrix_with_reject(np.array(["cat", "dog", "cat"]), ["dog", "dog", "-"], [True, True, False])
    for guesses, mask in ((said[:3], accept), (said, accept[:2]), (said, accept * 0.5), (said, accept * 0)):
        yield tried(confusion_matrix_with_reject, truth, guesses, mask)


def _running(confidence, loss):
    return float(np.mean(np.cumsum(loss[np.argsort(-confidence, kind="stable")]) / np.arange(1, len(loss) + 1)))


def _always(value):
    return lambda s, y: value


def conforming():
    """Return what is found of right and of faulty implementations of every metric."""
    for metric in conformance.vectors()["metrics"]:
        function = getattr(abstain, metric, None) or getattr(abstain.joint, metric, None)
        if callable(function):
            yield metric, tried(lambda m=metric, f=function: shown(conformance.check(f, m)))
    area, times = "f(loss, confidence)", "len(loss) * f(loss, confidence)"
    faults = {"order": (_running, "aurc", None), "turned": (abstain.aurc, "aurc", "loss, uncertainty")}
    faults |= {"times n": (abstain.augrc, "augrc", times), "halved": (abstain.auroc_f, "auroc_f", f"{area} / 2")}
    faults |= {"n over": (abstain.augrc, "augrc", f"len(loss) / (len(loss) + 1) * {area}")}
    faults["less"] = abstain.aurc, "aurc", f"-{area}"
    faults["wrong loss"] = abstain.auroc_f, "auroc_f", "correct, confidence"
    given = {"nothing": (0.3, "aurc"), "pair": ((1, 2), "aurc"), "none": (None, "auroc_f")}
    given |= {"never": (np.inf, "certificate")}
    faults |= {name: (_always(value), metric, "confidence, loss") for name, (value, metric) in given.items()}
    faults |= {"hasty": (lambda s, y: float(s.max()), "certificate", "confidence, loss")}
    for name, (function, metric, call) in faults.items():
        for arrays in ("numpy", "list") if name in ("order", "nothing") else ("numpy",):
            result = conformance.check(function, metric, call=call, arrays=arrays, tolerance=1e-5)
            yield f"{name} {arrays}", [shown(result), result.findings]
