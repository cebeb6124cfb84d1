"""Every command and option: its numbers are those of the library, results on stdout, messages on stderr."""

import json
from csv import DictReader
from pathlib import Path

import numpy as np
import polars
import pytest

import abstain
from abstain._result import number
from tests.cli.conftest import COLUMNS, LOGITS, PROBABILITIES
from tests.command import csv

Files = dict[str, Path]
LOSS = (COLUMNS["y"] != COLUMNS["yhat"]).astype(float)


def test_named_columns(do):
    """Each option names its column, whatever else the file holds."""
    names = {"y": "A", "yhat": "B", "conf": "C", "w": "D", "case": "E", "site": "F"}
    polars.DataFrame({names[key]: COLUMNS[key] for key in names}).write_parquet("odd.parquet")
    options = "--labels A --predictions B --confidence C --sample-weight D --ids E --clusters F"
    done = do(f"evaluate odd.parquet {options} --metrics augrc --json -")
    assert (done.err.count("\n"), ": labels `" in done.err) == (1, True)
    assert done.value("augrc") == abstain.augrc(LOSS, COLUMNS["conf"], sample_weight=COLUMNS["w"])
    assert done.json["provenance"]["weighted"] is True


def test_losses_probabilities_and_logits_by_name(do, files):
    """--loss takes the place of the 0/1 loss; --probabilities and --logits take patterns."""
    np.savez("a.npz", loss_of_mine=LOSS * 0.5, conf=COLUMNS["conf"])
    done = do("evaluate a.npz --loss loss_of_mine --metrics augrc --json -")
    assert done.value("augrc") == abstain.augrc(LOSS * 0.5, COLUMNS["conf"])
    done = do("evaluate preds.csv --probabilities p_* --scores neg_entropy --metrics augrc --json -")
    entropy = abstain.scores.compute("neg_entropy", abstain.Outputs(labels=COLUMNS["y"], probabilities=PROBABILITIES))
    assert done.value("augrc") == pytest.approx(abstain.augrc(LOSS, entropy), rel=1e-9)
    done = do("evaluate preds.npz --logits logits --scores max_logit --json -")
    assert done.value("augrc") == abstain.augrc(LOSS, LOGITS.max(axis=1))


def test_class_names_for_text_labels(do):
    """Labels that are text need the order of the columns; the message for their lack names the option."""
    words = np.array(["ant", "bee", "cat"])[COLUMNS["y"]]
    csv("text.csv", y=words, **{f"q{k}": PROBABILITIES[:, k] for k in range(3)})
    assert "--class-names" in do("evaluate text.csv --probabilities q*", 2).err
    done = do("evaluate text.csv --probabilities q* --class-names ant,bee,cat --json -")
    assert done.value("accuracy") == 1 - LOSS.mean()


def test_of_several_models_in_one_file_one_is_chosen(do):
    """By its probabilities, or by prediction and confidence, which need none; features by their name."""
    wrong = PROBABILITIES[:, ::-1]
    arrays = {"y": COLUMNS["y"], "probs_a": PROBABILITIES, "probs_b": wrong, "feature_a": LOGITS, "feature_b": -LOGITS}
    np.savez("a.npz", **arrays, pred_c=COLUMNS["yhat"], conf_c=COLUMNS["vague"])
    evaluate = "evaluate a.npz --metrics augrc --json -"
    said = do(f"{evaluate} --features feature_a", 2).err
    assert "probabilities could be 'probs_a' or 'probs_b'; give --probabilities <one of them>" in said
    said = do(f"{evaluate} --probabilities probs_b", 2).err
    assert "features could be 'feature_a' or 'feature_b'; give --features <one of them>" in said
    done = do(f"{evaluate} --predictions pred_c --confidence conf_c")
    assert done.value("augrc") == abstain.augrc(LOSS, COLUMNS["vague"])
    done = do(f"{evaluate} --probabilities probs_a --features feature_a --scores 'knn(neighbours=3)' --fit a.npz")
    outputs = abstain.Outputs(labels=COLUMNS["y"], probabilities=PROBABILITIES, features=LOGITS)
    assert done.value("augrc") == abstain.augrc(LOSS, abstain.scores.compute("knn(neighbours=3)", outputs, outputs))


def test_scores_are_columns_first(do):
    """A column that is called like a computed score is meant; patterns find several; the order is kept."""
    np.savez("a.npz", y=COLUMNS["y"], logits=LOGITS, msp=COLUMNS["vague"], score_votes=COLUMNS["votes"])
    done = do("evaluate a.npz --scores 'votes, energy ,msp' --metrics augrc --json -")
    assert [row["score"] for row in done.json["scores"]] == ["votes", "energy", "msp"]
    assert done.value("augrc", "msp") == abstain.augrc(LOSS, COLUMNS["vague"])
    assert done.value("augrc", "votes") == abstain.augrc(LOSS, COLUMNS["votes"])
    done = do("evaluate a.npz --scores m?p,score_* --metrics augrc --json -")
    assert [row["score"] for row in done.json["scores"]] == ["msp", "score_votes"]


def test_groups(do, files):
    """--groups takes several columns, text and numbers."""
    done = do("evaluate preds.parquet --groups site,age --metrics augrc --json -")
    south = COLUMNS["site"] == "south"
    assert done.value("augrc", group="site = south") == abstain.augrc(LOSS[south], COLUMNS["conf"][south])
    assert done.value("augrc", group="age = 31") > 0
    assert f"site = south  {south.sum()}  " in do("evaluate preds.parquet --groups site --metrics augrc").out


@pytest.mark.parametrize("policy", ["reject", "drop"])
def test_missing_scores(do, policy):
    """An empty cell in the confidence is what --nan-policy says."""
    Path("a.csv").write_text("y,yhat,conf\n0,0,0.9\n1,0,\n1,1,0.5\n0,1,0.4\n")
    done = do(f"evaluate a.csv --metrics augrc --nan-policy {policy} --json -")
    assert done.value("augrc") == abstain.augrc([0, 1, 0, 1], [0.9, np.nan, 0.5, 0.4], nan_policy=policy)
    assert f"confidence: 1 sample without a score was {policy.replace('drop', 'dropp')}ed" in done.json["notes"]


@pytest.mark.parametrize(
    "text",
    ["0,0,0.9\n", "0,0,0.9\n1,1,0.8\n", "0,1,0.9\n1,0,0.8\n", "0,0,0.5\n1,0,0.5\n1,1,0.5\n"],
    ids=["one row", "all right", "all wrong", "constant score"],
)
def test_small_files(do, text):
    """The extremes give a table, a page and strict JSON."""
    Path("a.csv").write_text("y,yhat,conf\n" + text)
    done = do("evaluate a.csv --json - --report r.html --plot p.svg")
    assert done.err.splitlines()[:-1] == ["wrote r.html", "wrote p.svg"]
    assert done.json["provenance"]["n"] == text.count("\n")
    do("evaluate a.csv")


# ---------------------------------------------------------------------- files


def test_results_in_files(do, files, tmp_path):
    """Everything that is asked for is written and announced on stderr; the table is still printed."""
    wanted = ["r.html", "p.png", "r.json", "r.csv"]
    done = do("evaluate preds.csv --report r.html --plot p.png --json r.json --csv r.csv")
    assert done.err.splitlines()[:-1] == [f"wrote {name}" for name in wanted]
    assert "AUGRC" in done.out
    assert "Evaluation: preds.csv" in (tmp_path / "r.html").read_text("utf-8")
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    augrc = abstain.augrc(LOSS, COLUMNS["conf"])
    assert json.loads((tmp_path / "r.json").read_text("utf-8"))["measurements"][1]["value"] == augrc
    rows = list(DictReader((tmp_path / "r.csv").read_text("utf-8").splitlines()))
    assert float(rows[1]["value"]) == augrc
    expected = {path.name for path in files.values()} | set(wanted)
    assert {path.name for path in tmp_path.iterdir()} == expected


def test_csv_on_stdout(do, files):
    """'-' prints the lines instead of the table."""
    rows = list(DictReader(do("evaluate preds.csv --csv - --metrics augrc").out.splitlines()))
    assert [float(row["value"]) for row in rows] == [abstain.augrc(LOSS, COLUMNS["conf"])]


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


# ---------------------------------------------------------------------- other commands


def test_demo(do):
    """The bundled outputs: the story in the first lines, the table, and four files."""
    done = do("demo --output new/demo")
    assert done.out.startswith("Llama 3 70B on MMLU: 6,000 rows, error rate 24.7 %, score msp\n")
    assert "bplaut/llm-calibration-and-correctness-prediction" in done.err
    outputs = abstain.datasets.load("llama3_70b_mmlu")
    for name in ("msp", "max_logit"):
        assert number(abstain.augrc(outputs.loss, outputs.scores[name])) in done.out
    assert "open new/demo/report.html in a browser" in done.err
    for line in (each.strip() for each in done.err.splitlines() if each.startswith("  abstain ")):
        do(f"{line.split()[1]} --help")
    written = sorted(path.name for path in Path("new/demo").iterdir())
    assert written == ["report.html", "result.csv", "result.json", "risk-coverage.png"]
    assert "Llama 3 70B on MMLU" in Path("new/demo/report.html").read_text("utf-8")
    assert "AURC" not in do("demo --output new/demo --metrics augrc").out


def test_lists(abstain_):
    """Every metric and score has a line in the table and an entry in the JSON."""
    for command, names in (("metrics", abstain.metrics.names()), ("scores", abstain.scores.names())):
        table = abstain_(command).out.split()
        assert set(names) <= set(table)
        entries = abstain_(command, "--json").json
        assert [entry["name"] for entry in entries] == names
        assert all(all(isinstance(value, str) and value for value in entry.values()) for entry in entries)


@pytest.mark.parametrize("command", [[], ["evaluate"], ["demo"], ["metrics"], ["scores"]])
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help(abstain_, command, option):
    """Each help ends with an example on lines of its own."""
    done = abstain_(*command, option)
    assert (done.code, done.err) == (0, "")
    example = done.out.rstrip().rpartition("Example:  ")[2].splitlines()
    assert example[0].startswith("abstain")
    assert all(line.strip().startswith("abstain") for line in example)
    assert "\\b" not in done.out


def test_version(abstain_):
    """Name and version."""
    assert abstain_("--version").out == f"abstain {abstain.__version__}\n"


def test_probabilities_given_as_logits_are_noted(do, files):
    """One line on stderr in the words of the command; the output itself stays clean."""
    polars.read_csv("preds.csv").head(90).write_csv("other.csv")
    for command in (
        "evaluate preds.csv --logits p_* --json -",
        "compare preds.csv --logits p_* --scores msp,max_logit --json -",
        "threshold preds.csv --logits p_* --score msp --coverage 0.5 --json -o policy.json",
        "monitor policy.json other.csv --json",
    ):
        done = do(command)
        assert done.json
        assert done.err.count("logits look like probabilities") == 1
        file = "other.csv" if "monitor" in command else "preds.csv"
        assert any(line.startswith(f"note: {file}: logits look like") for line in done.err.splitlines())
        assert "--probabilities" in done.err
