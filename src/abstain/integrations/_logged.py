"""What a run of a tracking tool is given of a result: numbers, the verdict, files. The same for every tool."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from abstain._result import Result, Status
from abstain._typing import Options
from abstain.policy import Policy

#: Numbers of the verdict that a run is sorted and compared by.
_OF_VERDICT = ("coverage", "risk", "limit", "threshold", "confidence")
#: Verdicts that give no threshold for what was asked.
_NONE = {Status.NOT_CERTIFIED, Status.NOT_ATTAINABLE, Status.NO_USE}


def logged(result: Result, name: str) -> tuple[dict[str, float], dict[str, str]]:
    """Return finite numbers of a result with the ends of their intervals, and texts of its verdict, by name."""
    numbers, facts = result.flat(intervals=True), dict[str, str]()
    if (verdict := result.verdict) is not None:
        facts = {"status": verdict.status.value, "headline": verdict.headline}
        if verdict.status in _NONE:  # its threshold would be that of another limit than the one asked for
            numbers |= {"verdict/limit": math.nan if verdict.limit is None else verdict.limit}
        else:
            said = {part: getattr(verdict, part) for part in _OF_VERDICT}
            numbers |= {f"verdict/{part}": value for part, value in said.items() if value is not None}
            facts["rule"] = verdict.rule
    finite = {f"{name}/{part}": value for part, value in numbers.items() if math.isfinite(value)}
    return finite, {f"{name}/{part}": text for part, text in facts.items() if text}


@contextmanager
def files_of(result: Result, policy: Policy | None, page: Options) -> Iterator[Path]:
    """Write what is kept of a result into a folder that is there until the block ends."""
    with TemporaryDirectory() as folder:
        path = Path(folder)
        result.report(path / "report.html", **page)
        result.to_json(path / "result.json")
        result.to_csv(path / "table.csv")
        result.to_markdown(path / "summary.md")
        if policy is not None:
            policy.save(path / "policy.json")
        yield path


def policy_in(folder: str | os.PathLike[str], where: str, model: str | None) -> Policy:
    """Return the policy in a folder of files that were logged; ``where`` says where that is."""
    from abstain.policy import load_policy

    file = Path(folder) / "policy.json"
    try:
        return load_policy(file, model=model)
    except ValueError as error:
        raise ValueError(str(error).replace(str(file), where)) from None
