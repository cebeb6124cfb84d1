"""pytest: whether a model may answer at all, as a test of the model's own test suite.

``pytest_plugins = ["abstain.testing"]`` in ``conftest.py`` gives the fixture of the same name. It is no plugin that
pytest loads by itself, because every test run of the environment would then import NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from abstain import scores
from abstain._checks import fraction
from abstain._result import lines_of
from abstain.outputs import Outputs, read_outputs
from abstain.thresholds import CertifiedThreshold, choose_threshold

__all__ = ["assert_selective_risk"]


def assert_selective_risk(
    outputs: Any,
    risk: float = 0.05,
    delta: float = 0.05,
    *,
    coverage: float = 0.0,
    score: str | None = None,
    **columns: Any,
) -> CertifiedThreshold:
    """Assert that a threshold of the score has at most this risk, certified; the message is the verdict.

    Parameters
    ----------
    outputs : path, frame, dict of arrays or Outputs
        Labelled rows on which the model was not trained, as :func:`abstain.read_outputs` takes them.
    risk, delta : float
        Largest mean loss of what is accepted, and the probability that this guarantee fails.
    coverage : float in [0, 1]
        The share of the rows that must be accepted at least.
    score : str, optional
        A name of :mod:`abstain.scores`, or of a score of the outputs; default: that of :func:`abstain.evaluate`.
    **columns
        Which column is what, as in :func:`abstain.read_outputs` (``labels="y"``).

    Returns
    -------
    CertifiedThreshold
        For further assertions, or to save its policy.

    Raises
    ------
    AssertionError
        No threshold is certified, or only ones that accept too few rows.

    Examples
    --------
    >>> import abstain
    >>> from abstain.testing import assert_selective_risk
    >>> outputs = abstain.datasets.load("digits_logreg")
    >>> assert_selective_risk(outputs, risk=0.03).attainable
    True
    """
    __tracebackhide__ = True
    if not isinstance(outputs, Outputs):
        outputs = read_outputs(outputs, **columns)
    elif columns:
        raise TypeError(f"outputs are read already; {', '.join(columns)} belongs to a file, a frame or a dict")
    coverage = fraction(coverage, "coverage")
    name = scores.default(outputs) if score is None else score
    found = choose_threshold(
        scores.judged(name, outputs).loss_per_sample(),
        scores.compute(name, outputs),
        risk=risk,
        delta=delta,
        max_loss=outputs.largest_loss,
        sample_weight=outputs.sample_weight,
        clusters=outputs.clusters,
    )
    assert isinstance(found, CertifiedThreshold)  # for type checkers; the others hold with python -O, too
    verdict = "\n".join(lines_of(found.verdict))
    if not found.attainable:
        raise AssertionError(verdict)
    if found.coverage < coverage:
        raise AssertionError(f"coverage {found.coverage:.1%} is below {coverage:.1%}\n{verdict}")
    return found


@pytest.fixture(name="assert_selective_risk")
def _recorded(record_property: Callable[[str, object], None]) -> Callable[..., CertifiedThreshold]:
    """Give :func:`abstain.testing.assert_selective_risk`, which also records what it found in the report of pytest."""

    def check(*args: Any, **options: Any) -> CertifiedThreshold:
        __tracebackhide__ = True
        found = assert_selective_risk(*args, **options)
        for name in ("threshold", "coverage", "risk"):
            record_property(f"abstain_{name}", getattr(found, name))
        return found

    return check
