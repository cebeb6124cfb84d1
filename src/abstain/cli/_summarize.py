"""``abstain summarize`` and ``abstain merge``: more rows than fit into memory, in one file of a few kilobytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

import abstain
from abstain.cli._group import Options, command
from abstain.cli._output import Output, check_destinations, writes
from abstain.cli._show import say_written

if TYPE_CHECKING:
    from abstain.summaries import GroupedSummary, JointSummary, Key, Summary

    AnySummary = Summary | GroupedSummary | JointSummary


@command.command("summarize")
@click.argument("files", nargs=-1)
@click.option("--confidence", help="Column of the score, higher = more confident.")
@click.option("--loss", help="Column of losses >= 0, or of what is wrong.")
@click.option("--labels", help="Column of true classes, with --predictions in place of --loss.")
@click.option("--predictions", help="Column of predicted classes.")
@click.option("--detector", help="Column of a second score, that distinguishes OOD inputs: bounds of F1, AURC of both.")
@click.option("--ood", multiple=True, help="With --detector: files of rows out of distribution, or a pattern.")
@click.option("--prevalence", type=float, help="With --detector: share of such rows in the population.")
@click.option("--groups", help="Column whose values are summarized apart, in the same pass.")
@click.option(
    "--key",
    "key_name",
    help="Bins: 'probability/16', finest near 1, or 'real/16' for any score; 8 to 20 bits.  [default: probability/16]",
)
@click.option("--detector-key", help="With --detector: bins of that score; both 8 to 12 bits.  [default: real/10]")
@click.option(
    "--nan-policy",
    default="raise",
    show_default=True,
    type=click.Choice(["raise", "reject"]),
    help="What a missing score means: an error; ranked last, never accepted.",
)
@click.option("--metrics", help="Names: 'augrc,coverage_at_risk(risk=0.01)'.  [default: all that can be bounded]")
@click.option("-o", "--output", type=Path, help="Write the summary, .parquet.")
@click.option("--sql", "as_sql", is_flag=True, help="Print the summary as one SQL query instead; needs no FILES.")
@click.option("--table", default="predictions", show_default=True, help="With --sql: what stands after FROM.")
@writes("csv", "json", "scale")
def summarize_command(
    files: Sequence[str], confidence: str | None, loss: str | None, labels: str | None, predictions: str | None,
    detector: str | None, ood: Sequence[str], prevalence: float | None, groups: str | None, key_name: str | None,
    detector_key: str | None, nan_policy: Literal["raise", "reject"],
    metrics: str | None, output: Path | None, as_sql: bool, table: str,
    to: Output,
) -> None:  # fmt: skip
    """Bound the metrics of any number of rows in constant memory.

    FILES are .parquet, .csv and .tsv files of predictions, patterns of these, or summaries, which add up. The values
    cannot leave the brackets, whatever the order of the rows within a bin.

    Examples
    --------
    abstain summarize 'logs/*.parquet' --confidence msp --loss wrong -o monday.parquet
    abstain summarize 'logs/*.parquet' --confidence msp --loss wrong --groups site -o sites.parquet
    abstain summarize 'logs/*.parquet' --confidence msp --detector knn --loss wrong --ood 'ood/*.parquet'
    abstain summarize monday.parquet --metrics 'aurc,selective_risk(coverage=0.9)'
    abstain summarize --sql --confidence msp --loss wrong --table logs
    """
    summaries = abstain.summaries
    key = None if key_name is None else summaries.Key.named(key_name)
    if as_sql:
        if detector is not None:
            raise ValueError("--sql counts one score; leave --detector out")
        if confidence is None or loss is None:
            raise ValueError("--sql needs --confidence COLUMN and --loss COLUMN")
        click.echo(summaries.sql(key or summaries.Key(), confidence=confidence, loss=loss, table=table, groups=groups))
        return
    if not files:
        raise ValueError("no FILES are given; give files of predictions, summaries, or --sql")
    if detector is not None and groups is not None:
        raise ValueError("--groups and --detector are not counted together; filter the rows of a group")
    if ood and detector is None:
        raise ValueError("--ood needs --detector COLUMN, the score that distinguishes these rows")
    names = summaries.files_of(files)
    to.check(*map(Path, names), output=output)
    _check_name(output)
    columns = {"confidence": confidence, "loss": loss, "labels": labels, "predictions": predictions, "groups": groups}
    if detector is None:
        summary = _summary(names, key, columns, nan_policy)
    else:
        second = None if detector_key is None else summaries.Key.named(detector_key)
        summary = _joint(names, ood, (key, second), columns | {"detector": detector}, nan_policy)
    if isinstance(summary, summaries.JointSummary):
        wanted = None if metrics is None else [each.strip() for each in metrics.split(",")]
        result: Any = summary.result(wanted, prevalence=prevalence)
    elif prevalence is not None:
        raise ValueError("--prevalence needs a summary of two scores: --detector COLUMN")
    else:
        result = summary.result(None if metrics is None else abstain.metrics.parse_list(metrics))
    if output is not None:
        summary.save(output)
        say_written(output)
    to.write(result)
    to.show(result)


def _check_name(output: Path | None) -> None:
    """Refuse another extension before hours of work."""
    if output is not None and output.suffix.lower() != ".parquet":
        raise ValueError(f"{output}: a summary is written as .parquet; give it that extension")


def _summary(
    names: Sequence[str], key: Key | None, columns: Options, nan_policy: Literal["raise", "reject"]
) -> AnySummary:
    """Return the summary of files of rows and of summaries; what was given, or the first summary, decides the key."""
    made = {name: abstain.summaries.read_summary(name) for name in names if abstain.summaries.is_summary(name)}
    rows = [name for name in names if name not in made]
    first = next(iter(made.values()), None)
    key = key or (first.key if first else abstain.summaries.Key())
    if isinstance(first, abstain.summaries.GroupedSummary):
        columns = columns | {"groups": columns["groups"] or first.groups}
    elif first is not None and columns["groups"] is not None:
        raise ValueError(
            f"{next(iter(made))}: is a summary without groups, so --groups {columns['groups']} has no rows"
        )
    if rows:
        if columns["confidence"] is None or (columns["loss"] is None and columns["labels"] is None):
            raise ValueError(f"{rows[0]}: holds rows; give --confidence COLUMN and --loss COLUMN")
        of_rows = abstain.summaries.summarize(rows, **columns, scale=key.scale, bits=key.bits, nan_policy=nan_policy)
        made = {rows[0]: of_rows, **made}
    return _merged(made)


def _joint(
    names: Sequence[str],
    ood: Sequence[str],
    keys: tuple[Key | None, Key | None],
    columns: Options,
    nan_policy: Literal["raise", "reject"],
) -> AnySummary:
    """Return the summary of two scores of files of rows and of summaries."""
    if nan_policy != "raise":
        raise ValueError("--nan-policy reject is of one score; of two, give every row both scores")
    made = {name: abstain.summaries.read_summary(name) for name in names if abstain.summaries.is_summary(name)}
    rows = [name for name in names if name not in made]
    if columns["confidence"] is None or (rows and columns["loss"] is None and columns["labels"] is None):
        raise ValueError("--detector needs --confidence COLUMN and --loss COLUMN, of the rows in FILES")
    first = next((each for each in made.values() if isinstance(each, abstain.summaries.JointSummary)), None)
    known = (first.key, first.detector_key) if first else (None, None)
    bits = next((key.bits for key in (*keys, *known) if key is not None), 10)
    key, second = (
        given or other or abstain.summaries.Key(scale, bits)  # type: ignore[arg-type]
        for given, other, scale in zip(keys, known, ("probability", "real"), strict=True)
    )
    if key.bits != second.bits:
        raise ValueError(f"--key {key.name} and --detector-key {second.name} must have as many bits")
    del columns["groups"]
    of_rows = abstain.summaries.summarize_joint(
        rows, list(ood), **columns, scale=key.scale, detector_scale=second.scale, bits=key.bits
    )
    return _merged({(rows or list(ood) or [""])[0]: of_rows, **made})


def _merged(made: Mapping[str, Any]) -> AnySummary:
    """Return the sum of summaries; an error names the file of the first that does not add up."""
    first: Any
    (_, first), *others = made.items()
    for name, other in others:
        try:
            first = first.merge(other)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{name}: {error}") from None
    merged: AnySummary = first
    return merged


@command.command("merge")
@click.argument("files", nargs=-1, required=True)
@click.option("-o", "--output", type=Path, required=True, help="Write the sum, .parquet.")
def merge_command(files: Sequence[str], output: Path) -> None:
    """Add up summaries of different rows; they must have one key.

    FILES are what 'abstain summarize -o' or its SQL wrote, or patterns of these.

    Examples
    --------
    abstain merge monday.parquet tuesday.parquet -o week.parquet
    """
    names = abstain.summaries.files_of(files)
    check_destinations({"output": output}, [Path(name) for name in names])
    _check_name(output)
    merged = _merged({name: abstain.summaries.read_summary(name) for name in names})
    merged.save(output)
    click.echo(f"wrote {output}: {merged.n:,} rows in {len(names)} summaries", err=True)
