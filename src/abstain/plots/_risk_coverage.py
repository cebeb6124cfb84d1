"""``RiskCoverageDisplay``: risk-coverage curves with their references, in scikit-learn's Display conventions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from abstain._checks import one_of
from abstain._typing import ArrayLike, Axes, FloatArray, Options
from abstain.curve import RiskCoverageCurve, risk_coverage_curve
from abstain.evaluation import Evaluation
from abstain.inference import RiskBand
from abstain.plots._columns import band_of, independent, thinned
from abstain.plots._display import Display, colour, dashes, entry, legend, shade, tidy
from abstain.plots._registry import declare
from abstain.thresholds import CertifiedThreshold, EmpiricalThreshold

Kind = Literal["selective", "generalized", "both"]

#: The vertical axis is made for coverages above: below, few rows may fill the figure alone.
FIRST = 0.02
#: Bands of more curves than this hide each other.
BANDS = 3
#: How a threshold is marked.
DIAMOND: Options = {
    "fmt": "D",
    "markersize": 6,
    "color": "black",
    "markerfacecolor": "white",
    "capsize": 3,
    "linewidth": 1.2,
}
RISKS: tuple[Literal["selective", "generalized"], ...] = ("selective", "generalized")
Chosen = EmpiricalThreshold | CertifiedThreshold


@declare(
    "risk_coverage",
    family="one",
    title="Risk-coverage curve",
    source="El-Yaniv & Wiener 2010; generalized risk: Traub et al. 2024, Figs. 2e, 2f, 4a",
    needs="loss, confidence",
)
class RiskCoverageDisplay(Display):
    """Risk of what is answered over the share that is answered, with bands, with the oracle and a random score.

    Parameters
    ----------
    curves : RiskCoverageCurve or mapping of name to RiskCoverageCurve
        Several curves must be of the same samples; the references are drawn for the first.
    name : str, optional
        Legend entry of a single curve.
    bands : mapping of name to RiskBand, or of (name, kind) to RiskBand, optional
        Bands of these curves; one of selective risk is drawn in its panel, one of generalized risk in the other.
    thresholds : mapping of label to EmpiricalThreshold or CertifiedThreshold, optional
        Marked at their coverage and risk, with their intervals; a certified one with the limit that it certifies.

    Attributes
    ----------
    ax_ : matplotlib axes, or array of two
    figure_ : matplotlib figure
    line_ : list of matplotlib lines, one per curve and axes

    Examples
    --------
    >>> import abstain
    >>> display = abstain.RiskCoverageDisplay.from_predictions([0, 1, 1], [0, 1, 0], [0.9, 0.8, 0.6])
    >>> display.line_[0].get_label()
    'confidence (AURC 0.111)'

    With its band, and the threshold that these rows certify for a risk of 10 %:

    >>> outputs = abstain.datasets.load("llama3_70b_mmlu")
    >>> found = abstain.choose_threshold(outputs.loss, outputs.confidence, risk=0.1, delta=0.05)
    >>> display = abstain.RiskCoverageDisplay.from_threshold(found, outputs.loss, outputs.confidence, kind="both")
    """

    def __init__(
        self,
        curves: RiskCoverageCurve | Mapping[str, RiskCoverageCurve],
        *,
        name: str | None = None,
        bands: Mapping[Any, RiskBand] | None = None,
        thresholds: Mapping[str, Chosen] | None = None,
    ) -> None:
        if isinstance(curves, RiskCoverageCurve):
            curves = {name or "confidence": curves}
        if not curves:
            raise ValueError("curves is empty; give at least one RiskCoverageCurve")
        self.curves = dict(curves)
        given = bands or {}
        self.bands: dict[tuple[str, str], RiskBand] = {
            (key[0] if isinstance(key, tuple) else key, each.risk_kind): each for key, each in given.items()
        }
        unknown = next((key for key, _ in self.bands if key not in self.curves), None)
        if unknown is not None:
            raise ValueError(f"bands has {unknown!r}, which is none of the curves: {', '.join(self.curves)}")
        self.thresholds = dict(thresholds or {})
        self.line_: list[Any] = []

    @classmethod
    def from_evaluation(
        cls,
        evaluation: Evaluation,
        *,
        groups: bool = False,
        score: str | None = None,
        bands: bool | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> RiskCoverageDisplay:
        """Draw the curves of all scores of an evaluation, or of one score in all its groups.

        Parameters
        ----------
        evaluation : Evaluation
        groups : bool
            Draw the curve of one score in each group instead.
        score : str, optional
            Then this score; default: the first.
        bands : bool, optional
            Pointwise bands at the level of the evaluation; default: for up to three curves of rows that count once
            each and do not depend on each other.
        ax : matplotlib axes, optional
        **kwargs
            Passed to :meth:`plot`.

        Returns
        -------
        RiskCoverageDisplay
        """
        if groups:
            wanted = evaluation.scores[0] if score is None else score
            found = {each.group or "all rows": each.curve for each in evaluation.summaries if each.score == wanted}
        else:
            found = {each.score: each.curve for each in evaluation.summaries if each.group is None}
        level = evaluation.provenance.get("level") or 0.95
        possible = independent(evaluation)
        drawn = _bands(found, level) if possible and (len(found) <= BANDS if bands is None else bands) else None
        return cls(found, bands=drawn).plot(ax=ax, **kwargs)

    @classmethod
    def from_threshold(
        cls, threshold: Chosen, loss: ArrayLike, confidence: ArrayLike, *, ax: Axes | None = None, **kwargs: Any
    ) -> RiskCoverageDisplay:
        """Draw the curve of calibration rows with its band and the threshold that was chosen on them.

        Parameters
        ----------
        threshold : EmpiricalThreshold or CertifiedThreshold
        loss, confidence : array-like of shape (n_samples,)
            The rows that it was chosen on.
        ax : matplotlib axes, optional
        **kwargs
            Passed to :meth:`plot`; selective risk unless ``kind`` says otherwise.

        Returns
        -------
        RiskCoverageDisplay
        """
        curve = {"confidence": risk_coverage_curve(loss, confidence, nan_policy="reject")}
        clustered = threshold.calibration.get("n_clusters") is not None
        bands = None if clustered else _bands(curve, threshold.level)
        marked = {_goal(threshold): threshold} if threshold.attainable else {}
        return cls(curve, bands=bands, thresholds=marked).plot(ax=ax, **{"kind": "selective", **kwargs})

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        confidence: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> RiskCoverageDisplay:
        """Draw the curve of predicted labels with a confidence, under the 0/1 loss.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_samples,)
        confidence : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
        name : str, optional
        ax : matplotlib axes, optional
        **kwargs
            Passed to :meth:`plot`.

        Returns
        -------
        RiskCoverageDisplay
        """
        from abstain.losses import zero_one

        curve = risk_coverage_curve(zero_one(y_true, y_pred), confidence, sample_weight=sample_weight)
        return cls(curve, name=name).plot(ax=ax, **kwargs)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> RiskCoverageDisplay:
        """Draw the curve of a fitted classifier with its largest class probability as confidence.

        Parameters
        ----------
        estimator : fitted classifier with ``predict`` and ``predict_proba``
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
        name : str, optional
            Default: the class name of the estimator.
        ax : matplotlib axes, optional
        **kwargs
            Passed to :meth:`plot`.

        Returns
        -------
        RiskCoverageDisplay

        Raises
        ------
        TypeError
            The estimator has no ``predict_proba``.

        Examples
        --------
        >>> import abstain
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.naive_bayes import GaussianNB
        >>> X, y = load_iris(return_X_y=True)
        >>> abstain.RiskCoverageDisplay.from_estimator(GaussianNB().fit(X, y), X, y).line_[0].get_label()
        'GaussianNB (AURC 0.00343)'
        """
        if not hasattr(estimator, "predict_proba"):
            raise TypeError(
                f"{type(estimator).__name__} has no predict_proba to take a confidence from; "
                "use from_predictions with a confidence of your own, e.g. from its decision_function"
            )
        confidence = np.max(estimator.predict_proba(X), axis=1)
        return cls.from_predictions(
            y,
            estimator.predict(X),
            confidence,
            sample_weight=sample_weight,
            name=name or type(estimator).__name__,
            ax=ax,
            **kwargs,
        )

    def plot(
        self,
        ax: Any = None,
        *,
        kind: Kind = "both",
        plot_references: bool = True,
        curve_kwargs: Options | None = None,
        reference_kwargs: Options | None = None,
    ) -> RiskCoverageDisplay:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib axes, or two of them for ``kind="both"``, optional
            Default: a new figure.
        kind : {"both", "selective", "generalized"}
            Which risk; one axes given means ``"selective"`` unless said otherwise.
        plot_references : bool
            Draw the oracle (dashed) and a random score (dotted).
        curve_kwargs, reference_kwargs : mapping, optional
            Passed to matplotlib's ``plot``.

        Returns
        -------
        RiskCoverageDisplay
            This object, with ``ax_``, ``figure_`` and ``line_`` set.
        """
        one_of(kind, ("both", "selective", "generalized"), "kind")
        if kind == "both" and ax is not None and np.size(ax) == 1:
            kind = "selective"
        kinds: list[Kind] = ["selective", "generalized"] if kind == "both" else [kind]
        if ax is not None and np.size(ax) != len(kinds):
            raise ValueError(f"kind={kind!r} draws {len(kinds)} axes, but ax holds {np.size(ax)}")
        self.line_ = []
        with self._canvas(ax, (5.0 * len(kinds), 4.0), len(kinds)) as axes:
            for one, which in zip(np.atleast_1d(axes).ravel(), kinds, strict=True):
                self._panel(one, which, plot_references, dict(curve_kwargs or {}), dict(reference_kwargs or {}))
        return self

    def _panel(self, ax: Axes, kind: Kind, references: bool, curve_style: Any, reference_style: Any) -> None:
        top = 0.0
        for k, (name, curve) in enumerate(self.curves.items()):
            x, y = _points(curve, kind)
            style = {"color": colour(k), "linestyle": dashes(k), "linewidth": 1.6, **curve_style}
            (line,) = ax.plot(x, y, **{"label": f"{entry(name)} ({_area(curve, kind)})", **style})
            self.line_.append(line)
            top = max(top, float(y[x >= FIRST].max(initial=y[-1])))
            band = self.bands.get((name, str(kind)))
            if band is not None:
                kept = thinned(band.coverage)
                ends = (band.low[kept], band.high[kept])
                label = f"{100.0 * band.level:g} % {band.kind}"
                shade(ax, band.coverage[kept], *ends, line.get_color(), label, alpha=0.18)
        first = next(iter(self.curves.values()))
        if references:
            for x, y, label, dash in _references(first, kind):
                style = {"label": label, "linestyle": dash, "color": "0.45", "linewidth": 1.1, **reference_style}
                ax.plot(x, y, **style)
        for label, each in self.thresholds.items():
            _draw_threshold(ax, label, each, kind)
            top = max(top, each.risk_interval[1] if kind == "selective" else 0.0, getattr(each, "risk_limit", 0.0))
        ax.set_xlim(0.0, 1.0)
        top = max(top, float(_points(first, kind)[1][-1]))
        ax.set_ylim(0.0, 1.12 * top if self.bands and top > 0.0 else None)
        ax.set_xlabel("Coverage")
        ax.set_ylabel("Selective risk" if kind == "selective" else "Generalized risk")
        tidy(ax)
        legend(ax)


def _bands(curves: Mapping[str, RiskCoverageCurve], level: float) -> dict[Any, RiskBand]:
    """Return pointwise bands of both risks of each curve whose rows are still known."""
    found = {(name, kind): band_of(curve, level, kind) for name, curve in curves.items() for kind in RISKS}
    return {key: band for key, band in found.items() if band is not None}


def _goal(threshold: Chosen) -> str:
    """What was asked for, in words; a certificate says that it is one."""
    goal = threshold.objective
    if isinstance(threshold, CertifiedThreshold):
        return f"certified: risk ≤ {threshold.risk_limit:g}, δ = {threshold.delta:g}"
    return "chosen: " + ", ".join(
        f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}" for name, value in goal.items()
    )


def _draw_threshold(ax: Axes, label: str, found: Chosen, kind: Kind) -> None:
    if not found.attainable:
        return
    scale = 1.0 if kind == "selective" else found.coverage
    low, high = found.risk_interval
    ends = [[scale * max(found.risk - low, 0.0)], [scale * max(high - found.risk, 0.0)]]
    known = not np.isnan([low, high]).any()
    yerr = ends if known else None
    ax.errorbar([found.coverage], [scale * found.risk], yerr=yerr, zorder=5, label=entry(label), **DIAMOND)
    ax.axvline(found.coverage, color="black", linewidth=0.6, alpha=0.4)
    if isinstance(found, CertifiedThreshold) and kind == "selective":
        ax.axhline(found.risk_limit, color="black", linewidth=0.8, linestyle=(0, (1, 1)))


def _area(curve: RiskCoverageCurve, kind: Kind) -> str:
    from abstain import metrics

    metric = "aurc" if kind == "selective" else "augrc"
    return f"{metric.upper()} {metrics.get(metric)(curve.blocks):.3g}"


def _points(curve: RiskCoverageCurve, kind: Kind) -> tuple[FloatArray, FloatArray]:
    """The attainable points, thinned evenly over coverage (and finely at its low end) if there are many."""
    risk = curve.selective_risk if kind == "selective" else curve.generalized_risk
    coverage = curve.coverage
    kept = thinned(coverage)
    coverage, risk = coverage[kept], risk[kept]
    if kind == "generalized":
        return np.append(0.0, coverage), np.append(0.0, risk)
    return coverage, risk


def _references(curve: RiskCoverageCurve, kind: Kind) -> list[tuple[FloatArray, FloatArray, str, str]]:
    """Oracle and random score; inside a tie of the oracle losses accumulate evenly."""
    oracle = RiskCoverageCurve(curve.blocks.oracle)
    grid = np.linspace(0.0, 1.0, 501)[1:]
    accepted = np.interp(grid, np.append(0.0, oracle.coverage), np.append(0.0, oracle.generalized_risk))
    mean = curve.blocks.mean_loss
    if kind == "selective":
        return [(grid, accepted / grid, "oracle", "--"), (grid, np.full(grid.size, mean), "random", ":")]
    return [(grid, accepted, "oracle", "--"), (grid, mean * grid, "random", ":")]
