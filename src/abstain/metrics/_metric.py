"""``Metric``: one named metric: its value, its gradient with respect to the blocks, and all that is known of it."""

from __future__ import annotations

import copyreg
import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from typing import Any, Literal, TypeVar, cast

import numpy as np

from abstain._checks import Undefined, UndefinedMetricWarning, UnmetNeed, to_numpy
from abstain._registry import Registry, known_options
from abstain._typing import ArrayLike, FloatArray, NanPolicy, Options
from abstain.blocks import TieBlocks
from abstain.metrics._facts import AcceptedLoss, FromSums, Image, Relative, Tail
from abstain.metrics._gradient import Attribution, Data, Gradient, Predictions, Value, clipped, outside

Direction = Literal["lower", "higher"]
Need = Literal["unit_score", "unit_loss", "binary", "oracle"]
Inference = Literal["smooth", "quantile", "bootstrap", "none"]
Scale = Literal["log", "logit", "identity"]
Input = Literal["blocks", "probabilities", "joint"]
Reads = Literal["order", "scores"]
Fact = TypeVar("Fact")


@cache
def _parameters(function: Callable[..., float]) -> dict[str, inspect.Parameter]:
    """Parameters of a function; reading a signature is slow compared with a small table."""
    return dict(inspect.signature(function).parameters)


@cache
def _defaults(value: Callable[..., float]) -> Options:
    """Options of a value function."""
    return {parameter.name: parameter.default for parameter in list(_parameters(value).values())[1:]}


@dataclass(frozen=True, eq=False)
class Metric:
    """A named metric with its options bound: call it on a table, or on predictions, as ``input`` says.

    What is written as "or callable" can be a function of the options, by name, that returns it; :meth:`said` asks it.

    Parameters
    ----------
    name : str
        Name of the public function, for that of another package with the package: ``"joint.ds_f1"``.
    title : str or callable
        How a table prints it, or a function of the options that says it.
    function : callable
        The public function; its docstring is the metric's page.
    value : callable
        ``value(blocks, **options) -> float``, raising ``Undefined`` where the definition gives no number.
    direction : {"lower", "higher"}
        Which is better.
    source : str
        Paper and equation.
    range : tuple of float
        Smallest and largest value for a 0/1 loss.
    gradient : callable, optional
        ``gradient(blocks, **options) -> Gradient``.
    needs : frozenset of {"unit_score", "unit_loss", "binary", "oracle"}
        What it needs beyond score and loss sums: scores or losses in [0, 1], a 0/1 loss, the loss-ordered table.
    input : {"blocks", "probabilities", "joint"}
        What it is called on: :class:`~abstain.TieBlocks`, :class:`Predictions`, or scores of ID and OOD samples.
    inference : {"smooth", "quantile", "bootstrap", "none"} or callable
        How its uncertainty can be had: from the gradient; from the gradient with a moving threshold; by resampling
        only; not at all, because its bias does not vanish compared with its spread.
    scale : {"log", "logit", "identity"}
        Scale of its interval; ``"logit"`` of its place within ``range``.
    attribution : callable or "losses", optional
        ``attribution(blocks, **options) -> (a, b)``: sample i in block k contributes ``w_i (a_k + b_k l_i)``.
        ``"losses"``: the metric is linear in the losses, and b is the gradient's.
    terms : callable, optional
        ``terms(predictions, **options)``: for a mean over predictions, the value >= 0 of each of them.
    multi_threshold : bool
        Whether it sums up all thresholds.
    convention : str
        Option that names the convention, or the convention's name.
    image : Image, optional
        The metric of which this one is an image; intervals are then images too.
    worst : callable, optional
        ``worst(p, **options)``: the largest value that an error rate up to p allows; bounds it where no error occurred.
    few_errors : Relative, Tail or callable, optional
        What few errors take from its standard error.
    accepted_loss : AcceptedLoss or callable, optional
        That it is the loss of what is accepted. ``inference="quantile"`` needs it.
    from_sums : FromSums, optional
        Closed form for a bootstrap.
    smooth_twin : callable, optional
        ``smooth_twin(metric)``: the metric with a gradient to which it is asymptotically equal, or itself.
    unattained : float, optional
        Its value in comparisons and resamples where no threshold attains what it asks for.
    tolerated : callable, optional
        ``tolerated(**options)``: it is the largest coverage whose selective risk is at most this.
    doubt : callable, optional
        ``doubt(blocks, **options)``: what the reader of its interval on this table must know, or None.
    reads : {"order", "scores"} or callable
        Whether monotone changes of the score leave it as it is; metrics that need unit scores read the scores.
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
    function: Callable[..., float]
    value: Callable[..., float]
    direction: Direction
    source: str
    range: tuple[float, float] = (0.0, 1.0)
    gradient: Callable[..., Gradient] | None = None
    needs: frozenset[Need] = frozenset()
    input: Input = "blocks"
    inference: Inference | Callable[..., Inference] = "smooth"
    scale: Scale = "identity"
    attribution: Callable[..., Attribution] | Literal["losses"] | None = None
    terms: Callable[..., FloatArray] | None = None
    multi_threshold: bool = False
    convention: str = "exact"
    image: Image | None = None
    worst: Callable[..., float] | None = None
    few_errors: Relative | Tail | Callable[..., Relative | Tail | None] | None = None
    accepted_loss: AcceptedLoss | Callable[..., AcceptedLoss | None] | None = None
    from_sums: FromSums | None = None
    smooth_twin: Callable[[Metric], Metric] | None = None
    unattained: float | None = None
    tolerated: Callable[..., float] | None = None
    doubt: Callable[..., str | None] | None = None
    reads: Reads | Callable[..., Reads] = "order"
    options: Mapping[str, object] = field(default_factory=dict)

    # ------------------------------------------------------------------ identity

    @property
    def defaults(self) -> Options:
        """Options and their defaults."""
        if self.image is not None:
            own = _parameters(self.function)
            return {name: value for name, value in self.image.of.defaults.items() if name in own}
        if self.input == "joint":
            every = _parameters(self.function).values()
            return {each.name: each.default for each in every if each.default is not each.empty}
        return dict(_defaults(self.value))

    @property
    def settings(self) -> Options:
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
            said = _parameters(title)
            title = title(**self.settings)
        rest = {key: getattr(value, "__name__", value) for key, value in self.options.items() if key not in said}
        inner = ", ".join(str(value) if key == self.convention else f"{key}={value}" for key, value in rest.items())
        return f"{title} ({inner})" if inner else title

    @property
    def inference_kind(self) -> Inference:
        """How the uncertainty of this metric, with its options, can be had."""
        return self.said(self.inference)

    @property
    def base(self) -> Metric:
        """The metric of which this one is an image, with the same options; the metric itself if it is none."""
        return self if self.image is None else self.image.of.using(**self.options)

    @property
    def smooth(self) -> Metric:
        """The metric whose gradient serves for this one: itself, or its smooth twin."""
        return self if self.smooth_twin is None else self.smooth_twin(self)

    @property
    def reads_score(self) -> bool:
        """Whether it is a metric of a confidence score at all; accuracy and NLL are not."""
        return "confidence" in _parameters(self.function)

    @property
    def reads_order(self) -> bool:
        """Whether only the order of the scores counts."""
        return "unit_score" not in self.needs and self.said(self.reads) == "order"

    def said(self, fact: Fact | Callable[..., Fact]) -> Fact:
        """Return a fact, such as ``metric.few_errors``, for the options as they are."""
        return fact(**self.base.settings) if callable(fact) else fact

    @property
    def home(self) -> str:
        """Where the public function is found, with the module."""
        module = self.function.__module__
        return f"abstain.{self.name}" if module.startswith("abstain.") else f"{module}.{self.function.__name__}"

    @property
    def spec(self) -> str:
        """The text that :func:`abstain.metrics.parse` turns into this metric."""
        inner = ", ".join(f"{key}={value}" for key, value in self.options.items())
        return f"{self.name}({inner})" if inner else self.name

    def using(self, **options: object) -> Metric:
        """Return this metric with options bound; unknown options are a TypeError that lists the known ones.

        An option that equals its default is not kept, so that equal settings have equal specs.
        """
        if not options:
            return self
        known = self.defaults
        known_options(self.name, options, known)
        bound = {**self.options, **options}
        changed = {key: bound[key] for key in known if key in bound and not same(bound[key], known[key])}
        return replace(self, options=changed) if changed or self.options else self

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle a registered metric by name and options: titles need not be functions that pickle can find."""
        if self.name in METRICS and METRICS[self.name].function is self.function:
            return _registered, (self.function.__module__, self.name, dict(self.options))
        return copyreg.__newobj__, (type(self),), self.__dict__  # type: ignore[attr-defined]

    # ------------------------------------------------------------------ evaluation

    def __call__(self, data: Data) -> float:
        """Return the value; NaN where it is undefined (:meth:`evaluate` also says why)."""
        return self.evaluate(data).value

    def evaluate(self, data: Data) -> Value:
        """Return the value together with the reason if it is NaN."""
        self.require(data)
        try:
            return Value(self.unchecked(data))
        except Undefined as why:
            return Value(np.nan, str(why))

    def unchecked(self, data: Data) -> float:
        """Return the value of data that hold what it needs; where it is undefined, that is raised."""
        return float(
            self.value(clipped(cast(TieBlocks, data))[0] if "unit_score" in self.needs else data, **self.options)
        )

    def gradient_of(self, blocks: TieBlocks) -> Gradient:
        """Return the derivative with respect to the table."""
        if self.gradient is None:
            raise UnmetNeed(f"{self.name} has no gradient (inference: {self.inference_kind}); use a bootstrap")
        self.require(blocks)
        table, block = clipped(blocks) if "unit_score" in self.needs else (blocks, slice(None))
        try:
            found = self.gradient(table, **self.options)
        except Undefined as why:  # an image has reasons of its own
            raise Undefined(self.evaluate(blocks).reason or str(why)) from None
        return found if table is blocks else Gradient(found.weight[block], found.loss[block])

    def attribution_of(self, blocks: TieBlocks) -> Attribution:
        """Return (a, b) per block: sample i in block k contributes ``w_i (a_k + b_k l_i)``."""
        if self.attribution is None:
            raise UnmetNeed(f"{self.name} is no sum over samples")
        if self.attribution == "losses":
            return np.zeros(len(blocks)), self.gradient_of(blocks).loss
        table, block = clipped(blocks) if "unit_score" in self.needs else (blocks, slice(None))
        a, b = self.attribution(table, **self.options)
        return (a, b) if table is blocks else (a[block], b[block])

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

    def warned(self, data: Data, stacklevel: int = 3) -> float:
        """Return the value, with an UndefinedMetricWarning that says why if it is NaN."""
        value, reason = self.evaluate(data)
        if reason is not None:
            warnings.warn(f"{self.name} is undefined: {reason}", UndefinedMetricWarning, stacklevel=stacklevel)
        return value

    def require(self, data: Data) -> None:
        """Raise UnmetNeed, naming what is missing and the remedy, unless ``data`` holds what the metric needs."""
        wanted = TieBlocks if self.input == "blocks" else Predictions
        if self.input == "joint" or not isinstance(data, wanted):
            takes = "scores of ID and OOD samples" if self.input == "joint" else wanted.__name__
            raise TypeError(
                f"{self.name} takes {takes}, got {type(data).__name__}; "
                f"call {self.home}{inspect.signature(self.function)} on samples"
            )
        for need in sorted(self.needs):  # only metrics on tables have needs
            missing = _missing(need, cast(TieBlocks, data))
            if missing:
                raise UnmetNeed(f"{self.name} needs {missing}")


def _registered(module: str, name: str, options: Mapping[str, object]) -> Metric:
    import_module(module)  # a metric of the user's own is registered where it is written
    return METRICS[name].using(**options)


def same(one: Any, other: Any) -> bool:
    """Whether two option values are equal; NaN equals NaN."""
    if isinstance(one, str | float | int) and isinstance(other, str | float | int):  # fast, as this is asked often
        return bool(one == other) or (one != one and other != other)
    return one is other or np.array_equal(one, other)


def _largest_loss(blocks: TieBlocks) -> float:
    """Largest loss as far as the table shows: a block of (0, 1.5) alone only shows its mean."""
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
        if outside(blocks.score):
            scaled = "divide per cent by 100, " if low >= 0.0 and 10.0 < high <= 100.0 else ""
            return (
                f"confidence scores that are probabilities in [0, 1], but they span [{low:.6g}, {high:.6g}]; "
                f"{scaled}pass a probability, or use a rank metric such as augrc"
            )
    if need == "oracle":
        try:
            _ = blocks.oracle
        except UnmetNeed:
            return "the loss-ordered table, as the loss is not 0/1: give all rows, or build TieBlocks with oracle=True"
    return None


#: All metrics, in the order in which tables print them.
METRICS: Registry[Metric] = Registry("metric", modules=("abstain.joint",))
