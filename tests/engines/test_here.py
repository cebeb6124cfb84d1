"""``evaluate`` on rows that polars and DuckDB hold: as in memory, from counts; what counts cannot give is refused."""

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain
from abstain import UnmetNeed
from tests.engines.cases import KINDS, check_engine, check_probabilities, check_same, evaluated, parts, rows
from tests.refusal import refused
from tests.strategies import problems

CONNECTION = duckdb.connect()


def duck(pieces):
    """Return the parts as one DuckDB relation."""
    first, *others = (CONNECTION.from_arrow(each.to_arrow()) for each in pieces)
    for each in others:
        first = first.union(each)
    return first


ENGINES = {"polars": lambda pieces: pl.concat([each.lazy() for each in pieces]), "duckdb": duck}
GOOD = {"confidence": 0.5, "loss": 0.0, "weight": 1.0, "site": "north"}
VERDICT = {"confidence": 0.5, "correct": 1}
ANSWER = {"confidence": 0.5, "label": 0, "prediction": 1}
PAIR = {"label": 0, "p_0": 0.4, "p_1": 0.6}
NO_LOSS = {"loss": 0.0, "p_0": 0.4, "p_1": 0.6}


def in_turn(kinds):
    """Give a test engines and kinds of rows: each kind by one engine in every run, by all where slow tests run."""
    pairs = [(i + k, engine, kind) for i, engine in enumerate(ENGINES) for k, kind in enumerate(kinds)]
    marks = [[], pytest.mark.slow]
    return pytest.mark.parametrize(
        ("engine", "kind"), [pytest.param(*each, marks=marks[at % 2]) for at, *each in pairs]
    )


@in_turn(KINDS)
def test_an_engine_gives_the_evaluation_of_the_rows_in_memory(engine, kind):
    """Values, intervals, words and counts are the same for any kind of rows in any parts."""
    check_engine(ENGINES[engine], kind, 7)


@given(problems(losses=["binary", "graded", "repeated"]), st.integers(1, 7), st.sampled_from(sorted(ENGINES)))
def test_any_problem_in_any_parts(problem, number, engine):
    """Counts of equal rows lose nothing: no tie, no infinity, no weight of zero."""
    columns = {"loss": problem.loss, "confidence": problem.confidence}
    columns |= {} if problem.weight is None else {"weight": problem.weight}
    frame = pl.DataFrame({name: np.asarray(column, dtype=float) for name, column in columns.items()})
    told = {"scores": None, "groups": None, "metrics": "default"}
    check_same(evaluated(ENGINES[engine](parts(frame, number)), **told), evaluated(frame, **told))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("policy", ["raise", "reject", "drop"])
def test_a_missing_score_means_what_the_policy_says(engine, policy):
    """Null and NaN are one thing: refused with their number, ranked last, or left out."""
    score = [0.1, None, float("nan"), 0.4, 0.9]
    frame = pl.DataFrame({"confidence": score, "correct": [True, False, True, True, False]})
    told = {"scores": None, "groups": None, "metrics": "default", "nan_policy": policy}
    if policy == "raise":
        with pytest.raises(ValueError, match="'confidence': it is null or NaN in 2 rows; pass nan_policy="):
            evaluated(ENGINES[engine]([frame]), **told)
    else:
        check_same(evaluated(ENGINES[engine]([frame]), **told), evaluated(frame, **told))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("good", "late", "problem"),
    [
        (GOOD, {"loss": None}, "column 'loss' is null in 1 rows"),
        (GOOD, {"loss": float("nan")}, "column 'loss' is NaN in 1 rows"),
        (GOOD, {"loss": -2.0}, "column 'loss' is negative in 1 rows"),
        (GOOD, {"loss": float("inf")}, "column 'loss' is infinite in 1 rows"),
        (GOOD, {"weight": -1.0}, "column 'weight' is negative in 1 rows"),
        (GOOD, {"site": None}, "column 'site' is null in 1 rows"),
        (VERDICT, {"correct": None}, "column 'correct' is null in 1 rows"),
        (VERDICT, {"correct": 2}, "column 'correct' is neither 0 nor 1 in 1 rows"),
        (ANSWER, {"label": None}, "one of columns 'label' and 'prediction' is null in 1 rows"),
        (ANSWER, {"prediction": None}, "one of columns 'label' and 'prediction' is null in 1 rows"),
        (PAIR, {"p_0": 0.7}, r"is no distribution \(probabilities of 0 to 1 that sum to 1\) in 1 rows"),
        (PAIR, {"p_1": None}, "is null in 1 rows"),
        (PAIR, {"label": 2}, "is none of the classes in 1 rows"),
        (PAIR, {"label": None}, "is null in 1 rows"),
        (NO_LOSS, {"p_0": 0.7}, r"is no distribution \(probabilities of 0 to 1 that sum to 1\) in 1 rows"),
        (NO_LOSS, {"p_1": None}, "is null in 1 rows"),
    ],
)
def test_a_late_bad_row_is_counted_by_name(engine, good, late, problem):
    """What the first rows do not show is found in the same scan; also of probabilities that only give the score."""
    frame = pl.DataFrame([good] * 10_500 + [good | late], schema=pl.DataFrame([good]).schema)
    told = {"groups": "site"} if "site" in good else {"scores": "msp"} if good is NO_LOSS else {}
    refused(ValueError, problem, lambda: abstain.evaluate(ENGINES[engine]([frame]), **told))


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"n_resamples": 100}, "a bootstrap draws rows"),
        ({"scores": "energy"}, "score 'energy' is not computed in a scan"),
        ({"scores": "msp"}, "score 'msp' needs columns of probabilities in a scan"),
        ({"where": {"site": "north"}}, "where= is not read in a scan; filter the frame"),
        ({"metrics": "nll"}, "nll needs labels with logits or probabilities"),
        ({"groups": "case"}, "groups='case' has 1500 distinct values, more than 1000"),
        ({"confidence": "case"}, r"more than 1000 different rows .* round the score .* count in bins"),
    ],
)
def test_what_counts_cannot_give_is_refused_by_name(told, reason, monkeypatch):
    """The message says what is not there, and what to do."""
    monkeypatch.setattr("abstain.outputs._counts.MOST", 1000 if "confidence" in told else 10**6)
    frame = rows(1, n=1500).with_columns(case=pl.arange(1500))
    refused((UnmetNeed, ValueError), reason, lambda: abstain.evaluate(frame.lazy(), **told))


@in_turn(["bool", "int", "float", "text", "date"])
def test_groups_are_called_as_in_memory(engine, kind):
    """A group may be a truth value, a number, a word or a day; the fingerprint knows no parts, but each row."""
    number = pl.arange(400) % 2
    made = {
        "bool": number == 1, "int": number.cast(pl.Int8), "float": number / 2, "text": number.cast(pl.String),
        "date": pl.date(2026, 1, 1 + number),
    }  # fmt: skip
    frame = rows(1).with_columns(kind=made[kind])
    found = [evaluated(ENGINES[engine](parts(frame, k)), groups="kind") for k in (1, 5)]
    check_same(found[0], evaluated(frame, groups="kind"))
    other = frame.with_columns(loss=pl.when(pl.arange(400) == 7).then(1 - pl.col("loss")).otherwise("loss"))
    found.append(evaluated(other.lazy(), groups="kind"))
    prints = [each.provenance["fingerprint"] for each in found]
    assert prints[0] == prints[1] != prints[2]


@pytest.mark.parametrize("engine", ENGINES)
def test_short_floats_are_subtracted_as_in_memory(engine):
    """The margin of single precision probabilities is had in double precision; scores are computed where rows are."""
    check_probabilities(ENGINES[engine])
    p = np.random.default_rng(0).dirichlet([1, 1, 1], 300).astype(np.float32)
    frame = pl.DataFrame({f"prob_{k}": p[:, k] for k in range(3)} | {"label": np.arange(300) % 3})
    told = {"scores": "softmax_margin", "metrics": "augrc"}
    found, expected = (abstain.evaluate(each, **told).summaries[0].curve for each in (frame.lazy(), frame))
    np.testing.assert_array_equal(found.blocks.score, expected.blocks.score)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("columns", "labels", "names"),
    [
        ("37", (3, 7), None), ("37", ("3", "7"), ["3", "7"]), (("cat", "dog"), (0, 1), None), ("01", (0.0, 1.0), None),
        ("ab", (0, 1), ["1", "0"]), ("ab", ("1", "0"), ["1", "0"]), (("true", "false"), (True, False), None),
        ("ab", (False, True), ["yes", "no"]), (("-1", "1"), (-1, 1), None), ("ab", (1, -1), ["1", "-1"]),
        ("ab", (0, 1), ["-1", "1"]),
    ],
)  # fmt: skip
def test_labels_are_names_or_places_as_in_memory(engine, columns, labels, names):
    """Numbers that the columns bear, truths and signs are names; other numbers count the classes, however called."""
    one, two = np.array([[0.9, 0.2, 0.6, 0.7], [0.1, 0.8, 0.4, 0.3]])
    first, second = labels
    frame = pl.DataFrame({"label": [first, second, second, first], f"p_{columns[0]}": one, f"p_{columns[1]}": two})
    for rows_ in (frame, ENGINES[engine]([frame])):
        assert abstain.evaluate(rows_, metrics="accuracy", class_names=names).value("accuracy") == 0.75
