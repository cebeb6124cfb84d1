"""An evaluation as a table for notebooks and as one self-contained page: no script, no request to anywhere."""

from __future__ import annotations

import io
import re
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from abstain.report._display import RiskCoverageDisplay, quiet
from abstain.report._extras import need
from abstain.report._tables import brackets, clean, headline, key_figures, operating_points, tables

if TYPE_CHECKING:
    from abstain.evaluation import Evaluation

#: Columns of values that fit on a page, on paper too.
COLUMNS = 4
_KINDS: dict[Literal["selective", "generalized"], str] = {
    "selective": "Selective risk",
    "generalized": "Generalized risk",
}


def as_html_page(evaluation: Evaluation, title: str | None = None) -> str:
    """Return the page: key figures, tables, curves, operating points, notes, conventions, provenance."""
    need("the report", "jinja2", "matplotlib")
    page: str = _template("page.html").render(
        title=clean(title or "Evaluation of a reject option"),
        headline=headline(evaluation),
        figures=key_figures(evaluation),
        tables=tables(evaluation, COLUMNS),
        points=operating_points(evaluation),
        notes=[clean(line) for line in evaluation.notes()],
        plots=[_plot(evaluation, kind) for kind in _KINDS],
        direction=_legend(evaluation),
        conventions=_conventions(evaluation),
        provenance={key: clean(str(value)) for key, value in evaluation.provenance.items()},
    )
    return page.encode("utf-8", "backslashreplace").decode("utf-8")


def _legend(evaluation: Evaluation) -> str:
    """What arrows, brackets and bold type mean, as far as they occur."""
    parts = ["↓ lower is better, ↑ higher is better. Values are fractions.", *brackets(evaluation)]
    parts += ["Best of a row in bold."] if len(evaluation.scores) > 1 else []
    return " ".join(parts)


def as_html_table(evaluation: Evaluation) -> str:
    """Return the tables alone, for a notebook cell; plain text where jinja2 is not installed."""
    try:
        template = _template("table.html")
    except ModuleNotFoundError:
        from html import escape

        return f"<pre>{escape(str(evaluation))}</pre>"
    parts = [template.render(table=table) for table in tables(evaluation)]
    from markupsafe import escape as escaped

    below = "".join(f"<p>{escaped(line)}</p>" for line in [*brackets(evaluation), *map(clean, evaluation.notes())])
    return f"<p>{escaped(headline(evaluation))}</p>{''.join(parts)}{below}"


def _template(name: str) -> Any:
    import jinja2

    sources = {
        entry.name: entry.read_text("utf-8") for entry in files(__package__).iterdir() if entry.name.endswith(".html")
    }
    return jinja2.Environment(loader=jinja2.DictLoader(sources), autoescape=True).get_template(name)


def _conventions(evaluation: Evaluation) -> list[tuple[str, str, str]]:
    """Printed name, identifier and source of every metric shown; a metric of the user's own has no source."""
    from abstain import metrics

    sources = {name: metrics.get(name).source for name in metrics.names()}
    return [
        (clean(entry.metric), clean(entry.identifier), sources.get(entry.spec.partition("(")[0], ""))
        for entry in {measurement.spec: measurement for measurement in evaluation.measurements}.values()
    ]


def _plot(evaluation: Evaluation, kind: Literal["selective", "generalized"]) -> Any:
    """One plot as inline SVG in the colours of the page, without a date: equal results give equal pages."""
    from markupsafe import Markup
    from matplotlib import style
    from matplotlib.figure import Figure

    curves = {entry.score: entry.curve for entry in evaluation.summaries if entry.group is None}
    settings: dict[str, Any] = {"svg.fonttype": "none", "svg.hashsalt": "abstain", "font.size": 11.0}
    with style.context(["default", settings]), quiet():
        figure = Figure(figsize=(5.0, 4.0), layout="constrained")
        RiskCoverageDisplay(curves).plot(ax=figure.subplots(), kind=kind)
        stream = io.StringIO()
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(stream, format="svg", transparent=True, metadata=nothing)
    svg = stream.getvalue()
    svg = svg[svg.index("<svg") :].replace("#000000", "currentColor")
    svg = re.sub(r'((?:\bid|xlink:href)="#?|url\(#)', rf"\g<1>{kind}-", svg)  # identifiers are of the whole page
    return Markup(svg.replace("<svg ", f'<svg role="img" aria-label="{_KINDS[kind]} against coverage" ', 1))
