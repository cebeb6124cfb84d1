"""Scores of repeated passes are judged by the predictions of the passes, in every function and command."""

import numpy as np
import polars as pl
import pytest

import abstain


def dropout():
    """Return a network whose passes predict otherwise than it does itself in about a tenth of the samples."""
    rng = np.random.default_rng(0)
    z = 2.0 * rng.normal(size=(500, 4))
    softmax = lambda q: np.exp(q) / np.exp(q).sum(axis=1, keepdims=True)  # noqa: E731
    labels = np.array([rng.choice(4, p=p) for p in softmax(z)])
    passes = np.stack([softmax(z + 1.5 * rng.normal(size=z.shape)) for _ in range(20)])
    return abstain.Outputs(labels=labels, logits=z, passes=passes)


OUTPUTS = dropout()
MEAN = np.mean(OUTPUTS.passes, axis=0)
WRONG = (MEAN.argmax(axis=1) != OUTPUTS.labels) * 1.0


def test_each_score_is_judged_by_its_own_predictions():
    """By hand: the argmax of the mean, and of the votes; the softmax probability by the network's."""
    votes = (abstain.scores.pass_predictions(OUTPUTS, "votes") != OUTPUTS.labels) * 1.0
    assert (OUTPUTS.error != WRONG).sum() > 10
    result = abstain.evaluate(OUTPUTS, ["msp", "pass_msp", "pass_vote_agreement"], ["accuracy", "augrc", "nll"])
    for score, loss in (("msp", OUTPUTS.error), ("pass_msp", WRONG), ("pass_vote_agreement", votes)):
        column = abstain.scores.compute(score, OUTPUTS)
        assert result.value("accuracy", score=score) == pytest.approx(1.0 - loss.mean(), rel=1e-12)
        assert result.value("augrc", score=score) == abstain.augrc(loss, column)
    assert result.value("nll", score="pass_msp") == pytest.approx(abstain.nll(OUTPUTS.labels, MEAN), rel=1e-12)
    said = [note for note in result.notes() if "judged by the predictions of its passes" in note]
    for loss, note in zip((WRONG, votes), said, strict=True):
        assert f"of which {int((loss != OUTPUTS.error).sum())} are right where the others are wrong" in note


@pytest.mark.parametrize("first", ["good", "bad"])
@pytest.mark.parametrize("metric", ["augrc", "selective_accuracy(coverage=0.5)", "cwsa"])
def test_a_planned_comparison_puts_the_better_first(first, metric):
    """Whichever was given first: its rank, values of each from all labels, and the letters of what differs."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=4000)
    wrong = (rng.random(4000) < 1 / (1 + np.exp(2 + 2 * z))) * 1.0
    scores = {"good": 1 / (1 + np.exp(-z)), "bad": rng.random(4000)}
    names, parsed = sorted(scores, key=lambda name: name != first), abstain.metrics.parse(metric)
    for n, clear in ((400, True), (12, False)):
        plan = abstain.plan_labels(scores[names[0]], n, compare=scores[names[1]], metric=metric, seed=1)
        loss = np.where(plan.stage > 0, wrong, np.nan)
        found = abstain.compare(loss, {name: scores[name] for name in names}, metric, plan=plan)
        (one,), rows = found.differences, found.table
        sign = -1.0 if parsed.direction == "lower" else 1.0
        assert one.significant == clear == (min(sign * one.low, sign * one.high) > 0.0)
        assert sign * one.difference >= 0.0
        assert (one.a, one.b) == tuple(row["name"] for row in rows)
        assert one.a == "good" or not clear
        expected = [(1, 1, 1, "a"), (2, 2, 2, "b")] if clear else [(1, 1, 2, "a"), (2, 1, 2, "a")]
        assert [tuple(row[name] for name in ("rank", "set_low", "set_high", "letters")) for row in rows] == expected
        errors = dict.fromkeys(names, int(np.nansum(loss)))
        assert found.labels == {"labelled": n, "design": "planned", "errors": errors}
        assert (found.n, found.same_loss, found.fingerprint) == (4000, True, plan.digest)
        for row in rows:
            sample = abstain.pool.pair_of(plan, [loss, loss])[names.index(row["name"])]
            alone = abstain.pool.estimate(parsed, sample, 0.95, "pool", "random")
            assert (row["estimate"], row["low"], row["high"]) == (alone.value, alone.low, alone.high)
            assert row["standard_error"] == row["error_test"] == alone.variance**0.5


N = np.arange(120)
ONE, OTHER = (7 * N) % 120 / 120, (11 * N) % 120 / 120
FRAME = pl.DataFrame({"loss": (N % 6 == 1) * 1.0, "a": ONE, "b": OTHER, "w": N % 3 * 1.0})
APART = FRAME.with_columns(a=np.where(N == 5, np.nan, ONE), b=np.where(N == 3, np.nan, OTHER))


@pytest.mark.parametrize(
    ("source", "names", "options", "compared"),
    [
        (FRAME, ["a"], {}, False),
        (FRAME, ["a", "b"], {}, True),
        (FRAME.lazy(), ["a", "b"], {}, True),
        (FRAME.with_columns(pl.col("a", "b").round(1)).lazy(), ["a", "b"], {}, False),  # rows of counts
        (FRAME.with_columns(b=np.where(N == 3, np.nan, OTHER)), ["a", "b"], {"nan_policy": "drop"}, False),
        (APART, ["a", "b"], {"nan_policy": "drop"}, False),
        (FRAME.with_columns(b=np.where(N == 3, np.nan, OTHER)), ["a", "b"], {"nan_policy": "reject"}, True),
    ],
)
def test_scores_are_tested_against_each_other_where_rows_are_known(source, names, options, compared):
    """The comparison of the verdict is that of the columns."""
    found = abstain.evaluate(source, names, ["risk"], loss="loss", **options).judged.comparison
    assert (found is not None) == compared
    if found is not None and not options:
        direct = abstain.compare(FRAME["loss"], {"a": ONE, "b": OTHER}, found.metric)
        assert found.differences[0].standard_error == pytest.approx(direct.differences[0].standard_error)


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize(("value", "at"), [(0.5, 0), (0.5, 1), (1.0, 1)])
def test_provenance_counts_every_row(lazy, weight, value, at):
    """Rows, mean loss and whether it is 0/1; in a scan rows of weight zero do not decide that."""
    frame = FRAME.with_columns(loss=np.where(at == N % 3, value, FRAME["loss"]))
    found = abstain.evaluate(frame.lazy() if lazy else frame, "a", "risk", loss="loss", sample_weight=weight).provenance
    weights = frame["w"] if weight else np.ones(120)
    binary = value == 1.0 or bool(lazy and weight and at == 0)
    told = [found[name] for name in ("n", "binary_loss", "weighted")]
    assert told == [120, binary, weight is not None]
    assert found["mean_loss"] == pytest.approx(np.average(frame["loss"], weights=weights))


@pytest.mark.parametrize(("n", "tie", "said"), [(200, 2, False), (198, 2, True), (399, 3, True), (399, 1, False)])
def test_ties_are_told_that_hold_more_than_a_percent_or_leave_less_than_half(n, tie, said):
    """Of rows in ties of one size."""
    found = abstain.evaluate({"loss": np.arange(n) % 2, "confidence": np.arange(n) // tie}, metrics=["augrc"])
    assert any(f"the largest tie holds {tie} of {n} samples" in note for note in found.notes()) == said


@pytest.mark.parametrize("options", [{}, {"metrics": ["accuracy"]}, {"groups": ["site"]}, {"scores": ["msp"]}])
def test_verdicts_without_a_confidence_are_still_counted(options):
    """Where nothing else was asked for, a note says what is missing; else it is refused."""
    columns, message = {"correct": [1, 0, 1, 0], "site": list("aabb")}, "these outputs have no confidence"
    if options:
        with pytest.raises((abstain.UnmetNeed, ValueError), match=f"{message}|msp needs"):
            abstain.evaluate(columns, **options)
        return
    found = abstain.evaluate(columns)
    notes = [note for note in found.notes() if note.startswith(f"nothing is said about rejecting answers: {message}")]
    assert (len(notes), found.scores, found.provenance.mean_loss) == (1, [], 0.5)
    with pytest.raises(KeyError, match=message):
        found.curve()
    plain = abstain.evaluate(columns | {"confidence": [0.9, 0.8, 0.7, 0.6]})
    assert not any("nothing is said about" in note for note in plain.notes())
