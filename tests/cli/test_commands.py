"""Commands about one file: what they read, results on stdout, messages on stderr, files whole or not at all."""

import json
from csv import DictReader
from pathlib import Path

import numpy as np
import pytest

import abstain
from abstain._result import number
from tests.cli.conftest import COLUMNS, LOGITS
from tests.result.results import RESULTS

LOSS = (COLUMNS["y"] != COLUMNS["yhat"]).astype(float)


def test_scores_are_columns_first(do):
    """A column that is called like a computed score is meant; patterns find several; the order is kept."""
    np.savez("a.npz", y=COLUMNS["y"], logits=LOGITS, msp=COLUMNS["vague"], score_votes=COLUMNS["votes"])
    done = do("evaluate a.npz --scores 'votes, energy ,m?p,score_*' --metrics augrc --json -")
    assert [row["score"] for row in done.json["scores"]] == ["votes", "energy", "msp", "score_votes"]
    assert done.value("augrc", "msp") == abstain.augrc(LOSS, COLUMNS["vague"])


@pytest.mark.parametrize("policy", ["reject", "drop"])
def test_missing_scores(do, policy):
    """An empty cell in the confidence is what --nan-policy says."""
    Path("a.csv").write_text("y,yhat,conf\n0,0,0.9\n1,0,\n1,1,0.5\n0,1,0.4\n")
    done = do(f"evaluate a.csv --metrics augrc --nan-policy {policy} --json -")
    assert done.value("augrc") == abstain.augrc([0, 1, 0, 1], [0.9, np.nan, 0.5, 0.4], nan_policy=policy)
    assert f"confidence: 1 sample without a score was {policy.replace('drop', 'dropp')}ed" in done.json["notes"]


@pytest.mark.parametrize(
    "text", ["0,0,0.9\n", "0,0,0.9\n1,1,0.8\n", "0,1,0.9\n1,0,0.8\n", "0,0,0.5\n1,0,0.5\n1,1,0.5\n"]
)
def test_small_files(do, text):
    """One row, all right, all wrong and a constant score give a table, a page and strict JSON."""
    Path("a.csv").write_text("y,yhat,conf\n" + text)
    done = do("evaluate a.csv --json - --report r.html --plot p.svg")
    assert done.err.splitlines()[:-1] == ["wrote r.html", "wrote p.svg"]
    assert done.json["provenance"]["n"] == text.count("\n")
    do("evaluate a.csv")


def test_results_in_files(do, files, tmp_path):
    """Everything that is asked for is written and announced on stderr; the table is still printed."""
    wanted = ["r.html", "p.png", "r.json", "r.csv"]
    done = do("evaluate preds.csv --report r.html --plot p.png --json r.json --csv r.csv")
    assert done.err.splitlines()[:-1] == [f"wrote {name}" for name in wanted]
    assert "AUGRC" in done.out
    assert "Evaluation: preds.csv" in Path("r.html").read_text("utf-8")
    assert Path("p.png").read_bytes().startswith(b"\x89PNG")
    augrc = abstain.augrc(LOSS, COLUMNS["conf"])
    assert json.loads(Path("r.json").read_text("utf-8"))["measurements"][1]["value"] == augrc
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in files.values()} | set(wanted)
    for text in (Path("r.csv").read_text("utf-8"), do("evaluate preds.csv --csv - --metrics risk,augrc").out):
        assert float(list(DictReader(text.splitlines()))[1]["value"]) == augrc


@pytest.mark.parametrize(
    ("option", "name", "where"),
    [
        ("--report", "r.html", "abstain.report._build.build"),
        ("--plot", "p.png", "matplotlib.figure.Figure.savefig"),
        ("--json", "r.json", "abstain.Evaluation.to_dict"),
        ("--csv", "r.csv", "abstain.Evaluation.rows"),
    ],
)
def test_a_failure_keeps_the_old_file(abstain_, files, tmp_path, monkeypatch, option, name, where):
    """One line on stderr, code 2, the old file, and no temporary one."""

    def fail(*_, **__):
        raise OSError("no space left on device")

    (tmp_path / name).write_text("old")
    before = {path.name for path in tmp_path.iterdir()}
    monkeypatch.setattr(where, fail)
    done = abstain_("evaluate", files["csv"], option, name)
    assert (done.code, done.out, done.err) == (2, "", "abstain: no space left on device\n")
    assert (tmp_path / name).read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == before


def test_demo(do):
    """The bundled outputs: the story in the first lines, the table, four files, and commands that there are."""
    done = do("demo --output new/demo")
    assert done.out.startswith("Llama 3 70B on MMLU: 6,000 rows, error rate 24.7 %, score msp\n")
    outputs = abstain.datasets.load("llama3_70b_mmlu")
    assert number(abstain.augrc(outputs.loss, outputs.scores["max_logit"])) in done.out
    assert "open new/demo/report.html in a browser" in done.err
    for line in (each.strip() for each in done.err.splitlines() if each.startswith("  abstain ")):
        do(f"{line.split()[1]} --help")
    written = sorted(path.name for path in Path("new/demo").iterdir())
    assert written == ["report.html", "result.csv", "result.json", "risk-coverage.png"]


@pytest.mark.parametrize("typed", ["", "evaluate", "demo", "metrics", "scores"])
def test_lists_and_help(do, typed):
    """Each help ends with an example on lines of its own; lists name all that is registered, as JSON too."""
    for option in ("--help", "-h"):
        done = do(f"{typed} {option}")
        assert done.err == ""
        example = done.out.rstrip().rpartition("Example:  ")[2].splitlines()
        assert all(line.strip().startswith("abstain") for line in example)
        assert "\\b" not in done.out
    if typed in ("metrics", "scores"):
        names = getattr(abstain, typed).names()
        table = do(typed).out
        assert set(names) <= set(table.split())
        assert ("needs" in table.splitlines()[0], "source" in table.splitlines()[0]) == (True, False)
        entries = do(f"{typed} --json").json
        assert [entry["name"] for entry in entries] == names
        assert all(isinstance(value, str) and value for entry in entries for value in entry.values())
    assert do("--version").out == f"abstain {abstain.__version__}\n"


#: Headings that stand for themselves, and names of the examples' own rows.
PLAIN = {"", "score", "scores", "group", "rows", "estimate", "standard error", "difference [interval]", "p", "differ",
         "better - worse", "better than", "kept", "selected by", "choice", "validation", "test"}  # fmt: skip


@pytest.mark.parametrize("name", ["Evaluation", "CertifiedThreshold", "Comparison", "GroupThresholds", "Monitoring"])
def test_every_heading_is_explained(name, abstain_):
    """Columns of tables, and rows of those that list quantities."""
    for table in RESULTS[name]().tables():
        terms = [column.title for column in table.columns]
        if not terms[0]:
            terms += [str(row[0]) for row in table.rows]
        done = abstain_("explain", *(term for term in terms if term.lower() not in PLAIN))
        assert done.code == 0, done.err
        assert done.out


def test_an_unknown_word_hides_no_other(do):
    """What is known is explained; what is not is named word by word, with the nearest terms as they are written."""
    shown = do("explain letters augr Change certified 'Standard error' holm DS-AURC", 2)
    assert "Scores that share a letter" in shown.out
    assert "differ from those of the calibration rows" in shown.out
    assert shown.err.startswith("abstain: 'augr' is no term of a table; did you mean 'augrc'")
    assert "Change" not in shown.err
    assert "joint.f1" in do("explain F1").out
    assert "joint.fpr_at_id_recall" in do("explain fpr_at_id_recall").out
    assert "Needs probabilities; range [1/K, 1]." in do("explain msp").out
    do("explain F2", 2)
