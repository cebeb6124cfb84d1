"""Numbers of other packages next to ours: the claims of docs/why-does-my-number-differ.md.

    pip install netcal "pytorch-ood==0.4.0"
    python benchmarks/peers.py [--fd-shifts CHECKOUT]

What is not installed is left out. fd-shifts is not on the package index: give a checkout of its repository (the page
speaks of October 2024). Status 1 if a pair that should agree differs by more than 1e-9, or one that should differ
agrees. What each package computes, metric by metric: conformance/peers.py.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from importlib.machinery import ModuleSpec
from typing import Any
from unittest.mock import MagicMock

import numpy as np

import abstain

vars(np).setdefault("trapz", np.trapezoid)  # its name until NumPy 2, in two of them


def without_package(folder: str, *names: str) -> None:
    """Stand in for packages whose modules are imported without what these import besides."""
    for name in names:
        module = types.ModuleType(name)
        module.__path__ = ["/".join([folder, *name.split(".")])]
        sys.modules[name] = module


def fd_shifts_metrics(folder: str) -> Any:
    """Return the metrics of a checkout of fd-shifts, without what its package imports."""
    without_package(folder, "fd_shifts", "fd_shifts.analysis")
    logger = MagicMock(catch=lambda *_, **__: lambda function: function)
    sys.modules["fd_shifts.analysis"].logger = logger  # type: ignore[attr-defined]
    return importlib.import_module("fd_shifts.analysis.metrics")


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
    parser.add_argument("--fd-shifts", metavar="CHECKOUT", default="")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    return numbers(given.fd_shifts)


if __name__ == "__main__":
    sys.exit(main())
