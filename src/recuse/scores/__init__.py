"""Confidence scoring functions: from saved outputs to one number per sample, higher = surer."""

from __future__ import annotations

import numpy as np

from recuse._checks import UnmetNeed, closest
from recuse._typing import FloatArray
from recuse.outputs import Outputs
from recuse.scores import _logits, _softmax
from recuse.scores._score import SCORES, Score

__all__ = ["Score", "available", "compute", "default", "get", "names"]


def _confidence(outputs: Outputs) -> FloatArray:
    return np.asarray(outputs.confidence)


_CONFIDENCE = Score("confidence", "Confidence", _confidence, "confidence", "given with the outputs", "as given")

for _score in (*_softmax.SCORES, *_logits.SCORES, _CONFIDENCE):
    SCORES.register(_score)


def get(name: str) -> Score:
    """Return a score by name.

    Parameters
    ----------
    name : str
        One of :func:`names`.

    Returns
    -------
    Score
        Call it on ``Outputs``.

    Raises
    ------
    ValueError
        No score has this name; the message lists the nearest.

    Examples
    --------
    >>> import recuse
    >>> recuse.scores.get("energy").range
    '(-inf, inf)'
    """
    return SCORES[name]


def names() -> list[str]:
    """Return the names of all scores that are computed from outputs.

    Examples
    --------
    >>> import recuse
    >>> recuse.scores.names()[:3]
    ['msp', 'neg_log_error', 'neg_entropy']
    """
    return SCORES.names()


def available(outputs: Outputs) -> list[str]:
    """Return the names that :func:`compute` can give for these outputs.

    Parameters
    ----------
    outputs : Outputs

    Returns
    -------
    list of str
        Computable scores in the order of :func:`names`, then the external columns of ``outputs.scores``.

    Examples
    --------
    >>> import recuse
    >>> outputs = recuse.Outputs(labels=[0], predictions=[0], confidence=[0.9], scores={"votes": [7]})
    >>> recuse.scores.available(outputs)
    ['confidence', 'votes']
    """
    computable = [score.name for score in SCORES if score.available(outputs)]
    return computable + [name for name in outputs.scores or {} if name not in computable]


def compute(name: str, outputs: Outputs) -> FloatArray:
    """Return a confidence score of every sample.

    Parameters
    ----------
    name : str
        A column of ``outputs.scores`` (which comes first: the outputs' own word), or one of :func:`names`.
    outputs : Outputs

    Returns
    -------
    ndarray of shape (n_samples,)
        Higher = surer. Computed scores are never NaN; an external column may be, see ``nan_policy``.

    Raises
    ------
    ValueError
        Unknown name.
    UnmetNeed
        The outputs do not hold what the score needs.

    Examples
    --------
    >>> import recuse
    >>> outputs = recuse.Outputs(labels=[0, 1], logits=[[3.0, 1.0], [0.0, 60.0]])
    >>> recuse.scores.compute("msp", outputs).round(3)
    array([0.881, 1.   ])
    >>> recuse.scores.compute("neg_log_error", outputs).round(3)
    array([ 2.127, 60.   ])
    """
    external = outputs.scores or {}
    if name in external:
        return np.asarray(external[name])
    if name not in SCORES:
        raise ValueError(f"score {name!r} is not known; {closest(name, [*SCORES.names(), *external])}")
    return SCORES[name](outputs)


def default(outputs: Outputs) -> str:
    """Return the name of the score to use where none is asked for.

    The external confidence if there is one, else the maximum softmax probability.

    Parameters
    ----------
    outputs : Outputs

    Returns
    -------
    str

    Raises
    ------
    UnmetNeed
        Neither is there; the message lists external score columns, if any.

    Examples
    --------
    >>> import recuse
    >>> recuse.scores.default(recuse.Outputs(labels=[0], logits=[[1.0, 0.0]]))
    'msp'
    """
    for name in ("confidence", "msp"):
        if SCORES[name].available(outputs):
            return name
    found = f"choose one of {', '.join(outputs.scores)}" if outputs.scores else "give one, or logits or probabilities"
    raise UnmetNeed(f"these outputs have no confidence; {found}")
