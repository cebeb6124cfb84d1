"""Sphinx configuration. Pages per metric, the score table and the requirements table are made while building."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import abstain

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent / "_ext")]

project = "abstain"
author = "The abstain developers"
copyright = f"2026, {author}"
version = release = abstain.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "registry_pages",
    "recipe_pages",
    "command_pages",
    "glossary_pages",
    "gallery_pages",
    "tutorial_pages",
]
html_math_renderer = "mathml" if find_spec("latex2mathml") else "mathjax"
extensions.append("mathml" if html_math_renderer == "mathml" else "sphinx.ext.mathjax")
exclude_patterns = ["_build", "metrics/generated/_*"]
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_typehints = "none"  # types are in the docstrings
autodoc_member_order = "bysource"
autosummary_generate = False
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "furo"
html_title = f"abstain {release}"
html_static_path = ["_static"]
html_css_files = ["abstain.css"]
html_show_sourcelink = False
pygments_style = "friendly"


def described_elsewhere(app: Any, env: Any, node: Any, content: Any) -> Any:
    """Link names that the front of the package repeats to the page of their module."""
    python, target = env.get_domain("py"), node.get("reftarget", "")
    for module in ("inference", "thresholds"):
        name = f"abstain.{module}.{target.removeprefix('abstain.')}"
        if node.get("refdomain") == "py" and name in python.objects:
            return python.resolve_xref(env, node["refdoc"], app.builder, node["reftype"], name, node, content)
    return None


def setup(app: Any) -> None:
    app.connect("missing-reference", described_elsewhere)
