"""What inference must know of a metric and cannot see from its formula; each module declares it with the formula."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

from abstain._typing import FloatArray, Options
from abstain.blocks import TieBlocks
from abstain.metrics._gradient import Attribution, Data, Gradient

if TYPE_CHECKING:
    from abstain.metrics._metric import Metric

V = TypeVar("V", float, FloatArray)


class Sums(NamedTuple):
    """Sums of many tables at once, such as bootstrap replicates, each of shape (n_tables,).

    ``weight`` T and ``loss`` S of all samples; ``selective``: sum over blocks of m_k L_k / W_k; ``generalized``: sum of
    m_k (L_k - s_k / 2).

    Examples
    --------
    >>> import numpy as np, abstain
    >>> sums = abstain.metrics.Sums(*np.array([[4.0], [1.0], [0.58], [1.5]]))
    >>> abstain.metrics.get("augrc").from_sums.formula(sums)
    array([0.09375])
    """

    weight: FloatArray
    loss: FloatArray
    selective: FloatArray
    generalized: FloatArray


class FromSums(NamedTuple):
    """A closed form that gives a metric with default options from :class:`Sums`: a bootstrap builds no tables then.

    ``formula``: Sums -> values, NaN where undefined, and monotone in the last sum that it reads, so that bounds of this
    sum are bounds of the metric (:class:`abstain.summaries.Summary`); ``selective``: it reads that sum, half of the
    work; ``binary``: it holds for 0/1 losses only; ``counts``: it holds without weights only.

    Examples
    --------
    >>> import abstain
    >>> form = abstain.metrics.get("e_aurc").from_sums
    >>> form.selective, form.binary, form.counts
    (True, True, False)
    """

    formula: Callable[[Sums], FloatArray]
    selective: bool = False
    binary: bool = False
    counts: bool = False


class Relative(NamedTuple):
    """The metric averages over the errors, or is divided by what these allow: k errors vary it like a mean of k values.

    So at most k - 1 degrees of freedom, and an error k/(k - 1) times as large, as of a delete-one jackknife. ``share``:
    of the degrees of freedom of its own terms so much is granted. AURC's logarithmic weight lets one confident error
    carry the variance, and a sample that lacks it does not show that in its kurtosis.

    Examples
    --------
    >>> import abstain
    >>> abstain.metrics.get("naurc").few_errors
    Relative(share=0.5)
    """

    share: float = 1.0


class Tail(NamedTuple):
    """The metric rests on a quantile of the errors, or of the right predictions, with the share ``beyond`` behind it.

    Of k such samples k times ``beyond`` lie there, and a bootstrap of a few sees next to none: at most 4 times as many
    degrees of freedom, and k.

    Examples
    --------
    >>> import abstain
    >>> metric = abstain.metrics.get("fpr95_error", recall=0.5)
    >>> metric.said(metric.few_errors)
    Tail(of='errors', beyond=0.5)
    """

    of: Literal["errors", "right"]
    beyond: float


class AcceptedLoss(NamedTuple):
    """The metric is the loss of what is accepted, per accepted sample or per sample of all.

    For a 0/1 loss it has a binomial interval at a fixed ``threshold`` (-inf: everything is accepted). At a
    ``coverage``, with threshold None, the threshold moves with the sample.

    Examples
    --------
    >>> import abstain
    >>> metric = abstain.metrics.get("generalized_risk", coverage=0.5)
    >>> metric.said(metric.accepted_loss)
    AcceptedLoss(threshold=None, coverage=0.5, per='all')
    """

    threshold: float | None = float("-inf")
    coverage: float | None = None
    per: Literal["accepted", "all"] = "accepted"


@dataclass(frozen=True, eq=False)
class Image:
    """The metric is ``offset + factor * of``, so all that is known of that metric is known of this one.

    Examples
    --------
    >>> import abstain
    >>> image = abstain.metrics.get("accuracy").image
    >>> image.of.name, image(0.25), image.ends(0.2, 0.3)
    ('risk', 0.75, (0.7, 0.8))
    """

    of: Metric
    offset: float
    factor: float

    def __call__(self, value: V) -> V:
        """Return the image of a value."""
        return self.offset + self.factor * value

    def back(self, value: float) -> float:
        """Return the value whose image this is."""
        return (value - self.offset) / self.factor

    def ends(self, low: float, high: float) -> tuple[float, float]:
        """Return the image of an interval."""
        first, second = self(low), self(high)
        return (first, second) if self.factor > 0.0 else (second, first)

    def value(self, data: Data, **options: object) -> float:
        """Return the value of the image."""
        return float(self(self.of.value(data, **options)))

    def gradient(self, blocks: TieBlocks, **options: object) -> Gradient:
        """Return the gradient of the image."""
        assert self.of.gradient is not None
        return self.of.gradient(blocks, **options).scaled(self.factor)

    def attribution(self, blocks: TieBlocks, **options: object) -> Attribution:
        """Return what each sample contributes to the image: of the offset, as much as its weight is of all."""
        a, b = self.of.using(**options).attribution_of(blocks)
        return self.factor * a + self.offset / blocks.total_weight, self.factor * b

    def facts(self) -> Options:
        """Return what the image takes over from the metric, by field."""
        of = self.of
        form = of.from_sums
        sums = form and form._replace(formula=lambda sums: self(form.formula(sums)))
        same = ("needs", "input", "inference", "scale", "multi_threshold", "convention", "worst", "few_errors")
        return {name: getattr(of, name) for name in (*same, "accepted_loss", "smooth_twin", "reads")} | {
            "value": self.value,
            "gradient": of.gradient and self.gradient,
            "attribution": of.attribution and self.attribution,
            "from_sums": sums,
            "unattained": None if of.unattained is None else self(of.unattained),
        }
