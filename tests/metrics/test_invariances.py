"""What must not matter: row order, the scale of a rank score, repetition, weights as repetition, parts."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstain import metrics
from abstain.metrics import Metric
from tests.metrics._problems import FEWER, TAME, families, problems_for, scale, table, values
from tests.metrics.references_values import REFERENCES
from tests.strategies import partitions

#: One metric per name and estimator, bins or denominator.
CASES = [
    metrics.get(name, **options)
    for name, (_, choices) in REFERENCES.items()
    for options in (choices if name.endswith("aurc") else choices[:3])
]


def close(found: dict[str, float], expected: dict[str, float], size: float = 1.0) -> None:
    """Equal to rounding, or both NaN."""
    assert found == pytest.approx(expected, rel=1e-10, abs=2e-11 * size, nan_ok=True)


@pytest.mark.parametrize("cases", families(CASES))
@FEWER
@given(data=st.data())
def test_merged_parts_are_the_whole(cases: list[Metric], data: st.DataObject) -> None:
    """The metric of merged tables is the metric of all rows."""
    problem = data.draw(problems_for(cases[0], min_size=2, losses=TAME))
    parts = [problem.rows(rows) for rows in data.draw(partitions(len(problem.loss)))]
    parts = [part for part in parts if part.weight is None or part.weight.sum() > 0.0]
    tables: list[Any] = [table(part) for part in parts]
    close(values(cases, tables[0].merge(*tables[1:])), values(cases, table(problem)), scale(problem))
