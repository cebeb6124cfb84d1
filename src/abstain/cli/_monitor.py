"""``abstain monitor``: whether newly labelled rows still satisfy the guarantee."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

import abstain.outputs
from abstain._result import Caveat
from abstain.cli._columns import ANSWERS, ROWS, reads
from abstain.cli._group import Options, command
from abstain.cli._input import about, column_names, read
from abstain.cli._next import after_violation, with_unread_groups
from abstain.cli._output import Output, writes
from abstain.cli._several import is_several

#: Option of every command that uses a policy.
model_option = click.option("--model", help="Refuse a policy that was not made for this model.")


@command.command("monitor")
@click.argument("policy", type=Path)
@click.argument("file", type=Path, required=False)
@reads("labels", "features", *ROWS, *ANSWERS, "clusters")
@click.option("--state", type=Path, help="What was monitored so far: read, and written again with FILE, the new rows.")
@click.option("--time", help="Column of dates or numbers: when labels came; with --maturity when rows were predicted.")
@click.option("--maturity", type=float, help="Days until all labels of a row's age are in; younger rows wait.")
@click.option("--as-of", help="The present, for --maturity.  [default: the latest time]")
@click.option("--unlabelled", type=click.Choice(["refuse", "error"]), help="Accepted rows without a label.")
@click.option(
    "--returning",
    type=click.Choice(["refuse", "skip"]),
    help="Rows of a cluster that was monitored before.  [default: refuse]",
)
@click.option("--period", type=float, help="Days of a line of the table, where --time is given.  [default: 7]")
@click.option("--run-length", type=float, help="Accepted rows between false signals of a change.  [default: 10000]")
@click.option("--since-first", is_flag=True, help="Test the mean risk since the first row, not the risk at every row.")
@click.option("--window", type=float, help="Test the mean risk in windows of so many days; without --time, of rows.")
@click.option("--again", is_flag=True, help="Take rows that look as if they had been sent before.")
@click.option("--accepted-only", is_flag=True, help="Only accepted rows were labelled: coverage is unknown.")
@click.option("--max-loss", type=float, help="Largest possible loss; default that of the guarantee.")
@click.option("--delta", type=float, help="False-alarm probability; default that of the guarantee.")
@model_option
@click.option("--metrics-file", type=Path, help="Write the result for the textfile collector of Prometheus.")
@writes(("monitoring", "monitoring"), "report", "print-json")
@click.pass_context
def monitor_command(
    context: click.Context, /, policy: Path, file: Path | None, columns: Options, state: Path | None,
    time: str | None, as_of: str | None, again: bool, model: str | None, metrics_file: Path | None, to: Output,
    **options: Any,
) -> None:  # fmt: skip
    """Test whether newly labelled rows still satisfy the guarantee; exit code 1 if it is violated.

    FILE holds all labelled rows since the deployment, in the order in which their labels came; with --state only the
    new ones. Where labels come late, all rows, with --time and --maturity. A quoted pattern, or a folder, of Parquet
    files is counted, and taken in the order of --time. The test may be repeated every day. Without FILE what was
    monitored so far is shown.

    Examples
    --------
    abstain monitor policy.json audited.parquet --loss err
    abstain monitor policy.json this_week.csv --loss err --state watch.json
    abstain monitor policy.json recent.csv --loss err --state watch.json --time predicted --maturity 30
    """
    from abstain._files import locked, write_text
    from abstain.integrations.prometheus import metrics_text

    to.check(policy, file, **{"metrics-file": metrics_file})
    whole = abstain.load_policy(policy, model=model)
    given = {name: value for name, value in options.items() if value is not None and value is not False}
    if file is None and (state is None or not state.exists()):
        raise click.UsageError("give FILE, the labelled rows, or --state with what was monitored so far")
    with nullcontext() if state is None or file is None else locked(state):
        seen, outputs = _seen(whole, file, state, columns, time, given, {"as_of": _present(as_of), "again": again})
    verdict = seen.verdict
    if file is not None and not is_several(file):
        if outputs is not None and whole.group is None:
            verdict = with_unread_groups(verdict, file, outputs, "abstain audit")
        drift = next((each for each in verdict.caveats if each.kind == "drift"), None)
        if time is None and drift is not None:
            order = {"order": " Rows were taken in the order of the file; if they came in another one, give --time."}
            verdict = verdict.but(Caveat.of("drift", **{**drift.values, **order}), instead=["drift"])
        if seen.violated:
            verdict = after_violation(verdict, whole, file, whole.columns(**columns))
    sources = [policy, *([] if file is None else [file])]
    title = f"Monitoring {policy.name}{'' if file is None else f': {file.name}'}"
    drawn = (seen, replace(whole, second=None))
    to.write(seen, files=sources, title=title, draw=drawn, outputs=outputs, verdict=verdict)
    if metrics_file is not None:
        write_text(metrics_file, metrics_text(seen, policy.name))
    to.show(seen, verdict)
    if seen.violated:
        context.exit(1)


def _seen(
    policy: abstain.policy.Policy,
    file: Path | None,
    state: Path | None,
    columns: Options,
    time: str | None,
    given: Options,
    update: Options,
) -> tuple[abstain.monitoring.Monitoring, abstain.Outputs | None]:
    """Return what all rows until now show and the outputs of the file, whose rows are then kept in the state."""
    from abstain.monitoring import Monitor, begun_monitor, in_frame, in_time_order

    known, outputs = replace(policy, second=None), None  # two scores are tested as one
    try:
        stream = Monitor(known, **given) if state is None else begun_monitor(state, known, **given)
    except ValueError as error:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise ValueError(str(error).replace(f"leave {', '.join(given)} out", f"leave {names} out")) from None
    late = stream.clock.maturity is not None
    if file is None:
        return stream.result(), None
    if is_several(file):
        with about(file):
            for k, rows in enumerate(in_time_order(policy, str(file), time, policy.columns(**columns), late)):
                with in_frame(time, rows):
                    stream.update(**rows, **update | {"again": update["again"] or k > 0})
    elif state is not None and _no_rows(file):
        stream.update([], [], **update)
    else:
        rows, outputs = _monitored(file, policy, columns, time, late or "unlabelled" in given)
        with about(file):
            stream.update(**rows, **update)
    if state is not None:
        stream._write(str(state))
    return stream.result(), outputs


def second_column(policy: abstain.policy.Policy) -> list[str]:
    """Return the column of a second score, if there is one."""
    return [policy.second.score] if policy.second is not None and policy.second.inputs is None else []


def one_score(outputs: abstain.Outputs, policy: abstain.policy.Policy) -> Any:
    """Return the score of a policy; of two the first, -inf where the second one is too low."""
    inputs, second = dict(policy.inputs or {}), policy.second
    matrix = getattr(outputs, next(iter(inputs))) if inputs else None
    with warnings.catch_warnings():  # what is odd about the logits was said when they were read
        warnings.simplefilter("ignore")
        score = policy.confidence(matrix) if inputs else outputs.confidence
        if second is None:
            return score
        other = (outputs.scores or {})[second.score] if second.inputs is None else None
        return policy.as_one(score, policy.of_second().confidence(matrix) if other is None else other)[1]


def _monitored(
    file: Path, policy: abstain.policy.Policy, columns: Options, time: str | None, unlabelled: bool
) -> tuple[Options, abstain.Outputs]:
    """Return the columns of rows to monitor, and the outputs; rows without a label have none of a loss."""
    from abstain._checks import closest
    from abstain.outputs import read_pool

    read_as, extra = policy.columns(**columns), second_column(policy)
    by = [] if policy.group is None else [policy.group]
    when: Options = {} if time is None else {time: None}
    known = column_names(file)
    if time is not None and known and not {time, f"group_{time}"} & set(known):
        raise ValueError(f"{file}: time={time!r}: no column has this name; {closest(time, known)}")
    try:
        if unlabelled:
            outputs, loss = read_pool(file, groups=list(dict.fromkeys([*by, *when])), scores=extra, **read_as)
            names, when = by, {name: (outputs.groups or {})[name] for name in when}
        else:
            score = policy.score if policy.inputs else None
            late = "give --time and --maturity"
            outputs, _, names = read(file, extra, by, score=score, beside=when, late=late, **read_as)
            loss = outputs.loss_per_sample()
    except ValueError as error:  # a column is read as a group is
        raise ValueError(str(error).replace(f"groups[{time!r}]", f"--time {time}")) from None
    with about(file):
        score = one_score(outputs, policy)
    return {
        "loss": loss,
        "confidence": score,
        "clusters": outputs.clusters,
        "groups": (outputs.groups or {})[names[0]] if by else None,
        "time": when.get(time or ""),
    }, outputs


def _no_rows(file: Path) -> bool:
    """Return whether a CSV or Parquet file has columns, and no rows; of any other the reader says what is wrong."""
    if not file.name.lower().endswith((".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet")):
        return False
    try:
        return bool(abstain.outputs.scan(str(file)).frame.head(1).collect().is_empty())
    except Exception:  # whatever is wrong with it
        return False


def _present(as_of: str | None) -> float | str | None:
    """Return a number, or the text of a date."""
    try:
        return None if as_of is None else float(as_of)
    except ValueError:
        return as_of
