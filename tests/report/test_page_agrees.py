"""Pages of evaluate, threshold and monitor agree with the files they save, with each other and with themselves."""

import hashlib
import json
import re

import numpy as np
import pytest
from scipy.stats import fisher_exact

import abstain
from abstain._result import percent
from abstain.inference import stands_out
from abstain.report import Source, as_html, build
from tests.result.test_verdict import rows


def sliders_of(result, **source):
    """Return what the slider of a page reads of each score or group."""
    page = build(result, Source(**source))
    boards = [part for section in page.sections for part in section.parts if hasattr(part, "numbers")]
    (found,) = [each.slider for each in (page.lead.board, *boards) if each.slider is not None]
    return found["scores"]


def tone_of(result, **source):
    """Return the colour and the words of the status."""
    lead = build(result, Source(**source)).lead
    return lead.tone, lead.status


def saved(one, stop, path):
    """Return the policy that a page saves at a stop, as its script fills it in."""
    kept, (threshold, n, weight, *_) = one["certified"][stop], one["stops"][int(stop)]
    fields = {"@T@": threshold, "@K@": str(n), "@C@": repr(weight / one["total"]), "@O@": kept["objective"],
              "@G@": kept["guarantee"], "@N@": kept["note"]}  # fmt: skip
    content = re.sub(r'"(@[TKCOGN]@)"', lambda mark: fields[mark[1]], one["policy"])
    digest = hashlib.sha256(content.encode()).hexdigest()
    path.write_text(f'{{"format": "abstain.policy/2", {content[1:-1]}, "digest": "{digest}"}}\n')
    return abstain.load_policy(path)


def test_a_saved_certificate_states_the_delta_of_the_page(tmp_path):
    """Of five risks that were tried at once, and ten of two scores, the file says 95 %, as the verdict does."""
    loss, score = rows()
    for count, scores in ((5, {"a": score}), (10, {"a": score, "b": score**2})):
        evaluation = abstain.evaluate(abstain.Outputs(loss=loss, scores=scores), list(scores), metrics="augrc")
        assert evaluation.verdict.confidence == 0.95
        one = sliders_of(evaluation)[0]
        assert one["certified"]
        for stop, entry in one["certified"].items():
            policy = saved(one, stop, tmp_path / "policy.json")
            assert (policy.guarantee.delta, policy.objective.delta) == (0.05, 0.05)
            assert f"at least 0.95 for all {count} " in policy.guarantee.statement
            assert f"with 95 % confidence (which allows for the {count} limits tested)." in entry["status"]
    alone = abstain.choose_threshold(loss, score, risk=0.1, delta=0.05)
    (one,) = sliders_of(alone, loss=loss, confidence=score)
    (entry,) = one["certified"].values()
    assert str(one["start"]) in one["certified"]
    assert json.loads(entry["guarantee"]) == dict(alone.guarantee())
    assert entry["status"] == "Certified: error rate at most 10 %, with 95 % confidence."


def test_a_limit_that_a_group_exceeds_is_not_saved_as_if_it_could_go_live():
    """The button says so of that limit, as the headline does, and of no other."""
    rng = np.random.default_rng(0)
    score, bad = rng.random(6000), rng.random(6000) < 0.1
    loss = (rng.random(6000) < np.where(bad, 0.4, 0.15 * (1.0 - score))).astype(float)
    outputs = abstain.Outputs(loss=loss, scores={"s": score}, groups={"site": np.where(bad, "b", "a")})
    found = abstain.evaluate(outputs, "s", "augrc", groups="site")
    assert "Do not go live at 10 % yet, because of b" in found.verdict.headline
    limits = [each["limit"] for each in sliders_of(found)[0]["certified"].values()]
    assert limits == ["10 %, not to go live yet", "20 %"]


def test_a_slider_without_a_certificate_begins_at_enough_rows():
    """A chance ranking with a few lucky rows on top: not there, but where the interval of the risk ends lowest."""
    loss, _ = rows()
    lot = np.random.default_rng(7).random(len(loss))
    lot[np.flatnonzero(loss == 0)[:2]] = 2.0
    lot[np.flatnonzero(loss == 1)[:1]] = 3.0
    found = abstain.choose_threshold(loss, lot, risk=0.02)
    assert not found.attainable
    (one,) = sliders_of(found, loss=loss, confidence=lot)
    highs = [stop[5] for stop in one["stops"]]
    assert highs[one["start"]] == min(highs)
    assert one["stops"][one["start"]][1] > 200
    assert one["status"].startswith("Chosen by eye, not certified.")


def test_what_is_certified_in_place_of_the_limit_is_marked_and_saved(tmp_path):
    """The verdict names the smallest usable one; its stop is certified, accepts those rows, saves that threshold."""
    loss, score = rows()
    found = abstain.choose_threshold(loss, score, risk=0.03, delta=0.05)
    first = found.attained[0]
    assert (found.attainable, found.verdict.threshold) == (False, first.threshold)
    assert tone_of(found) == ("care", "Not certified at 3 %; certified at " + percent(first.risk))
    (one,) = sliders_of(found, loss=loss, confidence=score)
    stop = str(one["start"])
    policy = saved(one, stop, tmp_path / "policy.json")
    assert policy.thresholds == {"": first.threshold}
    assert policy.accept(score).sum() == one["stops"][int(stop)][1] == round(first.coverage * len(score))
    assert (policy.guarantee.risk, policy.guarantee.delta) == (first.risk, 0.1)  # that of both
    assert one["certified"][stop]["status"].endswith(", with 90 % confidence.")
    page = as_html(build(found, Source(loss=loss, confidence=score))).replace("\N{NO-BREAK SPACE}", " ")
    assert "with 95 % confidence" not in page
    both = "each errs with 5 %; together 10 %"
    assert both in policy.about["note"]
    kept = abstain.choose_threshold(loss, score, risk=0.2, delta=0.05)
    assert kept.attainable
    assert both not in str(sliders_of(kept, loss=loss, confidence=score))


def test_one_rule_for_the_status():
    """The same limit on the same rows has one colour in evaluate and threshold."""
    rng = np.random.default_rng(0)
    score = rng.random(3000)
    for low, slope, tone in ((0.0, 0.05, "good"), (0.0, 0.25, "good"), (0.05, 0.3, "care"), (0.3, 0.0, "bad")):
        loss = (rng.random(3000) < low + slope * (1.0 - score)).astype(float)
        of_all = tone_of(abstain.evaluate(loss=loss, confidence=score, metrics=["augrc", "auroc_f"]))
        of_one = tone_of(abstain.choose_threshold(loss, score, risk=0.05, delta=0.05))
        status, other = ([each.partition("; certified at")[0] for each in words] for words in (of_all, of_one))
        assert status == other
        assert of_all[0] == tone


def test_groups_with_a_threshold_come_first_and_the_others_are_called_rejected(tmp_path):
    """The slider begins in a group that the policy answers; in a rejected one nothing is certified at any stop."""
    rng = np.random.default_rng(0)
    score, site = rng.random(4000), np.repeat(["a", "b", "c", "d"], 1000)
    loss = (rng.random(4000) < np.where(site != "c", 0.05 * (1.0 - score), 0.3)).astype(float)
    found = abstain.choose_threshold(loss, score, risk=0.05, delta=0.05, groups=site)
    every = sliders_of(found, loss=loss, confidence=score, groups=site)
    assert sorted(one["label"] for one in every[:3]) == ["a", "b", "d"]
    assert (every[3]["label"], every[3]["certified"]) == ("c: rejected", {})
    assert every[3]["status"].startswith("The policy rejects")
    for one in every[:3]:
        (entry,) = one["certified"].values()
        assert "with 95 % confidence (which allows for the 4 limits tested)" in entry["status"]
    # Monitored by group, the rows of the table add up to all.
    policy, where = found.policy(score="s", group="site"), np.tile(["a", "b", "c"], 300)
    seen = abstain.monitor(policy, (rng.random(900) < 0.02).astype(float), rng.random(900), groups=where)
    seen.report(tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text("utf-8")
    assert re.search(r"\| c \| none: all referred for review \| 300 \| 0 \|", text)
    assert re.search(rf"\| all \|  \| 900 \| {seen.n_accepted} \|", text)
    assert [name for name in "abd" if f"{policy.thresholds[name]:.3f}"[:4] not in text] == []


def test_stands_out_is_fishers_test_and_not_the_largest_rate():
    """Its p-value is SciPy's times the number of parts."""
    part, p = stands_out([1, 30, 2], [4, 100, 90])
    assert part == 1
    assert p == pytest.approx(3 * fisher_exact([[30, 70], [3, 91]], alternative="greater").pvalue, rel=1e-9)
    assert stands_out([0, 0], [5, 5])[1] == 1.0


def test_shares_are_in_per_cent_and_scores_in_one_form(tmp_path):
    """No fraction beside a per cent in the tables of a page; a score of 1 is not printed as another that is below."""
    loss, score = rows()
    page = tmp_path / "page.md"
    abstain.choose_threshold(loss, score, risk=0.1, delta=0.05).report(page, loss=loss, confidence=score)
    text = page.read_text("utf-8")
    assert re.search(r"\| coverage \| [\d.]+ % \[[\d.]+ %, [\d.]+ %\] \|", text)
    assert re.search(r"\| risk \| [\d.]+ % \[", text)
    assert "fallback" not in text.partition("## Source")[0]
    wrong, sure = np.zeros(400), np.linspace(0.0, 0.9, 400)
    wrong[-3:], sure[-3:] = 1.0, [1.0, 1.0 - 1e-9, 0.5]
    abstain.evaluate(loss=wrong, confidence=sure).report(page)
    failures = page.read_text("utf-8").partition("## Most confident errors")[2]
    assert re.findall(r"\| row \d+ \| ([\d.]+) \|", failures) == ["1.000000", "0.999999", "0.500000"]
