"""Summaries add up, survive pickles and files to the bit, and say no to what they cannot hold."""

import contextlib
import pickle

import numpy as np
import polars
import pytest

import abstain
from abstain.summaries import GroupedSummary, Key, Summary, read_summary
from tests.refusal import refused

RNG = np.random.default_rng(0)
LOSS, SCORE = (RNG.random(5000) < 0.2).astype(float), RNG.beta(5, 1, 5000)


def same(one, other):
    """Whether two summaries are equal to the bit."""
    mine, theirs = one.columns(), other.columns()
    return one.key == other.key and all(np.array_equal(mine[name], theirs[name]) for name in mine)


@pytest.fixture
def summary():
    """The summary of all rows."""
    return Summary().update(LOSS, SCORE)


@pytest.mark.parametrize("parts", [1, 2, 7])
def test_parts_in_any_order_give_the_whole(summary, parts):
    """Chunks of one summary, and merged summaries of shuffled parts, with empty ones between, are one summary."""
    rows = np.array_split(RNG.permutation(len(LOSS)), parts)
    chunks = Summary()
    for each in rows:
        chunks.update(LOSS[each], SCORE[each]).update([], [])
    merged = Summary().merge(*(Summary().update(LOSS[each], SCORE[each]) for each in rows), Summary())
    assert same(chunks, summary)
    assert same(merged, summary)
    assert merged.n == 5000


def test_a_file_keeps_every_bit(summary, tmp_path):
    """Written and read, of 0/1 and other losses, with rows that lack a score, and without any row."""
    graded = Summary("real", 12).update([0.3, 1 / 3, 1e-300], [1e300, -np.inf, 5e-324])
    graded.update([0.1], [np.nan], nan_policy="reject")
    for k, each in enumerate((summary, graded, Summary("real", 9))):
        each.save(tmp_path / f"{k}.parquet")
        assert same(read_summary(tmp_path / f"{k}.parquet"), each)


def test_what_does_not_add_up_is_refused(summary):
    """Other bits, another scale, something else."""
    with pytest.raises(ValueError, match="keys probability/16 and probability/12 do not add up; summarize both with"):
        summary.merge(Summary(bits=12))
    refused(ValueError, "keys probability/16 and real/16", lambda: summary.merge(Summary("real")))
    refused(TypeError, "unpack a list", summary.merge, [summary])


@pytest.mark.parametrize(
    ("loss", "score", "message"),
    [
        ([0, np.nan], [0.5, 0.5], "loss holds NaN"),
        ([0, -1], [0.5, 0.5], "loss is negative"),
        ([0, np.inf], [0.5, 0.5], "loss is not finite"),
        ([0, 1], [0.5, np.nan], 'confidence holds NaN.*nan_policy="reject"'),
        ([0, 1], [0.5, 1.5], r'confidence lies outside \[0, 1\].*scale="real"'),
        ([0, 1], [0.5, -1e-300], r"confidence lies outside \[0, 1\]"),
        ([0, 1], [0.5], "lengths differ"),
        ([[0, 1]], [[0.5, 0.5]], "one-dimensional"),
    ],
)
def test_bad_rows_are_refused_and_leave_no_trace(summary, loss, score, message):
    """The error names the column, and the summary is as it was."""
    before = pickle.loads(pickle.dumps(summary))
    refused(ValueError, message, summary.update, loss, score)
    assert same(summary, before)


def test_the_columns_of_the_caller_stay(summary):
    """Neither NaN nor -0.0 is replaced in the caller's arrays."""
    score, loss = np.array([np.nan, -0.0]), np.array([-0.0, 1.0])
    summary.update(loss, score, nan_policy="reject")
    assert np.isnan(score[0])
    assert np.signbit([score[1], loss[0]]).all()


def test_what_a_summary_cannot_know_is_named(summary):
    """Metrics that need an order within bins, other estimators, and optima of losses that are not 0/1."""
    for spec in ("aurc(estimator=log)", "fpr95_error", "brier_confidence", "augrc(coverage_range=(0.2, 0.5))"):
        refused(abstain.UnmetNeed, "does not follow from a summary", summary.bounds, spec)
    graded = Summary().update([0.2, 2.5], [0.5, 0.6])
    refused(abstain.UnmetNeed, r"e_aurc needs a 0/1 loss", graded.bounds, "e_aurc")
    with pytest.raises(abstain.UnmetNeed, match=r"losses in \[0, 1\], but the largest is 2.5"):
        graded.bounds("selective_accuracy(coverage=0.5)")
    assert {"aurc", "augrc", "risk", "coverage_at_risk"} <= {each.metric for each in graded.result().measurements}


@pytest.mark.parametrize("bits", [7, 21, 16.5, "16"])
def test_bits_are_checked(bits):
    """8 to 20, whole."""
    refused(ValueError, "bits must", Key, "real", bits)


def damage(frame, **columns):
    """The frame with columns replaced."""
    return frame.with_columns(**{name: polars.lit(value) for name, value in columns.items()})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: damage(f, format="abstain.summary/9"), "has the format 'abstain.summary/9', this version reads"),
        (lambda f: damage(f, key="probability/12"), "bins must lie between 0 and 4095"),
        (lambda f: damage(f, key="real/16"), "contradict each other"),
        (lambda f: damage(f, key="wide/16"), "the key 'wide/16' is not known"),
        (lambda f: f.vstack(damage(f, key="real/16")), "mixes bins of the keys probability/16 and real/16"),
        (lambda f: f.vstack(f), "a bin occurs twice"),
        (lambda f: f.drop("lowest"), "is no summary: the column 'lowest' is missing"),
        (lambda f: f.clear(), "holds no bins"),
        (lambda f: f.with_columns(n=-polars.col("n")), "contradict each other"),
        (lambda f: f.with_columns(loss_sum=polars.col("loss_sum") * 1e6), "contradict each other"),
        (lambda f: f.with_columns(n=polars.col("n") + 0.5), "n must hold whole numbers"),
        (lambda f: f.with_columns(lowest=polars.lit(None, polars.Float64)), "'lowest' has nulls"),
        (lambda f: f.with_columns(lowest=polars.lit(float("nan"))), "contradict each other"),
        (lambda f: f.with_columns(n=polars.lit("3")), "'n' must be numeric"),
        (lambda f: f.with_columns(bin=polars.lit(-1)), "5000 rows have no usable score or loss"),
    ],
)
def test_a_wrong_file_is_one_line(summary, tmp_path, change, message):
    """The error names the file and what is wrong with it."""
    summary.save(tmp_path / "s.parquet")
    change(polars.read_parquet(tmp_path / "s.parquet")).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=message) as caught:
        read_summary(tmp_path / "t.parquet")
    assert str(caught.value).startswith(str(tmp_path / "t.parquet"))
    assert "\n" not in str(caught.value)


def test_a_damaged_file_is_one_line(summary, tmp_path):
    """Cut short, overwritten, empty, absent, or to be written under another name."""
    file = tmp_path / "s.parquet"
    summary.save(file)
    whole = file.read_bytes()
    rng = np.random.default_rng(1)
    for data in (whole[:-100], whole[: len(whole) // 2], b"", b"PAR1", rng.bytes(1000)):
        file.write_bytes(data)
        with pytest.raises(ValueError, match="cannot be read as Parquet") as caught:
            read_summary(file)
        assert "\n" not in str(caught.value)
    for _ in range(20):  # a few bytes: an error, or the summary if they did not count
        damaged = bytearray(whole)
        for at in rng.integers(0, len(whole), 5):
            damaged[at] = rng.integers(256)
        file.write_bytes(bytes(damaged))
        with contextlib.suppress(ValueError):
            assert read_summary(file).n > 0
    refused(FileNotFoundError, "no such file", lambda: read_summary(tmp_path / "none.parquet"))
    refused(ValueError, "is written as", lambda: summary.save(tmp_path / "s.csv"))


@pytest.mark.parametrize("groups", [None, ["a", "a", "b"]])
def test_an_edited_file_is_refused_and_one_without_a_digest_is_read(tmp_path, groups):
    rows = [0, 1, 0], [0.9, 0.6, 0.3]
    made = Summary().update(*rows) if groups is None else GroupedSummary("site").update(*rows, groups)
    file = tmp_path / "s.parquet"
    made.save(file)
    frame = polars.read_parquet(file)
    assert read_summary(file).n == 3
    frame.with_columns(n=polars.when(polars.col("largest_loss") > 0).then(50).otherwise("n")).write_parquet(file)
    refused(ValueError, "edited after it was saved", read_summary, file)
    frame.drop("digest").write_parquet(file)
    assert read_summary(file).n == 3
