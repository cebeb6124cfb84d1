"""The verdict of thresholds, of monitoring, and of comparisons."""

import numpy as np
import pytest

import abstain
from abstain._result import Status, lines_of, percent
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


def test_more_rows_are_no_remedy_where_no_threshold_has_the_risk():
    """A chance ranking with 20 % errors: the lowest risk is said, no number of rows; it is that of the table."""
    rng = np.random.default_rng(5)
    loss, score = (rng.random(3000) < 0.2).astype(float), rng.random(3000)
    found = abstain.choose_threshold(loss, score, risk=0.1, delta=0.05)
    risks = np.cumsum(loss[np.argsort(-score)]) / np.arange(1, 3001)
    assert found.least == (29, pytest.approx(risks[28:].min()))
    assert found.least[1] > 0.1
    assert caveat(found.verdict, "out_of_reach").text.startswith(
        "If errors lie as here, 10 % would take a better score (a certificate takes 29 answers; of so many at least "
        f"{percent(found.least[1])} are wrong)"
    )
    assert not any("at least about" in line for line in found.notes())


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


def test_groups_without_a_threshold_share_a_caveat():
    """Two of four attain nothing: one caveat with both names; none attain it: not certified."""
    rng = np.random.default_rng(0)
    score, site = rng.random(4000), np.repeat(["a", "b", "c", "d"], 1000)
    rate = np.where(site < "c", 0.05 * (1.0 - score), 0.3)
    verdict = abstain.choose_threshold(rng.random(4000) < rate, score, risk=0.05, delta=0.05, groups=site).verdict
    assert (verdict.status, [each.group for each in verdict.groups if each.threshold]) == (Status.PARTLY, ["a", "b"])
    assert caveat(verdict, "groups_rejected").values["names"] == ["c", "d"]
    none = abstain.choose_threshold(rng.random(4000) < 0.3, score, risk=0.05, delta=0.05, groups=site).verdict
    assert (none.status, none.sign, none.levels) == (Status.NOT_CERTIFIED, "no", ())


def test_a_guarantee_about_clusters_names_its_population():
    """What is certified of new clusters is no statement about rows."""
    loss, score = rows(4000)
    found = abstain.choose_threshold(loss, score, risk=0.2, delta=0.05, clusters=np.arange(4000) // 4)
    assert found.attainable
    assert "each cluster that has one counting once" in found.verdict.details[0]
    assert found.verdict.graded


# ---------------------------------------------------------------------- monitoring and audits


def test_monitoring_reports_violations_changes_and_drift():
    """One group turns bad and scores rise: violated in it, with the group that stands out and drift as signals."""
    rng = np.random.default_rng(0)
    score, site = rng.random(6000), np.tile(["a", "b"], 3000)
    found = abstain.choose_threshold(rng.random(6000) > score**0.1, score, risk=0.1, delta=0.05, groups=site)
    policy = found.policy(score="s", group="site")
    later = np.maximum(rng.random(4000), rng.random(4000))
    bad = rng.random(4000) < np.where(np.tile(["a", "b"], 2000) == "b", 0.3, 0.02)
    seen = abstain.monitor(policy, bad, later, groups=np.tile(["a", "b"], 2000), time=np.arange(4000) // 100)
    verdict = seen.verdict
    assert (verdict.status, verdict.sign, verdict.limit) == (Status.VIOLATED, "no", 0.1)
    assert f"first seen in b after {seen.violated_at:,} accepted rows of all groups" in verdict.guarantee
    assert verdict.guarantee.endswith("(the alarm); no violation found in a.")
    assert verdict.headline == "Stop answering in b by this policy."
    assert caveat(verdict, "stands_out").values["name"] == "b"
    assert any("still so" in each for each in caveat(verdict, "drift").values["what"])
    calm = abstain.monitor(policy, rng.random(4000) < 0.02, rng.random(4000), groups=np.tile(["a", "b"], 2000)).verdict
    assert (calm.status, calm.sign) == (Status.NO_VIOLATION, "yes")
    assert not {"drift", "change", "stands_out"} & set(kinds(calm))


def test_the_first_signal_of_change_is_named_with_their_number():
    """Rows that turn bad in the middle: where it began, not where it was last seen."""
    rng = np.random.default_rng(0)
    score, later = rng.random(4000), rng.random(6000)
    policy = abstain.choose_threshold(rng.random(4000) > score**0.1, score, risk=0.1, delta=0.05).policy(score="s")
    wrong = np.where(np.arange(6000) < 3000, rng.random(6000) > later**0.1, rng.random(6000) < 0.4)
    seen = abstain.monitor(policy, wrong, later)
    assert len(seen.changed_at) > 1
    values = caveat(seen.verdict, "change").values
    assert (values["first"], values["count"]) == (seen.changed_at[0], seen.n_changes)


def test_an_audit_satisfies_violates_or_leaves_open():
    """By exact intervals of few or many rows; a policy without a guarantee is measured."""
    loss, score = rows(4000)
    found = abstain.choose_threshold(loss, score, risk=0.1, delta=0.05)
    for wrong, status in ((0.01, Status.SATISFIED), (0.3, Status.VIOLATED), (0.1, Status.UNDECIDED)):
        draw = np.arange(3000) % 100 < 100 * wrong
        verdict = abstain.audit(found, draw, np.full(3000, 2.0)).verdict
        assert (verdict.status, verdict.limit) == (status, 0.1)
        assert verdict.risk_interval is not None
    named = abstain.audit(found.policy(score="msp"), draw, np.full(3000, 2.0)).verdict
    assert named.rule.startswith("This policy answers if msp ≥")
    empirical = abstain.choose_threshold(loss, score, coverage=0.5)
    assert abstain.audit(empirical, loss[:500] * 0, np.full(500, 2.0)).verdict.status is Status.MEASURED


# ---------------------------------------------------------------------- comparisons


def test_models_of_other_answers_are_not_said_to_rank_better():
    """Of two random rankings the one of fewer errors has the lower AUGRC, which says nothing of the ranking."""
    rng = np.random.default_rng(3)
    loss = {"a": (rng.random(3000) < 0.1).astype(float), "b": (rng.random(3000) < 0.2).astype(float)}
    scores = {name: rng.random(3000) for name in loss}
    better = abstain.compare(loss, scores).verdict.comparison
    assert (better.best, better.significant, better.same_answers) == ("a", True, False)
    assert better.sentence.startswith("a is better than b: AUGRC ")
    said = abstain.compare(loss, scores).verdict.details
    for words in ("error rate ", "AUROC of failures "):
        assert any(each.startswith(words) for each in said)
    same = abstain.compare({"a": loss["a"], "b": loss["a"]}, {"a": -loss["a"], "b": scores["b"]}).verdict.comparison
    assert same.sentence.startswith("a ranks errors better than b: AUGRC ")


def test_a_comparison_chooses_no_threshold():
    """The best was selected on these rows; without a significant test that is said, and the set that may be best."""
    loss, score = rows(1500)
    rng = np.random.default_rng(1)
    three = {"a": score, "b": score + 1e-2 * rng.random(1500), "c": rng.random(1500)}
    verdict = abstain.compare(loss, three).verdict
    assert (verdict.status, verdict.sign, kinds(verdict)) == (Status.COMPARED, "open", ["selected_here"])
    better = verdict.comparison
    assert set(better.may_be_best) == {"a", "b"}
    assert "is not significantly better than" in better.sentence
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
    assert missed.verdict.headline == "It is shown that score is better than noise by more than 0.002 (AUGRC)."
    assert missed.verdict.score == "score"
    shown = test(loss, {"score": score, "noise": noise}, margin=0.002).verdict
    assert shown.headline == "It is shown that score is not worse than noise by 0.002 or more (AUGRC, p < 0.001)."
    left = test(loss, {"noise": noise, "score": score}, margin=missed.high - 1e-4).verdict
    assert left.headline.startswith("It is not shown that ")


def test_groups_compared_name_the_worst():
    """One group where the intervals leave one, all that may be the worst where they do not."""
    loss, score = rows(4000)
    site = np.where(loss > 0, "north", np.where(score > 0.3, "south", "north"))
    verdict = abstain.inference.compare_groups(loss, score, site, metric="risk").verdict
    assert verdict.headline.startswith("north is the worst of 2 groups by ")
    even = np.random.default_rng(1).choice(["a", "b"], len(loss))
    assert "may be the worst of 2 groups" in abstain.inference.compare_groups(loss, score, even).verdict.headline
