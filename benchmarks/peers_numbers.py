"""Numbers of other packages beside ours, for the claims of docs/why-does-my-number-differ.md.

    pip install netcal "pytorch-ood==0.4.0"        # both need PyTorch; neither needs its models here
    python benchmarks/peers_numbers.py [CHECKOUT OF fd-shifts]

fd-shifts is not on the package index: give a checkout of its repository (the page speaks of October 2024). Its metrics
and those of pytorch-ood are loaded without what they import besides (faiss, omegaconf, torchvision). What is not there
is left out. The command ends with status 1 if a pair that should agree differs by more than 1e-9, or one that should
differ agrees.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Callable, Iterator
from importlib.machinery import ModuleSpec
from typing import Any
from unittest.mock import MagicMock

import numpy as np

import abstain

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


def fd_shifts() -> Iterator[Pair]:
    """Areas / 1000, the logarithmic score of the confidence, and ECE where all is right."""
    folder = sys.argv[1] if len(sys.argv) > 1 else ""
    for name, path in (("fd_shifts", "fd_shifts"), ("fd_shifts.analysis", "fd_shifts/analysis")):
        module = types.ModuleType(name)
        module.__path__ = [f"{folder}/{path}"]
        sys.modules[name] = module
    sys.modules["fd_shifts.analysis"].logger = MagicMock(catch=lambda *_, **__: lambda function: function)  # type: ignore[attr-defined]
    vars(np).setdefault("trapz", np.trapezoid)  # it has another name since NumPy 2
    theirs = importlib.import_module("fd_shifts.analysis.metrics")

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


def pytorch_ood() -> Iterator[Pair]:
    """Bins of 100 in the order of confidence."""
    sys.meta_path.insert(0, _Absent("torchvision"))
    import torch
    from pytorch_ood.metrics import calibration_error

    sure, right = torch.tensor(SURE), torch.tensor(1.0 - WRONG)
    ours = abstain.ece(WRONG, SURE, bins=3, binning="equal_mass")
    yield 'calibration error, p="1"', calibration_error(sure, right, p="1"), ours, True
    yield "calibration error, by default", calibration_error(sure, right), ours, False


def netcal() -> Iterator[Pair]:
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


def main() -> int:
    """Print what each package says, and count what is not as the page says."""
    packages: list[Callable[[], Iterator[Pair]]] = [fd_shifts, pytorch_ood, netcal]
    surprises = 0
    for package in packages:
        print(f"\n{package.__name__.replace('_', '-')}: {package.__doc__}")
        try:
            for what, theirs, ours, same in package():
                agrees = bool(np.isclose(theirs, ours, rtol=0.0, atol=1e-9))
                surprises += agrees != same
                said = ("agree" if agrees else "differ") + (
                    "" if agrees == same else ", which is NOT what the page says"
                )
                print(f"  {what:<40} {theirs:12.9f} {ours:12.9f}  {said}")
        except ImportError as missing:
            print(f"  not there: {missing}")
    return int(surprises > 0)


if __name__ == "__main__":
    sys.exit(main())
