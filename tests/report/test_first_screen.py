"""The first screen of a page decides: little text, the verdict's own words, a chart, and the numbers of the library."""

import re

import numpy as np
import pytest

import abstain
from abstain.report import Source, as_html, build
from tests.report import kinds
from tests.report.parsed import Parsed


def page_of(found, title=None, **source):
    """Return the page of a result."""
    return build(found, Source(**source), title)


def made(name):
    """Return the result and the page of a kind."""
    return kinds.KINDS[name]()[0], kinds.page(name)[0]


def numbers(page):
    """Return the numbers of the first screen by their names."""
    return {each.name: each.value for each in page.lead.board.numbers if each.value}


def words(html):
    """Return the number of words that are seen before anything is opened, tables aside."""
    return len(re.findall(r"\S*\w\S*", Parsed(html).seen))


@pytest.fixture(scope="module")
def demo():
    """Return the result and the page of the demo."""
    return made("evaluate")


def test_the_first_screen_answers(demo):
    """May it go live, at which threshold, with which guarantee: headline, status and rule are the verdict's."""
    result, page = demo
    verdict, lead = result.verdict, page.lead
    assert lead.headline == "Answer 43.8 % of the cases: at most 5 % of the answers are wrong."
    assert (lead.tone, lead.status) == ("good", "Certified, 95 % confidence")
    assert lead.rule == f"Answer if msp ≥ {verdict.printed}; refer the rest for review."
    assert lead.caveats == verdict.caveats[:3]
    assert words(as_html(page)) > 60
    text = " ".join([lead.headline, lead.rule, *(each.text for each in lead.caveats)])
    assert len(re.findall(r"[.!](?= |$)", text)) <= 8
    accepted = result.curve("msp").at(threshold=verdict.threshold)
    errors = round(accepted.selective_risk * accepted.n_accepted)
    assert numbers(page) == {
        "Coverage": "43.8 %",
        "Error rate of answers": "3.8 %",
        "Errors per 1,000 cases": str(int(1000 * errors / 6000 + 0.5)),
        "Reviews per 1,000 cases": f"{1000 * (1 - accepted.coverage):.0f}",
    }


def test_no_sentence_is_shown_twice(demo):
    """Neither on the first screen nor in the sections, the glossary aside, which repeats what words mean."""
    shown = as_html(demo[1]).partition('id="glossary"')[0]
    text = re.sub(r"<(style|script).*?</\1>|<[^>]*>", "\n", shown, flags=re.DOTALL)
    sentences = [each.strip() for each in re.findall(r"[A-Z][^.\n]{25,}\.", text)]
    assert {each for each in sentences if sentences.count(each) > 1} == set()


@pytest.mark.parametrize("all_at_once", [False, True])
def test_the_certified_points_lie_on_the_leading_curve(demo, all_at_once):
    """Each level of the verdict is a ring at its coverage and error rate; of two at one place the smaller limit is."""
    result, page = demo
    if all_at_once:  # 10 % and 20 % hold where everything is answered
        wrong = np.arange(3000) % 16 == 0
        columns = {"loss": wrong * 1.0, "msp": np.linspace(0.0, 1.0, 3000) - 0.5 * wrong}
        result = abstain.evaluate(columns, loss="loss", scores=["msp"])
        page = page_of(result)
    chart = page.lead.board.chart
    assert re.search(r"; rings: \d of 5 limits certified( for \w+)?$", chart.y_label)
    rings = next(each for each in chart.series if each.kind == "ring" and each.score == "msp")
    for level, x, y, said in zip(result.verdict.levels, rings.x, rings.y, rings.words, strict=True):
        point = result.curve("msp").at(coverage=level.coverage)
        assert (x, y) == pytest.approx((point.coverage, point.selective_risk))
        assert said == f"≤ {100.0 * level.limit:g} %"


@pytest.mark.parametrize("name", kinds.KINDS)
def test_every_kind_leads_with_its_verdict_and_a_chart(name):
    """The headline is the verdict's; a chart and numbers stand next to each other; few words; at most three caveats."""
    result, page, html = *made(name), kinds.page(name)[1]
    lead, verdict = page.lead, result.verdict
    assert lead.headline == (result.headline() if verdict is None else verdict.headline)
    assert lead.board.chart is not None or name == "plan"  # of equal probabilities there is nothing to draw
    assert len(lead.caveats) <= 3
    assert words(html) <= (320 if name == "odd_names" else 250)
    short = name in ("compare", "compare_groups", "margin", "threshold_groups", "joint", "plan")
    assert ('<details class="section" open>' in html) is short  # where the first screen has room
    if name not in ("plan", "compare_groups"):
        assert 2 <= len(numbers(page)) <= 4
    if name in ("threshold", "threshold_groups"):  # of all cases, not of the answers
        errors = float(numbers(page).get("Errors per 1,000 cases", "nan").replace(",", ""))
        assert errors == pytest.approx(1000.0 * verdict.risk * verdict.coverage, abs=0.51)


@pytest.mark.filterwarnings("ignore:the score is higher where", "ignore:confidence is higher where")
def test_every_caveat_is_on_the_page_once(demo):
    """The most severe on the first screen, the others in the section that comes first."""
    loss = (np.arange(300) % 4 == 0) * 1.0
    result = abstain.evaluate(loss=loss, confidence=np.where(np.arange(300) % 50 == 0, -999.0, loss * np.arange(300)))
    page, plain = page_of(result), str.maketrans("\N{NO-BREAK SPACE}\N{MINUS SIGN}", " -")
    text = Parsed(as_html(page).replace("<details", "<div").replace("</details", "</div")).seen.translate(plain)
    assert len(result.verdict.caveats) > 3
    assert [each.kind for each in result.verdict.caveats if text.count(each.sentence) != 1] == []
    assert page.sections[0].name == "caveats"
    html = as_html(demo[1]).translate(plain).replace("&lt;", "<")
    assert demo[0].verdict.comparison.sentence in html


@pytest.mark.filterwarnings("ignore::UserWarning")  # equal rows
def test_the_last_of_many_periods_have_numbers_of_their_own():
    """A table of the last 26 of 30 periods: risk and rows of each."""
    day = np.arange(600) // 20
    policy = abstain.choose_threshold(np.arange(200) % 50 == 0, np.arange(200), risk=0.1, delta=0.05).policy(score="s")
    seen = abstain.monitor(policy, np.arange(600) % (2 + day) == 0, np.full(600, 150.0), time=day * 1.0, period=1.0)
    table = next(each for each in page_of(seen).sections if each.name == "result").parts[1].table
    assert [(row[0], row[3].value) for row in table.rows] == [(one.period, one.risk) for one in seen.periods[-26:]]


def test_a_verdict_of_no_offers_no_rule_and_no_policy():
    """A score that says nothing of errors: the page does not say where to answer, and saves nothing."""
    _, page = made("useless")
    assert (page.lead.tone, page.lead.rule) == ("bad", "")
    assert all(each["policy"] is None for each in page.lead.board.slider["scores"])


def test_a_stream_marks_the_alarm_and_names_the_violated_policy():
    """The chart has the limit, and the alarm in its period; the rule says where the policy answers, by group too."""
    seen, page = made("monitor")
    chart = page.lead.board.chart
    assert [each.at for each in chart.rules if each.axis == "y"] == [0.1]
    (alarm,) = [each for each in chart.rules if each.axis == "x"]
    (first,) = seen.violations
    assert seen.periods[round(alarm.at) - 1].period == first.period
    assert np.array_equal(chart.series[0].y, [each.risk for each in seen.periods], equal_nan=True)
    assert page.lead.tone == "bad"
    rule = f"This policy answers if {seen.score} ≥ {seen.verdict.printed}; it refers the rest for review."
    assert page.lead.rule == rule
    rng = np.random.default_rng(0)
    score, site = rng.random(6000), np.tile(["a", "b"], 3000)
    found = abstain.choose_threshold(rng.random(6000) > score**0.1, score, risk=0.1, delta=0.05, groups=site)
    policy = found.policy(score="s", group="site")
    bad = rng.random(6000) < np.where(site == "b", 0.3, 0.02)
    verdict = abstain.monitor(policy, bad, rng.random(6000), groups=site).verdict
    a, b = verdict.groups
    assert (verdict.sign, a.threshold, b.threshold) == ("no", policy.thresholds["a"], policy.thresholds["b"])
    assert f"≥ {a.printed} in a, ≥ {b.printed} in b; it refers the rest" in verdict.rule


def test_a_small_share_is_not_rounded_to_nothing():
    """One decimal, two digits below one per cent, and neither 0 % nor 100 % unless it is."""
    found, _ = kinds.threshold()
    shares = {0.0: "0 %", 0.00004: "< 0.01 %", 0.0012: "0.12 %", 0.0345: "3.5 %", 0.5: "50.0 %", 0.9999: "100.0 %"}
    for value, text in {**shares, 1.0: "100 %"}.items():
        assert numbers(page_of(found, verdict=found.verdict.but(risk=value)))["Error rate of answers"] == text


def test_groups_without_any_threshold_are_shown_with_their_status():
    """A chart of what each errs without abstention against the limit, and a line for each group."""
    rng = np.random.default_rng(1)
    score, site = rng.random(60), np.array(["north", "south", "east"] * 20)
    loss = (rng.random(60) < 0.6 * (1 - score) ** 3).astype(float)
    found = abstain.choose_threshold(loss, score, risk=0.05, delta=0.05, groups=site)
    page = page_of(found, loss=loss, confidence=score, groups=site)
    assert (found.attainable, page.lead.headline) == (False, "Not certified: no group has a threshold for 5 %.")
    chart = page.lead.board.chart
    assert [rule.at for rule in chart.rules] == [0.05]
    rates = {name: float(loss[site == name].mean()) for name in ("north", "south", "east")}
    assert pytest.approx(sorted(rates.values())) in (sorted(chart.series[0].x), sorted(chart.series[0].y))
    shown = {each.name: (each.value, each.small) for each in page.lead.board.numbers}
    assert shown == {name: ("no threshold", f"20 rows, error rate {100 * rate:.3g} %") for name, rate in rates.items()}
    many = np.array([f"g{k % 9}" for k in range(60)])
    shown = page_of(abstain.choose_threshold(loss, score, risk=0.05, delta=0.05, groups=many)).lead.board.numbers
    assert (len(shown), shown[-1].value) == (7, "and 3 more")
