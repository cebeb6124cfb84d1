"""A policy as a Python file that needs nothing else."""

from __future__ import annotations

import inspect
import pprint
from typing import TYPE_CHECKING

from abstain._version import __version__
from abstain.policy import _plain

if TYPE_CHECKING:
    from abstain.policy._policy import Policy

_HEAD = '''"""Decide rows by a policy of abstain {version}; this file needs Python 3.9 or later and nothing else.

{facts}

decide(row) takes one row: a dict by column; the number itself where a column of scores decides alone; a list of the
classes' numbers where the score is computed from them. Its decision is true if the row is answered, and has accepted,
reason, score and threshold. As a program it reads a JSON object per line and writes each with "decision" added.
"""
'''
_TAIL = '''

POLICY = {policy}


def decide(row: Any) -> Decision:
    """Return the decision on one row: true if it is answered."""
    return decide_row(POLICY, row)


if __name__ == "__main__":
    import json
    import sys

    for line in sys.stdin:
        if line.strip():
            given = json.loads(line)
            accepted, reason, score, _ = decide(given)
            decision = {{"accepted": accepted, "reason": reason, "score": score if math.isfinite(score) else None}}
            print(json.dumps({{**given, "decision": decision}}))
'''


def source(policy: Policy) -> str:
    """Return the file; refuse a policy whose score or refusals need the library."""
    plain = policy.row_policy
    if plain is None:
        said = policy.said_declined()
        words = said is not None and said[0] != "abstained"
        why = "what the model declined is said in words" if words else f"its score {policy.score!r} needs the library"
        raise ValueError(f"this policy cannot leave the library: {why}; write the score, or yes and no, as a column")
    facts = [f"Score: {policy.score}; rows: {policy.calibration.n} of calibration."]
    facts += [] if policy.guarantee is None else [f"Guarantee: {policy.guarantee.statement}."]
    facts += [f"{name.capitalize()}: {text}" for name, text in policy.about.items()]
    head = _HEAD.format(version=__version__, facts="\n".join(facts).replace("\\", "\\\\").replace('"""', "'''"))
    code = inspect.getsource(_plain)
    code = code[code.index("from __future__") :]
    written = pprint.pformat(plain, width=110, sort_dicts=False).replace(": inf", ': float("inf")')
    return head + "\n" + code + _TAIL.format(policy=written.replace(": -inf", ': -float("inf")'))
