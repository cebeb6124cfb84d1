"""What is drawn is what was computed: numbers read off the axes against their definitions."""

from itertools import pairwise

import numpy as np
import pytest

pytest.importorskip("matplotlib")

import abstain
from abstain import plots
from tests.refusal import refused

rng = np.random.default_rng(5)
N = 600
score = np.round(rng.random(N), 2)
loss = (rng.random(N) > score).astype(float)
group = rng.integers(0, 3, N)
OUTPUTS = abstain.Outputs(loss=loss, confidence=score, groups={"g": group})
EVALUATION = abstain.evaluate(OUTPUTS, metrics=["augrc", "aurc"], groups="g")


def test_bars_of_reliability_are_exact_intervals():
    """Accuracy, count and Clopper-Pearson of each bin, from the rows; weights and clusters take the intervals away."""
    panel = plots.ReliabilityDisplay.from_predictions(loss, score, bins=10).panels["confidence"]
    edges = np.linspace(0.0, 1.0, 11) + 1e-9
    for k, (low, high) in enumerate(pairwise(edges)):
        rows = (score > low) & (score <= high) if k else score <= high
        assert panel.curve.accuracy[k] == pytest.approx(1.0 - loss[rows].mean())
        ends = abstain.inference.clopper_pearson(int(loss[rows].sum()), int(rows.sum()))
        assert (1.0 - panel.high[k], 1.0 - panel.low[k]) == pytest.approx(ends)
    clustered = abstain.evaluate(abstain.Outputs(loss=loss, confidence=score, clusters=group), metrics="augrc")
    assert plots.ReliabilityDisplay.from_evaluation(clustered).panels["confidence"].low is None
    refused(abstain.UnmetNeed, r"\[0, 1\]", plots.ReliabilityDisplay.from_predictions, loss, 5.0 * score)


def test_histograms_have_area_one_and_name_the_shares():
    """Each outcome by itself; a graded loss has no outcomes."""
    display = plots.ScoreHistogramDisplay.from_evaluation(EVALUATION, bins=20)
    for stairs in display.ax_.patches:
        values, edges, _ = stairs.get_data()
        assert np.sum(values * np.diff(edges)) == pytest.approx(1.0)
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == [f"{100 * (1 - loss.mean()):.3g} % right", f"{100 * loss.mean():.3g} % wrong"]
    graded = abstain.evaluate(abstain.Outputs(loss=0.5 * loss + 0.2, confidence=score), metrics="augrc")
    refused(abstain.UnmetNeed, "0/1 loss", plots.ScoreHistogramDisplay.from_evaluation, graded)


def test_groups_share_one_threshold_worst_first():
    """Coverage and risk of each group at the threshold of all rows; an audit gives the same."""
    display = plots.GroupsDisplay.from_evaluation(EVALUATION, coverage=0.5)
    threshold = EVALUATION.curve().at(coverage=0.5).threshold
    risks = [row.risk for row in display.rows[1:]]
    assert risks == sorted(risks, reverse=True)
    for row in display.rows[1:]:
        rows = int(row.name[-1]) == group
        taken = rows & (score >= threshold)
        assert row.coverage == pytest.approx(taken.sum() / rows.sum())
        assert row.risk == pytest.approx(loss[taken].mean())
        assert row.risk_interval == abstain.inference.clopper_pearson(int(loss[taken].sum()), int(taken.sum()))
    alone = abstain.evaluate(loss=loss, confidence=score)
    refused(ValueError, "has no groups", plots.GroupsDisplay.from_evaluation, alone)
    found = abstain.choose_threshold(loss[:300], score[:300], coverage=0.5)
    seen = abstain.audit(found, loss[300:], score[300:], groups=group[300:])
    assert {row.name for row in plots.GroupsDisplay.from_audit(seen).rows} == {"all rows", "0", "1", "2"}


def test_bands_lie_around_their_curve():
    """The band of one threshold is the exact interval there; clusters and weights have none."""
    display = EVALUATION.plot()
    band = display.bands["confidence", "selective"]
    point = EVALUATION.curve().at(threshold=0.5)
    errors = round(point.selective_risk * point.n_accepted)
    ends = abstain.inference.clopper_pearson(errors, point.n_accepted)
    assert (band.at(0.5).low, band.at(0.5).high) == pytest.approx(ends)
    assert abstain.evaluate(abstain.Outputs(loss=loss, confidence=score, clusters=group)).plot().bands == {}
    groups = abstain.RiskCoverageDisplay.from_evaluation(EVALUATION, groups=True)
    assert list(groups.curves) == ["all rows", "g = 0", "g = 1", "g = 2"]
    bands = {"other": band}
    refused(ValueError, "none of the curves", abstain.RiskCoverageDisplay, EVALUATION.curve(), bands=bands)


def test_a_trade_off_says_what_the_threshold_does():
    """Per 1,000 rows: those below it, and the errors above it."""
    found = abstain.choose_threshold(loss, score, coverage=0.4)
    right = plots.TradeOffDisplay.from_threshold(found, loss, score).ax_[1]
    taken = score >= found.threshold
    said = [text.get_text() for text in right.texts]
    assert said == [f"{1000 * (1 - taken.mean()):.0f}", f"{1000 * (loss * taken).mean():.0f}"]


def test_a_plane_finds_the_pairs_that_metrics_order_differently():
    """By brute force, with direction; significance needs tests."""
    ends, better = [(0.0, 1.0)] * 3, np.zeros((3, 3), dtype=bool)
    better[0, 1] = True
    for first, second, said in ((None, None, None), (better, better, False), (better, better.T, True)):
        x = plots.Axis("AUROC", "higher", [0.9, 0.8, 0.7], ends, first)
        y = plots.Axis("AUGRC", "lower", [0.1, 0.05, 0.2], ends, second)
        assert list(plots.MetricPlaneDisplay(["a", "b", "c"], x, y).disagreements()) == [(0, 1, said)]


def test_contributions_sum_to_the_metric():
    """The left panel is the formula of the paper; the cumulated shares are those of the most confident failures."""
    display = plots.ContributionsDisplay.from_evaluation(EVALUATION, n=20)
    aurc, augrc = (line.get_ydata() for line in display.ax_[0].lines)
    place = np.arange(1, 21)
    assert aurc == pytest.approx([1000 * sum(1 / s for s in range(t, 21)) / 20 for t in place])
    assert augrc == pytest.approx(1000 * (20 - place + 0.5) / 400)
    top = score >= 0.8
    share, part = display.shares["confidence"]["augrc"]
    at = np.searchsorted(share, (loss * top).sum() / loss.sum() - 1e-9)
    contributions = abstain.contributions("augrc", loss, score)
    assert part[at] == pytest.approx(contributions[top].sum() / abstain.augrc(loss, score))


def test_the_most_confident_failures_are_the_rows_with_the_highest_scores():
    """In order, and at their coverage and risk on the curve."""
    display = plots.ConfidentFailuresDisplay.from_evaluation(EVALUATION, k=4)
    found = display.failures["confidence"]
    wrong = np.flatnonzero(loss)
    assert (score[found.rows] == np.sort(score[wrong])[::-1][:4]).all()
    for row, coverage, risk in zip(found.rows, found.coverage, found.selective, strict=True):
        taken = score >= score[row]
        assert (coverage, risk) == pytest.approx((taken.mean(), loss[taken].mean()))


def test_the_areas_of_the_geometry_add_up():
    """The numbers in the legend: triangle plus what the ranking adds is AUGRC."""
    display = plots.AUGRCGeometryDisplay.from_evaluation(EVALUATION)
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    triangle, ranking = (float(label.rpartition("= ")[2]) for label in labels[:2])
    assert triangle + ranking == pytest.approx(abstain.augrc(loss, score), abs=1.1e-4)


def test_estimates_are_those_of_the_metrics():
    """All rows at once give the population's value without deviation; twice SELE is twice SELE."""
    few = abstain.evaluate(OUTPUTS.select(slice(0, 64)), metrics="aurc")
    display = plots.EstimatesDisplay.from_evaluation(few, sizes=(16, 64), n_draws=5)
    harmonic = abstain.aurc(loss[:64], score[:64], estimator="harmonic")
    assert display.population == pytest.approx(harmonic)
    assert display.estimates["harmonic"][1] == pytest.approx(np.full(5, harmonic))
    assert display.estimates["2 × SELE"][0] == pytest.approx(2 * display.estimates["SELE"][0])
    side = plots.EstimatesByScoreDisplay.from_evaluation(few, n=64, n_draws=3)
    assert side.estimates["confidence"]["SELE"] == pytest.approx(np.full(3, abstain.sele(loss[:64], score[:64])))


def test_bars_are_ordered_by_the_first_metric():
    """Best on top, whatever is better; the values are those of the evaluation."""
    outputs = abstain.Outputs(loss=loss, confidence=score, scores={"noise": rng.random(N), "good": score - loss})
    evaluation = abstain.evaluate(outputs, ["noise", "good"], ["augrc", "auroc_f"])
    for metrics in (["augrc", "auroc_f"], ["auroc_f"]):
        display = plots.MetricBarsDisplay.from_evaluation(evaluation, metrics=metrics)
        assert [text.get_text() for text in np.ravel(display.ax_)[0].get_yticklabels()] == ["good", "noise"]
    assert display.panels[0].values == [evaluation.value("auroc_f", score=name) for name in ("noise", "good")]


def test_sweeps_and_agreement_take_the_values_of_the_metrics():
    """The line of CWSA+ is the metric at each threshold; equal definitions lie on the diagonal."""
    display = plots.CWSASweepDisplay.from_evaluation(EVALUATION, thresholds=[0.5, 0.7])
    lines = {line.get_label(): line.get_ydata() for line in display.ax_.lines}
    assert lines["CWSA+"] == pytest.approx([abstain.cwsa_plus(loss, score, threshold=t) for t in (0.5, 0.7)])
    assert lines["coverage"] == pytest.approx([(score >= t).mean() for t in (0.5, 0.7)])
    same = plots.AgreementDisplay.from_evaluation(EVALUATION, "augrc", "AUGRC")
    assert same.ax_.get_title() == "largest relative difference 0"


def test_monitoring_draws_the_periods_and_the_guarantee():
    """Risk and interval of every week, the limit, the alarm; small values far apart get a logarithmic axis."""
    draws = np.random.default_rng(0)
    first = draws.random(3000)
    policy = abstain.choose_threshold(draws.random(3000) > first**0.1, first, risk=0.15, delta=0.05).policy(score="s")
    week, later = np.repeat(np.arange(4), 150), draws.random(600)
    seen = abstain.monitor(policy, draws.random(600) > later**0.1, later, time=7.0 * week)
    axes = plots.MonitoringDisplay.from_monitoring(seen, policy).ax_
    lines = {line.get_label(): line.get_ydata() for line in axes[0].lines}
    assert lines["risk of the period, 95 %"] == pytest.approx([each.risk for each in seen.periods])
    assert lines["certified: at most 0.15"][0] == 0.15
    for low, end, scale in ((0.002, 0.001, "log"), (0.2, 0.1, "linear")):
        axis = plots.Axis("AURC", "lower", [low, 0.3], [(end, 0.4)] * 2)
        assert np.ravel(plots.MetricBarsDisplay(["a", "b"], [axis]).plot().ax_)[0].get_xscale() == scale
