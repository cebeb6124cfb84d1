"""Numbers of other packages next to ours. What is not installed is left out.

    pip install "mapie==1.6.0" "zugzwang==1.1.0" "seapig==0.3.0" "incerto==0.1.1" "uq-metrics==0.1.0" \
        "osr-metrics==0.5.0" "torch-uncertainty==0.13.0" "lm-polygraph==0.7.0" netcal "pytorch-ood==0.4.0"
    python benchmarks/peers.py tied [--fd-shifts CHECKOUT] [--write]
    python benchmarks/peers.py numbers [--fd-shifts CHECKOUT]

``tied``: one data set in two orders of its rows, through the area under the risk-coverage curve of each. Ten rows: five
at a confidence of 0.9, one of them wrong; five at 0.5, three of them wrong. A threshold can fall between the two values
only, so there are two operating points, and the order of rows says nothing. Only modules that hold the metric are
imported where a package needs much besides. ``--write`` puts the table into README.md.

``numbers``: the claims of docs/why-does-my-number-differ.md. fd-shifts is not on the package index: give a checkout of
its repository (the page speaks of October 2024). Status 1 if a pair that should agree differs by more than 1e-9, or one
that should differ agrees.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import re
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from importlib.machinery import ModuleSpec
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy as np

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


def without_package(folder: str, *names: str) -> None:
    """Stand in for packages whose modules are imported without what these import besides."""
    for name in names:
        module = types.ModuleType(name)
        module.__path__ = ["/".join([folder, *name.split(".")])]
        sys.modules[name] = module


def lm_polygraph() -> Area:
    found = importlib.util.find_spec("lm_polygraph")
    if found is None or not found.submodule_search_locations:
        raise ImportError("lm_polygraph")
    folder = str(Path(found.submodule_search_locations[0]).parent)
    without_package(folder, "lm_polygraph", "lm_polygraph.ue_metrics")
    rcc = importlib.import_module("lm_polygraph.ue_metrics.risk_cov_curve").RiskCoverageCurveAUC()
    return lambda loss, sure: float(rcc(list(-sure), list(1.0 - loss)))


def osr_metrics() -> Area:
    return lambda loss, sure: importlib.import_module("osr_metrics.selective").aurc(-sure, loss)


def rows(checkout: str | None) -> list[tuple[str, float, float]]:
    """Return what each package says of both orders; the function of each is in the README's table."""
    found: list[tuple[str, float, float]] = []
    loaders: list[Callable[[], Area]] = [
        mapie, zugzwang, seapig, incerto, uq_metrics, torch_uncertainty, lm_polygraph, osr_metrics,
    ]  # fmt: skip
    packages = {"MAPIE" if each is mapie else each.__name__.replace("_", "-"): each for each in loaders}
    if checkout:
        packages["fd-shifts"] = lambda: fd_shifts_area(checkout)
    packages["abstain"] = lambda: abstain.aurc
    for name, load in packages.items():
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


def fd_shifts_metrics(folder: str) -> Any:
    """Return the metrics of a checkout of fd-shifts, without what its package imports."""
    without_package(folder, "fd_shifts", "fd_shifts.analysis")
    logger = MagicMock(catch=lambda *_, **__: lambda function: function)
    sys.modules["fd_shifts.analysis"].logger = logger  # type: ignore[attr-defined]
    return importlib.import_module("fd_shifts.analysis.metrics")


def fd_shifts_area(folder: str) -> Area:
    """Prints areas times 1000, which is taken back here."""
    theirs = fd_shifts_metrics(folder)
    aurc = theirs.get_metric_function("aurc")
    return lambda loss, sure: float(aurc(theirs.StatsCache(sure, 1 - loss, 20))) / 1000


#: What a comparison gives: what it is, the number of the other package, ours, and whether they should agree.
Pair = tuple[str, float, float, bool]


ROWS = {
    "T1": ([0, 0, 1, 0, 0, 0, 1, 0, 1, 1], np.linspace(0.95, 0.5, 10)),
    "T2": ([1, 0, 0, 0, 0, 0, 1, 0, 1, 1], np.linspace(0.95, 0.5, 10)),
    "A": ([0, 0, 0, 0, 1, 0, 0, 1, 1, 1], np.repeat([0.9, 0.5], 5)),
    "B": ([1, 0, 0, 0, 0, 1, 1, 1, 0, 0], np.repeat([0.9, 0.5], 5)),
}


RNG = np.random.default_rng(0)


SURE = RNG.random(300)


WRONG = (RNG.random(300) > SURE).astype(float)


def fd_shifts(folder: str) -> Iterator[Pair]:
    """Areas / 1000, the logarithmic score of the confidence, and ECE where all is right."""
    theirs = fd_shifts_metrics(folder)

    def value(name: str, loss: Any, confidence: Any) -> float:
        return float(theirs.get_metric_function(name)(theirs.StatsCache(np.array(confidence), 1 - np.array(loss), 20)))

    for name, (loss, confidence) in ROWS.items():
        ours = abstain.aurc(loss, confidence, estimator="trapezoid")
        yield f"AURC {name}", value("aurc", loss, confidence) / 1000, ours, True
        yield f"AUGRC {name}", value("augrc", loss, confidence) / 1000, abstain.augrc(loss, confidence), True
        ours = abstain.e_aurc(loss, confidence, estimator="trapezoid")
        yield f"e-AURC {name}", value("e-aurc", loss, confidence) / 1000, ours, True
        yield f"AUROC of failures {name}", value("failauc", loss, confidence), abstain.auroc_f(loss, confidence), True
    ours = abstain.nll_confidence([1.0], [1.0], clip=1e-7)
    yield "fail-NLL of a sure failure, clip=1e-7", value("fail-NLL", [1], [1.0]), ours, True
    yield "fail-NLL of a sure failure", value("fail-NLL", [1], [1.0]), abstain.nll_confidence([1.0], [1.0]), False
    yield "ECE, all right and sure", value("ece", [0, 0], [1.0, 1.0]), abstain.ece([0, 0], [1.0, 1.0]), False


def pytorch_ood(_: str) -> Iterator[Pair]:
    """Bins of 100 in the order of confidence."""
    sys.meta_path.insert(0, _Absent("torchvision"))
    import torch
    from pytorch_ood.metrics import calibration_error

    sure, right = torch.tensor(SURE), torch.tensor(1.0 - WRONG)
    ours = abstain.ece(WRONG, SURE, bins=3, binning="equal_mass")
    yield 'calibration error, p="1"', calibration_error(sure, right, p="1"), ours, True
    yield "calibration error, by default", calibration_error(sure, right), ours, False


def netcal(_: str) -> Iterator[Pair]:
    """Ten bins, closed on the left."""
    from netcal.metrics import ECE, MCE

    for what, sure, same in (("off the edges", SURE, True), ("in steps of 0.1", np.round(SURE, 1), False)):
        right = (1 - WRONG).astype(int)
        yield f"ECE, {what}", float(ECE(10).measure(sure, right)), abstain.ece(WRONG, sure, bins=10), same
        yield f"MCE, {what}", float(MCE(10).measure(sure, right)), abstain.mce(WRONG, sure, bins=10), same


class _Absent:
    """Stands in for a package that is imported and not needed."""

    def __init__(self, package: str) -> None:
        self._package = package

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name.split(".")[0] == self._package else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> Any:
        return MagicMock(__path__=[], __spec__=spec)

    def exec_module(self, module: Any) -> None:
        return


def tied(checkout: str, write: bool) -> None:
    """Print the table of ten rows, and write it where it is shown."""
    lines = ["| AURC of the same ten rows | right ones first | wrong ones first |", "|---|---|---|"]
    for name, first, last in rows(checkout):
        shown = [f"{first:.3f}", f"{last:.3f}"]
        if abs(first - last) > 1e-9:
            shown = [f"**{each}**" for each in shown]
        lines.append(f"| {name} | {shown[0]} | {shown[1]} |")
    print("\n".join(lines))
    if write:
        readme = Path(__file__).resolve().parents[1] / "README.md"
        table = "\n".join(lines)
        text = readme.read_text(encoding="utf-8")
        text, places = re.subn(f"{START}.*?{END}", f"{START}\n{table}\n{END}", text, flags=re.DOTALL)
        if places != 1:
            raise SystemExit(f"README.md has no place for the table: {START} ... {END}")
        readme.write_text(text, encoding="utf-8")


def numbers(checkout: str) -> int:
    """Print what each package says, and count what is not as the page says."""
    packages: list[Callable[[str], Iterator[Pair]]] = [fd_shifts, pytorch_ood, netcal]
    surprises = 0
    for package in packages:
        print(f"\n{package.__name__.replace('_', '-')}: {package.__doc__}")
        try:
            for what, theirs, ours, same in package(checkout):
                agrees = bool(np.isclose(theirs, ours, rtol=0.0, atol=1e-9))
                surprises += agrees != same
                said = ("agree" if agrees else "differ") + (
                    "" if agrees == same else ", which is NOT what the page says"
                )
                print(f"  {what:<40} {theirs:12.9f} {ours:12.9f}  {said}")
        except ImportError as missing:
            print(f"  not there: {missing}")
    return int(surprises > 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["tied", "numbers"])
    parser.add_argument("--fd-shifts", metavar="CHECKOUT", default="")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.part == "numbers":
        return numbers(given.fd_shifts)
    tied(given.fd_shifts, given.write)
    return 0


if __name__ == "__main__":
    sys.exit(main())
