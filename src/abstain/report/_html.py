"""An evaluation as one self-contained page: no script, no request to anywhere."""

from __future__ import annotations

import io
import re
from importlib.resources import files
from typing import Any, Literal

from abstain import metrics
from abstain._extras import need
from abstain._result import clean
from abstain.evaluation import Evaluation
from abstain.plots import RiskCoverageDisplay, settings
from abstain.report._tables import key_figures, operating_points

#: Columns of values that fit on a page, on paper too.
COLUMNS = 4
_KINDS: dict[Literal["selective", "generalized"], str] = {
    "selective": "Selective risk",
    "generalized": "Generalized risk",
}


def as_html_page(evaluation: Evaluation, title: str | None = None) -> str:
    """Return the page: key figures, tables, curves, operating points, notes, conventions, provenance."""
    need("the report", "jinja2", "matplotlib")
    import jinja2
    from markupsafe import Markup

    source = files(__package__).joinpath("page.html").read_text("utf-8")
    page: str = (
        jinja2.Environment(autoescape=True)
        .from_string(source)
        .render(
            title=clean(title or "Evaluation of a reject option"),
            headline=evaluation.headline(),
            figures=key_figures(evaluation),
            tables=[Markup(table.to_html(COLUMNS)) for table in evaluation.tables()],
            points=[Markup(table.to_html()) for table in operating_points(evaluation)],
            notes=[clean(line) for line in evaluation.notes()],
            plots=[_plot(evaluation, kind) for kind in _KINDS],
            conventions=_conventions(evaluation),
            provenance={key: clean(str(value)) for key, value in evaluation.provenance.items()},
        )
    )
    return page.encode("utf-8", "backslashreplace").decode("utf-8")


def _conventions(evaluation: Evaluation) -> list[tuple[str, str, str]]:
    """Printed name, identifier and source of every metric shown; a metric of the user's own has no source."""
    sources = {name: metrics.get(name).source for name in metrics.names("blocks", "probabilities")}
    return [
        (clean(entry.label), clean(entry.identifier), sources.get(entry.metric.partition("(")[0], ""))
        for entry in {measurement.metric: measurement for measurement in evaluation.measurements}.values()
    ]


def _plot(evaluation: Evaluation, kind: Literal["selective", "generalized"]) -> Any:
    """One plot as inline SVG in the colours of the page, without a date: equal results give equal pages."""
    from markupsafe import Markup
    from matplotlib.figure import Figure

    with settings(**{"svg.fonttype": "none", "font.size": 11.0}):
        figure = Figure(figsize=(5.0, 4.0), layout="constrained")
        RiskCoverageDisplay.from_evaluation(evaluation, ax=figure.subplots(), kind=kind)
        stream = io.StringIO()
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(stream, format="svg", transparent=True, metadata=nothing)
    svg = stream.getvalue()
    svg = svg[svg.index("<svg") :].replace("#000000", "currentColor")
    svg = re.sub(r'((?:\bid|xlink:href)="#?|url\(#)', rf"\g<1>{kind}-", svg)  # identifiers are of the whole page
    return Markup(svg.replace("<svg ", f'<svg role="img" aria-label="{_KINDS[kind]} against coverage" ', 1))
