"""``compare`` on rows that an engine or many files hold: that of the rows in memory, from counts of equal rows."""

import numpy as np
import polars as pl
import pytest

import abstain
from abstain import UnmetNeed
from tests.engines.cases import KINDS, check_comparison, rows
from tests.engines.test_here import ENGINES, in_turn
from tests.refusal import refused


@in_turn([kind for kind in KINDS if kind != "missing scores"])
def test_an_engine_gives_the_comparison_of_the_rows_in_memory(engine, kind):
    """Estimates, differences, p-values, letters and sets of ranks, of two scores and of two models."""
    check_comparison(ENGINES[engine], kind, 4)


def test_few_rows_are_swapped_as_in_memory():
    """Below 20 errors in a small sample p-values are from swaps, whose noise is that of 1,999 draws."""
    frame = rows(1, n=150).with_columns(loss=pl.Series(np.arange(150) % 15 == 0).cast(pl.Float64))
    found = abstain.compare("loss", ["confidence", "other"], frame=frame.lazy())
    expected = abstain.compare(frame["loss"], {name: frame[name] for name in ("confidence", "other")})
    assert found.method == expected.method == "permutation, influence"
    one, two = found.differences[0], expected.differences[0]
    assert one.standard_error == pytest.approx(two.standard_error)
    assert one.p_value == pytest.approx(two.p_value, abs=0.06)


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"method": "bootstrap"}, "augrc: a bootstrap draws rows.* leave method='bootstrap' out"),
        ({"method": "permutation"}, "augrc: a permutation draws rows"),
        ({"metric": "fpr95_error"}, "fpr95_error: a bootstrap draws rows.* compare by augrc"),
        ({"strata": "site"}, "strata= is not read in a scan"),
        ({"scores": ["other"]}, "scores must name at least two scores, got other"),
        ({"scores": ["other", "conf"]}, "column 'conf' is not in the file"),
        ({"scores": {"a": [1.0], "b": [2.0]}}, "scores must be names of columns of the frame, got list"),
        ({"loss": {"other": "loss"}}, "the names in loss .* and scores .* differ"),
        ({"frame": rows(1)}, "frame must be a lazy frame"),
        ({"loss": rows(1).lazy(), "frame": None}, "loss is a lazy frame; give it as frame="),
        (
            {"loss": [0, 1], "scores": {"a": [1, 0], "b": [0, 1]}, "frame": None, "labels": "y"},
            "no argument 'labels' but",
        ),
        (
            {"frame": rows(1, missing=True).lazy()},
            r"score 'confidence' is null or NaN in \d+ rows; a paired comparison",
        ),
        ({"most": 100}, r"more than 100 rows differ .* no bounds are known of pairs; round the scores"),
    ],
)
def test_what_cannot_be_had_from_counts_is_refused_by_name(told, reason, monkeypatch):
    """The message says what, and what to do."""
    usual = {"loss": "loss", "scores": ["confidence", "other"], "frame": rows(1, n=1200).lazy()} | told
    monkeypatch.setattr("abstain.outputs._counts.MOST", usual.pop("most", 10**6))
    refused((UnmetNeed, ValueError, TypeError), reason, abstain.compare, **usual)
