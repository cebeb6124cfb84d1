"""Write the gallery: every figure with the code that draws it, which is the example of its class.

Run ``python docs/_ext/gallery_pages.py FOLDER [NAME ...]`` to draw the pictures alone.
"""

from __future__ import annotations

import doctest
import inspect
import sys
import time
from pathlib import Path
from typing import Any

from pages import before_reading, write_all

from abstain import plots

#: Pictures of the gallery, in dots per inch.
DPI = 110
ABOUT = """\
Each is a display: made from results or columns, drawn by ``.plot(ax=None)``, kept as ``.ax_`` and ``.figure_``,
written by ``.save(path)``. The code under a picture is all that draws it. On the command line:
``--plot NAME=FILE``, and ``abstain plots`` lists them. *Drawn from* ``evaluation`` means that the class has
``from_evaluation``."""


def example(plot: plots.Plot) -> str:
    """Return the code of the example of a display's docstring, without prompts."""
    text = inspect.getdoc(plot.display) or ""
    parsed = doctest.DocTestParser().get_examples(text[text.index("Examples\n----") :])
    return "".join(each.source for each in parsed)


def draw(plot: plots.Plot, path: Path) -> None:
    """Run the example and write the last display that it made."""
    names: dict[str, Any] = {}
    exec(compile(example(plot), f"example of {plot.display.__name__}", "exec"), names)
    names["display"].save(path, dpi=DPI)


def home(plot: plots.Plot) -> str:
    """Return the public name of the class."""
    name = plot.display.__name__
    return f"abstain.{'plots.' if name in plots.__all__ else ''}{name}"


def page(names: list[str]) -> str:
    """Return the page of the gallery."""
    parts = ["Figures", "=======", ""]
    parts += [f"{len(names)} figures. {ABOUT}", ""]
    family = ""
    for name in names:
        plot = plots.get(name)
        if plot.family != family:
            family = plot.family
            parts += [plots.FAMILIES[family], "-" * len(plots.FAMILIES[family]), ""]
        code = "\n".join(f"   {line}".rstrip() for line in example(plot).splitlines())
        parts += [f".. _plot-{name}:", "", plot.title, "~" * len(plot.title), "", plot.shows, ""]
        parts += [f".. image:: {name}.png", f"   :alt: {plot.shows}", ""]
        parts += [".. code-block:: python", "", code, ""]
        taken = ", ".join(f"``{each}``" for each in plot.takes)
        parts += [f"``{name}`` · :class:`{home(plot)}` · *Source*: {plot.source} · *Needs*: {plot.needs} · "
                  f"*Drawn from*: {taken or 'its columns'}", ""]  # fmt: skip
    return "\n".join([*parts, ".. toctree::", "   :hidden:", "", "   displays", ""])


def displays(names: list[str]) -> str:
    """Return the page of the classes."""
    parts = ["Displays", "========", "", "The classes behind :doc:`the figures <index>`.", ""]
    for name in names:
        if home(plots.get(name)).startswith("abstain.plots."):
            parts += [f".. autoclass:: {home(plots.get(name))}", "   :members:", ""]
    return "\n".join(parts)


def generate(folder: Path) -> None:
    """Write the page and all pictures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    names = plots.names()
    for name in names:
        draw(plots.get(name), folder / f"{name}.png")
    kept = {f"{name}.png" for name in names}
    kept.add("reports")  # of tutorial_pages
    write_all(folder, {"index.rst": page(names), "displays.rst": displays(names)}, kept=kept)


setup = before_reading(gallery=generate)


if __name__ == "__main__":
    where = Path(sys.argv[1])
    where.mkdir(parents=True, exist_ok=True)
    for each in sys.argv[2:] or plots.names():
        start = time.perf_counter()
        try:
            draw(plots.get(each), where / f"{each}.png")
        except Exception as error:
            print(f"{each}: {type(error).__name__}: {error}", file=sys.stderr)
            raise
        print(f"{each}: {time.perf_counter() - start:.1f} s")
