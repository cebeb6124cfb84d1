"""Write the glossary: the words that ``abstain explain`` and every report define, and the metrics, each said once."""

from __future__ import annotations

from pathlib import Path

from pages import before_reading, escaped, heading, write_all

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


def generate(folder: Path) -> None:
    """Write the page into a folder."""
    write_all(folder, {"index.rst": page()})


setup = before_reading(glossary=generate)
