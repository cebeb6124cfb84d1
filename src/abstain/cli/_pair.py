"""``abstain threshold --second``: two scores together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from abstain.cli._input import column_names, read

if TYPE_CHECKING:
    from abstain.outputs import Outputs
    from abstain.policy import ScoreReading

#: Options that say what is right of ID rows, and nothing of OOD rows.
OF_ID = ("labels", "cost_matrix", "loss", "correct", "quality", "abstained", "should_abstain", "unscored", "task")


def pair_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options of two scores."""
    for option in (
        click.option("--prevalence", type=float, help="With --second: share of OOD rows where it will be used."),
        click.option("--second", help="Column of a second score, such as an OOD score: both must reach a threshold."),
    ):
        function = option(function)
    return function


def choose(
    file: Path, outputs: Outputs, columns: dict[str, Any], second: str, prevalence: float | None,
    wanted: dict[str, Any], how: ScoreReading,
) -> tuple[Any, str]:  # fmt: skip
    """Return the pair, and the column of the second score; OOD rows of the file have the largest loss."""
    import numpy as np

    from abstain.thresholds import choose_pair

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
    found = choose_pair(loss, confidence, other, is_ood=is_ood, prevalence=prevalence, **wanted)
    return found, second if outputs.reading is None else outputs.reading.scores[second]


def marked(file: Path, columns: Mapping[str, Any]) -> bool:
    """Whether some rows are marked as out of distribution."""
    from abstain.outputs._names import SINGLE, plain

    told = columns["is_ood"] or columns["ood_label"] is not None
    return bool(told or any(plain(name) in SINGLE["is_ood"] for name in column_names(file)))
