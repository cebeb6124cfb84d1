"""The verdict of thresholds, of monitoring, and of comparisons."""

import numpy as np
import pytest

import abstain
from abstain._result import Status, lines_of
from tests.result.test_verdict import caveat, kinds, rows

# ---------------------------------------------------------------------- thresholds


def test_a_threshold_is_certified_measured_or_not_certified():
    """With a limit and delta, for a coverage, and for a limit that these rows cannot certify."""
    loss, score = rows(4000)
    good = abstain.choose_threshold(loss, score, risk=0.05, delta=0.05)
    assert (good.verdict.status, good.verdict.limit, good.verdict.confidence) == (Status.CERTIFIED, 0.05, 0.95)
    assert lines_of(good.verdict)[0] == "certified: at most 5 % of the answers are wrong, with 95 % confidence"
    shown = (good.verdict.threshold, good.verdict.coverage, good.verdict.risk)
    assert shown == (good.threshold, good.coverage, good.risk)
    empirical = abstain.choose_threshold(loss, score, coverage=0.5).verdict
    assert (empirical.status, empirical.sign, empirical.levels) == (Status.MEASURED, "care", ())
    failed = abstain.choose_threshold(loss, score, risk=0.001, delta=0.05)
    verdict = failed.verdict
    assert (verdict.status, verdict.missed) == (Status.NOT_CERTIFIED, (0.001,))
    assert [each.limit for each in verdict.levels] == [each.risk for each in failed.attained]
    assert verdict.confidence == pytest.approx(0.9)
    assert "the confidence is 90 %, because a second certificate was tried" in " ".join(lines_of(verdict, 999))


def test_a_plan_never_names_fewer_rows_than_have_failed():
    """Of samples on both sides of the limit, by resampling one: the number exceeds the rows, or is not said."""
    loss, score = rows(400)
    planned = []
    for seed in range(40):
        draw = np.random.default_rng(seed).integers(0, 400, 400)
        found = abstain.choose_threshold(loss[draw], score[draw] + 1e-6 * np.arange(400), risk=0.03, delta=0.05)
        caveats = [each.values for each in found.verdict.caveats if each.kind == "out_of_reach"]
        planned += [each["needed"] for each in caveats if each["needed"]]
    assert planned
    assert min(planned) > 400


def test_printed_thresholds_accept_the_same_rows():
    """Of 200 samples with rounding in their scores: read back, the printed text accepts what the threshold does."""
    shorter = 0
    for seed in range(200):
        loss, score = rows(300, seed)
        score = np.sort(1.0 - (1.0 - score) ** 6) if seed % 2 else np.round(score, 3) + 1e-16
        found = abstain.choose_threshold(loss, score, coverage=0.1 + 0.8 * (seed / 200))
        assert np.array_equal(score >= float(found.printed), score >= found.threshold)
        assert float(found.printed) <= found.threshold
        shorter += len(found.printed) < len(repr(found.threshold))
    assert shorter > 100


# ---------------------------------------------------------------------- monitoring


def test_monitoring_reports_violations_changes_and_drift():
    """One group turns bad and scores rise: violated in it, with the group that stands out and drift as signals."""
    rng = np.random.default_rng(0)
    score, site = rng.random(6000), np.tile(["a", "b"], 3000)
    found = abstain.choose_threshold(rng.random(6000) > score**0.1, score, risk=0.1, delta=0.05, groups=site)
    policy, site = found.policy(score="s", group="site"), site[:4000]
    calm = abstain.monitor(policy, rng.random(4000) < 0.02, rng.random(4000), groups=site).verdict
    assert (calm.status, calm.sign) == (Status.NO_VIOLATION, "yes")
    assert not {"drift", "change", "stands_out"} & set(kinds(calm))
    later = np.maximum(rng.random(4000), rng.random(4000))
    bad = rng.random(4000) < np.where(site == "b", 0.3, 0.02)
    seen = abstain.monitor(policy, bad, later, groups=site, time=np.arange(4000) // 100)
    verdict = seen.verdict
    assert (verdict.status, verdict.sign, verdict.limit) == (Status.VIOLATED, "no", 0.1)
    assert f"first seen in b after {seen.violated_at:,} accepted rows of all groups" in verdict.guarantee
    assert verdict.guarantee.endswith("(the alarm); no violation found in a.")
    assert verdict.headline == "Stop answering in b by this policy."
    assert caveat(verdict, "stands_out").values["name"] == "b"
    assert any("still so" in each for each in caveat(verdict, "drift").values["what"])
    change = caveat(verdict, "change").values  # where it began, not where it was last seen
    assert (change["first"], change["count"]) == (seen.changed_at[0], seen.n_changes)


# ---------------------------------------------------------------------- comparisons


def test_a_comparison_says_what_was_compared_and_chooses_no_threshold():
    """Fewer errors are no better ranking; without a significant test that is said, and the set that may be best."""
    rng = np.random.default_rng(3)
    loss = {"a": (rng.random(3000) < 0.1).astype(float), "b": (rng.random(3000) < 0.2).astype(float)}
    scores = {name: rng.random(3000) for name in loss}
    found = abstain.compare(loss, scores).verdict
    better = found.comparison
    assert (better.best, better.significant, better.same_answers) == ("a", True, False)
    assert better.sentence.startswith("a is better than b: AUGRC ")
    assert {"error rate", "AUROC of"} <= {" ".join(each.split()[:2]) for each in found.details}
    same = abstain.compare(loss["a"], {"a": -loss["a"], "b": scores["b"]}).verdict.comparison
    assert same.sentence.startswith("a ranks errors better than b: AUGRC ")
    loss, score = rows(1500)
    three = {"a": score, "b": score + 1e-2 * rng.random(1500), "c": rng.random(1500)}
    verdict = abstain.compare(loss, three).verdict
    assert (verdict.status, verdict.sign, kinds(verdict)) == (Status.COMPARED, "open", ["selected_here"])
    assert set(verdict.comparison.may_be_best) == {"a", "b"}
    assert "is not significantly better than" in verdict.comparison.sentence
    same = abstain.compare(loss, {"a": score, "b": 2.0 * score}).verdict
    assert same.headline.startswith("a is as good as b: AUGRC ")


def test_a_test_that_there_is_not_has_no_p_value():
    """One error leaves AUROC of failures without a spread: no number is given for its test."""
    rng = np.random.default_rng(0)
    few, many, score = np.zeros(400), (rng.random(400) < 0.3) * 1.0, rng.random(400)
    few[int(np.argmin(score))] = 1.0
    lines = " ".join(lines_of(abstain.compare({"new": few, "old": many}, {"new": score, "old": score}).verdict))
    assert "nan" not in lines
    assert "not tested" in lines


def test_a_margin_is_shown_missed_or_left_open():
    """By the one-sided limits of the same test."""
    loss, score = rows(4000)
    noise = np.random.default_rng(2).random(len(loss))
    test = abstain.inference.non_inferiority
    missed = test(loss, {"noise": noise, "score": score}, margin=0.002)
    shown = test(loss, {"score": score, "noise": noise}, margin=0.002)
    left = test(loss, {"noise": noise, "score": score}, margin=missed.high - 1e-4)
    for found, words in (
        (missed, "It is shown that score is better than noise by more than 0.002 (AUGRC)."),
        (shown, "It is shown that score is not worse than noise by 0.002 or more (AUGRC, p < 0.001)."),
        (left, "It is not shown that "),
    ):
        assert found.verdict.headline.startswith(words)
    assert missed.verdict.score == "score"
