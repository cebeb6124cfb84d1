"""Read and check the file of a policy."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import fields, replace
from sys import float_info
from typing import Any

from abstain._files import digest_of
from abstain._typing import Document
from abstain.policy._contents import Calibration, Guarantee, Objective, SecondScore
from abstain.policy._policy import FORMAT, KEYS, Policy
from abstain.policy._reading import checked
from abstain.policy._scores import inputs_of

#: Formats that are read; the first one knew no classes, no second score and nothing about the model.
_READ = ("abstain.policy/1", FORMAT)
#: What a policy of the first format lacks.
LATER: Document = {"reading": {}, "classes": None, "about": {}, "second": None}
_FORMER = "recuse.policy/1"  # refused, with the remedy: no file is read under two names


def load_policy(
    path: str | os.PathLike[str], *, edited: bool = False, model: str | None = None,
    class_names: Sequence[str] | None = None, temperature: float | None = None,
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
    needed = set(KEYS) if found["format"] != FORMAT else {*KEYS, *LATER}
    if not needed <= content.keys() <= {*needed, "reading"}:
        wrong = sorted(needed ^ content.keys())
        raise ValueError(f"{name}: fields missing or unknown: {', '.join(wrong)}; write the policy again")
    try:
        policy = _policy_of({**LATER, **content})
        policy.check(model=model, class_names=class_names, temperature=temperature)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name}: {error}") from None
    if found.get("digest") != digest_of(content):
        if not edited:
            raise ValueError(
                f"{name}: was edited after it was saved, so its guarantee is void; restore the file, choose the "
                "threshold again, or load it with edited=True (the guarantee is then dropped)"
            )
        known = policy.calibration
        return replace(policy, guarantee=None, calibration=Calibration(n=known.n, answered=known.answered))
    return policy


def schema() -> Document:
    """Return the JSON schema (2020-12) of the file that :meth:`Policy.save` writes, for programs without this library.

    Returns
    -------
    dict

    Examples
    --------
    >>> import abstain
    >>> sorted(abstain.policy.schema()["required"])[:4]
    ['about', 'calibration', 'classes', 'digest']
    """
    from importlib.resources import files

    found: Document = json.loads(files(__package__).joinpath("policy.schema.json").read_text("utf-8"))
    return found


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is no JSON number")


def _policy_of(content: Document) -> Policy:
    """Return the policy of a file's content; an error names the field and the remedy."""
    for field in ("objective", "calibration", "thresholds", "reading", "about"):
        _require(isinstance(content[field], dict), field, content[field], "it must be an object")
    _check_score("", content["score"], content["inputs"], content["temperature"])
    reading = checked(content["reading"], content["score"], content["inputs"])
    group, classes, about = content["group"], content["classes"], content["about"]
    _require(group is None or isinstance(group, str), "group", group, "name the column of the groups, or null")
    known = classes is None or (isinstance(classes, list) and all(isinstance(each, str) for each in classes))
    _require(known, "classes", classes, "it must be a list of names, or null")
    _require(all(isinstance(each, str) for each in about.values()), "about", about, "it must be an object of texts")
    limits = content["thresholds"]
    single = list(limits) == [""] if group is None else bool(limits) and list(limits) != [""]
    _require(single, "thresholds", limits, "one threshold, or one per group if group is named")
    n = content["calibration"].get("n")
    whole = isinstance(n, int) and not isinstance(n, bool) and n >= 1
    _require(whole, "calibration['n']", n, "it must be a whole number > 0")
    read = {
        "thresholds": {key: _threshold(f"thresholds[{key!r}]", value) for key, value in limits.items()},
        "objective": Objective.from_content(content["objective"]),
        "guarantee": _guarantee(content["guarantee"]),
        "calibration": Calibration.from_file(content["calibration"]),
        "reading": reading,
        "second": _second(content["second"]),
    }
    return Policy(**{**content, **read})


def _require(valid: bool, field: str, value: object, remedy: str) -> None:
    if not valid:
        raise ValueError(f"{field} = {value!r} is not valid; {remedy}")


def _check_score(where: str, score: Any, inputs: Any, temperature: Any) -> None:
    _require(isinstance(score, str) and bool(score), f"{where}score", score, "name the column of the score")
    number = temperature is None or _is_number(temperature)
    _require(number, f"{where}temperature", temperature, "it must be a number > 0, or null")
    _require(
        inputs is None or _is_inputs(inputs),
        f"{where}inputs",
        inputs,
        'it must be {"logits": [columns]}, {"probabilities": [columns]} or null',
    )
    named: Document = {"logits": None, "probabilities": None, **(inputs or {})}
    inputs_of(score, **named, temperature=temperature)


def _threshold(field: str, value: Any) -> float:
    _require(_is_number(value) or value in ("inf", "-inf"), field, value, "it must be a number, 'inf' or '-inf'")
    return float(value)


def _guarantee(content: Any) -> Guarantee | None:
    if content is None:
        return None
    whole = isinstance(content, dict) and {"risk", "delta", "max_loss", "statement"} <= content.keys()
    _require(whole, "guarantee", content, "it needs risk, delta, max_loss and statement, or null")
    for name in ("risk", "delta", "max_loss"):
        value = content[name]
        _require(_is_number(value) and value > 0.0, f"guarantee[{name!r}]", value, "it must be a number > 0")
    _require(content["delta"] < 1.0, "guarantee['delta']", content["delta"], "it must be below 1")
    return Guarantee.from_content(content)


def _second(content: Any) -> SecondScore | None:
    if content is None:
        return None
    names = [each.name for each in fields(SecondScore)]
    whole = isinstance(content, dict) and content.keys() == set(names)
    _require(whole, "second", content, f"it needs {', '.join(names)}")
    _check_score("second.", content["score"], content["inputs"], content["temperature"])
    limit = _threshold("second['threshold']", content["threshold"])
    return SecondScore(**{**content, "threshold": limit})


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= float_info.max


def _is_inputs(value: object) -> bool:
    if not isinstance(value, dict) or len(value) != 1 or not value.keys() <= {"logits", "probabilities"}:
        return False
    names = next(iter(value.values()))
    return isinstance(names, list) and bool(names) and all(isinstance(name, str) for name in names)
