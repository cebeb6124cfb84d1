"""A result in a notebook: the page in short, with its verdict, its first chart and its first table.

It brings its own few rules of style, and takes the colour of its text from the notebook, light or dark; nothing is
requested from anywhere and nothing runs.
"""

from __future__ import annotations

import re
from html import escape
from importlib import import_module

from abstain._result import Result, clean
from abstain.report._axes import WIDE
from abstain.report._build import module_of
from abstain.report._charts import svg
from abstain.report._lead import lead_of
from abstain.report._page import Board, Chart

#: Colours that stand out from white and from black.
COLOURS = ("#2f7fd0", "#c8641f", "#2e8b57", "#9a5bc0", "#8f7a1a", "#d1477f", "#1b8a9e", "#8d6e63")
_STYLE = (
    ".abstain{max-width:46rem}.abstain p{margin:.2em 0}.abstain .soft{opacity:.75}"
    ".abstain figure{max-width:560px;margin:.6em 0}.abstain figure>svg{width:100%;height:auto;display:block}"
    ".abstain svg text{fill:currentColor;opacity:.8;font:15px sans-serif}"
    ".abstain .grid,.abstain path.rule{stroke:currentColor;opacity:.15}.abstain path.rule{opacity:.6}"
    ".abstain .line{fill:none;stroke-width:2}.abstain .band{stroke:none;opacity:.18;display:none}"
    ".abstain .band.on{display:inline}.abstain circle{fill:none;stroke-width:2.4}"
    ".abstain .reference{stroke:currentColor;opacity:.6;stroke-dasharray:5 4}.abstain .dotted{stroke-dasharray:2 3}"
    ".abstain .key{width:22px;height:10px;margin:0 .3em}.abstain .entry{margin-right:.7em}"
    + "".join(
        f".abstain .c{k}{{stroke:{colour}}}.abstain .band.c{k}{{fill:{colour}}}" for k, colour in enumerate(COLOURS)
    )
)


def compact(result: Result) -> str:
    """Return a result for a notebook: verdict, first chart, first table, and the rest to be opened."""
    verdict = result.verdict
    if verdict is None:
        return result.to_html()
    lead = lead_of(verdict, Board())
    lines = [
        f"<strong>{_line(lead.headline)}</strong>",
        f"{_line(lead.status)}. {_line(lead.rule)} {_line(lead.guarantee)} {_line(lead.better)}",
    ]
    lines += [_line(each.text) for each in lead.caveats]
    said = "".join(f"<p>{line}</p>" for line in lines)
    headline = f'<p class="soft">{escape(clean(result.headline()))}</p>' if result.headline() else ""
    draw = getattr(import_module(f"abstain.report.{module_of(result)[0]}"), "chart", None)  # without its page
    drawn: Chart | None = None if draw is None else draw(result)
    figure = "" if drawn is None else svg(drawn, sizes=(WIDE,))
    first, *others = [table.to_html() for table in result.tables()] or [""]
    rest = "".join(others) + "".join(f"<p>{escape(clean(note))}</p>" for note in result.notes())
    more = f"<details><summary>More tables and notes</summary>{rest}</details>" if rest else ""
    return f'<div class="abstain"><style>{_STYLE}</style>{headline}{said}{figure}{first}{more}</div>'


def _line(words: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(clean(words)))
