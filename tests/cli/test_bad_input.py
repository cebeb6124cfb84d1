"""Bad input: one clear line on stderr that names the file, the column and the remedy; never a traceback."""

from pathlib import Path

import numpy as np
import pytest

import abstain
from abstain.cli import as_options
from tests.cli.conftest import COLUMNS
from tests.command import csv

JSON = '{"y": 0, "yhat": 0, "conf": 0.5}\n'
NAMES = ", ".join(COLUMNS)  # twelve, of which all are named
NOT_PREDICTED = "nothing predicts a class; give --logits, --probabilities, --predictions, --positive-probability or"


def refused(done, *parts):
    """Assert that a command failed as it should, with these parts in its message."""
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("abstain: ")
    assert done.err.endswith("\n")
    assert done.err.count("\n") == 1
    assert "Traceback" not in done.err
    for part in parts:
        assert part in done.err


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("pred.csv", "pred.csv: no such file; did you mean 'preds.csv'?"),
        ("other/x.npz", "other/x.npz: no such file; check the path"),
        ("empty", "empty: is a folder"),
        ("preds.csv --labels yy", "column 'yy' is not in the file; did you mean 'y'?; give --labels <column>"),
        ("preds.csv --groups z*", "no column matches --groups 'z*'"),
        ("preds.csv --probabilities q_*", "no column matches --probabilities 'q_*'; columns: y, yhat"),
        ("preds.csv --scores vage", "'vage' is neither a score nor a column; did you mean 'vague'"),
        (
            "preds.csv --scores zzzzzz",
            f"'zzzzzz' is neither a score nor a column; columns: {NAMES}; see 'abstain scores'",
        ),
        ("preds.csv --resamples 1", "--resamples must be a whole number >= 2, got 1"),
        ("preds.csv --resamples 1000000000", "'--resamples': 1000000000 is not in the range"),
        ("preds.csv --level 95", "level must lie in [0, 1], got 95.0; give a fraction, not per cent"),
        ("preds.csv --confidence site", "says 'north' in data row 1, which is no word of a known scale"),
        ("preds.csv --scores case", "column 'case' must hold numbers, but data row 1 holds 'case 0'"),
        ("preds.csv --metrics ece --scores votes", "ece needs confidence scores that are probabilities in [0, 1]"),
        ("none.csv --metrics augcr", "metric 'augcr' is not known; did you mean 'augrc'"),
        ("none.csv --metrics aurc(estimatr=log)", "aurc has no option 'estimatr'; its options: estimator="),
        (f"none.csv --metrics {'(' * 300}", "cannot be read"),
        ("preds.csv --metrics ,", "metrics is empty"),
        ("preds.csv --json no/r.json", "no/r.json: the folder does not exist; create it first"),
        ("preds.csv --report .", ".: is a folder; give --report the name of a file in it"),
        ("preds.csv --report ./preds.csv", "preds.csv: is an input and would be replaced; give --report another name"),
        ("preds.csv --table t.docx", "extension '.docx' is no table; use .md, .tex, .html"),
        ("preds.csv --report x.pdf", "extension '.pdf' is no report; use .html, .htm, .md, .json"),
        ("preds.csv --json a --csv a", "a: is given to both --json and --csv; choose two names"),
        ("preds.csv --report -", "--report - cannot be printed"),
        ("", "Missing argument 'FILE'. See 'abstain evaluate --help'"),
        ("a.csv --labels", "requires an argument"),
        ("a.csv --nan-policy ignore", "'ignore'"),
    ],
)
def test_wrong_use(abstain_, files, tmp_path, typed, message):
    """File, option and remedy are named, in words of the command line; no file is changed or appears."""
    Path("empty").mkdir()
    before = {path: path.is_file() and path.read_bytes() for path in tmp_path.iterdir()}
    done = abstain_("evaluate", *typed.split())
    refused(done, message)
    assert not [word for word in ("label=", "probs=", "confidence=", "groups=", "scores=") if word in done.err]
    assert {path: path.is_file() and path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("y,yhat,conf\n", "has no rows; at least one sample is needed"),
        ("yhat,conf\n0,0.5\n", "no column is recognised as label or loss; give --labels, --correct or --loss;"),
        ("y, guess, sure\n0, 0, 0.5\n", f"{NOT_PREDICTED} --loss; columns: y, ' guess', ' sure'"),
        ("y,yhat,conf\n0,0,0.9\n1,1,0.8\n1,0,\n", "[data row 3]"),
        (JSON + JSON.replace("0.5", "NaN"), "line 2 holds NaN, which is no JSON: write null for a missing"),
        ("y,yhat,conf\n0,0,0.9\n".encode("utf-16"), "is no UTF-8 text (UTF-16?); write it again as UTF-8"),
    ],
)
def test_bad_files(abstain_, text, message):
    """Options that would help are named, and no argument of the library; rows count from 1, as editors show them."""
    path = Path("a.csv" if text[0] != "{" else "a.jsonl")
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    refused(abstain_("evaluate", path), f"{path}: ", message)


def test_a_label_that_is_taken_as_a_group(do):
    """One column may be both, if it is named twice."""
    Path("a.csv").write_text("y,yhat,conf\n0,0,0.5\n")
    said = do("evaluate a.csv --groups y", 2)
    refused(said, "a.csv: column 'y' is taken as a group, none is left as label or loss; give --labels 'y' too;")
    do("evaluate a.csv --groups y --labels y")


def test_places_and_words(abstain_, files, monkeypatch):
    """Folders that cannot be written to, a demo in a file, and a slip of the pen in a command or an option."""
    refused(abstain_("demo", "--output", "preds.csv"), "preds.csv: is a file; give --output a folder")
    refused(abstain_("demo", "--output", "preds.csv/x"), "preds.csv/x")
    refused(abstain_("evalute"), "No such command 'evalute'", "See 'abstain --help'")
    refused(abstain_("evaluate", "a.csv", "--lable", "y"), "No such option", "--lable", "--labels")
    monkeypatch.setattr("os.access", lambda *_: False)
    refused(abstain_("evaluate", "preds.csv", "--json", "r.json"), "r.json: the folder cannot be written to", "--json")


def test_names_from_files_do_not_reach_the_terminal(abstain_):
    """Column names with control characters are escaped in messages, and a line stays a line."""
    np.savez("a.npz", **{"\x1b[31mred": COLUMNS["conf"], "two\nlines": COLUMNS["conf"]})
    done = abstain_("evaluate", "a.npz")
    refused(done, "\\x1b[31mred")
    assert "\x1b" not in done.err


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("give labels= or loss= (or unlabelled=True); columns: a", "give --labels or --loss; columns: a"),
        ("give probabilities=<one of them>", "give --probabilities <one of them>"),
        ("pass nan_policy=\"drop\", groups='z*'", "pass --nan-policy \"drop\", --groups 'z*'"),
        ("selective_risk(coverage=0.8) confidence=0.5 my_label=",) * 2,
    ],
)
def test_messages_in_words_of_the_command_line(message, wanted):
    """Arguments become options; numbers, other names and parts of words stay."""
    assert as_options(message) == wanted


def test_a_row_that_is_refused_is_that_of_the_file(do):
    """With rows left out before it, and the value as the file has it, not one minus it."""
    columns = "--labels y --positive-probability p"
    csv("good.csv", y=[0, 1] * 30, p=np.arange(60) / 60)
    do(f"threshold good.csv {columns} --coverage 0.5 -o p.json")
    Path("bad.csv").write_text("y,p,site\n1,.1,a\n0,,a\n1,.9,b\n0,.2,a\n0,1.4,a\n")
    said = do("apply p.json bad.csv -o d.csv", 2).err
    assert "probabilities[4] = 1.4 (1 such)" in said
    assert "[data row 5]" in said
    evaluate = f"evaluate bad.csv {columns}"
    assert "holds 1.4 in data row 5" in do(f"{evaluate} --nan-policy drop", 2).err
    assert "holds nan in data row 2" in do(f"{evaluate} --where site=a", 2).err
    assert "holds 1.4 in data row 5" in do(f"{evaluate} --where site=a --nan-policy drop", 2).err


def test_a_row_of_classes_that_is_refused_is_that_of_the_rows():
    """Where incomplete rows have no score, the others keep their places; what is infinite has no score either."""
    p = [[np.nan, 0.5], [0.5, 0.5], [0.7, 0.7]]
    with pytest.raises(ValueError, match=r"probabilities\[2\] is 1.4"):
        abstain.policy.compute("neg_entropy", "probabilities", p)
    assert np.isnan(abstain.policy.compute("msp", "probabilities", [[np.inf], [np.nan]])).all()
