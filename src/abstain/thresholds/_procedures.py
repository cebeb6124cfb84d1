r"""Procedures and objectives of papers, each as published, next to the default of :func:`abstain.choose_threshold`.

=================================  ====================================================================================
function                           what controls multiplicity
=================================  ====================================================================================
:func:`sgr_threshold`              a binary search with one bound per step (Geifman & El-Yaniv 2017)
:func:`fixed_sequence_threshold`   one walk downward, each test at all of delta (Angelopoulos et al. 2021)
:func:`bonferroni_threshold`       equal shares of delta, binomial or Hoeffding-Bentkus tests (Angelopoulos et al. 2021)
:func:`prespecified_threshold`     the default tests, at thresholds that were fixed before the data were seen
:func:`separate_group_thresholds`  none: each group has a guarantee of its own
:func:`cwsa_threshold`             no certificate: the largest CWSA or CWSA+
=================================  ====================================================================================

To choose among them after seeing the data makes the guarantee void.
"""

from __future__ import annotations

from math import ceil, log2, sqrt
from typing import Literal

import numpy as np

from abstain._checks import FRACTION, failure_probability, one_of, positive, refuse, vector
from abstain._typing import ArrayLike, NanPolicy
from abstain.curve import OperatingPoint
from abstain.policy import Objective
from abstain.thresholds._certify import Found, Search, Tests, from_all, walk_down
from abstain.thresholds._choose import by_group, certified, empirical, objective_of
from abstain.thresholds._clusters import search_clusters
from abstain.thresholds._evidence import binomial
from abstain.thresholds._fallback import positions, schedule
from abstain.thresholds._groups import GroupThresholds
from abstain.thresholds._results import CertifiedThreshold, EmpiricalThreshold
from abstain.thresholds._row_warnings import warn_of_rows
from abstain.thresholds._sample import Sample, in_memory, read


def sgr_threshold(
    loss: ArrayLike, confidence: ArrayLike, *, risk: float, delta: float, nan_policy: NanPolicy = "raise"
) -> CertifiedThreshold:
    r"""Selection with guaranteed risk (SGR): a binary search with one exact bound per step, for 0/1 losses.

    With n rows sorted by confidence and :math:`k = \lceil\log_2 n\rceil` steps, each step takes the row half-way
    between the ends of the search, and the exact upper bound of the risk of what is at least as confident, at level
    :math:`\delta/k`. Below the target the search goes on to more coverage, else to less.

    Parameters
    ----------
    loss, confidence, risk, delta, nan_policy
        As in :func:`abstain.choose_threshold`; the loss is 0/1.

    Returns
    -------
    CertifiedThreshold

    Notes
    -----
    The published algorithm returns its *last* point with its bound, which can be above the target; here the answer is
    the last point whose bound was below it. And its proof adds the error probabilities of the k steps as if their
    positions were fixed, but each depends on the outcome of those before; that is no gap if the selective risk falls as
    the threshold rises (every false step is then the first one on a fixed path), and none showed in our simulations.

    References
    ----------
    Geifman & El-Yaniv (2017), *Selective classification for deep neural networks*, Algorithm 1.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> score = np.arange(1000.0)
    >>> abstain.thresholds.sgr_threshold(score < 100, score, risk=0.05, delta=0.05).procedure
    'sgr'
    """
    search = _search(read(loss, confidence, None, nan_policy), risk, delta)
    _refuse_graded(search, "sgr_threshold")
    return certified(search, sgr(search))


def sgr(search: Search) -> Found:
    """Return the threshold that SGR finds."""
    table, n = search.sample.blocks, search.sample.n
    score, count, errors = table.score, table.cumulative_weight, table.cumulative_loss
    steps = max(1, ceil(log2(n)))
    low, high, found = 1, n, -1  # positions by ascending confidence, as in the paper
    for _ in range(steps):
        middle = -(-(low + high) // 2)
        k = int(np.searchsorted(count, n - middle, side="right"))
        p = binomial(count[k : k + 1], errors[k : k + 1], search.limit)
        if p[0] < search.delta / steps and score[k] > -np.inf:
            high, found = middle, max(found, k)
        else:
            low = middle
    return search.found(found, "sgr", "binomial")


def fixed_sequence_threshold(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    risk: float,
    delta: float,
    thresholds: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> CertifiedThreshold:
    """Certify by one fixed sequence of exact binomial tests, each at all of delta, up to the first that fails.

    Parameters
    ----------
    loss, confidence, risk, delta, nan_policy
        As in :func:`abstain.choose_threshold`; the loss is 0/1.
    thresholds : array-like, optional
        Thresholds that were fixed before the data were seen, tested from the highest on. Default: every attainable one,
        from a rank on that n, risk and delta fix.

    Returns
    -------
    CertifiedThreshold

    References
    ----------
    Angelopoulos et al. (2021), *Learn then Test*. The start at a rank is ours.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> score = np.arange(1000.0)
    >>> abstain.thresholds.fixed_sequence_threshold(score < 100, score, risk=0.05, delta=0.05).procedure
    'fixed_sequence'
    """
    search = _search(read(loss, confidence, None, nan_policy), risk, delta, thresholds)
    _refuse_graded(search, "fixed_sequence_threshold")
    return certified(search, fixed_sequence(search))


def fixed_sequence(search: Search) -> Found:
    """Return the threshold that a fixed sequence of tests finds."""

    def walk(tests: Tests, n: int, delta: float) -> int:
        start = np.zeros(1, dtype=np.int64)  # of prespecified thresholds the highest
        if search.thresholds is None:  # the first rank of the default procedure
            start = positions(tests.count, schedule(n, tests.limit, delta)[0][:1])
        return walk_down(tests, start, np.full(len(start), delta))

    return search.walked(walk, "fixed_sequence", "binomial")


def bonferroni_threshold(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    risk: float,
    delta: float,
    bound: Literal["binomial", "hoeffding-bentkus"] = "binomial",
    thresholds: ArrayLike | None = None,
    max_loss: float | None = None,
    sample_weight: ArrayLike | None = None,
    max_weight: float | None = None,
    nan_policy: NanPolicy = "raise",
) -> CertifiedThreshold:
    r"""Certify with equal shares of delta for :math:`\lceil\sqrt n\rceil` thresholds at evenly spaced ranks.

    Parameters
    ----------
    loss, confidence, risk, delta, max_loss, sample_weight, max_weight, nan_policy
        As in :func:`abstain.choose_threshold`.
    bound : {"binomial", "hoeffding-bentkus"}
        The test: exact for 0/1 losses without weights, or Hoeffding-Bentkus for any loss up to ``max_loss``.
    thresholds : array-like, optional
        Thresholds that were fixed before the data were seen, in the place of those at ranks.

    Returns
    -------
    CertifiedThreshold

    Raises
    ------
    ValueError, TypeError
        What :func:`abstain.choose_threshold` refuses; ``bound="binomial"`` for real losses or weights.

    References
    ----------
    Angelopoulos et al. (2021), *Learn then Test*; Bates et al. (2021) for the Hoeffding-Bentkus test.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> score = np.arange(1000.0)
    >>> loss = 0.5 * (score < 100)
    >>> options = {"risk": 0.1, "delta": 0.05, "max_loss": 1.0, "bound": "hoeffding-bentkus"}
    >>> abstain.thresholds.bonferroni_threshold(loss, score, **options).attainable
    True
    """
    sample = read(loss, confidence, sample_weight, nan_policy)
    search = _search(sample, risk, delta, thresholds, max_loss, max_weight)
    if one_of(bound, ("binomial", "hoeffding-bentkus"), "bound") == "binomial":
        _refuse_graded(search, "bound='binomial'")
    return certified(search, bonferroni(search, bound))


def bonferroni(search: Search, bound: str = "binomial") -> Found:
    """Return the threshold that tests with equal shares of delta find."""

    def walk(tests: Tests, n: int, delta: float) -> int:
        many = len(tests.count)
        level = np.full(many, delta / max(1, many))
        if search.thresholds is None:
            many = ceil(sqrt(n))
            rank = np.ceil(np.arange(1, many + 1) * n / many).astype(np.int64)
            level[:] = 0.0
            np.add.at(level, positions(tests.count, rank), delta / many)
        passed = np.flatnonzero((level > 0.0) & (tests.p_value(0, len(level)) <= level))
        return int(passed[-1]) if passed.size else -1

    return search.walked(walk, "bonferroni", bound)


def prespecified_threshold(
    loss: ArrayLike,
    confidence: ArrayLike,
    thresholds: ArrayLike,
    *,
    risk: float,
    delta: float,
    bound: Literal["hoeffding-bentkus"] | None = None,
    max_loss: float | None = None,
    sample_weight: ArrayLike | None = None,
    max_weight: float | None = None,
    clusters: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> CertifiedThreshold:
    """Certify one of a few thresholds that were fixed before the data were seen.

    Parameters
    ----------
    loss, confidence, risk, delta, max_loss, sample_weight, max_weight, clusters, nan_policy
        As in :func:`abstain.choose_threshold`.
    thresholds : array-like
        One of them is the answer: the lowest that is certified by a fallback procedure with equal shares of delta.
    bound : "hoeffding-bentkus", optional
        The test; default: exact binomial for 0/1 losses without weights, else betting, which tests all at once.

    Returns
    -------
    CertifiedThreshold

    References
    ----------
    Wiens (2003) for the fallback procedure; Angelopoulos et al. (2021).

    Examples
    --------
    >>> import numpy as np, abstain
    >>> score = np.arange(59.0)
    >>> abstain.thresholds.prespecified_threshold(0 * score, score, [0.0], risk=0.05, delta=0.05).threshold
    0.0
    """
    sample = read(loss, confidence, sample_weight, nan_policy, clusters)
    search = _search(sample, risk, delta, thresholds, max_loss, max_weight)
    if clusters is not None:
        if bound is not None:
            raise ValueError("bound= of independent rows is not valid for clusters; leave it out")
        return certified(search, search_clusters(search))
    if bound is None:
        return certified(search, search.default())
    one_of(bound, ("hoeffding-bentkus",), "bound")
    return certified(search, search.walked(from_all, "fallback", bound))


def separate_group_thresholds(
    loss: ArrayLike,
    confidence: ArrayLike,
    groups: ArrayLike,
    *,
    risk: float,
    delta: float,
    max_loss: float | None = None,
    clusters: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> GroupThresholds:
    """Certify a threshold for each group, each guarantee by itself: ``delta`` is that of each, not of all together.

    Parameters
    ----------
    loss, confidence, groups, risk, delta, max_loss, clusters, nan_policy
        As in :func:`abstain.choose_threshold`.

    Returns
    -------
    GroupThresholds

    Examples
    --------
    >>> import numpy as np, abstain
    >>> score = np.arange(200.0)
    >>> options = {"groups": score % 2, "risk": 0.05, "delta": 0.05}
    >>> found = abstain.thresholds.separate_group_thresholds(np.zeros(200), score, **options)
    >>> found.groups["0.0"].delta, abstain.choose_threshold(np.zeros(200), score, **options).groups["0.0"].delta
    (0.05, 0.025)
    """
    whole, each = in_memory(loss, confidence, None, groups, clusters, nan_policy)
    return by_group(whole, each, objective_of(risk, delta=delta), "each", max_loss)


def cwsa_threshold(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    metric: Literal["cwsa", "cwsa_plus"] = "cwsa",
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> EmpiricalThreshold | GroupThresholds:
    """Choose the threshold of the largest CWSA or CWSA+, over all attainable thresholds in [0, 1); no certificate.

    Parameters
    ----------
    loss, confidence, sample_weight, groups, nan_policy
        As in :func:`abstain.choose_threshold`.
    metric : {"cwsa", "cwsa_plus"}

    Returns
    -------
    EmpiricalThreshold or GroupThresholds

    Examples
    --------
    >>> import abstain
    >>> abstain.thresholds.cwsa_threshold([0, 0, 1, 0], [0.9, 0.8, 0.7, 0.6]).threshold
    0.7
    """
    one_of(metric, ("cwsa", "cwsa_plus"), "metric")
    whole, each = in_memory(loss, confidence, sample_weight, groups, None, nan_policy)
    if groups is None:
        return _largest(whole, metric)
    return GroupThresholds(
        {name: _largest(make(), metric) for name, make in each.items()}, None, "all", whole.fingerprint
    )


def _largest(sample: Sample, metric: str) -> EmpiricalThreshold:
    from abstain.metrics import cwsa_sweep

    curve = sample.curve
    usable = curve.threshold[(curve.threshold >= 0.0) & (curve.threshold < 1.0)]
    if usable.size:
        scored = sample.score > -np.inf
        weight = None if sample.weight is None else sample.weight[scored]
        swept = cwsa_sweep(sample.loss[scored], sample.score[scored], thresholds=usable, sample_weight=weight)[metric]
        point = curve.at(threshold=float(usable[np.flatnonzero(swept == swept.max())[-1]]))
    else:
        reason = f"{metric} needs a threshold in [0, 1), and no score lies there"
        point = OperatingPoint(np.nan, np.nan, np.nan, np.nan, 0, sample.n, reason)
    return empirical(sample, Objective(metric=metric), point)


def _search(
    sample: Sample,
    risk: float,
    delta: float,
    thresholds: ArrayLike | None = None,
    max_loss: float | None = None,
    max_weight: float | None = None,
) -> Search:
    """Check what is given, and warn of rows on which a guarantee may not hold."""
    risk, delta, fixed = positive(risk, "risk", FRACTION), failure_probability(delta), None
    if thresholds is not None:
        fixed = vector(thresholds, "thresholds", np, None) + 0.0
        refuse(np.isnan(fixed), fixed, "thresholds", "holds NaN", "give the scores at which to test", np)
        fixed = np.unique(fixed[fixed > -np.inf])[::-1]
    sample.refuse_infinite()
    warn_of_rows(sample, stacklevel=4)
    return Search(sample, risk, delta, max_loss, max_weight, fixed)


def _refuse_graded(search: Search, what: str) -> None:
    if not search.exact:
        raise ValueError(f"{what} is exact for 0/1 losses without weights or max_loss=; choose_threshold bets")
