"""``abstain threshold``, ``abstain apply`` and ``abstain monitor``: choose, deploy and watch a policy."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from abstain.cli._columns import ANSWERS, MODEL, ROWS, SURE, reads
from abstain.cli._group import command, example_lines, words
from abstain.cli._input import about, read, understood
from abstain.cli._plots import Wanted, draw, plot_option, plot_targets, say_written
from abstain.cli._show import check_destinations, print_result

if TYPE_CHECKING:
    from abstain.outputs import Origin, Outputs
    from abstain.policy import Policy

#: Option of every command that uses a policy.
model_option = click.option("--model", help="Refuse a policy that was not made for this model.")
#: What a threshold can be chosen for; each is an option of its own.
_OBJECTIVES = ("risk", "coverage", "capacity", "cost")
#: Columns of which one says what is right.
_VERDICTS = ("loss", "correct", "quality")


def _scored(
    outputs: Outputs, score: str | None, temperature: float | None, given: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """Return the confidence of each row, and how a policy comes by it in new files."""
    from abstain.policy import compute, inputs_of

    origin = outputs.origin
    assert origin is not None
    if score is None and temperature is None and outputs.confidence is not None:
        if given["confidence_levels"]:
            raise click.UsageError("a policy does not keep --confidence-levels; write their places as numbers")
        return outputs.confidence, {"score": _finished(origin)}
    if given["confidence"]:
        raise click.UsageError(
            "--score and --temperature compute a confidence from --logits or --probabilities; leave --confidence out"
        )
    if outputs.logits is None and outputs.probabilities is None:
        raise ValueError(
            f"{score or 'msp'!r} is computed from logits or probabilities, which the file does not hold, and a "
            "finished column cannot be scaled; give logits= or probabilities=, or confidence= alone"
        )
    probabilities = outputs.logits is None or (given["probabilities"] and not given["logits"])
    kind: Any = "probabilities" if probabilities else "logits"
    names = origin.matrix.get(kind) or [origin.single["positive_probability"]]
    how: dict[str, Any] = {"score": score or "msp", kind: names, "temperature": temperature}
    inputs_of(how["score"], how.get("logits"), how.get("probabilities"), temperature)
    with noted():
        return compute(how["score"], kind, getattr(outputs, kind), temperature), how


def _say_repeated(outputs: Outputs) -> None:
    """Say if rows share an id: a promise would count them as independent."""
    import numpy as np

    from abstain.thresholds import CopiedRowsWarning

    if outputs.ids is not None and (distinct := len(np.unique(outputs.ids))) < len(outputs.ids):
        warnings.warn(
            f"{len(outputs.ids)} rows have {distinct} ids, and the promise counts each row as independent; if rows of "
            "an id belong together, name it with --clusters",
            CopiedRowsWarning,
            stacklevel=2,
        )


def _print(result: Any, as_json: bool) -> None:
    if as_json:
        click.echo(result.to_json())
    else:
        print_result(result)


def _finished(origin: Origin) -> str:
    """Return the column that new files have the confidence in."""
    if "confidence" in origin.single:
        return origin.single["confidence"]
    if "uncertainty" in origin.single:
        return origin.single["uncertainty"]
    name = origin.single.get("positive_probability")
    other = "" if name is None else f", not {name!r}"
    raise ValueError(
        f"a policy compares a column of confidence with its threshold, but this confidence is "
        f"{origin.columns['confidence']}; write it into a column of its own, here and in new files{other}"
    )


def _reading(outputs: Outputs, given: dict[str, Any], how: dict[str, Any]) -> dict[str, Any]:
    """Return how new files are read: what was named, what rows are units, and what says that the model declined."""
    from abstain.policy import READING

    assert outputs.origin is not None
    single, computed = outputs.origin.single, how.keys() & {"logits", "probabilities"}
    kept = {"clusters", *(() if computed else ("uncertainty",))}
    if _declined(outputs):
        kept.add(next(part for part in ("abstained", "correct", "predictions") if part in single))
    found = {part: name for part, name in single.items() if part in kept}
    options = {name: given.get(name) for name in READING if name != "uncertainty"}
    return found | {name: value for name, value in options.items() if value is not None}


def as_calibrated(columns: dict[str, Any], policy: Policy) -> dict[str, Any]:
    """Return how to read a file that is monitored: as options say, and else as the calibration file was read."""
    inputs, reading = dict(policy.inputs or {}), dict(policy.reading)
    told = {name for name, value in columns.items() if value is not None}
    if told & {"loss", "correct", "quality"}:
        part, name = policy.said_declined() or ("", "")
        if part in ("correct", "predictions") and not told & {"abstained", "correct"}:
            raise click.UsageError(
                f"the promise is about what the model itself answers, which {name!r} said at calibration; give "
                + (f"--correct {name}, or " if part == "correct" else "")
                + "--abstained with the column that says so"
            )
        reading = {name: value for name, value in reading.items() if name not in (*_VERDICTS, "labels", "predictions")}
    elif told & {"labels", "predictions"}:
        reading = {name: value for name, value in reading.items() if name not in _VERDICTS}
    if columns["positive_probability"] in inputs.get("probabilities", ()):
        columns["positive_probability"] = None  # the policy has it
    column = None if inputs else "uncertainty" if "uncertainty" in reading else "confidence"
    scored = {"logits": inputs.get("logits"), "probabilities": inputs.get("probabilities")}
    return (
        columns
        | {name: reading[name] for name in reading.keys() - told}
        | scored
        | ({} if column is None else {column: policy.score})
    )


def _declined(outputs: Outputs) -> bool:
    """Whether the file says of some rows, or could, that the model itself did not answer them."""
    assert outputs.origin is not None
    states = outputs.states
    return "abstained" in outputs.origin.single or (states is not None and states.counts["abstained"] > 0)


def _capacity(_context: Any, _option: Any, text: str | None) -> Any:
    """Return a share, or cases that can be reviewed out of those that come in the same time."""
    if text is None:
        return None
    parts = text.split("/")
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 2):
        raise click.UsageError(f"--capacity takes a share, or cases of all cases as in 500/2500; got {text!r}")
    return numbers[0] if len(numbers) == 1 else tuple(numbers)


@contextmanager
def noted() -> Iterator[None]:
    """Leave unsaid what is odd about the logits of a file: it was said when they were read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@command.command(
    "threshold",
    epilog=example_lines(
        "abstain threshold val.csv --loss err --confidence conf --risk 0.05 --delta 0.05 -o policy.json",
        "abstain threshold val.parquet --labels y --logits 'z_*' --temperature 1.5 --capacity 0.2 -o policy.json",
    ),
)
@click.argument("file", type=Path)
@reads(*MODEL, *ANSWERS, *SURE, "ids", "clusters")
@click.option("--score", help="Score to compute from logits or probabilities, in new files too.  [default: msp]")
@click.option("--temperature", type=float, help="Divides the logits first; it must not come from these rows.")
@click.option("--risk", type=float, help="Largest selective risk; with --delta it is certified.")
@click.option("--delta", type=float, help="Error probability of the certificate.")
@click.option("--coverage", type=float, help="Smallest share to answer.")
@click.option("--capacity", callback=_capacity, help="Largest share that reviewers can take: .2, or 500/2500 cases.")
@click.option("--cost", nargs=2, type=float, metavar="ERROR REVIEW", help="Costs of an error and of a review.")
@click.option("--max-loss", type=float, help="Largest possible loss, for certificates of losses that are not 0/1.")
@click.option("--groups", help="Group column: one threshold for each value, delta shared.")
@click.option("--model", help="Of which model the policy is, such as a version or a hash; written into it.")
@click.option("--author", help="Written into the policy.")
@click.option("--note", help="Written into the policy.")
@click.option("-o", "--output", type=Path, help="Write the policy as JSON.")
@plot_option("threshold", "trade_off")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.pass_context
def threshold_command(
    context: click.Context, /, file: Path, columns: dict[str, Any], score: str | None,
    temperature: float | None, groups: str | None, output: Path | None, as_json: bool, plots: Wanted,
    model: str | None, author: str | None, note: str | None, **objective: Any,
) -> None:  # fmt: skip
    """Choose a threshold on calibration rows; exit code 1 if the objective is not attainable, in any group.

    The groups that attain it are written all the same; the rows of the others are then rejected.
    """
    from abstain.thresholds import GroupThresholds, choose_threshold

    wanted = {name: value for name, value in objective.items() if value not in (None, ())}
    if len(wanted.keys() & _OBJECTIVES) != 1:
        raise click.UsageError(f"give exactly one of {', '.join(f'--{name}' for name in _OBJECTIVES)}")
    by = words(groups)
    if len(by) > 1:
        raise click.UsageError("--groups takes one group column here")
    check_destinations({"output": output, **plot_targets(plots)}, [file])
    if plots and by:
        raise click.UsageError("--plot draws one threshold; leave out --groups")
    outputs, _, names = read(file, [], by, **columns)
    if "delta" in wanted and outputs.origin is not None and outputs.origin.single.keys() & {"correct", "quality"}:
        wanted.setdefault("max_loss", 1.0)  # 1 - a verdict or quality in [0, 1]
    with about(file):
        column, how = _scored(outputs, score, temperature, columns)
        chosen = None if not by else (outputs.groups or {})[names[0]]
        if "delta" in wanted and outputs.clusters is None:
            _say_repeated(outputs)
        found = choose_threshold(
            outputs.loss_per_sample(), column, groups=chosen, clusters=outputs.clusters, nan_policy="reject",
            answered=_declined(outputs), **wanted,
        )  # fmt: skip
    how |= {"reading": _reading(outputs, columns, how), "model": model, "author": author, "note": note}
    if how.keys() & {"logits", "probabilities"}:
        how["class_names"] = list(outputs.class_names or map(str, range(outputs.n_classes or 0))) or None
    each = found.groups if isinstance(found, GroupThresholds) else {"": found}
    failed = [name for name, one in each.items() if not one.attainable]
    outcome = "not attainable"
    if output is not None and len(failed) == len(each):
        outcome += f", so {output} was not written"
    elif output is not None:
        found.save(output, **how | ({"group": by[0]} if by else {}))
        from abstain._checks import listed

        outcome += f" for {listed(failed)}: their rows are rejected"
    say_written(draw(plots, "threshold", found, outputs.loss_per_sample(), column))
    _print(found, as_json)
    if failed:
        click.echo(outcome, err=True)
        context.exit(1)


@command.command("apply", epilog=example_lines("abstain apply policy.json new.parquet -o decided.parquet"))
@click.argument("policy", type=Path)
@click.argument("file", type=Path)
@click.option("-o", "--output", type=Path, required=True, help="Decided rows: .csv, .tsv, .parquet or .jsonl.")
@click.option("--column", default="accepted", show_default=True, help="Name of the new column.")
@model_option
@click.option("--edited", is_flag=True, help="Use a policy that was edited by hand; its guarantee is dropped.")
def apply_command(policy: Path, file: Path, output: Path, column: str, edited: bool, model: str | None) -> None:
    """Decide every row of FILE, which may be of any kind that 'abstain evaluate' reads; CSV and Parquet of any size."""
    from abstain import load_policy
    from abstain.thresholds import apply_policy

    known = load_policy(policy, edited=edited, model=model)
    done = apply_policy(known, file, output, column=column)
    share = f" ({done.n_accepted / done.n:.4g})" if done.n else ""
    refused = f", {done.n_declined} declined by the model itself" if known.said_declined() is not None else ""
    strange = "" if known.group is None else f", {done.n_unknown_group} of no group that has a threshold"
    counts = f"{done.n} rows: {done.n_accepted} accepted{share}{refused}, {done.n_unscored} without a score{strange}"
    click.echo(counts)
    promise = "nothing is promised" if known.guarantee is None else f"promise: {known.guarantee['statement']}"
    score = f"minus {known.score!r}" if "uncertainty" in known.reading else repr(known.score)
    group = known.group
    by = f" reaches the threshold of its {group!r}" if group is not None else f" >= {known.thresholds['']!r}"
    understood.append(f"{policy}: a row is accepted if {score}{by}; {promise}")
    understood.extend(f"{file}: {note}" for note in done.notes)
    click.echo(f"wrote {output}", err=True)


@command.command(
    "monitor",
    epilog=example_lines(
        "abstain monitor policy.json audited.parquet --loss err",
        "abstain monitor policy.json this_week.csv --loss err --state watch.json",
        "abstain monitor policy.json recent.csv --loss err --state watch.json --time predicted --maturity 30",
    ),
)
@click.argument("policy", type=Path)
@click.argument("file", type=Path, required=False)
@reads("labels", "features", *ROWS, *ANSWERS, "clusters")
@click.option("--state", type=Path, help="What was watched so far: read, and written again with FILE, the new rows.")
@click.option("--time", help="Column of dates or numbers: when labels came; with --maturity when rows were predicted.")
@click.option("--maturity", type=float, help="Days until all labels of a row's age are in; younger rows wait.")
@click.option("--as-of", help="The present, for --maturity.  [default: the latest time]")
@click.option("--unlabelled", type=click.Choice(["refuse", "error"]), help="Accepted rows without a label.")
@click.option("--period", type=float, help="Days of a line of the table, where --time is given.  [default: 7]")
@click.option("--run-length", type=float, help="Accepted rows between false signals of a change.  [default: 10000]")
@click.option("--since-first", is_flag=True, help="Test the mean risk since the first row, not the risk at every row.")
@click.option("--again", is_flag=True, help="Take rows that look as if they had been sent before.")
@click.option("--accepted-only", is_flag=True, help="Only accepted rows were labelled: coverage cannot be told.")
@click.option("--max-loss", type=float, help="Largest possible loss; default that of the promise.")
@click.option("--delta", type=float, help="False-alarm probability; default that of the promise.")
@plot_option("monitoring", "monitoring")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.pass_context
def monitor_command(
    context: click.Context, /, policy: Path, file: Path | None, columns: dict[str, Any], state: Path | None,
    time: str | None, as_of: str | None, again: bool, as_json: bool, plots: Wanted, **options: Any,
) -> None:  # fmt: skip
    """Test whether newly labelled rows still support the promise; exit code 1 if it is broken.

    FILE holds all labelled rows since the deployment, in the order in which their labels came; with --state only the
    new ones. The test may be repeated every day. Without FILE what was watched so far is shown.
    """
    from abstain import load_policy
    from abstain.thresholds import Watch, load_watch

    check_destinations(plot_targets(plots), [policy, *([] if file is None else [file])])
    known = load_policy(policy)
    given = {name: value for name, value in options.items() if value not in (None, False)}
    if state is not None and state.exists():
        if given:
            names = ", ".join(f"--{name.replace('_', '-')}" for name in given)
            raise click.UsageError(
                f"{state} keeps the options that it was begun with; leave {names} out, or begin another state"
            )
        watch = load_watch(state, known)
    elif file is None:
        raise click.UsageError("give FILE, the labelled rows, or --state with what was watched so far")
    else:
        watch = Watch(known, **given)
    if state is not None and file is not None:
        check_destinations({"state": state}, [file, policy])
    if file is None:
        seen = watch.result()
    else:
        unlabelled = watch.clock.maturity is not None or "unlabelled" in given
        rows = _monitored(file, known, columns, time, unlabelled)
        with about(file):
            seen = watch.update(**rows, as_of=_present(as_of), again=again)
    if state is not None and file is not None:
        watch.save(state)
    say_written(draw(plots, "monitoring", seen, known))
    _print(seen, as_json)
    if seen.promise_broken:
        context.exit(1)


def _monitored(
    file: Path, policy: Policy, columns: dict[str, Any], time: str | None, unlabelled: bool
) -> dict[str, Any]:
    """Return the columns of rows to watch; rows without a label have none of a loss."""
    from abstain.outputs import read_pool

    inputs, columns = dict(policy.inputs or {}), as_calibrated(columns, policy)
    by = [name for name in (policy.group, time) if name is not None]
    if unlabelled:
        outputs, loss = read_pool(file, groups=by, **columns)
        names = by
    else:
        outputs, _, names = read(file, [], by, **columns)
        loss = outputs.loss_per_sample()
    found = dict(zip(by, names, strict=True))
    with about(file), noted():
        score = policy.confidence(getattr(outputs, next(iter(inputs)))) if inputs else outputs.confidence
    return {
        "loss": loss, "confidence": score, "clusters": outputs.clusters,
        "groups": (outputs.groups or {})[found[policy.group]] if policy.group else None,
        "time": (outputs.groups or {})[found[time]] if time else None,
    }  # fmt: skip


def _present(as_of: str | None) -> Any:
    """Return a number, or the text of a date."""
    try:
        return None if as_of is None else float(as_of)
    except ValueError:
        return as_of
