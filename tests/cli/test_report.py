"""``--report`` of every command that has it: the page is written, names its command and files, and says the verdict."""

import hashlib
import json
import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest

import abstain
from abstain.cli import run

pytest.importorskip("polars")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return files of two models, of an OOD set, a policy and a study."""
    where, rng = tmp_path_factory.mktemp("reports"), np.random.default_rng(0)
    score = rng.random(2000)
    wrong = (rng.random(2000) > 0.7 + 0.3 * score).astype(float)
    for name, column in (("a", score), ("b", rng.random(2000))):
        abstain.write_outputs(abstain.Outputs(loss=wrong, confidence=column), where / f"{name}.npz")
    abstain.choose_threshold(wrong, score, risk=0.2, delta=0.05).save(where / "policy.json", score="confidence")
    later = rng.random(1500)
    fresh = abstain.Outputs(loss=(rng.random(1500) > 0.7 + 0.3 * later).astype(float), confidence=later)
    abstain.write_outputs(fresh, where / "new.npz")
    for model in ("ce", "mixup"):
        made = abstain.datasets.synthetic("calibrated", 300, len(model))
        abstain.study.add_outputs(where / "study", made, model=model, run="seed0", set="test")
    return where


def words_of(page):
    """Return the text of a page without links and the marks of unbroken words; spaces are single and plain."""
    plain = re.sub(r'<a class="term"[^>]*>|</a>|</?span>', "", unescape(page.read_text("utf-8")))
    return " ".join(plain.split())


COMMANDS = {
    "evaluate": ["evaluate", "a.npz"],
    "compare": ["compare", "a.npz", "b.npz"],
    "threshold": ["threshold", "a.npz", "--risk", "0.2", "--delta", "0.05"],
    "monitor": ["monitor", "policy.json", "new.npz"],
    "study": ["study", "evaluate", "study", "--workers", "1"],
}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("ending", ["html", "md", "json"])
def test_every_command_writes_its_report(name, ending, folder, monkeypatch, capsys):
    """All three forms; the verdict is printed, and is on the page in the same words."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "1000")
    page = folder / f"{name}.{ending}"
    assert run([*COMMANDS[name], "--report", page.name]) == 0
    printed, said = capsys.readouterr()
    assert f"wrote {page.name}" in said
    text = words_of(page)
    lines = [line.removeprefix("! ") for line in printed.splitlines() if line.startswith("! ")]
    missing = [line for line in lines if line.partition(". ")[0] not in text.replace("\\", "").replace("\xa0", " ")]
    assert missing == []
    if ending == "html":
        assert f"abstain {' '.join(COMMANDS[name])} --report {page.name}" in text
        file = (
            folder / "study" / "study.json"
            if name == "study"
            else folder / COMMANDS[name][-1 if name != "threshold" else 1]
        )
        assert hashlib.sha256(file.read_bytes()).hexdigest() in text


def test_open_shows_the_page(folder, monkeypatch, capsys):
    """In the browser of the user, after it was written; without a report there is nothing to show."""
    monkeypatch.chdir(folder)
    shown = []
    monkeypatch.setattr("webbrowser.open", shown.append)
    assert run(["compare", "a.npz", "b.npz", "--report", "shown.html", "--open"]) == 0
    assert shown == [(folder / "shown.html").resolve().as_uri()]
    assert run(["compare", "a.npz", "b.npz", "--open"]) == 2
    assert "--open shows the --report; give --report FILE" in capsys.readouterr().err


def test_another_ending_is_refused_before_the_work(folder, capsys):
    """A page is no PDF."""
    assert run(["threshold", str(folder / "a.npz"), "--coverage", "0.5", "--report", str(folder / "x.pdf")]) == 2
    assert "extension '.pdf' is no report; use .html, .htm, .md, .json" in capsys.readouterr().err
    assert not (folder / "x.pdf").exists()


@pytest.mark.parametrize("command", ["threshold", "evaluate"])
def test_a_guarantee_is_no_plain_yes_where_columns_that_may_be_groups_were_not_read(command, abstain_, tmp_path):
    """The box, and the first line, in terminal and every form; identifiers, fractions and constants are no groups."""
    rng = np.random.default_rng(7)
    score = rng.random(2000)
    wrong = (rng.random(2000) < 0.25 * (1.0 - score)).astype(int)
    columns = {"sure": score, "err": wrong, "row": np.arange(2000), "all": ["x"] * 2000,
               "price": rng.choice([0.5, 1.25, 3.0], 2000), "site": rng.choice(["north", "south"], 2000)}  # fmt: skip
    given = ["--loss", "err", "--confidence", "sure", *(["--risk", 0.05, "--delta", 0.05] * (command == "threshold"))]
    for names, green in (("sure err row all price", True), ("sure err row all price site", False)):
        rows = zip(*(columns[name] for name in names.split()), strict=True)
        lines = [",".join(map(str, row)) for row in [names.split(), *rows]]
        (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
        for ending in ("html", "md", "json"):
            done = abstain_(command, "a.csv", *given, "--report", f"a.{ending}")
            assert done.code == 0
            printed, page = " ".join(done.out.split()), words_of(tmp_path / f"a.{ending}")
            for text in (printed, page.replace("\\", "")):
                assert ("Columns that may be groups were not used: site." in text) is not green
                assert ("No groups were given: some may be worse." in text) is green
        lead = json.loads((tmp_path / "a.json").read_text())["lead"]
        assert lead["tone"] == ("good" if green else "care")


def test_a_plan_of_labels_has_a_page(folder, monkeypatch):
    """``abstain plan --report``: how many rows to label, the chart of chances, and the stages."""
    monkeypatch.chdir(folder)
    options = "--labels 100 --metric aurc --seed 1 -o plan.csv --report plan.json"
    assert run(["plan", "a.npz", *options.split()]) == 0
    page = json.loads(Path("plan.json").read_text())
    assert page["title"] == "Which rows to label: a.npz"
    numbers = {each["name"]: each["value"] for each in page["lead"]["board"]["numbers"]}
    assert numbers["Rows to label now"] == "100"
    assert page["lead"]["board"]["chart"]["name"] == "chance"
    assert run(["plan", "a.npz", "--labels", "100", "-o", "other.csv", "--open"]) == 2
    assert not Path("other.csv").exists()
