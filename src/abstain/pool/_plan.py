"""``LabelPlan``: which rows of a pool to label, by stages, with the probability of each."""

from __future__ import annotations

import hashlib
import math
import os
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from abstain._result import Column, Result, Row, Table, plain
from abstain._typing import AnyArray, ArrayLike, BoolArray, Document, FloatArray, IntArray
from abstain._version import __version__
from abstain.metrics import Metric, parse
from abstain.pool import _plan_file, _sampling
from abstain.pool._interval import FEW
from abstain.pool._pair import Pair
from abstain.pool._pool import Pool
from abstain.pool._sampling import PlanFacts


@dataclass(frozen=True, eq=False, repr=False)
class LabelPlan(Result):
    """Which rows of a pool to label; :func:`abstain.plan_labels` makes it, ``evaluate(pool, plan=plan)`` uses it.

    Parameters
    ----------
    confidence : ndarray of shape (n_rows,)
        The score of every row of the pool.
    stage : ndarray of shape (n_rows,)
        0: not drawn; k: drawn in stage k.
    probability : ndarray of shape (n_stages, n_rows)
        Chance of each row to be drawn in the stage, given that it was not drawn before; exact.
    metric, design : str
        What the plan is for, and how its rows are drawn.
    ids : ndarray of shape (n_rows,), optional
        Names of the rows. Without them rows are known by their place.
    judge : ndarray of shape (n_rows,), optional
        What a cheap judge says of each row, in [0, 1].
    other : ndarray of shape (n_rows,), optional
        The score to compare with, of a second model or of the same one.
    differs : ndarray of shape (n_rows,), optional
        Whether the predictions of the two models differ.
    facts : PlanFacts
        Seeds, level, expected half-width, and what else the plan was made from.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> plan = abstain.plan_labels(np.linspace(0, 1, 1000), n=50, seed=0)
    >>> len(plan.rows_to_label), plan.inclusion[plan.rows_to_label][:2]
    (50, array([0.05, 0.05]))
    """

    _names: ClassVar[tuple[str, ...]] = ("id",)
    _values: ClassVar[tuple[str, ...]] = ("probability",)

    confidence: FloatArray
    stage: IntArray
    probability: FloatArray
    metric: str
    design: str
    ids: AnyArray | None
    judge: FloatArray | None
    other: FloatArray | None
    differs: BoolArray | None
    facts: PlanFacts

    # ------------------------------------------------------------------ what was drawn

    @property
    def n(self) -> int:
        """Rows of the pool."""
        return len(self.confidence)

    @property
    def n_stages(self) -> int:
        """Stages so far."""
        return len(self.probability)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Rows drawn in each stage."""
        return tuple(int(np.count_nonzero(self.stage == k + 1)) for k in range(self.n_stages))

    @property
    def leaning(self) -> bool:
        """Whether the first stage is even and later ones lean to where labels help, so that these count more."""
        return self.design == "adaptive" and not _sampling.early(self.design, self.facts.error_rate)

    @property
    def rows_to_label(self) -> IntArray:
        """Rows that the last stage asks for, by their place in the pool."""
        return np.flatnonzero(self.stage == self.n_stages)

    @property
    def planned(self) -> IntArray:
        """Rows of all stages."""
        return np.flatnonzero(self.stage > 0)

    @property
    def inclusion(self) -> FloatArray:
        """Chance of each row to be drawn in the last stage."""
        return np.asarray(self.probability[-1])

    @property
    def frame(self) -> BoolArray:
        """Rows that the first stage could draw at all."""
        return np.asarray(self.probability[0] > 0.0)

    @cached_property
    def pool(self) -> Pool:
        """The scores as a table."""
        return Pool.of(self.confidence, self.judge)

    @cached_property
    def pair(self) -> Pair:
        """Both scores, if the plan compares two."""
        if self.other is None or self.differs is None:
            raise ValueError("the plan is for one score; abstain.plan_labels(..., compare=) plans for two")
        return Pair(self.pool, Pool.of(self.other), self.differs)

    def of_second(self) -> LabelPlan:
        """Return the same rows as a plan for the second score."""
        if self.other is None:
            raise ValueError("the plan is for one score; 'abstain plan --compare' plans for two")
        return replace(self, confidence=self.other, other=self.confidence)

    def measure(self) -> Metric:
        """Return the metric that the plan was made for."""
        return parse(self.metric)

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of ids, scores, judge and where predictions differ: of the pool, not of what was drawn."""
        return digest_of(self.confidence, self.judge, self.other, self.differs, self.ids)

    def name_of(self, row: int) -> str:
        """Return how a message calls a row."""
        return f"row {row + 1}" if self.ids is None else f"id {self.ids[row]!s}"

    # ------------------------------------------------------------------ next stage, file

    def extend(self, loss: ArrayLike, n: int | None = None, *, seed: int | None = None) -> LabelPlan:
        """Return the plan with one more stage, drawn from the rows not yet labelled.

        Parameters
        ----------
        loss : array-like of shape (n_rows,)
            0/1 losses of the rows labelled so far, NaN elsewhere.
        n : int, optional
            Rows to label next; default what an adaptive plan still holds back.
        seed : int, optional
            Of the draw; default a new one, which is recorded. The seed of an earlier stage draws anew, too.

        Returns
        -------
        LabelPlan
            Its ``rows_to_label`` are the new ones. ``design="adaptive"`` puts the new stage where the risk fitted so
            far says that labels help, if at least 5 errors were seen and 10 % of the variance is saved; else, and
            for every other design, it goes on as before.

        Raises
        ------
        ValueError
            A planned row without a label; n larger than what is left; losses that are not 0/1.
        """
        return _sampling.extended(self, loss, n, seed)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the plan as .parquet, .csv or .json, a row per row of the pool (all of it or nothing).

        Columns ``id``, ``stage`` (0: not drawn), ``to_label``, ``probability_1`` and on, ``confidence``, and ``plan``,
        which holds what the plan was made from in its first row.
        """
        _plan_file.save(self, path)

    # ------------------------------------------------------------------ as a result

    def headline(self) -> str:
        """Return one line that says what to label."""
        more = f" (stage {self.n_stages})" if self.n_stages > 1 else ""
        what = self.measure().label + (" of two scores" if self.other is not None else "")
        return f"Label {len(self.rows_to_label):,} of {self.n:,} rows{more} to estimate {what} (design: {self.design})"

    def tables(self) -> list[Table]:
        """Return the stages: how many rows, and with which probabilities."""
        rows: list[Row] = []
        for k, size in enumerate(self.sizes):
            chance = self.probability[k][self.stage == k + 1]
            rows.append((str(k + 1), size, float(chance.min()), float(chance.max())))
        columns = [Column("Stage"), Column("Rows"), Column("Least probability"), Column("Largest probability")]
        return [Table(columns, rows, ranks=0)]

    def notes(self) -> list[str]:
        """Return what is expected of the labels, from what, and how to draw the same rows again."""
        facts, hope = self.facts, self.facts.expected
        if self.n_stages > 1:
            source = "by the labels so far"
        elif facts.error_rate is not None:
            source = f"at an error rate of {facts.error_rate:.3g} and a usual score"
        else:
            source = "for a usual score (state the error rate if it is known)"
        total = int(self.planned.size) + facts.held_back
        need = "" if hope.plain == math.inf else f"; plain evaluation would need about {hope.plain:,.0f} labels for it"
        width = f"{hope.halfwidth:.3g} at level {facts.level:g}"
        lines = [f"expected half-width with {total} labels: {width}, {source}{need}"]
        if hope.errors < FEW - 0.05 and hope.room > 0.0:
            more = math.ceil(total * FEW / hope.errors - 1e-6)
            remedy = f"; {more:,} labels would show {FEW}" if more <= np.count_nonzero(self.frame) else ""
            lines.append(
                f"about {hope.errors:.2g} errors are expected among {total} labels: {100 * hope.room:.0f} % of this "
                f"half-width is room for one that none of them shows{remedy}"
            )
        if facts.held_back:
            lines.append(f"{facts.held_back} labels are held back: extend the plan once these rows have their losses")
        if len(self.pool.blocks) == 1:
            lines.append("all scores are equal: they say nothing of the rows, and ranks save no label")
        if left_out := self.n - int(np.count_nonzero(self.frame)):
            why = f"are never drawn: {self.measure().label} does not count them"
            if facts.region is not None:
                why = f"lie outside the region of {facts.region:g}"
            lines.append(f"{left_out} rows {why}")
        lines.append(f"seed {', '.join(map(str, facts.seeds))} · pool {self.digest[:12]}")
        return lines

    def rows(self) -> list[Document]:
        """Return the rows to label: id, place in the pool (from 1), stage, probability, confidence."""
        return [
            {
                "id": str(row + 1) if self.ids is None else str(self.ids[row]), "row": int(row) + 1,
                "stage": int(self.stage[row]), "probability": float(self.inclusion[row]),
                "confidence": float(self.confidence[row]),
            }
            for row in self.rows_to_label
        ]  # fmt: skip

    def to_dict(self) -> Document:
        """Return plain Python values: what the plan was made from, and the rows to label."""
        made = {"metric": self.metric, "design": self.design, "n": self.n, "sizes": list(self.sizes)}
        return {
            **plain({**made, **self.facts.to_dict(), "digest": self.digest, "to_label": self.rows()}),
            "notes": self.notes(),
            "abstain": __version__,
        }


def digest_of(
    confidence: FloatArray,
    judge: FloatArray | None,
    other: FloatArray | None,
    differs: BoolArray | None,
    ids: AnyArray | None,
) -> str:
    """Return the SHA-256 (hex) of what is known of a pool before any label."""
    found = hashlib.sha256(np.ascontiguousarray(confidence + 0.0).tobytes())
    if judge is not None:
        found.update(b"judge" + np.ascontiguousarray(judge).tobytes())
    if other is not None and differs is not None:
        found.update(b"other" + np.ascontiguousarray(other + 0.0).tobytes() + differs.tobytes())
    if ids is not None:
        found.update("\x1f".join(map(str, ids)).encode())
    return found.hexdigest()


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
    'Label 10 of 100 rows to estimate AUGRC (design: uniform)'
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
        score, facts = _plan_file.numbers(rows["confidence"]), PlanFacts.of_dict(made["facts"])
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
