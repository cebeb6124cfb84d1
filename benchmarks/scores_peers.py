"""Agreement with pytorch-ood on the definitions that both share.

    pip install pytorch-ood && python benchmarks/scores_peers.py

For every score: the largest difference between ours and minus theirs, as a share of the standard deviation of the
score, and the rank correlation. Different definitions show up as such; the documentation lists them.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from pytorch_ood import detector as peer
from scipy.stats import spearmanr

from abstain import Outputs, scores


def outputs_of(n: int, seed: int, spread: float) -> Outputs:
    """Return outputs of a linear head on features after a ReLU."""
    model = np.random.default_rng(0)
    weight, bias = model.normal(size=(8, 40)) / 3.0, 0.1 * model.normal(size=8)
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 8, n)
    features = np.maximum(spread * rng.normal(size=(n, 40)) + 2.0 * weight[labels], 0.0)
    return Outputs(labels=labels, logits=features @ weight.T + bias, features=features, head=(weight, bias))


def tensor(array: Any) -> Any:
    """Return a tensor of double precision, or of class indices."""
    array = np.array(array)
    return torch.tensor(array if array.dtype.kind == "i" else array.astype(np.float64))


def pairs(train: Outputs, test: Outputs) -> dict[str, tuple[str, Callable[[], Any]]]:
    """Return our spec and their score, by name."""
    h, z, y = tensor(train.features), tensor(train.logits), tensor(train.labels)
    x, logits = tensor(test.features), tensor(test.logits)
    weight, bias = (tensor(part) for part in test.head)
    head = torch.nn.Linear(*weight.T.shape).double()
    with torch.no_grad():
        head.weight.copy_(weight)
        head.bias.copy_(bias)
    maps = x[:, :, None, None]
    single, head32 = (h.float(), y), copy.deepcopy(head).float()  # some of theirs are single precision only

    def linear(maps: Any) -> Any:
        return head(maps.flatten(1))

    return {
        "MaxSoftmax": ("msp", lambda: peer.MaxSoftmax.score(logits)),
        "MaxLogit": ("max_logit", lambda: peer.MaxLogit.score(logits)),
        "EnergyBased": ("energy", lambda: peer.EnergyBased.score(logits)),
        "Entropy": ("neg_entropy", lambda: peer.Entropy.score(logits)),
        "GEN": ("gen", lambda: peer.GEN.score(logits, gamma=0.1)),
        "GEN, their floor": ("gen(floor=1e-7)", lambda: peer.GEN.score(logits, gamma=0.1)),
        "TemperatureScaling": (
            "temp_msp", lambda: peer.TemperatureScaling(None).fit_logits(z, y).predict_logits(logits)
        ),
        "KLMatching": ("klm", lambda: peer.KLMatching(None).fit_logits(z, y).predict_logits(logits)),
        "OpenMax": (
            "openmax(tail=20, alpha=3)",
            lambda: peer.OpenMax(None, tailsize=20, alpha=3).fit_logits(z, y).predict_logits(logits),
        ),
        "Mahalanobis": ("mds", lambda: peer.Mahalanobis(None).fit_features(*single).predict_features(x.float())),
        "RMD": ("rmds", lambda: peer.RMD(None).fit_features(*single).predict_features(x.float())),
        "KNN": (
            "knn(neighbours=10, dtype=float64)", lambda: peer.KNN(None, k=10).fit_features(h, y).predict_features(x)
        ),
        "ViM": ("vim(dim=20)", lambda: peer.ViM(None, 20, weight, bias).fit_features(h, y).predict_features(x)),
        "DICE": (
            "dice(sparsity=0.7)", lambda: peer.DICE(None, weight, bias, p=0.7).fit_features(h, y).predict_features(x)
        ),
        "SHE": ("she", lambda: peer.SHE(None, head).fit_features(h, y).predict_features(x)),
        "NNGuide": (
            "nnguide(dtype=float64)",
            lambda: peer.NNGuide(None, head32, k=10).fit_features(*single).predict_features(x.float())
        ),
        "fDBD": ("fdbd", lambda: peer.fDBD(None, head32).fit_features(h.float()).predict_features(x.float())),
        "ASH-S": (
            "ash_s(percentile=0.65)",
            lambda: peer.ASH(None, linear, variant="ash-s", percentile=0.65).predict_feature_maps(maps),
        ),
        "ASH-B": (
            "ash_b(percentile=0.65)",
            lambda: peer.ASH(None, linear, variant="ash-b", percentile=0.65).predict_feature_maps(maps),
        ),
        "ASH-P": (
            "ash_p(percentile=0.65)",
            lambda: peer.ASH(None, linear, variant="ash-p", percentile=0.65).predict_feature_maps(maps),
        ),
        "SCALE": (
            "scale(percentile=0.65)", lambda: peer.SCALE(None, linear, percentile=0.65).predict_feature_maps(maps)
        ),
        "GradNorm": ("gradnorm", lambda: gradnorm(linear, x)),
    }  # fmt: skip


def gradnorm(linear: Any, x: Any) -> Any:
    """Return their GradNorm of the last layer."""

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = torch.nn.Linear(x.shape[1], 8).double()

        def forward(self, x: Any) -> Any:
            return self.fc(x)

    model = Model()
    weight, bias = outputs_of(2, 0, 1.0).head
    with torch.no_grad():
        model.fc.weight.copy_(torch.tensor(weight))
        model.fc.bias.copy_(torch.tensor(bias))
    return peer.GradNorm(model, param_filter=lambda name: name == "fc.weight").predict(x)


def main() -> None:
    """Print one line per shared score."""
    warnings.simplefilter("ignore")
    train, test = outputs_of(2000, 1, 1.0), outputs_of(300, 2, 1.5)
    print(f"{'pytorch-ood':22s} {'abstain':36s} {'difference/sd':>14s} {'rank corr.':>11s}")
    for name, (spec, theirs) in pairs(train, test).items():
        ours = scores.compute(spec, test, fit=train)
        try:
            other = -np.asarray(theirs().detach().double())
        except Exception as error:  # another version of theirs
            print(f"{name:22s} {spec:36s} failed: {type(error).__name__}: {str(error)[:60]}")
            continue
        gap = np.abs(ours - other).max() / ours.std()
        print(f"{name:22s} {spec:36s} {gap:14.1e} {spearmanr(ours, other)[0]:11.6f}")


if __name__ == "__main__":
    main()
