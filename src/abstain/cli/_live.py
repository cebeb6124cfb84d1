"""``abstain live``: count a week's rows, and issue the policy that is certified now."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

import abstain.outputs
from abstain.cli._columns import ANSWERS, MODEL, SURE, reads
from abstain.cli._group import Options, command
from abstain.cli._input import about
from abstain.cli._monitor import _no_rows, _present
from abstain.cli._next import scored_as
from abstain.cli._output import Output, writes
from abstain.cli._show import say_written


def _numbers(column: Iterable[Any]) -> list[float]:
    """Return numbers, or truth values as 0 and 1."""
    truth = {"true": 1.0, "false": 0.0}
    return [truth[word] if (word := str(each).lower()) in truth else float(each) for each in column]


def _grid_scores(file: Path, how: Any, columns: Options) -> Any:
    """Return the scores of other rows, which need no label and no name."""
    scored = {name: value for name, value in columns.items() if name not in ("labels", "ids", "clusters", *ANSWERS)}
    with about(file):
        return how.confidence(abstain.outputs.read_pool(file, **scored)[0])


def _say_moved(found: abstain.live.LiveCertification, before: dict[str, float]) -> None:
    """Print the thresholds that these rows have changed, and how far the guarantee reaches."""
    for name, old in before.items():
        if old != found.thresholds[name]:
            where = f" of {name}" if name else ""
            moved = "nothing was certified" if old == float("inf") else f"{old:.6g}"
            click.echo(f"threshold{where} before these rows: {moved}")
    if found.reach is not None and found.reach.slack:
        click.echo(found.reach.sentence)


@command.command("live")
@click.argument("file", type=Path)
@reads(*MODEL, *ANSWERS, *SURE, "ids", "clusters")
@click.option(
    "--state", type=Path, required=True, help="The certificate: begun if there is none, else read and written again."
)
@click.option("--risk", type=float, help="Limit of the risk of the answers; needed to begin.")
@click.option("--delta", type=float, help="Error probability for all days together.  [default: 0.05]")
@click.option(
    "--grid",
    type=Path,
    help="File of other rows, whose scores make the grid; needed to begin with scores outside [0, 1].",
)
@click.option("--score", help="Score to compute from logits or probabilities, in new files too.  [default: msp]")
@click.option("--temperature", type=float, help="Divides the logits first; it must not come from these rows.")
@click.option("--max-loss", type=float, help="Largest possible loss, for losses that are not 0/1.")
@click.option("--max-cluster", type=int, help="Largest possible number of rows of one of --clusters; to begin.")
@click.option("--ood-share", type=float, help="Share of the answers that may be of an unseen kind and wrong; to begin.")
@click.option("--groups", "group", help="Group column: one certificate for each value of the first file, delta shared.")
@click.option("--reserve", type=float, help="Part of delta for groups that join later; to begin.")
@click.option("--add-group", multiple=True, metavar="NAME", help="A group that joins; may be given several times.")
@click.option("--drawn", help="Column that says which labels were drawn, as 'abstain apply --audit' writes it.")
@click.option("--label-probability", help="Column of the chances with which labels were drawn.  [default: all drawn]")
@click.option(
    "--audit", type=float, help="Smallest share of the answers that will ever be labelled; to begin.  [default: 1]"
)
@click.option("--time", "when", help="Column of dates or numbers: when rows were predicted; needed with --maturity.")
@click.option("--maturity", type=float, help="Days until all labels of a row's age are known; to begin.")
@click.option("--as-of", help="The present, for --maturity.  [default: the latest time]")
@click.option("--restarts", type=int, help="How often --restart may be used, which share delta; to begin.")
@click.option("--restart", is_flag=True, help="Begin anew after a change, before these rows are counted.")
@click.option("--again", is_flag=True, help="Count rows that look as if they had been counted before.")
@click.option("-o", "--output", type=Path, help="Write the policy of the threshold that is certified now.")
@writes("report", "print-json")
@click.pass_context
def live_command(
    context: click.Context,
    /,
    file: Path,
    columns: Options,
    state: Path,
    score: str | None,
    temperature: float | None,
    grid: Path | None,
    group: str | None,
    add_group: tuple[str, ...],
    label_probability: str | None,
    drawn: str | None,
    when: str | None,
    as_of: str | None,
    restart: bool,
    again: bool,
    output: Path | None,
    to: Output,
    **begin: Any,
) -> None:
    """Count new rows in a live certificate: a threshold that may be chosen again on any day, with one guarantee.

    Exit code 1 if the guarantee is found violated, in any group, whose rows the policy then rejects.

    FILE holds new rows, also those whose label was not drawn: their label is empty. See docs: Certify again every week.

    Examples
    --------
    abstain live week1.csv --state live.json --risk 0.05 --delta 0.05 -o policy.json
    abstain live week2.csv --state live.json --label-probability label_probability --drawn label_drawn --ids id
    """
    from abstain._files import locked

    to.check(file, output=output, state=state)
    if state.exists() and _no_rows(file):
        if restart:
            raise click.UsageError(f"{file} has no rows: give --restart with the first rows that count after it")
        found = abstain.live.update_live(state, [], [])
        known = abstain.load_policy(output) if output is not None and output.exists() else None
        name = "" if known is None else known.confidence_name
        to.show(found, replace(found.verdict, score=name))
        if output is not None:
            click.echo(f"no rows: {output} is not written, and the policy of the week before stands", err=True)
        return
    given = {name: value for name, value in begin.items() if value is not None}
    beside = [name for name in (label_probability, drawn, when, group) if name is not None]
    outputs, loss = abstain.outputs.read_pool(file, groups=beside, **columns)
    if label_probability is None and outputs.reading is not None and "label_probability" in outputs.reading.unused:
        raise click.UsageError(
            f"{file} has the chances of labels that 'abstain apply --audit' drew: give --label-probability "
            "label_probability --drawn label_drawn, and all rows, labelled or not"
        )
    with about(file):
        how = abstain.policy.score_reading(outputs, score, temperature)
        confidence = how.confidence(outputs)
        held = {name: (outputs.groups or {})[name] for name in beside}
        if group is not None and not state.exists():
            given["groups"] = sorted({*abstain.policy.group_column(held[group]).tolist(), *add_group})
        with locked(state):
            if state.exists():
                live = abstain.live.load_live(state)
                abstain.live.same_options(live, given)
                for name in add_group:
                    live.add_group(name)
            else:
                others = None if grid is None else _grid_scores(grid, how, columns)
                live = abstain.live.begin_live(confidence, others, given)
            before = live.result().thresholds
            if restart:
                live.restart()
            found = live.update(
                confidence,
                loss,
                label_probability=1.0 if label_probability is None else _numbers(held[label_probability]),
                drawn=None if drawn is None else _numbers(held[drawn]),
                groups=None if group is None else held[group],
                clusters=outputs.clusters,
                time=None if when is None else held[when],
                ids=outputs.ids,
                as_of=_present(as_of),
                again=again,
            )
            policy = live.policy(**how.arguments(), group=group)
            if output is not None:  # before the state: a run that dies between the two can be repeated
                policy.save(output)
            live.write(state)
    if output is not None:
        say_written(output)
    verdict = scored_as(found.verdict, how)
    to.write(found, files=[file], title=f"Live certificate: {file.name}", verdict=verdict)
    to.show(found, verdict)
    if not to.instead:
        _say_moved(found, before)
    if any(one.violated_at is not None for one in found.groups.values()):
        context.exit(1)
