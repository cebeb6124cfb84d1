r"""One data set in two orders of its rows, through the area under the risk-coverage curve of other packages.

    pip install "mapie==1.6.0" "zugzwang==1.1.0" "seapig==0.3.0" "incerto==0.1.1" "uq-metrics==0.1.0" \
        "osr-metrics==0.5.0" "torch-uncertainty==0.13.0" "lm-polygraph==0.7.0"
    python benchmarks/tied_rows.py [--fd-shifts CHECKOUT] [--write]

Ten rows: five at a confidence of 0.9, one of them wrong; five at 0.5, three of them wrong. A threshold can fall between
the two values only, so there are two operating points, and the order of rows says nothing. Only modules that hold the
metric are imported where a package needs much besides. What is not installed is left out. ``--write`` puts the table
into README.md; the rows that it then holds are those of this run.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import re
import sys
import types
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
import abstain

CONFIDENCE = np.repeat([0.9, 0.5], 5)
RIGHT_FIRST = np.array([0, 0, 0, 0, 1, 0, 0, 1, 1, 1])
WRONG_FIRST = np.array([1, 0, 0, 0, 0, 1, 1, 1, 0, 0])
vars(np).setdefault("trapz", np.trapezoid)  # its name until NumPy 2, in two of them
START, END = "<!-- tied rows: start -->", "<!-- tied rows: end -->"
#: What a package's function gives for losses and confidences.
Area = Callable[[Any, Any], float]


def module(package: str, path: str) -> Any:
    """Import one file of an installed package, without the package."""
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise ImportError(package)
    spec = importlib.util.spec_from_file_location(
        f"{package}_leaf", Path(found.submodule_search_locations[0]) / f"{path}.py"
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{package}/{path}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def mapie() -> Area:
    return lambda loss, sure: 1.0 - importlib.import_module("mapie.metrics.uncertainty").auarc(1 - loss, sure)


def zugzwang() -> Area:
    return lambda loss, sure: importlib.import_module("zugzwang.core.curves").aurc(sure, loss)


def seapig() -> Area:
    import torch

    curve = module("seapig", "risk").risk_coverage

    def area(loss: Any, sure: Any) -> float:
        found = curve(torch.tensor(-sure), torch.tensor(loss, dtype=torch.float64), risk="selective")
        return float(found.auc_empirical)

    return area


def incerto() -> Area:
    """Takes rows that the caller has sorted; a stable sort is the usual one."""
    import torch

    aurc = module("incerto", "sp/metrics").aurc

    def area(loss: Any, sure: Any) -> float:
        order = np.argsort(-sure, kind="stable")
        return float(aurc(torch.tensor(sure[order]), torch.tensor(loss[order], dtype=torch.float64)))

    return area


def uq_metrics() -> Area:
    return lambda loss, sure: importlib.import_module("uq_metrics.metrics").aurc(1 - loss, sure)


def torch_uncertainty() -> Area:
    import torch

    aurc = module("torch_uncertainty", "metrics/classification/risk_coverage").AURC

    def area(loss: Any, sure: Any) -> float:
        metric = aurc()
        metric.update(torch.tensor(np.column_stack([sure, 1.0 - sure])), torch.tensor(loss))
        return float(metric.compute())

    return area


def lm_polygraph() -> Area:
    folder = importlib.util.find_spec("lm_polygraph")
    if folder is None or not folder.submodule_search_locations:
        raise ImportError("lm_polygraph")
    for name in ("lm_polygraph", "lm_polygraph.ue_metrics"):
        module = types.ModuleType(name)
        module.__path__ = [str(Path(folder.submodule_search_locations[0], *name.split(".")[1:]))]
        sys.modules[name] = module
    rcc = importlib.import_module("lm_polygraph.ue_metrics.risk_cov_curve").RiskCoverageCurveAUC()
    return lambda loss, sure: float(rcc(list(-sure), list(1.0 - loss)))


def osr_metrics() -> Area:
    return lambda loss, sure: importlib.import_module("osr_metrics.selective").aurc(-sure, loss)


def fd_shifts(folder: str) -> Area:
    """Prints areas times 1000, which is taken back here."""
    for name, path in (("fd_shifts", "fd_shifts"), ("fd_shifts.analysis", "fd_shifts/analysis")):
        module = types.ModuleType(name)
        module.__path__ = [f"{folder}/{path}"]
        sys.modules[name] = module
    logger = MagicMock(catch=lambda *_, **__: lambda function: function)
    sys.modules["fd_shifts.analysis"].logger = logger  # type: ignore[attr-defined]
    theirs = importlib.import_module("fd_shifts.analysis.metrics")
    aurc = theirs.get_metric_function("aurc")
    return lambda loss, sure: float(aurc(theirs.StatsCache(sure, 1 - loss, 20))) / 1000


def rows(checkout: str | None) -> list[tuple[str, float, float]]:
    """Return what each package says of both orders; the function of each is in the README's table."""
    found: list[tuple[str, float, float]] = []
    packages: list[tuple[str, Callable[[], Area]]] = [
        ("MAPIE", mapie),
        ("zugzwang", zugzwang),
        ("seapig", seapig),
        ("incerto", incerto),
        ("uq-metrics", uq_metrics),
        ("torch-uncertainty", torch_uncertainty),
        ("lm-polygraph", lm_polygraph),
        ("osr-metrics", osr_metrics),
    ]
    if checkout:
        packages.append(("fd-shifts", lambda: fd_shifts(checkout)))
    packages.append(("abstain", lambda: abstain.aurc))
    for name, load in packages:
        try:
            area = load()
            number = (float(area(RIGHT_FIRST.copy(), CONFIDENCE)), float(area(WRONG_FIRST.copy(), CONFIDENCE)))
        except ImportError as missing:
            print(f"{name}: left out, {missing}", file=sys.stderr)
            continue
        try:
            label = name if name == "abstain" else f"{name} {version(name)}"
        except PackageNotFoundError:
            label = f"{name} (Git)"
        found.append((label, *number))
    return found


def main() -> None:
    """Print the table, and write it where it is shown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fd-shifts", metavar="CHECKOUT")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    lines = ["| AURC of the same ten rows | right ones first | wrong ones first |", "|---|---|---|"]
    for name, first, last in rows(given.fd_shifts):
        shown = [f"{first:.3f}", f"{last:.3f}"]
        if abs(first - last) > 1e-9:
            shown = [f"**{each}**" for each in shown]
        lines.append(f"| {name} | {shown[0]} | {shown[1]} |")
    print("\n".join(lines))
    if given.write:
        readme = Path(__file__).resolve().parents[1] / "README.md"
        table = "\n".join(lines)
        text = readme.read_text(encoding="utf-8")
        text, places = re.subn(f"{START}.*?{END}", f"{START}\n{table}\n{END}", text, flags=re.DOTALL)
        if places != 1:
            raise SystemExit(f"README.md has no place for the table: {START} ... {END}")
        readme.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
