"""``abstain apply``, ``audit`` and ``export``: use a policy, see what it does, take it elsewhere."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

import abstain
from abstain.cli._columns import ANSWERS, ROWS, reads
from abstain.cli._group import Options, command
from abstain.cli._input import about, read, understood
from abstain.cli._monitor import model_option, one_score, second_column
from abstain.cli._next import with_unread_groups
from abstain.cli._output import Output, check_destinations, writes
from abstain.cli._show import say_written

#: Forms of a policy outside the library, by the ending of the file.
_FORMS = {".py": "python", ".sql": "sql", ".json": "schema"}


def _labelled(
    policy: abstain.policy.Policy, file: Path, columns: Options, by: list[str]
) -> tuple[abstain.policy.Policy, abstain.Outputs, Options]:
    """Return labelled rows, read as the calibration rows were, and the policy with one score in the place of two."""
    score = policy.score if policy.inputs else None
    outputs, _, names = read(file, second_column(policy), by, score=score, **policy.columns(**columns))
    with about(file):
        confidence = one_score(outputs, policy)
    groups = None if not by else (outputs.groups or {})[names[0]]
    told = {"confidence": confidence, "groups": groups, "clusters": outputs.clusters}
    return replace(policy, second=None), outputs, told


@command.command("apply")
@click.argument("policy", type=Path)
@click.argument("file", type=Path)
@click.option("-o", "--output", type=Path, required=True, help="Decided rows: .csv, .tsv, .parquet or .jsonl.")
@click.option("--column", default="accepted", show_default=True, help="Name of the new column.")
@click.option(
    "--audit", type=float, help="Share of the answers to draw for a label, in a column label_drawn; for 'abstain live'."
)
@click.option("--ids", help="Column that names each row, and no two alike, ever; needed with --audit.")
@click.option("--seed", help="Number or text that decides the draws, kept secret; needed with --audit.")
@model_option
@click.option("--edited", is_flag=True, help="Use a policy that was edited by hand; its guarantee is dropped.")
def apply_command(
    policy: Path, file: Path, output: Path, column: str, edited: bool, model: str | None, **draws: Any
) -> None:
    """Decide every row of FILE, which may be of any kind that 'abstain evaluate' reads; CSV and Parquet of any size.

    Examples
    --------
    abstain apply policy.json new.parquet -o decided.parquet
    """
    known = abstain.load_policy(policy, edited=edited, model=model)
    done = abstain.apply_policy(known, file, output, column=column, **draws)
    share = f" ({done.n_accepted / done.n:.4g})" if done.n else ""
    refused = f", {done.n_declined} abstained by the model itself" if known.said_declined() is not None else ""
    strange = "" if known.group is None else f", {done.n_unknown_group} of no group that has a threshold"
    counts = f"{done.n} rows: {done.n_accepted} accepted{share}{refused}, {done.n_unscored} without a score{strange}"
    click.echo(counts)
    guarantee = "nothing is guaranteed" if known.guarantee is None else f"guarantee: {known.guarantee.statement}"
    score = f"minus {known.score!r}" if "uncertainty" in known.reading else repr(known.score)
    group = known.group
    by = f" reaches the threshold of its {group!r}" if group is not None else f" >= {known.thresholds['']!r}"
    if known.second is not None:
        by += f" and {'minus ' * known.second.uncertainty}{known.second.score!r} >= {known.second.threshold!r}"
    understood.append(f"{policy}: a row is accepted if {score}{by}; {guarantee}")
    if model is None and "model" in known.about:
        understood.append(
            f"{policy} was made for the model {known.about['model']!r}, and {file} does not say which one scored it: "
            "give --model to have that checked"
        )
    understood.extend(f"{file}: {note}" for note in done.notes)
    say_written(output)


@command.command("audit")
@click.argument("policy", type=Path)
@click.argument("file", type=Path)
@reads("labels", "features", *ROWS, *ANSWERS, "clusters")
@model_option
@click.option("--groups", "by", help="Column to look at the rows by; default: the groups of the policy.")
@click.option("--level", default=0.95, show_default=True, help="Of each interval by itself.")
@writes("print-json")
@click.pass_context
def audit_command(
    context: click.Context, /, policy: Path, file: Path, columns: Options, by: str | None, level: float,
    model: str | None, to: Output,
) -> None:  # fmt: skip
    """Say what a policy does on labelled rows that did not choose it; exit code 1 if they violate its guarantee.

    Examples
    --------
    abstain audit policy.json test.parquet --groups site
    """
    known = abstain.load_policy(policy, model=model)
    if known.group is not None and by not in (None, known.group):
        raise click.UsageError(f"the policy has a threshold for each {known.group!r}; leave --groups out")
    names = [name for name in (known.group or by,) if name]
    known, outputs, rows = _labelled(known, file, columns, names)
    with about(file):
        seen = abstain.audit(known, outputs.loss_per_sample(), level=level, **rows)
    to.show(seen, with_unread_groups(seen.verdict, file, outputs))
    if seen.satisfied is False:
        context.exit(1)


@command.command("export")
@click.argument("policy", type=Path)
@click.option("--to", "form", type=click.Choice(["python", "sql", "schema"]), help="[default: by the ending of -o]")
@click.option(
    "--dialect",
    type=click.Choice(["duckdb", "postgres", "sqlite"]),
    default="duckdb",
    show_default=True,
    help="Of SQL.",
)
@click.option("-o", "--output", type=Path, help="Write it: .py, .sql, or .json for the schema.  [default: print it]")
def export_command(policy: Path, form: str | None, dialect: str, output: Path | None) -> None:
    """Write a policy for programs without this library: a Python file, a SQL expression, or the JSON schema.

    Examples
    --------
    abstain export policy.json -o decide.py
    abstain export policy.json --to sql --dialect postgres
    """
    import json

    from abstain._files import write_text
    from abstain._result import clean

    form = form or _FORMS.get("" if output is None else output.suffix.lower())
    if form is None:
        raise click.UsageError("say which form: --to python, sql or schema, or -o with the ending .py, .sql or .json")
    check_destinations({"output": output}, [policy])
    known = abstain.load_policy(policy)
    with about(policy):
        if form == "schema":
            text = json.dumps(abstain.policy.schema(), indent=2) + "\n"
        else:
            text = known.to_python() if form == "python" else known.to_sql(dialect) + "\n"
    if output is None:
        shown = sys.stdout.isatty()  # names come from files: a terminal gets no escape codes
        click.echo("\n".join(clean(line) for line in text.split("\n")) if shown else text, nl=False, color=True)
    else:
        write_text(output, text)
        say_written(output)
