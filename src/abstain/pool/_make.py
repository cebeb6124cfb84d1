"""``plan_labels`` and ``load_plan``: a plan from the scores of a pool, or from its file."""

from __future__ import annotations

import math
import os
from typing import Any, Literal, get_args

import numpy as np

from abstain._checks import inside, one_of, positive
from abstain._typing import ArrayLike
from abstain.inference import as_metric
from abstain.metrics import Metric
from abstain.pool import _expect, _names, _plan_file, _stages, _weights
from abstain.pool._pair import FLOOR, Pair
from abstain.pool._plan import LabelPlan
from abstain.pool._pool import Pool
from abstain.pool._stages import Design


def plan_labels(
    confidence: ArrayLike,
    n: int | None = None,
    *,
    halfwidth: float | None = None,
    metric: str | Metric = "augrc",
    design: Design | None = None,
    error_rate: float | None = None,
    judge: ArrayLike | None = None,
    compare: Any = None,
    zone: float | None = None,
    ids: ArrayLike | None = None,
    level: float = 0.95,
    nan_policy: Literal["raise", "reject"] = "raise",
    seed: int | None = None,
) -> LabelPlan:
    r"""Plan which rows of a pool to label, where all scores are known and each label costs.

    Parameters
    ----------
    confidence : array-like of shape (n_rows,)
        The score of every row of the pool, higher = surer.
    n : int, optional
        Labels that can be paid. Give this or ``halfwidth``.
    halfwidth : float > 0, optional
        Half the width of the interval that is wanted; the plan then holds as many rows as it is expected to need.
    metric : str or Metric
        What will be evaluated: AUGRC, AURC, SELE, risk, risk or generalized risk at a coverage, or a smooth function
        of such sums (AUROC of failures, excess and normalised areas). Rows that it does not count are not drawn.
    design : {"uniform", "adaptive", "planned"}
        Default ``"planned"`` with ``compare``, else ``"uniform"``: every row alike. ``"adaptive"``: a quarter first;
        then ``plan.extend(loss)`` draws the rest where labels help, if the first show at least 5 errors; it pays for
        AURC, the error rate and the risk at a coverage. ``"planned"``: more often where the judge says that the model
        is wrong and the metric weighs more; or, with ``compare``, where predictions or ranks differ.
    error_rate : float in (0, 1), optional
        Expected error rate, for the expected half-width; default that of a generic score. From .15 on an adaptive plan
        puts half of its first stage, too, where labels are expected to help.
    judge : array-like of shape (n_rows,), optional
        What a cheap judge says: 1 = the model is wrong, 0 = right, or a number between. It is calibrated on the labels
        and never believed.
    compare : array-like of shape (n_rows,), or (confidence, predictions, predictions), optional
        The second score of the same model; or that of a second model with the predictions of the first and the second.
        ``abstain.compare(..., plan=plan)`` then tests which is better from the labels of the same few rows.
    zone : float in (0, 1], optional
        Draw only from the most confident share of the pool, for a certificate there.
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
    chosen = as_metric(metric)
    _weights.require(chosen)
    if design is not None:
        one_of(design, get_args(Design), "design")
    one_of(nan_policy, ("raise", "reject"), "nan_policy")
    design = design or ("uniform" if compare is None else "planned")
    level = inside(level, "level", 0.95)
    if (n is None) == (halfwidth is None):
        raise TypeError("give exactly one of n (labels that can be paid) and halfwidth (width that is wanted)")
    column = _stages.scores(confidence, nan_policy)
    names = None if ids is None else _names.row_names(ids, len(column))
    word = None if judge is None else _stages.judged(judge, len(column))
    if design == "planned" and word is None and compare is None:
        raise ValueError('design="planned" needs to know something of the rows: give judge= or compare=')
    pool = Pool.of(column, word)
    other, differs = (None, None) if compare is None else _stages.second(compare, len(column), nan_policy)
    if other is not None and (design == "adaptive" or zone is not None or word is not None):
        raise ValueError('compare= goes with design="planned" or "uniform", without zone= and judge=')
    rate = None if error_rate is None else inside(error_rate, "error_rate", 0.1)
    risk = _stages.guessed(pool, rate)
    among = _stages.drawable(chosen, pool, risk, zone)
    square = None
    if other is not None and differs is not None:
        square = Pair(pool, Pool.of(other), differs).sizes(chosen, rate) ** 2
        among = np.arange(pool.n)
    if halfwidth is not None and square is not None:
        raise ValueError("halfwidth= does not plan comparisons yet; give n=, and extend the plan until it is narrow")
    if halfwidth is not None:
        n = _expect.needed(chosen, pool, risk, among, positive(halfwidth, "halfwidth"), level)
    n = _stages.enough(n, len(among), pool.n)
    first = max(1, round(_stages.FIRST * n)) if design == "adaptive" else n
    tempered = _stages.early(design, rate)
    probability = np.zeros(pool.n)
    if square is not None and design == "planned":
        probability = _stages.mixed(np.sqrt(square), first, FLOOR)
    elif design == "planned":
        probability[among] = _stages.mixed(_stages.sizes(chosen, pool, risk)[among], first)
    elif tempered:
        probability[among] = _stages.mixed(_stages.best(chosen, pool, risk)[among], first, _stages.CAUTIOUS)
    else:
        probability[among] = first / len(among)
    known = _stages.seed_of(seed)
    rows = _stages.drawn(
        pool, probability, among, first, known, even=design != "planned" and not tempered,
        digest=_stages.digest(column, word, other, differs, names),
    )  # fmt: skip
    stage = np.zeros(pool.n, dtype=np.int64)
    stage[rows] = 1
    hoped = probability * (n / first) if first < n else probability
    if square is None:
        hope = _expect.expected(chosen, pool, risk, np.minimum(hoped, 1.0), level)
    else:
        hope = _expect.Expected(_expect.of_difference(square, probability, level), math.inf, math.inf, 0.0)
    facts = {
        "seeds": [known], "level": level, "error_rate": rate, "held_back": n - first, "zone": zone, **hope.facts(),
    }  # fmt: skip
    return LabelPlan(column, stage, probability[None, :], chosen.spec, design, names, word, other, differs, facts)


def load_plan(path: str | os.PathLike[str]) -> LabelPlan:
    """Read a plan that :meth:`LabelPlan.save` wrote.

    Parameters
    ----------
    path : path
        A .parquet, .csv or .json file.

    Returns
    -------
    LabelPlan

    Raises
    ------
    FileNotFoundError
        No such file.
    ValueError
        No plan; one that was changed since it was written.

    Examples
    --------
    >>> import pathlib, tempfile, numpy as np, abstain
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "plan.json"
    >>> abstain.plan_labels(np.linspace(0, 1, 100), n=10, seed=0).save(file)
    >>> abstain.pool.load_plan(file).headline()
    'Label 10 of 100 rows · uniform · for AUGRC'
    """
    name, kind = os.fspath(path), _plan_file.kind_of(path)
    if not os.path.isfile(name):
        raise FileNotFoundError(f"{name}: no such file; abstain.plan_labels(...).save(path) writes one")
    try:
        made, rows = _plan_file.read(name, kind)
        n_stages = sum(column.startswith("probability_") for column in rows)
        probability = np.array([_plan_file.numbers(rows[f"probability_{k + 1}"]) for k in range(n_stages)])
        judge = _plan_file.numbers(rows["judge"]) if "judge" in rows else None
        ids = np.array([str(each) for each in rows["id"]]) if made["ids"] else None
        stage = np.array(rows["stage"], dtype=np.int64)
        score, facts = _plan_file.numbers(rows["confidence"]), made["facts"]
        other = _plan_file.numbers(rows["other"]) if "other" in rows else None
        differs = np.array(rows["differs"], dtype=bool) if "differs" in rows else None
        plan = LabelPlan(score, stage, probability, made["metric"], made["design"], ids, judge, other, differs, facts)
    except _plan_file.MovedRows as error:
        raise ValueError(f"{name}: {error}") from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        why = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise ValueError(
            f"{name}: is no plan of labels ({why}); give the file that abstain.plan_labels(...).save(path) writes"
        ) from None
    if plan.digest != made["digest"] or not _sound(plan):
        raise ValueError(
            f"{name}: was changed since it was written: ids, scores, stages or probabilities are not those that were "
            "drawn; write the plan again"
        )
    return plan


def _sound(plan: LabelPlan) -> bool:
    """Whether every stage drew what its probabilities add up to, and no row that could not be drawn."""
    drawn = [plan.stage == k + 1 for k in range(plan.n_stages)]
    sums = [
        abs(chance.sum() - rows.sum()) < 1e-6 * len(chance)
        for chance, rows in zip(plan.probability, drawn, strict=True)
    ]
    could = [bool(np.all(chance[rows] > 0.0)) for chance, rows in zip(plan.probability, drawn, strict=True)]
    inside = bool(np.all((plan.probability >= 0.0) & (plan.probability <= 1.0)))
    return inside and all(sums) and all(could) and bool(plan.stage.max() <= plan.n_stages)
