"""Commands and their options; the library does the work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import abstain
from abstain.cli._columns import ANSWERS, MODEL, SAMPLE, SURE, reads, words
from abstain.cli._gate import decide, gate_options, wanted_metrics
from abstain.cli._group import Options, command
from abstain.cli._input import about, read, read_fit, score_names
from abstain.cli._next import with_groups_first, with_threshold, with_unread_groups
from abstain.cli._output import Output, writes
from abstain.cli._several import is_several, refuse_rows
from abstain.cli._show import print_result, show_list

#: More would run for hours and change no digit that is shown.
MOST_RESAMPLES = 1_000_000

#: Thresholds of Tables 1 to 3 of Shahnazari et al. (2025).
PAPER = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


def _thresholds(_context: click.Context, _option: click.Parameter, text: str | None) -> list[float] | None:
    """Return the thresholds of the option."""
    if text is None:
        return None
    if text == "paper":
        return list(PAPER)
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise click.UsageError(f"--sweep takes thresholds by commas, or 'paper', got {text!r}") from None


def _metrics(text: str) -> Any:
    """Return metrics as ``evaluate`` takes them; wrong names fail before a file is read."""
    return text if text in ("default", "all") else abstain.metrics.parse_list(text)


@command.command("evaluate")
@click.argument("file", type=Path)
@reads(*MODEL, *ANSWERS, *SURE, *SAMPLE)
@click.option("--groups", help="Group columns, separated by commas: every metric also within each group.")
@click.option("--scores", help="Scores, separated by commas: columns, or names of 'abstain scores'.")
@click.option(
    "--fit", "fit_file", type=Path, help="Outputs to fit scores on, such as knn and klm; see 'abstain scores'."
)
@click.option(
    "--metrics", default="default", show_default=True, help="'default', 'all', or names: 'augrc,aurc(estimator=log)'."
)
@click.option(
    "--nan-policy",
    default="raise",
    show_default=True,
    type=click.Choice(["raise", "reject", "drop"]),
    help="What a missing score means: an error; ranked last, never accepted; left out, as are rows that lack a "
    "probability.",
)
@click.option("--level", default=0.95, show_default=True, help="Of the confidence intervals; 0: none.")
@click.option(
    "--resamples",
    "n_resamples",
    default=0,
    show_default=True,
    type=click.IntRange(0, MOST_RESAMPLES),
    help="Resamples for the intervals of metrics that need them, such as coverage at a risk.",
)
@click.option("--plan", "plan_file", type=Path, help="Plan of 'abstain plan': only its rows are labelled.")
@click.option("--population", is_flag=True, help="With --plan: intervals are about what the rows were drawn from.")
@click.option("--at-random", is_flag=True, help="Without a plan: every row had the same chance to be labelled.")
@click.option(
    "--unseen", type=click.Choice(["random", "top"]), help="Where an error may lie that the rows do not show."
)
@click.option(
    "--sweep", callback=_thresholds, help="CWSA family at these thresholds, by commas; 'paper': seven of them."
)
@click.option(
    "--denominator",
    type=click.Choice(["accepted", "all"]),
    default="accepted",
    show_default=True,
    help="What --sweep divides CWSA by: the accepted rows, as defined, or all, as some published tables.",
)
@gate_options
@writes("rows", "report", ("evaluation", "risk_coverage"), "table", "json", "csv", "scale")
@click.pass_context
def evaluate_command(
    context: click.Context, /, file: Path, columns: Options, groups: str | None, scores: str | None,
    fit_file: Path | None, metrics: str, nan_policy: Any, level: float, n_resamples: int,
    plan_file: Path | None, population: bool, at_random: bool, unseen: Any, sweep: list[float] | None,
    denominator: Any, to: Output, **gate: Any,
) -> None:  # fmt: skip
    """Evaluate the reject option of saved predictions; exit code 1 if a --gate is not passed.

    FILE has one row per sample: .npz, .parquet, .csv, .tsv, .csv.gz, .json, .jsonl; or what lm-eval, Inspect,
    FD-Shifts or OpenOOD write. A quoted pattern, or a folder, of Parquet files is counted in constant memory.

    Examples
    --------
    abstain evaluate preds.parquet --labels y --logits 'logit_*' --scores msp,energy
    abstain evaluate test.npz --scores 'msp,energy,knn(neighbours=10)' --fit train.npz
    abstain evaluate preds.csv --predictions yhat --confidence conf --groups site --report report.html
    abstain evaluate 'logs/*.parquet' --loss error --confidence score --groups day
    """
    chosen = wanted_metrics(_metrics(metrics), gate)
    beside = to.columns_of(file)
    to.check(file, fit_file, plan_file, summary=gate["summary"])
    if file.suffix.lower() == ".parquet" and abstain.summaries.is_summary(file):
        raise ValueError(f"{file}: is a summary, not rows; 'abstain summarize {file}' says what is known of them")
    if (to.texts or to.images) and (plan_file is not None or at_random or is_several(file)):
        raise click.UsageError("--texts and --images are of a file whose rows all count; leave them out here")
    source: Options = {"files": [each for each in (file, plan_file, fit_file) if each is not None]}
    title, named, by = file.name, score_names(scores), words(groups)
    options: Options = {"nan_policy": nan_policy, "level": level or None, "n_resamples": n_resamples, "unseen": unseen}
    if plan_file is not None or at_random:
        plan = None if plan_file is None else abstain.pool.load_plan(plan_file)
        options |= {name: value for name, value in columns.items() if value is not None}
        options["fit"] = fit_file  # which such an evaluation refuses
        with about(file):
            result = abstain.evaluate(
                file, named or None, chosen, plan=plan, labelled="at random" if at_random else None,
                target="population" if population else "pool", groups=by or None, **options,
            )  # fmt: skip
        sweep = None
        if result.provenance["few_labels"]["labelled"] < result.provenance["n"]:
            source["verdict"] = with_threshold(result.verdict, file, columns, next(iter(named), None), new=True)
    elif is_several(file):
        refuse_rows(file, gate, fit_file)
        with about(file):
            result = abstain.evaluate(str(file), named or None, chosen, groups=by, **options, **columns)
        verdict = with_threshold(result.verdict, file, columns, result.verdict.score, groups=by)
        source, title = {"files": [], "verdict": verdict}, str(file)
    else:
        try:
            lacking: Options = {"nan_policy": "drop"} if nan_policy == "drop" else {}
            outputs, wanted, names = read(file, named, by, beside=beside, late=None, **columns, **lacking)
        except ValueError as error:
            from abstain.evaluation import explained

            raise explained(error, str(file), columns) from None
        fit = read_fit(fit_file, columns)
        with about(file):
            result = abstain.evaluate(outputs, wanted or None, chosen, fit=fit, groups=names, **options)
        if not result.scores and (to.plots or to.csv_path is not None or gate["conditions"]):
            raise ValueError(f"{file}: {result.provenance['no_score']}; without one leave out --plot, --csv and --gate")
        verdict = with_unread_groups(result.verdict, file, outputs)
        verdict = with_threshold(verdict, file, columns, verdict.score, groups=by)
        verdict = verdict if fit_file is not None else with_groups_first(verdict, file, columns, named)
        source |= {"outputs": outputs, "verdict": verdict, **to.rows_of(file, outputs, beside)}
        if to.report_path is not None:
            from abstain.cli._thresholds import policies_of

            source["policies"] = policies_of(outputs, result.scores)
    to.write(result, title=f"Evaluation: {title}", **source)
    to.show(result, source.get("verdict"), title)
    if sweep is not None and not to.instead:
        with about(file):
            _show_sweeps(result, sweep, denominator, to.scale)
    if not decide(result, file, columns, gate):
        context.exit(1)


def _show_sweeps(result: abstain.Evaluation, taus: list[float], denominator: Any, scale: float) -> None:
    """Print a table for every score."""
    import numpy as np

    from abstain.metrics import FUNCTIONS

    for entry in result.summaries:
        if entry.group is not None:
            continue
        samples = entry.curve.blocks.samples
        blocks = entry.curve.blocks
        weight = None
        if samples is None:  # no intervals were asked for, so only the table was kept: a row for every score
            loss, score, weight = np.asarray(blocks.loss) / blocks.weight, blocks.score, blocks.weight
        else:
            loss, score, weight = samples.loss, np.asarray(blocks.score)[samples.block], samples.sample_weight
        columns = FUNCTIONS["cwsa_sweep"](loss, score, taus, denominator=denominator, sample_weight=weight)
        grid = abstain.study.sweep(columns, denominator=denominator, title=entry.score)
        click.echo()
        print_result(grid, scale)


@command.command("demo")
@click.option(
    "--output", type=Path, default=Path("abstain-demo"), show_default=True, help="Folder for page, figure and numbers."
)
@click.option("--metrics", default="default", show_default=True, help="As in 'abstain evaluate'.")
def demo_command(output: Path, metrics: str) -> None:
    """Evaluate bundled outputs of a real model: table, figure, page.

    Two confidence scores of the answers of Llama 3 70B to 6,000 questions of MMLU.

    Examples
    --------
    abstain demo --output demo
    """
    chosen = _metrics(metrics)
    if output.exists() and not output.is_dir():
        raise ValueError(f"{output}: is a file; give --output a folder")
    output.mkdir(parents=True, exist_ok=True)
    to = Output(
        "evaluation",
        report_path=output / "report.html",
        plots=[("risk_coverage", output / "risk-coverage.png")],
        json_path=output / "result.json",
        csv_path=output / "result.csv",
    )
    to.check()
    outputs = abstain.datasets.load("llama3_70b_mmlu")
    result = abstain.evaluate(outputs, ["msp", "max_logit"], chosen)
    title = "Llama 3 70B on MMLU"
    click.echo("data: github.com/bplaut/llm-calibration-and-correctness-prediction, MIT", err=True)
    to.write(result, title=f"Evaluation: {title}", outputs=outputs)
    to.show(result, title=title)
    click.echo(
        f"\nopen {to.report_path} in a browser; then, with a file of your own predictions:\n"
        "  abstain evaluate FILE --report page.html\n"
        "  abstain threshold FILE --risk 0.05 --delta 0.05 -o policy.json",
        err=True,
    )


@command.command("metrics")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def metrics_command(as_json: bool) -> None:
    """List all metrics: direction, range, needs; with --json also the source.

    'abstain explain NAME' says what one is.

    Examples
    --------
    abstain metrics
    abstain metrics --json
    """
    metrics = abstain.metrics
    needs = {"probabilities": "labels, probabilities", "joint": "ID and OOD scores"}
    show_list(
        ("name", "better", "range (0/1 loss)", "needs", "source"),
        [
            (m.name, m.direction, f"{m.range[0]:g} to {m.range[1]:.4g}",
             _joined(m.needs) or needs.get(m.input, "-"), m.source)
            for m in map(metrics.get, metrics.names())
        ],
        as_json=as_json, shown=4,
    )  # fmt: skip


@command.command("scores")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def scores_command(as_json: bool) -> None:
    """List all confidence scores and their needs; with --json also range and source.

    'abstain explain NAME' says what one is.

    Examples
    --------
    abstain scores
    abstain scores --json
    """
    entries = [abstain.scores.get(name) for name in abstain.scores.names()]
    show_list(
        ("name", "needs", "range", "source"),
        [(entry.name, _joined(entry.needs), entry.range, entry.source) for entry in entries],
        as_json=as_json,
        shown=2,
    )


def _joined(needs: Any) -> str:
    return needs if isinstance(needs, str) else ", ".join(sorted(needs))
