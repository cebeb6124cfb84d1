"""A policy: what a deployment needs to know about a threshold, in one small JSON file that notices being edited."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import inf, isfinite
from sys import float_info
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain._checks import listed, vector
from abstain._files import write_text
from abstain._typing import ArrayLike, BoolArray, FloatArray
from abstain.thresholds._grouped import accept_by_group
from abstain.thresholds._inputs import compute, inputs_of

if TYPE_CHECKING:
    from abstain.thresholds._groups import GroupThresholds
    from abstain.thresholds._results import Threshold

FORMAT = "abstain.policy/1"
_FORMER = "recuse.policy/1"  # refused, with the remedy: no file is read under two names
#: Arguments of ``read_outputs`` that a policy may keep, so that new files are read as the calibration file was.
READING = (
    "labels", "predictions", "loss", "correct", "quality", "abstained", "uncertainty", "clusters", "class_names",
    "abstain_class", "unscored", "is_ood", "ood_label", "task",
)  # fmt: skip
_KEYS = ("score", "inputs", "temperature", "group", "thresholds", "objective", "guarantee", "calibration")


@dataclass(frozen=True)
class Policy:
    """Accept if score >= threshold, with what was promised and on what rows; see :func:`load_policy`.

    Parameters
    ----------
    score : str
        Column of the confidence score in new files; with ``inputs`` the score that is computed, see
        :func:`abstain.scores.names`.
    inputs : dict of str to list of str, or None
        ``{"logits": columns}`` or ``{"probabilities": columns}``, from which the score is computed.
    temperature : float or None
        Divides the logits before the score is computed.
    group : str or None
        Column of the groups, if there is a threshold for each.
    thresholds : dict of str to float
        Threshold per group; without groups the only key is ``""``. +inf rejects everything.
    objective : dict
        What was asked for.
    guarantee : dict or None
        Risk, delta, largest loss, procedure, bound and the promise in words; None: nothing is promised.
    calibration : dict
        n, fingerprint of the rows, coverage, deciles of the score, versions; per group where there are groups.
    reading : dict of str to str or list of str
        How the calibration file was read, as arguments of :func:`abstain.read_outputs`. With ``abstained`` (or
        ``correct``, whose words say so) rows that the model itself declined are rejected; with ``uncertainty`` the
        score is minus its column; with ``clusters`` rows that share its values are watched as one.

    Examples
    --------
    >>> import abstain
    >>> found = abstain.choose_threshold([0, 1, 0], [0.9, 0.2, 0.6], coverage=0.5)
    >>> policy = found.policy(score="msp")
    >>> policy.accept([0.7, 0.5]).tolist(), policy.guarantee
    ([True, False], None)
    >>> found.policy(score="msp", logits=["z0", "z1"], temperature=2.0).confidence([[0.0, 4.0]]).round(3)
    array([0.881])
    """

    score: str
    inputs: Mapping[str, list[str]] | None
    temperature: float | None
    group: str | None
    thresholds: Mapping[str, float]
    objective: Mapping[str, Any]
    guarantee: Mapping[str, Any] | None
    calibration: Mapping[str, Any]
    reading: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(
        cls, found: Threshold | GroupThresholds, *, score: str, group: str | None = None,
        logits: str | Sequence[str] | None = None, probabilities: str | Sequence[str] | None = None,
        temperature: float | None = None, reading: Mapping[str, Any] | None = None,
    ) -> Policy:  # fmt: skip
        """Return the policy of one threshold, or of one per group: the promise then covers the groups that have one."""
        groups: Mapping[str, Threshold] | None = getattr(found, "groups", None)
        columns = {"score": score} | ({} if groups is None else {"group": group})
        for name, column in columns.items():
            if not isinstance(column, str) or not column:
                raise TypeError(f"{name} must be text, got {column!r}; name the column in new files")
        inputs = inputs_of(score, logits, probabilities, temperature)
        each: Any = {"": found} if groups is None else groups
        thresholds = {name: one.threshold for name, one in each.items()}
        objective = next(iter(each.values())).objective
        read = read_as(reading or {}, score, inputs)
        return cls(score, inputs, temperature, group, thresholds, objective, found.guarantee(), found.calibration, read)

    def confidence(self, matrix: ArrayLike) -> FloatArray:
        """Return the score of rows of logits or probabilities, as the policy states; NaN where an entry is missing."""
        if self.inputs is None:
            raise ValueError(f"this policy takes its score from the column {self.score!r}; nothing is computed")
        kind: Any = next(iter(self.inputs))
        return compute(self.score, kind, matrix, self.temperature)

    def said_declined(self) -> tuple[str, str] | None:
        """Return what says which rows the model itself declined: the part of a file, and its column."""
        for part in ("abstained", *(("correct", "predictions") if self.calibration.get("answered") else ())):
            if part in self.reading:
                return part, self.reading[part]
        return None

    def accept(self, confidence: ArrayLike, groups: ArrayLike | None = None) -> BoolArray:
        """Return the accept mask of new scores; NaN scores and unknown groups are rejected."""
        scores = vector(confidence, "confidence", np, None)
        if self.group is None:
            return np.asarray((scores >= self.thresholds[""]) & (self.thresholds[""] < inf))
        if groups is None:
            raise TypeError(f"this policy has one threshold per {self.group}; give groups=")
        return accept_by_group(self.thresholds, scores, groups)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the policy as JSON; infinite thresholds are written as text."""
        content = self._content()
        text = json.dumps({"format": FORMAT, **content, "digest": _digest(content)}, indent=2, allow_nan=False)
        write_text(path, text + "\n")

    def _content(self) -> dict[str, Any]:
        content = asdict(self)
        content["thresholds"] = {
            name: value if isfinite(value) else str(value) for name, value in self.thresholds.items()
        }
        return content


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, allow_nan=False).encode()).hexdigest()


def load_policy(path: str | os.PathLike[str], *, edited: bool = False) -> Policy:
    """Read a policy and check it.

    Parameters
    ----------
    path : str or path
        A file that :meth:`Policy.save` wrote.
    edited : bool
        Accept a file that was changed by hand. Its guarantee, and what calibration had shown, are dropped: they were
        found for other numbers.

    Returns
    -------
    Policy

    Raises
    ------
    FileNotFoundError
        No such file.
    ValueError
        Not a policy; a field that is missing, unknown or out of range; a file that was edited.

    Examples
    --------
    >>> import pathlib, tempfile, abstain
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "policy.json"
    >>> abstain.choose_threshold([0, 1, 0], [0.9, 0.2, 0.6], coverage=0.5).save(file, score="msp")
    >>> abstain.load_policy(file).thresholds
    {'': 0.6}
    """
    name = os.fspath(path)
    try:
        with open(name, encoding="utf-8") as file:
            found = json.load(file, parse_constant=_no_constant)
    except FileNotFoundError:
        raise FileNotFoundError(f"{name}: no such policy; write one with 'abstain threshold'") from None
    except (ValueError, OSError, RecursionError) as error:
        why = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise ValueError(f"{name}: cannot be read as a policy ({why}); write one with 'abstain threshold'") from None
    if isinstance(found, dict) and found.get("format") == _FORMER:
        raise ValueError(f"{name}: was written when abstain was called recuse; write it again with 'abstain threshold'")
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise ValueError(f"{name}: is no policy of format {FORMAT!r}; write it with 'abstain threshold'")
    content = {key: value for key, value in found.items() if key not in ("format", "digest")}
    if content.keys() - {"reading"} != set(_KEYS):
        wrong = sorted(set(_KEYS) ^ (content.keys() - {"reading"}))
        raise ValueError(f"{name}: fields missing or unknown: {', '.join(wrong)}; write the policy again")
    policy = _checked(name, content)
    if found.get("digest") != _digest(content):
        if not edited:
            raise ValueError(
                f"{name}: was edited after it was saved, so its guarantee is void; restore the file, choose the "
                "threshold again, or load it with edited=True (the guarantee is then dropped)"
            )
        kept = {key: value for key, value in policy.calibration.items() if key in ("n", "answered")}
        return replace(policy, guarantee=None, calibration=kept)
    return policy


def read_as(reading: Mapping[str, Any], score: str, inputs: Mapping[str, Any] | None) -> dict[str, Any]:
    """Check how files are read; an uncertainty must be the column of the score."""
    for name, value in reading.items():
        words = value if isinstance(value, list) else [value]
        if name not in READING or not words or not all(isinstance(each, str) and each for each in words):
            raise ValueError(f"reading[{name!r}] = {value!r} is not valid; give names of columns for {listed(READING)}")
    if "uncertainty" in reading and (inputs is not None or reading["uncertainty"] != score):
        raise ValueError(
            f"reading['uncertainty'] = {reading['uncertainty']!r} must be the column of the score, {score!r}; leave it "
            "out, or name it as the score"
        )
    return dict(reading)


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is no JSON number")


def _checked(name: str, content: dict[str, Any]) -> Policy:
    def refuse(field: str, value: Any, remedy: str) -> ValueError:
        return ValueError(f"{name}: {field} = {value!r} is not valid; {remedy}")

    for field in ("objective", "calibration", "thresholds"):
        if not isinstance(content[field], dict):
            raise refuse(field, content[field], "it must be an object")
    if not isinstance(content["score"], str) or not content["score"]:
        raise refuse("score", content["score"], "name the column of the score")
    inputs, temperature, group = content["inputs"], content["temperature"], content["group"]
    if temperature is not None and not _is_number(temperature):
        raise refuse("temperature", temperature, "it must be a number > 0, or null")
    if inputs is not None and not _is_inputs(inputs):
        raise refuse("inputs", inputs, 'it must be {"logits": [columns]}, {"probabilities": [columns]} or null')
    try:
        inputs_of(
            content["score"], **{"logits": None, "probabilities": None, **(inputs or {})}, temperature=temperature
        )
        if not isinstance(content.get("reading", {}), dict):
            raise refuse("reading", content["reading"], "it must be an object")
        read_as(content.get("reading", {}), content["score"], inputs)
    except (ValueError, TypeError) as error:
        message = str(error)
        raise ValueError(message if message.startswith(f"{name}: ") else f"{name}: {message}") from None
    if group is not None and not isinstance(group, str):
        raise refuse("group", group, "name the column of the groups, or null")
    if not content["thresholds"] or (group is None) != (list(content["thresholds"]) == [""]):
        raise refuse("thresholds", content["thresholds"], "one threshold, or one per group if group is named")
    thresholds = {}
    for key, value in content["thresholds"].items():
        if not _is_number(value) and value not in ("inf", "-inf"):
            raise refuse(f"thresholds[{key!r}]", value, "it must be a number, 'inf' or '-inf'")
        thresholds[key] = float(value)
    guarantee = content["guarantee"]
    if guarantee is not None:
        if not isinstance(guarantee, dict) or not {"risk", "delta", "max_loss", "statement"} <= guarantee.keys():
            raise refuse("guarantee", guarantee, "it needs risk, delta, max_loss and statement, or null")
        for field in ("risk", "delta", "max_loss"):
            if not _is_number(guarantee[field]) or not 0.0 < guarantee[field] < inf:
                raise refuse(f"guarantee[{field!r}]", guarantee[field], "it must be a number > 0")
        if guarantee["delta"] >= 1.0:
            raise refuse("guarantee['delta']", guarantee["delta"], "it must be below 1")
    n = content["calibration"].get("n")
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise refuse("calibration['n']", n, "it must be a whole number > 0")
    return Policy(**{**content, "thresholds": thresholds})


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= float_info.max


def _is_inputs(value: Any) -> bool:
    if not isinstance(value, dict) or len(value) != 1 or not value.keys() <= {"logits", "probabilities"}:
        return False
    names = next(iter(value.values()))
    return isinstance(names, list) and bool(names) and all(isinstance(name, str) for name in names)
