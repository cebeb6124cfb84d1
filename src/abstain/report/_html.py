"""A page as one self-contained HTML file: no request to anywhere, and a policy that forbids any.

The frame is ``page.html``, its looks are ``page.css``, its script is ``page.js``; here the parts of a page become HTML.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from functools import singledispatch
from html import escape
from importlib.resources import files
from string import Template

from abstain._result import Severity, clean
from abstain._typing import Document
from abstain.report import _page
from abstain.report._charts import svg
from abstain.report._lead import CAVEATS

#: Tables with more columns than this are set row by row on a phone.
STACKED = 3
#: Tables of so many rows, the heading included, are not broken between pages.
SHORT = 13
_TABLE, _ROW = re.compile(r"<table>.*?</table>", re.DOTALL), re.compile(r'<tr><th scope="row">.*?</tr>', re.DOTALL)
_COMMAND = re.compile(r"`([^`<>]+)`")
_OPTION = re.compile(r"(?<![\w-])--\w[\w-]*")
#: Spaces at which no line is broken, a hyphen that is a minus, and the parts of a command that are not broken.
_SIGN = re.compile(r" (?=%)|(?<=[≥≤<>=]) (?=[\d.])|(?<=&[lg]t;) (?=[\d.])|(?<=\bp) (?=[<=]|&lt;)")
_MINUS = re.compile(r"(?<![\w.-])-(?=[\d.])")
_ARGUMENT = re.compile(r"-\S+ [^-\s]\S*|\S+")
_SHARE = re.compile("[\\d.,]+\N{NO-BREAK SPACE}%")
_STYLE = re.compile(r' style="([^"]*)"')


def as_html(page: _page.Page) -> str:
    """Return the page; equal pages give equal text."""
    board = _board(page.lead.board)
    chart = page.lead.board.chart
    room = (chart is None or chart.sideways) and len(page.lead.caveats) < CAVEATS  # for a section on the first screen
    first = next((each for each in page.sections if each.name != "caveats"), None) if room else None
    sections, rules = _classes("".join(_section(each, is_open=each is first) for each in page.sections))
    style, script = _asset("page.css") + rules, _asset("page.js")
    slides = 'id="s-range"' in board + sections
    policy = f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; base-uri 'none'; form-action 'none'"
    policy += f"; script-src '{_hash(script)}'" if slides else ""
    text = Template(_asset("page.html")).substitute(
        policy=escape(policy, quote=True),
        title=_text(page.title),
        about=_line(page.about),
        style=style,
        tone=page.lead.tone,
        headline=_SHARE.sub(r"<b>\g<0></b>", _line(page.lead.headline)),
        answer=_answer(page.lead),
        board=board,
        caveats=_caveats(page.lead),
        sections=sections,
        script=f"<script>{script}</script>\n" if slides else "",
    )
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def _text(value: str) -> str:
    return escape(clean(value))


def _line(value: str) -> str:
    """Return a sentence as HTML: a number and its sign, and an option, are not broken; a command is code."""
    parts = _COMMAND.split(_text(value))  # words and commands take turns
    return "".join(
        f"<code>{_unbroken(part)}</code>" if k % 2 else _OPTION.sub(r'<span class="option">\g<0></span>', _kept(part))
        for k, part in enumerate(parts)
    )


def _kept(text: str) -> str:
    """Return a text in which a number and its sign stay on one line, and a minus is no hyphen."""
    text = _SIGN.sub("\N{NO-BREAK SPACE}", text).replace("DS-", "DS\N{NON-BREAKING HYPHEN}")
    return _MINUS.sub("\N{MINUS SIGN}", text)


def _unbroken(command: str) -> str:
    """Return a command that is broken only between options, each with its value, unless one is longer than a line."""
    return " ".join(f"<span>{word}</span>" for word in _ARGUMENT.findall(command))


def _classes(body: str) -> tuple[str, str]:
    """Return the body with styles of single cells as classes, which the policy allows, and the rules of these."""
    rules: dict[str, str] = {}

    def named(found: re.Match[str]) -> str:
        return f' class="{rules.setdefault(found[1], f"s{len(rules)}")}"'

    body = _STYLE.sub(named, body)
    dark = {name for rule, name in rules.items() if "background" in rule}  # text in a shaded cell is dark in both modes
    inner = "".join(f"td.{name} span,.stack td.{name}::before{{color:inherit}}" for name in sorted(dark))
    return body, "".join(f".{name}{{{rule}}}" for rule, name in rules.items()) + inner


def _answer(lead: _page.Lead) -> str:
    """Return the status with the rule and the guarantee next to it."""
    status = f'<span class="status">{_kept(_text(lead.status))}</span>' if lead.status else ""
    said = "".join(f"<span>{_line(each)}</span>" for each in (lead.rule, lead.guarantee, lead.better) if each)
    return f'<div class="answer">{status}<p>{said}</p></div>' if status or said else ""


def _caveats(lead: _page.Lead) -> str:
    """Return the caveats, of which the grave ones stand out, and the command that goes on."""
    grave = (' class="grave"' if each.severity <= Severity.GRAVE else "" for each in lead.caveats)
    items = "".join(f"<li{kind}>{_line(each.text)}</li>" for kind, each in zip(grave, lead.caveats, strict=True))
    after = f'<p class="next">{_line(lead.aim)} <code>{_unbroken(_text(lead.next))}</code></p>' if lead.next else ""
    return (f'<ul class="caveats">{items}</ul>' if items else "") + after


def _section(section: _page.Section, *, is_open: bool) -> str:
    name = section.name
    head = f'<summary><h2 id="h-{name}">{_text(section.title)}</h2></summary>'
    body = "".join(_part(each, section.title) for each in section.parts)
    return f'<details class="section"{" open" * is_open}>{head}<div id="{name}">{body}</div></details>\n'


@singledispatch
def _part(part: _page.Part, title: str) -> str:
    raise TypeError(f"no part of a page: {part!r}")


@_part.register
def _(part: _page.Prose, title: str) -> str:
    kind = ' class="note"' if part.kind == "note" else ""
    return "".join(f"<p{kind}>{_line(line)}</p>" for line in part.lines)


@_part.register
def _(part: _page.Grid, title: str) -> str:
    name = _text(part.table.title or title)
    head = f'<p class="caption">{_text(part.table.title)}</p>' if part.table.title else ""
    body = _SIGN.sub("\N{NO-BREAK SPACE}", replace(part.table, title="", notes=()).to_html(part.columns))
    body = _COMMAND.sub(r"<code>\1</code>", body)
    table, _, legend = _TABLE.sub(lambda found: _headed(found[0]), body).rpartition("</table>")
    notes = "".join(f"<p>{_line(each)}</p>" for each in part.table.notes)
    wide = f'<div class="wide" role="group" tabindex="0" aria-label="{name}">{table}</table></div>'
    return f'{head}{wide}<div class="below">{notes}{legend}</div>'


@_part.register
def _(part: _page.Charts, title: str) -> str:
    return f'<div class="charts">{"".join(svg(each) for each in part.charts)}</div>'


@_part.register
def _(part: _page.Board, title: str) -> str:
    return _board(part)


@_part.register
def _(part: _page.Terms, title: str) -> str:
    form = (lambda value: f"<code>{_unbroken(_text(value))}</code>") if part.code else _text
    entries = "".join(f"<div><dt>{_text(name)}</dt><dd>{form(value)}</dd></div>" for name, value in part.entries)
    return f'<dl class="terms">{entries}</dl>'


@_part.register
def _(part: _page.Pictures, title: str) -> str:
    return f'<ul class="images">{"".join(_picture(*each) for each in part.entries)}</ul>'


@_part.register
def _(part: _page.Folded, title: str) -> str:
    inner = "".join(_part(each, part.title) for each in part.parts)
    return f"<details><summary>{_text(part.title)}</summary>{inner}</details>"


@_part.register
def _(part: _page.Controls, title: str) -> str:
    data = part.slider
    names = "".join(f'<option value="{k}">{_text(each["label"])}</option>' for k, each in enumerate(data["scores"]))
    error, review = data["cost"] or ("", "")
    return (
        "<noscript><p>The slider needs a script, which this browser does not run; the tables have thresholds to choose "
        "from.</p></noscript>"
        '<form id="controls" class="needs-script" hidden><div class="controls">'
        f'<label>{data["of"]} <select id="s-score">{names}</select></label>'
        '<label>Certified points <select id="s-certified"></select></label>'
        f'<label>Cost of an error <input type="number" id="s-error" min="0" step="any" value="{error}"></label>'
        f'<label>Cost of a review <input type="number" id="s-review" min="0" step="any" value="{review}"></label>'
        '<button type="button" id="s-cheapest">Lowest cost on these rows</button></div>'
        "<details><summary>The policy as a file</summary>"
        "<p>It is read by <code>abstain.load_policy</code> and <code>abstain apply</code>, and holds all digits of the "
        'threshold, <code id="o-exact"></code>.</p>'
        '<pre id="o-policy" tabindex="0"></pre></details></form>'
    )


def _board(part: _page.Board) -> str:
    """Return the chart with its slider, and the numbers next to it."""
    chart = "" if part.chart is None else svg(part.chart, caption=part.chart.sideways)
    slider = "" if part.slider is None else _range(part.slider)
    numbers = "".join(map(_number, part.numbers))
    save = ""
    if part.slider is not None:
        save = (
            '<p class="chosen"><span id="o-threshold"></span> <span id="o-guarantee" role="status"></span></p>'
            '<button type="button" id="s-save" class="needs-script" hidden>Save policy</button>'
        )
    if not chart + numbers:
        return ""
    drawn = f"<div>{chart}{slider}</div>" if chart else ""
    kind = "board" if chart else "board plain"
    return f'<div class="{kind}">{drawn}<div><dl class="numbers">{numbers}</dl>{save}</div></div>'


def _number(one: _page.Number) -> str:
    key = f' id="o-{one.key}"' if one.key else ""
    small = f"<small>{_line(one.small)}</small>" if one.small else ""
    hidden = "" if one.value else " hidden"
    return f"<div{hidden}><dt>{_line(one.name)}</dt><dd{key}>{_line(one.value)}{small}</dd></div>"


def _range(slider: Document) -> str:
    data = json.dumps(slider, ensure_ascii=True, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return (
        f'<script type="application/json" id="slider-data">{data}</script>'
        '<div class="slide needs-script" hidden>'
        '<input type="range" id="s-range" min="0" max="1" step="any" list="s-marks" aria-describedby="o-guarantee" '
        'aria-label="Threshold, by coverage"><datalist id="s-marks"></datalist>'
        "<p><span>fewer answers</span><span>Move to change the threshold</span><span>answer everything</span></p></div>"
    )


def _headed(table: str) -> str:
    """Return a table whose names may be broken behind their parts, and whose cells know their heading on a phone."""
    heads = re.findall(r'<th scope="col"[^>]*>(.*?)</th>', table)
    stacked = len(heads) > STACKED

    def row(found: re.Match[str]) -> str:
        name, end, cells = found[0].partition("</th>")
        name = re.sub(r"(?<=\w)([_/=.-])(?=\w)", r"\1<wbr>", name)
        if stacked:
            known = iter(heads[1:])
            cells = re.sub(r"<td\b", lambda _: f'<td data-head="{next(known)}"', cells)
        return name + end + cells

    text = _ROW.sub(row, table)
    kinds = "stack" * stacked + " short" * (text.count("<tr>") <= SHORT)
    return text.replace("<table>", f'<table class="{kinds.strip()}">', 1) if kinds else text


def _picture(caption: str, image: str, text: str) -> str:
    shown = f'<img src="{escape(image, quote=True)}" alt="{_text(caption)}">' if image else ""
    words = f"<blockquote>{_text(text)}</blockquote>" if text else ""
    return f"<li>{shown}{words}<span>{_text(caption)}</span></li>"
