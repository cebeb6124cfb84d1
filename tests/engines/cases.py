"""What every engine has to do: give the evaluation of the same rows in memory, whatever part they came in."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

import abstain

#: From a list of parts, some of which may be empty, to the lazy frame of an engine.
Engine = Callable[[list[pl.DataFrame]], Any]


def rows(seed: int, n: int = 400, *, ties: bool = True, graded: bool = False, weighted: bool = False,
         clustered: bool = False, missing: bool = False) -> pl.DataFrame:  # fmt: skip
    """Return predictions with two scores and a group."""
    rng = np.random.default_rng(seed)
    score = rng.random(n)
    score = score.round(2) if ties else score
    loss = (rng.random(n) > score).astype(float) if not graded else rng.integers(0, 5, n) / 4
    frame = pl.DataFrame({"confidence": score, "loss": loss, "site": rng.choice(["north", "south", "west"], n),
                          "other": rng.normal(size=n).round(1)})  # fmt: skip
    if missing:
        frame = frame.with_columns(
            confidence=pl.when(pl.Series(rng.random(n) < 0.1)).then(None).otherwise("confidence")
        )
    if weighted:
        frame = frame.with_columns(weight=pl.Series(rng.integers(0, 4, n) / 2))
    return frame.with_columns(cluster=pl.Series(rng.integers(0, n // 8, n))) if clustered else frame


#: What rows are like, by name.
KINDS: dict[str, dict[str, bool]] = {
    "ties": {},
    "no ties": {"ties": False},
    "graded": {"graded": True},
    "weighted": {"weighted": True},
    "clustered": {"clustered": True},
    "missing scores": {"missing": True},
    "all at once": {"graded": True, "weighted": True, "clustered": True, "missing": True},
}


def parts(frame: pl.DataFrame, number: int, seed: int = 0) -> list[pl.DataFrame]:
    """Return the rows in another order, in so many parts; of more than two parts one is empty."""
    rng = np.random.default_rng(seed)
    frame = frame[rng.permutation(len(frame))]
    inner = np.sort(rng.integers(0, len(frame) + 1, number - 1))
    if number > 2:
        inner[0] = inner[1]
    ends = [0, *inner.tolist(), len(frame)]
    return [frame[start:end] for start, end in pairwise(ends)]


def evaluated(source: Any, **options: Any) -> abstain.evaluation.Evaluation:
    """Return the evaluation of two scores, whole and by site."""
    told: dict[str, Any] = {"scores": ["confidence", "other"], "metrics": "all", "groups": "site"}
    return abstain.evaluate(source, **(told | {"nan_policy": "reject"} | options))


def check_same(found: abstain.evaluation.Evaluation, expected: abstain.evaluation.Evaluation) -> None:
    """Check counts and words exactly, numbers to 1e-9."""
    words = ("score", "group", "label", "metric", "identifier", "reason", "method", "warning")
    numbers = ("value", "low", "high", "standard_error")
    for one, two in zip(found.measurements, expected.measurements, strict=True):
        assert [getattr(one, each) for each in words] == [getattr(two, each) for each in words]
        for each in numbers:
            np.testing.assert_allclose(getattr(one, each), getattr(two, each), rtol=1e-9, atol=1e-9, err_msg=one.metric)
    for first, second in zip(found.summaries, expected.summaries, strict=True):
        counts = ("score", "group", "n", "n_rejected", "n_dropped", "largest_tie", "distinct_share")
        assert [getattr(first, each) for each in counts] == [getattr(second, each) for each in counts]
        one, two = first.curve.blocks, second.curve.blocks
        np.testing.assert_array_equal(one.score, two.score)
        np.testing.assert_array_equal(one.count, two.count)
        compare = np.testing.assert_array_equal if two.binary and two.frequencies else np.testing.assert_allclose
        compare(one.loss, two.loss)
        compare(one.weight, two.weight)
    assert found.provenance["understood"] == expected.provenance["understood"]


def check_engine(engine: Engine, kind: str, number: int) -> None:
    """Check an engine on rows of one kind in so many parts."""
    frame = rows(number, **KINDS[kind])
    check_same(evaluated(engine(parts(frame, number))), evaluated(frame))


def check_probabilities(engine: Engine) -> None:
    """Check loss and scores that the engine computes from probability columns."""
    rng = np.random.default_rng(5)
    logits = rng.normal(size=(300, 3))
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    names = np.array(["cat", "dog", "eel"])
    frame = pl.DataFrame(
        {"label": names[rng.integers(0, 3, 300)], **{f"prob_{c}": p[:, k] for k, c in enumerate(names)}}
    )
    told: dict[str, Any] = {"scores": ["msp", "softmax_margin", "neg_entropy", "neg_gini"], "groups": None}
    found = evaluated(engine(parts(frame, 2)), metrics="default", **told)
    for one, two in zip(found.measurements, evaluated(frame, metrics="default", **told).measurements, strict=True):
        assert (one.metric, one.reason) == (two.metric, two.reason)
        np.testing.assert_allclose([one.value, one.low, one.high], [two.value, two.low, two.high], atol=1e-9)
