"""A result in a notebook: the page in short, with its verdict, its first chart and its first table.

It brings its own few rules of style, and takes the colour of its text from the notebook, light or dark; nothing is
requested from anywhere and nothing runs.
"""

from __future__ import annotations

import re
from html import escape
from importlib import import_module
from typing import Any

from abstain._result import QUESTIONS, Result, clean
from abstain.report._kinds import leaf_of
from abstain.report._page import Chart
from abstain.report._svg import svg

#: Colours that stand out from white and from black.
COLOURS = ("#2f7fd0", "#c8641f", "#2e8b57", "#9a5bc0", "#8f7a1a", "#d1477f", "#1b8a9e", "#8d6e63")
_STYLE = (
    ".abstain{max-width:46rem}.abstain .said{border-left:4px solid #8a94a3;padding:0 0 0 .8em;margin:.4em 0}"
    ".abstain .said p{margin:0}.abstain .said .asked{opacity:.7;font-size:.9em;margin-top:.5em}"
    ".abstain figure{max-width:560px;margin:.6em 0}.abstain figure>svg{width:100%;height:auto;display:block}"
    ".abstain svg text{fill:currentColor;opacity:.8;font:15px sans-serif}"
    ".abstain .grid{stroke:currentColor;opacity:.15}"
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
    answers = result.answers()
    if not answers:
        return result.to_html()
    asked = dict.fromkeys(sentence.question for sentence, _ in answers)
    said = "".join(
        f'<p class="asked">{QUESTIONS[key]}</p>' + "".join(
            f"<p>{_line(words, first=key == next(iter(asked)) and k == 0)}</p>"
            for k, words in enumerate(words for sentence, words in answers if sentence.question == key)
        )
        for key in asked
    )  # fmt: skip
    headline = f"<p>{escape(clean(result.headline()))}</p>" if result.headline() else ""
    drawn = chart_of(result)
    figure = "" if drawn is None else _anonymous(svg(drawn), drawn)
    first, *others = [table.to_html() for table in result.tables()] or [""]
    rest = "".join(others) + "".join(f"<p>{escape(clean(note))}</p>" for note in result.notes())
    more = f"<details><summary>More tables and notes</summary>{rest}</details>" if rest else ""
    verdict = f'<div class="said">{said}</div>'
    return f'<div class="abstain"><style>{_STYLE}</style>{headline}{verdict}{figure}{first}{more}</div>'


def chart_of(result: Any) -> Chart | None:
    """Return the first chart of the page of a result, without its page; None where it has none."""
    draw = getattr(import_module(f"abstain.report.{leaf_of(result)[0]}"), "chart", None)
    return None if draw is None else draw(result)


def _line(words: str, *, first: bool) -> str:
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(clean(words)))
    return f"<strong>{text}</strong>" if first else text


def _anonymous(figure: str, chart: Chart) -> str:
    """Return a figure without identifiers, which a notebook may show many times."""
    label = escape(clean(f"{chart.title}. {chart.text}"), quote=True)
    figure = re.sub(r'aria-labelledby="[^"]*"', lambda _: f'aria-label="{label}"', figure, count=1)
    return re.sub(r'<(title|desc) id="[^"]*">.*?</\1>', "", figure)
