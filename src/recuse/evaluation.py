"""``evaluate``: saved outputs in, a readable and traceable evaluation of their reject option out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from recuse import metrics as metrics_
from recuse import scores as scores_
from recuse._checks import UnmetNeed, closest, one_of
from recuse._files import write_text
from recuse._typing import BoolArray, NanPolicy
from recuse.blocks import TieBlocks
from recuse.curve import RiskCoverageCurve
from recuse.metrics import Metric, Predictions
from recuse.outputs import Outputs

if TYPE_CHECKING:
    from recuse.report import RiskCoverageDisplay

#: What an evaluation shows unless asked for more: accuracy (or risk), two areas with what they leave above the
#: oracle, the ranking alone, three operating points, and calibration.
DEFAULT_METRICS = (
    "accuracy",
    "augrc",
    "e_augrc",
    "aurc",
    "auroc_f",
    "coverage_at_risk(risk=0.01)",
    "coverage_at_risk(risk=0.05)",
    "selective_risk(coverage=0.8)",
    "ece",
)


@dataclass(frozen=True)
class Measurement:
    """One number of an evaluation, with all that is needed to repeat it.

    Examples
    --------
    >>> import recuse
    >>> outputs = recuse.Outputs(loss=[0, 1, 0], confidence=[0.9, 0.2, 0.7])
    >>> first = recuse.evaluate(outputs, metrics="augrc").measurements[0]
    >>> first.metric, first.identifier, first.value
    ('AUGRC', 'augrc/trapezoid', 0.05555555555555555)
    """

    score: str
    group: str | None
    metric: str
    spec: str
    identifier: str
    direction: str
    value: float
    reason: str | None


@dataclass(frozen=True, eq=False)
class ScoreSummary:
    """What one score looks like on one group: size, missing scores, ties and the curve.

    Examples
    --------
    >>> import recuse
    >>> outputs = recuse.Outputs(loss=[0, 1, 0], confidence=[0.9, 0.2, 0.9])
    >>> recuse.evaluate(outputs).summaries[0].largest_tie
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

    @property
    def saturated(self) -> bool:
        """Whether ties are heavy enough to move results: one tie holds 1 % of the rows, or half are not distinct."""
        return self.n > 1 and (self.largest_tie > max(1, 0.01 * self.n) or self.distinct_share < 0.5)


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """The result of :func:`evaluate`: prints as a table; ``to_*`` and ``report`` give it in other forms.

    Examples
    --------
    >>> import recuse
    >>> result = recuse.evaluate(recuse.Outputs(loss=[0, 1, 0], confidence=[0.9, 0.2, 0.7]), metrics=["augrc", "aurc"])
    >>> result.value("aurc")
    0.1111111111111111
    >>> print(result)
    3 samples · 0/1 loss 0.3333
    <BLANKLINE>
                     confidence
    AUGRC         ↓     0.05556
    AURC          ↓      0.1111
    Distinct scores     100.0 %
    Largest tie               1
    """

    measurements: tuple[Measurement, ...]
    summaries: tuple[ScoreSummary, ...]
    provenance: Mapping[str, Any]

    # ------------------------------------------------------------------ look-ups

    @property
    def scores(self) -> list[str]:
        """Names of the scores, in the order asked for."""
        return list(dict.fromkeys(entry.score for entry in self.summaries))

    @property
    def groups(self) -> list[str | None]:
        """None for all samples together, then the groups."""
        return list(dict.fromkeys(entry.group for entry in self.summaries))

    def value(self, metric: str, *, score: str | None = None, group: str | None = None) -> float:
        """Return one number by the metric's spec or printed name; the first score unless named."""
        score = self.scores[0] if score is None else score
        for entry in self.measurements:
            if entry.score == score and entry.group == group and metric in (entry.spec, entry.metric):
                return entry.value
        known = {entry.spec for entry in self.measurements}
        raise KeyError(f"no {metric!r} for score {score!r} and group {group!r}; {closest(metric, known)}")

    def curve(self, score: str | None = None, group: str | None = None) -> RiskCoverageCurve:
        """Return the risk-coverage curve of a score; the first one unless named."""
        score = self.scores[0] if score is None else score
        for entry in self.summaries:
            if entry.score == score and entry.group == group:
                return entry.curve
        raise KeyError(f"no curve for score {score!r} and group {group!r}; {closest(score, self.scores)}")

    def notes(self) -> list[str]:
        """Return what a reader must know beside the numbers: ties, missing scores, undefined values."""
        lines = []
        for entry in self.summaries:
            where = f"{entry.score}" + (f" in {entry.group}" if entry.group else "")
            if entry.saturated:
                lines.append(
                    f"{where}: {entry.distinct_share:.1%} of the scores are distinct, "
                    f"the largest tie holds {entry.largest_tie} of {entry.n} samples"
                )
            for number, fate in ((entry.n_rejected, "rejected"), (entry.n_dropped, "dropped")):
                if number:
                    lines.append(f"{where}: {number} samples without a score were {fate}")
        reasons: dict[tuple[str, str], list[str]] = {}
        for measurement in self.measurements:
            if measurement.reason is not None:
                where = f"{measurement.score}" + (f" in {measurement.group}" if measurement.group else "")
                reasons.setdefault((measurement.metric, measurement.reason), []).append(where)
        everywhere = len(self.summaries)
        for (metric, reason), places in reasons.items():
            place = "" if len(places) == everywhere else f" for {', '.join(places)}"
            lines.append(f"{metric} is not defined{place}: {reason}")
        return lines

    # ------------------------------------------------------------------ other forms

    def __str__(self) -> str:
        from recuse.report import as_text

        return as_text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from recuse.report import as_html_table

        return as_html_table(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values: measurements, score summaries and provenance; NaN becomes None."""
        return {
            "provenance": dict(self.provenance),
            "scores": [
                {key: value for key, value in vars(entry).items() if key != "curve"} for entry in self.summaries
            ],
            "measurements": [
                asdict(entry) | {"value": None if np.isnan(entry.value) else entry.value} for entry in self.measurements
            ],
            "notes": self.notes(),
        }

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return JSON text, and write it to ``path`` if one is given (all of it or nothing)."""
        import json

        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
        if path is not None:
            write_text(path, text + "\n")
        return text

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return one line per measurement as CSV, and write it to ``path`` if one is given."""
        import csv
        import io

        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        columns = self._columns()
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        if path is not None:
            write_text(path, stream.getvalue())
        return stream.getvalue()

    def _columns(self) -> dict[str, list[Any]]:
        rows = [asdict(entry) for entry in self.measurements]
        return {name: [row[name] for row in rows] for name in Measurement.__dataclass_fields__}

    def to_polars(self) -> Any:
        """Return the measurements as a polars data frame."""
        import polars

        return polars.DataFrame(self._columns())

    def to_pandas(self) -> Any:
        """Return the measurements as a pandas data frame."""
        import pandas

        return pandas.DataFrame(self._columns())

    def plot(self, ax: Any = None, **kwargs: Any) -> RiskCoverageDisplay:
        """Draw the curves of all scores with oracle and random references."""
        from recuse.report import RiskCoverageDisplay

        curves = {entry.score: entry.curve for entry in self.summaries if entry.group is None}
        return RiskCoverageDisplay(curves).plot(ax=ax, **kwargs)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write one self-contained HTML page with table, curves, notes and provenance."""
        from recuse.report import as_html_page

        write_text(path, as_html_page(self))


def evaluate(
    outputs: Outputs,
    scores: str | Sequence[str] | None = None,
    metrics: str | Metric | Iterable[str | Metric] = "default",
    *,
    by: str | Sequence[str] | None = None,
    nan_policy: NanPolicy = "raise",
) -> Evaluation:
    """Evaluate the reject option of saved outputs: every metric for every score, on all samples and by group.

    Parameters
    ----------
    outputs : Outputs
        One model's outputs on one split; see :func:`read_outputs`.
    scores : str or list of str, optional
        Confidence scores by name; default the given confidence, else the maximum softmax probability.
    metrics : "default", "all", or specs
        ``"default"``: few and well chosen. ``"all"``: everything registered; what the data do not allow is
        listed with its reason. Or metrics by name, with options: ``["aurc", "coverage_at_risk(risk=0.01)"]``.
    by : str or list of str, optional
        Names of group columns: every metric also within each group.
    nan_policy : {"raise", "reject", "drop"}
        What a NaN score means.

    Returns
    -------
    Evaluation

    Raises
    ------
    UnmetNeed
        A metric asked for by name needs what the outputs do not hold.
    ValueError, TypeError
        Unknown names; bad columns.

    Examples
    --------
    >>> import recuse
    >>> outputs = recuse.datasets.load("cifar10_vgg16")
    >>> result = recuse.evaluate(outputs, scores=["msp", "neg_entropy"])
    >>> round(result.value("augrc", score="neg_entropy"), 5)
    0.00597
    """
    if not isinstance(outputs, Outputs):
        raise TypeError(
            f"evaluate takes Outputs, got {type(outputs).__name__}; "
            "use recuse.read_outputs(path), or recuse.Outputs(loss=..., confidence=...)"
        )
    one_of(nan_policy, ("raise", "reject", "drop"), "nan_policy")
    names = [scores] if isinstance(scores, str) else list(scores or [scores_.default(outputs)])
    loss = outputs.loss_per_sample()
    chosen, forgiving = _choose(metrics, loss)
    measurements: list[Measurement] = []
    summaries: list[ScoreSummary] = []
    columns = {name: scores_.compute(name, outputs) for name in names}
    probabilities = _probabilities(outputs, chosen)
    for group, rows in _groups(outputs, by):
        for name, column in columns.items():
            weights = None if outputs.weights is None else np.asarray(outputs.weights)[rows]
            blocks = TieBlocks.from_samples(loss[rows], column[rows], weights, nan_policy=nan_policy, oracle=True)
            summaries.append(_summary(name, group, blocks))
            for metric in chosen:
                data: TieBlocks | Predictions | None = blocks
                if metric.input == "probabilities":
                    data = None if probabilities is None else _rows(probabilities, rows)
                measurements.append(_measure(metric, data, name, group, forgiving))
    return Evaluation(tuple(measurements), tuple(summaries), _provenance(outputs))


def _choose(metrics: str | Metric | Iterable[str | Metric], loss: Any) -> tuple[list[Metric], bool]:
    """Return the metrics, and whether one that the data do not allow is listed instead of raised."""
    if isinstance(metrics, str) and metrics == "default":
        chosen = [metrics_.parse(spec) for spec in DEFAULT_METRICS]
        if np.max(loss) > 1.0:
            chosen[0] = metrics_.get("risk")
        return chosen, True
    if isinstance(metrics, str) and metrics == "all":
        defaults = [metrics_.parse(spec) for spec in DEFAULT_METRICS]
        shown = {metric.spec for metric in defaults}
        rest = [metrics_.get(name) for name in metrics_.names()]
        return defaults + [metric for metric in rest if metric.spec not in shown], True
    if isinstance(metrics, str):
        return metrics_.parse_list(metrics), False
    if isinstance(metrics, Metric):
        return [metrics], False
    return [metrics_.parse(entry) if isinstance(entry, str) else entry for entry in metrics], False


def _groups(outputs: Outputs, by: str | Sequence[str] | None) -> Iterable[tuple[str | None, BoolArray]]:
    yield None, np.ones(outputs.n, dtype=bool)
    for name in [by] if isinstance(by, str) else by or []:
        groups = outputs.groups or {}
        if name not in groups:
            remedy = closest(name, groups) if groups else "these outputs have no groups; give Outputs(groups={...})"
            raise ValueError(f"by={name!r} is no group column; {remedy}")
        column = np.asarray(groups[name])
        for value in np.unique(column):
            yield f"{name} = {value}", column == value


def _probabilities(outputs: Outputs, metrics: list[Metric]) -> Predictions | None:
    if all(metric.input == "blocks" for metric in metrics) or outputs.labels is None:
        return None
    if outputs.logits is None and outputs.probabilities is None:
        return None
    probabilities = np.exp(outputs.log_probabilities())
    weights = None if outputs.weights is None else np.asarray(outputs.weights)
    return Predictions(np.asarray(outputs.labels), probabilities, None, weights)


def _rows(data: Predictions, rows: BoolArray) -> Predictions:
    weight = None if data.weight is None else data.weight[rows]
    return Predictions(data.labels[rows], data.probabilities[rows], None, weight)


def _summary(name: str, group: str | None, blocks: TieBlocks) -> ScoreSummary:
    return ScoreSummary(
        score=name,
        group=group,
        n=blocks.n,
        n_rejected=blocks.n_rejected,
        n_dropped=blocks.n_dropped,
        weight_sum=blocks.total_weight,
        distinct_share=blocks.distinct_share,
        largest_tie=blocks.largest_tie,
        curve=RiskCoverageCurve(blocks),
    )


def _measure(
    metric: Metric, data: TieBlocks | Predictions | None, score: str, group: str | None, forgiving: bool
) -> Measurement:
    try:
        if data is None:
            raise UnmetNeed(f"{metric.name} needs labels with logits or probabilities")
        value, reason = metric.evaluate(data)
    except UnmetNeed as need:
        if not forgiving:
            raise
        value, reason = np.nan, str(need)
    return Measurement(score, group, metric.label, metric.spec, metric.identifier, metric.direction, value, reason)


def _provenance(outputs: Outputs) -> dict[str, Any]:
    import platform

    import recuse

    loss = outputs.loss_per_sample()
    return {
        "fingerprint": outputs.fingerprint,
        "n": outputs.n,
        "mean_loss": float(np.average(loss, weights=outputs.weights)),
        "binary_loss": bool(np.all((loss == 0.0) | (loss == 1.0))),
        "weighted": outputs.weights is not None,
        "recuse": recuse.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
