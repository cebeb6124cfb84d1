"""The verdict: one table of sentences, each with its condition, the same in terminal, notebook and page."""

from __future__ import annotations

import re
import string
from typing import Any

import numpy as np
import pytest

import abstain
from abstain._result import QUESTIONS, SENTENCES, percent, readable, said
from tests.report.facts import CASES, USUAL


@pytest.mark.parametrize("sentence", SENTENCES, ids=lambda sentence: sentence.name)
def test_each_sentence_follows_from_its_condition_and_from_nothing_else(sentence: Any) -> None:
    """It is said where its condition holds, with every field filled, and not where any part of it does not."""
    given, changes = CASES[sentence.name]
    fact = {"about": sentence.about, **USUAL.get(sentence.about, {}), **given}
    assert sentence.question in QUESTIONS
    assert sentence.when
    words = {each.name: text for each, text in said([fact])}
    assert sentence.name in words
    text = words[sentence.name]
    assert text.endswith(".")
    assert "{" not in text
    assert "nan" not in text.lower().split()
    for change in changes:
        assert sentence.name not in {each.name for each, _ in said([fact | change])}, change


def test_there_are_enough_sentences_and_each_has_a_case() -> None:
    """At least fifteen, no name twice; the fields of a template are plain names."""
    assert len(SENTENCES) >= 15
    assert [each.name for each in SENTENCES] == list(dict.fromkeys(each.name for each in SENTENCES))
    assert set(CASES) == {each.name for each in SENTENCES}
    for each in SENTENCES:
        assert all(name is None or name.isidentifier() for _, name, _, _ in string.Formatter().parse(each.words))


def test_numbers_in_words() -> None:
    """Shares have three digits, p-values are bounded below, thresholds are not rounded to what they are not."""
    assert (percent(0.5113), percent(0.01), percent(1.0)) == ("51.1 %", "1 %", "100 %")
    assert (readable(0.9999999), readable(0.25), readable(1.0), readable(np.inf)) == (
        "0.9999999",
        "0.25",
        "1",
        "infinity",
    )
    assert readable(0.9598740000000001) == "0.959874"
    for value in (0.9999989867, 0.9598749999, 0.99999999999999, -3.7654329, 12.3456789, 0.1 + 0.2, -1e-9):
        assert value - 0.01 * abs(1.0 - value) <= float(readable(value)) <= value
    fact = {"about": "pair", **USUAL["pair"], "significant": True}
    words = "msp ranks better than max_logit (AUGRC 14 % lower, p "
    assert [text for _, text in said([fact | {"p": 1e-9}])] == [words + "< .001)."]
    assert [text for _, text in said([fact | {"p": 0.0123}])] == [words + "= .012)."]


def test_names_stay_clean() -> None:
    """What a file may hold brings no control character into a sentence."""
    fact = {"about": "pair", **USUAL["pair"], "significant": True, "a": "\x1b[31mred\n"}
    (text,) = [text for _, text in said([fact])]
    assert "\x1b" not in text
    assert "\n" not in text


# ---------------------------------------------------------------------- through the doors


def test_of_real_outputs() -> None:
    """The bundled answers of a language model: measured, promised, compared, calibrated."""
    outputs = abstain.datasets.load("llama3_70b_mmlu")
    verdict = abstain.evaluate(outputs, ["msp", "max_logit"]).phrases()
    assert verdict[:4] == [
        "Yes, at 5 % risk: answer where msp is 0.999998986 or more, 43.8 % of the cases; promised (95 % sure).",
        "Measured on these rows, no promise: at 5 % risk 51.1 % of the cases, where msp is 0.999987125 or more.",
        "Promised for new cases like these, all at once (95 % sure): a risk of at most 5 % for 43.8 % of the cases "
        "(from 0.999998986 on), at most 10 % for 62.8 % of the cases (from 0.999377 on), at most 20 % for "
        "87 % of the cases (from 0.843304 on).",
        "The promise is about all cases together, in the mix of these rows; a part of them may be worse.",
    ]


def rows(n: int = 2000, seed: int = 0) -> tuple[Any, Any]:
    """Return 0/1 losses and a score that ranks them."""
    rng = np.random.default_rng(seed)
    score = rng.random(n)
    return (rng.random(n) > 0.7 + 0.3 * score).astype(float), score


def test_a_random_score_is_called_so() -> None:
    """Its ranking cannot be told from chance; the negative of a good one is worse than that, and doubtful."""
    loss, score = rows()
    noise = np.random.default_rng(9).random(len(loss))
    assert any("cannot be told from chance" in line for line in abstain.evaluate(loss=loss, confidence=noise).phrases())
    with pytest.warns(UserWarning, match="higher where"):
        turned = abstain.evaluate(loss=loss, confidence=1.0 - score).phrases()
    assert any("ranks worse than chance" in line for line in turned)
    assert any(line.startswith("The reading is doubtful") for line in turned)
    assert not any("chance" in line for line in abstain.evaluate(loss=loss, confidence=score).phrases())


def test_more_rows_are_no_remedy_where_no_threshold_has_the_risk() -> None:
    """A chance ranking with 20 % errors: the least risk is said, no number of rows; it is that of the table."""
    rng = np.random.default_rng(5)
    loss, score = (rng.random(3000) < 0.2).astype(float), rng.random(3000)
    found = abstain.choose_threshold(loss, score, risk=0.1, delta=0.05)
    order = np.argsort(-score)
    risks = np.cumsum(loss[order]) / np.arange(1, 3001)
    assert found.least == (29, pytest.approx(risks[28:].min()))
    assert found.least[1] > 0.1
    words = f"29 rows or more, as its certificate takes even without an error, is {percent(found.least[1])}."
    assert any("not shown that more rows would do" in line and line.endswith(words) for line in found.phrases())
    assert not any("at least about" in line for line in [*found.phrases(), *found.notes()])


def test_a_plan_never_names_fewer_rows_than_have_failed() -> None:
    """Of samples on both sides of the limit, by resampling one: the number exceeds the rows, or is not said."""
    loss, score = rows(400)
    said_numbers = 0
    for seed in range(40):
        draw = np.random.default_rng(seed).integers(0, 400, 400)
        found = abstain.choose_threshold(loss[draw], score[draw] + 1e-6 * np.arange(400), risk=0.03, delta=0.05)
        text = " ".join(found.phrases())
        if "takes at least about" in text:
            said_numbers += 1
            assert int(text.split("at least about ")[1].split()[0].replace(",", "")) > 400
    assert said_numbers > 0


def test_models_of_other_answers_are_not_said_to_rank_better() -> None:
    """Of two random rankings the one of fewer errors has the lower AUGRC, which says nothing of the ranking."""
    rng = np.random.default_rng(3)
    loss = {"a": (rng.random(3000) < 0.1).astype(float), "b": (rng.random(3000) < 0.2).astype(float)}
    scores = {name: rng.random(3000) for name in loss}
    line = abstain.compare(loss, scores).phrases()[0]
    assert line.startswith("a is better than b by AUGRC (")
    assert "lower, p < .001); their answers differ" in line
    higher = abstain.compare(loss, {"a": -loss["a"], "b": scores["b"]}, "auroc_f").phrases()[0]
    assert higher.startswith("a is better than b by AUROC of failures (")
    same = abstain.compare({"a": loss["a"], "b": loss["a"]}, {"a": -loss["a"], "b": scores["b"]}).phrases()[0]
    assert same.startswith("a ranks better than b")


def test_the_promise_comes_first_and_next_to_nothing_is_called_so(tmp_path: Any) -> None:
    """A good score, too few rows for any promise, and two sure rows before a ranking by chance."""
    loss, score = rows()
    assert abstain.evaluate(loss=loss, confidence=score).phrases()[0].startswith("Yes, at 5 % risk: answer where ")
    few = abstain.evaluate(loss=[0, 1] * 10, confidence=np.arange(20.0))
    assert "Not yet: none of 5 risks from 1 % to 20 %, tried at once, is promised with these 20 rows." in few.phrases()
    assert "Nothing: each risk tried, from 1 % to 20 %, failed its certificate." in few.phrases()
    assert not any("chosen beforehand" in line for line in few.phrases())
    of_44 = np.repeat([1.0, 0.0], [20, 24])  # enough for 20 % alone, not for one of five at once
    of_five = abstain.evaluate(loss=of_44, confidence=np.arange(44.0)).phrases()
    assert (
        of_five[
            of_five.index("Not yet: none of 5 risks from 1 % to 20 %, tried at once, is promised with these 44 rows.")
            + 1
        ]
        == "One risk chosen beforehand may pass: 'abstain threshold' with --risk and --delta."
    )
    assert not any("may take more rows" in line for line in of_five)
    assert abstain.choose_threshold(of_44, np.arange(44.0), risk=0.2, delta=0.05).attainable
    assert not any("is not promised" in line for line in few.phrases())
    lot = np.random.default_rng(7).random(len(loss))
    lot[np.flatnonzero(loss == 0)[:2]] = 2.0
    lot[np.flatnonzero(loss == 1)[:2]] = 1.5
    text = " ".join(abstain.evaluate(loss=loss, confidence=lot).phrases())
    assert "at 5 % risk confidence answers next to nothing, 0.1 % (2 of 2,000) of the cases" in text
    for result, sign in ((few, "no"), (abstain.evaluate(loss=loss, confidence=score), "yes")):
        result.report(tmp_path / "page.html")
        assert f'<div class="answers {sign}"><p class="sign">' in (tmp_path / "page.html").read_text("utf-8")


def test_groups_disagree_only_where_they_do() -> None:
    """Groups by lot are not told apart; a group of twice the errors is named."""
    loss, score = rows()
    site = np.random.default_rng(1).choice(["north", "south"], len(loss))
    outputs = abstain.Outputs(loss=loss, confidence=score, groups={"site": site})
    assert any(
        "cannot be told apart by their risk" in line for line in abstain.evaluate(outputs, groups="site").phrases()
    )
    worse = np.where(loss > 0, "north", np.where(score > 0.2, "south", "north"))
    found = abstain.evaluate(
        abstain.Outputs(loss=loss, confidence=score, groups={"site": worse}), groups="site"
    ).phrases()
    assert any(line.startswith("Groups disagree") and "in north and 0 % in south" in line for line in found)


def test_promises_hold_as_often_as_they_say() -> None:
    """Over 200 draws of 500 rows the risk behind a marked point exceeds its limit in at most a twentieth and noise."""
    broken = 0
    for seed in range(200):
        loss, score = rows(500, seed)
        promises = abstain.evaluate(loss=loss, confidence=score, metrics="augrc").judged.promises("confidence")
        kept = [each for each in promises if each.attained]
        truth = [0.3 * (1.0 - 0.5 * (1.0 + each.threshold)) for each in kept]  # mean of .3 (1 - score) above it
        broken += any(risk > each.risk for risk, each in zip(truth, kept, strict=True))
    assert broken <= 20


def test_dependent_rows_are_promised_nothing() -> None:
    """Neither tests nor promises where rows belong together, or count by weights."""
    loss, score = rows(400)
    for extra in ({"clusters": np.arange(400) // 4}, {"sample_weight": np.linspace(1.0, 2.0, 400)}):
        verdict = abstain.evaluate(abstain.Outputs(loss=loss, confidence=score, **extra)).phrases()
        assert not any("promised" in line for line in verdict)


@pytest.mark.parametrize("digits", [3, 4, 5, 6])
def test_rounding_is_no_copying(digits: int) -> None:
    """Rounded scores tie, but their rows differ in more than them: what is promised of others is promised of these."""
    loss, score = rows(4000)
    score = 1.0 - score**4 * 0.05
    rounded, fine = np.round(score, digits), -np.log(2.0 - score)
    outputs = abstain.Outputs(loss=(loss > 0) & (score < 0.99), scores={"rounded": rounded, "fine": fine})
    for names in (["rounded"], ["rounded", "fine"]):
        judged = abstain.evaluate(outputs, names, "augrc").judged
        assert all(judged.promises(name) for name in names)
        assert not judged.voided


def test_true_copies_are_promised_nothing() -> None:
    """Every row twice, numbered anew, by whatever score; a copy that differs in one label is none."""
    loss, score = rows(500)
    both = {"a": np.tile(score, 2), "b": np.tile(-np.log(2.0 - score), 2)}
    labels = np.arange(1000) % 10
    ids = np.arange(1000)
    for names in (["a"], ["b"], ["a", "b"]):
        evaluation = abstain.evaluate(abstain.Outputs(loss=np.tile(loss, 2), scores=both, ids=ids), names, "augrc")
        assert [evaluation.judged.promises(name) for name in names] == [()] * len(names)
        assert "500 of 1000 rows are exact copies of others in all that is known" in evaluation.judged.voided[0]
        assert not any("promised" in line for line in evaluation.phrases())
    apart = labels + 10 * (ids >= 500)
    evaluation = abstain.evaluate(abstain.Outputs(loss=np.tile(loss, 2), scores=both, labels=apart), ["a"], "augrc")
    assert evaluation.judged.promises("a")


def test_all_scores_of_real_outputs_are_promised_alike() -> None:
    """The softmax of a network near 1 has few digits, its entropy many: the rows are the same, and no copies."""
    judged = abstain.evaluate(abstain.datasets.load("cifar10_vgg16"), ["msp", "neg_entropy"], "augrc").judged
    assert all(any(each.attained for each in judged.promises(name)) for name in ("msp", "neg_entropy"))


def test_promises_are_those_of_choose_threshold() -> None:
    """Risks that are certified on one table: threshold, coverage and plan of each on its own."""
    for loss, score in (rows(3000), (rows(3000)[0], np.round(rows(3000)[1], 2))):
        promises = abstain.evaluate(loss=loss, confidence=score, metrics="augrc").judged.promises("confidence")
        for each in promises:
            alone = abstain.choose_threshold(loss, score, risk=each.risk, delta=each.delta)
            assert (each.threshold, each.coverage) == (alone.threshold, alone.coverage)
            assert each.found.to_dict() == alone.to_dict()
            assert each.attained or each.needed() == (None if alone.rows_needed is None else alone.rows_needed[0])


def test_terminal_notebook_and_page_say_the_same(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """The words of ``verdict()``, in this order."""
    from html import unescape

    from abstain.cli import run

    loss, score = rows(300)
    file = tmp_path / "rows.csv"
    lines = [f"{a:g},{b!r}" for a, b in zip(loss.tolist(), score.tolist(), strict=True)]
    file.write_text("\n".join(["loss,confidence", *lines]))
    outputs = abstain.read_outputs(file)
    evaluation = abstain.evaluate(outputs)
    assert run(["evaluate", str(file), "--report", str(tmp_path / "page.html")]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    page, notebook = unescape((tmp_path / "page.html").read_text("utf-8")), unescape(evaluation._repr_html_())
    for text in (printed, page, notebook):
        text = re.sub(r'<a class="term"[^>]*>(.*?)</a>', r"\1", text.replace("\N{NO-BREAK SPACE}", " "))
        lines = [line for line in evaluation.phrases() if "('abstain evaluate' with --groups)" not in line]
        assert "is unknown: none were given" in text  # the command names itself with its columns
        places = [text.find(line) for line in lines]
        assert places == sorted(places)
        assert places[0] >= 0


def test_a_test_that_there_is_not_has_no_p_value() -> None:
    """One error leaves AUROC of failures without a spread: the verdict says that, and no number."""
    rng = np.random.default_rng(0)
    few, many, score = np.zeros(400), (rng.random(400) < 0.3) * 1.0, rng.random(400)
    few[int(np.argmin(score))] = 1.0
    lines = " ".join(abstain.compare({"new": few, "old": many}, {"new": score, "old": score}).phrases())
    assert "nan" not in lines
    assert "(no test: too few errors)" in lines
