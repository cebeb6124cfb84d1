"""SelectiveClassifier, scorers and the confusion matrix, inside scikit-learn's own machinery."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import abstain
from abstain.sklearn import SelectiveClassifier, confusion_matrix_with_reject, selective_scorer
from tests.refusal import refused

X, Y = make_classification(2000, n_informative=4, flip_y=0.1, random_state=0)


@parametrize_with_checks(
    [
        SelectiveClassifier(coverage=0.8),
        SelectiveClassifier(coverage=0.8, calibration="cv", cv=2, per_class=True),
    ]
)
def test_scikit_learn_accepts_it(estimator, check):
    """Every check that scikit-learn has for classifiers."""
    check(estimator)


@pytest.mark.parametrize("make", ["numpy", "pandas", "polars"])
def test_any_table_gives_the_same(make):
    """NumPy arrays, pandas and polars frames in, the same labels and the same mask out."""
    names = [f"x{i}" for i in range(X.shape[1])]
    data = X
    if make != "numpy":
        data = pytest.importorskip(make).DataFrame(dict(zip(names, X.T, strict=True)))
    expected = SelectiveClassifier(coverage=0.6).fit(X, Y)
    found = SelectiveClassifier(coverage=0.6).fit(data, Y)
    np.testing.assert_array_equal(found.accept(data), expected.accept(X))
    np.testing.assert_array_equal(found.predict(data), expected.predict(X))


def test_the_threshold_comes_from_rows_that_were_held_out():
    """The calibration share is not fitted on, and a certificate is about it."""
    found = SelectiveClassifier(risk=0.45, delta=0.05).fit(X[:1000], Y[:1000])
    assert isinstance(found.threshold_, abstain.CertifiedThreshold)
    assert found.threshold_.n == found.n_calibration_ == 250
    for seed in range(4):  # of two rows of each class one is held out
        few = SelectiveClassifier(DummyClassifier(), coverage=1.0, calibration=0.5, random_state=seed)
        assert few.fit(X[:4], [0, 0, 1, 1]).estimator_.class_prior_.tolist() == [0.5, 0.5]
    fresh = X[1000:]
    accepted = found.accept(fresh)
    assert accepted.mean() > 0.3
    assert np.mean(found.predict(fresh)[accepted] != Y[1000:][accepted]) < 0.45


def test_reject_values():
    """None: labels everywhere; a number, or a word, where rejected."""
    base = SelectiveClassifier(coverage=0.5).fit(X, Y)
    accepted = base.accept(X)
    assert set(base.predict(X)) == {0, 1}
    for value in (-1, "reject", np.nan):
        decided = SelectiveClassifier(coverage=0.5, reject_value=value).fit(X, Y).predict(X)
        assert decided[accepted].tolist() == base.predict(X)[accepted].tolist()
        assert all(one == value or one != one for one in decided[~accepted].tolist())


def test_pipelines_and_searches():
    """In a pipeline, around a pipeline, in cross_validate with several scorers and in a grid search."""
    inner = SelectiveClassifier(make_pipeline(StandardScaler(), LogisticRegression()), coverage=0.7)
    outer = make_pipeline(StandardScaler(), PCA(9), SelectiveClassifier(RidgeClassifier(), coverage=0.7))
    scorers = {"augrc": selective_scorer("augrc"), "coverage": selective_scorer("coverage_at_risk", risk=0.1)}
    for estimator in (inner, outer):
        result = cross_validate(estimator, X, Y, cv=3, scoring=scorers)
        assert (result["test_augrc"] < 0).all()
        assert (result["test_coverage"] > 0).all()
    search = GridSearchCV(LogisticRegression(), {"C": [1e-4, 1.0]}, scoring=selective_scorer("augrc"), cv=3)
    assert search.fit(X, Y).best_params_ == {"C": 1.0}
    assert not hasattr(outer.fit(X, Y)[-1], "predict_proba")


def test_metadata_reaches_the_classifier():
    """Weights are split with the rows, with and without routing; groups stay in the selective classifier."""
    weight, site = np.where(Y == 1, 10.0, 1.0), np.where(np.arange(len(Y)) % 3 == 0, "a", "b")
    plain = SelectiveClassifier(coverage=0.8).fit(X, Y)
    weighted = SelectiveClassifier(coverage=0.8).fit(X, Y, sample_weight=weight)
    assert weighted.predict(X).mean() > plain.predict(X).mean()
    with config_context(enable_metadata_routing=True):
        inner = LogisticRegression().set_fit_request(sample_weight=True)
        routed = SelectiveClassifier(inner, coverage=0.8).fit(X, Y, sample_weight=weight)
        model = SelectiveClassifier(inner, coverage=0.5).set_fit_request(groups=True)
        search = GridSearchCV(model.set_score_request(sample_weight=False), {"coverage": [0.4, 0.6]}, cv=2)
        assert set(search.fit(X, Y, groups=site, sample_weight=weight).best_estimator_.threshold_.groups) == {"a", "b"}
    np.testing.assert_array_equal(routed.predict(X), weighted.predict(X))


def test_the_confusion_matrix_counts_every_row_once():
    """Row by row, with weights and in the order of the labels; a class that labels lack is named."""
    rng = np.random.default_rng(0)
    truth, guess, mask = rng.integers(0, 3, 100), rng.integers(0, 3, 100), rng.random(100) < 0.7
    weight = rng.integers(1, 5, 100).astype(float)
    expected = np.zeros((2, 4, 5))
    for t, g, taken, w in zip(truth, guess, mask, weight, strict=True):
        expected[:, t, g if taken else 4] += (1.0, w)
    order, columns = [2, 0, 3, 1], [2, 0, 3, 1, 4]
    found = confusion_matrix_with_reject(truth, np.where(mask, guess, -1), mask)
    np.testing.assert_array_equal(found, expected[0][:3, [0, 1, 2, 4]])
    found = confusion_matrix_with_reject(truth, guess, mask, labels=order, sample_weight=weight)
    np.testing.assert_array_equal(found, expected[1][order][:, columns])
    with pytest.raises(ValueError, match="class 2 occurs but is not in labels"):
        confusion_matrix_with_reject(truth, guess, mask, labels=[0, 1])


def test_a_threshold_per_class():
    """Each predicted class answers its share; delta is divided among the classes; a policy needs the class."""
    found = SelectiveClassifier(coverage=0.6, per_class=True).fit(X, Y)
    labels, accepted = found.predict(X), found.accept(X)
    for label in (0, 1):
        assert accepted[labels == label].mean() == pytest.approx(0.6, abs=0.06)
    decided = found.policy(score="conf", predicted="class").accept(found.confidence(X), labels)
    np.testing.assert_array_equal(decided, accepted)
    refused(TypeError, "predicted=", found.policy, score="conf")
    certified = SelectiveClassifier(risk=0.45, delta=0.05, per_class=True).fit(X, Y)
    assert [each.delta for each in certified.threshold_.groups.values()] == [0.025, 0.025]


def test_rejecting_everything_is_said():
    """A certificate from few rows is not attained, in one class or at all."""
    with pytest.warns(UserWarning, match=r"all rows are rejected, .*: 25 calibration rows are too few"):
        found = SelectiveClassifier(risk=0.05, delta=0.05).fit(X[:100], Y[:100])
    assert not found.accept(X).any()
    with pytest.warns(UserWarning, match="all rows predicted as 0, 1 are rejected"):
        SelectiveClassifier(risk=0.05, delta=0.05, per_class=True).fit(X[:100], Y[:100])


@pytest.mark.filterwarnings("error")
def test_a_fitted_model_is_not_fitted_again_in_silence():
    """Frozen or with prefit it is taken as it is, and all rows calibrate; without, a warning names the way."""
    inner = LogisticRegression().fit(X[:500], Y[:500])
    expected = inner.predict_proba(X)
    for estimator, prefit in ((FrozenEstimator(inner), False), (inner, True)):
        found = SelectiveClassifier(estimator, coverage=0.6, prefit=prefit).fit(X[500:], Y[500:])
        assert found.n_calibration_ == len(Y) - 500
        np.testing.assert_array_equal(found.predict_proba(X), expected)
    for calibration in (0.25, "cv"):
        with pytest.warns(UserWarning, match="LogisticRegression is fitted already and is fitted again here; prefit"):
            SelectiveClassifier(inner, coverage=0.6, calibration=calibration).fit(X, Y)
    with pytest.warns(UserWarning, match="out-of-fold"):  # classifiers that are not deployed
        SelectiveClassifier(risk=0.45, delta=0.05, calibration="cv").fit(X, Y)
    unfitted = SelectiveClassifier(LogisticRegression(), coverage=0.6, prefit=True)
    refused(Exception, "not fitted", unfitted.fit, X, Y)
    weight = {"sample_weight": np.ones(len(Y))}
    refused(
        TypeError, "takes no sample_weight", SelectiveClassifier(inner, coverage=0.6, prefit=True).fit, X, Y, **weight
    )


@pytest.mark.parametrize("calibration", [0.25, "cv"])
def test_a_threshold_for_each_group(calibration):
    """Groups are split with the rows; new rows need theirs, and unknown ones are rejected."""
    site = np.where(np.arange(len(Y)) % 3 == 0, "a", "b")
    found = SelectiveClassifier(coverage=0.5, calibration=calibration, reject_value=-1).fit(X, Y, groups=site)
    assert set(found.threshold_.groups) == {"a", "b"}
    accepted = found.accept(X, site)
    for name, one in found.threshold_.groups.items():
        mine = site == name
        assert np.array_equal(accepted[mine], found.confidence(X)[mine] >= one.threshold)
    assert ((found.predict(X, site) == -1) == ~accepted).all()
    assert not found.accept(X[:5], ["c"] * 5).any()
    policy = found.policy(score="conf", group="site", model="7")
    assert np.array_equal(policy.decide(found.confidence(X), site).accepted, accepted)
    assert policy.about["model"] == "7"
    refused(TypeError, "give groups=", found.predict, X)
    refused(TypeError, "name its column with group=", found.policy, score="conf")
    with pytest.raises(TypeError, match="give one of them"):
        SelectiveClassifier(coverage=0.5, per_class=True).fit(X, Y, groups=site)


def test_the_scorer_is_the_metric():
    """Up to the sign; a weight of five is a row that is there five times."""
    model, scorer, times = LogisticRegression().fit(X, Y), selective_scorer("augrc"), np.where(Y == 1, 5, 1)
    expected = abstain.augrc(model.predict(X) != Y, model.predict_proba(X).max(axis=1))
    assert scorer(model, X, Y) == -expected
    copies = np.repeat(X, times, axis=0), np.repeat(Y, times)
    assert scorer(model, X, Y, sample_weight=times) == pytest.approx(scorer(model, *copies))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"coverage": None}, "no objective: give one of risk, coverage, capacity, cost, metric"),
        ({"calibration": None}, "calibration must lie inside"),
        ({"calibration": 0.0}, "calibration must lie inside"),
        ({"calibration": "half"}, "calibration must lie inside"),
        ({"reject_value": [1, 2]}, "reject_value must be one label, got"),
        ({"reject_value": np.array(["?", "!"])}, "reject_value must be one label, got"),
        ({"estimator": LinearSVC(), "confidence_score": len}, "LinearSVC has no predict_proba to"),
    ],
)
def test_bad_options_are_named(options, message):
    """With what to do instead."""
    refused((ValueError, TypeError), message, SelectiveClassifier(**({"coverage": 0.8} | options)).fit, X, Y)


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (([0, 1], [1, 1], [0.3, 0.9]), {}, r"accept\[0\] = .*0.3"),
        (([0], [0], [True]), {"labels": [0, 0]}, "a class twice"),
        (([0, 1], [0, 1], [True]), {}, "lengths differ .*accept: 1"),
    ],
)
def test_bad_columns_are_named(columns, options, message):
    """A metric and a model that cannot be scored, too."""
    refused(ValueError, message, confusion_matrix_with_reject, *columns, **options)
    refused(ValueError, "nll is no metric of a reject option", selective_scorer, "nll")
    means = KMeans(2, n_init=1).fit(X)
    refused(
        TypeError, "KMeans has no predict_proba and no decision_function to", selective_scorer("augrc"), means, X, Y
    )
