"""How new files hold the score of a policy, and how they are read: what a policy keeps of its calibration file."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from abstain._checks import listed
from abstain._typing import FloatArray
from abstain.policy._contents import Kind
from abstain.policy._scores import compute, inputs_of

if TYPE_CHECKING:
    from abstain.outputs import Columns, Outputs, Reading
    from abstain.policy._policy import Policy

#: Arguments of ``read_outputs`` that a policy may keep, so that new files are read as the calibration file was.
KEPT = (
    "labels", "predictions", "loss", "correct", "quality", "abstained", "uncertainty", "clusters", "class_names",
    "abstain_class", "unscored", "is_ood", "ood_label", "task", "cost_matrix", "confidence_levels",
)  # fmt: skip
#: Columns of which one says what is right.
_VERDICTS = ("loss", "correct", "quality")


def no_columns() -> Columns:
    """Return that nothing is named."""
    return {}


@dataclass(frozen=True)
class ScoreReading:
    """How new files hold one score: what a policy needs in addition to its threshold; see :func:`score_reading`.

    Parameters
    ----------
    score : str
        The column of the score; with ``inputs`` the score that is computed.
    inputs : dict of str to list of str, or None
        ``{"logits": columns}`` or ``{"probabilities": columns}``, from which the score is computed.
    temperature : float or None
        Divides the logits first.
    reading : Columns
        How the calibration file was read, as arguments of :func:`abstain.read_outputs`.
    classes : list of str or None
        The classes in the order of their columns, where the score is computed.

    Examples
    --------
    >>> import abstain
    >>> how = abstain.policy.ScoreReading("entropy", reading={"uncertainty": "entropy"})
    >>> found = abstain.choose_threshold([0, 1, 0], [-0.1, -0.6, -0.2], coverage=0.5)
    >>> found.policy(**how.arguments()).decide({"entropy": 0.15}).accepted
    True
    """

    score: str
    inputs: Mapping[Kind, list[str]] | None = None
    temperature: float | None = None
    reading: Columns = field(default_factory=no_columns)
    classes: list[str] | None = None

    def confidence(self, outputs: Outputs) -> FloatArray:
        """Return the score of each row as a policy reads or computes it: choose the threshold on these."""
        if self.inputs is not None:
            kind = next(iter(self.inputs))
            matrix = getattr(outputs, kind)
            if matrix is None:
                raise ValueError(f"these rows have no {kind}; read them as the calibration rows were")
            with warnings.catch_warnings():  # what is odd about the logits was said when they were read
                warnings.simplefilter("ignore")
                return compute(self.score, kind, matrix, self.temperature)
        columns = {} if outputs.reading is None else outputs.reading.scores
        name = next((name for name, column in columns.items() if column == self.score), None)
        found = outputs.confidence if name is None else (outputs.scores or {}).get(name)
        if found is None:
            raise ValueError(f"these rows have no score {self.score!r}; read them as the calibration rows were")
        return cast(FloatArray, found)

    def arguments(self) -> dict[str, Any]:
        """Return this as arguments of ``policy`` and ``save`` of a threshold."""
        found: dict[str, Any] = {"score": self.score, "temperature": self.temperature}
        for kind, columns in (self.inputs or {}).items():
            found[kind] = columns
        return found | {"reading": dict(self.reading), "class_names": self.classes}


def score_reading(outputs: Outputs, score: str | None = None, temperature: float | None = None) -> ScoreReading:
    """Return how new files hold a score of outputs that were read from a file.

    Parameters
    ----------
    outputs : Outputs
        As :func:`abstain.read_outputs` gives them; of others new files are taken to be written by ``write_outputs``.
    score : str, optional
        The name of a column of scores, ``"confidence"``, or a score that is computed from logits or probabilities.
        Default: the confidence, else the maximum softmax probability.
    temperature : float, optional
        Divides the logits first.

    Returns
    -------
    ScoreReading

    Raises
    ------
    ValueError
        Nothing gives this score in new files: they would lack its column, or what it is computed from.

    Examples
    --------
    >>> import abstain
    >>> outputs = abstain.read_outputs({"y": [0, 1, 1], "pred": [0, 1, 0], "entropy": [0.1, 0.2, 0.6]})
    >>> how = abstain.policy.score_reading(outputs)
    >>> how.score, how.reading
    ('entropy', {'uncertainty': 'entropy'})
    >>> found = abstain.choose_threshold(outputs.loss_per_sample(), how.confidence(outputs), coverage=0.5)
    >>> found.policy(**how.arguments()).decide({"entropy": 0.3}).accepted
    False
    """
    from abstain.outputs import Reading, expect

    expect(outputs, "outputs")
    if score is not None and not isinstance(score, str):
        raise TypeError(f"score must be the name of a score, got {type(score).__name__}")
    single = {} if outputs.confidence is None else {"confidence": "confidence"}  # as write_outputs writes them
    as_written = Reading(single=single, scores={name: f"score_{name}" for name in outputs.scores or {}})
    reading = outputs.reading or as_written
    if temperature is None and score in reading.scores:
        return ScoreReading(reading.scores[str(score)], reading=_columns(outputs, reading, reading.scores[str(score)]))
    if temperature is None and score in (None, "confidence") and outputs.confidence is not None:
        name = _finished(reading)
        return ScoreReading(name, reading=_columns(outputs, reading, name))
    if outputs.logits is None and outputs.probabilities is None:
        raise ValueError(_no_score(score if temperature is None else score or "msp", reading))
    given = reading.given
    by_probabilities = outputs.logits is None or (given.get("probabilities") and not given.get("logits"))
    kind = "probabilities" if by_probabilities else "logits"
    names = reading.matrix.get(kind) or [reading.single.get("positive_probability", kind)]
    inputs = inputs_of(score or "msp", **{"logits": None, "probabilities": None, kind: names}, temperature=temperature)
    classes = list(outputs.class_names or map(str, range(outputs.n_classes or 0)))
    return ScoreReading(score or "msp", inputs, temperature, _columns(outputs, reading, None), classes or None)


def _columns(outputs: Outputs, reading: Reading, finished: str | None) -> Columns:
    """Return what was named, which rows are units, and what says that the model abstained; ``finished``: the score."""
    kept = {"clusters", *(("uncertainty",) if finished is not None else ())}
    if outputs.declines:
        kept.add(next(part for part in ("abstained", "correct", "predictions") if part in reading.single))
    found: dict[str, Any] = {part: name for part, name in reading.single.items() if part in kept}
    found |= {name: _text(name, value) for name, value in reading.given.items() if name in KEPT and value is not None}
    found.pop("confidence_levels", None)
    if finished is None or found.get("uncertainty") != finished:
        found.pop("uncertainty", None)
    levels = reading.levels
    if levels is not None and "uncertainty" not in found and finished == reading.single.get("confidence"):
        found["confidence_levels"] = levels
    return cast("Columns", found)


def _text(name: str, value: Any) -> str | list[str]:
    """Return an argument as a policy keeps it."""
    if name == "cost_matrix":
        from abstain.outputs import cost_texts

        return cost_texts(value)
    return [str(each) for each in value] if isinstance(value, list | tuple) else str(value)


def _finished(reading: Reading) -> str:
    """Return the column that new files have the confidence in."""
    for part in ("confidence", "uncertainty"):
        if part in reading.single:
            return reading.single[part]
    name = reading.single.get("positive_probability")
    other = "" if name is None else f", not {name!r}"
    raise ValueError(
        f"a policy compares a column of confidence with its threshold, but this confidence is "
        f"{reading.column('confidence')}; write it into a column of its own, here and in new files{other}"
    )


def _no_score(score: str | None, reading: Reading) -> str:
    """Return why nothing gives a confidence of each row, and what would."""
    from abstain.scores import names

    if score is not None and score.partition("(")[0] not in names():
        return f"no score that is computed is called {score!r}; a finished column is given as confidence="
    if score is None:
        others = f", one of the other columns: {listed(reading.unused)}" if reading.unused else ""
        return f"nothing says how confident the model is of each row; give confidence= or uncertainty={others}"
    return (
        f"{score!r} is computed from logits or probabilities, which the file does not hold, and a finished column "
        "cannot be scaled; give logits= or probabilities=, or confidence= alone"
    )


def checked(columns: Mapping[str, Any], score: str, inputs: Mapping[Kind, list[str]] | None) -> Columns:
    """Check how files are read, as a policy keeps it; an uncertainty must be the column of the score."""
    for name, value in columns.items():
        words = value if isinstance(value, list) else [value]
        if name not in KEPT or not words or not all(isinstance(each, str) and each for each in words):
            raise ValueError(f"reading[{name!r}] = {value!r} is not valid; give names of columns for {listed(KEPT)}")
    if "confidence_levels" in columns and (inputs is not None or "uncertainty" in columns):
        raise ValueError("reading['confidence_levels'] is for a finished score in words or per cent; leave it out")
    if "uncertainty" in columns and (inputs is not None or columns["uncertainty"] != score):
        raise ValueError(
            f"reading['uncertainty'] = {columns['uncertainty']!r} must be the column of the score, {score!r}; leave it "
            "out, or name it as the score"
        )
    return cast("Columns", dict(columns))


def as_calibrated(policy: Policy, given: Mapping[str, Any]) -> Columns:
    """Return how to read labelled rows: as ``given``, and else as the calibration file was read."""
    told = {name: value for name, value in given.items() if value is not None}
    inputs, kept = policy.inputs or {}, dict(policy.reading)
    if told.keys() & set(_VERDICTS):
        part, name = policy.said_declined() or ("", "")
        if part in ("correct", "predictions") and not told.keys() & {"abstained", "correct"}:
            raise ValueError(
                f"the guarantee is about what the model itself answers, which {name!r} said at calibration; give "
                + (f"correct={name!r}, or " if part == "correct" else "")
                + "abstained= with the column that says so"
            )
        for name in (*_VERDICTS, "labels", "predictions", "cost_matrix"):
            kept.pop(name, None)
    elif told.keys() & {"labels", "predictions"}:
        for name in _VERDICTS:
            kept.pop(name, None)
    if told.get("positive_probability") in inputs.get("probabilities", ()):
        del told["positive_probability"]  # the policy has it
    scored = {} if inputs else {"uncertainty" if "uncertainty" in kept else "confidence": policy.score}
    return cast("Columns", {**dict.fromkeys(given), **kept, **told, **inputs, **scored})


def refuse_mismatch(
    policy: Policy, model: str | None, names: Sequence[str] | None, columns: Sequence[str] | None, scale: float | None
) -> None:
    """Refuse a model, class names, columns or a temperature (``scale``) that the policy was not made for."""
    made = policy.about.get("model")
    if model is not None and made != model:
        said = f"was made for the model {made!r}, not {model!r}" if made else f"does not say its model ({model!r}?)"
        remedy = f"a threshold belongs to one model: choose it again on rows that {model!r} has scored"
        raise ValueError(f"the policy {said}; {remedy}")
    if names is not None and policy.classes is None:
        raise ValueError("the policy does not know its classes; make it with class_names=")
    if names is not None and policy.classes is not None and (given := [str(name) for name in names]) != policy.classes:
        what = "order" if sorted(given) == sorted(policy.classes) else "classes"
        raise ValueError(f"the policy knows other {what}: {listed(policy.classes)}; got {listed(given)}")
    if columns is not None:
        needed = policy.first.columns
        if policy.inputs is not None and len(needed) > 1 and list(columns) != needed:
            raise ValueError(
                f"the policy computes its score from {listed(needed)}, in this order; got {listed(columns)}"
            )
        missing = [name for name in [*needed, *([policy.group] if policy.group else [])] if name not in columns]
        if missing:
            raise ValueError(f"the policy needs the column {missing[0]!r}; got {listed(columns)}")
    if scale is not None and (policy.temperature or 1.0) != scale:
        raise ValueError(f"the policy divides logits by {policy.temperature or 1.0:g}, not {scale:g}")
