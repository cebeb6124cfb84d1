"""Inputs that break scores elsewhere: a defined number, or one line that says what to do. Never NaN."""

import dataclasses
import importlib
import warnings

import numpy as np
import pytest

from abstain import Outputs, scores
from tests.refusal import refused
from tests.scores.toy import TEST, TRAIN

OPTIONS = {"knn": {"neighbours": 2}, "nnguide": {"neighbours": 2, "dtype": "float64"}, "column": {"column": "external"}}
EXTERNAL = {"confidence", "column"}  # nothing is computed
#: Jumps at fit samples, where rounding decides on which side; products in single precision.
STEPS = {"openmax": 2e-2, "combine_ranks": 0.2, "vim": 1e-5, "residual": 1e-5}


def problem(n=40, d=8, k=3, seed=0, dtype=np.float64, scale=1.0, signed=False, **changes):
    """Return random outputs; ``changes`` are functions of a column, by its name."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, k, n)
    labels[:k] = np.arange(k)
    weight, bias = rng.normal(size=(k, d)), rng.normal(size=k)
    features = weight[labels] + rng.normal(size=(n, d))
    features = features if signed else np.maximum(features, 0.0)
    columns = {"features": features, "weight": weight, "bias": bias, "labels": labels}
    for name, change in changes.items():
        columns[name] = change(columns[name])
    features, weight, bias = columns["features"], columns["weight"], columns["bias"]
    logits = scale * (features @ weight.T + bias)
    largest = logits.max(axis=1)
    e = np.exp(logits - largest[:, None])
    p = e / e.sum(axis=1, keepdims=True)
    return Outputs(
        labels=columns["labels"], logits=logits.astype(dtype), features=features.astype(dtype), head=(weight, bias),
        passes=np.stack([p, p[:, ::-1]]).astype(dtype), confidence=largest, scores={"external": largest},
    )  # fmt: skip


def zero_rows(features):
    features = features.copy()
    features[:4] = 0.0
    return features


def dead_units(features):
    return features * (np.arange(features.shape[1]) % 2)


def copies(features):
    return np.repeat(features[:10], 4, axis=0)


PROBLEMS = {"two classes": problem(k=2), "more features than samples": problem(n=12, d=30)}
PROBLEMS |= {"more samples than features": problem(n=200, d=3), "rows of zeros": problem(features=zero_rows)}
PROBLEMS |= {"dead units": problem(features=dead_units)}
PROBLEMS |= {"a constant feature": problem(features=lambda h: np.hstack([h[:, 1:], np.ones((len(h), 1))]))}
PROBLEMS |= {"duplicated rows": problem(features=copies), "half precision": problem(dtype=np.float16)}
PROBLEMS |= {"logits of 1e4": problem(scale=1e4 / 3)}
PROBLEMS |= {"a class never predicted": problem(bias=lambda b: b - 1e3 * np.eye(len(b))[0])}
PROBLEMS |= {"a class that the fit data lack": problem(labels=lambda y: np.maximum(y, 1))}
PROBLEMS |= {"a class that only the fit data lack": problem(labels=lambda y: np.maximum(y, 1))}
PROBLEMS |= {"a fit without errors": dataclasses.replace(problem(), labels=problem().predicted())}
PROBLEMS |= {"signed features": problem(signed=True), "one feature": problem(d=1)}
PROBLEMS |= {"equal class weights": problem(weight=np.zeros_like), "one sample per class": problem(n=3)}
PROBLEMS |= {"all features zero": problem(features=np.zeros_like), "all rows equal": problem(features=np.ones_like)}
#: What is scored, where it is not the fit data themselves.
TESTS = {"a class that only the fit data lack": problem(), "half precision": problem(seed=1, dtype=np.float16)}
TESTS |= {"dead units": problem(seed=1), "rows of zeros": problem(seed=1, features=zero_rows)}


@pytest.mark.parametrize("case", PROBLEMS)
def test_a_number_or_a_reason(case):
    """Every score of every hard input is a number, or the fit is refused with a remedy; tensors give the same."""
    fit, outputs = PROBLEMS[case], TESTS.get(case, PROBLEMS[case])
    for name in scores.names():
        entry = scores.get(name, **OPTIONS.get(name, {}))
        if (name, case) in REFUSED:
            refused(ValueError, REFUSED[name, case], entry, outputs, fit)
            continue
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="the temperature stopped|platt: ")
            fitted = entry.fit(fit)
        score = fitted.score(outputs)
        assert score.shape == (outputs.n,), name
        assert not np.isnan(score).any(), name
        if "log_error" not in name and "sirc" not in name:
            assert np.isfinite(score).all(), name
        if name not in EXTERNAL:
            found = of_tensors(fitted, outputs)
            np.testing.assert_allclose(found, score, rtol=1e-9, atol=STEPS.get(name, 1e-6), err_msg=name)


def of_tensors(fitted, outputs):
    """Return the score of the same columns as tensors; it comes as a tensor on their device."""
    torch = importlib.import_module("torch")
    columns = {name: torch.tensor(np.asarray(getattr(outputs, name))) for name in ("logits", "features", "passes")}
    found = fitted.score_arrays(**columns, head=tuple(torch.tensor(np.asarray(part)) for part in outputs.head))
    assert found.dtype == torch.float64
    assert found.device == columns["logits"].device
    return found.numpy()


def _refused():
    signed = dict.fromkeys(("ash_p", "ash_b", "ash_s", "scale"), "needs features >= 0")
    flat = dict.fromkeys(("mds", "rmds"), "do not vary within the classes")
    whole = dict.fromkeys(("vim", "residual", "sirc_msp_res", "sirc_neg_entropy_res"), "leave nothing of the fit data")
    table = {"signed features": signed, "one sample per class": flat | whole, "all features zero": flat | whole}
    table["all rows equal"] = flat | whole
    table["more features than samples"] = whole
    table["a fit without errors"] = dict.fromkeys(("combine_logistic", "combine_ranks"), "every fit sample is right")
    return {(name, case): text for case, names in table.items() for name, text in names.items()}


REFUSED = _refused()


NAN, PLAIN = float("nan"), problem()
#: Score, option, bad values, and what the message says; never NaN scores, never an error from deep inside NumPy.
BAD = [
    ("knn", "neighbours", [1000], "knn needs 1 <= neighbours <= 40, the rows of its bank, got neighbours=1000"),
    ("knn", "neighbours", [0, 2.5, "10"], "neighbours must be a whole number >= 1, got "),
    ("knn", "fraction", [0], "fraction=0.0 keeps no fit data; give a share in .0, 1."),
    ("knn", "dtype", ["int8"], "dtype='int8' is not known"),
    ("vim", "dim", [8], "dim must lie in 0 .. 7 for 8 features, got dim=8; lower it"),
    ("residual", "dim", [-1, 2.5], "dim must be a whole number >= 0, got "),
    ("react", "quantile", [90], "give a fraction, not per cent"),
    ("dice", "sparsity", [90], "give a fraction, not per cent"),
    ("scale", "percentile", [85], "give a fraction, not per cent"),
    ("gen", "gamma", [0, "a"], "gamma must be a (finite )?number > 0, got "),
    ("gen", "top", [2.5], "top must be a whole number >= 1, got 2.5; 100 is usual"),
    ("gen", "floor", [0.6], "floor must be below 0.5, got 0.6"),
    ("gen", "floor", ["float16"], "floor must be a number >= 0, got 'float16'"),
    ("energy", "temperature", [0, "hot", np.inf], "temperature must be a (finite )?number > 0, got "),
    ("temp_msp", "temperature", [-1, np.inf], "temperature must be a finite number > 0, got "),
    ("klm", "shrinkage", [-1, NAN], "shrinkage must be a finite number >= 0, got "),
    ("openmax", "tail", [1], "tail must be a whole number >= 2, got 1; 20 is usual"),
    ("openmax", "alpha", [0, 1.5], "alpha must be a whole number >= 1, got .*; 3 is usual"),
    ("max_logit_pnorm", "p", [-2, NAN], "p must be a finite number >= 0, got "),
    ("fdbd", "normaliser", ["mean"], "normaliser='mean' is not known"),
    ("combine_logistic", "ridge", [NAN], "ridge must be a finite number >= 0, got nan"),
]


@pytest.mark.parametrize(("name", "option", "values", "message"), BAD)
def test_wrong_hyper_parameters_are_refused(name, option, values, message):
    """The message names the option, the value and what is allowed."""
    for value in values:
        refused((ValueError, TypeError), message, lambda v=value: scores.get(name, **{option: v})(PLAIN, PLAIN))


def test_a_seed_below_nought_is_refused():
    refused(TypeError, "seed=-1 is no seed", lambda: scores.get("knn", fraction=0.5, seed=-1)(PLAIN, PLAIN))


def test_a_bank_that_overflows_is_refused():
    """Energies beyond 65504 are infinite in half precision, and infinity times 0 is NaN."""
    outputs = problem(scale=1e5)
    with pytest.raises(ValueError, match=r"dtype='float16' cannot hold energies of up to .*; use another"):
        scores.get("nnguide", neighbours=2, dtype="float16").fit(outputs)


@pytest.mark.parametrize("name", ["vim", "residual", "sirc_msp_res"])
def test_a_head_whose_rows_sum_to_zero_has_one_origin(name):
    """-W^+ b must not divide one rounding error by another: a head in float32 gives what it gives in float64."""
    outputs = problem(n=200, weight=lambda w: w - w.mean(axis=0), bias=lambda b: b - b.mean())
    rounded = [part.astype(np.float32) for part in outputs.head]
    single = dataclasses.replace(outputs, head=rounded)
    exact, found = (scores.compute(name, each, each) for each in (outputs, single))
    np.testing.assert_allclose(found, exact, rtol=1e-4, atol=1e-4)


def test_sirc_is_infinite_only_where_the_softmax_is_one_hot():
    """1 - MSP of a margin of 60 is no 0; of saved probabilities that are one-hot it is."""
    train = problem()
    sure = Outputs(labels=[0, 0], logits=[[60.0, 0, 0], [2000.0, 0, 0]], features=train.features[:2])
    for name in ("sirc_msp_l1", "sirc_neg_entropy_l1"):
        score = scores.compute(name, sure, train)
        assert np.isfinite(score).all()
        assert score[1] > score[0]
        hot = Outputs(labels=[0], probabilities=[[1.0, 0, 0]], features=train.features[:1])
        assert scores.compute(name, hot, train)[0] == np.inf


def test_a_recovered_head_is_the_head():
    """Least squares of logits on features; features of another layer are refused."""
    outputs = problem(n=50)
    again = scores.recover_head(Outputs(labels=outputs.labels, logits=outputs.logits, features=outputs.features))
    np.testing.assert_allclose(again.head[0], outputs.head[0], rtol=1e-8)
    np.testing.assert_allclose(scores.compute("react", again, again), scores.compute("react", outputs, outputs))
    with pytest.raises(ValueError, match="the features do not give the logits: the residual is up to"):
        scores.recover_head(Outputs(labels=outputs.labels, logits=outputs.logits, features=outputs.features**2))
    refused(ValueError, "12 rows do not determine 30 weights", lambda: scores.recover_head(problem(n=12, d=30)))
    with pytest.raises(ValueError, match="tolerance must be a finite number >= 0, got nan"):
        scores.recover_head(outputs, tolerance=np.nan)  # nothing is above NaN, so nothing would be refused
    with pytest.raises(ValueError, match="recover_head needs logits and features"):
        scores.recover_head(Outputs(labels=[0], logits=[[1.0, 0.0]]))


def test_no_rows_and_few_of_them():
    """Tensors without a row are refused as arrays are; a share of few rows keeps at least one."""
    torch = pytest.importorskip("torch")
    for empty in (np.empty((0, 3)), torch.empty((0, 3))):
        refused(ValueError, "logits is empty", scores.get("msp").fit().score_arrays, logits=empty)
    few, knn = TRAIN.select(np.arange(9)), scores.get("knn", neighbours=1)
    found = scores.get("knn", neighbours=1, fraction=0.01)(TEST, few)
    assert any(np.array_equal(found, knn(TEST, few.select([k]))) for k in range(9))
