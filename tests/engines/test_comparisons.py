"""``compare`` on rows that an engine or many files hold: that of the rows in memory, from counts of equal rows."""

import numpy as np
import polars as pl
import pytest

import abstain
from abstain import UnmetNeed
from tests.engines.cases import KINDS, check_comparison, rows, written
from tests.engines.test_here import ENGINES, in_turn


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


def test_scores_may_be_called_otherwise_and_computed():
    """A dict gives names; a score of probabilities is computed by the engine, its loss from labels."""
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1, 1, 1], 1500)
    frame = pl.DataFrame({f"p_{k}": p[:, k] for k in range(3)} | {"truth": rng.integers(0, 3, 1500)})
    told = {"labels": "truth", "probabilities": "p_*"}
    found = abstain.compare(scores={"top": "msp", "gap": "softmax_margin"}, frame=frame.lazy(), **told)
    wrong, second = frame["truth"].to_numpy() != p.argmax(axis=1), np.sort(p, axis=1)[:, 1]
    expected = abstain.compare(wrong, {"top": p.max(axis=1), "gap": p.max(axis=1) - second})
    assert [row["name"] for row in found.table] == [row["name"] for row in expected.table]
    assert found.differences[0].p_value == pytest.approx(expected.differences[0].p_value)


@pytest.mark.parametrize(
    ("told", "kind", "reason"),
    [
        ({"method": "bootstrap"}, UnmetNeed, "augrc: a bootstrap draws rows.* leave method='bootstrap' out"),
        ({"method": "permutation"}, UnmetNeed, "augrc: a permutation draws rows"),
        ({"metric": "fpr95_error"}, UnmetNeed, "fpr95_error: a bootstrap draws rows.* compare by augrc"),
        ({"strata": "site"}, UnmetNeed, "strata= is not read in a scan"),
        ({"scores": ["other"]}, ValueError, "scores must name at least two scores, got other"),
        ({"scores": ["other", "conf"]}, ValueError, "column 'conf' is not in the file"),
        ({"scores": {"a": [1.0], "b": [2.0]}}, TypeError, "scores must be names of columns of the frame, got list"),
        ({"loss": {"other": "loss"}}, ValueError, "the names in loss .* and scores .* differ"),
        ({"frame": rows(1)}, TypeError, "frame must be a lazy frame"),
    ],
)
def test_what_cannot_be_had_from_counts_is_refused_by_name(told, kind, reason):
    """The message says what, and what to do."""
    usual = {"loss": "loss", "scores": ["confidence", "other"], "frame": rows(1, n=1200).lazy()}
    with pytest.raises(kind, match=reason):
        abstain.compare(**(usual | told))


def test_missing_scores_are_refused_with_their_number():
    """A paired comparison needs every score of every row."""
    frame = rows(1, missing=True)
    with pytest.raises(ValueError, match=r"score 'confidence' is null or NaN in \d+ rows; a paired comparison needs"):
        abstain.compare("loss", ["confidence", "other"], frame=frame.lazy())


def test_too_many_different_pairs_are_refused(monkeypatch):
    """The message says what makes them fewer, and that pairs have no bounds."""
    monkeypatch.setattr("abstain.outputs._counts.MOST", 100)
    with pytest.raises(UnmetNeed, match=r"more than 100 rows differ .* no bounds are known of pairs; round the scores"):
        abstain.compare("loss", ["confidence", "other"], frame=rows(1).lazy())


def test_a_frame_in_the_place_of_the_loss_says_where_it_belongs():
    """A lazy frame is given by name; without one, nothing but columns is taken."""
    with pytest.raises(TypeError, match="loss is a lazy frame; give it as frame="):
        abstain.compare(rows(1).lazy(), ["confidence", "other"])
    with pytest.raises(TypeError, match="no argument 'labels' but with frame="):
        abstain.compare([0, 1], {"a": [1, 0], "b": [0, 1]}, labels="y")


def test_the_command_takes_a_pattern(do):
    """It prints the table and the first sentence of one file with all rows; points at a risk are of rows in memory."""
    printed = []
    for file in written(rows(4, n=2000)):
        verdict, _, table = do(f"compare {file} --loss loss --scores confidence,other").out.partition("\n\n")
        printed.append((verdict.splitlines()[0], table))
    assert printed[0][0].startswith("confidence ranks errors better than other: AUGRC ")
    assert "confidence - other" in printed[0][1]
    assert printed[0] == printed[1]
    said = do("compare part-*.parquet --scores confidence,other --margin 0.1", 2).err
    assert "--margin needs rows in memory, and counts come back of these" in said
