"""The file of a monitor: what it says it is, and whether it says what was written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

#: What a state file says it is; files of 0.2.0 have the second name.
FORMAT, _OLD = "abstain.monitor/1", "abstain.watch/1"


def content_of(name: str) -> dict[str, Any]:
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


def digest_of(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, allow_nan=False).encode()).hexdigest()
