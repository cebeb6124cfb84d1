"""What a plan and a result say of few errors, and what they do where a few confident ones decide."""

import numpy as np
import pytest

import abstain


def test_few_errors_say_what_they_cost_and_what_one_more_would_do():
    """A plan that expects fewer than five errors names the price; the result says what a confident one would change."""
    rng = np.random.default_rng(0)
    score = rng.random(5000)
    loss = (rng.random(5000) < 0.04 * (1.0 - score)).astype(float)
    plan = abstain.plan_labels(score, n=100, error_rate=0.02, seed=0)
    said = "about 2 errors are expected among 100 labels: 34 % of this half-width is room for one that none of them"
    assert f"{said} shows; 250 labels would show 5" in plan.notes()
    assert not any("are expected" in note for note in abstain.plan_labels(score, n=250, error_rate=0.02).notes())
    known = np.where(plan.stage > 0, loss, np.nan)
    found = abstain.evaluate(loss=known, confidence=score, plan=plan)
    more = found.provenance["few_labels"]["one_more_error"]
    assert set(more) == {"Accuracy", "AUGRC", "AURC", "Selective risk at coverage 80 %"}
    worse, right = known.copy(), np.flatnonzero(known == 0.0)
    worse[right[np.argmax(score[right])]] = 1.0
    then = abstain.evaluate(loss=worse, confidence=score, plan=plan, metrics=["augrc", "aurc"]).measurements
    assert [each.value for each in then] == [more["AUGRC"], more["AURC"]]
    assert any("had the most confident labelled row been wrong, too" in note for note in found.notes())
    many = np.where(plan.stage > 0, (rng.random(5000) < 0.2) * 1.0, np.nan)
    assert not abstain.evaluate(loss=many, confidence=score, plan=plan).provenance["few_labels"]["one_more_error"]


def test_one_more_error_gives_a_value_that_some_labels_could_give():
    """With a single label the value of one more error is still a possible one: no accuracy below 0."""
    score = np.linspace(0.0, 1.0, 50)
    plan = abstain.plan_labels(score, n=1, seed=1)
    found = abstain.evaluate(loss=np.where(plan.stage > 0, 0.0, np.nan), confidence=score, plan=plan)
    more = found.provenance["few_labels"]["one_more_error"]
    assert 0.0 <= more["Accuracy"] <= 1.0
    assert more["AUGRC"] <= 0.5
    assert more["AURC"] <= 1.0


def test_a_plan_for_aurc_labels_what_decides_it():
    """No label stands for much more than another; for AUGRC, regions and comparisons rows are drawn as before."""
    score = np.linspace(1.0, 0.0, 2000)
    plan = abstain.plan_labels(score, n=200, metric="aurc", seed=0)
    assert plan.design == "levelled"
    weight = np.cumsum((1.0 / np.arange(1, 2001))[::-1])[::-1] / 2000
    stands_for = weight / plan.inclusion
    assert stands_for.max() < 2.2 * weight.sum() / 200
    assert np.ptp(plan.inclusion[400:]) < 1e-12
    assert plan.inclusion[0] > 3.0 * plan.inclusion[-1]
    assert plan.inclusion.sum() == pytest.approx(200)
    assert abstain.plan_labels(score, n=200, seed=0).design == "uniform"
    assert abstain.plan_labels(score, n=200, metric="aurc", region=0.5, seed=0).design == "uniform"
    loss = np.zeros(2000)
    loss[-300:] = np.arange(300) % 2
    widths = {}
    for made in (plan, abstain.plan_labels(score, n=200, metric="aurc", design="uniform", seed=0)):
        known = np.where(made.stage > 0, loss, np.nan)
        for unseen in ("top", "random"):
            found = abstain.evaluate(loss=known, confidence=score, plan=made, metrics="aurc", unseen=unseen)
            one = found.measurements[0]
            widths[made.design, unseen] = one.high - one.low
            assert ("at the top" in (one.method or "")) == ((made.design, unseen) == ("uniform", "top"))
    assert widths["levelled", "top"] == widths["levelled", "random"]
    assert widths["uniform", "top"] > 2.0 * widths["uniform", "random"]
    worst = np.zeros(2000)
    worst[:36] = 1.0  # of 37 errors at the top no label is drawn in 2.5 % of samples
    one = abstain.evaluate(loss=np.where(made.stage > 0, 0.0, np.nan), confidence=score, plan=made, metrics="aurc")
    assert one.measurements[0].high >= abstain.aurc(worst, score)
