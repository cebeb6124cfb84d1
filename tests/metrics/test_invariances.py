"""What must not matter: row order, the scale of a rank score, repetition, weights as repetition, parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstain import TieBlocks, metrics
from abstain.metrics import Metric
from tests.metrics._problems import TAME, families, needs_counts, problems_for, scale, table, values
from tests.metrics.references_values import REFERENCES
from tests.strategies import partitions

#: One metric per name and estimator, bins or denominator.
CASES = [
    metrics.get(name, **options)
    for name, (_, choices) in REFERENCES.items()
    for options in (choices if name.endswith("aurc") else choices[:3])
]
RANK_ONLY = [
    metric
    for metric in CASES
    if "unit_score" not in metric.needs and metric.options.get("threshold") in (None, np.inf, -np.inf)
]
#: Estimators that are defined on rows change when every row is written twice.
ON_ROWS = [metric for metric in CASES if needs_counts(metric)]
FUNCTIONALS = [metric for metric in CASES if not needs_counts(metric)]


def close(found: dict[str, float], expected: dict[str, float], size: float = 1.0) -> None:
    """Equal to rounding, or both NaN."""
    assert found == pytest.approx(expected, rel=1e-10, abs=2e-11 * size, nan_ok=True)


@pytest.mark.parametrize("cases", families(CASES))
@given(data=st.data())
def test_row_order_does_not_matter(cases: list[Metric], data: st.DataObject) -> None:
    """Any permutation of the rows gives the same value, bit for bit for unweighted 0/1 losses."""
    problem = data.draw(problems_for(cases[0]))
    order = data.draw(st.permutations(range(len(problem.loss))))
    found = [values(cases, table(rows)) for rows in (problem, problem.rows(np.array(order)))]
    if problem.weight is None and set(problem.loss) <= {0.0, 1.0}:
        np.testing.assert_equal(*found)
    else:
        close(*found, scale(problem))


@pytest.mark.parametrize("cases", families(RANK_ONLY))
@given(data=st.data())
def test_increasing_transforms_do_not_matter(cases: list[Metric], data: st.DataObject) -> None:
    """A rank metric is bit for bit the same on the scores' ranks; -inf, which is never accepted, stays what it is."""
    problem = data.draw(problems_for(cases[0]))
    ranks = np.unique(problem.confidence, return_inverse=True)[1] - 3.0
    ranks[problem.confidence == -np.inf] = -np.inf
    np.testing.assert_equal(*(values(cases, table(one)) for one in (problem, problem._replace(confidence=ranks))))


@pytest.mark.parametrize("cases", families(FUNCTIONALS))
@given(data=st.data())
def test_duplication_of_every_row_does_not_matter(cases: list[Metric], data: st.DataObject) -> None:
    """Functionals of the empirical distribution do not change when every row occurs three times."""
    problem = data.draw(problems_for(cases[0]))
    tripled = problem.rows(np.repeat(np.arange(len(problem.loss)), 3))
    close(values(cases, table(tripled)), values(cases, table(problem)), scale(problem))


@pytest.mark.parametrize("name", ["harmonic", "log", "augrc_unbiased"])
def test_duplication_changes_estimators_on_rows(name: str) -> None:
    """Estimators that are defined on rows do change, which is why the test above leaves them out."""
    metric = metrics.get("augrc_unbiased") if name == "augrc_unbiased" else metrics.get("aurc", estimator=name)
    once, twice = (metric(TieBlocks.from_samples([1, 0, 0] * k, [0.9, 0.8, 0.7] * k)) for k in (1, 2))
    assert abs(once - twice) > 1e-3
    assert {"harmonic", "log"} <= {metric.options.get("estimator") for metric in ON_ROWS}


@pytest.mark.parametrize("cases", families(CASES))
@given(data=st.data())
def test_weight_is_repetition(cases: list[Metric], data: st.DataObject) -> None:
    """A whole-number weight equals that many copies of the row."""
    problem = data.draw(problems_for(cases[0], kinds=("frequencies",)))
    rows = np.repeat(np.arange(len(problem.loss)), np.asarray(problem.weight).astype(int))
    copies = problem._replace(weight=None).rows(rows)
    close(values(cases, table(problem)), values(cases, table(copies)), scale(problem))


@pytest.mark.parametrize("cases", families(CASES))
@given(data=st.data())
def test_merged_parts_are_the_whole(cases: list[Metric], data: st.DataObject) -> None:
    """The metric of merged tables is the metric of all rows."""
    problem = data.draw(problems_for(cases[0], min_size=2, losses=TAME))
    parts = [problem.rows(rows) for rows in data.draw(partitions(len(problem.loss)))]
    parts = [part for part in parts if part.weight is None or part.weight.sum() > 0.0]
    tables: list[Any] = [table(part) for part in parts]
    close(values(cases, tables[0].merge(*tables[1:])), values(cases, table(problem)), scale(problem))


@pytest.mark.parametrize("cases", families(FUNCTIONALS))
@given(data=st.data(), factor=st.sampled_from([0.125, 3.0, 1000.0]))
def test_unit_of_the_weights_does_not_matter(cases: list[Metric], data: st.DataObject, factor: float) -> None:
    """Weights count relative to each other only."""
    problem = data.draw(problems_for(cases[0], kinds=("positive", "with_zeros")))
    scaled = problem._replace(weight=factor * np.asarray(problem.weight))
    close(values(cases, table(scaled)), values(cases, table(problem)), scale(problem))
