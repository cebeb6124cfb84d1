"""``LabelPlan``: which rows of a pool to label, by stages, with the probability of each."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from abstain._result import Column, Result, Row, Table, plain
from abstain._typing import BoolArray, FloatArray, IntArray
from abstain._version import __version__
from abstain.metrics import Metric, parse
from abstain.pool import _plan_file, _stages, _words
from abstain.pool._pair import Pair
from abstain.pool._pool import Pool


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
    facts : mapping
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
    ids: Any = None
    judge: FloatArray | None = None
    other: FloatArray | None = None
    differs: BoolArray | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)

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
        return self.design == "adaptive" and not _stages.early(self.design, self.facts["error_rate"])

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
        return _stages.digest(self.confidence, self.judge, self.other, self.differs, self.ids)

    def name_of(self, row: int) -> str:
        """Return how a message calls a row."""
        return f"row {row + 1}" if self.ids is None else f"id {self.ids[row]!s}"

    # ------------------------------------------------------------------ next stage, file

    def extend(self, loss: Any, n: int | None = None, *, seed: int | None = None) -> LabelPlan:
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
        return _stages.extended(self, loss, n, seed)

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
        return f"Label {len(self.rows_to_label)} of {self.n} rows{more} · {self.design} · for {what}"

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
        return _words.of_plan(self)

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows to label: id, place in the pool (from 1), stage, probability, confidence."""
        return [
            {
                "id": str(row + 1) if self.ids is None else str(self.ids[row]), "row": int(row) + 1,
                "stage": int(self.stage[row]), "probability": float(self.inclusion[row]),
                "confidence": float(self.confidence[row]),
            }
            for row in self.rows_to_label
        ]  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values: what the plan was made from, and the rows to label."""
        made = {"metric": self.metric, "design": self.design, "n": self.n, "sizes": list(self.sizes)}
        return {
            **plain({**made, **self.facts, "digest": self.digest, "to_label": self.rows()}),
            "notes": self.notes(),
            "abstain": __version__,
        }
