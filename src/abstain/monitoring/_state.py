"""The file of a monitor: what it holds, and of which policy it is."""

from __future__ import annotations

from dataclasses import fields

from abstain._files import StateFile
from abstain._result import plain
from abstain._typing import Document
from abstain.policy import Policy

#: Files of 0.2.0 have the second format.
STATE = StateFile("monitor", "'abstain monitor --state'", "identity", ("abstain.monitor/1", "abstain.watch/1"))


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
