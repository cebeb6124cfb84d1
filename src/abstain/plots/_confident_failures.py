"""The most confident failures: where they stand on the curve, and what they look like."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from abstain._checks import same_length, vector, whole
from abstain._typing import ArrayLike, Axes, FloatArray, IntArray, Options
from abstain.curve import risk_coverage_curve
from abstain.evaluation import Evaluation
from abstain.plots._columns import chosen, rows_of, tables_of
from abstain.plots._display import Display, colour, entry, mark, shown
from abstain.plots._registry import declare
from abstain.plots._risk_coverage import RiskCoverageDisplay

#: Height of a row of images and of captions alone, in inches.
PICTURE, WORDS = 1.35, 0.85


@dataclass(frozen=True, eq=False)
class Failures:
    """The most confident failures of one score: their rows, and the coverage and risks at which each is accepted.

    Examples
    --------
    >>> import abstain
    >>> columns = {"a": [0, 1, 1]}, {"a": [0.9, 0.8, 0.4]}
    >>> abstain.plots.ConfidentFailuresDisplay(*columns).failures["a"].rows
    array([1, 2])
    """

    rows: IntArray
    coverage: FloatArray
    selective: FloatArray
    generalized: FloatArray


@declare(
    "confident_failures",
    family="one",
    title="Most confident failures",
    source="Traub et al. 2024, Fig. 4",
    needs="0/1 loss, confidence; images or captions of the rows if they shall be shown",
)
class ConfidentFailuresDisplay(Display):
    """Both risk curves of scores or models with the most confident failures of each, and these as images or text.

    Parameters
    ----------
    loss : mapping of name to array-like of shape (n_samples,)
        0/1 losses.
    confidence : mapping of name to array-like of shape (n_samples,)
    k : int
        Failures per name.
    images : array of shape (n_samples, height, width[, 3]), or a function of a row, optional
        Shown below the curves.
    captions : sequence of str, or a function of (name, row), optional
        Below the images; without images, in their place.

    Attributes
    ----------
    failures : dict of name to Failures
        ``failures[name].rows``: the rows of the most confident failures, most confident first, ties by row.

    Examples
    --------
    >>> import abstain
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> digits, logreg = load_digits(), abstain.datasets.load("digits_logreg")
    >>> train, test = train_test_split(range(1797), test_size=0.5, random_state=0, stratify=digits.target)
    >>> neighbours = KNeighborsClassifier(20).fit(digits.data[train], digits.target[train])
    >>> probabilities = neighbours.predict_proba(digits.data[test])
    >>> display = abstain.plots.ConfidentFailuresDisplay(
    ...     {"logistic regression": logreg.error, "20 neighbours": probabilities.argmax(1) != digits.target[test]},
    ...     {"logistic regression": logreg.confidence, "20 neighbours": probabilities.max(1)},
    ...     images=digits.images[test], captions=[f"a {label}" for label in logreg.labels],
    ... ).plot()
    """

    def __init__(
        self,
        loss: Mapping[str, ArrayLike],
        confidence: Mapping[str, ArrayLike],
        *,
        k: int = 6,
        images: Any = None,
        captions: Sequence[str] | Callable[[str, int], str] | None = None,
    ) -> None:
        if not loss or set(loss) != set(confidence):
            raise ValueError("loss and confidence must have the same names, and at least one")
        self.k = whole(k, "k")
        self.images, self.captions = images, captions
        self.curves = {name: risk_coverage_curve(loss[name], confidence[name]) for name in loss}
        if not all(curve.blocks.binary for curve in self.curves.values()):
            raise ValueError("loss must hold 0 and 1 only: a graded loss has no failures")
        self.failures = {name: self._surest(name, loss[name], confidence[name]) for name in loss}

    @classmethod
    def from_evaluation(
        cls, evaluation: Evaluation, *, score: Any = None, k: int = 6, ax: Axes | None = None, **kwargs: Any
    ) -> ConfidentFailuresDisplay:
        """Draw the scores of an evaluation that keeps its rows.

        Parameters
        ----------
        evaluation : Evaluation
            With intervals, whose rows are known by their place.
        score : str or sequence of str, optional
            Default: the first two.
        k : int
        ax : array of two matplotlib axes, optional
        **kwargs
            Passed to the class: images, captions.

        Returns
        -------
        ConfidentFailuresDisplay
        """
        names = evaluation.scores[:2] if score is None else score
        found = {}
        for name, blocks in chosen(tables_of(evaluation), names).items():
            rows = rows_of(blocks)
            if rows is None or blocks.samples is None or blocks.samples.times is not None:
                raise ValueError("the rows are not known any more: evaluate with a level, without weights")
            found[name] = rows
        losses, scores = ({name: rows[part] for name, rows in found.items()} for part in (0, 1))
        return cls(losses, scores, k=k, **kwargs).plot(ax)

    def _surest(self, name: str, loss: ArrayLike, confidence: ArrayLike) -> Failures:
        wrong, score = vector(loss, "loss", np, None), vector(confidence, "confidence", np, None)
        same_length(loss=wrong, confidence=score)
        rows = np.flatnonzero(wrong)
        rows = rows[np.argsort(-score[rows], kind="stable")][: self.k]
        curve = self.curves[name]
        at = np.searchsorted(-curve.threshold, -score[rows], side="left")
        return Failures(rows, curve.coverage[at], curve.selective_risk[at], curve.generalized_risk[at])

    def plot(self, ax: Axes | None = None) -> ConfidentFailuresDisplay:
        """Draw.

        Parameters
        ----------
        ax : array of two matplotlib axes, optional
            For both curves; images and captions are drawn on a figure of its own only.

        Returns
        -------
        ConfidentFailuresDisplay
        """
        shows = ax is None and not (self.images is None and self.captions is None)
        rows, tall = len(self.failures) if shows else 0, PICTURE if self.images is not None else WORDS
        with self._canvas(ax, (9.2, 3.7 + tall * rows), 2, below=(rows, self.k), tall=tall) as axes:
            left, right = np.ravel(axes)
            RiskCoverageDisplay(self.curves).plot(np.ravel(axes), plot_references=False)
            for j, found in enumerate(self.failures.values()):
                dot: Options = {"color": colour(j), "markeredgecolor": "white", "markersize": 6, "zorder": 4}
                left.plot(found.coverage, found.selective, mark(j), **dot)
                right.plot(found.coverage, found.generalized, mark(j), **dot)
            if shows:
                self._pictures(self.figure_)
        return self

    def _pictures(self, figure: Any) -> None:
        axes = figure.axes[2:]
        for j, (name, found) in enumerate(self.failures.items()):
            for place in range(self.k):
                ax = axes[j * self.k + place]
                ax.set_xticks([])
                ax.set_yticks([])
                for side in ax.spines.values():
                    side.set_color(colour(j))
                    side.set_linewidth(1.6)
                if place >= len(found.rows):
                    ax.set_visible(False)
                    continue
                row = int(found.rows[place])
                caption = _lines(self._caption(name, row))
                if self.images is None:
                    ax.text(0.5, 0.5, caption, ha="center", va="center", fontsize="small", transform=ax.transAxes)
                else:
                    picture = self.images(row) if callable(self.images) else self.images[row]
                    ax.imshow(picture, cmap="gray", interpolation="nearest")
                    ax.set_xlabel(caption, fontsize="small")
                if place == 0:
                    ax.set_ylabel(entry(name), fontsize="small")

    def _caption(self, name: str, row: int) -> str:
        if self.captions is None:
            return f"row {row}"
        return self.captions(name, row) if callable(self.captions) else str(self.captions[row])


def _lines(caption: str) -> str:
    """Return a caption whose lines stay lines."""
    return "\n".join(shown(line) for line in caption.split("\n"))
