"""The verdict through the doors: what it says first, of groups behind a promise, of groups and weeks of a watch."""

from __future__ import annotations

from typing import Any

import numpy as np

import abstain
from abstain._result import percent
from tests.report.test_verdict import rows


def test_a_promise_for_all_names_the_group_that_it_hides() -> None:
    """A tenth of the rows are wrong half the time: the pooled promise stands, that group is named with its risk."""
    rng = np.random.default_rng(4)
    score, far = rng.random(6000), rng.random(6000) < 0.06
    loss = (rng.random(6000) < np.where(far, 0.4, 0.25 * (1.0 - score))).astype(float)
    site = np.where(far, "far", np.where(rng.random(6000) < 0.5, "east", "west"))
    outputs = abstain.Outputs(loss=loss, confidence=score, groups={"site": site})
    evaluation = abstain.evaluate(outputs, groups="site")
    point, limit = evaluation.judged.place("confidence") or (None, None)
    assert point is not None
    assert limit in (0.05, 0.1)
    there = far & (score >= point.threshold)
    text = evaluation.phrases()
    share = percent(float(loss[there].mean()))
    named = f"But not for site far ({share} of {int(there.sum())}): of what is answered there more than "
    assert any(line.startswith(named) for line in text)
    assert text[0].startswith("Not yet with one threshold: " if limit == 0.05 else "Not yet at 5 % risk")
    assert not any(line.startswith("Yes") for line in text)
    (worst,) = [line for line in text if "site far is worse than the others" in line]
    assert f"{share} of {int(there.sum())} answered cases" in worst
    assert any("leave far out and choose again: this promise is about the mix" in line for line in text)
    even = rng.choice(["a", "b"], 6000)
    outputs = abstain.Outputs(loss=loss, confidence=score, groups={"site": even})
    calm = abstain.evaluate(outputs, groups="site").phrases()
    assert not any(line.startswith("But not") or "leave far out" in line for line in calm)
    assert any("which site is worst cannot be told; most speaks against" in line for line in calm)


def test_a_useless_ranking_leads_with_no() -> None:
    """Of an evaluation that promises 20 % for all, and of a certificate that does not pass; a plan is not said."""
    rng = np.random.default_rng(5)
    loss, score = (rng.random(3000) < 0.14).astype(float), rng.random(3000)
    for result in (
        abstain.evaluate(loss=loss, confidence=score),
        abstain.choose_threshold(loss, score, risk=0.05, delta=0.05),
    ):
        text = result.phrases()
        assert text[0].startswith("No: a threshold on ")
        assert not any("takes at least about" in line for line in text)
    assert not any("Not yet" in line for line in abstain.evaluate(loss=loss, confidence=score).phrases())
    assert not any(line.startswith("Yes") for line in abstain.evaluate(loss=loss, confidence=score).phrases())


def test_printed_thresholds_accept_the_same_rows() -> None:
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


def test_groups_without_a_threshold_share_a_sentence() -> None:
    """Two of four attain nothing: one line with both names, and their plans or their hopelessness."""
    rng = np.random.default_rng(0)
    score, site = rng.random(4000), np.repeat(["a", "b", "c", "d"], 1000)
    rate = np.where(site < "c", 0.05 * (1.0 - score), 0.3)
    found = abstain.choose_threshold(rng.random(4000) < rate, score, risk=0.05, delta=0.05, groups=site)
    text = found.phrases()
    assert sum("Not attainable" in line for line in text) == 1
    assert any(line.startswith("Not attainable in c, d, whose cases are all passed on: ") for line in text)
    assert any(
        line.startswith("In c, d the answers or the score must get better; it is not shown that more") for line in text
    )
    assert any(line.startswith("Of the 2 groups answered, least is in ") for line in text)


def test_a_watch_says_what_is_watched_by_group_and_period() -> None:
    """Promise, threshold, coverage at calibration; the worst week and group; drift with its size, as a signal."""
    rng = np.random.default_rng(0)
    score, site = rng.random(6000), np.tile(["a", "b"], 3000)
    found = abstain.choose_threshold(rng.random(6000) > score**0.1, score, risk=0.1, delta=0.05, groups=site)
    policy = found.policy(score="s", group="site")
    later = np.maximum(rng.random(4000), rng.random(4000))
    bad = rng.random(4000) < np.where(np.tile(["a", "b"], 2000) == "b", 0.3, 0.02)
    seen = abstain.monitor(policy, bad, later, groups=np.tile(["a", "b"], 2000), time=np.arange(4000) // 100)
    text = seen.phrases()
    assert text[0] == "The promise is broken in b. Stop answering by this policy."
    (one,) = seen.breaks
    assert (one.group, one.row) == ("b", seen.broken_at)
    assert text[2] == (
        f"First seen, counted in accepted rows of all groups: in b after {one.row:,} (period {one.period})."
    )
    was = "Nothing any more in b. Promised was a risk of at most 10 % in each group"
    assert any(line.startswith(was) and "at calibration" in line for line in text)
    assert any(line.startswith("Most speaks against group b: ") for line in text)
    assert any("period" in line and "may be chance (p" in line for line in text)
    assert any(line.startswith("A signal that new cases are not like") and "still so)" in line for line in text)
    assert [one.period for one in seen.by_group] == ["a", "b"]
    assert sum(one.n_accepted for one in seen.by_group) == seen.n_accepted
    assert (seen.limit, seen.thresholds) == (0.1, policy.thresholds)


def test_the_first_signal_of_change_is_named_with_their_number() -> None:
    """Rows that turn bad in the middle: where it began, not where it was last seen."""
    rng = np.random.default_rng(0)
    score, later = rng.random(4000), rng.random(6000)
    policy = abstain.choose_threshold(rng.random(4000) > score**0.1, score, risk=0.1, delta=0.05).policy(score="s")
    wrong = np.where(np.arange(6000) < 3000, rng.random(6000) > later**0.1, rng.random(6000) < 0.4)
    seen = abstain.monitor(policy, wrong, later)
    assert len(seen.changed_at) > 1
    (line,) = [line for line in seen.phrases() if line.startswith("A change")]
    assert f"first after accepted row {seen.changed_at[0]:,}, {seen.n_changes} in all" in line


def test_a_margin_and_groups_have_their_sentences(tmp_path: Any) -> None:
    """Worse by more than the margin, shown within it, and the worst group; the page says the same."""
    loss, score = rows(4000)
    noise = np.random.default_rng(2).random(len(loss))
    found = abstain.inference.non_inferiority(loss, {"noise": noise, "score": score}, margin=0.002)
    line = found.phrases()[0]
    assert line.startswith(f"noise is worse than score by {found.low:.4g} at least in AUGRC (95 % sure)")
    line = abstain.inference.non_inferiority(loss, {"score": score, "noise": noise}, margin=0.002).phrases()[0]
    assert line.startswith("score is not worse than noise by 0.002 or more in AUGRC (p < .001)")
    scores = {"noise": noise, "score": score}
    line = abstain.inference.non_inferiority(loss, scores, margin=found.high - 1e-4).phrases()[0]
    assert line.startswith("It is not shown that noise is not worse than score by")
    site = np.where(loss > 0, "north", np.where(score > 0.3, "south", "north"))
    groups = abstain.inference.compare_groups(loss, score, site, metric="risk")
    said_of = groups.phrases()
    assert said_of[0].startswith("The worst of 2 groups is north, by ")
    assert said_of[1].startswith("1 of 1 pairs of groups differ in ")
    groups.report(tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text("utf-8")
    assert "The worst of 2 groups is north" in text
    assert "Comparison of groups" in text
    lot = np.random.default_rng(1).choice(["a", "b"], len(loss))
    said_of = abstain.inference.compare_groups(loss, score, lot, metric="risk").phrases()
    assert said_of[1].startswith("No two groups can be told apart")


def test_a_second_certificate_is_said_to_be_one() -> None:
    """Where what is certified instead keeps the limit that did not pass, both errors are said together."""
    rng = np.random.default_rng(256)
    score = rng.random(400)
    found = abstain.choose_threshold(rng.random(400) > 0.6 + 0.4 * score**0.3, score, risk=0.08, delta=0.05)
    assert not found.attainable
    assert found.attained[0].risk < 0.08
    (line,) = [line for line in found.phrases() if line.startswith("A second certificate")]
    assert f"risk at most {percent(found.attained[0].risk)} for" in line
    assert line.endswith("Each errs with 5 %; together 10 %.")
    assert any("each errs with 5 %; together 10 %" in note for note in found.tables()[0].notes)


def test_the_story_of_a_change_is_told_before_in_and_behind_its_period() -> None:
    """Two in a hundred wrong, then three in ten: the sentence counts all three parts, and says what was answered."""
    rng, score = np.random.default_rng(4), np.ones(2000)
    loss = (rng.random(2000) < np.where(np.arange(2000) < 1000, 0.02, 0.3)).astype(float)
    policy = abstain.choose_threshold(np.zeros(400), np.ones(400), risk=0.05, delta=0.05).policy(score="msp")
    seen = abstain.monitor(policy, loss, score, time=7.0 * (np.arange(2000) // 200))
    k = next(k for k, one in enumerate(seen.periods) if one.signals)
    parts = seen.periods[:k], seen.periods[k : k + 1], seen.periods[k + 1 :]
    wrong = [f"{percent(sum(one.errors or 0 for one in part) / (200 * len(part)))} of {200 * len(part):,} answers"
             for part in parts]  # fmt: skip
    days = [one.period for one in seen.periods[k : k + 2]]
    words = f"Wrong were before {days[0]} {wrong[0]}, in the period from {days[0]} on {wrong[1]}, from {days[1]} on "
    assert f"{words}{wrong[2]}." in seen.phrases()


def test_without_intervals_nobody_looked() -> None:
    """``level=0`` asks for none, which is no fault of the rows."""
    text = abstain.evaluate(abstain.datasets.load("digits_logreg"), level=0).phrases()
    assert any("no intervals were asked for (level 0)" in line for line in text)
    assert not any("not known any more" in line for line in text)
