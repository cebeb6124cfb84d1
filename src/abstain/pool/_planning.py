"""``plan_labels``: which rows of a pool to label, from its scores."""

from __future__ import annotations

import math
import warnings
from statistics import NormalDist
from typing import Literal, get_args

import numpy as np

from abstain._checks import inside, one_of, positive, vector
from abstain._typing import ArrayLike, BoolArray, FloatArray, IntArray
from abstain.inference import as_metric
from abstain.metrics import Metric
from abstain.pool import _pair, _sampling
from abstain.pool._estimate import require
from abstain.pool._labels import row_names
from abstain.pool._plan import LabelPlan, digest_of
from abstain.pool._pool import Pool, guessed
from abstain.pool._sampling import Design, PlanFacts, weights

#: Of the largest weight, as a part of what a levelled plan lets a label stand for: above it such a plan is the default.
HEAVY = 1.25


def plan_labels(
    confidence: ArrayLike,
    n: int | None = None,
    *,
    halfwidth: float | None = None,
    metric: str | Metric = "augrc",
    design: Design | None = None,
    error_rate: float | None = None,
    judge: ArrayLike | None = None,
    compare: ArrayLike | None = None,
    region: float | None = None,
    ids: ArrayLike | None = None,
    level: float = 0.95,
    nan_policy: Literal["raise", "reject"] = "raise",
    seed: int | None = None,
    zone: float | None = None,
) -> LabelPlan:
    r"""Plan which rows of a pool to label, where all scores are known and each label costs.

    Parameters
    ----------
    confidence : array-like of shape (n_rows,)
        The score of every row of the pool, higher = more confident.
    n : int, optional
        Labels that can be paid. Give this or ``halfwidth``.
    halfwidth : float > 0, optional
        Half the width of the interval that is wanted; the plan then holds as many rows as it is expected to need.
    metric : str or Metric
        What will be evaluated: AUGRC, AURC, SELE, risk, risk or generalized risk at a coverage, or a smooth function
        of such sums (AUROC of failures, excess and normalised areas). Rows that it does not count are not drawn.
    design : {"uniform", "levelled", "adaptive", "planned"}
        Default ``"planned"`` with ``compare``, else ``"levelled"`` for metrics that count an error at a few rows far
        above one at others, such as AURC, and ``"uniform"`` for all others and for a region. ``"uniform"``: every row
        alike. ``"levelled"``: rows that count more than twice the mean are drawn as much more often.
        ``"adaptive"``: a quarter first; then ``plan.extend(loss)`` draws the rest where labels help, if the first show
        at least 5 errors; it pays for AURC, the error rate and the risk at a coverage. ``"planned"``: more often where
        the judge says that the model is wrong and the metric weighs more; or, with ``compare``, where predictions or
        ranks differ.
    error_rate : float in (0, 1), optional
        Expected error rate, for the expected half-width; default that of a generic score. From .15 on an adaptive plan
        puts half of its first stage, too, where labels are expected to help.
    judge : array-like of shape (n_rows,), optional
        What a cheap judge says: 1 = the model is wrong, 0 = right, or a number between. It is calibrated on the labels
        and never believed.
    compare : array-like of shape (n_rows,), or (confidence, predictions, predictions), optional
        The second score of the same model; or that of a second model with the predictions of the first and the second.
        ``abstain.compare(..., plan=plan)`` then tests which is better from the labels of the same few rows.
    region : float in (0, 1], optional
        Draw only from this share of the pool, the most confident rows, for a certificate there.
    ids : array-like of shape (n_rows,), optional
        Names of the rows, to find labels by: text, numbers, dates or UUIDs, each once. They are found again where a
        frame or file spells such a number or date otherwise.
    level : float in (0, 1)
        Of the interval that is planned for.
    nan_policy : {"raise", "reject"}
        What a NaN score means: an error, or the least confident.
    seed : int, optional
        Of the draw; default a new one, which the plan records. The same seed draws the same rows of the same pool, and
        independently of another: a seed may serve for every week's pool.
    zone : float, optional
        Former name of ``region``, which warns.

    Returns
    -------
    LabelPlan

    Raises
    ------
    UnmetNeed
        A metric that is no function of sums of losses, such as coverage at a risk or a calibration error.
    ValueError, TypeError
        NaN scores; ids that are missing or occur twice; more labels than rows; not exactly one of ``n`` and
        ``halfwidth``.

    Notes
    -----
    Every draw has a fixed size and exact inclusion probabilities. A uniform plan is a simple random sample.

    References
    ----------
    Neyman (1934) for unequal probabilities; Zrnic and Candes (2024) for stages.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> score = np.random.default_rng(0).random(5000)
    >>> plan = abstain.plan_labels(score, n=200, seed=1)
    >>> plan.rows_to_label.size, float(plan.inclusion[0])
    (200, 0.04)
    >>> abstain.plan_labels(score, halfwidth=0.01, error_rate=0.1, seed=1).rows_to_label.size
    572
    """
    if zone is not None:
        warnings.warn("zone= is now region=", FutureWarning, stacklevel=2)
        region = zone
    chosen = as_metric(metric)
    require(chosen)
    if design is not None:
        one_of(design, get_args(Design), "design")
    one_of(nan_policy, ("raise", "reject"), "nan_policy")
    level = inside(level, "level", 0.95)
    if (n is None) == (halfwidth is None):
        raise TypeError("give exactly one of n (labels that can be paid) and halfwidth (width that is wanted)")
    column = scores(confidence, nan_policy)
    names = None if ids is None else row_names(ids, len(column))
    word = None if judge is None else judged(judge, len(column))
    if design is None and compare is not None:
        design = "planned"
    if design == "planned" and word is None and compare is None:
        raise ValueError('design="planned" needs to know something of the rows: give judge= or compare=')
    pool = Pool.of(column, word)
    other, differs = (None, None) if compare is None else second(compare, len(column), nan_policy)
    if other is not None and (design == "adaptive" or region is not None or word is not None):
        raise ValueError('compare= goes with design="planned" or "uniform", without region= and judge=')
    rate = None if error_rate is None else inside(error_rate, "error_rate", 0.1)
    risk = guessed(pool, rate)
    among = drawable(chosen, pool, risk, region)
    size = _sampling.levelled(chosen, pool, risk, among)
    if design is None:
        design = "levelled" if region is None and size.max() > HEAVY else "uniform"
    if design != "levelled":
        size = np.ones(len(among))
    square = None
    if other is not None and differs is not None:
        square = _pair.Pair(pool, Pool.of(other), differs).sizes(chosen, rate) ** 2
        among = np.arange(pool.n)
    if halfwidth is not None and square is not None:
        raise ValueError("halfwidth= does not plan comparisons yet; give n=, and extend the plan until it is narrow")
    if halfwidth is not None:
        n = _sampling.needed(chosen, pool, risk, among, positive(halfwidth, "halfwidth"), level, size)
    n = _sampling.enough(n, len(among), pool.n)
    first = max(1, round(_sampling.FIRST * n)) if design == "adaptive" else n
    tempered = _sampling.early(design, rate)
    probability = np.zeros(pool.n)
    if square is not None and design == "planned":
        probability = _sampling.mixed(np.sqrt(square), first, _pair.FLOOR)
    elif design == "planned":
        probability[among] = _sampling.mixed(_sampling.sizes(chosen, pool, risk)[among], first)
    elif tempered:
        probability[among] = _sampling.mixed(_sampling.best(chosen, pool, risk)[among], first, _sampling.CAUTIOUS)
    else:
        probability[among] = _sampling.proportional(size, first)
    known = _sampling.seed_of(seed)
    rng = _sampling.generator(known, 0, digest_of(column, word, other, differs, names))
    even = design in ("uniform", "adaptive") and not tempered
    rows = _sampling.drawn(pool, probability, among, first, rng, even=even)
    stage = np.zeros(pool.n, dtype=np.int64)
    stage[rows] = 1
    if square is None:
        hoped = np.minimum(probability * (n / first), 1.0)
        hope = _sampling.expected(chosen, pool, risk, hoped, level)
    else:
        spread = math.sqrt(_sampling.draw_variance(square, probability))
        hope = _sampling.Expected(NormalDist().inv_cdf(0.5 + 0.5 * level) * spread, math.inf, math.inf, 0.0)
    facts = PlanFacts((known,), level, error_rate, n - first, region, hope)
    return LabelPlan(column, stage, probability[None, :], chosen.spec, design, names, word, other, differs, facts)


# ---------------------------------------------------------------------- what is given


def scores(confidence: ArrayLike, nan_policy: str) -> FloatArray:
    """Return the scores of a pool; one that is missing is refused or ranked last."""
    column: FloatArray = np.array(vector(confidence, "confidence", np, None), dtype=np.float64) + 0.0
    missing = np.isnan(column)
    if missing.any() and nan_policy == "raise":
        raise ValueError(
            f"confidence is NaN in {int(missing.sum())} of {len(column)} rows (first: row {int(np.argmax(missing)) + 1}"
            '); give nan_policy="reject" to rank these last, or leave them out of the pool'
        )
    column[missing] = -np.inf
    return column


def judged(judge: ArrayLike, n: int) -> FloatArray:
    """Return what a judge says of every row."""
    word: FloatArray = np.array(vector(judge, "judge", np, None), dtype=np.float64)
    if len(word) != n:
        raise ValueError(f"judge must hold one value per row: {n} rows, but {len(word)} values")
    bad = ~((word >= 0.0) & (word <= 1.0))
    if bad.any():
        raise ValueError(
            f"judge is no number in [0, 1] in {int(bad.sum())} of {n} rows (first: row {int(np.argmax(bad)) + 1}); ask "
            "it of every row: 1 = the model is wrong, 0 = right"
        )
    return word


def drawable(metric: Metric, pool: Pool, risk: FloatArray, region: float | None) -> IntArray:
    """Return the rows that the metric counts, or the most confident ones where a region is named."""
    if region is None:
        return np.flatnonzero(weights(metric, pool, risk) != 0.0)
    if not isinstance(region, int | float) or not 0.0 < region <= 1.0:
        raise ValueError(f"region must lie in (0, 1], the most confident share of the pool, got {region!r}")
    inside_region = pool.blocks.cumulative_weight <= region * pool.n + 1e-9
    if not inside_region.any():
        first = pool.blocks.cumulative_weight[0] / pool.n
        raise ValueError(
            f"region={region:g} holds no whole tie: the most confident {first:.4g} of the rows share one score; give "
            "at least that"
        )
    return np.flatnonzero(inside_region[pool.block])


def second(compare: ArrayLike, n: int, nan_policy: str) -> tuple[FloatArray, BoolArray]:
    """Return the second score, and where the predictions differ: nowhere, if they are those of one model."""
    three = isinstance(compare, tuple) and len(compare) == 3
    column = scores(compare[0] if three else compare, nan_policy)
    if len(column) != n:
        raise ValueError(f"compare must hold one score per row: {n} rows, but {len(column)} scores")
    if not three:
        return column, np.zeros(n, dtype=bool)
    first, other = (np.asarray(each) for each in compare[1:])
    if first.shape != (n,) or other.shape != (n,):
        raise ValueError(f"compare= needs {n} predictions of each model, got {first.shape} and {other.shape}")
    return column, np.asarray(first != other)
