"""Tables as HTML, Markdown and LaTeX; names are text in all of them and never markup."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from abstain._result._words import clean

if TYPE_CHECKING:
    from abstain._result._table import Shown, Table

#: Blues for the ranks, dark to light, as RGB; black text stays readable on all of them.
BLUES = ("9ecae1", "b7d6ea", "cde2f1", "e0edf8", "eff6fc")

_GREEK = ("alpha", "beta", "gamma", "delta", "lambda", "mu", "sigma", "tau")
_TEX = {
    "\\": "\\textbackslash{}", "{": "\\{", "}": "\\}", "$": "\\$", "%": "\\%", "_": "\\_", "&": "\\&", "#": "\\#",
    "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "<": "\\textless{}", ">": "\\textgreater{}",
    "|": "\\textbar{}", '"': "''", "↑": "$\\uparrow$", "↓": "$\\downarrow$", "±": "$\\pm$",
    "—": "---", "·": "$\\cdot$", "≤": "$\\le$", "≥": "$\\ge$", "×": "$\\times$", "…": "\\dots{}",
    **{letter: f"$\\{name}$" for letter, name in zip("αβγδλμστ", _GREEK, strict=True)},
}  # fmt: skip


def escape(text: str) -> str:
    """Return text that is no markup in HTML."""
    from html import escape as escaped  # with a list of 2,231 names, which no terminal needs

    return escaped(text)


def legend(table: Table) -> list[str]:
    """Return what the marks of a table mean."""
    marks = table.marks()
    if marks == 0:
        return []
    more = "; shaded: all ranks, the best darkest" if table.heat else "; shaded: the first ranks" if marks > 1 else ""
    return [f"Bold: {table.place()}{more}"]


def html(table: Table, most: int) -> str:
    """Return an HTML table with its notes; behind the names of the rows at most so many columns in one."""
    depth, count = table.marks(), len(table.columns)
    parts = [range(start, min(start + most, count)) for start in range(1, count, most)]
    tables = "".join(_html_table(table, [0, *part], depth) for part in parts)
    return tables + paragraphs([*table.notes, *legend(table)])


def _html_table(table: Table, chosen: list[int], depth: int) -> str:
    title = f"<caption>{escape(clean(table.title))}</caption>" if table.title else ""
    headings = table.headings()
    heads = "".join(f'<th scope="col"{_side(table.columns[j].left)}>{escape(headings[j])}</th>' for j in chosen)
    head = f"<thead><tr>{heads}</tr></thead>" if any(headings) else ""
    body = []
    for row in table.shown():
        cells = "".join(_td(row[j], depth, table.columns[j].left) for j in chosen[1:])
        body.append(f'<tr><th scope="row">{escape(row[0].value)}</th>{cells}</tr>')
    return f"<table>{title}{head}<tbody>{''.join(body)}</tbody></table>"


def paragraphs(texts: Iterable[str]) -> str:
    """Return texts as paragraphs of HTML."""
    return "".join(f"<p>{escape(clean(text))}</p>" for text in texts)


def _td(cell: Shown, depth: int, left: bool) -> str:
    colour = _colour(cell, depth)
    style = f' style="background:#{colour};color:#000"' if colour else ""
    style = style or _side(left)
    value = f"<strong>{escape(cell.value)}</strong>" if cell.rank == 1 else escape(cell.value)
    rest = f" <span>{escape(cell.rest.strip()).replace(' ', '&nbsp;')}</span>" if cell.rest else ""
    return f"<td{style}>{value}{rest}</td>"


def _side(left: bool) -> str:
    return ' style="text-align:left"' if left else ""


def markdown(table: Table) -> str:
    """Return a Markdown table with its title and notes."""

    def row(cells: list[str]) -> str:
        return f"| {' | '.join(cells)} |"

    left = [j == 0 or column.left for j, column in enumerate(table.columns)]
    lines = [f"**{prose(table.title)}**", ""] if table.title else []
    lines += [row(list(map(prose, table.headings()))), f"|{'|'.join('---' if each else '---:' for each in left)}|"]
    for cells in table.shown():
        lines.append(row([(f"**{prose(c.value)}**" if c.rank == 1 else prose(c.value)) + c.rest for c in cells]))
    notes = [*table.notes, *legend(table)]
    return "\n".join([*lines, *([""] if notes else []), *(f"{prose(note)}  " for note in notes)])


def prose(text: str) -> str:
    r"""Return a text that Markdown shows as it is; an underscore inside a word needs no mark."""
    return re.sub(r"([\\|*`<\[])|(?<!\w)(_)|(_)(?!\w)", lambda found: "\\" + found[0], clean(text))


def latex(table: Table) -> str:
    """Return a tabular; title and notes stand as comments next to it."""
    depth = table.marks()
    lines = [f"% {clean(table.title)}"] if table.title else []
    if depth > 1 and not table.heat:
        lines += [f"\\definecolor{{rank{i + 1}}}{{HTML}}{{{colour.upper()}}}" for i, colour in enumerate(BLUES)]
    kinds = "".join("l" if j == 0 or column.left else "r" for j, column in enumerate(table.columns))
    lines += [f"\\begin{{tabular}}{{{kinds}}}", "\\toprule"]
    if any(table.headings()):
        lines += [_tex_row([tex(text) for text in table.headings()]), "\\midrule"]
    for first, *cells in table.shown():
        lines.append(_tex_row([tex(first.value), *(_tex_cell(cell, depth) for cell in cells)]))
    notes = [*table.notes, *legend(table)]
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", *(f"% {clean(note)}" for note in notes)])


def _colour(cell: Shown, depth: int) -> str:
    """Return the colour behind a cell: by its heat between the darkest blue and white, else by its rank."""
    if cell.heat >= 0.0:
        dark = (int(BLUES[0][k : k + 2], 16) for k in (0, 2, 4))
        return "".join(f"{round(255 + cell.heat * (part - 255)):02x}" for part in dark)
    return BLUES[cell.rank - 1] if depth > 1 and 0 < cell.rank <= len(BLUES) else ""


def _tex_row(cells: list[str]) -> str:
    line = " & ".join(cells)  # a row that starts like an option of the line break before it
    return ("{}" if line.startswith(("[", "*")) else "") + line + " \\\\"


def _tex_cell(cell: Shown, depth: int) -> str:
    heated = f"\\cellcolor[HTML]{{{_colour(cell, depth).upper()}}}" if cell.heat >= 0.0 else ""
    shade = f"\\cellcolor{{rank{cell.rank}}}" if depth > 1 and 0 < cell.rank <= len(BLUES) else ""
    shade = heated or shade
    value = f"\\textbf{{{tex(cell.value)}}}" if cell.rank == 1 else tex(cell.value)
    return re.sub(r"(?<![^ [{])-(?=\d)", "$-$", f"{shade}{value}{tex(cell.rest)}")  # a hyphen is no minus


def tex(text: str) -> str:
    """Return a text that LaTeX sets as it is."""
    return "".join(_TEX.get(character, character) for character in clean(text))
