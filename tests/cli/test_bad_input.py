"""Bad input: one clear line on stderr that names the file, the column and the remedy; never a traceback."""

from pathlib import Path

import numpy as np
import pytest

from abstain.cli import as_options
from tests.cli.conftest import COLUMNS

Files = dict[str, Path]


def refused(done, *parts):
    """Assert that a command failed as it should, with these parts in its message."""
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("abstain: ")
    assert done.err.count("\n") == 1
    assert done.err.endswith("\n")
    assert "Traceback" not in done.err
    for part in parts:
        assert part in done.err


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("pred.csv", "pred.csv: no such file; did you mean 'preds.csv'?"),
        ("other/x.npz", "other/x.npz: no such file; check the path"),
        ("empty", "empty: is a folder"),
    ],
)
def test_no_file(abstain_, files, path, message):
    """The nearest name in the folder is offered; a folder is no file."""
    Path("empty").mkdir()
    refused(abstain_("evaluate", path), message)


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (["--labels", "yy"], ["column 'yy' is not in the file; did you mean 'y'?", "give --labels <column>"]),
        (["--confidence", "cnf"], ["column 'cnf' is not in the file; did you mean 'conf'?", "--confidence"]),
        (["--groups", "sit"], ["column 'sit' is not in the file; did you mean 'site'?", "--groups <column>"]),
        (["--groups", "z*"], ["no column matches --groups 'z*'"]),
        (["--probabilities", "q_*"], ["no column matches --probabilities 'q_*'; columns: y, yhat"]),
        (["--scores", "vage"], ["'vage' is neither a score nor a column; did you mean 'vague'", "abstain scores"]),
        (["--scores", "mps"], ["'mps' is neither a score nor a column; did you mean 'msp'"]),
        (["--scores", "zzzzzz"], ["'zzzzzz' is neither a score nor a column; columns: y, yhat, conf, votes"]),
        (["--resamples", "1"], ["--resamples must be a whole number >= 2, got 1"]),
        (["--level", "95"], ["level must lie in [0, 1], got 95.0; give a fraction, not per cent"]),
        (["--scores", "z*"], ["no column matches --scores 'z*'"]),
        (["--scores", "energy"], ["energy needs logits"]),
        (["--confidence", "site"], ["column 'site' says 'north' in data row 1, which is no word of a known scale"]),
        (["--scores", "case"], ["column 'case' must hold numbers, but data row 1 holds 'case 0'"]),
        (["--labels", "site"], ["labels", "--class-names a,b,..."]),
        (["--labels", "conf"], ["column 'conf' holds measured numbers", "--task 'regression'"]),
        (["--sample-weight", "site"], ["column 'site' must hold numbers"]),
        (["--metrics", "ece", "--scores", "votes"], ["ece needs confidence scores that are probabilities in [0, 1]"]),
        (["--metrics", "aurc(estimator=lg)"], ["estimator='lg' is not known; did you mean 'log'?"]),
        (["--metrics", "coverage_at_risk(risk=low)"], ["risk must be a number in [0, 1], got 'low'"]),
        (["--metrics", "selective_risk(coverage=80)"], ["coverage must lie in [0, 1], got 80", "not per cent"]),
    ],
)
def test_wrong_columns_and_options(abstain_, files, options, parts):
    """File, column and remedy are named, in words of the command line."""
    done = abstain_("evaluate", "preds.csv", *options)
    refused(done, "preds.csv: ", *parts)
    assert not [word for word in ("label=", "probs=", "confidence=", "groups=", "scores=") if word in done.err]


@pytest.mark.parametrize(
    ("metrics", "part"),
    [
        ("augcr", "metric 'augcr' is not known; did you mean 'augrc'"),
        ("aurc(estimatr=log)", "aurc has no option 'estimatr'; its options: estimator="),
        ("aurc(", "metric 'aurc(' cannot be read; write a name"),
        ("(" * 300, "cannot be read"),
        (" , ", "metrics is empty"),
    ],
)
def test_wrong_metrics_fail_before_the_file_is_read(abstain_, files, metrics, part):
    """Nobody should wait for a large file to learn of a slip of the pen."""
    refused(abstain_("evaluate", "preds.csv", "--metrics", metrics), part)
    if "empty" not in part:
        refused(abstain_("evaluate", "not-there.csv", "--metrics", metrics), part)


NOT_PREDICTED = "nothing predicts a class; give --logits, --probabilities, --predictions, --positive-probability or"
JSON = '{"y": 0, "yhat": 0, "conf": 0.5}\n'


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("y,yhat,conf\n", ["has no rows; at least one sample is needed"]),
        ("yhat,conf\n0,0.5\n", ["no column is recognised as label or loss; give --labels, --correct or --loss;"]),
        ("y,conf\n0,0.5\n", [f"{NOT_PREDICTED} --loss;"]),
        ("y, guess, sure\n0, 0, 0.5\n", [NOT_PREDICTED, "columns: y, ' guess', ' sure'"]),
        ("y,yhat\n0,0\n", ["these outputs have no confidence"]),
        ("y,yhat,conf\n0,0,0.9\n1,1,high\n", ["column 'conf' mixes numbers ('0.9', data row 1) and words ('high', "]),
        ("y,yhat,conf\n0,0,0.9\n1,1,0.8,7\n", ["data row 2 (line 3) has 4 fields, the header has 3"]),
        ("loss,conf\n0,0.9\n-1,0.8\n", ["loss is negative", "[data row 2]"]),
        ("y,yhat,conf\n0,0,0.9\n1,1,0.8\n1,0,\n", ["confidence", "--nan-policy", "[data row 3]"]),
        (JSON + '{"y": 0,\n', ["line 2 is no JSON object"]),
        (JSON + JSON.replace("0.5", "NaN"), ["line 2 holds NaN, which is no JSON: write null for a missing"]),
        ("y,yhat,conf\n0,0,0.9\n".encode("utf-16"), ["is no UTF-8 text (UTF-16?); write it again as UTF-8"]),
    ],
)
def test_bad_files(abstain_, text, parts):
    """Options that would help are named, and no argument of the library; rows count from 1, as editors show them."""
    path = Path("a.csv" if text[0] != "{" else "a.jsonl")
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    refused(abstain_("evaluate", path), f"{path}: ", *parts)


def test_a_label_that_is_taken_as_a_group(do):
    """One column may be both, if it is named twice."""
    Path("a.csv").write_text("y,yhat,conf\n0,0,0.5\n")
    said = do("evaluate a.csv --groups y", 2)
    refused(said, "a.csv: column 'y' is taken as a group, none is left as label or loss; give --labels 'y' too;")
    do("evaluate a.csv --groups y --labels y")


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (["--json", "no/r.json"], ["no/r.json: the folder does not exist; create it first"]),
        (["--report", "."], [".: is a folder; give --report the name of a file in it"]),
        (["--csv", "preds.csv"], ["preds.csv: is an input and would be replaced; give --csv another name"]),
        (["--report", "./preds.csv"], ["preds.csv: is an input and would be replaced"]),
        (["--plot", "p.gif"], ["p.gif: extension '.gif' cannot be drawn; use .png, .svg, .pdf"]),
        (["--plot", "p"], ["p: extension '' cannot be drawn"]),
        (["--json", "a", "--csv", "a"], ["a: is given to both --json and --csv; choose two names"]),
        (["--json", "-", "--csv", "-"], ["-: is given to both"]),
        (["--report", "-"], ["--report - cannot be printed"]),
    ],
)
def test_destinations_are_checked_first(abstain_, files, tmp_path, options, parts, monkeypatch):
    """Before anything is read: what cannot be written, and what would destroy the input."""
    monkeypatch.setattr("abstain.cli._commands.read", lambda *_, **__: pytest.fail("the file was read first"))
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    refused(abstain_("evaluate", "preds.csv", *options), *parts)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_folder_that_cannot_be_written_to(abstain_, files, monkeypatch):
    """Said before the work, with the option."""
    monkeypatch.setattr("os.access", lambda *_: False)
    refused(abstain_("evaluate", "preds.csv", "--json", "r.json"), "r.json: the folder cannot be written to", "--json")


def test_demo_in_a_bad_place(abstain_, files):
    """The folder of the demo cannot be a file, nor lie in one."""
    refused(abstain_("demo", "--output", "preds.csv"), "preds.csv: is a file; give --output a folder")
    refused(abstain_("demo", "--output", "preds.csv/x"), "preds.csv/x")


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["evalute"], ["No such command 'evalute'", "See 'abstain --help'"]),
        (["evaluate"], ["Missing argument 'FILE'", "See 'abstain evaluate --help'"]),
        (["evaluate", "a.csv", "b.csv"], ["unexpected extra argument"]),
        (["evaluate", "a.csv", "--lable", "y"], ["No such option", "--lable", "--labels"]),
        (["evaluate", "a.csv", "--labels"], ["--labels", "requires an argument"]),
        (["evaluate", "a.csv", "--nan-policy", "ignore"], ["--nan-policy", "'ignore'", "reject"]),
        (["metrics", "x"], ["unexpected extra argument"]),
    ],
)
def test_wrong_usage(abstain_, arguments, parts):
    """One line that names the word and where help is."""
    refused(abstain_(*arguments), *parts)


def test_names_from_files_do_not_reach_the_terminal(abstain_, tmp_path):
    """Column names with control characters are escaped in messages, and a line stays a line."""
    np.savez(tmp_path / "a.npz", **{"\x1b[31mred": COLUMNS["conf"], "two\nlines": COLUMNS["conf"]})
    done = abstain_("evaluate", "a.npz")
    refused(done, "\\x1b[31mred")
    assert "\x1b" not in done.err


def test_bugs_are_not_hidden(abstain_, files, monkeypatch):
    """An error that no user can cause has a code of its own, and its traceback where it is asked for."""

    def bug(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr("abstain.evaluate", bug)
    monkeypatch.setenv("ABSTAIN_TRACEBACK", "1")
    done = abstain_("evaluate", "preds.csv")
    assert done.code == 3
    assert "internal error (ZeroDivisionError" in done.err
    assert "raise ZeroDivisionError" in done.err


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("give labels= or loss= (or unlabelled=True); columns: a", "give --labels or --loss; columns: a"),
        ("give probabilities=<one of them>", "give --probabilities <one of them>"),
        ("no column matches groups='z*'", "no column matches --groups 'z*'"),
        ('pass nan_policy="drop" (left out)', 'pass --nan-policy "drop" (left out)'),
        (
            "selective_risk(coverage=0.8) confidence=0.5 my_label=",
            "selective_risk(coverage=0.8) confidence=0.5 my_label=",
        ),
    ],
)
def test_messages_in_words_of_the_command_line(message, wanted):
    """Arguments become options; numbers, other names and parts of words stay."""
    assert as_options(message) == wanted


def test_a_bootstrap_without_end_is_refused(abstain_, files):
    """By the name of the option, before the file is read."""
    refused(abstain_("evaluate", "preds.csv", "--resamples", 10**9), "'--resamples': 1000000000 is not in the range")
