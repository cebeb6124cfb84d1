"""``Metric``: one named metric: its value, its gradient with respect to the blocks, and its description."""

from __future__ import annotations

import copyreg
import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from abstain._checks import Undefined, UndefinedMetricWarning, UnmetNeed, to_numpy
from abstain._registry import Registry
from abstain._specs import known_options
from abstain._typing import ArrayLike, FloatArray, NanPolicy
from abstain.blocks import TieBlocks

Direction = Literal["lower", "higher"]
Need = Literal["unit_score", "unit_loss", "binary", "oracle"]
Inference = Literal["smooth", "quantile", "bootstrap", "none"]
Scale = Literal["log", "logit", "identity"]


#: Two numbers per block, (a, b): sample i of block k contributes w_i (a_k + b_k l_i) to the value.
Attribution = tuple[FloatArray, FloatArray]


class Predictions(NamedTuple):
    """Labels and class probabilities, for metrics that a table of scores and losses cannot give.

    ``labels``: integers of shape (n_samples,); ``probabilities``: (n_samples, n_classes); ``confidence`` and
    ``weight``: (n_samples,) or None.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> data = abstain.metrics.Predictions(np.array([0]), np.array([[0.75, 0.25]]))
    >>> abstain.metrics.get("brier_score")(data)
    0.125
    """

    labels: Any
    probabilities: FloatArray
    confidence: FloatArray | None = None
    weight: FloatArray | None = None


class Value(NamedTuple):
    """A metric's value, and the reason if it is NaN.

    Examples
    --------
    >>> import abstain
    >>> blocks = abstain.TieBlocks.from_samples([0, 0], [0.9, 0.8])
    >>> abstain.metrics.get("auroc_f").evaluate(blocks)
    Value(value=nan, reason='there is no failure to detect: every loss is 0')
    """

    value: float
    reason: str | None = None


@dataclass(frozen=True, eq=False)
class Gradient:
    r"""Derivative of a metric with respect to the table: two numbers per block.

    Parameters
    ----------
    weight : ndarray of shape (n_blocks,)
        :math:`\alpha_k = \partial\theta/\partial m_k`.
    loss : ndarray of shape (n_blocks,)
        :math:`\beta_k = \partial\theta/\partial s_k`.
    oracle : Gradient, optional
        Derivative with respect to ``blocks.oracle``, where a loss that is not 0/1 makes that a table of its own.

    Notes
    -----
    A metric of degree 0 obeys :math:`\sum_k m_k\alpha_k + s_k\beta_k = 0` (own and oracle part together).
    The influence of sample i in block k is :math:`W(\alpha_k + \beta_k\ell_i)`.

    Examples
    --------
    >>> import abstain
    >>> blocks = abstain.TieBlocks.from_samples([0, 1, 0], [0.9, 0.8, 0.7])
    >>> abstain.metrics.get("augrc").gradient_of(blocks).loss  # weight of a loss at each rank
    array([0.27777778, 0.16666667, 0.05555556])
    """

    weight: FloatArray
    loss: FloatArray
    oracle: Gradient | None = None

    def scaled(self, factor: float) -> Gradient:
        """Return ``factor`` times this gradient."""
        oracle = None if self.oracle is None else self.oracle.scaled(factor)
        return Gradient(factor * self.weight, factor * self.loss, oracle)

    def plus(self, other: Gradient) -> Gradient:
        """Return the sum of two gradients on the same table; a one-block gradient applies to every block."""
        parts = [part for part in (self.oracle, other.oracle) if part is not None]
        oracle = parts[0].plus(parts[1]) if len(parts) == 2 else (parts[0] if parts else None)
        return Gradient(self.weight + other.weight, self.loss + other.loss, oracle)


@cache
def _defaults(value: Callable[..., float]) -> dict[str, Any]:
    """Options of a leaf's value function; reading a signature is slow beside a small table."""
    parameters = list(inspect.signature(value).parameters.values())[1:]
    return {parameter.name: parameter.default for parameter in parameters}


@dataclass(frozen=True, eq=False)
class Metric:
    """A named metric with its options bound: call it on a table (or on ``Outputs``, as ``input`` says).

    Parameters
    ----------
    name : str
        Name of the public function.
    title : str or callable
        How a table prints it, or a function of the options that says it.
    function : callable
        The public function; its docstring is the metric's page.
    value : callable
        ``value(blocks, **options) -> float``, raising ``Undefined`` where the definition gives no number.
    direction : {"lower", "higher"}
        Which is better.
    range : tuple of float
        Smallest and largest value for a 0/1 loss.
    source : str
        Paper and equation.
    gradient : callable, optional
        ``gradient(blocks, **options) -> Gradient``.
    needs : frozenset of str
        What it needs beyond score and loss sums.
    input : {"blocks", "probabilities"}
        What it is called on: :class:`~abstain.TieBlocks` or :class:`Predictions`.
    inference : {"smooth", "quantile", "bootstrap", "none"} or callable
        How its uncertainty can be had, or a function of the options that says it.
    scale : {"log", "logit", "identity"}
        Scale of its interval; ``"logit"`` of its place within ``range``.
    attribution : callable, optional
        ``attribution(blocks, **options) -> (a, b)``: sample i in block k contributes ``w_i (a_k + b_k l_i)``.
    terms : callable, optional
        ``terms(predictions, **options)``: for a mean over predictions, the value >= 0 of each of them.
    multi_threshold : bool
        Whether it sums up all thresholds.
    convention : str
        Option that names the convention, or the convention's name.
    options : mapping
        Options that differ from the defaults.

    Examples
    --------
    >>> import abstain
    >>> blocks = abstain.TieBlocks.from_samples([0, 1, 0], [0.9, 0.8, 0.7])
    >>> metric = abstain.metrics.get("aurc", estimator="trapezoid")
    >>> metric(blocks), metric.identifier
    (0.2222222222222222, 'aurc/trapezoid')
    """

    name: str
    title: str | Callable[..., str]
    function: Callable[..., Any]
    value: Callable[..., float]
    direction: Direction
    range: tuple[float, float]
    source: str
    gradient: Callable[..., Gradient] | None = None
    needs: frozenset[Need] = frozenset()
    input: Literal["blocks", "probabilities"] = "blocks"
    inference: Inference | Callable[..., Inference] = "smooth"
    scale: Scale = "identity"
    attribution: Callable[..., Attribution] | None = None
    terms: Callable[..., FloatArray] | None = None
    multi_threshold: bool = False
    convention: str = "exact"
    options: Mapping[str, Any] = field(default_factory=dict)

    # ------------------------------------------------------------------ identity

    @property
    def defaults(self) -> dict[str, Any]:
        """Options and their defaults."""
        return dict(_defaults(self.value))

    @property
    def settings(self) -> dict[str, Any]:
        """Options as they are."""
        return self.defaults | dict(self.options)

    @property
    def identifier(self) -> str:
        """Versioned name of metric and convention, for example ``"aurc/plugin"``."""
        return f"{self.name}/{self.settings.get(self.convention, self.convention)}"

    @property
    def label(self) -> str:
        """How a table prints this metric: the title, with options that it does not speak of in parentheses."""
        said: Iterable[str] = ()
        title = self.title
        if not isinstance(title, str):
            said = inspect.signature(title).parameters
            title = title(**self.settings)
        rest = {key: getattr(value, "__name__", value) for key, value in self.options.items() if key not in said}
        inner = ", ".join(str(value) if key == self.convention else f"{key}={value}" for key, value in rest.items())
        return f"{title} ({inner})" if inner else title

    @property
    def inference_kind(self) -> Inference:
        """How the uncertainty of this metric, with its options, can be had."""
        if callable(self.inference):
            return self.inference(**self.settings)
        return self.inference

    @property
    def spec(self) -> str:
        """The text that :func:`abstain.metrics.parse` turns into this metric."""
        inner = ", ".join(f"{key}={value}" for key, value in self.options.items())
        return f"{self.name}({inner})" if inner else self.name

    def using(self, **options: Any) -> Metric:
        """Return this metric with options bound; unknown options are a TypeError that lists the known ones.

        An option that equals its default is not kept, so that equal settings have equal specs.
        """
        if not options:
            return self
        known = self.defaults
        known_options(self.name, options, known)
        bound = {**self.options, **options}
        changed = {key: bound[key] for key in known if key in bound and not _same(bound[key], known[key])}
        return replace(self, options=changed)

    def __reduce__(self) -> Any:
        """Pickle a registered metric by name and options: titles need not be functions that pickle can find."""
        if self.name in METRICS and METRICS[self.name].function is self.function:
            return _registered, (self.name, dict(self.options))
        return copyreg.__newobj__, (type(self),), self.__dict__  # type: ignore[attr-defined]

    # ------------------------------------------------------------------ evaluation

    def __call__(self, data: Any) -> float:
        """Return the value; NaN where it is undefined (:meth:`evaluate` also says why)."""
        return self.evaluate(data).value

    def evaluate(self, data: Any) -> Value:
        """Return the value together with the reason if it is NaN."""
        self.require(data)
        try:
            return Value(float(self.value(data, **self.options)))
        except Undefined as why:
            return Value(np.nan, str(why))

    def gradient_of(self, blocks: TieBlocks) -> Gradient:
        """Return the derivative with respect to the table."""
        if self.gradient is None:
            raise UnmetNeed(f"{self.name} has no gradient (inference: {self.inference_kind}); use a bootstrap")
        self.require(blocks)
        return self.gradient(blocks, **self.options)

    def of(
        self,
        loss: ArrayLike,
        confidence: ArrayLike,
        sample_weight: ArrayLike | None = None,
        nan_policy: NanPolicy = "raise",
    ) -> float:
        """Return the value from samples; warns with the reason where it is NaN."""
        blocks = TieBlocks.from_samples(
            loss,
            confidence,
            sample_weight,
            nan_policy=nan_policy,
            oracle=not self.needs.isdisjoint({"oracle", "unit_loss"}),
        )
        return self.warned(blocks, stacklevel=4)

    def warned(self, data: Any, stacklevel: int = 3) -> float:
        """Return the value, with an UndefinedMetricWarning that says why if it is NaN."""
        value, reason = self.evaluate(data)
        if reason is not None:
            warnings.warn(f"{self.name} is undefined: {reason}", UndefinedMetricWarning, stacklevel=stacklevel)
        return value

    def require(self, data: Any) -> None:
        """Raise UnmetNeed, naming what is missing and the remedy, unless ``data`` holds what the metric needs."""
        wanted = TieBlocks if self.input == "blocks" else Predictions
        if not isinstance(data, wanted):
            raise TypeError(
                f"{self.name} takes {wanted.__name__}, got {type(data).__name__}; "
                f"call abstain.{self.name}{inspect.signature(self.function)} on samples"
            )
        for need in sorted(self.needs):  # only metrics on tables have needs
            missing = _missing(need, cast(TieBlocks, data))
            if missing:
                raise UnmetNeed(f"{self.name} needs {missing}")


def _registered(name: str, options: Mapping[str, Any]) -> Metric:
    return METRICS[name].using(**options)


def _same(one: Any, other: Any) -> bool:
    """Whether two option values are equal; NaN equals NaN."""
    both_nan = isinstance(one, float) and isinstance(other, float) and one != one and other != other
    return one is other or both_nan or np.array_equal(one, other)


def _largest_loss(blocks: TieBlocks) -> float:
    """Largest loss as far as the table can tell: a block of (0, 1.5) alone only shows its mean."""
    if blocks._oracle is not None:
        return -float(blocks._oracle.score[-1])
    if blocks.samples is not None:
        return float(np.max(to_numpy(blocks.samples.loss)))
    return float(np.max(blocks.loss / blocks.weight))


def _missing(need: Need, blocks: TieBlocks) -> str | None:
    """Return what is missing with its remedy, or None if the need is met."""
    if need == "binary" and not blocks.binary:
        return "a 0/1 loss, but other losses occur; use losses.zero_one, or augrc and aurc, which take any loss"
    if need == "unit_loss" and not blocks.binary:
        largest = _largest_loss(blocks)
        if largest > 1.0 + 1e-12:
            return f"losses in [0, 1] (1 - correctness), but the largest is at least {largest:.6g}; rescale them"
    if need == "unit_score":
        low, high = float(blocks.score[-1]), float(blocks.score[0])
        if low < 0.0 or high > 1.0:
            return (
                f"confidence scores that are probabilities in [0, 1], but they span [{low:.6g}, {high:.6g}]; "
                "pass a probability, or use a rank metric such as augrc"
            )
    if need == "oracle":
        try:
            _ = blocks.oracle
        except UnmetNeed as why:
            return str(why)
    return None


#: All metrics, in the order in which tables print them.
METRICS: Registry[Metric] = Registry("metric")
