"""What every engine has to do: give the evaluation of the same rows in memory, whatever part they came in."""

import functools
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import polars as pl
import pytest

import abstain

#: From a list of parts, some of which may be empty, to the lazy frame of an engine.
Engine = Callable[[list[pl.DataFrame]], Any]


def rows(seed, n = 400, *, ties = True, graded = False, weighted = False,
         clustered = False, missing = False) :  # fmt: skip
    """Return predictions with two scores and a group."""
    rng = np.random.default_rng(seed)
    score = rng.random(n)
    score = score.round(2) if ties else score
    loss = (rng.random(n) > score).astype(float) if not graded else rng.integers(0, 5, n) / 4
    frame = pl.DataFrame({"confidence": score, "loss": loss, "site": rng.choice(["north", "south", "west"], n),
                          "other": rng.normal(size=n).round(1)})  # fmt: skip
    if missing:
        frame = frame.with_columns(confidence=pl.when(pl.Series(rng.random(n) >= 0.1)).then("confidence"))
    if weighted:
        frame = frame.with_columns(weight=pl.Series(rng.integers(0, 4, n) / 2))
    return frame.with_columns(cluster=pl.Series(rng.integers(0, n // 8, n))) if clustered else frame


#: What rows are like, by name.
KINDS = {
    "ties": {},
    "no ties": {"ties": False},
    "graded": {"graded": True},
    "weighted": {"weighted": True},
    "clustered": {"clustered": True},
    "missing scores": {"missing": True},
    "all at once": {"graded": True, "weighted": True, "clustered": True, "missing": True},
}


def parts(frame, number, seed=0):
    """Return the rows in another order, in so many parts; of more than two parts one is empty."""
    rng = np.random.default_rng(seed)
    frame = frame[rng.permutation(len(frame))]
    inner = np.sort(rng.integers(0, len(frame) + 1, number - 1))
    if number > 2:
        inner[0] = inner[1]
    ends = [0, *inner.tolist(), len(frame)]
    return [frame[start:end] for start, end in pairwise(ends)]


def written(frame, number=4):
    """Write rows into files of parts and into one with all; return the pattern and the file, from this folder."""
    for k, each in enumerate(parts(frame, number)):
        each.write_parquet(f"part-{k}.parquet")
    Path("one").mkdir()
    frame.write_parquet("one/whole.parquet")
    return "part-*.parquet", "one/whole.parquet"


def evaluated(source, **options):
    """Return the evaluation of two scores, whole and by site."""
    told = {"scores": ["confidence", "other"], "metrics": "default", "groups": "site"}
    return abstain.evaluate(source, **(told | {"nan_policy": "reject"} | options))


def check_same(found, expected):
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


def check_engine(engine, kind, number):
    """Check an engine on rows of one kind in so many parts."""
    frame = rows(number, **KINDS[kind])
    check_same(*(evaluated(each, metrics="all") for each in (engine(parts(frame, number)), frame)))


#: What a threshold is chosen for.
OBJECTIVES = {
    "coverage": {"coverage": 0.5},
    "capacity": {"capacity": 0.3},
    "cost": {"cost": (5, 1)},
    "risk": {"risk": 0.2},
    "certified": {"risk": 0.45, "delta": 0.1},
    "not certified": {"risk": 0.001, "delta": 0.1},
    "betting": {"risk": 0.45, "delta": 0.1, "max_loss": 1.0},
}


#: Of these a threshold by site is asked as well.
BY_SITE = ("coverage", "risk", "certified", "not certified")


def check_threshold(engine, kind, number, objectives=OBJECTIVES):
    """Check thresholds of an engine's rows, all and by site, against those of the same rows in memory."""
    frame = rows(number, **KINDS[kind])
    lazy, columns = engine(parts(frame, number)), {"sample_weight": "weight", "clusters": "cluster"}
    given = {name: frame[column] for name, column in columns.items() if column in frame.columns}
    for name in objectives:
        told = {"nan_policy": "reject", **OBJECTIVES[name]}
        if "graded" in KINDS[kind] and "delta" in told:
            told["max_loss"] = 1.0
        if "sample_weight" in given and "delta" in told:
            told["max_weight"] = 1.5
        for groups in (None, "site")[: 1 + (name in BY_SITE)]:
            by = None if groups is None else frame[groups]
            found = _said(frame=lazy, groups=groups, **told)
            expected = _said(frame["loss"], frame["confidence"], groups=by, **given, **told)
            check_alike(found, expected, f"{kind}, {name}, {groups}")


def _said(*columns, **told):
    """Return all that a threshold holds, or what was refused; a score is called otherwise there."""
    try:
        return abstain.choose_threshold(*columns, **told).to_dict()
    except ValueError as error:
        return str(error).replace("score 'confidence': ", "")


def check_alike(found, expected, where, rtol=1e-12):
    """Check that two nested values are the same, numbers to rounding."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), where
        for name, value in expected.items():
            # The tail multiplies what rounding does to the statistic: of 1e-40 by hundreds.
            check_alike(found[name], value, f"{where}: {name}", 1e3 * rtol if f"{name}_".startswith("p_") else rtol)
    elif isinstance(expected, list | tuple):
        assert len(found) == len(expected), where
        for one, two in zip(found, expected, strict=True):
            check_alike(one, two, where, rtol)
    elif isinstance(expected, float):
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-300, err_msg=where)
    else:
        assert found == expected, where


@mock.patch("abstain.inference._beside.RESAMPLES", 40)  # of a difference whose numbers are not asked
def check_comparison(engine, kind, number, metrics=("augrc", "e_aurc")):
    """Check comparisons of two scores, and of two models, against those of the same rows in memory."""
    frame = rows(number, n=1200, **{**KINDS[kind], "missing": False})
    frame = frame.with_columns(later=1.0 - pl.col("loss"), other=pl.col("other").round(0))
    lazy, columns = engine(parts(frame, number)), {"sample_weight": "weight", "clusters": "cluster"}
    given = {name: frame[column] for name, column in columns.items() if column in frame.columns}
    scores = {name: frame[name] for name in ("confidence", "other")}
    for metric in metrics:
        found = abstain.compare("loss", list(scores), metric, frame=lazy, adjust="max-t")
        expected = abstain.compare(frame["loss"], scores, metric, adjust="max-t", **given)
        _check_compared(found, expected)
    own = {"confidence": "loss", "other": "later"}
    found = abstain.compare(own, list(scores), metrics[0], frame=lazy)
    expected = abstain.compare({name: frame[column] for name, column in own.items()}, scores, metrics[0], **given)
    _check_compared(found, expected)


def _check_compared(found, expected):
    """Check all that a comparison holds; coverage at a risk is resampled, for which rows are needed."""
    one, two = ({**each.to_dict(), "fingerprint": None} for each in (found, expected))
    binary = set(expected.asked.panel.loss[0].ravel()) <= {0.0, 1.0}
    details = two["verdict"]["details"]
    drawn = [each for each in details if each.startswith("coverage at ")]
    assert len(drawn) == binary
    two["verdict"]["details"] = [each for each in details if each not in drawn]
    check_alike(one, two, expected.metric, rtol=1e-9)


def check_probabilities(engine):
    """Check loss and scores that the engine computes from probability columns."""
    rng = np.random.default_rng(5)
    logits = rng.normal(size=(300, 3))
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    p[::7] = 0.375, 0.25, 0.375
    names = np.array(["cat", "dog", "eel"])
    frame = pl.DataFrame(
        {"label": names[rng.integers(0, 3, 300)], **{f"prob_{c}": p[:, k] for k, c in enumerate(names)}}
    )
    told = {"scores": ["msp", "softmax_margin", "neg_entropy", "neg_gini"], "groups": None}
    found = evaluated(engine(parts(frame, 2)), metrics="default", **told)
    for one, two in zip(found.measurements, evaluated(frame, metrics="default", **told).measurements, strict=True):
        assert (one.metric, one.reason) == (two.metric, two.reason)
        np.testing.assert_allclose([one.value, one.low, one.high], [two.value, two.low, two.high], atol=1e-9)


def labelled(n=3000, *, later=0.1):
    """Return rows of 60 days, with more errors in the second half; some that are rejected have no label."""
    rng = np.random.default_rng(1)
    day, score = rng.integers(0, 60, n), rng.random(n).round(3)
    wrong = (rng.random(n) < np.where(day < 30, 0.1, later)).astype(float)
    wrong[(score < 0.05) & (rng.random(n) < 0.5)] = np.nan
    frame = pl.DataFrame({"conf": score, "loss": wrong, "number": day, "site": rng.choice(["a", "b"], n)})
    return frame.with_columns(day=pl.col("number").cast(pl.Int32).cast(pl.Date), loss=pl.col("loss").fill_nan(None))


def policy(groups=False):
    """Return a policy that guarantees a risk of a fifth."""
    rng = np.random.default_rng(0)
    score = rng.random(4000)
    wrong, by = rng.random(4000) < np.where(score < 0.35, 0.6, 0.08), rng.choice(["a", "b"], 4000)
    found = abstain.choose_threshold(wrong, score, risk=0.2, delta=0.05, groups=by if groups else None)
    return found.policy(score="conf", **({"group": "site"} if groups else {}))


@functools.cache
def watched(time, groups, later):
    """Return a policy, rows that are monitored, and what is found of them in memory."""
    frame, one = labelled(later=later).sort("day", "site"), policy(groups)  # of groups, which row of a day signals
    given = {"groups": frame["site"]} if groups else {}
    losses = frame["loss"].fill_null(float("nan"))
    return one, frame, abstain.monitor(one, losses, frame["conf"], time=frame[time], **given).to_dict()


def check_watched(engine, time, groups, later):
    """Evidence, changes, drift, periods and groups of a monitor are those of the rows in memory."""
    one, frame, expected = watched(time, groups, later)
    assert expected["violated"] == (later == 0.5)
    found = abstain.monitor(one, frame=engine(parts(frame, 4)), loss="loss", time=time)
    check_alike(found.to_dict(), expected, time)


class InProcesses:
    """What an engine in processes of its own has to do; ``engine`` returns its frame of some parts."""

    engine: Any
    NUMBERS = (1, 3, 7)

    @pytest.mark.parametrize("kind", KINDS)
    def test_it_gives_the_evaluation_of_the_rows_in_memory(self, kind):
        """Values, intervals, words and counts are the same for any kind of rows in any parts."""
        for number in self.NUMBERS:
            check_engine(self.engine, kind, number)

    @pytest.mark.parametrize("kind", ["ties", "graded", "missing scores"])
    def test_it_gives_the_threshold_of_the_rows_in_memory(self, kind):
        """Threshold, guarantee and all that a policy keeps of its rows, or the same refusal."""
        check_threshold(self.engine, kind, 3, ["certified"])

    @pytest.mark.parametrize("kind", ["ties", "weighted"])
    def test_it_gives_the_comparison_of_the_rows_in_memory(self, kind):
        """Two scores, and two models, tested as in memory."""
        check_comparison(self.engine, kind, 3, ["augrc"])

    @pytest.mark.parametrize("groups", [False, True])
    @pytest.mark.parametrize("time", ["day", "number"])
    def test_it_gives_the_monitor_of_the_rows_in_memory(self, time, groups):
        """Of a guarantee that is broken from half of the days on, in the order of the days."""
        check_watched(self.engine, time, groups, 0.5)

    def test_loss_and_scores_come_from_probability_columns(self):
        """Largest probability, margin, entropy and Gini impurity are computed where the rows are."""
        check_probabilities(self.engine)

    @pytest.mark.parametrize(("late", "problem"), [(None, "is (null|NaN) in 1 rows"), (-1.0, "is negative in 1 rows")])
    def test_late_bad_rows_are_counted(self, late, problem):
        """A null and a negative loss are found by the same scan."""
        frame = rows(1, n=10_500)
        bad = frame.with_columns(loss=pl.when(pl.arange(len(frame)) == len(frame) - 1).then(late).otherwise("loss"))
        with pytest.raises(ValueError, match=f"column 'loss' {problem}"):
            evaluated(self.engine([bad[:5000], bad[5000:]]))
