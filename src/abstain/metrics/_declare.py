"""``register``: one declaration makes a function a metric. What all metrics say of their columns stands here."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from abstain._checks import plain, real
from abstain._registry import known_options
from abstain._typing import Options
from abstain.metrics._facts import Image
from abstain.metrics._gradient import check_predictions
from abstain.metrics._metric import METRICS, Metric, same

P = ParamSpec("P")
R = TypeVar("R")

#: What a docstring does not state of its parameters. Braces: by what the metric needs.
COLUMNS = {
    "loss": ("array-like of shape (n_samples,)", "{loss}"),
    "confidence": ("array-like of shape (n_samples,)", "{confidence}"),
    "labels": ("array-like of shape (n_samples,)", "Labels 0, ..., K-1."),
    "probabilities": ("array-like of shape (n_samples, n_classes)", "Class probabilities."),
    "sample_weight": ("array-like of shape (n_samples,), optional", "Weights >= 0, on both axes; default 1 each."),
    "nan_policy": ('{"raise", "reject", "drop"}', "What a NaN score means: {nan_policy}"),
}
LOSS = {"binary": "0/1 loss.", "unit_loss": "Loss per sample in [0, 1]; 0 = right, 1 = wrong."}
#: What a function raises that says nothing of it.
UNMET = {"binary": "A loss that is not 0/1", "unit_loss": "losses above 1", "unit_score": "confidences outside [0, 1]"}
#: What each module has said of an option, by its name: it need not say it again.
SAID: dict[str, dict[str, str]] = {}


def documented(function: Callable[P, R], needs: frozenset[str] = frozenset(), returns: str = "") -> Callable[P, R]:
    """Complete a docstring: parameters that it does not describe, range, and the errors that follow from the needs."""
    summary, *parts = re.split(r"\n\n(?=[A-Z][A-Za-z ]+\n-{4,}\n)", inspect.getdoc(function) or "")
    if not parts:  # python -OO, or no numpydoc
        return function
    sections = {part.split("\n", 1)[0]: part.split("\n", 2)[2] for part in parts}
    own = re.findall(r"^\S.*(?:\n +.*)*", sections.get("Parameters", ""), re.MULTILINE)
    entries = {name: entry for entry in own for name in re.split(r",\s*", re.split(r" :|\n", entry)[0])}
    said = SAID.setdefault(function.__module__, {})
    said |= {name: entry for name, entry in entries.items() if name not in COLUMNS}
    names = _names(getattr(function, "__wrapped__", function))
    listed = dict.fromkeys(entries.get(name) or said.get(name) or _column(name, needs) for name in names)
    unmet = "; ".join(words for need, words in UNMET.items() if need in needs)
    raised = f"UnmetNeed\n    {unmet[:1].upper()}{unmet[1:]}.\n" if unmet else ""
    raised += "ValueError, TypeError\n    Bad columns or options."
    sections = {"Parameters": "", "Returns": returns, "Raises": raised} | sections | {"Parameters": "\n".join(listed)}
    filled = [f"{name}\n{'-' * len(name)}\n{text}" for name, text in sections.items() if text]
    function.__doc__ = "\n\n".join([summary, *filled])
    return function


def _names(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the parameters."""
    code = function.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _column(name: str, needs: frozenset[str]) -> str:
    """Return the entry of a shared column, or only the name of a parameter of which nothing is known."""
    words = {
        "loss": next((text for need, text in LOSS.items() if need in needs), "Loss per sample, >= 0."),
        "confidence": "Confidence score, higher = more confident.",
        "nan_policy": "an error, ranked last and never accepted, or left out; see :class:`abstain.TieBlocks`.",
    }
    if "unit_score" in needs:
        words["confidence"] = "Probability of being right, in [0, 1]."
        words["nan_policy"] = 'an error, or left out ("reject" gives a score of -inf, which is no probability).'
    kind, text = COLUMNS.get(name, ("option", ""))
    return f"{name} : {kind}\n    {text.format(**words)}".rstrip()


def register(
    *,
    name: str | None = None,
    image: Image | None = None,
    given: Callable[..., Options] | None = None,
    **facts: Any,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    r"""Make a function a metric: it is then known by name to everything that takes metrics.

    The function is called on samples. Its body can stay empty: the decorator writes it from ``value`` and the columns
    (``loss`` and ``confidence``, or ``labels`` and ``probabilities``; ``sample_weight``; ``nan_policy``). All other
    parameters are options, those of ``value``. Columns that the docstring does not describe get the text that all
    metrics share.

    Parameters
    ----------
    name : str, optional
        Default: that of the function, after ``joint.`` for a metric of two data sets.
    image : Image, optional
        From :func:`image_of`, for a metric that is offset + factor x another one: what is not given comes from there.
    given : callable, optional
        ``given(**options)`` returns the options that the metric has from those that the function was called with.
    **facts
        Fields of :class:`Metric`; at least ``title``, ``direction``, ``source``, and ``value`` or ``image``.

    Returns
    -------
    callable
        A decorator; the function keeps its signature.

    Raises
    ------
    ValueError
        A name that is taken.
    TypeError
        An unknown fact, or one that is missing.

    Examples
    --------
    >>> import abstain
    >>> def _value(blocks, worst_share=0.1):
    ...     accepted = blocks.cumulative_weight <= worst_share * blocks.total_weight
    ...     return float(blocks.loss[accepted].sum()) / blocks.total_weight
    >>> @abstain.metrics.register(title="Early loss", value=_value, direction="lower", source="own",
    ...                           inference="bootstrap")
    ... def early_loss(loss, confidence, *, worst_share=0.1, sample_weight=None, nan_policy="raise"):
    ...     "Loss among the most confident, per sample of all."
    >>> early_loss([1, 0, 0, 1], [0.9, 0.8, 0.7, 0.6], worst_share=0.5)
    0.25
    >>> abstain.metrics.get("early_loss").input
    'blocks'
    """
    known = {each.name: ... for each in fields(Metric) if each.name not in ("function", "options")}
    known_options("register", facts, known)

    def declare(function: Callable[P, R]) -> Callable[P, R]:
        described = ({} if image is None else image.facts()) | facts
        described["needs"] = frozenset(described.get("needs", ()))
        if described.get("input") == "joint":
            described = {"value": function, "inference": "bootstrap"} | described
        low, high = described.get("range", (0.0, 1.0))
        returns = f"float\n    In [{low:g}, {high:g}]; {described.get('direction', '')} is better."
        documented(function, described["needs"], returns)
        public: Callable[..., Any] = function
        if described.get("input") != "joint":
            public = _on_samples(function, name or function.__name__, described.get("input", "blocks"), given)
        own = f"joint.{function.__name__}" if public is function else function.__name__
        metric = Metric(name=name or own, function=public, image=image, **described)
        if public is not function and given is None:
            for option, value in _usual(function).items():
                if option not in metric.defaults or not same(value, metric.defaults[option]):
                    raise TypeError(
                        f"{metric.name}: {option}={value!r} is no option of value, or has another default there"
                    )
        METRICS.register(metric)
        return public

    return declare


def image_of(function: Callable[..., Any], offset: float, factor: float) -> Image:
    """Return that a metric is ``offset + factor`` times the one of this public function.

    Parameters
    ----------
    function : callable
        A registered function, such as ``abstain.risk``.
    offset, factor : float
        ``factor`` not 0.

    Returns
    -------
    Image
        For :func:`register`.

    Raises
    ------
    ValueError
        A function that is no metric; a factor of 0.

    Examples
    --------
    >>> import abstain
    >>> abstain.metrics.image_of(abstain.risk, 1.0, -1.0)(0.25)
    0.75
    """
    offset, factor = real(offset, "offset", "of any size"), real(factor, "factor", "other than 0")
    if not np.isfinite([offset, factor]).all():
        raise ValueError(f"offset and factor must be finite, got offset={offset!r}, factor={factor!r}")
    if factor == 0.0:
        raise ValueError("factor is 0, so every value would have the same image")
    return Image(metric_of(function), offset, factor)


def metric_of(function: Callable[..., Any]) -> Metric:
    """Return the metric of a public function."""
    for entry in METRICS.loaded():
        if entry.function is function:
            return entry
    named = getattr(function, "__name__", type(function).__name__)
    raise ValueError(f"the function {named!r} is no metric; register it first")


def _on_samples(
    function: Callable[..., Any], name: str, input: str, given: Callable[..., Options] | None
) -> Callable[..., Any]:
    """Return the function with a body: its columns, checked and sorted, go to the metric of that name."""
    code = function.__code__
    positional, known = code.co_varnames[: code.co_argcount], _names(function)
    usual = _usual(function)

    @wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        for key in kwargs:
            if key not in known:
                takes = ", ".join(known)
                raise TypeError(f"{function.__name__}() got an unexpected keyword argument {key!r}; it takes {takes}")
        own = function(*args, **kwargs)  # checks the arguments as Python does; a body that computes something is kept
        if own is not None:
            return own
        columns = kwargs | dict(zip(positional, args, strict=False))
        options = {key: columns.pop(key) for key in usual if key in columns}
        metric = METRICS[name].using(**(options if given is None else given(**(usual | options))))
        if input == "probabilities":
            return metric.warned(check_predictions(**columns))
        if "confidence" not in positional:
            columns["confidence"] = np.zeros(plain(columns["loss"], "loss").shape)
        return metric.of(**columns)

    return public


def _usual(function: Callable[..., Any]) -> Options:
    """Return the options of a public function with their defaults."""
    code, defaults = function.__code__, function.__defaults__ or ()
    last = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
    found = dict(zip(last, defaults, strict=True)) | (function.__kwdefaults__ or {})
    return {key: value for key, value in found.items() if key not in COLUMNS}
