"""Policies on a confidence in words or per cent: what new rows say is read as the calibration file was."""

import json
from pathlib import Path

import numpy as np
import pytest

import abstain
from abstain.cli import run
from tests.policy.policies import by_hand
from tests.refusal import refused

pl = pytest.importorskip("polars")

WORDS = ["Very low", "low", "medium", "high", "very HIGH"]
CENTS = [f"{cent}%" for cent in (5, 30, 55, 80, 95)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def made(said, *options):
    """Return the policy of a file of such confidences, the exported decide, and the texts of its rows."""
    rng = np.random.default_rng(0)
    place = rng.integers(0, len(said), 600)
    rows = {"said": [said[k] for k in place], "wrong": (rng.random(600) > 0.4 + 0.13 * place).astype(int)}
    pl.DataFrame(rows).write_csv("cal.csv")
    made = ["cal.csv", "--loss", "wrong", "--confidence", "said", "--coverage", "0.35", "-o", "p.json", *options]
    assert run(["threshold", *made]) == 0
    assert run(["export", "p.json", "-o", "d.py"]) == 0
    names = {"__name__": "exported"}
    exec(compile(Path("d.py").read_text(), "d.py", "exec"), names)
    return abstain.load_policy("p.json"), names["decide"], rows["said"]


@pytest.mark.parametrize(
    ("said", "options"),
    [(WORDS, ()), (CENTS, ()), (["no idea", "maybe", "sure"], ("--confidence-levels", "no idea,maybe,sure"))],
)
def test_texts_are_read_as_at_calibration(said, options, folder):
    """One row, a frame, a list, the exported file and apply agree on every row of the calibration file."""
    policy, decide, texts = made(said, *options)
    assert run(["apply", "p.json", "cal.csv", "-o", "out.csv"]) == 0
    expected = pl.read_csv("out.csv")["accepted"].to_list()
    assert 0 < sum(expected) < len(expected)
    assert [bool(policy.decide({"said": text})) for text in texts] == expected
    assert [bool(policy.decide(text)) for text in texts] == expected
    assert policy.decide(pl.DataFrame({"said": texts})).accepted.tolist() == expected
    assert policy.decide(texts).accepted.tolist() == expected
    assert policy.accept(texts).tolist() == expected
    assert [repr(decide({"said": text})) for text in texts] == [repr(policy.decide({"said": text})) for text in texts]
    assert run(["monitor", "p.json", "cal.csv", "--loss", "wrong"]) == 0
    missing = policy.decide({"said": None})
    assert missing.reason == decide(None).reason == "missing_score"


@pytest.mark.parametrize(
    ("said", "wrong", "message"),
    [
        (CENTS, 90, r"outside \[0, 1\], the scale of calibration; give \"90%\""),
        (CENTS, "95", r"outside \[0, 1\]"),
        (CENTS, "high", "not on the scale"),
        (WORDS, "certainly", "not on the scale of calibration; give one of very low"),
        (WORDS, 90, r"outside \[1, 5\]"),
    ],
)
def test_what_is_beyond_the_scale_is_refused(said, wrong, message, folder):
    """90 is no 90 %, and a word of another scale no word of this one: in every form, and nothing is written."""
    policy, decide, _ = made(said)
    forms = [wrong, {"said": wrong}, [wrong], pl.DataFrame({"said": [wrong]})]
    for ask, row in [(policy.decide, each) for each in forms] + [(decide, wrong), (decide, {"said": wrong})]:
        refused(ValueError, message, ask, row)
    pl.DataFrame({"said": [wrong]}).write_csv("new.csv")
    assert run(["apply", "p.json", "new.csv", "-o", "out.csv"]) == 2
    assert not Path("out.csv").exists()


def test_the_scale_is_stated(folder, capsys):
    """The command says which word is which place, the file keeps them, and SQL, which reads no words, is refused."""
    policy, _, _ = made(WORDS)
    assert "very low = 1, low = 2, medium|moderate = 3" in " ".join(capsys.readouterr().err.split())
    assert json.loads(Path("p.json").read_text())["reading"]["confidence_levels"][2] == "medium|moderate"
    assert policy.decide({"said": "Moderate"}).score == 3.0
    refused(ValueError, "said in words or per cent, which SQL does not read; write it as numbers", policy.to_sql)


CENT, PLACES = ["%"], ["low", "Quite sure", "certain|sure"]
SAID = [
    *[(CENT, text, 0.9) for text in ("90%", "90 %", "90 percent", "90 per cent", "9/10", "9 out of 10", "0.9", 0.9)],
    (CENT, "12.5 %", 0.125), (CENT, "4.5 / 10", 0.45), (CENT, 0, 0.0), (CENT, "100%", 1.0), (CENT, "3/0", None),
    *[(CENT, text, ValueError) for text in ("101%", "11/10", 1.1, -0.1, "sure", "9 of 10", "5%%")],
    (PLACES, "low", 1.0), (PLACES, " LOW ", 1.0), (PLACES, "quite  sure", 2.0), (PLACES, "Sure", 3.0),
    (PLACES, "certain", 3.0), (PLACES, 2.5, 2.5), (PLACES, "2", 2.0), (PLACES, 1, 1.0), (PLACES, 3, 3.0),
    *[(PLACES, text, ValueError) for text in (0.9, 3.1, "certain|sure", "90%")],
    *[(levels, value, None) for levels in (CENT, PLACES) for value in (None, "", " ", float("nan"))],
    *[(levels, value, TypeError) for levels in (CENT, PLACES) for value in (True, [1, 2])],
]  # fmt: skip


@pytest.mark.parametrize(("levels", "said", "wanted"), SAID)
def test_a_confidence_is_the_number_that_is_written_beside_it(levels, said, wanted):
    """Of a row by column; None: missing."""
    policy = by_hand("said", {"": 0.5}, reading={"confidence_levels": levels})
    if wanted in (ValueError, TypeError):
        refused(wanted, r"said = .* (scale|number|truth)", policy.decide, {"said": said})
    else:
        number = np.nan if wanted is None else wanted
        assert policy.decide({"said": said}).score == pytest.approx(number, nan_ok=True)
