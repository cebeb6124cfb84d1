"""A page as Markdown: the first screen in lines, then the same sections; a chart is a line that names it."""

from __future__ import annotations

from functools import singledispatch

from abstain._result import prose
from abstain.report import _page


def as_markdown(page: _page.Page) -> str:
    """Return the page as Markdown."""
    parts = [f"# {prose(page.title)}", prose(page.about), _lead(page.lead), *map(_section, page.sections)]
    return "\n\n".join(parts) + "\n"


def _lead(lead: _page.Lead) -> str:
    parts = [
        f"**{prose(lead.headline)}** {prose(lead.status)}.",
        prose(lead.rule),
        prose(lead.guarantee),
        prose(lead.better),
        _part(lead.board),
    ]
    parts.append("\n".join(f"- {prose(each.text)}" for each in lead.caveats))
    parts.append(f"{lead.aim}: `{lead.next}`" if lead.next else "")
    return "\n\n".join(part for part in parts if part)


def _section(section: _page.Section) -> str:
    parts = [_part(each) for each in section.parts]
    return "\n\n".join([f"## {prose(section.title)}", *(each for each in parts if each)])


@singledispatch
def _part(part: _page.Part) -> str:
    raise TypeError(f"no part of a page: {part!r}")


@_part.register
def _(part: _page.Prose) -> str:
    mark = "> " if part.kind == "note" else ""
    return "\n\n".join(f"{mark}{prose(line)}" for line in part.lines)


@_part.register
def _(part: _page.Grid) -> str:
    return part.table.to_markdown()


@_part.register
def _(part: _page.Charts) -> str:
    return "\n".join(
        f"- figure: {prose(each.title)}{f' ({prose(each.text)})' if each.text else ''}" for each in part.charts
    )


@_part.register
def _(part: _page.Board) -> str:
    numbers = [
        f"- {prose(each.name)}: {prose(each.value)}{f' ({prose(each.small)})' if each.small else ''}"
        for each in part.numbers
        if each.value
    ]
    chart = "" if part.chart is None else _part(_page.Charts((part.chart,)))
    return "\n".join([*numbers, *([chart] if chart else [])])


@_part.register
def _(part: _page.Controls) -> str:
    lines = []
    for score in part.slider["scores"]:
        for at, each in score["certified"].items():
            threshold, accepted = score["stops"][int(at)][:2]
            where = f"{prose(score['name'])} is `{threshold}` or more ({accepted} of {score['n']} rows)"
            lines.append(f"- certified: {each['label']} where {where}")
    return "\n".join(lines) or "No threshold is certified."


@_part.register
def _(part: _page.Terms) -> str:
    mark = "`" if part.code else ""
    values = [value.replace("`", "'") if part.code else prose(value) for _, value in part.entries]
    named = zip(part.entries, values, strict=True)
    return "\n".join(f"- **{prose(name)}**: {mark}{value}{mark}" for (name, _), value in named)


@_part.register
def _(part: _page.Pictures) -> str:
    return "\n".join(f"- {prose(caption)}{f': {prose(text)}' if text else ''}" for caption, _, text in part.entries)


@_part.register
def _(part: _page.Folded) -> str:
    return "\n\n".join([f"### {prose(part.title)}", *map(_part, part.parts)])
