"""What a plan and a result say of few errors."""

from __future__ import annotations

import numpy as np

import abstain


def test_few_errors_say_what_they_cost_and_what_one_more_would_do() -> None:
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


def test_one_more_error_gives_a_value_that_some_labels_could_give() -> None:
    """With a single label the value of one more error is still a possible one: no accuracy below 0."""
    score = np.linspace(0.0, 1.0, 50)
    plan = abstain.plan_labels(score, n=1, seed=1)
    found = abstain.evaluate(loss=np.where(plan.stage > 0, 0.0, np.nan), confidence=score, plan=plan)
    more = found.provenance["few_labels"]["one_more_error"]
    assert 0.0 <= more["Accuracy"] <= 1.0
    assert more["AUGRC"] <= 0.5
    assert more["AURC"] <= 1.0
