"""Bayesian evaluation: a metric of every pass, as of a network of its own, its expectation and its spread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from abstain import metrics as metrics_
from abstain import scores as scores_
from abstain._checks import UnmetNeed
from abstain._result import Column, Estimate, Result, Table, arrow
from abstain._typing import Document, FloatArray
from abstain.blocks import TieBlocks
from abstain.metrics import Metric
from abstain.outputs import Outputs


@dataclass(frozen=True, eq=False, repr=False)
class OverPasses(Result):
    """The result of :func:`over_passes`.

    Parameters
    ----------
    label, metric, direction : str
        The metric as printed, as parsed, and which direction is better.
    score : str
    values : ndarray of shape (n_passes,)
        The metric of each pass.
    of_mean : float
        The metric of the mean of the passes, the usual prediction.

    Examples
    --------
    >>> import abstain
    >>> from abstain import study
    >>> passes = [[[0.9, 0.1], [0.2, 0.8]], [[0.4, 0.6], [0.3, 0.7]]]
    >>> found = study.over_passes(abstain.Outputs(labels=[0, 1], passes=passes), "accuracy")
    >>> found.values, found.mean, found.of_mean
    (array([1. , 0.5]), 0.75, 1.0)
    """

    _names = ("metric", "score", "pass")
    _values = ("value",)

    label: str
    metric: str
    direction: str
    score: str
    values: FloatArray
    of_mean: float

    @property
    def mean(self) -> float:
        """The expectation over the passes."""
        return float(self.values.mean())

    @property
    def deviation(self) -> float:
        """Standard deviation of the passes (divisor passes - 1); NaN for one."""
        return float(self.values.std(ddof=1)) if self.values.size > 1 else float("nan")

    def headline(self) -> str:
        """Return what was evaluated."""
        return f"{self.values.size} passes, each as a network of its own · {self.score}"

    def tables(self) -> list[Table]:
        """Return the expectation with its spread, and the value of the mean prediction."""
        columns = [Column("Metric"), Column("Expectation over passes"), Column("Of the mean prediction")]
        row = (arrow(self.label, self.direction), Estimate(self.mean, spread=self.deviation), self.of_mean)
        return [Table(columns, [row], notes=["±: standard deviation of the passes, which is no error of the test set"])]

    def rows(self) -> list[Document]:
        """Return one dict per pass."""
        return [
            {"metric": self.metric, "score": self.score, "pass": k, "value": float(value)}
            for k, value in enumerate(self.values)
        ]


def over_passes(outputs: Outputs, metric: str | Metric = "aurc", score: str = "msp") -> OverPasses:
    r"""Evaluate every pass as a network of its own: the expectation of a metric over a posterior, and its spread.

    .. math:: \mathrm{E}_{f}[\text{AURC}(f)] \approx \frac1R \sum_r \text{AURC}(f_r)

    Parameters
    ----------
    outputs : Outputs
        With ``passes`` and labels. Each pass predicts by its own largest probability; the loss is 0/1.
    metric : str or Metric
        Of the registry.
    score : str
        A score of class probabilities.

    Returns
    -------
    OverPasses

    Raises
    ------
    UnmetNeed
        No passes, no labels; a score that needs more than probabilities; a metric that the data do not allow.

    Notes
    -----
    The mean prediction, on which scores of passes are judged, is another network, and mostly a better one: expectation
    and value of the mean are both shown.

    References
    ----------
    Zhou et al. (2025): Section A.3, Equations 37 and 38.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> from abstain import study
    >>> passes = np.random.default_rng(0).dirichlet([1, 1], size=(4, 100))
    >>> found = study.over_passes(abstain.Outputs(labels=[0, 1] * 50, passes=passes), "augrc")
    >>> len(found.rows()), round(found.mean, 3)
    (4, 0.257)
    """
    if outputs.passes is None:
        raise UnmetNeed("these outputs have no passes; give passes= of shape (runs, n_samples, n_classes)")
    if outputs.labels is None:
        raise UnmetNeed("these outputs have no labels; each pass has its own errors, so a given loss does not serve")
    chosen = metrics_.parse(metric) if isinstance(metric, str) else metric
    values = [_value(outputs, np.asarray(member, dtype=np.float64), chosen, score) for member in outputs.passes]
    mean = np.asarray(np.mean(outputs.passes, axis=0, dtype=np.float64))
    of_mean = _value(outputs, mean, chosen, score)
    return OverPasses(chosen.label, chosen.spec, chosen.direction, score, np.array(values), of_mean)


def _value(outputs: Outputs, probabilities: FloatArray, metric: Metric, score: str) -> float:
    made = Outputs(labels=outputs.labels, probabilities=probabilities, sample_weight=outputs.sample_weight)
    weight = None if made.sample_weight is None else np.asarray(made.sample_weight)
    if metric.input == "probabilities":
        found = metrics_.Predictions(np.asarray(made.labels), probabilities, None, weight)
        return float(metric.evaluate(found)[0])
    blocks = TieBlocks.from_samples(made.error, scores_.compute(score, made), weight, oracle=True)
    return float(metric.evaluate(blocks)[0])
