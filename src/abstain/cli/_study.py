"""``abstain study``: folders of outputs to tidy results, rankings and tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import abstain.outputs
from abstain._result import Verdict
from abstain.cli._columns import COLUMNS, reads, words
from abstain.cli._group import Options, command, options
from abstain.cli._input import about, score_names
from abstain.cli._next import with_threshold
from abstain.cli._output import Output, scale_option, writes
from abstain.cli._show import print_result, show_list


@command.group("study")
def study_group() -> None:
    """Whole studies: models x runs x sets of saved outputs.

    FOLDER holds study.json and <model>/<run>/<set>.npz; 'abstain train' writes one, 'init' and 'add' make one of
    files that are there.

    Examples
    --------
    abstain study init study --from outputs --data cifar10
    abstain study evaluate study --scores msp,energy,pass_msp
    abstain study evaluate study --metrics aurc,augrc --id-failures both
    """


@study_group.command("init")
@click.argument("folder", type=Path)
@click.option("--from", "source", type=Path, help="Files to read: model/run/set, model/set, set.  [default: FOLDER]")
@click.option("--data", "data_name", default="", help="Data set that the models were trained on.")
def init_command(folder: Path, source: Path | None, data_name: str) -> None:
    """Make the manifest of FOLDER, and say what was guessed from the names of the files.

    Examples
    --------
    abstain study init study --from outputs
    abstain study init study
    """
    found = abstain.study.init_study(folder, source, data=data_name)
    show_list(
        ("run", "set", "role", "n", "shift"),
        [(run, each.name, each.role, str(each.n), _shift(each.shift)) for run, each in found],
        as_json=False,
    )
    click.echo(f"wrote {folder / 'study.json'}; correct it by hand where a guess is wrong", err=True)


@study_group.command("add")
@click.argument("folder", type=Path)
@click.argument("file", type=Path)
@click.option("--model", required=True, help="Name of the model.")
@click.option("--run", "run_name", default="seed0", show_default=True, help="Name of the run.")
@click.option("--set", "set_name", required=True, help="Name of the set.")
@click.option("--role", help="train, validation, test, shift or ood.  [default: what the name of the set says]")
@click.option("--shift", "shifts", multiple=True, metavar="KEY=VALUE", help="What changed: kind=corruption, level=3.")
@click.option("--data", "data_name", default="", help="Data set that the model was trained on.")
@click.option("--seed", type=int, help="Seed of the run.  [default: the number at the end of its name]")
@click.option("--setting", "settings", multiple=True, metavar="KEY=VALUE", help="A hyper-parameter of the model.")
@click.option("--unlabelled", is_flag=True, help="The rows have no labels: OOD data.")
@click.option("--plan", "plan_file", type=Path, help="Plan of 'abstain plan': only its rows are labelled.")
@reads(*COLUMNS)
def add_command(
    folder: Path, file: Path, model: str, run_name: str, set_name: str, role: str | None, shifts: tuple[str, ...],
    data_name: str, seed: int | None, settings: tuple[str, ...], unlabelled: bool, plan_file: Path | None,
    columns: Options,
) -> None:  # fmt: skip
    """Add the outputs in FILE to the study in FOLDER, as one set of one run.

    Examples
    --------
    abstain study add study test.csv --model ce --run seed1 --set test
    """
    few: Options = {}
    if plan_file is None:
        outputs = abstain.study.read_set(file, unlabelled, **columns)
    else:
        if unlabelled:
            raise click.UsageError("--plan says which rows are labelled; leave --unlabelled out")
        outputs, few["loss"] = abstain.outputs.read_pool(file, **columns)
        few["plan"] = abstain.pool.load_plan(plan_file)
    with about(file):
        saved = abstain.study.add_outputs(
            folder, outputs, model=model, run=run_name, set=set_name, role=role, data=data_name, seed=seed,
            shift=_pairs(shifts, "--shift") if shifts else None, settings=_pairs(settings, "--setting"), **few,
        )  # fmt: skip
    said = f", {saved.planned} labelled by its plan" if saved.planned else ""
    click.echo(f"wrote {folder / model / run_name / saved.name}.npz: {saved.role}, {saved.n} rows{said}")


def _names(_context: click.Context, option: click.Parameter, text: str | None) -> list[str] | None:
    """Return what an option names; commas inside parentheses separate options of a score."""
    return (score_names if option.name == "scores" else words)(text) or None


_models = click.option("--models", callback=_names, help="Only these models, separated by commas.")
_scored = options(
    click.option("--workers", type=click.IntRange(1), help="Processes.  [default: one per processor]"),
    click.option(
        "--nan-policy", type=click.Choice(["raise", "reject", "drop"]), default="raise", show_default=True,
        help="What a missing score means: an error; ranked last, never accepted; left out.",
    ),
    click.option(
        "--id-failures", type=click.Choice(["keep", "drop", "both"]), default="keep", show_default=True,
        help="With OOD data: keep what the model gets wrong, or leave it out as FD-Shifts did.",
    ),
    click.option("--sets", callback=_names, help="Only these sets, separated by commas."),
    _models,
    click.option("--metrics", default="default", show_default=True, help="'default', 'all', or names."),
    click.option(
        "--scores", callback=_names, help="Scores, separated by commas.  [default: the columns of each file]"
    ),
)  # fmt: skip


def evaluated(folder: Path, level: float | None = 0.95, **options: Any) -> Any:
    """Return the results of a study; progress goes to standard error."""
    return abstain.study.evaluate(folder, level=level, progress=_progress, **options)


def _progress(line: str) -> None:
    click.echo(line, err=True)


@study_group.command("evaluate")
@click.argument("folder", type=Path)
@_scored
@click.option("--level", default=0.95, show_default=True, help="Of the confidence intervals; 0: none.")
@writes("scale", "report")
@click.pass_context
def evaluate_study_command(context: click.Context, /, folder: Path, level: float, to: Output, **options: Any) -> None:
    """Evaluate all of FOLDER; write results.parquet and means.parquet, and print the first metric.

    What was evaluated before is not done again. A file that cannot be read is named and left out, and the exit code
    is 1.

    Examples
    --------
    abstain study evaluate study
    abstain study evaluate study --scores msp,energy --metrics augrc,aurc
    """
    to.check()
    results = evaluated(folder, level or None, **options)
    verdict = _judged(folder, results)
    title = f"Study: {folder.resolve().name}"
    to.report(results, title=title, files=[folder / "study.json"], verdict=verdict)
    if results.numbers:
        results.to_parquet(folder / "results.parquet")
        results.to_parquet(folder / "means.parquet", means=True)
        to.show(results, verdict)
        click.echo(f"wrote {folder / 'results.parquet'} ({len(results.numbers)} rows) and means.parquet", err=True)
    _end(context, results)


def _judged(folder: Path, results: Any) -> Verdict:
    """Return the verdict with the command that chooses a threshold for the best model."""
    verdict: Verdict = results.verdict
    best = abstain.study.best_of(results)
    if best is None:
        return verdict
    runs = [run for run in abstain.study.read_study(folder).runs if (run.data, run.model) == (best.data, best.model)]
    return with_threshold(verdict, folder / runs[0].folder / f"{best.set}.npz", {}, best.score, new=True)


@study_group.command("rank")
@click.argument("folder", type=Path)
@click.option("--set", "set_name", default="test", show_default=True, help="A set that the models have.")
@click.option("--scores", callback=_names, default="msp", show_default=True, help="Scores, separated by commas.")
@click.option("--metrics", default="aurc,augrc", show_default=True, help="One ranking each.")
@_models
@click.option("--level", default=0.95, show_default=True, help="Of rank intervals and tests.")
@click.option("--resamples", "n_resamples", default=500, show_default=True, type=click.IntRange(100), help="Resamples.")
@click.option("--seed", default=0, show_default=True, help="Of the resamples.")
@scale_option
def rank_command(
    folder: Path, set_name: str, scores: list[str], metrics: str, seed: int, scale: float, **options: Any
) -> None:
    """Rank scores and models of FOLDER on one set: rank intervals from a bootstrap, paired tests of all pairs.

    Examples
    --------
    abstain study rank study --set test --scores msp,energy --metrics aurc,augrc
    """
    found = abstain.study.rank(folder, set_name, scores, abstain.metrics.parse_list(metrics), rng=seed, **options)
    print_result(found, scale)


@study_group.command("select")
@click.argument("folder", type=Path)
@_scored
@scale_option
@click.pass_context
def select_command(context: click.Context, /, folder: Path, scale: float, **options: Any) -> None:
    """Choose among models that differ by settings, on validation by each metric, and show the ranks that follow.

    Models name-key=value are candidates of one family. The last table has the ranks of what each metric chose.

    Examples
    --------
    abstain study select study --scores msp,neg_reservation --metrics augrc,aurc
    """
    options["metrics"] = "augrc,aurc" if options["metrics"] == "default" else options["metrics"]
    results = evaluated(folder, **options)
    chosen = abstain.study.select_settings(results, list(results.values("metric")))
    print_result(chosen, scale)
    first, *others = results.values("metric")
    for other in others:
        one, two = (chosen.results(metric).grid(metric) for metric in (other, first))
        if list(one.values) == list(two.values) and len(one.heads) == len(two.heads):
            click.echo()
            click.echo(str(one.changes(two, names=(other, first))))
    _end(context, results)


@study_group.command("figures")
@click.argument("folder", type=Path)
@click.option("-o", "--output", type=Path, required=True, help="Folder for the figures; made if it is not there.")
@click.option("--plots", help="Only these of 'abstain plots', separated by commas.  [default: all that a study draws]")
@click.option("--set", "set_name", default="test", show_default=True, help="The set that rankings are made on.")
@click.option(
    "--format", "kind", type=click.Choice(["png", "svg", "pdf"]), default="png", show_default=True, help="Of the files."
)
@_scored
@click.pass_context
def figures_command(
    context: click.Context, /, folder: Path, output: Path, plots: str | None, set_name: str, kind: str, **options: Any
) -> None:
    """Draw FOLDER: figures of its results, and of the rankings on one set.

    Examples
    --------
    abstain study figures study -o figures --scores msp,energy --metrics aurc,augrc
    """
    from abstain import plots as plots_

    wanted = words(plots) or [*plots_.names("study"), *(n for n in plots_.names("ranking") if n != "metric_plane")]
    wrong = next((name for name in wanted if not {"study", "ranking"} & set(plots_.get(name).takes)), None)
    if wrong is not None:
        raise ValueError(f"plot {wrong!r} is not drawn from a study, but from: {', '.join(plots_.get(wrong).takes)}")
    options["metrics"] = "aurc,augrc" if options["metrics"] == "default" else options["metrics"]
    results = evaluated(folder, **options)
    output.mkdir(parents=True, exist_ok=True)
    rankings = None
    for name in wanted:
        plot = plots_.get(name)
        if "study" in plot.takes:
            display = plot.draw("study", results, set=set_name)
        else:
            try:
                scores, metrics = options["scores"] or results.values("score"), options["metrics"]
                rankings = rankings or abstain.study.rank(
                    folder, set_name, scores, abstain.metrics.parse_list(metrics), models=options["models"]
                )
            except ValueError as error:
                if plots:
                    raise
                click.echo(f"not drawn: {name}: {error}", err=True)
                continue
            display = plot.draw("ranking", rankings)
        display.save(output / f"{name}.{kind}")
        click.echo(f"wrote {output / name}.{kind}", err=True)
    _end(context, results)


#: Layouts of :meth:`ProtocolResult.table`, which need OOD data.
JOINT = ("single-double", "strategies", "tasks", "reliability", "detection", "sets")
FORMS = ("text", "markdown", "latex", "html")


@study_group.command("tables")
@click.argument("folder", type=Path)
@click.option(
    "--layout",
    type=click.Choice(["heat", "ranks", "estimators", *JOINT]),
    default="heat",
    show_default=True,
    help="heat: a metric by score and set. ranks: two metrics. estimators: networks by objective. "
    "Others: test and OOD data together.",
)
@click.option(
    "--metric", help="Of the layouts heat, ranks, estimators, strategies and sets.  [default: augrc; aurc; ds_f1]"
)
@click.option("--other", default="augrc", show_default=True, help="The second metric of the layout ranks.")
@click.option("--confidence", default="msp", show_default=True, help="The score that joint layouts pair with each.")
@click.option("--group", help="Of the layout strategies: near, far, or an OOD set.")
@click.option("--model", "strategy", help="Of the layouts single-double, detection and sets.  [default: the first]")
@click.option("--fpr", type=click.Choice(["id", "ood", "both"]), help="FPR at 95 % recall of which samples.")
@scale_option
@click.option("--form", type=click.Choice(FORMS), default="text", show_default=True)
@_scored
@click.pass_context
def tables_command(
    context: click.Context, /, folder: Path, layout: str, metric: str | None, other: str, confidence: str,
    group: str | None, strategy: str | None, fpr: str | None, scale: float, form: str, **options: Any,
) -> None:  # fmt: skip
    """Print a table of FOLDER in a layout of the papers, as text, Markdown, LaTeX or HTML.

    Examples
    --------
    abstain study tables study --layout heat --metric augrc --form latex
    abstain study tables study --layout ranks --metric aurc --other augrc
    abstain study tables study --layout estimators --scores msp --scale 100
    abstain study tables study --layout reliability --scores msp,energy --fpr ood
    """
    if layout in JOINT:
        table = _joint_table(
            folder, layout, confidence, options, {"metric": metric, "group": group, "strategy": strategy, "fpr": fpr}
        )
        click.echo(getattr(table.scaled(scale), f"to_{form}")())
        return
    first = metric or ("augrc" if layout == "heat" else "aurc")
    specs = f"{first},{other}" if layout == "ranks" else first
    results = evaluated(folder, **{**options, "metrics": specs})
    if results.numbers:
        if layout == "estimators":
            table = abstain.study.by_objective(results, first).table(across=True)
        elif layout == "ranks":
            table = results.grid(first).changes(results.grid(other), names=(first, other))
        else:
            table = results.grid(first).table(ranks=3, heat=True)
        click.echo(getattr(table.scaled(scale), f"to_{form}")())
    _end(context, results)


def _joint_table(folder: Path, layout: str, confidence: str, options: Options, wanted: Options) -> Any:
    groups = {"ood": options["sets"]} if options["sets"] else None
    found = abstain.study.protocol(
        folder, options["scores"] or [confidence], confidence=confidence, models=options["models"], groups=groups,
        progress=_progress,
    )  # fmt: skip
    return found.table(layout, **{name: value for name, value in wanted.items() if value is not None})


def _end(context: click.Context, results: Any) -> None:
    """Leave with 1 where files were left out."""
    for each in results.failures:
        click.echo(f"left out {each.file}: {each.why}", err=True)
    if results.failures:
        context.exit(1)


def _pairs(texts: tuple[str, ...], option: str) -> Options:
    import json

    found: Options = {}
    for text in texts:
        key, sign, value = text.partition("=")
        if not sign or not key:
            raise click.UsageError(f"{option} takes KEY=VALUE, got {text!r}")
        try:
            found[key] = json.loads(value)
        except json.JSONDecodeError:
            found[key] = value
    return found


def _shift(shift: Any) -> str:
    return ", ".join(f"{key} {value}" for key, value in shift.items()) or "-"
