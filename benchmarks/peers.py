"""Numbers of other packages next to ours: the claims of docs/why-does-my-number-differ.md and docs/measured/scores.md.

    pip install netcal "pytorch-ood==0.4.0"
    python -m benchmarks.peers [fd_shifts pytorch_ood netcal scores] [--fd-shifts CHECKOUT]

fd-shifts is not on the package index: give a checkout of its repository (the page speaks of October 2024). Status 1 if
a pair that should agree differs by more than 1e-9, or one that should differ agrees. What each package computes, metric
by metric: conformance/peers.py.
"""

import copy
import importlib
import sys
import types
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from typing import Any
from unittest.mock import MagicMock

import numpy as np
from benchmarks.harness import Form, command, say
from scipy.stats import spearmanr

import abstain
from abstain import Outputs

vars(np).setdefault("trapz", np.trapezoid)  # its name until NumPy 2, in two of them
RNG = np.random.default_rng(0)
SURE = RNG.random(300)
WRONG = (RNG.random(300) > SURE).astype(float)
surprises: list[str] = []


def shown(what: str, theirs: Any, ours: Any, same: bool) -> None:
    """Print both numbers, and keep the pair if they do not agree or differ as the page says."""
    agrees = bool(np.isclose(theirs, ours, rtol=0.0, atol=1e-9))
    if agrees != same:
        surprises.append(what)
    said = ("agree" if agrees else "differ") + ("" if agrees == same else ", which is NOT what the page says")
    say(f"  {what:<40} {float(theirs):12.9f} {float(ours):12.9f}  {said}")


def fd_shifts(form: Form, fd_shifts: str = "") -> None:
    """Areas / 1000, the logarithmic score of the confidence, and ECE where all is right."""
    for name in ("fd_shifts", "fd_shifts.analysis"):  # stand in for packages, which import more than their metrics need
        module = types.ModuleType(name)
        module.__path__ = ["/".join([fd_shifts, *name.split(".")])]
        module.logger = MagicMock(catch=lambda *_, **__: lambda function: function)  # type: ignore[attr-defined]
        sys.modules[name] = module
    try:
        theirs: Any = importlib.import_module("fd_shifts.analysis.metrics")
    except ImportError as missing:
        say(f"fd-shifts is not there: {missing}")
        return

    def value(name: str, loss: Any, confidence: Any) -> float:
        return float(theirs.get_metric_function(name)(theirs.StatsCache(np.array(confidence), 1 - np.array(loss), 20)))

    falling, tied = np.linspace(0.95, 0.5, 10), np.repeat([0.9, 0.5], 5)
    for name, loss, confidence in (
        ("T1", [0, 0, 1, 0, 0, 0, 1, 0, 1, 1], falling), ("T2", [1, 0, 0, 0, 0, 0, 1, 0, 1, 1], falling),
        ("A", [0, 0, 0, 0, 1, 0, 0, 1, 1, 1], tied), ("B", [1, 0, 0, 0, 0, 1, 1, 1, 0, 0], tied),
    ):  # fmt: skip
        both = loss, confidence
        shown(f"AURC {name}", value("aurc", *both) / 1000, abstain.aurc(*both, estimator="trapezoid"), True)
        shown(f"AUGRC {name}", value("augrc", *both) / 1000, abstain.augrc(*both), True)
        shown(f"e-AURC {name}", value("e-aurc", *both) / 1000, abstain.e_aurc(*both, estimator="trapezoid"), True)
        shown(f"AUROC of failures {name}", value("failauc", *both), abstain.auroc_f(*both), True)
    theirs_nll, ours = value("fail-NLL", [1], [1.0]), abstain.nll_confidence([1.0], [1.0], clip=1e-7)
    shown("fail-NLL of a sure failure, clip=1e-7", theirs_nll, ours, True)
    shown("fail-NLL of a sure failure", theirs_nll, abstain.nll_confidence([1.0], [1.0]), False)
    shown("ECE, all right and sure", value("ece", [0, 0], [1.0, 1.0]), abstain.ece([0, 0], [1.0, 1.0]), False)


def pytorch_ood(form: Form) -> None:
    """Calibration errors: bins of 100 in the order of confidence."""
    try:
        without_torchvision()
        import torch
        from pytorch_ood.metrics import calibration_error
    except ImportError as missing:
        say(f"pytorch-ood is not there: {missing}")
        return
    sure, right = torch.tensor(SURE), torch.tensor(1.0 - WRONG)
    ours = abstain.ece(WRONG, SURE, bins=3, binning="equal_mass")
    shown('calibration error, p="1"', calibration_error(sure, right, p="1"), ours, True)
    shown("calibration error, by default", calibration_error(sure, right), ours, False)


def netcal(form: Form) -> None:
    """Ten bins, closed on the left."""
    try:
        from netcal.metrics import ECE, MCE
    except ImportError as missing:
        say(f"netcal is not there: {missing}")
        return
    for what, sure, same in (("off the edges", SURE, True), ("in steps of 0.1", np.round(SURE, 1), False)):
        right = (1 - WRONG).astype(int)
        shown(f"ECE, {what}", ECE(10).measure(sure, right), abstain.ece(WRONG, sure, bins=10), same)
        shown(f"MCE, {what}", MCE(10).measure(sure, right), abstain.mce(WRONG, sure, bins=10), same)


class _Absent:
    """Stands in for a package that is imported and not needed."""

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name.split(".")[0] == "torchvision" else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> Any:
        return MagicMock(__path__=[], __spec__=spec)

    def exec_module(self, module: Any) -> None:
        return


def without_torchvision() -> None:
    """Let pytorch-ood be imported without what its data sets need."""
    sys.meta_path.insert(0, _Absent())  # type: ignore[arg-type]


# ---------------------------------------------------------------------- scores


def small_outputs(n: int, seed: int, spread: float) -> Outputs:
    """Return outputs of a linear head on features after a ReLU."""
    model = np.random.default_rng(0)
    weight, bias = model.normal(size=(8, 40)) / 3.0, 0.1 * model.normal(size=8)
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 8, n)
    features = np.maximum(spread * rng.normal(size=(n, 40)) + 2.0 * weight[labels], 0.0)
    return Outputs(labels=labels, logits=features @ weight.T + bias, features=features, head=(weight, bias))


def pairs(train: Outputs, test: Outputs) -> dict[str, tuple[str, Callable[[], Any]]]:
    """Return our spec and their score, by name."""
    import torch
    from pytorch_ood import detector as peer

    def tensor(array: Any) -> Any:
        array = np.array(array)
        return torch.tensor(array if array.dtype.kind == "i" else array.astype(np.float64))

    h, z, y = tensor(train.features), tensor(train.logits), tensor(train.labels)
    x, logits = tensor(test.features), tensor(test.logits)
    weight, bias = (tensor(part) for part in test.head)
    head = torch.nn.Linear(*weight.T.shape).double()
    with torch.no_grad():
        head.weight.copy_(weight)
        head.bias.copy_(bias)
    maps, single = x[:, :, None, None], (h.float(), y)  # some of theirs are single precision only
    head32 = copy.deepcopy(head).float()
    network = torch.nn.Sequential()
    network.fc = head

    def linear(maps: Any) -> Any:
        return head(maps.flatten(1))

    def of_logits(detector: Any) -> Callable[[], Any]:
        return lambda: detector.fit_logits(z, y).predict_logits(logits)

    def of_features(detector: Any) -> Callable[[], Any]:
        return lambda: detector.fit_features(h, y).predict_features(x)

    def in_single(detector: Any, *fit: Any) -> Callable[[], Any]:
        return lambda: detector.fit_features(*(fit or single)).predict_features(x.float())

    found: dict[str, tuple[str, Callable[[], Any]]] = {
        "MaxSoftmax": ("msp", lambda: peer.MaxSoftmax.score(logits)),
        "MaxLogit": ("max_logit", lambda: peer.MaxLogit.score(logits)),
        "EnergyBased": ("energy", lambda: peer.EnergyBased.score(logits)),
        "Entropy": ("neg_entropy", lambda: peer.Entropy.score(logits)),
        "GEN": ("gen", lambda: peer.GEN.score(logits, gamma=0.1)),
        "GEN, their floor": ("gen(floor=1e-7)", lambda: peer.GEN.score(logits, gamma=0.1)),
        "TemperatureScaling": ("temp_msp", of_logits(peer.TemperatureScaling(None))),
        "KLMatching": ("klm", of_logits(peer.KLMatching(None))),
        "OpenMax": ("openmax(tail=20, alpha=3)", of_logits(peer.OpenMax(None, tailsize=20, alpha=3))),
        "Mahalanobis": ("mds", in_single(peer.Mahalanobis(None))),
        "RMD": ("rmds", in_single(peer.RMD(None))),
        "KNN": ("knn(neighbours=10, dtype=float64)", of_features(peer.KNN(None, k=10))),
        "ViM": ("vim(dim=20)", of_features(peer.ViM(None, 20, weight, bias))),
        "DICE": ("dice(sparsity=0.7)", of_features(peer.DICE(None, weight, bias, p=0.7))),
        "SHE": ("she", of_features(peer.SHE(None, head))),
        "NNGuide": ("nnguide(dtype=float64)", in_single(peer.NNGuide(None, head32, k=10))),
        "fDBD": ("fdbd", in_single(peer.fDBD(None, head32), h.float())),
        "GradNorm": ("gradnorm", lambda: peer.GradNorm(network, lambda name: name == "fc.weight").predict(x)),
        "SCALE": (
            "scale(percentile=0.65)", lambda: peer.SCALE(None, linear, percentile=0.65).predict_feature_maps(maps)
        ),
    }  # fmt: skip
    for kind in "sbp":
        ash = peer.ASH(None, linear, variant=f"ash-{kind}", percentile=0.65)
        found[f"ASH-{kind.upper()}"] = (f"ash_{kind}(percentile=0.65)", lambda ash=ash: ash.predict_feature_maps(maps))  # type: ignore[misc]
    return found


def scores(form: Form) -> None:
    """The largest difference between ours and minus theirs over the standard deviation, and the rank correlation."""
    train, test = small_outputs(2000, 1, 1.0), small_outputs(300, 2, 1.5)
    try:
        without_torchvision()
        found = pairs(train, test)
    except ImportError as missing:
        say(f"pytorch-ood is not there: {missing}")
        return
    say(f"{'pytorch-ood':22s} {'abstain':36s} {'difference/sd':>14s} {'rank corr.':>11s}")
    for name, (spec, theirs) in found.items():
        ours = abstain.scores.compute(spec, test, fit=train)
        try:
            other = -np.asarray(theirs().detach().double())
        except Exception as error:  # another version of theirs
            say(f"{name:22s} {spec:36s} failed: {type(error).__name__}: {str(error)[:60]}")
            continue
        gap = np.abs(ours - other).max() / ours.std()
        say(f"{name:22s} {spec:36s} {gap:14.1e} {spearmanr(ours, other)[0]:11.6f}")


if __name__ == "__main__":
    command(__doc__, fd_shifts, pytorch_ood, netcal, scores)
    sys.exit(bool(surprises))
