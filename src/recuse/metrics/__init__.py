"""Metrics of a reject option: one family per leaf, one registry for the command line, the docs and the reports."""

from __future__ import annotations

from typing import Any

from recuse.metrics import (
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
from recuse.metrics._accepted import *
from recuse.metrics._augrc import *
from recuse.metrics._aurc import *
from recuse.metrics._calibration import *
from recuse.metrics._collaboration import *
from recuse.metrics._contribution import *
from recuse.metrics._detection import *
from recuse.metrics._estimator_weights import *
from recuse.metrics._excess import *
from recuse.metrics._full import *
from recuse.metrics._metric import METRICS, Gradient, Metric, Predictions, Value
from recuse.metrics._parse import parse, parse_list
from recuse.metrics._point import *
from recuse.metrics._precision import *
from recuse.metrics._proper import *
from recuse.metrics._reference import *
from recuse.metrics._retention import *
from recuse.metrics._trust import *
from recuse.metrics._trust_curve import *

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
    >>> import recuse
    >>> blocks = recuse.TieBlocks.from_samples([0, 0, 1, 0], [0.9, 0.8, 0.7, 0.6])
    >>> recuse.metrics.get("coverage_at_risk", risk=0.3)(blocks)
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
    >>> import recuse
    >>> "augrc" in recuse.metrics.names()
    True
    """
    return [name for name in FUNCTIONS if name in METRICS]
