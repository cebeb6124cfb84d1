"""``abstain plan``: which rows of a pool to label; and ``abstain evaluate --plan``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from abstain.cli._columns import ANSWERS, MODEL, SURE, reads
from abstain.cli._group import command, example_lines
from abstain.cli._input import about, score_names
from abstain.cli._show import check_destinations, print_result


@command.command(
    "plan",
    epilog=example_lines(
        "abstain plan pool.parquet --metric augrc --labels 400 -o plan.parquet",
        "abstain plan pool.csv --confidence conf --ids case --halfwidth 0.005 --error-rate 0.08 -o plan.csv",
        "abstain plan pool.csv --extend plan.csv --loss wrong --labels 200 -o plan2.csv",
        "abstain evaluate pool.csv --plan plan.csv",
    ),
)
@click.argument("file", type=Path)
@reads(*(name for name in (*MODEL, *ANSWERS, *SURE, "ids") if name != "labels"))
@click.option("--labels", type=int, metavar="N", help="How many rows can be labelled.")
@click.option("--halfwidth", type=float, help="Half the width of the interval that is wanted, instead of --labels.")
@click.option("--metric", default="augrc", show_default=True, help="What will be evaluated; see 'abstain metrics'.")
@click.option(
    "--design",
    default="uniform",
    show_default=True,
    type=click.Choice(["uniform", "adaptive", "planned"]),
    help="Every row alike; two stages; by --judge.",
)
@click.option("--error-rate", type=float, help="Expected error rate, for the expected half-width.")
@click.option("--judge", help="Column in which a cheap judge says 1 (the model is wrong) or 0.")
@click.option("--zone", type=float, help="Draw only from the most confident share of the rows.")
@click.option("--score", help="Score to compute from logits or probabilities.  [default: confidence, else msp]")
@click.option("--level", default=0.95, show_default=True, help="Of the interval that is planned for.")
@click.option("--nan-policy", default="raise", show_default=True, type=click.Choice(["raise", "reject"]),
              help="What a missing score means: an error; the least confident.")  # fmt: skip
@click.option("--seed", type=int, help="Of the draw.  [default: a new one, which the plan records]")
@click.option("--extend", "before", type=Path, help="A plan whose rows are labelled in FILE: add a stage to it.")
@click.option("-o", "--output", type=Path, required=True, help="Write the plan: .parquet, .csv or .json.")
@click.option("--json", "as_json", is_flag=True, help="Print the plan as JSON.")
def plan_command(
    file: Path, columns: dict[str, Any], labels: int | None, halfwidth: float | None, metric: str, score: str | None,
    before: Path | None, output: Path, as_json: bool, seed: int | None, judge: str | None, **options: Any,
) -> None:  # fmt: skip
    """Say which rows of a pool to label, where all scores are known and labels cost.

    FILE has one row per sample, as for 'abstain evaluate', but needs no labels.
    """
    from abstain import scores
    from abstain.outputs import read_pool
    from abstain.pool import load_plan, places, plan_labels

    check_destinations({"output": output}, [each for each in (file, before) if each is not None])
    extra = [each for each in (score, judge) if each is not None and each.split("(")[0] not in scores.names()]
    outputs, loss = read_pool(file, scores=extra, **columns)
    with about(file):
        wanted = scores.default(outputs) if score is None else score_names(score)[0]
        column = scores.compute(wanted, outputs)
        if before is not None:
            plan = load_plan(before)
            found = plan.extend(loss[places(plan, column, outputs.ids)], labels, seed=seed)
        else:
            word = None if judge is None else np.asarray((outputs.scores or {})[judge])
            found = plan_labels(
                column, labels, halfwidth=halfwidth, metric=metric, judge=word, ids=outputs.ids, seed=seed, **options
            )
    found.save(output)
    if as_json:
        click.echo(found.to_json())
    else:
        print_result(found, 1.0)
    click.echo(f"wrote {output}", err=True)


def evaluated(
    file: Path, plan_file: Path | None, at_random: bool, scores: list[str], metrics: Any, columns: dict[str, Any],
    options: dict[str, Any],
) -> Any:  # fmt: skip
    """Return the evaluation of a pool of which only some rows are labelled."""
    from abstain.evaluation import evaluate
    from abstain.pool import load_plan

    plan = None if plan_file is None else load_plan(plan_file)
    labelled: Any = "at random" if at_random else None
    given = {name: value for name, value in columns.items() if value is not None}
    with about(file):
        return evaluate(file, scores or None, metrics, plan=plan, labelled=labelled, **options, **given)
