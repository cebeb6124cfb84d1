"""The file of a monitor: what it holds, and of which policy it is."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields

from abstain._result import plain
from abstain._typing import Document
from abstain.policy import Policy

#: What a state file says it is; files of 0.2.0 have the second name.
FORMAT, _OLD = "abstain.monitor/1", "abstain.watch/1"


def policy_content(policy: Policy) -> Document:
    """Return what the file of a policy holds; a field that is added later and not given changes nothing."""
    found: Document = plain({each.name: getattr(policy, each.name) for each in fields(policy)})
    return found


def as_in_0_2(policy: Document) -> Document:
    """Return a policy as 0.2.0 wrote it: versions of libraries one by one, and no edges where there are none."""

    def before(calibration: Document) -> Document:
        kept = {name: each for name, each in calibration.items() if name != "versions" and (name, each) != ("bins", [])}
        if "groups" in kept:
            kept["groups"] = {name: before(one) for name, one in kept["groups"].items()}
        return kept | (calibration.get("versions") or {})

    return {**policy, "calibration": before(policy["calibration"])}


def content_of(name: str) -> Document:
    """Return what a state file holds; refuse one that was edited or damaged."""
    try:
        with open(name, encoding="utf-8") as file:
            found = json.load(file)
    except (ValueError, OSError, RecursionError) as error:
        why = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise ValueError(f"{name}: cannot be read as the state of a monitor ({why}); restore the file") from None
    if not isinstance(found, dict) or found.get("format") not in (FORMAT, _OLD):
        raise ValueError(f"{name}: is no state of format {FORMAT!r}; 'abstain monitor --state' writes one")
    content = {key: value for key, value in found.items() if key not in ("format", "digest")}
    if found.get("digest") != digest_of(content):
        raise ValueError(f"{name}: was edited or damaged, so what it says may not be true; restore the file")
    return content


def digest_of(content: Document) -> str:
    """Return the SHA-256 (hex) of a state."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, allow_nan=False).encode()).hexdigest()
