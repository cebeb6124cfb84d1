"""``RiskCoverageDisplay``: risk-coverage curves with their references, in scikit-learn's Display conventions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from abstain._checks import one_of
from abstain._result import short
from abstain._typing import ArrayLike, FloatArray
from abstain.curve import RiskCoverageCurve, risk_coverage_curve
from abstain.report._figure import LOCK, Display

Kind = Literal["selective", "generalized", "both"]

#: More points than this are not told apart in a picture.
POINTS = 2000


class RiskCoverageDisplay(Display):
    """Risk-coverage curves of one or several scores, beside the oracle and a random score.

    Parameters
    ----------
    curves : RiskCoverageCurve or mapping of name to RiskCoverageCurve
        Several curves must be of the same samples; the references are drawn for the first.
    name : str, optional
        Legend entry of a single curve.

    Attributes
    ----------
    ax_ : matplotlib axes, or array of two
    figure_ : matplotlib figure
    line_ : list of matplotlib lines, one per curve and axes

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import abstain
    >>> display = abstain.RiskCoverageDisplay.from_predictions([0, 1, 1], [0, 1, 0], [0.9, 0.8, 0.6])
    >>> display.line_[0].get_label()
    'confidence (AURC 0.111)'
    """

    def __init__(self, curves: RiskCoverageCurve | Mapping[str, RiskCoverageCurve], *, name: str | None = None) -> None:
        if isinstance(curves, RiskCoverageCurve):
            curves = {name or "confidence": curves}
        if not curves:
            raise ValueError("curves is empty; give at least one RiskCoverageCurve")
        self.curves = dict(curves)
        self.line_: list[Any] = []

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        confidence: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: Any = None,
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
        ax: Any = None,
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
        >>> import matplotlib; matplotlib.use("Agg")
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
            y, estimator.predict(X), confidence,
            sample_weight=sample_weight, name=name or type(estimator).__name__, ax=ax, **kwargs,
        )  # fmt: skip

    def plot(
        self,
        ax: Any = None,
        *,
        kind: Kind = "both",
        plot_references: bool = True,
        curve_kwargs: Mapping[str, Any] | None = None,
        reference_kwargs: Mapping[str, Any] | None = None,
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
        ax = self._on(ax, (5.0 * len(kinds), 4.0), len(kinds))
        axes = np.atleast_1d(ax).ravel()
        self.line_ = []
        if len(axes) != len(kinds):
            raise ValueError(f"kind={kind!r} draws {len(kinds)} axes, but ax holds {len(axes)}")
        with LOCK:
            for one, which in zip(axes, kinds, strict=True):
                self._draw(one, which, plot_references, dict(curve_kwargs or {}), dict(reference_kwargs or {}))
        return self

    def _draw(self, ax: Any, kind: Kind, references: bool, curve_style: Any, reference_style: Any) -> None:
        for name, curve in self.curves.items():
            x, y = _points(curve, kind)
            label = f"{_plain(name)} ({_area(curve, kind)})"
            self.line_ += ax.plot(x, y, **{"label": label, "linewidth": 1.6, **curve_style})
        first = next(iter(self.curves.values()))
        if references:
            for x, y, label, style in _references(first, kind):
                ax.plot(
                    x, y, **{"label": label, "linestyle": style, "color": "0.45", "linewidth": 1.1} | reference_style
                )
        ax.set_xlim(0.0, 1.0)
        ax.set_ylim(bottom=0.0)
        ax.set_xlabel("Coverage")
        ax.set_ylabel("Selective risk" if kind == "selective" else "Generalized risk")
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
        ax.legend(frameon=False, fontsize="small")


def _plain(name: str) -> str:
    """A legend entry that is neither read as mathematics nor hidden because of a leading underscore."""
    name = short(name).replace("$", r"\$")
    return f"\u200b{name}" if name.startswith("_") else name


def _area(curve: RiskCoverageCurve, kind: Kind) -> str:
    from abstain import metrics

    metric = "aurc" if kind == "selective" else "augrc"
    return f"{metric.upper()} {metrics.get(metric)(curve.blocks):.3g}"


def _points(curve: RiskCoverageCurve, kind: Kind) -> tuple[FloatArray, FloatArray]:
    """The attainable points, thinned evenly over coverage (and finely at its low end) if there are many."""
    risk = curve.selective_risk if kind == "selective" else curve.generalized_risk
    coverage = curve.coverage
    if len(coverage) > POINTS:
        targets = np.union1d(np.linspace(0.0, 1.0, POINTS // 2), np.geomspace(coverage[0], 1.0, POINTS // 2))
        kept = np.unique(np.minimum(np.searchsorted(coverage, targets), len(coverage) - 1))
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
