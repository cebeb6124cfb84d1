"""Write one page per registered metric and score, their lists, and the requirements table.

Everything comes from the registries and from docstrings, so that nothing about a metric is written twice.
"""

from __future__ import annotations

import inspect
import sys
import typing
from pathlib import Path

from pages import before_reading, escaped, heading, list_table, write_all

from abstain import metrics, scores
from abstain.evaluation import DEFAULT_METRICS
from abstain.metrics import Metric

NEEDS = {
    "unit_score": "confidences in [0, 1]: values count, not only their order",
    "unit_loss": "losses in [0, 1]",
    "binary": "a 0/1 loss",
    "oracle": "the loss-ordered table (built on request for losses that are not 0/1)",
}
INFERENCE = {
    "smooth": "smooth: standard errors follow from the gradient",
    "quantile": "quantile: the gradient alone is not enough, because the threshold moves with the sample",
    "bootstrap": "bootstrap: jumps with the data, so no gradient serves",
    "none": "none by default: the bias exceeds the standard error",
}
SCALES = {"log": "log", "logit": "logit", "identity": "identity (no transformation)"}
BETTER = {"lower": "lower is better", "higher": "higher is better"}


def family_of(metric: Metric) -> tuple[str, str]:
    """Return heading and sentence of a metric's family: the first line of its module's docstring."""
    sentence = (sys.modules[metric.function.__module__].__doc__ or "").strip().splitlines()[0]
    heading = sentence.rstrip(".").split(":")[0].split(",")[0]
    return heading, sentence


def identifiers(metric: Metric) -> list[str]:
    """Return the identifiers that results carry, the default first."""
    if metric.convention not in metric.defaults:
        return [metric.identifier]
    hint = typing.get_type_hints(metric.function).get(metric.convention)
    values = typing.get_args(hint) or (metric.defaults[metric.convention],)
    return [metric.using(**{metric.convention: value}).identifier for value in values]


def number(value: float) -> str:
    """Return a bound of a range, short."""
    return {float("inf"): "∞", float("-inf"): "-∞"}.get(value, f"{value:.4g}")


def facts(metric: Metric) -> list[tuple[str, str]]:
    """Return what the registry knows about a metric, as rows of a table."""
    needs = [NEEDS[need] for need in sorted(metric.needs)]
    if metric.input == "probabilities":
        needs = ["labels and class probabilities"]
    options = [f"``{name}={value!r}``" for name, value in metric.defaults.items() if not callable(value)]
    of_base = "" if metric.image is None else f", of the {metric.base.label} whose image it is"
    default = [spec for spec in DEFAULT_METRICS if metrics.parse(spec).name == metric.name]
    return [
        ("Identifier", ", ".join(f"``{name}``" for name in identifiers(metric))),
        ("Direction", BETTER[metric.direction]),
        ("Range for a 0/1 loss", f"{number(metric.range[0])} to {number(metric.range[1])}"),
        ("Needs", "; ".join(needs) or "loss and confidence, nothing more"),
        ("Options", ", ".join(options) or "none"),
        ("Thresholds", "all, in one number" if metric.multi_threshold else "one, or none"),
        ("Uncertainty", INFERENCE[metric.inference_kind]),
        ("Interval scale", SCALES[metric.scale] + of_base),
        ("Gradient", "yes" if metric.gradient is not None else "no"),
        ("Contributions per sample", "yes" if metric.attribution is not None else "no"),
        ("In ``evaluate`` by default", ", ".join(f"``{spec}``" for spec in default) or "no"),
        ("Source", metric.source),
    ]


def metric_page(metric: Metric) -> str:
    """Return the page of one metric."""
    return "\n".join(
        [
            f".. _metric-{metric.name}:\n",
            heading(metric.label, "="),
            f"``{metric.identifier}`` unless options say otherwise · {BETTER[metric.direction]} · "
            ":doc:`all metrics <index>` · :doc:`conventions </conventions>`\n",
            ".. currentmodule:: abstain\n",
            f".. autofunction:: abstain.{metric.function.__name__}\n",
            heading("Facts", "-"),
            list_table(None, facts(metric), "28 72"),
            "From the command line::\n",
            f"   abstain evaluate FILE --metrics {metric.name}\n",
        ]
    )


def index_page(entries: list[Metric]) -> str:
    """Return the table of all metrics, by family."""
    families: dict[tuple[str, str], list[Metric]] = {}
    for metric in entries:
        families.setdefault(family_of(metric), []).append(metric)
    parts = [
        heading("All metrics", "="),
        f"{len(entries)} metrics, made from the registry that also feeds ``abstain metrics`` and the reports. "
        "An arrow says which direction is better. Words and formulas: :doc:`/conventions`. "
        "Which one to use: :doc:`/choose-a-metric`.\n",
    ]
    for (title, sentence), members in families.items():
        rows = [
            (
                f":doc:`{metric.label} <{metric.name}>` {'↓' if metric.direction == 'lower' else '↑'}",
                f"``{metric.identifier}``",
                f"{number(metric.range[0])} to {number(metric.range[1])}",
                "labels, probabilities" if metric.input == "probabilities" else
                ", ".join(sorted(metric.needs)).replace("_", " ") or "—",
                metric.source,
            )
            for metric in members
        ]  # fmt: skip
        header = ("Metric", "Identifier", "Range, 0/1 loss", "Needs", "Source")
        parts += [heading(title, "-"), sentence + "\n", list_table(header, rows, "26 26 12 14 22", "metrics")]
    rows = [
        (
            f":func:`{metric.label} <{metric.home}>` {'↓' if metric.direction == 'lower' else '↑'}",
            f"``{metric.identifier}``",
            f"{number(metric.range[0])} to {number(metric.range[1])}",
            metric.source,
        )
        for metric in map(metrics.get, metrics.names("joint"))
    ]
    sentence = "Failures and out-of-distribution inputs together; :doc:`/joint` says how.\n"
    header = ("Metric", "Identifier", "Range, 0/1 loss", "Source")
    parts += [heading("Joint metrics", "-"), sentence, list_table(header, rows, "30 30 12 28", "metrics")]
    pages = "\n".join(f"   {metric.name}" for metric in entries)
    return "\n".join([*parts, ".. toctree::\n   :hidden:\n", pages, ""])


def scores_table() -> str:
    """Return the table of all confidence scores."""
    rows = []
    for name in scores.names():
        score = scores.get(name)
        formula = (score.function.__doc__ or "").strip().splitlines()
        page = f":doc:`{score.title} </scores/generated/{name}>`"
        rows.append((f"``{name}``", page, escaped(formula[0]), score.needs, score.range, score.source))
    return list_table(("Name", "Title", "Value", "Needs", "Range", "Source"), rows, "14 16 26 12 12 20")


def score_page(score: scores.Score) -> str:
    """Return the page of one score."""
    options = [f"``{name}={value!r}``" for name, value in score.defaults.items()]
    grid = [f"``{name}``: {', '.join(map(str, values))}" for name, values in score.grid.items()]
    fit = f"on the {score.fit_split} split: {', '.join(score.fit_requires)}" if score.fit_split else "nothing to fit"
    rows = [
        ("Direction", "higher is surer"),
        ("Range", score.range),
        ("Needs", ", ".join(score.requires) or "what its scores need"),
        ("Fit", fit),
        ("Options", ", ".join(options) or "none"),
        ("Grid of ``abstain.tune``", "; ".join(grid) or "none"),
        ("Operations per sample", f"{score.cost} (K classes, d features, n fit rows, R passes)"),
        ("Version of the definition", str(score.version)),
        ("Source", escaped(score.source)),
    ]
    fitted = "fit_outputs" if score.fit_split else ""
    return "\n".join(
        [
            f".. _score-{score.name}:\n",
            heading(score.title, "="),
            f"``{score.name}`` · :doc:`all scores </scores>` · :doc:`which score when </scores/which>`\n",
            escaped(inspect.getdoc(score.function) or "") + "\n",
            heading("Facts", "-"),
            list_table(None, rows, "28 72"),
            "In Python::\n",
            f"   fitted = abstain.scores.get({score.name!r}).fit({fitted})",
            "   confidence = fitted.score(outputs)\n",
        ]
    )


def generate(folder: Path) -> None:
    """Write all generated pages into a folder and remove those of metrics that are gone."""
    import requirements

    entries = [metrics.get(name) for name in metrics.names("blocks", "probabilities")]
    pages = {f"{metric.name}.rst": metric_page(metric) for metric in entries}
    pages["index.rst"] = index_page(entries)
    listed = "\n".join(f"   {metric.name}" for metric in entries)
    pages["_names.rst"] = f".. currentmodule:: abstain\n\n.. autosummary::\n\n{listed}\n"
    pages["_scores.rst"] = scores_table()
    pages["_requirements.rst"] = requirements.as_rst(requirements.table())
    write_all(folder, pages)


def generate_scores(folder: Path) -> None:
    """Write one page per score into a folder, and a list of them."""
    pages = {f"{name}.rst": score_page(scores.get(name)) for name in scores.names()}
    listed = "\n".join(f"   {name}" for name in scores.names())
    pages["index.rst"] = "\n".join([heading("Pages of all scores", "="), ".. toctree::\n   :maxdepth: 1\n", listed, ""])
    write_all(folder, pages)


setup = before_reading(metrics=generate, scores=generate_scores)
