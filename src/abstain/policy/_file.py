"""Read and check the file of a policy."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from math import inf
from sys import float_info
from typing import Any

from abstain.policy._inputs import inputs_of
from abstain.policy._policy import FORMAT, KEYS, LATER, Policy, digest
from abstain.policy._reading import checked

#: Formats that are read; the first one knew no classes, no second score and nothing about the model.
_READ = ("abstain.policy/1", FORMAT)
_FORMER = "recuse.policy/1"  # refused, with the remedy: no file is read under two names


def load_policy(
    path: str | os.PathLike[str], *, edited: bool = False, model: str | None = None,
    class_names: Sequence[Any] | None = None, temperature: float | None = None,
) -> Policy:  # fmt: skip
    """Read a policy and check it.

    Parameters
    ----------
    path : str or path
        A file that :meth:`Policy.save` wrote.
    edited : bool
        Accept a file that was changed by hand. Its guarantee, and what calibration had shown, are dropped: they were
        found for other numbers.
    model, class_names, temperature : optional
        What the policy is to be used with: a policy that was made for another model, for the classes in another order
        or for logits divided by another temperature is refused.

    Returns
    -------
    Policy

    Raises
    ------
    FileNotFoundError
        No such file.
    ValueError
        Not a policy; a field that is missing, unknown or out of range; a file that was edited; a policy of another
        model.

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
    if not isinstance(found, dict) or found.get("format") not in _READ:
        raise ValueError(f"{name}: is no policy of format {FORMAT!r}; write it with 'abstain threshold'")
    content = {key: value for key, value in found.items() if key not in ("format", "digest")}
    later = {"reading"} if found["format"] != FORMAT else set(LATER)
    if content.keys() - later != set(KEYS) or (found["format"] == FORMAT and not later <= content.keys()):
        wrong = sorted({*KEYS, *later} ^ content.keys())
        raise ValueError(f"{name}: fields missing or unknown: {', '.join(wrong)}; write the policy again")
    policy = _checked(name, content)
    try:
        policy.check(model=model, class_names=class_names, temperature=temperature)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    if found.get("digest") != digest(content):
        if not edited:
            raise ValueError(
                f"{name}: was edited after it was saved, so its guarantee is void; restore the file, choose the "
                "threshold again, or load it with edited=True (the guarantee is then dropped)"
            )
        kept = {key: value for key, value in policy.calibration.items() if key in ("n", "answered")}
        return replace(policy, guarantee=None, calibration=kept)
    return policy


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
        checked(content.get("reading", {}), content["score"], inputs)
        _check_later(name, content)
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
    if content.get("second") is not None:
        content = content | {"second": content["second"] | {"threshold": float(content["second"]["threshold"])}}
    return Policy(**{**content, "thresholds": thresholds})


def _check_later(name: str, content: dict[str, Any]) -> None:
    """Check the fields that came later: classes, what the policy is about, the second score."""
    classes, about, second = content.get("classes"), content.get("about", {}), content.get("second")
    if classes is not None and not (isinstance(classes, list) and all(isinstance(each, str) for each in classes)):
        raise ValueError(f"classes = {classes!r} is not valid; it must be a list of names, or null")
    if not isinstance(about, dict) or not all(isinstance(each, str) for each in about.values()):
        raise ValueError(f"about = {about!r} is not valid; it must be an object of texts")
    if second is None:
        return
    keys = {"score", "inputs", "temperature", "uncertainty", "threshold"}
    if not isinstance(second, dict) or second.keys() != keys or not isinstance(second["score"], str):
        raise ValueError(f"second = {second!r} is not valid; it needs {', '.join(sorted(keys))}")
    limit, inputs = second["threshold"], second["inputs"]
    if not _is_number(limit) and limit not in ("inf", "-inf"):
        raise ValueError(f"second['threshold'] = {limit!r} is not valid; it must be a number, 'inf' or '-inf'")
    if inputs is not None and not _is_inputs(inputs):
        raise ValueError(f"second['inputs'] = {inputs!r} is not valid; name the columns of logits or probabilities")
    named: dict[str, Any] = {"logits": None, "probabilities": None, **(inputs or {})}
    inputs_of(second["score"], **named, temperature=second["temperature"])


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= float_info.max


def _is_inputs(value: Any) -> bool:
    if not isinstance(value, dict) or len(value) != 1 or not value.keys() <= {"logits", "probabilities"}:
        return False
    names = next(iter(value.values()))
    return isinstance(names, list) and bool(names) and all(isinstance(name, str) for name in names)
