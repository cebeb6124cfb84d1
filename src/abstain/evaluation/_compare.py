"""``compare``: which score or model is better, really? Paired tests on the same samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from abstain._checks import generator, one_of, whole
from abstain._typing import ArrayLike
from abstain.evaluation._comparison import Comparison, compared
from abstain.evaluation._counted import counted_panel, refuse_draws
from abstain.evaluation._few_labels import compared_pool
from abstain.inference import (
    Adjust,
    Asked,
    Losses,
    Method,
    Scores,
    as_metric,
    check_level,
    paired,
    panel,
)
from abstain.metrics import Metric
from abstain.outputs import refuse_without_frame


def compare(
    loss: Losses | str | Mapping[str, str] | None = None,
    scores: Scores | Iterable[str] | Mapping[str, str] | None = None,
    metric: str | Metric = "augrc",
    *,
    frame: Any = None,
    level: float = 0.95,
    adjust: Adjust = "holm",
    method: Method = "auto",
    sample_weight: ArrayLike | str | None = None,
    strata: ArrayLike | None = None,
    clusters: ArrayLike | str | None = None,
    paired_runs: bool | None = None,
    n_resamples: int = 1000,
    n_permutations: int = 9999,
    rng: int | np.random.Generator | None = 0,
    plan: Any = None,
    **columns: Any,
) -> Comparison:
    r"""Compare scores, or models with losses of their own, on the same samples: every pair by a paired test.

    .. math:: z = \frac{\hat\theta_a - \hat\theta_b}{\text{SE}_d},\qquad
              \text{SE}_d^2 = \frac{1}{W^2}\sum_i w_i^2 (\text{IF}^a_i - \text{IF}^b_i)^2

    from the influence functions, all pairs out of one covariance matrix. Several training runs: the metric is
    averaged over runs, and the training variance is added,

    .. math:: \text{SE}^2 = \lVert\bar t\rVert^2 + \max(0,\ S^2 - I)/R

    with the between-run variance :math:`S^2` and the test-set noise I that it holds; Student's t with Welch and
    Satterthwaite's degrees of freedom.

    Parameters
    ----------
    loss : array-like of shape (n_samples,) or (n_runs, n_samples), or a dict of such
        One loss for all scores, or one per model, by the names in ``scores``.
    scores : dict of array-likes of shape (n_samples,) or (n_runs, n_samples)
        Confidence scores by name, all on the same samples in the same order.
    frame : lazy frame, pattern or folder of Parquet files, optional
        The rows, of which only counts come back, see the notes. ``scores`` are then names of columns, or a dict of name
        to column; ``loss`` the name of one column or a dict of name to column, or found as by
        :func:`abstain.evaluate`; ``sample_weight`` and ``clusters`` are names.
    metric : str or Metric
        A name, a spec such as ``"selective_risk(coverage=0.8)"``, or a metric.
    level : float in (0, 1)
        Of intervals; tests are at 1 - level.
    adjust : {"holm", "max-t", "none"}
        ``"holm"``: p-values by Holm's step-down; intervals stay those of single differences. ``"max-t"``: p-values
        and simultaneous intervals by the joint distribution of all differences.
    method : {"auto", "influence", "bootstrap", "permutation"}
        ``"auto"``: influence functions, and a bootstrap standard error for metrics without one. Below 100 errors, or
        right answers, under one loss (and 5,000 samples times pairs) p-values are from 1,999 swaps within samples or
        clusters, which find more; intervals stay. An error that was not seen is allowed for where one score moves rows
        in one direction. ``"influence"``: no swaps, and such an error is allowed for anywhere, which costs power.
        ``"permutation"``: p-values from swapping ranks within samples (small samples; one run), see
        :func:`abstain.inference.permutation_test`.
    sample_weight, strata, clusters : array-like of shape (n_samples,), optional
        As in :func:`abstain.standard_error`.
    paired_runs : bool, optional
        Whether run r of all scores is one and the same training (then differences are taken run by run), or models
        were trained independently. Default: paired where all scores share the losses.
    n_resamples, n_permutations : int
        For the methods of that name.
    rng : int or Generator
    plan : LabelPlan, optional
        Only the rows of this plan are labelled; losses are NaN elsewhere. It is made by
        ``plan_labels(a, n, compare=...)`` for two scores, given here in the same order.
    **columns
        With ``frame``: which other column is what, as in :func:`read_outputs` (``labels="y"``).

    Returns
    -------
    Comparison
        Scores with the same ranking: difference 0, standard error 0, p = 1.

    Raises
    ------
    UnmetNeed
        The metric needs what the input does not hold, or has no valid test.
    ValueError, TypeError
        Fewer than two scores, equal names, unequal lengths, NaN, an undefined metric, an unknown option.

    See Also
    --------
    ranking_study, abstain.inference.samples_for_difference

    Notes
    -----
    The plain difference is tested, never a ratio or its logarithm (16.8 % false alarms at a nominal 5 % with few
    errors). At the 5 % level two exchangeable scores differ "significantly" in 2.0 to 6.8 % of simulations
    (AURC and AUGRC, n = 200 to 10000, ties and different models included, Monte Carlo errors 0.9 to 2.5); with few
    errors the test is conservative. Student's t has at most one degree of freedom less than there are samples, clusters
    or resamples; in clusters of unequal size as many as these leave to normal sums (3 to 5 % differ). Metrics that are
    divided by what the losses allow are tested like a mean of k values, by Student's t, as in
    :func:`abstain.confidence_interval`: with ten errors DeLong's test of AUROC_f
    rejects too often. At a coverage where wide ties make the threshold jump, ``"auto"`` takes the bootstrap.

    Of a ``frame`` one ``group_by`` over all scores, losses, weight and cluster comes back, from which estimates and
    differences follow as from the rows. What draws rows is refused by name, and so are more than 20 million different
    ones.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson (1988) for AUROC, of which this is the general form. Holm (1979); Hothorn, Bretz &
    Westfall (2008), max-t; Piepho (2004), letters.

    Examples
    --------
    >>> import abstain
    >>> outputs = abstain.datasets.load("llama3_70b_mmlu")
    >>> result = abstain.compare(outputs.loss_per_sample(), outputs.scores, metric="augrc")
    >>> print(result)
    msp ranks errors better than max_logit: AUGRC 0.06042 against 0.07056,
      p < 0.001.
      coverage at 5 % risk 51.1 % against 14.8 % (36.3 [21.0, 51.9]), p < 0.001
    ! msp was selected on these rows. Choose its threshold on new rows.
    <BLANKLINE>
    AUGRC ↓ · 6000 samples · influence · tests at 0.05
    <BLANKLINE>
                                                  Standard
    Score      Rank                   Estimate ↓     error  Letters
    msp           1  0.06042* [0.05643, 0.06469]  0.002104  a
    max_logit     2  0.07056  [0.06611, 0.07532]  0.002347  b
    <BLANKLINE>
    Better - worse           Difference [interval]         p  differ
    msp - max_logit  -0.01014 [-0.01176, -0.00853]  < 0.0001  yes
    <BLANKLINE>
    In brackets: 95 % confidence interval.
    Scores that share a letter do not differ significantly.
    * best of its column
    note: one training run: how much another run would differ is unknown
    """
    level = check_level(level)
    one_of(adjust, ("holm", "max-t", "none"), "adjust")
    one_of(method, ("auto", "influence", "bootstrap", "permutation"), "method")
    whole(n_resamples, "n_resamples", 2, usual=1000)
    whole(n_permutations, "n_permutations", usual=9999)
    chosen = as_metric(metric)
    if frame is not None:
        apart = {"strata": strata, "plan": plan, "paired_runs": paired_runs}
        named = {"sample_weight": sample_weight, "clusters": clusters} | columns
        counts, fingerprint = counted_panel(frame, loss, scores, apart, named)
        refuse_draws(chosen, method, counts)
        tests = paired(chosen, counts, level=level, adjust=adjust, method=method, rng=generator(rng))
        found = compared(chosen, Asked(counts, level, draws=False), tests, adjust)
        return replace(found, fingerprint=fingerprint)
    refuse_without_frame("compare", columns, loss=loss, scores=scores)
    if plan is not None:
        given = {"sample_weight": sample_weight, "strata": strata, "clusters": clusters, "paired_runs": paired_runs}
        return compared_pool(loss, scores, chosen, level, plan, given)
    given_scores: Any = scores
    checked = panel(loss, given_scores, sample_weight, strata, clusters, paired_runs)
    if method == "permutation" and max(checked.n_runs) > 1:
        raise ValueError('method="permutation" cannot see training noise; compare several runs by method="influence"')
    tests = paired(
        chosen,
        checked,
        level=level,
        adjust=adjust,
        method=method,
        n_resamples=n_resamples,
        n_permutations=n_permutations,
        rng=generator(rng),
    )
    return compared(chosen, Asked(checked, level), tests, adjust)
