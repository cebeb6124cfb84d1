"""The five synthetic models of the CWSA paper, as a seeded generator."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from abstain._checks import fraction, generator, one_of, whole
from abstain.outputs import Outputs

Kind: TypeAlias = Literal["calibrated", "overconfident", "underconfident", "random", "perfect"]
Interval: TypeAlias = tuple[float, float]

N_CLASSES = 3

#: kind -> probability of being right, confidence interval when right, confidence interval when wrong
MODELS: dict[str, tuple[float, Interval, Interval]] = {
    "calibrated": (14 / 15, (0.8, 1.0), (0.5, 0.7)),
    "overconfident": (14 / 15, (0.9, 1.0), (0.9, 1.0)),
    "underconfident": (14 / 15, (0.3, 0.6), (0.3, 0.6)),
    "random": (1 / N_CLASSES, (0.3, 1.0), (0.3, 1.0)),
    "perfect": (1.0, (1.0, 1.0), (1.0, 1.0)),
}


def synthetic(
    kind: Kind,
    n: int = 1000,
    rng: int | np.random.Generator = 0,
    *,
    p_correct: float | None = None,
    correct: Interval | None = None,
    wrong: Interval | None = None,
) -> Outputs:
    """Draw labels, predictions and confidences of a synthetic three-class model.

    A label is uniform over the classes, a prediction is right with probability ``p_correct`` and otherwise one
    of the two other classes, and its confidence is uniform over an interval that depends on which it is.

    Parameters
    ----------
    kind : {"calibrated", "overconfident", "underconfident", "random", "perfect"}
        The model.
    n : int
        Number of samples.
    rng : int or numpy.random.Generator
        Seed or generator; the same seed gives the same numbers.
    p_correct : float in [0, 1], optional
        Probability of a right prediction; default by kind.
    correct, wrong : pair of floats in [0, 1], optional
        Confidence interval of right and of wrong predictions; default by kind.

    Returns
    -------
    Outputs
        With labels, predictions and confidence.

    Raises
    ------
    ValueError
        Unknown kind, ``n`` < 1, an interval that is empty or leaves [0, 1].

    Notes
    -----
    From Shahnazari et al., *Trust, or don't predict*, section 4.2 and appendix A.4. Where the paper leaves a
    value open it was chosen from the results that it prints:

    ==============  ===========  ============  ============  ====================================================
    kind            p_correct    right         wrong         evidence
    ==============  ===========  ============  ============  ====================================================
    calibrated      14/15        [0.8, 1.0]    [0.5, 0.7]    intervals stated; they give the printed ECE of .13
    overconfident   14/15        [0.9, 1.0]    [0.9, 1.0]    section 5.4; ECE .007 = mean confidence - accuracy
    underconfident  14/15        [0.3, 0.6]    [0.3, 0.6]    printed ECE .487, CWSA .03 and CWSA+ .095 at .5
    random          1/3          [0.3, 1.0]    [0.3, 1.0]    stated; ECE .317 = .65 - 1/3
    perfect         1            1             1             stated
    ==============  ===========  ============  ============  ====================================================

    ``p_correct``: the paper says "e.g. 90 %" and prints 93.8 % and 94.3 % of 1,000, four standard errors
    above. A label drawn at random for the remaining tenth is right in a third of the cases: .9 + .1/3 = 14/15.
    The coverages in the paper's Table 1 do not follow from the intervals that it states for the calibrated model
    (none of these confidences lies in .7 to .8) and cannot be reproduced.

    Examples
    --------
    >>> import abstain
    >>> outputs = abstain.datasets.synthetic("overconfident", rng=1)
    >>> bool(outputs.confidence.min() >= 0.9)
    True
    >>> float(abstain.datasets.synthetic("perfect", n=10).error.sum())
    0.0
    """
    one_of(kind, MODELS, "kind")
    n = whole(n, "n")
    probability, right, mistaken = MODELS[kind]
    probability = probability if p_correct is None else fraction(p_correct, "p_correct")
    right = right if correct is None else _interval(correct, "correct")
    mistaken = mistaken if wrong is None else _interval(wrong, "wrong")

    draws = generator(rng)
    labels = draws.integers(N_CLASSES, size=n)
    hit = draws.random(n) < probability
    predictions = np.where(hit, labels, (labels + draws.integers(1, N_CLASSES, size=n)) % N_CLASSES)
    (low, high), (wrong_low, wrong_high) = right, mistaken
    uniform = draws.random(n)
    confidence = np.where(hit, low + (high - low) * uniform, wrong_low + (wrong_high - wrong_low) * uniform)
    return Outputs(labels=labels, predictions=predictions, confidence=confidence)


def _interval(interval: Interval, name: str) -> Interval:
    try:
        low, high = interval
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a pair (low, high), got {interval!r}") from None
    low, high = fraction(low, name), fraction(high, name)
    if low > high:
        raise ValueError(f"{name} must be (low, high) with low <= high, got {interval!r}")
    return low, high
