"""Confidence scoring functions: from saved outputs to one number per sample, higher = more confident."""

from __future__ import annotations

import numpy as np

from abstain._checks import UnmetNeed, closest, listed
from abstain._typing import FloatArray
from abstain.outputs import Outputs, expect
from abstain.scores._catalogue import COMPOSED, SCORES, load, parse, score_of
from abstain.scores._catalogue import parse_list as parse_list
from abstain.scores._fitted import FittedScore as FittedScore
from abstain.scores._head import recover_head
from abstain.scores._passes import judged, pass_predictions
from abstain.scores._score import Score

__all__ = ["Score", "available", "compute", "default", "get", "judged", "load", "names", "parse", "pass_predictions"]
__all__ += ["recover_head"]


def get(name: str, **options: object) -> Score:
    """Return a score by name.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    **options
        Hyper-parameters; default those of the score.

    Returns
    -------
    Score
        Call it on ``Outputs``.

    Raises
    ------
    ValueError
        No score has this name; the message lists the nearest.
    TypeError
        The score has no such option; the message lists them.

    Examples
    --------
    >>> import abstain
    >>> abstain.scores.get("energy").range
    '(-inf, inf)'
    >>> abstain.scores.get("knn", neighbours=10).spec
    'knn(neighbours=10)'
    """
    return score_of(name).using(**options)


def names() -> list[str]:
    """Return the names of all scores that are computed from outputs.

    Examples
    --------
    >>> import abstain
    >>> abstain.scores.names()[:3]
    ['msp', 'neg_log_error', 'neg_entropy']
    """
    return list(SCORES)


def available(outputs: Outputs, fit: Outputs | None = None) -> list[str]:
    """Return the names that :func:`compute` can give for these outputs.

    Parameters
    ----------
    outputs : Outputs
    fit : Outputs, optional
        Fit data; without them only scores that are not fitted can be had.

    Returns
    -------
    list of str
        Computable scores in the order of :func:`names`, then the external columns of ``outputs.scores``.

    Examples
    --------
    >>> import abstain
    >>> outputs = abstain.Outputs(labels=[0], predictions=[0], confidence=[0.9], scores={"votes": [7]})
    >>> abstain.scores.available(outputs)
    ['confidence', 'votes']
    """
    expect(outputs, "outputs")
    if fit is not None:
        expect(fit, "fit")
    simple = [name for name in SCORES if name not in COMPOSED]
    computable = [name for name in simple if score_of(name).available(outputs, fit)]
    return computable + [name for name in outputs.scores or {} if name not in computable]


def compute(name: str, outputs: Outputs, fit: Outputs | FittedScore | None = None) -> FloatArray:
    """Return a confidence score of every sample.

    Parameters
    ----------
    name : str
        A column of ``outputs.scores`` (which comes first: the outputs' own word), or one of :func:`names`, with
        options in parentheses if need be: ``"knn(neighbours=10)"``.
    outputs : Outputs
    fit : Outputs or FittedScore, optional
        Fit data, or the fitted score itself; scores that are not fitted ignore it.

    Returns
    -------
    ndarray of shape (n_samples,)
        Higher = more confident. Computed scores are never NaN; an external column may be, see ``nan_policy``.

    Raises
    ------
    ValueError
        Unknown name.
    UnmetNeed
        The outputs or the fit data do not hold what the score needs.

    Examples
    --------
    >>> import abstain
    >>> outputs = abstain.Outputs(labels=[0, 1], logits=[[3.0, 1.0], [0.0, 60.0]])
    >>> abstain.scores.compute("msp", outputs).round(3)
    array([0.881, 1.   ])
    >>> abstain.scores.compute("neg_log_error", outputs).round(3)
    array([ 2.127, 60.   ])
    """
    expect(outputs, "outputs")
    if not isinstance(name, str):
        raise TypeError(f"name must be text, the name of a score, got {type(name).__name__}")
    external = outputs.scores or {}
    if name in external:
        return np.asarray(external[name])
    if name == "confidence" and outputs.confidence is not None:
        return np.asarray(outputs.confidence)  # as given, without a copy of millions of rows
    if name not in SCORES and "(" not in name:
        raise ValueError(f"score {name!r} is not known; {closest(name, [*SCORES, *external])}")
    return parse(name)(outputs, fit)


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
    >>> import abstain
    >>> abstain.scores.default(abstain.Outputs(labels=[0], logits=[[1.0, 0.0]]))
    'msp'
    """
    expect(outputs, "outputs")
    for name in ("confidence", "msp"):
        if score_of(name).available(outputs):
            return name
    found = f"choose one of {', '.join(outputs.scores)}" if outputs.scores else "give one, or logits or probabilities"
    if outputs.passes is not None:
        found = "choose one of the passes, such as scores='pass_msp'"
    elif outputs.reading is not None and not outputs.reading.unused and not outputs.scores:
        found = "add a column of it, and name it with confidence= or uncertainty="
    elif outputs.reading is not None and not outputs.scores:
        found = f"give confidence= or uncertainty=, one of the other columns: {listed(outputs.reading.unused)}"
    raise UnmetNeed(f"these outputs have no confidence; {found}")
