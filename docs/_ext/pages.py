"""Write generated pages: their marks, their folder, and the hook that makes them before Sphinx reads the sources."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

__all__ = ["before_reading", "escaped", "heading", "list_table", "write_all"]


def heading(text: str, mark: str) -> str:
    """Return an underlined heading."""
    return f"{text}\n{mark * max(len(text), 3)}\n"


def list_table(header: Iterable[str] | None, rows: Iterable[Iterable[str]], widths: str, css: str = "") -> str:
    """Return a reStructuredText list-table."""
    lines = [".. list-table::", f"   :widths: {widths}"]
    if header is not None:
        lines.append("   :header-rows: 1")
        rows = [header, *rows]
    if css:
        lines.append(f"   :class: {css}")
    lines.append("")
    for row in rows:
        for i, cell in enumerate(row):
            lines.append(f"   {'* -' if i == 0 else '  -'} {cell}")
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """Return plain text with the marks of reStructuredText escaped, but for what stands in double backquotes."""
    parts = text.split("``")
    for i in range(0, len(parts), 2):
        parts[i] = "".join(f"\\{sign}" if sign in "\\*|_`" else sign for sign in parts[i])
    return "``".join(parts)


def write_all(folder: Path, pages: dict[str, str], kept: Iterable[str] = ()) -> None:
    """Write pages into a folder, only those that change, and remove what else is there."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        if old.name not in pages and old.name not in kept:
            old.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def before_reading(**folders: Callable[[Path], None]) -> Callable[[Any], dict[str, Any]]:
    """Return the ``setup`` of an extension: each function fills ``<its name>/generated`` when the builder starts."""

    def fill(app: Any) -> None:
        for name, generate in folders.items():
            generate(Path(app.srcdir) / name / "generated")

    def setup(app: Any) -> dict[str, Any]:
        app.connect("builder-inited", fill)
        return {"parallel_read_safe": True}

    return setup
