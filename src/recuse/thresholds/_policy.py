"""A policy: what a deployment needs to know about a threshold, in one small JSON file that notices being edited."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import inf, isfinite
from typing import Any

import numpy as np

from recuse._checks import same_length, vector
from recuse._files import write_text
from recuse._typing import ArrayLike, BoolArray
from recuse.thresholds._groups import GroupThresholds, group_column
from recuse.thresholds._results import CertifiedThreshold, EmpiricalThreshold

FORMAT = "recuse.policy/1"
_KEYS = ("score", "temperature", "group", "thresholds", "objective", "guarantee", "calibration")


@dataclass(frozen=True)
class Policy:
    """Accept if score >= threshold, with what was promised and on what rows; see :func:`load_policy`.

    Parameters
    ----------
    score : str
        Column of the confidence score in new files.
    temperature : float or None
        Temperature with which that column was computed: a note for whoever computes it, not applied again.
    group : str or None
        Column of the groups, if there is a threshold for each.
    thresholds : dict of str to float
        Threshold per group; without groups the only key is ``""``. +inf rejects everything.
    objective : dict
        What was asked for.
    guarantee : dict or None
        Risk, delta, procedure, bound and the promise in words; None: nothing is promised.
    calibration : dict
        n, fingerprint of the rows, coverage, deciles of the score, versions.

    Examples
    --------
    >>> import recuse
    >>> policy = recuse.choose_threshold([0, 1, 0], [0.9, 0.2, 0.6], coverage=0.5).policy(score="msp")
    >>> policy.accept([0.7, 0.5]).tolist(), policy.guarantee
    ([True, False], None)
    """

    score: str
    temperature: float | None
    group: str | None
    thresholds: Mapping[str, float]
    objective: Mapping[str, Any]
    guarantee: Mapping[str, Any] | None
    calibration: Mapping[str, Any]

    @classmethod
    def of(
        cls, found: EmpiricalThreshold | CertifiedThreshold | Any, *, score: str, temperature: float | None
    ) -> Policy:
        """Return the policy of one threshold."""
        calibration = found.calibration | {"coverage": found.coverage, "n_accepted": found.n_accepted}
        return cls(score, temperature, None, {"": found.threshold}, found.objective, found.guarantee(), calibration)

    @classmethod
    def of_groups(cls, found: GroupThresholds, *, score: str, group: str, temperature: float | None) -> Policy:
        """Return the policy of one threshold per group; the promise covers the groups that reached it."""
        each = found.groups
        digest = hashlib.sha256("".join(one.calibration["fingerprint"] for one in each.values()).encode()).hexdigest()
        n = sum(one.n for one in each.values())
        accepted = sum(one.n_accepted for one in each.values())
        first = next(iter(each.values()))
        calibration = {key: first.calibration[key] for key in ("recuse", "numpy", "weighted")} | {
            "n": n, "n_accepted": accepted, "coverage": accepted / n, "fingerprint": digest, "bins": [],
        }  # fmt: skip
        promised = next((g for one in each.values() if (g := one.guarantee()) is not None), None)
        if promised is not None:
            promised = promised | {"delta": found.delta, "multiplicity": found.multiplicity}
            together = "for all groups at once" if found.multiplicity == "all" else "for each group by itself"
            promised["statement"] = (
                f"with probability at least {1 - (found.delta or 0):g} {together}, the mean loss of what is accepted "
                f"in a group is at most {promised['risk']:g}"
            )
        thresholds = {name: one.threshold for name, one in each.items()}
        return cls(score, temperature, group, thresholds, first.objective, promised, calibration)

    def accept(self, confidence: ArrayLike, groups: ArrayLike | None = None) -> BoolArray:
        """Return the accept mask of new scores; NaN scores and unknown groups are rejected."""
        scores = vector(confidence, "confidence", np, None)
        if self.group is None:
            return np.asarray((scores >= self.thresholds[""]) & (self.thresholds[""] < inf))
        if groups is None:
            raise TypeError(f"this policy has one threshold per {self.group}; give groups=")
        column = group_column(groups)
        same_length(confidence=scores, groups=column)
        limits = {name: value if value < inf else np.nan for name, value in self.thresholds.items()}
        return np.asarray(scores >= np.array([limits.get(name, np.nan) for name in column]))

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
        Accept a file that was changed by hand. Its guarantee is dropped: nobody proved it for these numbers.

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
    >>> import pathlib, tempfile, recuse
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "policy.json"
    >>> recuse.choose_threshold([0, 1, 0], [0.9, 0.2, 0.6], coverage=0.5).save(file, score="msp")
    >>> recuse.load_policy(file).thresholds
    {'': 0.6}
    """
    name = os.fspath(path)
    try:
        with open(name, encoding="utf-8") as file:
            found = json.load(file)
    except FileNotFoundError:
        raise FileNotFoundError(f"{name}: no such policy; write one with 'recuse threshold'") from None
    except (ValueError, OSError) as error:
        raise ValueError(f"{name}: cannot be read as a policy ({' '.join(str(error).split())})") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise ValueError(f"{name}: is no policy of format {FORMAT!r}; write it with 'recuse threshold'")
    content = {key: value for key, value in found.items() if key not in ("format", "digest")}
    if content.keys() != set(_KEYS):
        wrong = sorted(set(_KEYS) ^ content.keys())
        raise ValueError(f"{name}: fields missing or unknown: {', '.join(wrong)}; write the policy again")
    policy = _checked(name, content)
    if found.get("digest") != _digest(content):
        if not edited:
            raise ValueError(
                f"{name}: was edited after it was saved, so its guarantee is void; restore the file, choose the "
                "threshold again, or load it with edited=True (the guarantee is then dropped)"
            )
        policy = Policy(**{**{key: getattr(policy, key) for key in _KEYS}, "guarantee": None})
    return policy


def _checked(name: str, content: dict[str, Any]) -> Policy:
    def refuse(field: str, value: Any, remedy: str) -> ValueError:
        return ValueError(f"{name}: {field} = {value!r} is not valid; {remedy}")

    for field in ("objective", "calibration", "thresholds"):
        if not isinstance(content[field], dict):
            raise refuse(field, content[field], "it must be an object")
    if not isinstance(content["score"], str) or not content["score"]:
        raise refuse("score", content["score"], "name the column of the score")
    if content["group"] is not None and not isinstance(content["group"], str):
        raise refuse("group", content["group"], "name the column of the groups, or null")
    if not content["thresholds"] or (content["group"] is None) != (list(content["thresholds"]) == [""]):
        raise refuse("thresholds", content["thresholds"], "one threshold, or one per group if group is named")
    thresholds = {}
    for key, value in content["thresholds"].items():
        if value in ("inf", "-inf"):
            value = float(value)
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
            raise refuse(f"thresholds[{key!r}]", value, "it must be a number, 'inf' or '-inf'")
        thresholds[key] = float(value)
    guarantee = content["guarantee"]
    if guarantee is not None:
        if not isinstance(guarantee, dict) or not {"risk", "delta", "statement"} <= guarantee.keys():
            raise refuse("guarantee", guarantee, "it needs risk, delta and statement, or null")
        for field in ("risk", "delta"):
            value = guarantee[field]
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 < value < inf:
                raise refuse(f"guarantee[{field!r}]", value, "it must be a number > 0")
        if guarantee["delta"] >= 1.0:
            raise refuse("guarantee['delta']", guarantee["delta"], "it must be below 1")
    n = content["calibration"].get("n")
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise refuse("calibration['n']", n, "it must be a whole number > 0")
    return Policy(**{**content, "thresholds": thresholds})
