"""``choose_among``: several scores, or temperatures of one, and still one valid guarantee."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

import numpy as np

from abstain import metrics
from abstain._checks import failure_probability, generator, same_length, vector
from abstain._typing import ArrayLike, FloatArray, IntArray, NanPolicy
from abstain.blocks import TieBlocks
from abstain.thresholds._choose import choose_threshold
from abstain.thresholds._results import CertifiedThreshold

#: Up to so many candidates share delta; more are chosen on a part of the rows. Fixed (benchmarks/certificates.py).
FEW, FEW_OF_FEW_ROWS, ROWS = 5, 2, 1000
#: Part of the rows that chooses.
PART = 1 / 3


@dataclass(frozen=True)
class ChosenAmong:
    """A certified threshold of one of several candidates, with a guarantee that allows for the choice.

    Parameters
    ----------
    name : str
        The candidate; where nothing is certified the one that came nearest by the rule.
    found : CertifiedThreshold
        Its threshold.
    rule : str
        ``"shared"``: each candidate was tested with its share of delta, and the largest coverage taken;
        ``"split"``: a third of the rows chose by AUGRC, the others certified.
    each : dict of str to CertifiedThreshold
        With ``"shared"`` the certificates of all candidates, each at its share: they hold together.
    seed : int or None
        Of the random split of the rows.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> rng = np.random.default_rng(0)
    >>> ease = rng.random(2000)
    >>> wrong = rng.random(2000) > ease ** 0.1
    >>> scores = {"good": ease, "noisy": ease + rng.normal(0, 0.3, 2000)}
    >>> chosen = abstain.choose_among(wrong, scores, risk=0.05, delta=0.05)
    >>> chosen.name, chosen.rule, chosen.attainable
    ('good', 'shared', True)
    """

    name: str
    found: CertifiedThreshold
    rule: str
    each: Mapping[str, CertifiedThreshold]
    seed: int | None

    @property
    def attainable(self) -> bool:
        """Whether any candidate reached the limit."""
        return self.found.attainable


def choose_among(
    loss: ArrayLike,
    candidates: Mapping[str, ArrayLike],
    *,
    risk: float,
    delta: float,
    max_loss: float | None = None,
    nan_policy: NanPolicy = "raise",
    rng: int | np.random.Generator | None = None,
) -> ChosenAmong:
    r"""Certify the best of several scores: the guarantee allows for the choice.

    With K candidates, K <= 5 (2 below 1,000 rows), each is certified at :math:`\delta/K`, and the one with the largest
    coverage is the answer: valid by the union bound, without randomization. With more, a third of the rows, drawn at
    random, chooses by AUGRC, and the others certify at :math:`\delta`. The rule depends on K and n only.

    Parameters
    ----------
    loss : array-like of shape (n_samples,)
        Loss >= 0 of each row, the same for all candidates.
    candidates : mapping of str to array-like of shape (n_samples,)
        Confidence scores, or one score at several temperatures. All that were ever looked at on these rows.
    risk, delta, max_loss, nan_policy
        As in :func:`abstain.choose_threshold`.
    rng : int or numpy.random.Generator, optional
        Draws the rows that choose; default: from the system. The seed is in the result.

    Returns
    -------
    ChosenAmong

    Raises
    ------
    ValueError, TypeError
        No candidate; columns of different lengths; what :func:`abstain.choose_threshold` refuses.

    Notes
    -----
    Candidates with different predictions have different losses; this function is for several scores of one model.

    Examples
    --------
    >>> import abstain
    >>> scores = {"up": range(100), "down": range(100, 0, -1)}
    >>> wrong = [1] * 10 + [0] * 90
    >>> chosen = abstain.choose_among(wrong, scores, risk=0.1, delta=0.1)
    >>> chosen.name, chosen.found.delta
    ('up', 0.05)
    """
    if not isinstance(candidates, Mapping) or not candidates:
        raise TypeError(f"candidates must be a mapping of names to scores with at least one, got {candidates!r}")
    delta = failure_probability(delta)
    losses = vector(loss, "loss", np, None)
    scores = {str(name): vector(column, f"candidates[{name!r}]", np, None) for name, column in candidates.items()}
    same_length(loss=losses, **scores)

    def certified(rows: IntArray, score: FloatArray, delta: float) -> CertifiedThreshold:
        found = choose_threshold(rows, score, risk=risk, delta=delta, max_loss=max_loss, nan_policy=nan_policy)
        assert isinstance(found, CertifiedThreshold)
        return found

    if len(scores) <= (FEW if len(losses) >= ROWS else FEW_OF_FEW_ROWS):
        each = {name: certified(losses, column, delta / len(scores)) for name, column in scores.items()}
        name = max(each, key=lambda one: each[one].coverage)
        return ChosenAmong(name, each[name], "shared", each, None)
    seed = int(generator(rng).integers(2**63))
    chooses = np.zeros(len(losses), dtype=bool)
    chooses[np.random.default_rng(seed).permutation(len(losses))[: ceil(PART * len(losses))]] = True
    scaled = losses[chooses] / max(1.0, float(losses[chooses].max()))  # to [0, 1], which changes no order
    tables = {name: TieBlocks.from_samples(scaled, each[chooses], nan_policy="reject") for name, each in scores.items()}
    augrc = metrics.get("augrc")
    name = min(scores, key=lambda name: augrc(tables[name]))
    found = certified(losses[~chooses], scores[name][~chooses], delta)
    return ChosenAmong(name, found, "split", {name: found}, seed)
