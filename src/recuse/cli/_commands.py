"""Commands and their options; what they do lives in the library."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from recuse.evaluation import Evaluation, evaluate
from recuse.outputs import Outputs, read_outputs

#: What a user can cause; anything else is a bug and keeps its traceback.
_USER_ERRORS = (ValueError, TypeError, OSError, ImportError)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0 (done) or 2 (wrong usage or bad input, one line on stderr)."""
    try:
        command.main(args=None if arguments is None else list(arguments), prog_name="recuse", standalone_mode=False)
    except click.exceptions.Abort:
        click.echo("recuse: interrupted", err=True)
        return 2
    except click.ClickException as error:
        error.show()
        return 2
    except _USER_ERRORS as error:
        from recuse.report._tables import clean

        click.echo(f"recuse: {clean(' '.join(str(error).split()))}", err=True)
        return 2
    return 0


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="recuse")
def command() -> None:
    r"""Measure and defend the reject option of a classifier: risk, coverage, abstention.

    \b
    Example:  recuse demo
              recuse evaluate predictions.parquet --label y --probs 'p_*' --report report.html
    """


def _output_options(function: Callable[..., None]) -> Callable[..., None]:
    for option in (
        click.option("--csv", "csv_path", type=Path, help="Write one line per measurement."),
        click.option(
            "--json", "json_path", type=Path, help="Write everything as JSON; '-' prints it instead of the table."
        ),
        click.option("--plot", "plot_path", type=Path, help="Write the curves as PNG, SVG or PDF."),
        click.option("--report", "report_path", type=Path, help="Write one self-contained HTML page."),
    ):
        function = option(function)
    return function


def _words(text: str | None) -> list[str]:
    return [word.strip() for word in (text or "").split(",") if word.strip()]


@command.command("evaluate")
@click.argument("file", type=Path)
@click.option("--label", help="Column of true classes.  [found by name: label, y, y_true, target, ...]")
@click.option("--logits", help="Columns or array of logits: a name or a pattern such as 'logit_*'.")
@click.option("--probs", help="Columns or array of class probabilities: a name or a pattern such as 'p_*'.")
@click.option("--prediction", help="Column of predicted classes.")
@click.option("--confidence", help="Column of confidence, higher = surer.")
@click.option("--loss", help="Column of losses >= 0; default: 0/1 from labels and predictions.")
@click.option("--id", "id_", help="Column of sample identifiers.")
@click.option("--cluster", help="Column of clusters (patients, images, ...).")
@click.option("--weight", help="Column of sample weights.")
@click.option("--by", help="Group columns, separated by commas: every metric also within each group.")
@click.option("--scores", help="Scores, separated by commas; names of 'recuse scores' or of columns.")
@click.option(
    "--metrics", default="default", show_default=True, help="'default', 'all', or names: 'augrc,aurc(estimator=log)'."
)
@click.option(
    "--nan-policy",
    default="raise",
    show_default=True,
    type=click.Choice(["raise", "reject", "drop"]),
    help="What a missing score means.",
)
@_output_options
def evaluate_command(
    file: Path, label: str | None, logits: str | None, probs: str | None, prediction: str | None,
    confidence: str | None, loss: str | None, id_: str | None, cluster: str | None, weight: str | None,
    by: str | None, scores: str | None, metrics: str, nan_policy: Any, **destinations: Path | None,
) -> None:  # fmt: skip
    r"""Evaluate the reject option of saved predictions (npz, parquet, csv, jsonl).

    \b
    Example:  recuse evaluate preds.parquet --label y --logits 'logit_*' --scores msp,energy
    """
    from recuse import scores as known

    wanted = _words(scores)
    outputs = read_outputs(
        file, label=label, logits=logits, probs=probs, prediction=prediction, confidence=confidence, loss=loss,
        id=id_, cluster=cluster, weight=weight, groups=_words(by),
        scores=[name for name in wanted if name not in known.names()],
    )  # fmt: skip
    show(evaluate(outputs, wanted or None, metrics, by=_words(by), nan_policy=nan_policy), **destinations)


@command.command("demo")
@click.option(
    "--output", type=Path, default=Path("recuse-demo"), show_default=True, help="Folder for picture, page and JSON."
)
@click.option("--metrics", default="default", show_default=True, help="As in 'recuse evaluate'.")
def demo_command(output: Path, metrics: str) -> None:
    r"""Evaluate the bundled CIFAR-10 test outputs of a VGG-16: table, picture, page.

    \b
    Example:  recuse demo --output demo
    """
    from recuse import datasets

    output.mkdir(parents=True, exist_ok=True)
    outputs: Outputs = datasets.load("cifar10_vgg16")
    result = evaluate(outputs, ["msp", "softmax_margin", "neg_entropy", "neg_gini"], metrics)
    click.echo("CIFAR-10 test set, VGG-16: four confidence scores of one classifier\n")
    show(
        result,
        report_path=output / "report.html",
        plot_path=output / "risk-coverage.png",
        json_path=output / "result.json",
        csv_path=output / "result.csv",
    )


def show(
    result: Evaluation,
    *,
    report_path: Path | None = None,
    plot_path: Path | None = None,
    json_path: Path | None = None,
    csv_path: Path | None = None,
) -> None:
    """Print the result and write what was asked for."""
    if json_path is not None and str(json_path) == "-":
        click.echo(result.to_json())
        json_path = None
    else:
        _print(result)
    if json_path is not None:
        result.to_json(json_path)
    if csv_path is not None:
        result.to_csv(csv_path)
    if plot_path is not None:
        _save_plot(result, plot_path)
    if report_path is not None:
        result.report(report_path)
    for path in (report_path, plot_path, json_path, csv_path):
        if path is not None:
            click.echo(f"wrote {path}", err=True)


def _print(result: Evaluation) -> None:
    from rich.console import Console

    from recuse.report import as_rich

    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
    for part in as_rich(result):
        console.print(part)


def _save_plot(result: Evaluation, path: Path) -> None:
    from matplotlib.figure import Figure

    from recuse._files import write_file

    kinds = ("png", "svg", "pdf")
    kind = path.suffix.lower().lstrip(".")
    if kind not in kinds:
        raise ValueError(f"{path}: extension {path.suffix!r} cannot be drawn; use .{', .'.join(kinds)}")
    figure = Figure(figsize=(10.0, 4.0), layout="constrained")
    result.plot(ax=figure.subplots(1, 2))
    write_file(path, lambda file: figure.savefig(file, format=kind, dpi=150))


@command.command("metrics")
def metrics_command() -> None:
    """List all metrics: direction, range, needs, source."""
    from recuse import metrics

    _list(
        ("name", "better", "range (0/1 loss)", "needs", "source"),
        [
            (m.name, m.direction, f"{m.range[0]:g} to {m.range[1]:.4g}", ", ".join(sorted(m.needs)) or
             ("labels, probabilities" if m.input == "probabilities" else "-"), m.source)
            for m in map(metrics.get, metrics.names())
        ],
    )  # fmt: skip


@command.command("scores")
def scores_command() -> None:
    """List all confidence scores: needs, range, source."""
    from recuse import scores

    entries = [scores.get(name) for name in scores.names()]
    _list(
        ("name", "needs", "range", "source"),
        [(entry.name, entry.needs, entry.range, entry.source) for entry in entries],
    )


def _list(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(*header, box=box.SIMPLE_HEAD)
    for row in rows:
        table.add_row(*row)
    Console(width=None if sys.stdout.isatty() else 160, highlight=False).print(table, markup=False)
