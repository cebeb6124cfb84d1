"""What every score keeps to: direction, immutability, files, chunks, array libraries, needs."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

from abstain import Outputs, UnmetNeed, scores
from abstain.scores import _batch
from abstain.scores._catalogue import SCORES
from tests.refusal import refused
from tests.scores.toy import OPTIONS, TEST, TRAIN, WEIGHT, fitted, outputs_of

NAMES = scores.names()
FITTED = [name for name in NAMES if scores.get(name).fit_function is not None]
EXTERNAL = {"confidence", "column"}


@pytest.mark.parametrize("name", NAMES)
def test_a_typical_sample_scores_higher_than_an_ambiguous_one(name):
    """Sign: the centre of a class scores higher than a faint mixture of two classes with noise where no class looks."""
    sure = np.maximum(3.0 * WEIGHT[[0, 1, 2, 3]], 0.0)
    unsure = np.zeros((4, 10))
    unsure[:, :8] = 0.3 * (WEIGHT[[0, 1, 2, 3], :8] + WEIGHT[[1, 2, 3, 0], :8])
    unsure[:, 8:] = [[1.4, 0.0], [0.0, 1.4], [0.7, 0.7], [0.9, 0.3]]
    agree, split = np.eye(4)[[[0, 1, 2, 3]] * 3], np.eye(4)[[[0, 1, 2, 3], [1, 2, 3, 0], [2, 3, 0, 1]]]
    passes = np.concatenate([0.9 * agree + 0.025, 0.5 * split + 0.125], axis=1)
    score = fitted(name).score(outputs_of(np.vstack([sure, unsure]), [0, 1, 2, 3, 0, 1, 2, 3], passes=passes))
    assert score[:4].min() > score[4:].max()


@pytest.mark.parametrize("name", NAMES)
def test_one_finite_float_per_sample_and_the_outputs_unchanged(name):
    """Float64 of shape (n,), no NaN, no negative zero, and the inputs as they were."""
    before = TEST.fingerprint, TRAIN.fingerprint
    score = fitted(name).score(TEST)
    assert score.shape == (TEST.n,)
    assert score.dtype == np.float64
    assert np.isfinite(score).all()
    assert not np.signbit(score[score == 0.0]).any()
    assert (TEST.select(range(TEST.n)).fingerprint, TRAIN.select(range(TRAIN.n)).fingerprint) == before


@pytest.mark.parametrize("name", NAMES)
def test_chunks_do_not_change_the_score(name, monkeypatch):
    """Rows are independent: scores in chunks of 64 equal scores in one piece, and those of single rows."""
    score = fitted(name)
    large = TRAIN
    whole = score.score(large)
    monkeypatch.setattr(_batch, "CHUNK_BYTES", 1)
    np.testing.assert_allclose(score.score(large), whole, rtol=1e-6, atol=3e-7)  # a float32 bank: products round
    np.testing.assert_allclose(score.score(large.select([77])), whole[77:78], rtol=1e-6, atol=3e-7)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in EXTERNAL])
def test_other_array_libraries_give_the_same_numbers(name, xp):
    """PyTorch tensors and strict Array API arrays are scored in their own library."""
    score = fitted(name)
    arrays = {field: xp.asarray(np.array(getattr(TEST, field))) for field in ("logits", "features", "passes")}
    found = score.score_arrays(**arrays, head=tuple(xp.asarray(np.array(part)) for part in TEST.head))
    assert type(found) is type(arrays["logits"])
    np.testing.assert_allclose(np.asarray(found), score.score(TEST), rtol=1e-11, atol=1e-6)


@pytest.mark.parametrize("name", FITTED)
def test_a_fitted_score_cannot_be_changed(name):
    score = fitted(name)
    refused(AttributeError, "n_fit", setattr, score, "n_fit", 3)
    for key, array in score.arrays.items():
        assert not array.flags.writeable, key
    assert not hasattr(score.arrays, "update")


@pytest.mark.parametrize("name", FITTED)
def test_missing_fit_data_and_missing_columns_are_named(name):
    """Without fit data, with fit data that lack a column, and with outputs that lack one: UnmetNeed says what."""
    entry = scores.get(name, **OPTIONS.get(name, {}))
    refused(UnmetNeed, rf"{name} is fitted: give fit data, the {entry.fit_split} split with", entry.fit)
    bare = Outputs(loss=[0.0, 1.0])
    if entry.fit_requires != ("loss",):
        refused(UnmetNeed, f"{name} is fitted on {entry.fit_requires[0]}, which the fit data lack", entry.fit, bare)
    refused(UnmetNeed, "needs", lambda: fitted(name).score(bare))


def test_the_registry_describes_every_score():
    """Title, source, range, cost; a fitted score has a split; options have defaults, and a grid names options."""
    assert len(NAMES) == len(set(NAMES)) == 43
    for name in NAMES:
        entry = scores.get(name)
        assert all((entry.title, entry.source, entry.range, entry.cost))
        assert (entry.fit_split is not None) == (entry.fit_function is not None)
        assert entry.grid.keys() <= entry.defaults.keys()
        assert entry.function.__doc__
        json.dumps(entry.defaults)


def test_specs_are_read_back():
    """A spec names score and options; wrong ones are errors that say what is known."""
    entry = scores.parse(" gen(gamma=0.5, floor=float32) ")
    assert entry.settings == {"gamma": 0.5, "top": 100, "floor": "float32"}
    assert scores.parse(entry.spec).settings == entry.settings
    assert scores.parse("combine_logistic(scores=(msp, energy))").settings["scores"] == ("msp", "energy")
    refused(TypeError, "knn has no option 'k'; its options: dtype='float32'", scores.get, "knn", k=3)
    for text in ("gen(", "gen(3)", "a b", "gen(gamma=x.y)"):
        refused(ValueError, "score", scores.parse, text)
    refused(ValueError, "did you mean 'energy'", scores.parse, "energi(temperature=2)")


def test_outputs_of_another_model_are_refused():
    """Another number of features or classes than the fit data is an error that names both."""
    head = (np.zeros((3, 7)), np.zeros(3))
    other = Outputs(logits=np.zeros((2, 3)), features=np.ones((2, 7)), head=head, unlabelled=True)
    for name in ("knn", "mds", "residual", "react", "dice", "she", "klm", "openmax", "temp_msp", "fdbd"):
        score = fitted(name)
        refused(ValueError, f"columns, but {name} was fitted on", score.score, other)


def test_other_class_names_are_refused(tmp_path):
    """Text predictions are numbered by the names that occur: where a class is missing, class 1 is another one."""
    names, features = np.array(["ant", "bee", "cat"])[np.arange(12) % 3], np.eye(3)[np.arange(12) % 3]
    she = scores.get("she").fit(Outputs(labels=names, predictions=names, features=features))
    she.save(tmp_path / "she.npz")
    some = names != "ant"
    columns = {"labels": names[some], "predictions": names[some], "features": features[some]}
    for each in (she, scores.load(tmp_path / "she.npz"), pickle.loads(pickle.dumps(she))):
        with pytest.raises(
            ValueError, match="fitted on the classes ant, bee, cat, but these outputs have bee, cat; give"
        ):
            each.score(Outputs(**columns))
        found = each.score(Outputs(**columns, class_names=("ant", "bee", "cat")))
        np.testing.assert_array_equal(found, np.ones(8))


def test_predictions_beyond_the_classes_of_the_fit_are_refused():
    """A score that looks its predicted class up names the classes that it knows."""
    for name in ("she", "fdbd"):
        columns = {"features": TEST.features, "logits": TEST.logits}
        with pytest.raises(ValueError, match=r"a predicted class is not in 0 .. 3, the classes of the fit data"):
            fitted(name).score_arrays(**columns, predictions=np.full(TEST.n, 4))


def test_a_fitted_score_serves_as_no_other():
    """A score that is not fitted ignores it; another fitted score, or other settings of the fit, are refused."""
    mds, knn = fitted("mds"), fitted("knn")
    np.testing.assert_array_equal(scores.compute("msp", TEST, fit=mds), scores.compute("msp", TEST))
    with pytest.raises(ValueError, match=r"this is the fitted score mds, which cannot be knn; fit that one"):
        scores.compute("knn", TEST, fit=mds)
    refused(ValueError, r"which cannot be knn\(dtype=float64\)", scores.compute, "knn(dtype=float64)", TEST, fit=knn)
    np.testing.assert_array_equal(
        scores.compute("knn(neighbours=9)", TEST, fit=knn), scores.compute("knn(neighbours=9)", TEST, fit=TRAIN)
    )


def test_a_score_loads_its_own_module_alone():
    """Every score has its function, and no other module of scores is loaded for a name."""
    assert all(callable(score.function) for score in SCORES.values())
    code = "import sys, abstain; abstain.scores.get('msp').function; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert "abstain.scores._softmax" in loaded
    own = {f"abstain.scores._{score.module}" for score in SCORES.values()}
    assert own & set(loaded) == {"abstain.scores._softmax", "abstain.scores._passes"}


TWO = np.ones((2, 5))


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({}, "no arrays were given"),
        ({"features": TWO}, "energy needs logits, which these outputs do not hold"),
        ({"logits": TWO, "features": np.ones((3, 2))}, "lengths differ"),
        ({"features": [[np.nan, 1.0]]}, "holds NaN or infinities"),
        ({"logits": [[1.0, -np.inf]]}, r"logits is not finite: logits\[0, 1\] = -inf"),
        ({"logits": np.ones((3, 1))}, "logits needs one column per class, got 1 column"),
        ({"features": np.ones(3)}, r"features must have 2 dimensions, none of them empty, got shape \(3,\)"),
        ({"features": np.ones((0, 3))}, r"features must have 2 dimensions, none of them empty, got shape \(0, 3\)"),
        ({"features": [["a"]]}, "features must be numeric, got dtype <U1"),
        ({"passes": [[[0.5, 0.5]], [[5.0, -4.0]]]}, r"passes\[1\] is outside \[0, 1\]: passes\[1\]\[0, 0\] = 5.0"),
        ({"features": TWO, "predictions": [0.5, 1.0]}, r"predictions is no whole number: predictions\[0\] = 0.5"),
        ({"features": TWO, "head": np.ones((3, 5))}, r"head must be a pair \(W, b\), got ndarray"),
        *(
            ({"features": TWO, "head": (np.ones(a), np.ones(b))}, r"head must be W of shape \(n_classes, 5\) and b of")
            for a, b in (((3, 4), 3), ((3, 5), 4), (5, 3))
        ),
        ({"probabilities": [[-1.0, 2.0]]}, "probabilities is outside"),
        ({"probabilities": [[0.5, 0.5]]}, "needs logits, but these outputs hold probabilities only"),
    ],
)
def test_arrays_are_checked(arrays, message):
    refused((ValueError, TypeError), message, scores.get("energy").fit().score_arrays, **arrays)
