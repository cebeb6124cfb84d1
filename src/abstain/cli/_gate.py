"""``abstain evaluate --gate``: conditions that decide the exit code."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

import abstain
from abstain.cli._group import Options, options
from abstain.cli._input import about, read
from abstain.cli._show import print_result

#: The options of the gate.
gate_options = options(
    click.option("--gate", "conditions", multiple=True, metavar="CONDITION",
                 help="Exit code 1 unless it holds: 'augrc<=0.06'; a metric alone is held --against."),
    click.option("--against", type=Path, help="Outputs of the model in use, or its evaluation as --json wrote it."),
    click.option("--margin", type=float, help="With --against: by how much it may be worse."),
    click.option("--unclear", type=click.Choice(["fail", "pass"]), default="fail", show_default=True,
                 help="What counts where an interval holds the limit of a gate."),
    click.option("--summary", type=Path, help="Write the gate as Markdown; '-' prints it instead of a table."),
)  # fmt: skip


def wanted_metrics(chosen: Any, gate: Options) -> Any:
    """Return the metrics to evaluate, those of the gate among them; wrong usage fails before a file is read."""
    if (gate["against"] is None) != (gate["margin"] is None):
        raise click.UsageError("--against and --margin belong together: how much worse than that may this model be?")
    if gate["summary"] is not None and not gate["conditions"] and gate["against"] is None:
        raise click.UsageError("--summary is that of a gate; give --gate")
    if not gate["conditions"] and gate["against"] is None:  # as mostly: nothing of gates is loaded
        return chosen
    from abstain.evaluation import DEFAULT_METRICS, metrics_of

    named, alone = metrics_of(gate["conditions"], gate["against"] is not None)
    extra = [abstain.metrics.parse(name) for name in (*named, *alone)]
    if not extra or chosen == "all":
        return chosen
    known = abstain.metrics.parse_list(",".join(DEFAULT_METRICS)) if chosen == "default" else list(chosen)
    specs = {metric.spec for metric in known}
    return [*known, *{metric.spec: metric for metric in extra if metric.spec not in specs}.values()]


def decide(result: abstain.Evaluation, file: Path, columns: Options, gate: Options) -> bool:
    """Print the gate and write its summary; return whether it passed."""
    if not gate["conditions"] and gate["against"] is None:
        return True
    with about(file):
        against, apart = (None, None) if gate["against"] is None else _against(result, file, columns, gate)
        found = abstain.gate(
            result, list(gate["conditions"]), against=against, margin=gate["margin"], unclear=gate["unclear"]
        )
    if apart is not None:
        found = replace(found, remarks=(*found.remarks, apart))
    if gate["summary"] is not None and str(gate["summary"]) != "-":
        found.to_markdown(gate["summary"])
    click.echo()
    if gate["summary"] is not None and str(gate["summary"]) == "-":
        click.echo(found.to_markdown())
    else:
        print_result(found)
    return found.passed


def _against(result: abstain.Evaluation, file: Path, columns: Options, gate: Options) -> tuple[Any, str | None]:
    """Return what the other model is held by, and how rows are matched: tests if its outputs are of the same rows."""
    from abstain.cli._compare import models_of
    from abstain.evaluation import metrics_of

    other, names = gate["against"], metrics_of(gate["conditions"], True)[1]
    saved = _saved(other)
    if saved is not None:
        return saved, f"not paired: {other} holds no rows"
    level = result.provenance["level"]
    paired, how = _matched(file, other, columns)
    if not paired:
        outputs, wanted, _ = read(other, list(result.scores), [], say=False, **columns)
        with about(other):
            return abstain.evaluate(outputs, wanted, names, level=level), how
    losses, scores, first = models_of((file, other), result.scores, columns)
    called = dict(zip(scores, ("new", "main"), strict=True))
    losses, scores = ({called[name]: column for name, column in each.items()} for each in (losses, scores))
    rows = {"sample_weight": first.sample_weight, "clusters": first.clusters}
    return [_test(losses, scores, name, gate["margin"], level or 0.95, rows) for name in names], how


def _test(losses: Options, scores: Options, metric: str, margin: float, level: float, rows: Options) -> Any:
    """Return the test of a metric on the same rows: of not being worse by the margin, where there is one for it."""
    from abstain._checks import UnmetNeed
    from abstain.evaluation import Untested

    try:
        return abstain.inference.non_inferiority(
            losses, scores, metric, margin=margin or 1.0, level=0.5 + 0.5 * level, **rows
        )
    except UnmetNeed:  # no influence function
        return abstain.compare(losses, scores, metric, level=level, **rows)
    except ValueError as error:
        if "too few" not in str(error):
            raise
        return Untested(abstain.metrics.parse(metric).spec, str(error).split(" to show")[0])


def _matched(file: Path, other: Path, columns: Options) -> tuple[bool, str]:
    """Return whether two files are of the same rows, and how that is known."""
    import numpy as np

    ours, theirs = (read(each, [], [], say=False, **columns)[0] for each in (file, other))
    if ours.ids is not None and theirs.ids is not None:
        a, b = (np.unique(np.asarray(each.ids).astype(str)) for each in (ours, theirs))
        if np.array_equal(a, b):
            return True, "rows are matched by their identifiers"
        return False, f"not paired: {len(np.intersect1d(a, b))} of {len(a)} identifiers are in {other}, with {len(b)}"
    if ours.n != theirs.n:
        return False, f"not paired: {file} has {ours.n} rows, {other} has {theirs.n}"
    if ours.labels is not None and theirs.labels is not None and not np.array_equal(*map(_words, (ours, theirs))):
        return False, f"not paired: labels differ from those of {other}, and not both files have identifiers"
    return True, "rows are matched by their places: not both files have identifiers"


def _words(outputs: abstain.Outputs) -> Any:
    """Return the labels as they are called."""
    import numpy as np

    names = outputs.class_names
    return np.asarray(outputs.labels) if names is None else np.array(names)[outputs.labels]


def _saved(path: Path) -> Options | None:
    """Return an evaluation that was written as JSON; None if the file is something else."""
    if path.suffix.lower() != ".json":
        return None
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise ValueError(f"{path}: cannot be read ({why}); write it with 'abstain evaluate --json'") from None
    return found if isinstance(found, dict) and "measurements" in found else None
