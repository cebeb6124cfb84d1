"""``recuse threshold``, ``recuse apply`` and ``recuse monitor``: choose, deploy and watch a policy."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import numpy as np

from recuse.cli._group import command, example_lines, words
from recuse.cli._input import column_names, read, with_row


def _columns(function: Any) -> Any:
    for option in (
        click.option("--loss", help="Column of losses >= 0; default: 0/1 from labels and predictions."),
        click.option("--confidence", help="Column of confidence, higher = surer."),
        click.option("--prediction", help="Column of predicted classes."),
        click.option("--probs", help="Columns of class probabilities: a name or a pattern such as 'p_*'."),
        click.option("--label", help="Column of true classes."),
    ):
        function = option(function)
    return function


def _finite(value: Any) -> Any:
    """Return a value as JSON can hold it."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    return str(value) if isinstance(value, float) and not np.isfinite(value) else value


@command.command(
    "threshold",
    epilog=example_lines(
        "recuse threshold val.parquet --confidence msp --risk 0.05 --delta 0.05 -o policy.json",
        "recuse threshold val.csv --loss err --confidence conf --capacity 0.2 -o policy.json",
    ),
)
@click.argument("file", type=Path)
@_columns
@click.option("--risk", type=float, help="Largest selective risk; with --delta it is certified.")
@click.option("--delta", type=float, help="Error probability of the certificate.")
@click.option("--coverage", type=float, help="Smallest share to answer.")
@click.option("--capacity", type=float, help="Largest share that reviewers can take.")
@click.option("--cost", nargs=2, type=float, metavar="ERROR REVIEW", help="Costs of an error and of a review.")
@click.option("--max-loss", type=float, help="Largest possible loss, for certificates of losses that are not 0/1.")
@click.option("--by", help="Group column: one threshold for each value, delta shared.")
@click.option("-o", "--output", type=Path, help="Write the policy as JSON.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.pass_context
def threshold_command(
    context: click.Context, /, file: Path, label: str | None, probs: str | None, prediction: str | None,
    confidence: str | None, loss: str | None, by: str | None, output: Path | None, as_json: bool, **objective: Any,
) -> None:  # fmt: skip
    """Choose a threshold on calibration rows; exit code 1 if the objective is not attainable."""
    from recuse import scores
    from recuse.thresholds import GroupThresholds, choose_threshold

    groups = words(by)
    if len(groups) > 1:
        raise click.UsageError("--by takes one group column here")
    outputs, _, names = read(
        file, [], groups, label=label, logits=None, probs=probs, prediction=prediction, confidence=confidence,
        loss=loss, id=None, cluster=None, weight=None, class_names=None,
    )  # fmt: skip
    found_by_name = [name for name in column_names(file) if name.lower() in ("confidence", "conf", "score", "msp")]
    score = confidence or (found_by_name[0] if outputs.confidence is not None else scores.default(outputs))
    column = outputs.confidence if outputs.confidence is not None else scores.compute(score, outputs)
    given = {name: value for name, value in objective.items() if value not in (None, ())}
    chosen = None if not groups else (outputs.groups or {})[names[0]]
    try:
        found = choose_threshold(outputs.loss_per_sample(), column, groups=chosen, nan_policy="reject", **given)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{file}: {with_row(str(error))}") from error
    if output is not None and found.attainable:
        policy = (
            found.policy(score=score, group=groups[0])
            if isinstance(found, GroupThresholds)
            else found.policy(score=score)
        )
        policy.save(output)
    click.echo(json.dumps(_finite(asdict(found)), indent=2) if as_json else str(found))
    if not found.attainable:
        click.echo("not attainable" + ("" if output is None else f", so {output} was not written"), err=True)
        context.exit(1)


@command.command("apply", epilog=example_lines("recuse apply policy.json new.parquet -o decided.parquet"))
@click.argument("policy", type=Path)
@click.argument("file", type=Path)
@click.option("-o", "--output", type=Path, required=True, help="Decided rows: .csv or .parquet.")
@click.option("--column", default="accepted", show_default=True, help="Name of the new column.")
@click.option("--edited", is_flag=True, help="Use a policy that was edited by hand; its guarantee is dropped.")
def apply_command(policy: Path, file: Path, output: Path, column: str, edited: bool) -> None:
    """Decide every row of a CSV or Parquet file of any size."""
    from recuse.thresholds import apply_policy, load_policy

    done = apply_policy(load_policy(policy, edited=edited), file, output, column=column)
    share = done.n_accepted / done.n if done.n else float("nan")
    click.echo(f"{done.n} rows: {done.n_accepted} accepted ({share:.4g}), {done.n_unscored} without a score")


@command.command("monitor", epilog=example_lines("recuse monitor policy.json audited.parquet --loss err"))
@click.argument("policy", type=Path)
@click.argument("file", type=Path)
@click.option("--loss", help="Column of losses >= 0; default: 0/1 from labels and predictions.")
@click.option("--label", help="Column of true classes.")
@click.option("--prediction", help="Column of predicted classes.")
@click.option("--max-loss", default=1.0, show_default=True, help="Largest possible loss.")
@click.option("--delta", type=float, help="False-alarm probability; default that of the promise.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.pass_context
def monitor_command(
    context: click.Context, /, policy: Path, file: Path, loss: str | None, label: str | None, prediction: str | None,
    max_loss: float, delta: float | None, as_json: bool,
) -> None:  # fmt: skip
    """Test whether newly labelled rows still support the promise; exit code 1 if it is broken.

    FILE holds all labelled rows since the deployment, oldest first. The test may be repeated every day.
    """
    from recuse.thresholds import load_policy, monitor

    known = load_policy(policy)
    outputs, _, names = read(
        file, [], [known.group] if known.group else [], label=label, logits=None, probs=None, prediction=prediction,
        confidence=known.score, loss=loss, id=None, cluster=None, weight=None, class_names=None,
    )  # fmt: skip
    groups = (outputs.groups or {})[names[0]] if known.group else None
    try:
        seen = monitor(
            known, outputs.loss_per_sample(), outputs.confidence, groups=groups, max_loss=max_loss, delta=delta
        )
    except (ValueError, TypeError) as error:
        raise ValueError(f"{file}: {with_row(str(error))}") from error
    if as_json:
        click.echo(json.dumps(_finite(asdict(seen)), indent=2))
    else:
        words_ = {True: "yes", False: "no", None: "cannot be told"}
        click.echo(
            f"promise broken: {words_[seen.promise_broken]} "
            f"(evidence {seen.evidence:.3g}, alarm at {1 / seen.delta:.3g})\n"
            f"risk {seen.risk:.4g} of {seen.n_accepted} accepted, coverage {seen.coverage:.4g} of {seen.n}\n"
            f"coverage drifted: {words_[seen.coverage_drifted]}; score drifted: {words_[seen.score_drifted]}"
        )
    if seen.promise_broken:
        context.exit(1)
