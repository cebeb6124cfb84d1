"""The pages whose examples run as tests, by the runner that also runs the tutorials."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
sys.path[:0] = [str(DOCS / "_ext")]
from page_examples import failures_of, fences, output_of  # noqa: E402

__all__ = ["DOCS", "PAGES", "ROOT", "failures_of", "fences", "libraries", "output_of"]
#: Not CONTRIBUTING, whose metric tests/metrics/test_own_metrics.py puts into a copy of the package; nor the tutorials
#: and the gallery of reports, which run when the documentation is built: `make docs`. Pages that need another tool run
#: in its environment: tests/integrations.
PAGES = [
    ROOT / "README.md",
    *sorted(
        page
        for page in DOCS.rglob("*.md")
        if not {"_build", "generated", "tutorials", "gallery"} & set(page.relative_to(DOCS).parts)
        and page.stem not in {"mlflow", "language-models", "training-logs"}
    ),
]


def libraries(page):
    """Return the optional libraries that the Python blocks of a page import."""
    source = "\n".join(block for kind, block, _ in fences(page.read_text(encoding="utf-8")) if kind == "python")
    lines = re.findall(r"\b(?:import|from) (.*)", source)
    return {name for line in lines for name in re.findall(r"\b(torch|sklearn|pandas|polars|matplotlib)\b", line)}
