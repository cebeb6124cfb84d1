"""What a confidence score is: a named function of saved outputs, what it needs, and the list of all of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from abstain._checks import UnmetNeed, closest
from abstain._registry import known_options
from abstain._typing import Array, FloatArray
from abstain.outputs import Outputs
from abstain.scores._fitted import FittedScore, fit

if TYPE_CHECKING:
    from abstain.scores._batch import Batch, State

#: What a score is computed from or fitted on. ``"probabilities"`` and ``"predictions"`` follow from logits, too.
Need: TypeAlias = Literal[
    "logits", "probabilities", "features", "head", "passes", "confidence", "column", "predictions", "labels", "loss"
]

#: What an evaluation would have to save, by need.
REMEDIES = {
    "logits": "save them next to the labels",
    "probabilities": "save them next to the labels",
    "features": "save the penultimate layer as features=",
    "head": "give the last layer, head=(W, b), or recover it with scores.recover_head",
    "passes": "save the probabilities of all passes, passes= of shape (runs, n_samples, n_classes)",
    "labels": "give labels=",
    "loss": "give labels or a loss",
    "predictions": "give logits, probabilities or predictions",
}


@dataclass(frozen=True, eq=False)
class Score:
    """A confidence score: higher = more confident, one float64 per sample, never NaN.

    Parameters
    ----------
    name, title : str
        The name to call it by, and how a table or a plot writes it.
    module : str
        Module of :mod:`abstain.scores` with the functions of the score; it is loaded when one of them is needed.
    requires : tuple of str
        What the outputs must hold: logits, probabilities (which follow from logits, not the other way round),
        features, head, passes, predictions, confidence or a column.
    range : str
        Values that it can take.
    source : str
        Where it was described.
    fit_name : str, optional
        Name of the function that fits the score.
    fit_requires : tuple of str
        What the fit data must hold.
    fit_split : "train", "validation" or None
        Which split its authors fit it on.
    grid : dict of str to tuple
        Values of its hyper-parameters that are worth a try; :func:`abstain.tune` tries them.
    cost : str
        Operations per sample, K classes, d features, n fit rows.
    version : int
        Raised when the definition changes; saved files of another version are refused.
    judged_by : "outputs", "mean" or "votes"
        Whose predictions the score is about: those of the outputs, or of the mean or the votes of their passes.
    options : dict
        Hyper-parameters that differ from their defaults; set them with :meth:`using`.

    Examples
    --------
    >>> import abstain
    >>> msp = abstain.scores.get("msp")
    >>> msp.title, msp.needs
    ('Maximum softmax probability', 'probabilities')
    >>> msp(abstain.Outputs(labels=[0, 1], probabilities=[[0.9, 0.1], [0.4, 0.6]]))
    array([0.9, 0.6])
    >>> train = abstain.Outputs(labels=[0, 0, 1], logits=[[2, 0], [3, 0], [0, 1]], features=[[2, 0], [3, 1], [0, 1]])
    >>> knn = abstain.scores.get("knn", neighbours=1)
    >>> knn.needs, knn.fit_split
    ('features + fit: features', 'train')
    >>> knn.fit(train).score(train).round(6)
    array([0., 0., 0.])
    """

    name: str
    title: str
    module: str
    requires: tuple[Need, ...]
    range: str
    source: str
    fit_name: str | None = None
    fit_requires: tuple[Need, ...] = ()
    fit_split: Literal["train", "validation"] | None = None
    grid: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    cost: str = "K"
    version: int = 1
    judged_by: Literal["outputs", "mean", "votes"] = "outputs"
    options: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))

    # ------------------------------------------------------------------ identity

    @cached_property
    def function(self) -> Callable[..., Array]:
        """``function(batch, **options)``, or ``function(batch, state, **options)`` for a score that is fitted."""
        return self._loaded(self.name)

    @cached_property
    def fit_function(self) -> Callable[..., State] | None:
        """``fit_function(outputs, **options)`` returns the arrays that the score keeps from the fit data."""
        return None if self.fit_name is None else self._loaded(self.fit_name)

    def _loaded(self, name: str) -> Callable[..., Array]:
        found: Callable[..., Array] = getattr(import_module(f"abstain.scores._{self.module}"), name)
        return found

    @property
    def needs(self) -> str:
        """What the outputs, and after ``fit:`` the fit data, must hold, in words."""
        fit = f"fit: {', '.join(self.fit_requires)}" if self.fit_name else ""
        return " + ".join(part for part in (", ".join(self.requires), fit) if part)

    @property
    def defaults(self) -> dict[str, object]:
        """Hyper-parameters and their defaults."""
        return {**keywords(self.fit_function), **keywords(self.function)}

    @property
    def settings(self) -> dict[str, object]:
        """Hyper-parameters as they are."""
        return self.defaults | dict(self.options)

    @property
    def fit_settings(self) -> dict[str, object]:
        """The hyper-parameters that the fit depends on; the others only matter when samples are scored."""
        return {key: self.settings[key] for key in keywords(self.fit_function)}

    @property
    def spec(self) -> str:
        """Name with the options that are not the defaults, as :func:`abstain.scores.parse` reads it."""
        inner = ", ".join(f"{key}={value}" for key, value in self.options.items())
        return f"{self.name}({inner})" if inner else self.name

    def using(self, **options: object) -> Score:
        """Return this score with hyper-parameters set; unknown ones are a TypeError that lists the known ones."""
        if not options:
            return self
        known = self.defaults
        known_options(self.name, options, known)
        bound = {**self.options, **options}
        return replace(self, options=MappingProxyType({key: bound[key] for key in known if key in bound}))

    def __getstate__(self) -> dict[str, object]:
        """Pickle and copy, for worker processes; files hold no pickle."""
        return {**self.__dict__, "options": dict(self.options)}

    def bound(self, function: Callable[..., Any] | None) -> dict[str, object]:
        """Return the hyper-parameters that one of its functions takes."""
        return {key: self.settings[key] for key in keywords(function)}

    # ------------------------------------------------------------------ use

    def fit(self, outputs: Outputs | None = None, **options: object) -> FittedScore:
        """Return the fitted score, an immutable value.

        Parameters
        ----------
        outputs : Outputs, optional
            The fit data, see ``fit_split``; scores that are not fitted need none and ignore them.
        **options
            Hyper-parameters, as for :meth:`using`.

        Returns
        -------
        FittedScore

        Raises
        ------
        UnmetNeed
            The fit data are missing or do not hold what the score is fitted on.
        """
        chosen = self.using(**options)
        if chosen.fit_name is not None:
            _require_fit(chosen, outputs)
        return fit(chosen, outputs)

    def __call__(self, outputs: Outputs, fit: Outputs | FittedScore | None = None) -> FloatArray:
        """Compute the score, fitted on ``fit`` if it has to be; raise ``UnmetNeed`` if something is missing.

        A fitted score serves as it is where this one has no options of its own, else with these.
        """
        self.require(outputs)
        if not isinstance(fit, FittedScore):
            return self.fit(fit).score(outputs)
        if self.fit_function is None:
            return self.fit().score(outputs)
        return (fit if fit.name == self.name and not self.options else fit.using(self)).score(outputs)

    def available(self, outputs: Outputs, fit: Outputs | None = None) -> bool:
        """Whether the outputs hold what the score needs, and the fit data what it is fitted on."""
        if self._missing(outputs) is not None:
            return False
        return self.fit_name is None or (fit is not None and _first_missing(self.fit_requires, fit, {}) is None)

    def require(self, outputs: Outputs | Batch) -> None:
        """Raise ``UnmetNeed``, naming what is missing and the remedy, unless the outputs hold what is needed."""
        need = self._missing(outputs)
        if need is not None:
            raise UnmetNeed(_unmet(self, need, outputs))

    def _missing(self, outputs: Outputs | Batch) -> Need | None:
        return _first_missing(self.requires, outputs, self.settings)


def holds(outputs: Any, need: Need, settings: Mapping[str, object]) -> bool:
    """Return whether outputs (or a batch) hold what is needed."""
    if need == "probabilities":
        return outputs.logits is not None or outputs.probabilities is not None
    if need == "predictions":
        return any(getattr(outputs, name) is not None for name in ("logits", "probabilities", "predictions"))
    if need == "loss":
        return outputs.loss is not None or (outputs.labels is not None and holds(outputs, "predictions", settings))
    if need == "column":
        return settings.get("column") in (outputs.scores or {})
    return getattr(outputs, need, None) is not None


def _first_missing(needs: tuple[Need, ...], outputs: Outputs | Batch, settings: Mapping[str, object]) -> Need | None:
    return next((need for need in needs if not holds(outputs, need, settings)), None)


def _require_fit(score: Score, outputs: Outputs | None) -> None:
    """Raise ``UnmetNeed`` unless the fit data hold what the score is fitted on."""
    if outputs is None:
        wanted = f"the {score.fit_split} split with {', '.join(score.fit_requires)}"
        raise UnmetNeed(f"{score.name} is fitted: give fit data, {wanted} (fit=outputs, or --fit FILE)")
    need = _first_missing(score.fit_requires, outputs, score.settings)
    if need is not None:
        raise UnmetNeed(f"{score.name} is fitted on {need}, which the fit data lack; {REMEDIES[need]}")


def _unmet(score: Score, need: Need, outputs: Outputs | Batch) -> str:
    if need == "confidence":
        return "the score 'confidence' needs an external confidence column; give confidence= or choose another score"
    if need == "column":
        name, found = score.settings["column"], outputs.scores
        hint = closest(str(name), found) if found else "these outputs have no scores; give scores={name: column}"
        return f"the score 'column' has column={name!r}, which is no external score of these outputs; {hint}"
    if need == "logits" and outputs.probabilities is not None:
        return (
            f"{score.name} needs logits, but these outputs hold probabilities only: a softmax loses the scale of the "
            "logits and rounds small probabilities to 0, and log-probabilities do not bring these back; "
            "save the logits, or use 'neg_log_error'"
        )
    what = "logits or probabilities" if need == "probabilities" else need
    if need == "probabilities" and getattr(outputs, "passes", None) is not None:
        return f"{score.name} needs {what}, and these outputs hold passes: choose one of theirs, such as 'pass_msp'"
    return f"{score.name} needs {what}, which these outputs do not hold; {REMEDIES[need]}"


@lru_cache(maxsize=256)
def keywords(function: Callable[..., Any] | None) -> Mapping[str, object]:
    """Return the options of a function with their defaults: its keyword-only arguments."""
    parameters = () if function is None else inspect.signature(function).parameters.values()
    return {each.name: each.default for each in parameters if each.kind is each.KEYWORD_ONLY}
