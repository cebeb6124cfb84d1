"""Certificates of a region, levels of interim analyses, and what is said where a few confident errors decide."""

import numpy as np
import pytest

import abstain
from abstain.pool import certify_region, interim_level
from tests.refusal import refused

RNG = np.random.default_rng(6)
SCORE = RNG.random(4000)
LOSS = (RNG.random(4000) < 0.9 * (1.0 - SCORE)).astype(float)


def labelled_region(n, region, seed, loss=LOSS, score=SCORE, **guarantee):
    """Label n rows of a region and certify."""
    plan = abstain.plan_labels(score, n=n, region=region, seed=seed)
    return certify_region(plan, np.where(plan.stage > 0, loss, np.nan), **{"risk": 0.1, "delta": 0.05, **guarantee})


def test_what_is_accepted_is_a_share_of_the_pool_and_lies_in_the_zone():
    """Coverage counts all rows of the pool; the same threshold decides; nothing certified accepts nothing."""
    found = labelled_region(400, 0.25, 3)
    assert found.coverage == np.mean(found.threshold <= SCORE) > 0.05
    assert found.threshold >= np.quantile(SCORE, 0.74)
    assert LOSS[found.threshold <= SCORE].mean() < 0.1
    nothing = labelled_region(40, 0.25, 1, risk=0.01)
    assert (nothing.coverage, nothing.threshold) == (0.0, np.inf)
    assert nothing.headline().startswith("Nothing certified: risk at most 0.01, from 40 labels")


def test_labels_of_two_stages_and_of_a_whole_region_certify():
    """Each stage is drawn alike from the rows that are left; none may be left."""
    plan = abstain.plan_labels(SCORE, n=100, region=0.1, seed=0)
    for n in (100, 200):
        plan = plan.extend(np.where(plan.stage > 0, LOSS, np.nan), n=n, seed=1)
        found = certify_region(plan, np.where(plan.stage > 0, LOSS, np.nan), risk=0.2, delta=0.05)
        assert (found.n, found.errors) == (plan.planned.size, LOSS[plan.planned].sum())
        assert (found.region, found.coverage) == (0.1, np.mean(found.threshold <= SCORE))
    assert found.n == 400
    assert abstain.plan_labels(SCORE, n=9, region=1, seed=0).frame.all()


def test_false_certificates_are_rare():
    """Where every threshold is just above the limit, about one guarantee in twenty is false."""
    false, runs = 0, 75
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        score, loss = rng.random(1000), (rng.random(1000) < 0.0502).astype(float)
        false += labelled_region(300, 0.4, seed, loss, score, risk=0.05).coverage > 0.0
    assert false / runs < 0.05 + 3.0 * np.sqrt(0.05 * 0.95 / runs)


def test_what_cannot_be_certified_or_looked_at_is_refused():
    """Rows drawn with unequal chances are no sample of the region; an analysis is one of those announced."""
    plan = abstain.plan_labels(SCORE, n=100, judge=LOSS, design="planned", seed=0)
    known = np.where(plan.stage > 0, LOSS, np.nan)
    refused(ValueError, "a certificate needs rows drawn alike", certify_region, plan, known, risk=0.1, delta=0.05)
    assert 0.95 < interim_level(50, 50) < 0.97
    for analysis, analyses in ((0, 3), (4, 3), (1, 51), (1.5, 3)):
        refused(ValueError, "analys", interim_level, analysis, analyses)


def test_former_names_warn_and_work():
    """Names of version 0.2 are found for one more release."""
    for name, new in (("look_level", "interim_level"), ("certify_zone", "certify_region")):
        with pytest.warns(FutureWarning, match=f"abstain.pool.{name} is now abstain.pool.{new}"):
            assert getattr(abstain.pool, name) is getattr(abstain.pool, new)
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        _ = abstain.pool.other
    with pytest.warns(FutureWarning, match="zone= is now region="):
        plan = abstain.plan_labels(SCORE, n=20, zone=0.4, seed=0)
    assert plan.facts.region == 0.4


def test_few_errors_say_what_they_cost_and_what_one_more_would_do():
    """A plan that expects fewer than five errors names the price; the result says what a confident one would change."""
    rng = np.random.default_rng(0)
    score = rng.random(5000)
    plan = abstain.plan_labels(score, n=100, error_rate=0.02, seed=0)
    said = "about 2 errors are expected among 100 labels: 34 % of this half-width is room for one that none of them"
    assert f"{said} shows; 250 labels would show 5" in plan.notes()
    for n, few in ((246, True), (249, False)):  # 4.92 and 4.98 errors
        notes = abstain.plan_labels(score, n=n, error_rate=0.02).notes()
        assert any("are expected" in note for note in notes) == few
    for rows, shown in ((250, True), (249, False)):  # the pool may hold no 250 rows
        notes = abstain.plan_labels(score[:rows], n=100, error_rate=0.02).notes()
        (note,) = [each for each in notes if "errors are expected among 100 labels" in each]
        assert ("labels would show" in note) == shown
    known = np.where(plan.stage > 0, rng.random(5000) < 0.04 * (1.0 - score), np.nan)
    found = abstain.evaluate(loss=known, confidence=score, plan=plan)
    more = found.provenance["few_labels"]["one_more_error"]
    worse, right = known.copy(), np.flatnonzero(known == 0.0)
    worse[right[np.argmax(score[right])]] = 1.0
    then = abstain.evaluate(loss=worse, confidence=score, plan=plan, metrics=["augrc", "aurc"]).measurements
    assert [each.value for each in then] == [more["AUGRC"], more["AURC"]]
    assert any("had the most confident labelled row been wrong, too" in note for note in found.notes())
    many = np.where(plan.stage > 0, (rng.random(5000) < 0.2) * 1.0, np.nan)
    assert not abstain.evaluate(loss=many, confidence=score, plan=plan).provenance["few_labels"]["one_more_error"]
    one = abstain.plan_labels(score[:50], n=1, seed=1)  # a value that some labels could give
    found = abstain.evaluate(loss=np.where(one.stage > 0, 0.0, np.nan), confidence=score[:50], plan=one)
    more = found.provenance["few_labels"]["one_more_error"]
    assert (more["Accuracy"] >= 0.0, more["AUGRC"] <= 0.5, more["AURC"] <= 1.0) == (True,) * 3


def test_a_plan_for_aurc_labels_what_decides_it():
    """No label stands for much more than another, so no room is kept for an unseen error at the top."""
    score, loss, widths = np.linspace(1.0, 0.0, 2000), np.arange(2000) % 2 * (np.arange(2000) >= 1700) * 1.0, {}
    for design in (None, "uniform"):
        plan = abstain.plan_labels(score, n=200, metric="aurc", design=design, seed=0)
        for unseen in ("top", "random"):
            given = {"loss": np.where(plan.stage > 0, loss, np.nan), "confidence": score, "plan": plan}
            one = abstain.evaluate(**given, metrics="aurc", unseen=unseen).measurements[0]
            widths[plan.design, unseen] = one.high - one.low
            assert ("at the top" in (one.method or "")) == ((plan.design, unseen) == ("uniform", "top"))
    assert widths["levelled", "top"] == widths["levelled", "random"]
    assert widths["uniform", "top"] > 2.0 * widths["uniform", "random"]
    none = np.where(plan.stage > 0, 0.0, np.nan)  # of 37 errors at the top no label is drawn in 2.5 % of samples
    one = abstain.evaluate(loss=none, confidence=score, plan=plan, metrics="aurc").measurements[0]
    assert one.high >= abstain.aurc((np.arange(2000) < 36) * 1.0, score)
    assert abstain.plan_labels(score, n=200, metric="aurc", region=0.5, seed=0).design == "uniform"
