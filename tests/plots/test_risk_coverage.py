"""``RiskCoverageDisplay``: scikit-learn's conventions, the right lines, and few points that lose nothing."""

import numpy as np
import pytest

import abstain
from tests.refusal import refused

pyplot = pytest.importorskip("matplotlib.pyplot")
pyplot.switch_backend("Agg")

RNG = np.random.default_rng(2)
N = 400
LABELS = RNG.integers(0, 3, N)
CONFIDENCE = RNG.random(N)
PREDICTIONS = np.where(RNG.random(N) < CONFIDENCE, LABELS, (LABELS + 1) % 3)
LOSS = (LABELS != PREDICTIONS).astype(float)
CURVE = abstain.risk_coverage_curve(LOSS, CONFIDENCE)


def test_from_predictions():
    """Lines, axes and figure are kept under the names that scikit-learn gives them."""
    display = abstain.RiskCoverageDisplay.from_predictions(LABELS, PREDICTIONS, CONFIDENCE, name="mine")
    assert [ax.get_ylabel() for ax in display.ax_] == ["Selective risk", "Generalized risk"]
    assert {ax.get_xlabel() for ax in display.ax_} == {"Coverage"}
    assert display.figure_ is display.ax_[0].figure is display.ax_[1].figure
    left, right = display.line_
    np.testing.assert_array_equal(left.get_xdata(), CURVE.coverage)
    np.testing.assert_array_equal(left.get_ydata(), CURVE.selective_risk)
    np.testing.assert_array_equal(right.get_xdata(), np.append(0.0, CURVE.coverage))
    np.testing.assert_array_equal(right.get_ydata(), np.append(0.0, CURVE.generalized_risk))
    assert left.get_label() == f"mine (AURC {abstain.aurc(LOSS, CONFIDENCE):.3g})"
    assert right.get_label() == f"mine (AUGRC {abstain.augrc(LOSS, CONFIDENCE):.3g})"


def test_from_estimator():
    """A fitted classifier is asked for predictions and its largest probability, and lends its name."""
    linear_model = pytest.importorskip("sklearn.linear_model")
    X = np.random.default_rng(4).normal(size=(N, 4)) + LABELS[:, None]
    model = linear_model.LogisticRegression().fit(X[:200], LABELS[:200])
    display = abstain.RiskCoverageDisplay.from_estimator(model, X[200:], LABELS[200:], kind="generalized")
    loss = (model.predict(X[200:]) != LABELS[200:]).astype(float)
    wanted = abstain.risk_coverage_curve(loss, model.predict_proba(X[200:]).max(axis=1))
    np.testing.assert_array_equal(display.line_[0].get_ydata()[1:], wanted.generalized_risk)
    assert display.line_[0].get_label().startswith("LogisticRegression (AUGRC ")
    named = abstain.RiskCoverageDisplay.from_estimator(model, X, LABELS, name="linear")
    assert named.line_[0].get_label().startswith("linear (")


@pytest.mark.parametrize(("kind", "n_axes"), [("selective", 1), ("generalized", 1), ("both", 2)])
def test_kinds_and_axes(kind, n_axes):
    """New axes, or those that are given, in any shape that holds as many; of one the usual curve is drawn."""
    assert len(CURVE.plot(kind=kind).line_) == n_axes
    _, axes = pyplot.subplots(1, n_axes, squeeze=False)
    before = pyplot.get_fignums()
    for given in (axes, axes.ravel(), list(axes.ravel()), *([axes[0, 0]] if n_axes == 1 else [])):
        display = abstain.RiskCoverageDisplay(CURVE).plot(ax=given, kind=kind)
        assert display.ax_ is given
        assert [line.axes for line in display.line_] == list(axes.ravel())
    assert pyplot.get_fignums() == before
    assert CURVE.plot(ax=pyplot.subplots()[1]).ax_.get_ylabel() == "Selective risk"


def test_errors():
    """A wrong kind, a wrong number of axes, no curve and no probabilities are named."""
    _, three = pyplot.subplots(1, 3)
    for kind, n_axes in (("both", 2), ("selective", 1)):
        refused(ValueError, f"kind='{kind}' draws {n_axes} axes, but ax holds 3", CURVE.plot, ax=three, kind=kind)
    refused(ValueError, "kind='generalised' is not known; did you mean 'generalized'", CURVE.plot, kind="generalised")
    refused(ValueError, "curves is empty; give at least one", abstain.RiskCoverageDisplay, {})
    model = pytest.importorskip("sklearn.svm").LinearSVC().fit([[0.0], [1.0]], [0, 1])
    words = r"LinearSVC has no predict_proba .* use from_predictions"
    refused(TypeError, words, abstain.RiskCoverageDisplay.from_estimator, model, [[0.0]], [0])


def test_references():
    """The oracle and the random score enclose the curve, end where it ends, and can be left out."""
    ax = CURVE.plot(kind="selective", ax=pyplot.subplots()[1]).ax_
    curve, oracle, random = ax.get_lines()
    assert [line.get_label() for line in (oracle, random)] == ["oracle", "random"]
    assert np.all(random.get_ydata() == LOSS.mean())
    grid = np.asarray(oracle.get_xdata())
    rejected = np.maximum(0.0, LOSS.mean() - (1.0 - grid)) / grid
    np.testing.assert_allclose(oracle.get_ydata(), rejected, atol=1e-12)
    assert oracle.get_ydata()[-1] == pytest.approx(curve.get_ydata()[-1], abs=1e-12)
    plain = CURVE.plot(kind="selective", ax=pyplot.subplots()[1], plot_references=False)
    assert len(plain.ax_.get_lines()) == 1


@pytest.mark.parametrize("kind", ["selective", "generalized"])
def test_thinning_keeps_the_curve(kind):
    """Of a million points at most two thousand are drawn; both ends stay, and nobody can see the difference."""
    rng = np.random.default_rng(0)
    score = rng.random(10**6)
    million = abstain.risk_coverage_curve((rng.random(10**6) > score).astype(float), score)
    risk = million.selective_risk if kind == "selective" else million.generalized_risk
    x, y = map(np.asarray, million.plot(kind=kind).ax_.lines[0].get_data())
    assert 1000 < len(x) <= 2001
    first = 1 if kind == "generalized" else 0
    assert (x[first], y[first], x[-1], y[-1]) == (million.coverage[0], risk[0], 1.0, risk[-1])
    assert np.all(np.diff(x) > 0)
    assert np.isin(x[first:], million.coverage).all()
    error = np.abs(np.interp(million.coverage, x, y) - risk)
    assert error[million.coverage >= 0.001].max() < 2e-3 * risk.max()
