"""OOD rows of ``abstain threshold`` and ``joint``: a second score, and what a threshold would answer."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import click

import abstain
from abstain._result import Caveat, percent
from abstain.cli._group import Options, options
from abstain.cli._input import column_names, read

#: Options that say what is right of ID rows, and nothing of OOD rows.
OF_ID = ("labels", "cost_matrix", "loss", "correct", "quality", "abstained", "should_abstain", "unscored", "task")


#: The options of two scores.
pair_options = options(
    click.option("--second", help="Column of a second score, such as an OOD score: both must reach a threshold."),
    click.option("--prevalence", type=float, help="With --second: share of OOD rows where it will be used."),
)


def choose(
    file: Path, outputs: abstain.Outputs, columns: Options, second: str, prevalence: float | None,
    wanted: Options, how: abstain.policy.ScoreReading,
) -> tuple[Any, str]:  # fmt: skip
    """Return the pair, and the column of the second score; OOD rows of the file have the largest loss."""
    import numpy as np

    if wanted.keys() - {"max_loss"} != {"risk", "delta"}:
        raise click.UsageError("--second needs --risk and --delta: two thresholds are chosen for a certified limit")
    if outputs.clusters is not None:
        raise click.UsageError("--second certifies rows that are independent; it is not offered for --clusters")
    confidence = how.confidence(outputs)
    loss, other = outputs.loss_per_sample(), np.asarray((outputs.scores or {})[second])
    is_ood = None
    if marked(file, columns):
        own = columns | {name: None for name in OF_ID if name in columns}
        far, _, _ = read(file, [second], [], say=False, unlabelled=True, part="ood", **own)
        confidence = np.concatenate([confidence, how.confidence(far)])
        other = np.concatenate([other, np.asarray((far.scores or {})[second])])
        loss = np.concatenate([loss, np.full(far.n, wanted.get("max_loss", 1.0))])
        is_ood = np.arange(len(loss)) >= outputs.n
    elif prevalence is not None:
        raise click.UsageError("--prevalence needs OOD rows in FILE: mark them with --is-ood or --ood-label")
    found = abstain.thresholds.choose_pair(loss, confidence, other, is_ood=is_ood, prevalence=prevalence, **wanted)
    return found, second if outputs.reading is None else outputs.reading.scores[second]


def marked(file: Path, columns: Options) -> bool:
    """Whether some rows are marked as out of distribution."""
    from abstain.outputs._names import SINGLE, plain

    told = columns["is_ood"] or columns["ood_label"] is not None
    return bool(told or any(plain(name) in SINGLE["is_ood"] for name in column_names(file)))


def left_out(
    file: Path, found: Any, loss: Any, columns: Options, by: list[str], how: abstain.policy.ScoreReading
) -> list[Caveat]:
    """Return how many OOD rows of the file the threshold would answer, though it was chosen without them."""
    import numpy as np

    if not marked(file, columns):
        return []
    labels = {"labels"} if columns["ood_label"] is not None else set()
    own = {**columns, **{name: None for name in OF_ID if name in columns and name not in labels}}
    try:
        far, _, names = read(file, [], by, say=False, unlabelled=True, part="ood", **own)
        score = np.asarray(how.confidence(far), dtype=np.float64)
    except (ValueError, TypeError, click.UsageError):  # a threshold takes no OOD rows
        return []
    group = np.asarray((far.groups or {})[names[0]]).astype(str) if by else np.full(far.n, "")
    each = found.groups if by else {"": found}
    answered = sum(int((score[group == name] >= one.threshold).sum()) for name, one in each.items() if one.attainable)
    accepted = sum(one.n_accepted for one in each.values() if one.attainable)
    more = ""
    if answered and set(np.unique(loss)) <= {0.0, 1.0}:
        wrong = sum(one.risk * one.n_accepted for one in each.values() if one.attainable and one.n_accepted)
        more = f"; {percent((wrong + answered) / (accepted + answered))} of all answers are then wrong or OOD"
    if not answered:
        return []
    where = "these thresholds" if by else "this threshold"
    return [Caveat.of("ood_answered", answered=answered / far.n, rows=f"{far.n:,} OOD rows", where=where, more=more)]


def beside(run: abstain.joint.ScoredRun, score: str, risk: float, delta: float) -> list[Caveat]:
    """Return what the threshold that is certified for the rows in distribution answers of the OOD rows."""
    import numpy as np

    from abstain.thresholds import CertifiedThreshold, choose_threshold

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the command that chooses it reports them
        try:
            found = choose_threshold(run.id_loss, run.id_scores[score], risk=risk, delta=delta, nan_policy="reject")
        except ValueError:
            return []
    assert isinstance(found, CertifiedThreshold)
    far = np.concatenate([np.asarray(scores[score], dtype=np.float64) for scores in run.ood_scores.values()])
    answered = int((far >= found.threshold).sum())
    if not found.attainable or not found.n_accepted or not far.size:
        return []
    bad = (found.risk * found.n_accepted + answered) / (found.n_accepted + answered)
    where = f"the threshold for {percent(risk)} ({found.printed})"
    more = f"; {percent(bad)} of all answers are then wrong or OOD"
    rows = f"{far.size:,} OOD rows"
    return [Caveat.of("ood_answered", answered=answered / far.size, rows=rows, where=where, more=more)]
