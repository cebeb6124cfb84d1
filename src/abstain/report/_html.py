"""A page as one self-contained HTML file: no request to anywhere, and a policy that forbids any."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html import escape
from importlib.resources import files

from abstain._result import clean
from abstain.report._page import (
    Answers,
    Charts,
    Folded,
    Grid,
    Page,
    Part,
    Pictures,
    Prose,
    Section,
    Slider,
    Terms,
)  # fmt: skip
from abstain.report._svg import svg

#: Tables with more columns than this are set row by row on a phone.
STACKED = 3
#: Sections that are opened on demand: a decision needs none of them.
OPENED = {"metrics", "checks", "glossary", "provenance"}
_TABLE, _ROW = re.compile(r"<table>.*?</table>", re.DOTALL), re.compile(r'<tr><th scope="row">.*?</tr>', re.DOTALL)
_COMMAND = re.compile(r"`(abstain [^`]+)`")
#: What holds no word that may lead to the glossary: code, questions, the badge, and tags.
_FIXED = re.compile(r'(<code>.*?</code>|<dt>.*?</dt>|<p class="sign">.*?</p>|<[^>]*>)', re.DOTALL)
_STYLE = re.compile(r' style="([^"]*)"')


def as_html(page: Page) -> str:
    """Return the page; equal pages give equal text."""
    terms = [name for section in page.sections if section.name == "glossary" for part in section.parts
             if isinstance(part, Terms) for name, _ in part.entries]  # fmt: skip
    style, script = (_asset(f"page.{kind}") for kind in ("css", "js"))
    body = "".join(_section(each, terms) for each in page.sections)
    body, more = _classes(body)
    style += more
    slides = any(isinstance(part, Slider) for section in page.sections for part in section.parts)
    policy = f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; base-uri 'none'; form-action 'none'"
    policy += f"; script-src '{_hash(script)}'" if slides else ""
    links = "".join(f'<li><a href="#{each.name}">{_text(each.title)}</a></li>' for each in page.sections)
    text = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy, quote=True)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(page.title)} – abstain</title>\n<style>{style}</style>\n</head>\n<body>\n"
        '<a class="skip" href="#verdict">To the verdict</a>\n'
        f'<header><h1>{_text(page.title)}</h1><p class="soft">{_text(page.headline)}</p>'
        f'<nav aria-label="Contents"><ul>{links}</ul></nav></header>\n<main>\n{body}</main>\n'
        + (f"<script>{script}</script>\n" if slides else "")
        + "</body>\n</html>\n"
    )
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def _text(value: str) -> str:
    return escape(clean(value))


def _line(value: str) -> str:
    """Return a sentence as HTML: no number stands apart from its per cent, and a command is code."""
    return _COMMAND.sub(_command, _text(value).replace(" %", "\N{NO-BREAK SPACE}%"))


def _command(found: re.Match[str]) -> str:
    """Return a command as code, whose words are not broken unless one is longer than a line."""
    return f"<code>{_unbroken(found[1])}</code>"


def _unbroken(command: str) -> str:
    return " ".join(f"<span>{word}</span>" for word in command.split(" "))


def _classes(body: str) -> tuple[str, str]:
    """Return the body with styles of single cells as classes, which the policy allows, and the rules of these."""
    rules: dict[str, str] = {}

    def named(found: re.Match[str]) -> str:
        return f' class="{rules.setdefault(found[1], f"s{len(rules)}")}"'

    body = _STYLE.sub(named, body)
    dark = {name for rule, name in rules.items() if "background" in rule}  # what stands in a shaded cell is dark in it
    inner = "".join(f"td.{name} span,.stack td.{name}::before{{color:inherit}}" for name in sorted(dark))
    return body, "".join(f"td.{name}{{{rule}}}" for rule, name in rules.items()) + inner


def _anchor(name: str) -> str:
    return f' id="{_key(name)}"'


def _key(name: str) -> str:
    """Return the identifier of a term of the glossary."""
    return "term-" + hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:10]


def _linked(body: str, terms: list[str]) -> str:
    """Return answers whose words lead to the glossary, each where it first stands."""
    where: dict[str, str] = {}
    for name in terms:
        for word in re.sub(r" [↑↓]$", "", name).split(", "):
            if len(word) > 1:
                where.setdefault(_text(word).lower(), name)
    if not where:
        return body
    words = "|".join(re.escape(word) for word in sorted(where, key=len, reverse=True))
    known, told = re.compile(rf"(?<![\w&#\-/.])(?:{words})(?![\w\-/])", re.IGNORECASE), set[str]()

    def link(found: re.Match[str]) -> str:
        name = where[found[0].lower()]
        if name in told:
            return found[0]
        told.add(name)
        return f'<a class="term" href="#{_key(name)}">{found[0]}</a>'

    pieces = _FIXED.split(body)
    return "".join(piece if k % 2 else known.sub(link, piece) for k, piece in enumerate(pieces))


def _section(section: Section, terms: list[str]) -> str:
    parts = "".join(
        _linked(_part(each, section.title), terms) if isinstance(each, Answers) else _part(each, section.title)
        for each in section.parts
    )
    name = section.name
    head = f'<h2 id="h-{name}">{_text(section.title)}</h2>'
    if name in OPENED:  # the identifier is inside: a link to it opens the section
        parts = f'<details class="more"><summary>{head}</summary><div id="{name}">{parts}</div></details>'
        return f'<section aria-labelledby="h-{name}">{parts}</section>\n'
    return f'<section id="{name}" aria-labelledby="h-{name}">{head}{parts}</section>\n'


def _part(part: Part, title: str) -> str:
    if isinstance(part, Prose):
        kind = ' class="note"' if part.kind == "note" else ""
        return "".join(f"<p{kind}>{_line(line)}</p>" for line in part.lines)
    if isinstance(part, Answers):
        entries = "".join(f"<dt>{_text(question)}</dt>" + "".join(f"<dd>{_line(line)}</dd>" for line in lines)
                          for question, lines in part.entries)  # fmt: skip
        word = f'<p class="sign">{_text(part.word)}</p>' if part.word else ""
        return f'<div class="answers {part.sign}">{word}<dl>{entries}</dl></div>'
    if isinstance(part, Grid):
        name = _text(part.table.title or title)
        head = f'<p class="caption">{_text(part.table.title)}</p>' if part.table.title else ""
        body = replace(part.table, title="", notes=()).to_html(part.columns)
        table, _, legend = _TABLE.sub(lambda found: _headed(found[0]), body).rpartition("</table>")
        notes = "".join(f"<p>{_text(each)}</p>" for each in part.table.notes)
        wide = f'<div class="wide" role="group" tabindex="0" aria-label="{name}">{table}</table></div>'
        return f'{head}{wide}<div class="below">{notes}{legend}</div>'
    if isinstance(part, Charts):
        return f'<div class="charts">{"".join(svg(each) for each in part.charts)}</div>'
    if isinstance(part, Slider):
        return _slider(part)
    if isinstance(part, Terms):
        return _terms(part)
    if isinstance(part, Pictures):
        return f'<ul class="pictures">{"".join(_picture(*each) for each in part.entries)}</ul>'
    assert isinstance(part, Folded)
    inner = "".join(_part(each, part.title) for each in part.parts)
    return f"<details><summary>{_text(part.title)}</summary>{inner}</details>"


def _headed(table: str) -> str:
    """Return a table whose names may be broken behind their parts, and whose cells know their heading on a phone."""
    heads = re.findall(r'<th scope="col">(.*?)</th>', table)
    stacked = len(heads) > STACKED

    def row(found: re.Match[str]) -> str:
        name, end, cells = found[0].partition("</th>")
        name = re.sub(r"(?<=\w)([_/=.-])(?=\w)", r"\1<wbr>", name)
        if stacked:
            known = iter(heads[1:])
            cells = re.sub(r"<td\b", lambda _: f'<td data-head="{next(known)}"', cells)
        return name + end + cells

    text = _ROW.sub(row, table)
    return text.replace("<table>", '<table class="stack">', 1) if stacked else text


def _terms(part: Terms) -> str:
    mark = ("<code>", "</code>") if part.code else ("", "")
    entries = "".join(
        f"<div><dt{_anchor(name) if not part.code else ''}>{_text(name)}</dt><dd>{mark[0]}"
        f"{_unbroken(_text(value)) if part.code else _text(value)}{mark[1]}</dd></div>"
        for name, value in part.entries
    )
    return f'<dl class="terms">{entries}</dl>'


def _picture(caption: str, image: str, text: str) -> str:
    shown = f'<img src="{escape(image, quote=True)}" alt="{_text(caption)}">' if image else ""
    words = f"<blockquote>{_text(text)}</blockquote>" if text else ""
    return f"<li>{shown}{words}<span>{_text(caption)}</span></li>"


def _slider(part: Slider) -> str:
    """Return the controls, which the script fills; without a script a line says so, and the tables are there."""
    data = json.dumps(part.data, ensure_ascii=True, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    names = [each["label"] for each in part.data["scores"]]
    options = "".join(f'<option value="{k}">{_text(name)}</option>' for k, name in enumerate(names))
    unit = "Errors" if part.data["binary"] else "Loss"
    outputs = (
        ("threshold", "Threshold"), ("coverage", "Coverage"), ("risk", "Risk of what is answered"),
        ("errors", f"{unit} let through per 1,000 cases"), ("people", "Cases sent to people per 1,000"),
        ("cost", "Cost per 1,000 cases"),
    )  # fmt: skip
    shown = "".join(f'<div><dt>{name}</dt><dd id="o-{key}">–</dd></div>' for key, name in outputs)
    cost = part.data["cost"] or ("", "")
    return (
        "<noscript><p class=note>The slider needs a script, which this browser does not run; the table below has "
        "thresholds to choose from.</p></noscript>"
        f'<script type="application/json" id="slider-data">{data}</script>'
        '<form id="slider" hidden><div class="controls">'
        f'<label>{part.data["of"]} <select id="s-score">{options}</select></label>'
        '<label class="long">Threshold, from few answers to all '
        '<input type="range" id="s-range" min="0" step="1" list="s-marks" aria-describedby="o-promise">'
        '<datalist id="s-marks"></datalist></label>'
        '<label>Promised points <select id="s-promised"></select></label>'
        f'<label>Cost of an error <input type="number" id="s-error" min="0" step="any" value="{cost[0]}"></label>'
        f'<label>Cost of a review <input type="number" id="s-review" min="0" step="any" value="{cost[1]}"></label>'
        '<button type="button" id="s-cheapest">Least cost on these rows</button></div>'
        f'<dl class="cards">{shown}</dl><p id="o-promise" class="promise" role="status"></p>'
        '<p><button type="button" id="s-save">Save this threshold as a policy</button> '
        '<span class="soft">a file for <code>abstain.load_policy</code> and <code>abstain apply</code></span></p>'
        "<details><summary>The policy, and the exact threshold</summary>"
        '<p>A score of <code id="o-short"></code> or more is answered; the policy holds all digits, '
        '<code id="o-exact"></code>, which decides these rows alike.</p>'
        '<pre id="o-policy" tabindex="0"></pre></details></form>'
    )
