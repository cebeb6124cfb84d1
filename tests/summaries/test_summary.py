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


def test_a_file_keeps_every_bit(summary, tmp_path):
    """Written and read, of 0/1 and other losses, with rows that lack a score, and without any row."""
    graded = Summary("real", 12).update([0.3, 1 / 3, 1e-300], [1e300, -np.inf, 5e-324])
    graded.update([0.1], [np.nan], nan_policy="reject")
    for k, each in enumerate((summary, graded, Summary("real", 9))):
        each.save(tmp_path / f"{k}.parquet")
        assert same(read_summary(tmp_path / f"{k}.parquet"), each)


BAD = [
    ([0, np.nan], [0.5, 0.5], "loss holds NaN"),
    ([0, -1], [0.5, 0.5], "loss is negative"),
    ([0, np.inf], [0.5, 0.5], "loss is not finite"),
    ([0, 1], [0.5, np.nan], 'confidence holds NaN.*nan_policy="reject"'),
    ([0, 1], [0.5, 1.5], r'confidence lies outside \[0, 1\].*scale="real"'),
    ([0, 1], [0.5, -1e-300], r"confidence lies outside \[0, 1\]"),
    ([0, 1], [0.5], "lengths differ"),
    ([[0, 1]], [[0.5, 0.5]], "one-dimensional"),
]


@pytest.mark.parametrize(("loss", "score", "message"), BAD)
def test_bad_rows_are_refused_and_leave_no_trace(summary, loss, score, message):
    """The error names the column, and the summary is as it was."""
    before = pickle.loads(pickle.dumps(summary))
    refused(ValueError, message, summary.update, loss, score)
    assert same(summary, before)


def test_a_summary_without_an_empty_bin_is_read(tmp_path):
    score = np.append(np.geomspace(1e-12, 1e12, 9999), np.inf)
    made = Summary("real", 8).update(np.zeros(20_000), np.append(score, -score))
    made.save(tmp_path / "s.parquet")
    assert made.n_bins == 256
    assert same(read_summary(tmp_path / "s.parquet"), made)


def test_the_columns_of_the_caller_stay(summary):
    """Neither NaN nor -0.0 is replaced in the caller's arrays."""
    score, loss = np.array([np.nan, -0.0]), np.array([-0.0, 1.0])
    summary.update(loss, score, nan_policy="reject")
    assert np.isnan(score[0])
    assert np.signbit([score[1], loss[0]]).all()


def test_what_a_summary_cannot_know_or_add_up_is_named(summary):
    """Orders within bins, other estimators, optima of losses that are not 0/1; other keys and kinds, and odd bits."""
    graded = Summary().update([0.2, 2.5], [0.5, 0.6])
    does_not = "does not follow from a summary"
    for message, call, given in (
        *[(does_not, summary.bounds, each) for each in ("aurc(estimator=log)", "fpr95_error", "brier_confidence")],
        (does_not, summary.bounds, "augrc(coverage_range=(0.2, 0.5))"),
        (r"e_aurc needs a 0/1 loss", graded.bounds, "e_aurc"),
        (r"losses in \[0, 1\], but the largest is 2.5", graded.bounds, "selective_accuracy(coverage=0.5)"),
        ("keys probability/16 and probability/12 do not add up; summarize both", summary.merge, Summary(bits=12)),
        ("keys probability/16 and real/16", summary.merge, Summary("real")),
        ("unpack a list", summary.merge, [summary]),
        *[("bits must", lambda bits: Key("real", bits), bits) for bits in (7, 21, 16.5, "16")],
    ):
        refused((abstain.UnmetNeed, ValueError, TypeError), message, call, given)
    assert {"aurc", "augrc", "risk", "coverage_at_risk"} <= {each.metric for each in graded.result().measurements}


N, LIT, NOT = polars.col("n"), polars.lit, "contradict each other"
DAMAGED = [
    ({"format": LIT("abstain.summary/9")}, "has the format 'abstain.summary/9', this version reads"),
    ({"key": LIT("probability/12")}, "bins must lie between 0 and 4095"),
    ({"key": LIT("wide/16")}, "the key 'wide/16' is not known"),
    *[({name: value}, NOT) for name, value in (("key", LIT("real/16")), ("n", -N), ("lowest", LIT(float("nan"))))],
    ({"loss_sum": polars.col("loss_sum") * 1e6}, NOT),
    ({"n": LIT("3")}, "must be numeric"),
    ({"n": N + 0.5}, "n must hold whole numbers"),
    ({"lowest": LIT(None, polars.Float64)}, "'lowest' has nulls"),
    ({"bin": LIT(-1)}, "5000 rows have no usable score or loss"),
    (lambda f: f.vstack(f.with_columns(key=LIT("real/16"))), "mixes bins of the keys probability/16 and real/16"),
    (lambda f: f.vstack(f), "a bin occurs twice"),
    (lambda f: f.clear(), "holds no bins"),
    (lambda f: f.drop("lowest"), "is no summary: the column 'lowest' is missing"),
]


@pytest.mark.parametrize(("change", "message"), DAMAGED)
def test_a_wrong_file_is_one_line(summary, tmp_path, change, message):
    """The error names the file and what is wrong with it."""
    summary.save(file := tmp_path / "s.parquet")
    frame = polars.read_parquet(file)
    (frame.with_columns(**change) if isinstance(change, dict) else change(frame)).write_parquet(file)
    refused(ValueError, rf"^{file}.*{message}[^\n]*$", read_summary, file)


def test_a_damaged_file_is_one_line(summary, tmp_path):
    """Cut short, overwritten, empty, absent, or to be written under another name."""
    summary.save(file := tmp_path / "s.parquet")
    whole, rng = file.read_bytes(), np.random.default_rng(1)
    for data in (whole[:-100], whole[: len(whole) // 2], b"", b"PAR1", rng.bytes(1000)):
        file.write_bytes(data)
        refused(ValueError, r"^[^\n]*cannot be read as Parquet[^\n]*$", read_summary, file)
    for _ in range(20):  # a few bytes: an error, or the summary if they did not count
        damaged = bytearray(whole)
        for at in rng.integers(0, len(whole), 5):
            damaged[at] = rng.integers(256)
        file.write_bytes(bytes(damaged))
        with contextlib.suppress(ValueError):
            assert read_summary(file).n > 0
    refused(FileNotFoundError, "no such file", read_summary, tmp_path / "none.parquet")
    refused(ValueError, "is written as", summary.save, tmp_path / "s.csv")


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
