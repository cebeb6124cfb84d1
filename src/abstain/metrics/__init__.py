"""Metrics of a reject option: one family per leaf, one registry for the command line, the docs and the reports."""

from __future__ import annotations

from typing import Any

from abstain.metrics import (
    _accepted,
    _augrc,
    _aurc,
    _calibration,
    _collaboration,
    _contribution,
    _detection,
    _estimator_weights,
    _excess,
    _full,
    _point,
    _precision,
    _proper,
    _reference,
    _retention,
    _trust,
    _trust_curve,
)
from abstain.metrics._accepted import *
from abstain.metrics._augrc import *
from abstain.metrics._aurc import *
from abstain.metrics._calibration import *
from abstain.metrics._collaboration import *
from abstain.metrics._contribution import *
from abstain.metrics._detection import *
from abstain.metrics._estimator_weights import *
from abstain.metrics._excess import *
from abstain.metrics._full import *
from abstain.metrics._metric import METRICS, Gradient, Metric, Predictions, Value
from abstain.metrics._parse import parse, parse_list
from abstain.metrics._point import *
from abstain.metrics._precision import *
from abstain.metrics._proper import *
from abstain.metrics._reference import *
from abstain.metrics._retention import *
from abstain.metrics._trust import *
from abstain.metrics._trust_curve import *

#: Public names of the leaves, which the package's front repeats.
FUNCTIONS: list[str] = []
FUNCTIONS += _aurc.__all__
FUNCTIONS += _augrc.__all__
FUNCTIONS += _reference.__all__
FUNCTIONS += _excess.__all__
FUNCTIONS += _retention.__all__
FUNCTIONS += _full.__all__
FUNCTIONS += _point.__all__
FUNCTIONS += _detection.__all__
FUNCTIONS += _precision.__all__
FUNCTIONS += _collaboration.__all__
FUNCTIONS += _accepted.__all__
FUNCTIONS += _trust.__all__
FUNCTIONS += _trust_curve.__all__
FUNCTIONS += _calibration.__all__
FUNCTIONS += _proper.__all__
FUNCTIONS += _contribution.__all__
FUNCTIONS += _estimator_weights.__all__

__all__ = ["Gradient", "Metric", "Predictions", "Value", "get", "names", "parse", "parse_list"]
__all__ += FUNCTIONS


def get(name: str, **options: Any) -> Metric:
    """Return a metric by name, with options bound; call it on a table.

    Parameters
    ----------
    name : str
        A name of :func:`names`.
    **options
        Options of the metric, such as ``estimator="harmonic"``.

    Returns
    -------
    Metric

    Raises
    ------
    ValueError
        An unknown name; the message lists near ones.
    TypeError
        An unknown option; the message lists the known ones.

    Examples
    --------
    >>> import abstain
    >>> blocks = abstain.TieBlocks.from_samples([0, 0, 1, 0], [0.9, 0.8, 0.7, 0.6])
    >>> abstain.metrics.get("coverage_at_risk", risk=0.3)(blocks)
    1.0
    """
    return METRICS[name].using(**options)


def names() -> list[str]:
    """Return the names of all metrics, family by family.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import abstain
    >>> "augrc" in abstain.metrics.names()
    True
    """
    return [name for name in FUNCTIONS if name in METRICS]
