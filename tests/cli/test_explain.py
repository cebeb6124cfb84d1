"""``abstain explain``: every word of a table is explained, and nothing is cut at 80 columns."""

import pytest

from tests.result.results import RESULTS

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
    do("explain F2", 2)
