"""Pages of evaluate, threshold and monitor agree with the files they save, with each other and with themselves."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import abstain
from abstain.inference import stands_out
from abstain.report import Source, build
from tests.report.test_verdict import rows


def slider_of(result: Any, **source: Any) -> dict[str, Any]:
    """Return what the slider of a page reads."""
    page = build(result, Source(**source))
    (found,) = [part.data for section in page.sections for part in section.parts if hasattr(part, "data")]
    return dict(found)


def sign_of(result: Any, **source: Any) -> tuple[str, str]:
    """Return colour and word of the box."""
    (found,) = [part for part in build(result, Source(**source)).sections[0].parts if hasattr(part, "sign")]
    return found.sign, found.word


def saved(one: dict[str, Any], stop: str, path: Path) -> Any:
    """Return the policy that a page saves at a stop, as its script fills it in."""
    import hashlib

    kept, (threshold, n, weight, *_) = one["promised"][stop], one["stops"][int(stop)]
    fields = {"@T@": threshold, "@K@": str(n), "@C@": repr(weight / one["total"]), "@O@": kept["objective"],
              "@G@": kept["guarantee"], "@N@": kept["note"]}  # fmt: skip
    content = re.sub(r'"(@[TKCOGN]@)"', lambda mark: fields[mark[1]], one["policy"])
    digest = hashlib.sha256(content.encode()).hexdigest()
    path.write_text(f'{{"format": "abstain.policy/2", {content[1:-1]}, "digest": "{digest}"}}\n')
    return abstain.load_policy(path)


def test_a_saved_promise_says_the_delta_of_the_page(tmp_path: Path) -> None:
    """Of five risks that were tried at once, and ten of two scores, the file says 95 %, as the verdict does."""
    loss, score = rows()
    for count, outputs in ((5, abstain.Outputs(loss=loss, confidence=score)),
                           (10, abstain.Outputs(loss=loss, scores={"a": score, "b": score**2}))):  # fmt: skip
        evaluation = abstain.evaluate(outputs, None if count == 5 else ["a", "b"], metrics="augrc")
        one = slider_of(evaluation)["scores"][0]
        assert one["promised"]
        for stop, entry in one["promised"].items():
            policy = saved(one, stop, tmp_path / "policy.json")
            assert policy.guarantee is not None
            assert (policy.guarantee["delta"], policy.objective["delta"]) == (0.05, 0.05)
            assert f"at least 0.95 for all {count} promises that were tried at once" in policy.guarantee["statement"]
            assert f"95 % sure of all {count} promises" in entry["said"]
        assert any(
            "Promised for new cases like these, all at once (95 % sure): a risk of at most" in line
            for line in evaluation.phrases()
        )
    alone = abstain.choose_threshold(loss, score, risk=0.1, delta=0.05)
    (entry,) = slider_of(alone, loss=loss, confidence=score)["scores"][0]["promised"].values()
    assert json.loads(entry["guarantee"]) == alone.guarantee()
    assert entry["said"] == "Promised: a risk of at most 10 %, 95 % sure."


def test_the_slider_begins_at_a_promise_or_at_enough_rows() -> None:
    """A chance ranking with a few lucky rows on top: not there, but where the interval of the risk ends lowest."""
    loss, score = rows()
    found = abstain.choose_threshold(loss, score, risk=0.1, delta=0.05)
    one = slider_of(found, loss=loss, confidence=score)["scores"][0]
    assert str(one["start"]) in one["promised"]
    lot = np.random.default_rng(7).random(len(loss))
    lot[np.flatnonzero(loss == 0)[:2]] = 2.0
    lot[np.flatnonzero(loss == 1)[:1]] = 3.0
    found = abstain.choose_threshold(loss, lot, risk=0.02)
    assert not found.attainable
    one = slider_of(found, loss=loss, confidence=lot)["scores"][0]
    highs = [stop[5] for stop in one["stops"]]
    assert highs[one["start"]] == min(highs)
    assert one["stops"][one["start"]][1] > 200
    assert one["said"].startswith("Chosen by eye, no promise")


def test_what_is_certified_in_place_of_the_limit_is_marked_and_saved(tmp_path: Path) -> None:
    """The verdict names the smallest usable one; its stop is promised, accepts those rows and saves that threshold."""
    loss, score = rows()
    found = abstain.choose_threshold(loss, score, risk=0.03, delta=0.05)
    assert not found.attainable
    text, first = found.phrases(), found.attained[0]
    assert text[0].startswith("Not at 3 % risk: no threshold passed its test")
    assert f"At {100 * first.risk:.3g} % it may: answer from {first.printed} on" in text[0]
    assert sign_of(found) == ("care", "With care")
    one = slider_of(found, loss=loss, confidence=score)["scores"][0]
    stop = str(one["start"])
    policy = saved(one, stop, tmp_path / "policy.json")
    assert policy.thresholds == {"": first.threshold}
    assert policy.accept(score).sum() == one["stops"][int(stop)][1] == round(first.coverage * len(score))
    assert policy.guarantee is not None
    assert (policy.guarantee["risk"], policy.guarantee["delta"]) == (first.risk, 0.05)
    both = "each errs with 5 %; together 10 %"
    assert all(both in line for line in (text[0], one["promised"][stop]["said"], policy.about["note"]))
    assert any(line.startswith("Promised") and both in line for line in text)
    kept = abstain.choose_threshold(loss, score, risk=0.2, delta=0.05)
    assert kept.attainable
    assert both not in " ".join([*kept.phrases(), str(slider_of(kept, loss=loss, confidence=score))])


def test_a_group_that_may_break_the_promise_is_care() -> None:
    """One of few rows is measured above the risk, not surely: the Yes is for the mix; without groups as before."""
    loss, score = np.zeros(2000), np.linspace(0.0, 1.0, 2000)
    loss[:200:2], loss[-60::15] = 1.0, 1.0
    site = np.where(np.arange(2000) >= 1940, "small", "large")
    of_mix = abstain.evaluate(
        abstain.Outputs(loss=loss, scores={"s": score}, groups={"site": site}), "s", groups="site"
    )
    assert of_mix.phrases()[0].startswith("Yes, at 5 % risk, for the mix of all cases only: answer where s is ")
    assert "Whether 5 % is kept is not known for site small" in of_mix.phrases()[1]
    assert sign_of(of_mix) == ("care", "With care: a group may break it")
    of_all = abstain.evaluate(loss=loss, confidence=score)
    assert of_all.phrases()[0].startswith("Yes, at 5 % risk: answer")
    assert sign_of(of_all)[0] == "yes"


def test_what_is_not_attainable_is_named() -> None:
    """The risk that was asked for stands in the sentence, beside a larger one at which everything may be answered."""
    rng = np.random.default_rng(5)
    loss, score = (rng.random(3000) < 0.14).astype(float), rng.random(3000)
    text = abstain.choose_threshold(loss, score, risk=0.05, delta=0.05).phrases()
    assert any(line.startswith("5 % risk is not attainable: ") for line in text)


def test_a_certified_threshold_of_a_useless_ranking_is_told_beside_answering_everything() -> None:
    """By chance some of the rows pass at a larger risk: so does everything; of a ranking that knows nothing is said."""
    rng = np.random.default_rng(5)
    loss, lot, knows = (rng.random(3000) < 0.14).astype(float), rng.random(3000), rng.random(3000)
    words, told = "But the ranking is not shown to be better than chance", []
    for risk in (0.145, 0.15, 0.155, 0.16):
        found = abstain.choose_threshold(loss, lot, risk=risk, delta=0.05)
        if found.attainable and found.coverage < 1.0:
            told.append(any(line.startswith(words) for line in found.phrases()))
        better = abstain.choose_threshold(loss, knows - loss, risk=risk, delta=0.05)
        assert not any(line.startswith(words) for line in better.phrases())
    assert told
    assert all(told)


def test_one_rule_for_the_box() -> None:
    """The same limit on the same rows has one colour in evaluate and threshold; most groups lost is red."""
    rng = np.random.default_rng(0)
    score = rng.random(3000)
    for rate, sign in (
        (0.05 * (1.0 - score), "yes"),
        (0.25 * (1.0 - score), "yes"),
        (0.05 + 0.3 * (1.0 - score), "care"),
        (0.3 + 0.0 * score, "no"),
    ):
        loss = (rng.random(3000) < rate).astype(float)
        of_all = sign_of(abstain.evaluate(loss=loss, confidence=score, metrics=["augrc", "auroc_f"]))
        of_one = sign_of(abstain.choose_threshold(loss, score, risk=0.05, delta=0.05))
        assert of_all == of_one
        assert of_all[0] == sign
    site = np.repeat(["a", "b", "c", "d"], 750)
    for good, sign in (("abcd", "yes"), ("abc", "care"), ("ab", "care"), ("a", "no")):
        rate = np.where(np.isin(site, list(good)), 0.03 * (1.0 - score), 0.4)
        found = abstain.choose_threshold((rng.random(3000) < rate).astype(float), score, risk=0.05, delta=0.05,
                                         groups=site)  # fmt: skip
        assert sign_of(found)[0] == sign
        answered = sum(one.n_accepted for one in found.groups.values())
        assert sign == "yes" or any(f"{answered:,} of 3,000 cases" in line for line in found.phrases())


def test_groups_with_a_threshold_come_first_and_the_others_are_called_rejected() -> None:
    """The explorer begins in a group that the policy answers; a rejected one promises nothing at any stop."""
    rng = np.random.default_rng(0)
    score, site = rng.random(4000), np.repeat(["a", "b", "c", "d"], 1000)
    loss = (rng.random(4000) < np.where(site < "c", 0.05 * (1.0 - score), 0.3)).astype(float)
    found = abstain.choose_threshold(loss, score, risk=0.05, delta=0.05, groups=site)
    every = slider_of(found, loss=loss, confidence=score, groups=site)["scores"]
    assert sorted(one["label"] for one in every[:2]) == ["a", "b"]
    assert sorted(one["label"] for one in every[2:]) == ["c: rejected", "d: rejected"]
    assert all(one["said"].startswith("The policy rejects every case") and not one["promised"] for one in every[2:])
    for one in every[:2]:
        (entry,) = one["promised"].values()
        assert "95 % sure of all 4 promises" in entry["said"]


def test_stands_out_is_fishers_test_and_not_the_largest_rate() -> None:
    """Its p-value is SciPy's times the number of parts; of equal parts it rejects as seldom as it says."""
    from scipy.stats import fisher_exact

    errors, counts = [1, 30, 2], [4, 100, 90]
    part, p = stands_out(errors, counts)
    assert part == 1
    rest = [sum(errors) - 30, sum(counts) - 100]
    table = [[30, 70], [rest[0], rest[1] - rest[0]]]
    assert p == pytest.approx(3 * fisher_exact(table, alternative="greater").pvalue, rel=1e-9)
    rng, said = np.random.default_rng(0), 0
    for _ in range(400):
        said += stands_out(rng.binomial(80, 0.06, 18), [80] * 18)[1] < 0.05
    assert said <= 30
    assert stands_out([0, 0], [5, 5])[1] == 1.0


def test_one_error_among_four_rows_makes_no_worst_group() -> None:
    """The group with the largest measured rate has four answered rows; nobody is called worse than the others."""
    rng = np.random.default_rng(1)
    score = np.concatenate([rng.random(2000), np.full(4, 0.99)])
    loss = np.concatenate([(rng.random(2000) < 0.1).astype(float), [1.0, 0.0, 0.0, 0.0]])
    site = np.array(["big"] * 1000 + ["large"] * 1000 + ["tiny"] * 4)
    text = abstain.evaluate(
        abstain.Outputs(loss=loss, confidence=score, groups={"site": site}), groups="site"
    ).phrases()
    assert not any("is worse than the others" in line for line in text)
    assert any("which site is worst cannot be told" in line for line in text)


def test_rows_of_rejected_and_unknown_groups_are_accounted_for(tmp_path: Path) -> None:
    """Watched by group: the rows of the table add up to all, and the verdict says whose are passed on."""
    rng = np.random.default_rng(0)
    score, site = rng.random(4000), np.repeat(["a", "b", "c", "d"], 1000)
    loss = (rng.random(4000) < np.where(site < "d", 0.05 * (1.0 - score), 0.4)).astype(float)
    found = abstain.choose_threshold(loss, score, risk=0.05, delta=0.05, groups=site)
    policy = found.policy(score="s", group="site")
    later, where = rng.random(900), np.tile(["a", "b", "d"], 300)
    seen = abstain.monitor(policy, (rng.random(900) < 0.02).astype(float), later, groups=where)
    line = "All cases of d are passed on, since no threshold was certified there: 300 of 900 rows"
    assert any(each.startswith(line) for each in seen.phrases())
    seen.report(tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text("utf-8")
    assert re.search(r"\| d \| none: all passed on \| 300 \| 0 \|", text)
    assert re.search(rf"\| all \|  \| 900 \| {seen.n_accepted} \|", text)
    for name, limit in policy.thresholds.items():
        assert name == "d" or f"{limit:.3f}"[:4] in text


def test_a_watch_has_a_word_too() -> None:
    """No alarm, a warning by drift, and a broken promise."""
    rng = np.random.default_rng(0)
    score = rng.random(4000)
    policy = abstain.choose_threshold(rng.random(4000) > score**0.1, score, risk=0.1, delta=0.05).policy(score="s")
    later = rng.random(3000)
    fine, bad = rng.random(3000) > later**0.1, rng.random(3000) < 0.4
    for scores, wrong, sign in ((later, fine, "yes"), (np.sqrt(later), 0.0 * later, "care"), (later, bad, "no")):
        seen = abstain.monitor(policy, np.asarray(wrong, dtype=float), scores)
        assert sign_of(seen)[0] == sign
    assert sign_of(seen)[1] == "Stop: the promise is broken"


def test_shares_are_in_per_cent_and_scores_in_one_form(tmp_path: Path) -> None:
    """No fraction beside a per cent in the tables of a page; a score of 1 is not printed as another that is below."""
    loss, score = rows()
    found = abstain.choose_threshold(loss, score, risk=0.1, delta=0.05)
    found.report(tmp_path / "page.md", loss=loss, confidence=score)
    text = (tmp_path / "page.md").read_text("utf-8")
    assert re.search(r"\| coverage \| [\d.]+ % \[[\d.]+ %, [\d.]+ %\] \|", text)
    assert re.search(r"\| risk \| [\d.]+ % \[", text)
    assert "fallback" not in text.partition("Where this came from")[0]
    wrong, sure = np.zeros(400), np.linspace(0.0, 0.9, 400)
    wrong[-3:], sure[-3:] = 1.0, [1.0, 1.0 - 1e-9, 0.5]
    abstain.evaluate(loss=wrong, confidence=sure).report(tmp_path / "page.md")
    failures = (tmp_path / "page.md").read_text("utf-8").partition("most confident failures")[2]
    assert re.findall(r"\| row \d+ \| ([\d.]+) \|", failures) == ["1.000000", "0.999999", "0.500000"]
