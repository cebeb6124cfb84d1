"""What the three studies share: where data lie, how results are kept, and how a page is made from them."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from abstain._files import write_text

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
PAGES = HERE.parents[1] / "docs" / "real"


def outputs_folder() -> Path:
    """Return the folder outputs/ of the data that ABSTAIN_DATA names."""
    folder = Path(os.environ.get("ABSTAIN_DATA", "")) / "outputs"
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder}: there is no such folder; give --data FOLDER, which holds outputs/")
    return folder


def save(name: str, results: dict[str, Any]) -> None:
    """Keep the results of a study, rounded to six digits: small, and the same on other machines."""
    RESULTS.mkdir(exist_ok=True)
    write_text(RESULTS / f"{name}.json", json.dumps(_rounded(results), indent=1, ensure_ascii=False) + "\n")


def load(name: str) -> dict[str, Any]:
    """Return the results that were kept."""
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text("utf-8"))
    return found


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _rounded(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(each) for each in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        return None if math.isnan(value) else float(f"{value:.6g}")
    return value


def percent(found: Sequence[float], digits: int = 1) -> str:
    """Return (estimate, low, high) in per cent: ``12.3 % [11.0, 13.6]``."""
    value, low, high = (100.0 * each for each in found)
    return f"{value:.{digits}f} % [{low:.{digits}f}, {high:.{digits}f}]"


def plain(found: Sequence[float], digits: int = 4) -> str:
    """Return (estimate, low, high) as it is."""
    value, low, high = found
    return f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table."""
    return [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *(f"| {' | '.join(row)} |" for row in rows)]


def page(name: str, title: str, sentences: Sequence[str], parts: Iterable[Sequence[str]]) -> str:
    """Return the page of a study: what was found; then tables, figures, and how to repeat it."""
    command = f"python -m experiments.real {name} --data FOLDER"
    lines = [f"# {title}", "", f"All numbers are printed by `{command}`.", "", "## What was found", ""]
    for number, sentence in enumerate(sentences, start=1):
        lines += [f"{number}. {sentence}"]
    for part in parts:
        lines += ["", *part]
    lines += ["", "## Repeat it", "", "```sh", command, "```", ""]
    lines += [
        f"`FOLDER/outputs/` holds the files named above; results are kept in "
        f"`experiments/real/results/{name}.json`, and",
        "`--page` writes this page and its figures from them.",
    ]
    return "\n".join(lines) + "\n"


def image(file: str, text: str) -> list[str]:
    """Return an image of the page."""
    return [f"![{text}]({file})"]
