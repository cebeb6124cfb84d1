"""What a terminal is told by every command that decides something: few lines, commands that run, a report."""

import hashlib
import json
import re
import shlex
from html import unescape
from pathlib import Path

import pytest

import abstain
from abstain.cli import command, run
from abstain.study import add_outputs
from tests.recorded.commands import TRUTH, rows

#: Lines that are not blank, at most; and those before the first table.
BARS = {
    "demo --output demo": (35, 14),
    "evaluate a.csv --confidence conf": (28, 10),
    "threshold a.csv --confidence conf --risk 0.2 --delta 0.05": (14, 14),
    "threshold a.csv --confidence conf --risk 0.01 --delta 0.05": (14, 14),
    "monitor p.json b.csv": (12, 12),
    "compare a.csv --scores conf,vague": (20, 6),
    "audit p.json b.csv": (12, 12),
    "apply p.json b.csv -o decided.csv": (3, 3),
    "joint a.csv ood.csv --confidence conf --scores other": (30, 12),
    "joint a.csv ood.csv --confidence other --permutations 0": (30, 12),
    "plan b.csv --confidence conf --labels 40 --seed 1 -o plan.csv": (14, 14),
    "study evaluate study": (30, 12),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write rows, a policy of them, rows out of distribution, and a study of two models."""
    where = tmp_path_factory.mktemp("lines")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(where)
        for name, frame in {"a": rows(1, 300), "b": rows(2, 250), "model": rows(1, 300, shift=0.5)}.items():
            frame.write_csv(f"{name}.csv")
        rows(4, 120, shift=2.2).drop(*TRUTH).write_csv("ood.csv")
        assert run(shlex.split("threshold a.csv --confidence conf --risk 0.2 --delta 0.1 -o p.json")) == 0
        for model in ("large", "small"):
            made = abstain.datasets.synthetic("calibrated", 1000, len(model))
            add_outputs("study", made, model=model, run="0", set="test")
        yield where


@pytest.mark.parametrize("typed", BARS)
def test_lines_are_few(typed, folder, monkeypatch, capsys):
    """The answer comes first, no sentence twice, one line says how a file was read, and what is named runs."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "80")
    (folder / "plan.csv").unlink(missing_ok=True)
    assert run(typed.split()) in (0, 1)
    out, err = capsys.readouterr()
    lines = [line for line in out.splitlines() if line.strip()]
    whole, before = BARS[typed]
    assert len(lines) <= whole, out
    assert max(map(len, lines)) <= 80
    sentences = [line for line in out.replace("\n  ", " ").splitlines() if line.startswith(("! ", "next: "))]
    assert len(sentences) == len(set(sentences))
    assert sum(line.startswith("! ") for line in sentences) <= 3
    parts = out.split("\n\n")
    verdict = "\n".join(parts[:2] if typed.startswith(("evaluate", "demo")) else parts[:1])  # a title, then the answer
    assert len(verdict.splitlines()) <= before, out
    read_as = [line for line in err.splitlines() if " · loss " in line]
    assert len(read_as) == len(set(read_as))
    named = [line.removeprefix("next: abstain ") for line in sentences if line.startswith("next: abstain ")]
    assert len(named) <= 1
    rows = next(folder.rglob("study/*/*/*.npz")) if "study" in typed else "b.csv"
    for line in named:  # as it is printed, but for what stands for new rows
        assert run(shlex.split(re.sub(r"NEW_ROWS\.\w+", str(rows), line))) in (0, 1), line


def test_help_shows_at_most_twenty_options_and_says_where_the_others_are(do):
    """Under headings, help as the last; ``--help-all`` lists every option that the command takes."""
    for name in command.list_commands(None):
        each = command.commands[name]
        if hasattr(each, "commands"):
            continue
        short, every = do(f"{name} --help").out, do(f"{name} --help-all").out
        shown, whole = (re.findall(r"^  (?:-\w, )?(--[\w-]+)", text, re.MULTILINE) for text in (short, every))
        assert len(shown) <= 20, name
        params = [param for param in each.params if not getattr(param, "hidden", False)]
        listed = [opt for param in params for opt in param.opts if opt.startswith("--")]
        assert [opt for opt in listed if opt not in every] == []
        more = re.search(rf"\n\n(\d+) more options: abstain {name} --help-all\n", short)
        assert (int(more[1]) if more else 0) == len(whole) - len(shown)


#: Commands that write a report, each with a file of which the report gives the digest.
REPORTED = {
    "evaluate a.csv --confidence conf": "a.csv",
    "compare a.csv model.csv --confidence conf": "model.csv",
    "threshold a.csv --confidence conf --risk 0.2 --delta 0.05": "a.csv",
    "monitor p.json b.csv": "b.csv",
    "study evaluate study --workers 1": "study/study.json",
}


@pytest.mark.parametrize("typed", REPORTED)
def test_every_command_writes_its_report(typed, folder, monkeypatch, capsys):
    """All three forms, which are shown on request; the verdict is printed, and is on the page in the same words."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "1000")
    shown = []
    monkeypatch.setattr("webbrowser.open", shown.append)
    for name in ("page.html", "page.md", "page.json"):
        assert run([*typed.split(), "--report", name, "--open"]) in (0, 1)
        out, err = capsys.readouterr()
        page = Path(name).resolve()
        assert f"wrote {name}" in err
        assert shown.pop() == page.as_uri()
        plain = re.sub(r'<a class="term"[^>]*>|</a>|</?span>|\\', "", unescape(page.read_text("utf-8")))
        plain = " ".join(plain.replace("\xa0", " ").split())
        lines = [line.removeprefix("! ").partition(". ")[0] for line in out.splitlines() if line.startswith("! ")]
        assert [line for line in lines if line not in plain] == []
        if name == "page.html":
            assert f"abstain {typed} --report {name}" in plain
            assert hashlib.sha256(Path(REPORTED[typed]).read_bytes()).hexdigest() in plain


def test_a_plan_of_labels_has_a_page(folder, monkeypatch):
    """``abstain plan --report``: how many rows to label, the chart of chances, and the stages."""
    monkeypatch.chdir(folder)
    typed = "plan b.csv --confidence conf --labels 100 --metric aurc -o"
    assert run(f"{typed} page.csv --report page.json".split()) == 0
    page = json.loads(Path("page.json").read_text())
    board = page["lead"]["board"]
    assert {"name": "Rows to label now", "value": "100"}.items() <= board["numbers"][0].items()
    assert board["chart"]["name"] == "chance"
    assert "abstain evaluate b.csv --confidence conf --plan page.csv" in json.dumps(page)
    assert run(f"{typed} other.csv --open".split()) == 2
    assert not Path("other.csv").exists()
