"""``abstain explain``: every word of a table is explained, and nothing is cut at 80 columns."""

import re

import pytest

from abstain.cli import run
from tests.result.results import RESULTS

#: Headings that stand for themselves, and names of the examples' own rows.
PLAIN = {"", "score", "scores", "group", "rows", "estimate", "standard error", "difference [interval]", "p", "differ",
         "better - worse", "better than", "kept", "selected by", "choice", "validation", "test"}  # fmt: skip


@pytest.mark.parametrize("name", ["Evaluation", "CertifiedThreshold", "Comparison", "GroupThresholds", "Monitoring"])
def test_every_heading_is_explained(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Columns of tables, and rows of those that list quantities."""
    for table in RESULTS[name]().tables():
        terms = [column.title for column in table.columns]
        if not terms[0]:
            terms += [str(row[0]) for row in table.rows]
        wanted = [term for term in terms if term.lower() not in PLAIN]
        assert run(["explain", *wanted]) == 0, capsys.readouterr().err
    assert capsys.readouterr().out


def test_a_term_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    """The nearest term is named, with the exit code of wrong usage."""
    assert run(["explain", "augr"]) == 2
    assert re.search(r"'augr' is no term of a table; did you mean 'augrc'", capsys.readouterr().err)


def test_an_unknown_word_hides_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    """What is known is explained; what is not is named word by word, with the nearest terms as they are written."""
    assert run(["explain", "letters", "augr", "Change", "dsf1"]) == 2
    shown = capsys.readouterr()
    assert "Scores that share a letter" in shown.out
    assert "differ from those of the calibration rows" in shown.out
    assert "'augr' is no term of a table; did you mean 'augrc'" in shown.err
    assert "'dsf1' is no term of a table; did you mean 'DS-F1'" in shown.err or "joint.ds_f1" in shown.err
    assert "Change" not in shown.err
    assert len(shown.err) < 300
    for words in ("certified", "Standard error", "Better than", "influence", "holm", "maturity", "F1", "DS-AURC"):
        assert run(["explain", words]) == 0, words
    assert "joint.f1" in capsys.readouterr().out
    assert run(["explain", "F2"]) == 2
