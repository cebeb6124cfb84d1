"""Formulas as MathML, which browsers show without a network; where latex2mathml is missing conf.py uses MathJax."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert


def inline(translator: Any, node: nodes.Element) -> None:
    """Write a formula inside a line."""
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def block(translator: Any, node: nodes.Element) -> None:
    """Write a formula on a line of its own."""
    translator.body.append(f'<div class="math">{convert(node.astext().strip(), display="block")}</div>\n')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, Any]:
    """Register the renderer; its name is the value of html_math_renderer."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
