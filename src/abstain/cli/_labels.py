"""``abstain plan``: which rows of a pool to label; and ``abstain evaluate --plan``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import abstain.outputs
from abstain.cli._columns import ANSWERS, MODEL, SURE, reads
from abstain.cli._group import Options, command
from abstain.cli._input import about, column_names, score_names
from abstain.cli._next import command_line
from abstain.cli._output import Output, writes
from abstain.cli._show import say_written


@command.command("plan")
@click.argument("file", type=Path)
@reads(*(name for name in (*MODEL, *ANSWERS, *SURE, "ids") if name not in ("labels", "task", "cost_matrix")))
@click.option("--labels", type=click.IntRange(min=1), metavar="N", help="How many rows can be labelled.")
@click.option("--halfwidth", type=float, help="Half the width of the interval that is wanted, instead of --labels.")
@click.option("--metric", default="augrc", show_default=True, help="What will be evaluated; see 'abstain metrics'.")
@click.option(
    "--design",
    type=click.Choice(["uniform", "levelled", "adaptive", "planned"]),
    help="Every row alike; rows that count most more often; two stages; by --judge or --compare.  [default: by metric]",
)
@click.option("--error-rate", type=float, help="Expected error rate, for the expected half-width.")
@click.option("--judge", help="Column in which a cheap judge says 1 (the model is wrong) or 0.")
@click.option("--compare", "other", type=Path, help="Outputs of a second model on the same rows: plan to compare both.")
@click.option("--region", "--zone", "region", type=float, help="Draw only from the most confident share of the rows.")
@click.option("--score", help="Score to compute from logits or probabilities.  [default: confidence, else msp]")
@click.option("--level", default=0.95, show_default=True, help="Of the interval that is planned for.")
@click.option("--nan-policy", default="raise", show_default=True, type=click.Choice(["raise", "reject"]),
              help="What a missing score means: an error; the least confident.")  # fmt: skip
@click.option("--seed", type=int, help="Of the draw.  [default: a new one, which the plan records]")
@click.option("--extend", "before", type=Path, help="A plan whose rows are labelled in FILE: add a stage to it.")
@click.option("-o", "--output", type=Path, required=True, help="Write the plan: .parquet, .csv or .json.")
@writes("report", "print-json")
def plan_command(
    file: Path, columns: Options, labels: int | None, halfwidth: float | None, metric: str, score: str | None,
    before: Path | None, output: Path, seed: int | None, judge: str | None, other: Path | None, to: Output,
    **options: Any,
) -> None:  # fmt: skip
    """Say which rows of a pool to label, where all scores are known and labels cost.

    FILE has one row per sample, as for 'abstain evaluate', but needs no labels.

    Examples
    --------
    abstain plan pool.parquet --metric augrc --labels 400 -o plan.parquet
    abstain plan pool.csv --confidence conf --ids case --halfwidth 0.005 --error-rate 0.08 -o plan.csv
    abstain plan pool.csv --extend plan.csv --loss wrong --labels 200 -o plan2.csv
    abstain evaluate pool.csv --plan plan.csv
    """
    if before is not None:
        _alone(("halfwidth", "metric", "design", "error_rate", "judge", "other", "region", "level", "nan_policy"))
    to.check(file, before, other, output=output)
    _known(file, judge)
    extra = [score] if score is not None and score.split("(")[0] not in abstain.scores.names() else []
    extra += [] if judge is None else [judge]
    if output.exists():  # labels may have been given by it, and a new draw asks for others
        raise ValueError(f"{output}: is there already; give -o another name, or add a stage to a plan with --extend")
    with about(file):
        outputs, loss = abstain.outputs.read_pool(file, scores=extra, **columns)
        wanted = abstain.scores.default(outputs) if score is None else score_names(score)[0]
        column = abstain.scores.compute(wanted, outputs)
        if before is not None:
            plan = abstain.pool.load_plan(before)
            found = plan.extend(loss[abstain.pool.places(plan, column, outputs.ids)], labels, seed=seed)
        else:
            if other is not None:
                options["compare"] = _second(outputs, other, score, columns)
            word = None if judge is None else (outputs.scores or {})[judge]
            found = abstain.plan_labels(
                column, labels, halfwidth=halfwidth, metric=metric, judge=word, ids=outputs.ids, seed=seed, **options
            )
    found.save(output)
    files = [each for each in (file, before, other) if each is not None]
    after = command_line("evaluate", file, columns, ["--plan", str(output)]) or ""
    to.write(found, files=files, title=f"Which rows to label: {file.name}", next=after)
    to.show(found)
    say_written(output)


def _known(file: Path, judge: str | None) -> None:
    """Refuse a judge that is no column: it is no score that could be computed."""
    from abstain._checks import closest

    names = column_names(file)
    if judge is not None and names and not {judge, f"score_{judge}"} & set(names):
        raise ValueError(f"{file}: column {judge!r} is not in the file; {closest(judge, names)}; give --judge <column>")


def _alone(names: tuple[str, ...]) -> None:
    """Refuse options that a plan has said already."""
    context = click.get_current_context()
    for name in names:
        source = context.get_parameter_source(name)
        if source is click.core.ParameterSource.COMMANDLINE:
            option = "compare" if name == "other" else name.replace("_", "-")
            raise click.UsageError(f"--extend goes on as the plan began; leave --{option} out, or plan anew")


def _second(outputs: abstain.outputs.Outputs, other: Path, score: str | None, columns: Options) -> tuple[Any, Any, Any]:
    """Return the score of a second model, and the predictions of both."""
    from abstain.cli._compare import matched

    second, _ = abstain.outputs.read_pool(other, **columns)
    second = matched(second, outputs, other, Path("the pool"))
    with about(other):
        wanted = abstain.scores.default(second) if score is None else score_names(score)[0]
        return abstain.scores.compute(wanted, second), outputs.predicted(), second.predicted()
