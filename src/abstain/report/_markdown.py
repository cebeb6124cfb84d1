"""A page as Markdown: the same sections; a chart is a line that names it."""

from __future__ import annotations

from abstain._result import prose
from abstain.report._page import Answers, Charts, Folded, Grid, Page, Part, Pictures, Prose, Section, Slider, Terms


def as_markdown(page: Page) -> str:
    """Return the page as Markdown."""
    head = [f"# {prose(page.title)}", prose(page.headline)]
    return "\n\n".join([*head, *(_section(each) for each in page.sections)]) + "\n"


def plain_text(page: Page) -> str:
    """Return the words of a page, for those who look for some in it."""
    return as_markdown(page)


def _section(section: Section) -> str:
    parts = [_part(each) for each in section.parts]
    return "\n\n".join([f"## {prose(section.title)}", *(each for each in parts if each)])


def _part(part: Part) -> str:
    if isinstance(part, Prose):
        mark = "> " if part.kind == "note" else ""
        return "\n\n".join(f"{mark}{prose(line)}" for line in part.lines)
    if isinstance(part, Answers):
        word = [f"**{prose(part.word)}**"] if part.word else []
        return "\n\n".join([*word, *(f"**{prose(question)}**\n\n" + "\n".join(f"- {prose(line)}" for line in lines)
                             for question, lines in part.entries)])  # fmt: skip
    if isinstance(part, Grid):
        return part.table.to_markdown()
    if isinstance(part, Charts):
        return "\n".join(
            f"- figure: {prose(each.title)}{f' ({prose(each.text)})' if each.text else ''}" for each in part.charts
        )
    if isinstance(part, Slider):
        return _promised(part)
    if isinstance(part, Terms):
        mark = "`" if part.code else ""
        return "\n".join(f"- **{prose(name)}**: {mark}{_value(value, part.code)}{mark}" for name, value in part.entries)
    if isinstance(part, Pictures):
        return "\n".join(f"- {prose(caption)}{f': {prose(text)}' if text else ''}" for caption, _, text in part.entries)
    assert isinstance(part, Folded)
    return "\n\n".join([f"### {prose(part.title)}", *(_part(each) for each in part.parts)])


def _value(value: str, code: bool) -> str:
    return value.replace("`", "'") if code else prose(value)


def _promised(slider: Slider) -> str:
    """Return the promised thresholds, exact; the others are a table of their own."""
    lines = []
    for score in slider.data["scores"]:
        for at, each in score["promised"].items():
            threshold, accepted = score["stops"][int(at)][:2]
            where = f"{prose(score['name'])} is `{threshold}` or more ({accepted} of {score['n']} rows)"
            lines.append(f"- promised: risk at most {each['risk']:g} where {where}")
    return "\n".join(lines) or "No threshold is promised."
