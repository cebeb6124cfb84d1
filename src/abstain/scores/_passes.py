"""Scores of repeated stochastic passes: MC dropout, ensembles, test-time augmentation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from abstain._checks import UnmetNeed, one_of
from abstain._typing import Array, IntArray, Namespace
from abstain.outputs import Outputs, expect
from abstain.scores._batch import Batch, ascending, astype, columns_at, x_log_y
from abstain.scores._catalogue import parse


def pass_msp(batch: Batch) -> Array:
    """max_k m_k, with m = (1/R) sum_r p^(r) the mean probabilities of the passes."""
    return batch.xp.max(_mean(batch), axis=1)


def pass_neg_predictive_entropy(batch: Batch) -> Array:
    """-H(m) = sum_k m_k log m_k, the entropy of the mean probabilities."""
    return 0.0 - _entropy(_mean(batch), batch.xp)


def pass_neg_expected_entropy(batch: Batch) -> Array:
    """-(1/R) sum_r H(p^(r)), the mean of the entropies."""
    return 0.0 - _expected(batch)


def pass_neg_mutual_information(batch: Batch) -> Array:
    """-(H(m) - (1/R) sum_r H(p^(r))): what the passes disagree on; 0 where all are equal."""
    xp = batch.xp
    value = _expected(batch) - _entropy(_mean(batch), xp)
    return xp.where(value < 0.0, value, xp.zeros_like(value))


def pass_vote_agreement(batch: Batch) -> Array:
    """The share of passes that vote for the class with the most votes. Takes R values at most: expect ties."""
    return batch.xp.max(_votes(batch), axis=1)


def pass_predictions(outputs: Outputs, method: str = "mean") -> IntArray:
    """Return the predicted classes that belong to scores of repeated passes.

    Parameters
    ----------
    outputs : Outputs
        With ``passes``.
    method : {"mean", "votes"}
        Class of the largest mean probability, which belongs to all scores of passes but one; or the class with the
        most votes, of several the one with the larger mean probability, which belongs to ``pass_vote_agreement``.

    Returns
    -------
    ndarray of int of shape (n_samples,)

    Raises
    ------
    UnmetNeed
        No passes.

    Notes
    -----
    These differ from the predictions of the deterministic network, so accuracy and every loss differ, too;
    :func:`abstain.scores.judged` returns the outputs with them.

    Examples
    --------
    >>> import abstain
    >>> passes = [[[0.9, 0.1]], [[0.4, 0.6]], [[0.4, 0.6]]]
    >>> outputs = abstain.Outputs(labels=[0], passes=passes)
    >>> abstain.scores.pass_predictions(outputs), abstain.scores.pass_predictions(outputs, method="votes")
    (array([0]), array([1]))
    """
    one_of(method, ("mean", "votes"), "method")
    if outputs.passes is None:
        raise UnmetNeed("these outputs have no passes; give passes= of shape (runs, n_samples, n_classes)")
    found = []
    for chunk in Batch.of(outputs).chunks():
        mean = _mean(chunk)
        if method == "votes":  # votes come first, the mean is less than one vote
            mean = _votes(chunk) * 2.0 * chunk.passes.shape[0] + mean
        found.append(np.argmax(mean, axis=1))
    return np.concatenate(found)


def judged(name: str, outputs: Outputs) -> Outputs:
    """Return the outputs by which a score is judged: with the predictions and probabilities that it is about.

    Scores of repeated passes are about the mean of the passes (``pass_vote_agreement``: about their votes), all others
    about the outputs as they are, and columns of ``scores`` about their ``score_predictions``, if there are any. A
    given ``loss`` stands as it is given.

    Parameters
    ----------
    name : str
        A score, with or without options, or a column of ``outputs.scores``.
    outputs : Outputs

    Returns
    -------
    Outputs
        ``outputs`` itself; for scores of passes the same samples with the mean of the passes as ``probabilities``,
        without logits, features, passes and columns of scores.

    Raises
    ------
    ValueError
        Unknown name.

    Examples
    --------
    >>> import abstain
    >>> outputs = abstain.Outputs(labels=[0], logits=[[1, 0]], passes=[[[0.9, 0.1]], [[0.4, 0.6]], [[0.1, 0.9]]])
    >>> [abstain.scores.judged(name, outputs).error for name in ("msp", "pass_msp")]
    [array([0.]), array([1.])]
    """
    expect(outputs, "outputs")
    if not isinstance(name, str):
        raise TypeError(f"name must be text, the name of a score, got {type(name).__name__}")
    own = (outputs.score_predictions or {}).get(name)
    if own is not None and outputs.loss is None:
        return replace(outputs, **_NOTHING | {"predictions": own})
    if outputs.passes is None or outputs.loss is not None or name in (outputs.scores or {}):
        return outputs
    by = parse(name).judged_by
    if by == "outputs":
        return outputs
    votes = pass_predictions(outputs, by) if by == "votes" else None
    mean = np.mean(outputs.passes, axis=0, dtype=np.float64)
    return replace(outputs, **_NOTHING | {"probabilities": mean, "predictions": votes})


#: Columns that say nothing of the predictions of passes, or of a score's own.
_COLUMNS = ("logits", "probabilities", "passes", "features", "head", "confidence", "scores", "score_predictions")
_NOTHING: dict[str, Array] = dict.fromkeys(_COLUMNS)


def _mean(batch: Batch) -> Array:
    return batch.xp.mean(batch.passes, axis=0)


def _entropy(p: Array, xp: Namespace) -> Array:
    """Return the entropy along the last axis."""
    p = ascending(p, xp)
    with np.errstate(divide="ignore"):
        return 0.0 - xp.sum(x_log_y(p, xp.log(p), xp), axis=-1)


def _expected(batch: Batch) -> Array:
    return batch.xp.mean(_entropy(batch.passes, batch.xp), axis=0)


def _votes(batch: Batch) -> Array:
    """Return the share of votes (n, K)."""
    xp = batch.xp
    runs, _, width = batch.passes.shape
    total = None
    for run in range(runs):
        mask = columns_at(xp.argmax(batch.passes[run, ...], axis=1), width, xp, batch.device)
        vote = astype(mask, "float64", xp)
        total = vote if total is None else total + vote
    return total / runs
