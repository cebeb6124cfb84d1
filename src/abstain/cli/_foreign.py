"""What a threshold does with foreign rows, which have no part in the choice of it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from abstain._result import among, percent
from abstain.cli._input import read
from abstain.cli._next import Told
from abstain.cli._pair import OF_ID, marked

if TYPE_CHECKING:
    from abstain.joint import ScoredRun
    from abstain.policy import ScoreReading


def left_out(file: Path, found: Any, loss: Any, columns: Mapping[str, Any], by: list[str], how: ScoreReading) -> Told:
    """Return how many foreign rows of the file the threshold would answer, though it was chosen without them."""
    import numpy as np

    if not marked(file, columns):
        return {}
    labels = {"labels"} if columns["ood_label"] is not None else set()
    own = {**columns, **{name: None for name in OF_ID if name in columns and name not in labels}}
    try:
        far, _, names = read(file, [], by, say=False, unlabelled=True, part="ood", **own)
        score = np.asarray(how.confidence(far), dtype=np.float64)
    except (ValueError, TypeError, click.UsageError):  # a threshold takes no foreign rows
        return {}
    group = np.asarray((far.groups or {})[names[0]]).astype(str) if by else np.full(far.n, "")
    each = found.groups if by else {"": found}
    answered = sum(int((score[group == name] >= one.threshold).sum()) for name, one in each.items() if one.attainable)
    accepted = sum(one.n_accepted for one in each.values() if one.attainable)
    mixed = ""
    if answered and set(np.unique(loss)) <= {0.0, 1.0}:
        wrong = sum(one.risk * one.n_accepted for one in each.values() if one.attainable and one.n_accepted)
        mixed = (
            f"; {percent((wrong + answered) / (accepted + answered))} of all that is answered is then wrong or foreign"
        )
    return {"foreign left out": {"count": far.n, "answered": answered / far.n if far.n else 0.0, "mixed": mixed}}


def beside(run: ScoredRun, score: str, risk: float, delta: float) -> Told:
    """Return what the threshold that is certified for the rows in distribution answers of them, and of foreign rows."""
    import numpy as np

    from abstain.thresholds import CertifiedThreshold, choose_threshold

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the command that chooses it says them
        try:
            found = choose_threshold(run.id_loss, run.id_scores[score], risk=risk, delta=delta, nan_policy="reject")
        except ValueError:
            return {}
    assert isinstance(found, CertifiedThreshold)
    far = np.concatenate([np.asarray(scores[score], dtype=np.float64) for scores in run.ood_scores.values()])
    answered = int((far >= found.threshold).sum())
    inside = np.sort(np.nan_to_num(np.asarray(run.id_scores[score], dtype=np.float64), nan=-np.inf))[::-1]
    most = float(inside[math.ceil(0.95 * len(inside)) - 1])  # the highest that accepts 95 % of the familiar
    from95 = f" (from {among(most, np.concatenate([inside, far]))} on)" if np.isfinite(most) else ""
    if not found.attainable or not found.n_accepted or not far.size:
        return {"foreign": {"from95": from95}}
    bad = (found.risk * found.n_accepted + answered) / (found.n_accepted + answered)
    return {"foreign": {"chosen": True, "familiar": found.coverage, "answered": answered / far.size, "bad": bad,
                        "at": f" ({found.printed})", "from95": from95}}  # fmt: skip
