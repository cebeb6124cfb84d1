"""``evaluate``: one model, one OOD set, both scores: all joint metrics with their guards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from abstain._checks import generator, whole
from abstain._result import Column, Estimate, Result, Row, Table, arrow, number, plain
from abstain._typing import ArrayLike, Axes, Document, FloatArray
from abstain._version import __version__
from abstain.inference import Interval
from abstain.joint import _null, _quadrants, _splits
from abstain.joint._detection import BACKWARD, auroc, backward
from abstain.joint._ds_aurc import AreaResult, areas
from abstain.joint._ds_f1 import F1Point, exact
from abstain.joint._frontier import RiskCoverageFrontier, single_frontier
from abstain.joint._problem import Problem, Thresholds, problem
from abstain.joint._single import aurc_optimum, of_single

if TYPE_CHECKING:
    from abstain.plots import F1SurfaceDisplay

#: Title, direction and name of what is printed.
_METRICS = (("F1", "higher", "ds_f1"), ("AURC", "lower", "ds_aurc"), ("AUGRC", "lower", "ds_augrc"))


@dataclass(frozen=True, eq=False, repr=False)
class JointEvaluation(Result):
    """The result of :func:`evaluate`: prints as a table; guards are calculated when they are first asked for.

    Parameters
    ----------
    problem : Problem
        The checked columns.
    seed : int
        Seed of permutations and splits; every guard starts from it, in whatever order they are asked for.
    n_permutations : int
        Permutations of the null calibration.
    n_splits : int
        Splits of the transfer.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> rng = np.random.default_rng(0)
    >>> wrong = rng.random(400) < 0.2
    >>> inside = {name: rng.normal(2.0 - wrong) for name in ("id_confidence", "id_detector")}
    >>> outside = {name: rng.normal(size=400) for name in ("ood_confidence", "ood_detector")}
    >>> result = abstain.joint.evaluate(wrong, **inside, **outside)
    >>> round(float(result.ds_f1), 3), round(float(result.f1["confidence"]), 3)
    (0.758, 0.689)
    >>> round(result.null_gain["ds_f1"].null_mean, 3), round(result.transfer.loss, 3)
    (0.001, 0.023)
    """

    _names = ("metric", "share")
    _values = ("confidence", "detector", "both", "gain")

    problem: Problem = field(repr=False)
    seed: int = 0
    n_permutations: int = 20
    n_splits: int = 20

    # ------------------------------------------------------------------ values

    @property
    def n_id(self) -> int:
        """Number of ID samples."""
        return self.problem.n_id

    @property
    def n_ood(self) -> int:
        """Number of OOD samples."""
        return self.problem.n_ood

    @property
    def accuracy(self) -> float:
        """Share of ID samples that are classified right."""
        return float(1.0 - self.problem.wrong.mean())

    @property
    def prevalence(self) -> float:
        """Share of OOD samples that the values are for."""
        given = self.problem.prevalence
        return self.n_ood / (self.n_id + self.n_ood) if given is None else given

    @cached_property
    def ds_f1(self) -> F1Point:
        """Best F1 of two thresholds."""
        return exact(self.problem)

    @property
    def thresholds(self) -> Thresholds:
        """The pair of thresholds of DS-F1: an oracle, chosen on these data; see :attr:`transfer`."""
        return self.ds_f1.thresholds

    @cached_property
    def _areas(self) -> tuple[AreaResult, AreaResult]:
        return areas(self.problem)

    @property
    def ds_aurc(self) -> AreaResult:
        """Area of least selective risk, "at least"."""
        return self._areas[0]

    @property
    def ds_augrc(self) -> AreaResult:
        """Area of least generalized risk, "at least"."""
        return self._areas[1]

    @cached_property
    def f1(self) -> dict[str, F1Point]:
        """Best F1 of one threshold, on ``"confidence"`` and on ``"detector"``."""
        return {name: of_single(exact(data, "f1/exact")) for name, data in self._single().items()}

    @cached_property
    def aurc(self) -> dict[str, float]:
        """AURC of each score alone, the same operator."""
        return {name: single_frontier(data).aurc() for name, data in self._single().items()}

    @cached_property
    def augrc(self) -> dict[str, float]:
        """AUGRC of each score alone, the same operator."""
        return {name: single_frontier(data).augrc() for name, data in self._single().items()}

    @property
    def aurc_optimum(self) -> float:
        """AURC of the perfect order, what all of the areas exceed."""
        return aurc_optimum(self.problem.wrong)

    # ------------------------------------------------------------------ what figures are drawn from

    @cached_property
    def frontiers(self) -> dict[str, RiskCoverageFrontier]:
        """Least risk at each coverage, by ``"confidence"``, by ``"detector"``, and by both."""
        found = {name: single_frontier(data) for name, data in self._single().items()}
        both = self.ds_aurc.frontier
        return found | ({} if both is None else {"both": both})

    def f1_surface(self, T: int = 200) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return T quantiles of the confidence and of the detector, descending, and F1 of every pair of them."""
        return _quadrants.surface(self.problem, whole(T, "T"))

    def pairs(self, T: int = 100) -> tuple[FloatArray, FloatArray]:
        """Return coverage and selective risk of all pairs of T quantiles of each score that accept an ID sample."""
        return _quadrants.points(self.problem, whole(T, "T"))

    # ------------------------------------------------------------------ guards

    def at_prevalence(self, prevalence: float | None) -> JointEvaluation:
        """Return the same evaluation at another share of OOD samples; None: as in the data.

        Parameters
        ----------
        prevalence : float in [0, 1) or None
            Share of OOD samples in the target population.

        Returns
        -------
        JointEvaluation
        """
        return JointEvaluation(self.problem.at_prevalence(prevalence), self.seed, self.n_permutations, self.n_splits)

    @cached_property
    def natural(self) -> JointEvaluation:
        """The evaluation at the share of OOD samples in the data."""
        return self if self.problem.prevalence is None else self.at_prevalence(None)

    @cached_property
    def balanced(self) -> JointEvaluation:
        """The evaluation with as much OOD as ID weight; undefined without OOD samples."""
        return self if self.prevalence == 0.5 else self.at_prevalence(0.5)

    @cached_property
    def null_gain(self) -> Mapping[str, _null.NullGain]:
        """Per DS metric, its gain over the confidence alone next to that of a useless one: see :func:`null_gain`."""
        return _null.of_all(self.problem, self.n_permutations, np.random.default_rng(self.seed))

    @cached_property
    def transfer(self) -> _splits.Transfer:
        """F1 of thresholds from one half of the data on the other."""
        return _splits.transfer_of(self.problem, 0.5, self.n_splits, np.random.default_rng(self.seed))

    def confidence_intervals(self, level: float = 0.95, n_splits: int = 50) -> dict[str, Interval]:
        """Return intervals of all metrics and gains, see :func:`confidence_intervals`.

        Parameters
        ----------
        level : float in (0, 1)
            Nominal coverage.
        n_splits : int
            Random splits into halves.

        Returns
        -------
        dict of str to Interval
        """
        return _splits.intervals_of(self.problem, level, n_splits, np.random.default_rng(self.seed))

    # ------------------------------------------------------------------ as a result

    def headline(self) -> str:
        """Return sizes and accuracy."""
        return f"{self.n_id} ID samples, accuracy {self.accuracy:.4f} · {self.n_ood} OOD samples"

    def tables(self) -> list[Table]:
        """Return one table each for the natural, the balanced and the given share of OOD samples."""
        names = ("confidence", "detector", "both", "gain", "null gain")
        columns = [Column(), *(Column(name, alike=False) for name in names)]
        found = []
        for name, each in self._shares().items():
            rows: list[Row] = [
                (arrow(title, direction), row["confidence"], row["detector"], row["both"],
                 row["gain"], Estimate(row["null_mean"], spread=row["null_sd"]))
                for (title, direction, _), row in zip(_METRICS, each._rows(), strict=True)
            ]  # fmt: skip
            found.append(Table(columns, rows, title=f"Share of OOD samples {each.prevalence:.3f}, {name}"))
        return found

    def notes(self) -> list[str]:
        """Return the thresholds, how well such are transferred, and the definitions."""
        confidence, detector = self.thresholds
        lines = [
            f"best pair of thresholds: confidence {confidence:.6g}, detector {detector:.6g} (chosen on these data)"
        ]
        if self._halves:
            lines.append(
                f"F1 with thresholds from one half on the other: {number(self.transfer.transferred.mean())}, "
                f"where the best in hindsight is {number(self.transfer.oracle.mean())}"
            )
        if self.n_ood:
            inside, outside = self.problem.detector[: self.n_id], self.problem.detector[self.n_id :]
            found = auroc(id_score=inside, ood_score=outside)
            if backward(found, self.n_id, self.n_ood):
                lines.append(f"the detector is {BACKWARD.format(found)}; of a distance give the negative")
        areas = f"{self.ds_aurc.convention}, {self.ds_augrc.convention}"
        return [*lines, f"definitions: {self.ds_f1.convention}, {areas}"]

    def rows(self) -> list[Document]:
        """Return one dict per share of OOD samples and metric."""
        return [
            {"metric": key, "share": name, "prevalence": each.prevalence, **row}
            for name, each in self._shares().items()
            for (_, _, key), row in zip(_METRICS, each._rows(), strict=True)
        ]

    def to_dict(self) -> Document:
        """Return plain Python values: sizes, metrics, thresholds, guards and identifiers."""
        both: dict[str, F1Point | AreaResult] = {"f1": self.ds_f1, "aurc": self.ds_aurc, "augrc": self.ds_augrc}
        moved = None
        if self._halves:
            moved = {"oracle": self.transfer.oracle.mean(), "transferred": self.transfer.transferred.mean()}
        found = {
            "n_id": self.n_id,
            "n_ood": self.n_ood,
            "accuracy": self.accuracy,
            "prevalence": self.prevalence,
            "prevalence_given": self.problem.prevalence is not None,
            "single": {
                name: {"f1": self.f1[name].value, "aurc": self.aurc[name], "augrc": self.augrc[name]}
                for name in self.f1
            },
            "double": {name: found.value for name, found in both.items()},
            "conventions": {f"ds_{name}": found.convention for name, found in both.items()},
            "thresholds": self.thresholds,
            "null_gain": {
                name: {"gain": found.gain, "null_mean": found.null_mean, "null_sd": found.null_sd, "p": found.p_value}
                for name, found in self.null_gain.items()
            },
            "transfer": moved,
            "abstain": __version__,
        }
        return dict(plain(found))

    def plot(self, ax: Axes | None = None, *, T: int = 200) -> F1SurfaceDisplay:
        """Draw F1 over T quantiles of both scores, with the best thresholds."""
        from abstain.plots import F1SurfaceDisplay

        return F1SurfaceDisplay.from_joint(self, T=T, ax=ax)

    def _shares(self) -> dict[str, JointEvaluation]:
        """Return the evaluation at each share of OOD samples by the name of the share."""
        if self.natural.prevalence == 0.5:
            shares = {"as in the data, which is balanced": self.natural}
        else:
            shares = {"as in the data": self.natural} | ({"balanced": self.balanced} if self.n_ood else {})
        return shares | ({"given": self} if self.problem.prevalence not in (None, 0.5) else {})

    def _rows(self) -> list[dict[str, float]]:
        """Return what a table shows of each metric."""
        f1 = {name: found.value for name, found in self.f1.items()}
        found: list[dict[str, float]] = []
        for single, both in ((f1, self.ds_f1), (self.aurc, self.ds_aurc), (self.augrc, self.ds_augrc)):
            null = self.null_gain[_METRICS[len(found)][2]]
            gain = round(null.gain, 12) + 0.0  # what is smaller is rounding
            guards = {"gain": gain, "null_mean": null.null_mean, "null_sd": null.null_sd, "p": null.p_value}
            found.append({**single, "both": float(both), **guards})
        return found

    @property
    def _halves(self) -> bool:
        """Whether there are two samples of each kind, for two halves."""
        return min(self.n_id, self.n_ood or self.n_id) > 1

    def _single(self) -> dict[str, Problem]:
        return {"confidence": self.problem.alone(), "detector": self.problem.swapped().alone()}


def evaluate(
    id_loss: ArrayLike,
    *,
    id_confidence: ArrayLike,
    id_detector: ArrayLike,
    ood_confidence: ArrayLike,
    ood_detector: ArrayLike,
    prevalence: float | None = None,
    n_permutations: int = 20,
    n_splits: int = 20,
    rng: int | np.random.Generator | None = 0,
) -> JointEvaluation:
    """Evaluate a classifier with a confidence and a detector score on ID and OOD samples together.

    Parameters
    ----------
    id_loss : array-like of shape (n_id,)
        0/1 loss of the in-distribution samples.
    id_confidence, id_detector : array-like of shape (n_id,)
        The two scores of these samples, any scale, higher = accept.
    ood_confidence, ood_detector : array-like of shape (n_ood,)
        The two scores of the out-of-distribution samples; may be empty.
    prevalence : float in [0, 1), optional
        Share of OOD samples in the target population; default: as in the data. Printed next to the natural and the
        balanced share in any case.
    n_permutations : int
        Permutations of the null calibration.
    n_splits : int
        Splits of the transfer.
    rng : int, numpy.random.Generator or None
        Seed of permutations and splits; a generator gives one number for it.

    Returns
    -------
    JointEvaluation

    Raises
    ------
    UnmetNeed
        A loss that is not 0/1.
    ValueError, TypeError
        Bad columns or prevalence.

    See Also
    --------
    protocol : several OOD sets, scores and runs.

    Examples
    --------
    >>> import abstain
    >>> inside = {"id_confidence": [0.9, 0.5, 0.4], "id_detector": [3.0, 2.0, 2.5]}
    >>> result = abstain.joint.evaluate([0, 0, 1], **inside, ood_confidence=[0.8, 0.7], ood_detector=[1.0, 2.2])
    >>> result.ds_f1.value, round(float(result.ds_aurc), 4), result.thresholds
    (0.6666666666666666, 0.2778, Thresholds(confidence=0.5, detector=2.0))
    """
    data = problem(id_loss, id_confidence, id_detector, ood_confidence, ood_detector, prevalence)
    drawn = generator(rng)
    seed = int(rng) if isinstance(rng, int | np.integer) else int(drawn.integers(2**63))
    return JointEvaluation(data, seed, whole(n_permutations, "n_permutations"), whole(n_splits, "n_splits"))
