"""The ``abstain`` command itself, to which every file of commands adds its own, and small words for all of them."""

from __future__ import annotations

import click

from abstain.cli._plugin import Group


def example_lines(*lines: str) -> str:
    """Text below the options; the control character keeps click from joining the lines."""
    return "\b\n" + "\n".join(("Example:  " if i == 0 else "          ") + line for i, line in enumerate(lines))


_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(
    cls=Group,
    context_settings=_SETTINGS,
    epilog=example_lines("abstain demo", "abstain evaluate predictions.csv --report report.html"),
)
@click.version_option(package_name="abstain", message="%(prog)s %(version)s")
def command() -> None:
    """Measure and defend the reject option of a classifier: risk, coverage, abstention."""


def words(text: str | None) -> list[str]:
    """Return the words of a comma-separated option."""
    return [word.strip() for word in (text or "").split(",") if word.strip()]
