"""What an evaluation is: its numbers, the tables behind them, and how to look them up."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from abstain._checks import closest
from abstain._result import Result, Table, Verdict, number, plain
from abstain._typing import Axes, Document
from abstain.blocks import TieBlocks
from abstain.curve import RiskCoverageCurve
from abstain.evaluation import _notes
from abstain.evaluation._provenance import Provenance

if TYPE_CHECKING:
    from abstain.evaluation._judge import Judged
    from abstain.plots import RiskCoverageDisplay


@dataclass(frozen=True)
class Measurement:
    """One number of an evaluation, with all that is needed to repeat it.

    Parameters
    ----------
    score : str
        The confidence score.
    group : str or None
        ``"column = value"``, or None for all samples.
    label, metric, identifier : str
        The metric as a table prints it, as :func:`abstain.metrics.parse` reads it, and with its convention.
    direction : {"lower", "higher"}
        Which is better.
    value : float
    reason : str or None
        Why the value is NaN.
    low, high : float
        Confidence interval at ``provenance["level"]``, of a group one that holds together with those of all groups of
        the column; NaN where there is none.
    method, warning : str or None
        How the interval came about, and what to know about it or why there is none.
    standard_error : float
        The one behind the interval; NaN where there is none.

    Examples
    --------
    >>> import abstain
    >>> outputs = abstain.Outputs(loss=[0, 1, 0], confidence=[0.9, 0.2, 0.7])
    >>> first = abstain.evaluate(outputs, metrics="augrc").measurements[0]
    >>> first.label, first.identifier, first.value
    ('AUGRC', 'augrc/trapezoid', 0.05555555555555555)
    """

    score: str
    group: str | None
    label: str
    metric: str
    identifier: str
    direction: str
    value: float
    reason: str | None
    low: float = math.nan
    high: float = math.nan
    method: str | None = None
    warning: str | None = None
    standard_error: float = math.nan


@dataclass(frozen=True, eq=False)
class ScoreSummary:
    """What one score looks like on one group: size, missing scores, ties and the curve.

    Parameters
    ----------
    score : str
        The confidence score.
    group : str or None
        ``"column = value"``, or None for all samples.
    n, n_rejected, n_dropped : int
        Samples; of these without a score and rejected; in addition to these, without a score and dropped.
    weight_sum : float
        Number of samples if unweighted.
    distinct_share : float
        Distinct scores per sample.
    largest_tie : int
        Samples that share one score, at most.
    curve : RiskCoverageCurve

    Examples
    --------
    >>> import abstain
    >>> outputs = abstain.Outputs(loss=[0, 1, 0], confidence=[0.9, 0.2, 0.9])
    >>> abstain.evaluate(outputs).summaries[0].largest_tie
    2
    """

    score: str
    group: str | None
    n: int
    n_rejected: int
    n_dropped: int
    weight_sum: float
    distinct_share: float
    largest_tie: int
    curve: RiskCoverageCurve = field(repr=False)

    @classmethod
    def of(cls, score: str, group: str | None, blocks: TieBlocks, curve: RiskCoverageCurve) -> ScoreSummary:
        """Return what the table of a score says."""
        return cls(
            score,
            group,
            blocks.n,
            blocks.n_rejected,
            blocks.n_dropped,
            blocks.total_weight,
            blocks.distinct_share,
            blocks.largest_tie,
            curve,
        )

    @property
    def saturated(self) -> bool:
        """Whether ties are heavy enough to move results: one tie holds 1 % of the rows, or half are not distinct."""
        return self.n > 1 and (self.largest_tie > max(1, 0.01 * self.n) or self.distinct_share < 0.5)


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Result):
    """The result of :func:`evaluate`: prints as a table; ``to_*`` and ``report`` give it in other forms.

    Parameters
    ----------
    measurements : tuple of Measurement
        For all samples and then for each group: every score with every metric.
    summaries : tuple of ScoreSummary
        One per score and group; none for a group without a sample that counts.
    provenance : Provenance
        Hashes of the input and of what scores were fitted on, sizes, options, versions.

    Examples
    --------
    >>> import abstain
    >>> outputs = abstain.Outputs(loss=[0, 1, 0], confidence=[0.9, 0.2, 0.7])
    >>> result = abstain.evaluate(outputs, metrics=["augrc", "aurc"], level=None)
    >>> result.value("aurc")
    0.1111111111111111
    >>> print(result)
    Answer 66.7 % of the cases: error rate 0 % as measured, not certified.
      answer if confidence >= 0.7      coverage 66.7 %
      measured error rate 0 %, 2 of 3 rows
    ! No groups were given: some may be worse. (see groups=)
    ! Nothing is certified: no intervals were asked for (level 0).
    ! Only 1 error in 3 rows: all numbers are uncertain.
    <BLANKLINE>
    3 samples · 0/1 loss 0.3333
    <BLANKLINE>
                     confidence
    AUGRC ↓             0.05556
    AURC ↓               0.1111
    Distinct scores     100.0 %
    Largest tie               1
    """

    _names = ("metric", "score", "group")
    _values = ("value",)

    measurements: tuple[Measurement, ...]
    summaries: tuple[ScoreSummary, ...]
    provenance: Provenance

    # ------------------------------------------------------------------ look-ups

    @property
    def scores(self) -> list[str]:
        """Names of the scores, in the order asked for."""
        return list(dict.fromkeys(entry.score for entry in self.measurements))

    @property
    def groups(self) -> list[str | None]:
        """None for all samples together, then the groups."""
        return list(dict.fromkeys(entry.group for entry in self.measurements))

    def value(self, metric: str, *, score: str | None = None, group: str | None = None) -> float:
        """Return one number by the metric's spec or printed name; the first score unless named.

        Raises
        ------
        KeyError
            No such metric, score or group in this evaluation; the message lists the nearest.
        """
        score = self._known(score, group)
        found = [entry for entry in self.measurements if (entry.score, entry.group) == (score, group)]
        for entry in found:
            if metric in (entry.metric, entry.label):
                return entry.value
        raise KeyError(f"no metric {metric!r} here; {closest(metric, [entry.metric for entry in found])}")

    def curve(self, score: str | None = None, group: str | None = None) -> RiskCoverageCurve:
        """Return the risk-coverage curve of a score; the first one unless named.

        Raises
        ------
        KeyError
            No such score or group in this evaluation, or a group without a sample that counts.
        """
        score = self._known(score, group)
        for entry in self.summaries:
            if (entry.score, entry.group) == (score, group):
                return entry.curve
        raise KeyError(f"no curve for score {score!r} and group {group!r}: no sample of it has a score and a weight")

    def _known(self, score: str | None, group: str | None) -> str:
        if not self.scores:
            raise KeyError(f"no score here: {self.provenance.no_score or 'none was evaluated'}")
        score = self.scores[0] if score is None else score
        if score not in self.scores:
            raise KeyError(f"no score {score!r} here; {closest(score, self.scores)}")
        if group not in self.groups:
            groups = [name for name in self.groups if name is not None]
            remedy = closest(str(group), groups) if groups else "evaluate(..., groups=<group column>) makes groups"
            raise KeyError(f"no group {group!r} here; {remedy}")
        return score

    @cached_property
    def judged(self) -> Judged:
        """Tests of this evaluation, made when they are first asked for."""
        from abstain.evaluation._judge import Judged

        return Judged(self)

    @cached_property
    def verdict(self) -> Verdict:
        """Whether the best score may go live, at what threshold, and what speaks against it."""
        from abstain.evaluation._verdict import of_evaluation

        return of_evaluation(self)

    def headline(self) -> str:
        """Return one line that says what was evaluated."""
        facts, few = self.provenance, self.provenance.few_labels
        if facts.models is not None:
            sizes = sorted({each["n"] for each in facts.models.values()})
            samples = " to ".join(map(str, dict.fromkeys((sizes[0], sizes[-1]))))
            return f"{len(facts.models)} models · {samples} samples"
        assert facts.mean_loss is not None
        if few is not None:
            how = f"labelled {_notes.labelled_how(few.design)}, {few.errors} error{'s' * (few.errors != 1)} seen"
            return f"{facts.n} rows, {few.labelled} {how} · 0/1 loss {number(facts.mean_loss)}"
        loss = "0/1 loss" if facts.binary_loss else "mean loss"
        weighted = " · weighted" if facts.weighted else ""
        return f"{facts.n} sample{'s' * (facts.n != 1)} · {loss} {number(facts.mean_loss)}{weighted}"

    def tables(self) -> list[Table]:
        """Return the table of all samples, then one per score for the groups."""
        return _notes.tables(self)

    def notes(self) -> list[str]:
        """Return what a reader must know in addition to the numbers: ties, missing scores, undefined values."""
        return _notes.notes(self)

    def rows(self) -> list[Document]:
        """Return the measurements."""
        return [asdict(entry) for entry in self.measurements]

    def to_dict(self) -> Document:
        """Return plain Python values: measurements, score summaries, provenance and notes."""
        scores = [{key: value for key, value in vars(entry).items() if key != "curve"} for entry in self.summaries]
        measured = {"provenance": self.provenance, "scores": scores, "measurements": self.rows()}
        return {**plain(measured), **self._decided(), "notes": self.notes()}

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> RiskCoverageDisplay:
        """Draw the curves of all scores; see :meth:`abstain.RiskCoverageDisplay.from_evaluation`."""
        from abstain.plots import RiskCoverageDisplay

        return RiskCoverageDisplay.from_evaluation(self, ax=ax, **kwargs)
