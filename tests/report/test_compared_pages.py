"""Pages of comparisons, studies, joint evaluations and few labels answer the five questions, or name who does."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import abstain
from abstain._result import percent
from abstain.cli import command
from abstain.report import Source, build

QUESTIONS = ("Which is better?", "May it go live, and at what threshold?", "What is promised?", "Where is it worst?",
             "What would make it better?")  # fmt: skip


def run(*arguments: Any, codes: tuple[int, ...] = (0,)) -> str:
    """Run the command, which must end as expected, and return what it printed."""
    result = CliRunner().invoke(command, [*map(str, arguments)])
    assert result.exit_code in codes, result.output
    return result.output


def page(path: Path) -> dict[str, list[str]]:
    """Return the answers on a Markdown page, by question."""
    verdict = path.read_text("utf-8").split("## Verdict\n")[1].split("\n## ")[0]
    verdict = re.sub(r"\\([`_*\[<|])", r"\1", verdict)
    verdict = re.sub(r"^\*\*.*; no threshold is chosen here\*\*\n", "", verdict, flags=re.MULTILINE)
    parts = re.split(r"^\*\*(.+)\*\*$", verdict, flags=re.MULTILINE)[1:]
    return {question: re.findall(r"^- (.+)$", text, re.MULTILINE)
            for question, text in zip(parts[::2], parts[1::2], strict=True)}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two models on the same rows, of which the first is better, in two sites."""
    path, rng = tmp_path_factory.mktemp("models"), np.random.default_rng(0)
    n = 3000
    hard, site = rng.random(n), rng.choice(["north", "south"], n)
    for name, worse in (("good", 0.2), ("bad model", 0.9)):
        wrong = rng.random(n) < worse * hard**2 + 0.2 * (site == "south") * hard
        lines = [f"r{k},{int(w)},{1 - h + 0.1 * e:.6f},{s}" for k, (w, h, e, s) in
                 enumerate(zip(wrong, hard, rng.random(n), site, strict=True))]  # fmt: skip
        (path / f"{name}.csv").write_text("\n".join(["case,failed,sure,site", *lines]) + "\n")
    return path


COLUMNS = ("--loss", "failed", "--confidence", "sure", "--ids", "case")


def command_in(line: str, new: Path | None = None) -> list[str]:
    """Return the words of the command that an answer names, for the new rows that it asks for if it does."""
    found = re.search(r"`abstain (.+?)`", line)
    assert found is not None, line
    words = shlex.split(found[1])
    assert (words[1] == f"NEW_ROWS{new.suffix}") if new is not None else "NEW_ROWS" not in line
    return words if new is None else [words[0], str(new), *words[2:]]


def test_a_page_of_two_models_answers_all(folder: Path) -> None:
    """Which is better in area, coverage, errors and ranking; the commands that it names run and answer the rest."""
    out = folder / "models.md"
    said = run("compare", folder / "good.csv", folder / "bad model.csv", *COLUMNS, "--report", out)
    found = page(out)
    assert list(found) == list(QUESTIONS)
    better = " ".join(found["Which is better?"])
    assert "good is better than bad model by AUGRC (" in better
    result = _models(folder)
    known = result.beside
    assert known is not None
    assert known.errors is not None
    assert f"good is wrong in {known.errors['good']:,} of 3,000 cases" in better
    assert "AUROC of failures" in better
    pair = known.difference("coverage", "good", "bad model")
    assert pair is not None
    assert pair.low > 0.0
    assert f"{100 * pair.difference:.2g} percentage points more [{100 * pair.low:.2g}, {100 * pair.high:.2g}]" in better
    for question in QUESTIONS:
        assert found[question]
    text = out.with_suffix(".html")
    run("compare", folder / "good.csv", folder / "bad model.csv", *COLUMNS, "--report", text)
    html = text.read_text("utf-8")
    assert "<h1>Comparison: good.csv, bad model.csv</h1>" in html
    assert '<p class="sign">good is better; no threshold is chosen here</p>' in html
    assert re.search(
        r"<code><span>abstain</span> <span>threshold</span> <span>NEW_ROWS.csv</span> <span>--\w+</span>", html
    )
    live, promise = (" ".join(found[QUESTIONS[k]]) for k in (1, 2))
    assert "which had no part in this comparison: the rows by which good came first flatter it" in live
    assert "if good was not chosen by the rows that it is given" in promise
    words = command_in(live, folder / "good.csv")
    assert "threshold" in run(*words, codes=(0, 1)).lower()
    words = command_in(" ".join(found["Where is it worst?"]))
    assert "site" in run(*("site" if word == "COLUMN" else word for word in words))
    assert "Nothing is promised here" in said
    assert said.index("good is better than") < said.index("Nothing is promised here")


def _models(folder: Path) -> abstain.Comparison:
    read = {name: abstain.read_outputs(folder / f"{name}.csv", loss="failed", confidence="sure")
            for name in ("good", "bad model")}  # fmt: skip
    return abstain.compare({name: each.loss_per_sample() for name, each in read.items()},
                           {name: each.confidence for name, each in read.items()})  # fmt: skip


def test_the_table_beside_has_what_each_is_by_itself(folder: Path) -> None:
    """Errors, AUROC of failures and coverage at a risk, each as the metric itself says."""
    result = _models(folder)
    text = " ".join(str(part) for section in build(result).sections for part in section.parts)
    assert "Answers, ranking and coverage of each" in text
    known = result.beside
    assert known is not None
    for name in ("good", "bad model"):
        outputs = abstain.read_outputs(folder / f"{name}.csv", loss="failed", confidence="sure")
        loss, score = outputs.loss_per_sample(), outputs.confidence
        for what, metric in (("ranking", "auroc_f"), ("coverage", "coverage_at_risk(risk=0.05)")):
            one, other = known.interval(what, name), abstain.confidence_interval(metric, loss, score)
            assert one is not None
            assert one.estimate == other.estimate
            assert (one.low, one.high) == pytest.approx((other.low, other.high))


def test_a_difference_that_does_not_matter_is_called_so() -> None:
    """A score that is a hair better: significant by its area, and less than a percentage point in coverage."""
    rng = np.random.default_rng(4)
    score = rng.random(20000)
    loss = (rng.random(20000) > score**0.1).astype(float)
    found = abstain.compare(loss, {"whole": score, "rounded": np.round(score, 1)})
    assert found.differences[0].significant
    first, second = found.phrases()[:2]
    assert first.startswith("whole ranks better than rounded (AUGRC ")
    assert "lower, p" in first
    slight = abstain.compare(loss, {"a": score, "b": np.where(score < 0.02, 0.02 - score, score)})
    line = next(each for each in slight.phrases() if "percentage point" in each)
    assert line.startswith("It matters little: at 5 % risk")
    assert not second.startswith("It matters little")


def test_a_test_with_a_margin_names_errors_and_ranking(folder: Path) -> None:
    """The page says more than the margin, and goes on with the reference where the claim is not shown."""
    out = folder / "margin.md"
    run("compare", folder / "bad model.csv", folder / "good.csv", *COLUMNS, "--margin", "0.002", "--report", out,
        codes=(1,))  # fmt: skip
    found = page(out)
    assert list(found) == list(QUESTIONS)
    better = " ".join(found["Which is better?"])
    assert "bad model is wrong in " in better
    assert "By the ranking alone" in better
    assert "fewer [" in better
    live = " ".join(found["May it go live, and at what threshold?"])
    assert command_in(live, folder / "good.csv")[0] == "threshold"
    assert "the rows by which good came first flatter it" in live
    assert "bad model is worse than good by more than 0.002 in AUGRC ↓: shown at 0.05" in out.read_text("utf-8")


def test_a_page_of_groups_tells_interval_and_risk_of_the_worst(folder: Path) -> None:
    """The value of the worst group stands with its interval, and what is wrong there in per cent."""
    out = folder / "groups.md"
    run("compare", folder / "good.csv", *COLUMNS, "--groups", "site", "--report", out)
    found = page(out)
    worst = " ".join(found["Where is it worst?"])
    assert re.search(r"The worst of 2 groups is south, by AUGRC: [.\d]+ \[[.\d]+, [.\d]+\]", worst)
    assert re.search(r"[.\d]+ % of the cases of south are wrong \[[.\d]+ %, [.\d]+ %\]; in north, ", worst)
    assert "Look at the errors of south first" in " ".join(found["What would make it better?"])
    words = command_in(" ".join(found["May it go live, and at what threshold?"]))
    assert words[words.index("--groups") + 1] == "site"
    assert "In north" in run(*words, codes=(0, 1)) or "Not attainable" in run(*words, codes=(0, 1))


def test_a_study_tests_its_best_cell_and_names_the_file(folder: Path) -> None:
    """The best of a set is tested against the next and against the other model, in accuracy, too."""
    where, out = folder / "study", folder / "study.md"
    for name in ("good", "bad model"):
        run("study", "add", where, folder / f"{name}.csv", "--loss", "failed", "--confidence", "sure", "--ids", "case",
            "--model", name.split()[0], "--set", "test")  # fmt: skip
    run("study", "evaluate", where, "--workers", "1", "--report", out)
    found = page(out)
    assert list(found) == list(QUESTIONS)
    better = " ".join(found["Which is better?"])
    assert "On test the best of 2 by AUGRC is good confidence" in better
    assert re.search(r"Accuracy [.\d]+ % and [.\d]+ % \(p", better)
    live = " ".join(found["May it go live, and at what threshold?"])
    assert "at 5 % risk good confidence answers" in live
    assert "the rows by which good confidence came first flatter it" in live
    assert "if good confidence was not chosen by the rows" in " ".join(found["What is promised?"])
    words = command_in(live, where / "good" / "seed0" / "test.npz")
    assert words[0] == "threshold"
    run(*words, codes=(0, 1))


def test_the_test_of_a_study_is_that_of_compare(folder: Path) -> None:
    """The p-value from sums over groups of rows is close to the one from the rows."""
    from abstain import study

    where = folder / "pairs"
    rng = np.random.default_rng(1)
    score = rng.random(4000)
    loss = (rng.random(4000) > score**0.3).astype(float)
    noisy = score + 0.12 * rng.random(4000)
    for name, column in (("a", score), ("b", noisy)):
        study.add_outputs(where, abstain.Outputs(loss=loss, confidence=column), model=name, run="seed0", set="test")
    results = study.evaluate(where, metrics="augrc", workers=1)
    (fact,) = [each for each in results.grounds() if each["about"] == "cell"]
    exact = abstain.compare(loss, {"a": score, "b": noisy}).differences[0]
    assert fact["name"].split()[0] == exact.a
    assert np.log10(fact["p"]) == pytest.approx(np.log10(exact.p_value), abs=0.35)


def test_gains_that_so_few_permutations_cannot_tell_are_called_so() -> None:
    """Both metrics are said; with ten permutations no p-value could show a gain, whatever its size."""
    from abstain.joint import grounds_of

    row = {"set": "far", "score": "knn", "null_mean": 0.0005, "null_sd": 0.0002, "n_permutations": 10}
    gains = [
        {**row, "metric": "ds_f1", "gain": 0.0001, "p": 1.0},
        {**row, "metric": "ds_aurc", "gain": 0.001, "p": 1 / 11},
    ]
    first, second = grounds_of(gains)
    assert (first["metric"], second["metric"]) == ("DS-F1", "DS-AURC")
    from abstain._result import said

    words = [text for _, text in said([first, second])]
    assert any("DS-F1" in text and "does not pay here" in text and "adjusted for all 2 gains" in text for text in words)
    assert any("DS-AURC" in text and "10 permutations are too few" in text for text in words)
    assert any("takes at least 40 permutations" in text for text in words)
    many = [{**each, "n_permutations": 999, "p": 0.001} for each in gains]
    assert any("improves DS-AURC on far by 0.001" in text for _, text in said(grounds_of(many)))


def test_a_joint_page_answers_and_names_a_file_once(tmp_path: Path) -> None:
    """One file with rows of both kinds: what one threshold does, how many foreign rows it accepts, one hash."""
    rng = np.random.default_rng(0)
    n = 400
    foreign = rng.random(n) < 0.3
    sure = np.where(foreign, rng.random(n) * 0.7, 0.3 + 0.7 * rng.random(n))
    lines = [f"{int(f)},{int(rng.random() > s)},{s:.5f},{rng.random():.5f}" for f, s in zip(foreign, sure, strict=True)]
    file, out = tmp_path / "both.csv", tmp_path / "joint.md"
    file.write_text("\n".join(["is_ood,loss,confidence,score_knn", *lines]) + "\n")
    run("joint", file, "--confidence", "confidence", "--scores", "knn", "--permutations", "3", "--report", out)
    found = page(out)
    assert list(found) == list(QUESTIONS)
    worst = " ".join(found["Where is it worst?"])
    top, passed = (re.search(pattern, worst) for pattern in (r"from (\S+) on", r"so are (\S+) % of the foreign rows"))
    assert top is not None
    assert passed is not None
    score = np.round(sure, 5)
    assert (score[~foreign] >= float(top[1])).mean() >= 0.95 > (score[~foreign] > float(top[1])).mean()
    assert float(passed[1]) == pytest.approx(100 * (score[foreign] >= float(top[1])).mean(), rel=0.01)
    assert "A higher threshold lets fewer foreign rows of both pass" in " ".join(found["What would make it better?"])
    run("joint", file, "--confidence", "confidence", "--scores", "knn", "--report", tmp_path / "joint.html")
    text = (tmp_path / "joint.html").read_text("utf-8")
    shaded = re.findall(r"td\.(s\d+)\{background:[^}]*color:#000\}", text)
    assert shaded
    assert all(f"td.{name} span,.stack td.{name}::before{{color:inherit}}" in text for name in shaded)
    assert "for familiar cases only: foreign ones are left out" in " ".join(found["What is promised?"])
    assert "are right (the accuracy)" in " ".join(found["Which is better?"])
    assert out.read_text("utf-8").count("SHA-256 of") == 1


def test_a_page_from_few_labels_has_a_verdict(tmp_path: Path) -> None:
    """How many labels by which plan, errors seen, intervals, what plain evaluation would need and more would buy."""
    rng = np.random.default_rng(0)
    score = rng.random(3000)
    wrong = (rng.random(3000) > score**0.3).astype(float)
    plan = abstain.plan_labels(score, 300, seed=1)
    loss = np.full(3000, np.nan)
    loss[plan.rows_to_label] = wrong[plan.rows_to_label]
    found = abstain.evaluate(loss=loss, confidence=score, plan=plan)
    said = found.phrases()
    few = found.provenance["few_labels"]
    assert said[0] == (
        f"Of 3,000 rows 300 are labelled by plan (uniform), {few['errors']} errors among them: all that follows is "
        "estimated from these labels and the scores of all rows."
    )
    counted = f"alone {percent(few['errors'] / 300)} are wrong ({few['errors']} of 300)"
    assert any(counted in line for line in said)
    assert any("all rows of this pool, labelled or not" in note for note in found.notes())
    needs = f"about {few['plain_needs']['AUGRC']:,.0f} labels"
    answered = "Estimated, no promise: when everything is answered"
    for words in (answered, "Nothing is promised here", "600 in all", "better than chance: AUROC of failures", needs):
        assert any(words in line for line in said), words
    out = tmp_path / "few.html"
    found.report(out)
    text = out.read_text("utf-8")
    assert "No sentence is said" not in text
    assert "np.float64" not in text
    assert "Band:" not in text
    assert "Reliability" not in text
    found.report(tmp_path / "few.json")
    assert "np.float64" not in json.dumps(json.loads((tmp_path / "few.json").read_text("utf-8")))
    pair = abstain.plan_labels(score, 300, compare=score + 0.1 * rng.random(3000), seed=1)
    assert pair.n == 3000


def test_two_scores_by_few_labels_say_so() -> None:
    """A comparison by a plan names labels and errors, and that the difference has an estimate of its own."""
    rng = np.random.default_rng(0)
    score = rng.random(3000)
    other = score + 0.4 * rng.random(3000)
    wrong = (rng.random(3000) > score**0.3).astype(float)
    plan = abstain.plan_labels(score, 300, compare=other, seed=1)
    loss = np.full(3000, np.nan)
    loss[plan.rows_to_label] = wrong[plan.rows_to_label]
    found = abstain.compare(loss, {"a": score, "b": other}, plan=plan)
    said = found.phrases()
    assert said[0].startswith("Of 3,000 rows 300 are labelled by plan (planned), ")
    assert any("would put the difference in AUGRC within" in line for line in said)
    assert "The difference is estimated by itself, more exactly" in str(found.tables()[1])
    assert any(line == "That takes rows that are all labelled." for line in said)
    best = found.table[0]["name"]
    apart = found.differences[0].significant
    assert any(line.startswith(f"{best} is named because its estimate is the best") for line in said) is not apart
    assert "asked" not in found.to_dict()


def test_long_names_of_a_chart_stand_below_each_other() -> None:
    """Each name has a line of its own above its interval, so that no two can overlap."""
    rng = np.random.default_rng(0)
    loss = (rng.random(300) < 0.2).astype(float)
    names = [f"wideresnet with a long name {k}" for k in range(6)]
    found = abstain.compare(loss, {name: rng.random(300) for name in names})
    from abstain.report import as_html

    text = as_html(build(found, Source()))
    places = re.findall(r'<text class="name" x="(\d+)" y="(\d+)">([^<]+)<', text)
    assert {name for _, _, name in places} == set(names)
    heights = sorted(int(y) for _, y, _ in places)
    assert min(np.diff(heights)) >= 40


def test_the_verdict_of_eleven_models_tests_two_and_says_the_same() -> None:
    """What is known of the best and the next is that of all scores tested at once, to the last bit."""
    rng = np.random.default_rng(0)
    loss = {f"m{k}": (rng.random(2000) < 0.1).astype(float) for k in range(5)}
    scores = {name: rng.random(2000) - 0.2 * each for name, each in loss.items()}
    found = abstain.compare(loss, scores)
    words = found.phrases()
    assert "beside" not in vars(found)
    best, other = (row["name"] for row in found.table[:2])
    assert found.beside is not None
    facts = found.beside.facts(best, other)
    assert len(facts) == 3
    asked = {str(each["about"]) for each in facts}
    assert [each for each in found.grounds() if each["about"] in asked] == facts
    assert any(f"At 5 % risk {best} answers" in line for line in words)
