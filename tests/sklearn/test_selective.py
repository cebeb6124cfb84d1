"""SelectiveClassifier, scorers and the confusion matrix, inside scikit-learn's own machinery."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification
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
        SelectiveClassifier(coverage=0.8, calibration="cv", cv=2),
        SelectiveClassifier(coverage=0.8, per_class=True),
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
    fresh = X[1000:]
    accepted = found.accept(fresh)
    assert accepted.mean() > 0.3
    assert np.mean(found.predict(fresh)[accepted] != Y[1000:][accepted]) < 0.45


def test_a_frozen_estimator_is_not_fitted_again():
    """All rows calibrate."""
    inner = LogisticRegression().fit(X[:500], Y[:500])
    found = SelectiveClassifier(FrozenEstimator(inner), capacity=0.3).fit(X[500:], Y[500:])
    assert found.n_calibration_ == 1500
    np.testing.assert_array_equal(found.predict_proba(X), inner.predict_proba(X))


@pytest.mark.parametrize("value", [[1, 2], [1], np.array(["?", "!"])])
def test_a_reject_value_is_one_label(value):
    """Of several NumPy would have tried to give each rejected row another one."""
    with pytest.raises(ValueError, match="reject_value must be one label, got"):
        SelectiveClassifier(coverage=0.5, reject_value=value).fit(X, Y)


def test_reject_values():
    """None: labels everywhere; a number, or a word, where rejected."""
    base = SelectiveClassifier(coverage=0.5).fit(X, Y)
    accepted = base.accept(X)
    assert set(base.predict(X)) == {0, 1}
    for value in (-1, "reject", np.nan):
        decided = SelectiveClassifier(coverage=0.5, reject_value=value).fit(X, Y).predict(X)
        assert decided[accepted].tolist() == base.predict(X)[accepted].tolist()
        assert all(one == value or one != one for one in decided[~accepted].tolist())


def test_without_probabilities_the_margin_decides():
    """Ridge has a decision function only."""
    found = SelectiveClassifier(RidgeClassifier(), coverage=0.5).fit(X, Y)
    assert not hasattr(found, "predict_proba")
    assert 0.4 < found.accept(X).mean() < 0.6


def test_pipelines_and_searches():
    """In a pipeline, around a pipeline, in cross_validate with several scorers and in a grid search."""
    inner = SelectiveClassifier(make_pipeline(StandardScaler(), LogisticRegression()), coverage=0.7)
    outer = make_pipeline(StandardScaler(), SelectiveClassifier(coverage=0.7))
    scorers = {
        "augrc": selective_scorer("augrc"),
        "aurc": selective_scorer("aurc"),
        "coverage": selective_scorer("coverage_at_risk", risk=0.1),
    }
    for estimator in (inner, outer):
        result = cross_validate(estimator, X, Y, cv=3, scoring=scorers)
        assert (result["test_augrc"] < 0).all()
        assert (result["test_coverage"] > 0).all()
    search = GridSearchCV(LogisticRegression(), {"C": [1e-4, 1.0]}, scoring=selective_scorer("augrc"), cv=3)
    assert search.fit(X, Y).best_params_ == {"C": 1.0}


def test_metadata_reaches_the_classifier():
    """Weights are split with the rows, with and without routing."""
    weight = np.where(Y == 1, 10.0, 1.0)
    plain = SelectiveClassifier(coverage=0.8).fit(X, Y)
    weighted = SelectiveClassifier(coverage=0.8).fit(X, Y, sample_weight=weight)
    assert weighted.predict(X).mean() > plain.predict(X).mean()
    with config_context(enable_metadata_routing=True):
        inner = LogisticRegression().set_fit_request(sample_weight=True)
        routed = SelectiveClassifier(inner, coverage=0.8).fit(X, Y, sample_weight=weight)
    np.testing.assert_array_equal(routed.predict(X), weighted.predict(X))


def test_cross_fitting_warns_about_the_certificate():
    """Out-of-fold classifiers are others than the one that is deployed."""
    with pytest.warns(UserWarning, match="out-of-fold"):
        SelectiveClassifier(risk=0.45, delta=0.05, calibration="cv").fit(X, Y)


def test_the_scorer_is_the_metric():
    """Up to the sign."""
    model = LogisticRegression().fit(X, Y)
    expected = abstain.augrc(model.predict(X) != Y, model.predict_proba(X).max(axis=1))
    assert selective_scorer("augrc")(model, X, Y) == -expected


@pytest.mark.parametrize("metric", ["augrc", "coverage_at_risk"])
def test_the_scorer_looks_into_pipelines_and_searches(metric):
    """Rejected labels are no errors there either, and the score is that of the selective classifier."""
    inner = SelectiveClassifier(LogisticRegression(), coverage=0.5, confidence_score="neg_entropy", reject_value=-1)
    scorer, scaled = selective_scorer(metric), StandardScaler().fit_transform(X)
    expected = scorer(inner.fit(scaled, Y), scaled, Y)
    piped = make_pipeline(StandardScaler(), inner).fit(X, Y)
    assert scorer(piped, X, Y) == expected
    assert scorer(GridSearchCV(piped, {"selectiveclassifier__coverage": [0.5]}, cv=2).fit(X, Y), X, Y) == expected


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: selective_scorer("nll"), ValueError, "nll is no metric of a reject option"),
        (lambda: selective_scorer("augrc")(KMeans(2, n_init=1).fit(X), X, Y), TypeError,
         "KMeans has no predict_proba and no decision_function to"),
        (lambda: SelectiveClassifier(LinearSVC(), coverage=0.8, confidence_score=len).fit(X, Y), TypeError,
         "LinearSVC has no predict_proba to"),
        (lambda: SelectiveClassifier(coverage=0.8, calibration=None).fit(X, Y), ValueError, "calibration must lie"),
        (lambda: confusion_matrix_with_reject([0, 1], [1, 1], [0.3, 0.9]), ValueError, r"accept\[0\] = .*0.3"),
        (lambda: confusion_matrix_with_reject([0, 1], [1, 1], ["yes", "no"]), ValueError, r"accept\[0\] = .*yes"),
        (lambda: confusion_matrix_with_reject([0], [0], [True], sample_weight=[-1]), ValueError, "sample_weight"),
        (lambda: confusion_matrix_with_reject([0], [0], [True], labels=[0, 0]), ValueError, "a class twice"),
        (lambda: confusion_matrix_with_reject([0, 1], [0], [True, True]), ValueError, "y_true: 2, y_pred: 1"),
        (lambda: confusion_matrix_with_reject([0, 1], [0, 1], [True]), ValueError, "lengths differ .*accept: 1"),
        (lambda: confusion_matrix_with_reject([0], [0], [True], sample_weight=[1, 1]), ValueError, "sample_weight: 2"),
    ],
)  # fmt: skip
def test_bad_arguments_are_named(call, error, message):
    """With what to do instead."""
    refused(error, message, call)


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


@pytest.mark.parametrize("share", [0.0, 1.5, "half"])
def test_a_wrong_share_is_refused(share):
    """The message names the argument and the remedy."""
    with pytest.raises(ValueError, match=r"calibration must lie inside"):
        SelectiveClassifier(coverage=0.8, calibration=share).fit(X, Y)


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


def test_no_objective_is_guessed():
    """Nothing is chosen for want of a word."""
    with pytest.raises(TypeError, match="no objective: give one of risk, coverage, capacity, cost, metric"):
        SelectiveClassifier().fit(X, Y)


def test_a_fitted_model_is_not_fitted_again_in_silence():
    """With prefit it is taken as it is, and all rows calibrate; without, a warning names the way."""
    inner = LogisticRegression().fit(X[:500], Y[:500])
    weights = inner.coef_.copy()
    found = SelectiveClassifier(inner, coverage=0.6, prefit=True).fit(X[500:], Y[500:])
    assert found.estimator_ is inner
    assert np.array_equal(inner.coef_, weights)
    assert found.n_calibration_ == len(Y) - 500
    for calibration in (0.25, "cv"):
        with pytest.warns(UserWarning, match="LogisticRegression is fitted already and is fitted again here; prefit"):
            SelectiveClassifier(inner, coverage=0.6, calibration=calibration).fit(X, Y)
    with pytest.raises(Exception, match="not fitted"):
        SelectiveClassifier(LogisticRegression(), coverage=0.6, prefit=True).fit(X, Y)
    with pytest.raises(TypeError, match="takes no sample_weight"):
        SelectiveClassifier(inner, coverage=0.6, prefit=True).fit(X, Y, sample_weight=np.ones(len(Y)))


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


def test_groups_are_routed():
    """Through a search with routing: the groups stay here, the weights go to the classifier."""
    from sklearn.model_selection import GridSearchCV

    site = np.where(np.arange(len(Y)) % 3 == 0, "a", "b")
    with config_context(enable_metadata_routing=True):
        inner = LogisticRegression().set_fit_request(sample_weight=True)
        model = (
            SelectiveClassifier(inner, coverage=0.5).set_fit_request(groups=True).set_score_request(sample_weight=False)
        )
        search = GridSearchCV(model, {"coverage": [0.4, 0.6]}, cv=2)
        search.fit(X, Y, groups=site, sample_weight=np.ones(len(Y)))
        assert set(search.best_estimator_.threshold_.groups) == {"a", "b"}


def test_the_scorer_weighs_rows():
    """A weight of five is a row that is there five times."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 2))
    y = (x[:, 0] + rng.normal(size=400) > 0).astype(int)
    model, times = LogisticRegression().fit(x, y), np.where(y == 1, 5, 1)
    weighed = selective_scorer("augrc")(model, x, y, sample_weight=times)
    assert weighed == pytest.approx(selective_scorer("augrc")(model, np.repeat(x, times, axis=0), np.repeat(y, times)))
