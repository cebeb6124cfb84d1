"""Write the glossary: the words that ``abstain explain`` and every report define, and the metrics, each said once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from registry_pages import _write_all, escaped, heading

from abstain import metrics
from abstain._result import WORDS, summary

ABOUT = """\
What the words of a table, a note or a report mean; ``abstain explain WORD`` says the same in a terminal.
:doc:`/conventions` has the formulas."""


def entries() -> dict[str, str]:
    """Return all terms with their meaning, in the order of the alphabet."""
    found = {names.replace("|", ", "): escaped(text) for names, text in WORDS.items()}
    for name in metrics.names("blocks", "probabilities"):
        metric = metrics.get(name)
        term = f"{metric.label} (``{name}``)"
        found[term] = f"{escaped(summary(metric.function))} :doc:`/metrics/generated/{name}`."
    return dict(sorted(found.items(), key=lambda each: each[0].lower()))


def page() -> str:
    """Return the page."""
    parts = [heading("Glossary", "="), ABOUT, ""]
    for term, meaning in entries().items():
        parts += [term, f"   {meaning}", ""]
    return "\n".join(parts)


def setup(app: Any) -> dict[str, Any]:
    """Register the hook."""

    def write(app: Any) -> None:
        folder = Path(app.srcdir) / "glossary" / "generated"
        folder.mkdir(parents=True, exist_ok=True)
        _write_all(folder, {"index.rst": page()})

    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}
