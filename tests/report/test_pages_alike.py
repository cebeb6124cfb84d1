"""What all pages say alike: boxes of what was decided, shares in per cent, options of the command, columns read."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import abstain
from abstain.cli import command

pytest.importorskip("polars")


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    """Work in a folder of its own."""
    monkeypatch.chdir(tmp_path)


def run(*arguments, codes=(0,)):
    """Run the command, which must end as expected."""
    result = CliRunner().invoke(command, [*map(str, arguments)])
    assert result.exit_code in codes, result.output


def written(name, columns):
    """Write columns as CSV; NaN as nothing."""
    rows = [list(columns), *zip(*columns.values(), strict=True)]
    text = "\n".join(",".join("" if each != each else str(each) for each in row) for row in rows)
    Path(name).write_text(text + "\n")


def lead(name):
    """Return the first screen of a page."""
    return json.loads(Path(name).read_text())["lead"]


def models(n=3000):
    """Return the losses of a good model and of one with more errors, and a score of both."""
    rng = np.random.default_rng(5)
    score = rng.random(n)
    return (rng.random(n) < 0.2 * (1 - score)).astype(int), (rng.random(n) < 0.6 * (1 - score)).astype(int), score


def test_the_status_of_a_comparison_chooses_no_threshold():
    """Which of two is better, that none is, and what a test with a margin showed; never a word of going live."""
    good, bad, score = models()
    rng = np.random.default_rng(6)
    for name, loss in (("good", good), ("bad", bad), ("copy", good)):
        moved = score + (0.001 * rng.random(len(score)) if name == "copy" else 0.0)
        written(f"{name}.csv", {"wrong": loss, "sure": moved, "site": rng.choice(["n", "s"], len(score))})
    read = ("--loss", "wrong", "--confidence", "sure")
    for given, words in (
        (("bad.csv", "good.csv"), "good is better than bad: "),
        (("good.csv", "copy.csv"), " is not significantly better than "),
        (("bad.csv", "good.csv", "--margin", "0.001"), "good is better than bad by more than 0.001"),
        (("good.csv", "bad.csv", "--margin", "0.001"), "good is not worse than bad by 0.001 or more"),
    ):
        run("compare", *given, *read, "--report", "a.json", codes=(0, 1))
        found = lead("a.json")
        assert (found["tone"], found["status"], found["rule"]) == ("open", "Compared, no threshold chosen", "")
        assert words in found["headline"]
    assert json.loads(Path("a.json").read_text())["result"]["shown"]
    page = Path("b.md")
    run("compare", "bad.csv", "good.csv", *read, "--margin", 0.001, "--report", page, codes=(1,))
    assert "claim: bad not worse by the margin" in page.read_text()
    assert "claim not shown" in page.read_text()
    assert f"{good.sum()} errors, or right answers, of the one that has fewer" in page.read_text()


def test_a_page_by_a_plan_names_options_and_says_how_labels_were_read():
    """As the terminal does: --population, and not an argument; labels, prediction and loss of the labelled rows."""
    rng = np.random.default_rng(1)
    p = rng.random(2000)
    written("pool.csv", {"id": [f"r{k}" for k in range(2000)], "p_no": 1 - p, "p_yes": p})
    run("plan", "pool.csv", "--probabilities", "p_*", "--ids", "id", "--labels", 300, "-o", "plan.json")
    plan = abstain.pool.load_plan("plan.json")
    truth = np.full(2000, np.nan)
    truth[plan.rows_to_label] = rng.random(300) < p[plan.rows_to_label]
    label = ["" if each != each else int(each) for each in truth]
    written("part.csv", {"id": [f"r{k}" for k in range(2000)], "p_no": 1 - p, "p_yes": p, "y": label})
    run("evaluate", "part.csv", "--labels", "y", "--probabilities", "p_*", "--ids", "id", "--plan", "plan.json",
        "--report", "page.md")  # fmt: skip
    text = Path("page.md").read_text()
    assert "--population for what they were drawn from" in text
    assert "target=" not in text
    for part in ("labels", "prediction", "confidence", "loss"):
        assert re.search(rf"read as {part} +\|", text), part
    assert "numbers from 0 on in the order of the columns (2 classes: no, yes)" in text
