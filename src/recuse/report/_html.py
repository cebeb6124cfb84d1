"""An evaluation as a table for notebooks and as one self-contained page: no script, no request to anywhere."""

from __future__ import annotations

import io
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from recuse.report._display import RiskCoverageDisplay
from recuse.report._tables import clean, headline, operating_points, tables

if TYPE_CHECKING:
    from recuse.evaluation import Evaluation

_DIRECTION = "↓ lower is better, ↑ higher is better. Values are fractions. Best of a row in bold."


def as_html_page(evaluation: Evaluation) -> str:
    """Return the page: table, curves, operating points, notes, conventions, provenance."""
    page: str = _template("page.html").render(
        headline=headline(evaluation),
        tables=tables(evaluation),
        points=operating_points(evaluation),
        notes=[clean(line) for line in evaluation.notes()],
        figure=_figure(evaluation),
        direction=_DIRECTION,
        conventions=_conventions(evaluation),
        provenance={key: clean(str(value)) for key, value in evaluation.provenance.items()},
    )
    return page


def as_html_table(evaluation: Evaluation) -> str:
    """Return the tables alone, for a notebook cell; plain text where jinja2 is not installed."""
    try:
        template = _template("table.html")
    except ModuleNotFoundError:
        from html import escape

        return f"<pre>{escape(str(evaluation))}</pre>"
    parts = [template.render(table=table) for table in tables(evaluation)]
    from markupsafe import escape as escaped

    notes = "".join(f"<p>{escaped(clean(line))}</p>" for line in evaluation.notes())
    return f"<p>{escaped(headline(evaluation))}</p>{''.join(parts)}{notes}"


def _template(name: str) -> Any:
    import jinja2

    sources = {
        entry.name: entry.read_text("utf-8") for entry in files(__package__).iterdir() if entry.name.endswith(".html")
    }
    return jinja2.Environment(loader=jinja2.DictLoader(sources), autoescape=True).get_template(name)


def _conventions(evaluation: Evaluation) -> list[tuple[str, str, str]]:
    """Printed name, identifier and source of every metric shown."""
    from recuse import metrics

    return [
        (clean(entry.metric), entry.identifier, metrics.parse(entry.spec.partition("(")[0]).source)
        for entry in {measurement.spec: measurement for measurement in evaluation.measurements}.values()
    ]


def _figure(evaluation: Evaluation) -> Any:
    """The curves as inline SVG, drawn without pyplot and without a date, so that equal results give equal pages."""
    from markupsafe import Markup
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    curves = {entry.score: entry.curve for entry in evaluation.summaries if entry.group is None}
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "recuse", "font.family": "sans-serif"}):
        figure = Figure(figsize=(10.0, 4.0), layout="constrained")
        RiskCoverageDisplay(curves).plot(ax=figure.subplots(1, 2))
        stream = io.StringIO()
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    svg = stream.getvalue()
    return Markup(svg[svg.index("<svg") :])
