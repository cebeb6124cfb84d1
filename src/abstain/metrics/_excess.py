"""What an area leaves above the oracle: excess and normalised areas."""

from __future__ import annotations

import numpy as np

from abstain._checks import Undefined
from abstain._typing import ArrayLike, NanPolicy
from abstain.blocks import TieBlocks
from abstain.metrics._augrc import augrc_gradient, augrc_value
from abstain.metrics._aurc import Estimator, aurc_gradient, aurc_value
from abstain.metrics._metric import METRICS, Gradient, Metric
from abstain.metrics._reference import (
    augrc_optimal_gradient,
    augrc_optimal_value,
    aurc_optimal_gradient,
    aurc_optimal_value,
)

__all__ = ["e_augrc", "e_aurc", "naugrc", "naurc"]


def _e_aurc(blocks: TieBlocks, estimator: Estimator = "plugin") -> float:
    return aurc_value(blocks, estimator) - aurc_optimal_value(blocks, estimator)


def _e_aurc_gradient(blocks: TieBlocks, estimator: Estimator = "plugin") -> Gradient:
    return aurc_gradient(blocks, estimator).plus(aurc_optimal_gradient(blocks, estimator).scaled(-1.0))


def e_aurc(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    estimator: Estimator = "plugin",
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> float:
    r"""Excess AURC: how far the score is from the best ranking of the same losses, AURC - AURC*.

    .. math:: \text{e-AURC} = \text{AURC} - \text{AURC}^*

    Parameters
    ----------
    loss : array-like of shape (n_samples,)
        Loss per sample, >= 0.
    confidence : array-like of shape (n_samples,)
        Confidence score, higher = surer.
    estimator : {"plugin", "interpolated", "trapezoid", "harmonic", "log"}
        Of both areas; see :func:`aurc` and :func:`aurc_optimal`.
    sample_weight : array-like of shape (n_samples,), optional
        Weights >= 0, on both axes; default 1 each.
    nan_policy : {"raise", "reject", "drop"}
        What a NaN score means: an error, accepted last, or left out; see :class:`abstain.TieBlocks`.

    Returns
    -------
    float
        >= 0; lower is better. ``"trapezoid"`` can be negative, because its optimum is of another convention:
        slightly for many distinct scores, down to -1/2 for few (a hundredth right, apart: -0.454).

    Raises
    ------
    ValueError, TypeError
        Bad columns; real weights for an estimator on counts.

    Notes
    -----
    Ties are accepted together. A perfect ranking has excess 0 under ``"interpolated"`` and O(1/n) under
    ``"plugin"``. The excess still depends on the classifier's accuracy.

    References
    ----------
    Geifman, Uziel & El-Yaniv (2019), ICLR. Traub et al. (2024), NeurIPS: Eq. 5.

    Examples
    --------
    >>> import abstain
    >>> round(abstain.e_aurc([0, 0, 1, 0], [0.9, 0.8, 0.7, 0.6]), 6)
    0.111595
    """
    return E_AURC.using(estimator=estimator).of(loss, confidence, sample_weight, nan_policy)


E_AURC = METRICS.register(
    Metric(
        name="e_aurc",
        title="e-AURC",
        function=e_aurc,
        value=_e_aurc,
        gradient=_e_aurc_gradient,
        direction="lower",
        range=(-0.5, 1.0),
        needs=frozenset({"oracle"}),
        scale="log",
        multi_threshold=True,
        convention="estimator",
        source="Geifman et al. 2019",
    )
)


def _e_augrc(blocks: TieBlocks) -> float:
    return augrc_value(blocks) - augrc_optimal_value(blocks)


def _e_augrc_gradient(blocks: TieBlocks) -> Gradient:
    return augrc_gradient(blocks).plus(augrc_optimal_gradient(blocks).scaled(-1.0))


def e_augrc(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> float:
    r"""Excess AUGRC: AUGRC above that of the best ranking of the same losses.

    .. math:: \text{e-AUGRC} = \text{AUGRC} - \text{AUGRC}^* = (1 - \text{AUROC}_f)\,\text{acc}\,(1-\text{acc})

    (the second form for a 0/1 loss).

    Parameters
    ----------
    loss : array-like of shape (n_samples,)
        Loss per sample, >= 0.
    confidence : array-like of shape (n_samples,)
        Confidence score, higher = surer.
    sample_weight : array-like of shape (n_samples,), optional
        Weights >= 0, on both axes; default 1 each.
    nan_policy : {"raise", "reject", "drop"}
        What a NaN score means: an error, accepted last, or left out; see :class:`abstain.TieBlocks`.

    Returns
    -------
    float
        In [0, acc (1 - acc)] for a 0/1 loss; 0 for the best ranking; lower is better.

    Raises
    ------
    ValueError, TypeError
        Bad columns.

    Notes
    -----
    Ties are accepted together and count as half resolved.

    References
    ----------
    Traub et al. (2024), NeurIPS: Eq. 7.

    Examples
    --------
    >>> import abstain
    >>> abstain.e_augrc([0, 0, 1, 0], [0.9, 0.8, 0.7, 0.6])
    0.0625
    """
    return E_AUGRC.of(loss, confidence, sample_weight, nan_policy)


E_AUGRC = METRICS.register(
    Metric(
        name="e_augrc",
        title="e-AUGRC",
        function=e_augrc,
        value=_e_augrc,
        gradient=_e_augrc_gradient,
        direction="lower",
        range=(0.0, 0.25),
        needs=frozenset({"oracle"}),
        scale="log",
        multi_threshold=True,
        convention="trapezoid",
        source="Traub et al. 2024, Eq. 7",
    )
)


def _normalised(blocks: TieBlocks, value: float, best: float, random: float) -> float:
    if len(blocks.oracle) == 1:  # the rounded span of such losses is no criterion: it need not be 0
        raise Undefined("all losses are equal, so every ranking is the best and the worst at once")
    return (value - best) / (random - best)


def _normalised_gradient(ratio: float, span: float, own: Gradient, best: Gradient, random: Gradient) -> Gradient:
    """Derivative of (value - best)/(random - best) by the quotient rule."""
    return own.plus(best.scaled(ratio - 1.0)).plus(random.scaled(-ratio)).scaled(1.0 / span)


def _naurc(blocks: TieBlocks, estimator: Estimator = "plugin") -> float:
    value, best = aurc_value(blocks, estimator), aurc_optimal_value(blocks, estimator)
    return _normalised(blocks, value, best, aurc_value(blocks.constant, estimator))


def _naurc_gradient(blocks: TieBlocks, estimator: Estimator = "plugin") -> Gradient:
    ratio = _naurc(blocks, estimator)
    span = aurc_value(blocks.constant, estimator) - aurc_optimal_value(blocks, estimator)
    own, best = aurc_gradient(blocks, estimator), aurc_optimal_gradient(blocks, estimator)
    return _normalised_gradient(ratio, span, own, best, aurc_gradient(blocks.constant, estimator))


def naurc(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    estimator: Estimator = "plugin",
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> float:
    r"""Normalised AURC: 0 for the best ranking of these losses, 1 for a constant score.

    .. math:: \text{NAURC} = \frac{\text{AURC} - \text{AURC}^*}{\text{AURC}_\text{random} - \text{AURC}^*}

    Parameters
    ----------
    loss : array-like of shape (n_samples,)
        Loss per sample, >= 0.
    confidence : array-like of shape (n_samples,)
        Confidence score, higher = surer.
    estimator : {"plugin", "interpolated", "trapezoid", "harmonic", "log"}
        Of all three areas.
    sample_weight : array-like of shape (n_samples,), optional
        Weights >= 0, on both axes; default 1 each.
    nan_policy : {"raise", "reject", "drop"}
        What a NaN score means: an error, accepted last, or left out; see :class:`abstain.TieBlocks`.

    Returns
    -------
    float
        >= 0 (``"trapezoid"``: any sign, see :func:`e_aurc`); above 1 is worse than random; lower is better. NaN,
        with a warning, if all losses are equal.

    Raises
    ------
    ValueError, TypeError
        Bad columns; real weights for an estimator on counts.

    Notes
    -----
    Ties are accepted together.

    References
    ----------
    Cattelan & Silva (2023): "How to fix a broken confidence estimator".

    Examples
    --------
    >>> import abstain
    >>> round(abstain.naurc([0, 0, 1, 0], [0.9, 0.8, 0.7, 0.6]), 6)
    0.517214
    """
    return NAURC.using(estimator=estimator).of(loss, confidence, sample_weight, nan_policy)


NAURC = METRICS.register(
    Metric(
        name="naurc",
        title="NAURC",
        function=naurc,
        value=_naurc,
        gradient=_naurc_gradient,
        direction="lower",
        range=(-np.inf, np.inf),
        needs=frozenset({"oracle"}),
        scale="log",
        multi_threshold=True,
        convention="estimator",
        source="Cattelan & Silva 2023",
    )
)


def naugrc_value(blocks: TieBlocks) -> float:
    """Normalised AUGRC of a table."""
    return _normalised(blocks, augrc_value(blocks), augrc_optimal_value(blocks), 0.5 * blocks.mean_loss)


def naugrc_gradient(blocks: TieBlocks) -> Gradient:
    """Derivative of the normalised AUGRC."""
    span = 0.5 * blocks.mean_loss - augrc_optimal_value(blocks)
    return _normalised_gradient(
        naugrc_value(blocks), span, augrc_gradient(blocks), augrc_optimal_gradient(blocks),
        augrc_gradient(blocks.constant),
    )  # fmt: skip


def naugrc(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> float:
    r"""Normalised AUGRC: 0 for the best ranking of these losses, 1 for a constant score.

    .. math:: \text{nAUGRC} = \frac{\text{AUGRC} - \text{AUGRC}^*}{\bar\ell/2 - \text{AUGRC}^*}

    Parameters
    ----------
    loss : array-like of shape (n_samples,)
        Loss per sample, >= 0.
    confidence : array-like of shape (n_samples,)
        Confidence score, higher = surer.
    sample_weight : array-like of shape (n_samples,), optional
        Weights >= 0, on both axes; default 1 each.
    nan_policy : {"raise", "reject", "drop"}
        What a NaN score means: an error, accepted last, or left out; see :class:`abstain.TieBlocks`.

    Returns
    -------
    float
        In [0, 2]; for a 0/1 loss 2 (1 - AUROC_f); lower is better. NaN, with a warning, if all losses are equal.

    Raises
    ------
    ValueError, TypeError
        Bad columns.

    Notes
    -----
    Ties are accepted together. 1 - nAUGRC is the prediction-rejection ratio.

    References
    ----------
    The normalisation of Cattelan & Silva (2023) applied to Traub et al. (2024), Eq. 6.

    Examples
    --------
    >>> import abstain
    >>> round(abstain.naugrc([0, 0, 1, 0], [0.9, 0.8, 0.7, 0.6]), 6)
    0.666667
    """
    return NAUGRC.of(loss, confidence, sample_weight, nan_policy)


NAUGRC = METRICS.register(
    Metric(
        name="naugrc",
        title="nAUGRC",
        function=naugrc,
        value=naugrc_value,
        gradient=naugrc_gradient,
        direction="lower",
        range=(0.0, 2.0),
        needs=frozenset({"oracle"}),
        scale="logit",
        multi_threshold=True,
        convention="trapezoid",
        source="after Cattelan & Silva 2023",
    )
)
