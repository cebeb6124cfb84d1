"""Cost per sample of every confidence score, next to what a careful implementation was measured to need; peers.

    OMP_NUM_THREADS=1 python benchmarks/scores_speed.py            # n = 50,000, d = 512, K = 100
    python benchmarks/scores_speed.py --bank                       # peak memory of a kNN bank of 1.28 million x 768
    python benchmarks/scores_speed.py --peers                      # definitions of pytorch-ood, which it needs

The budget is twice the reference cost, measured on two shared cores in single precision; here everything but the kNN
products is float64. KLM and GradNorm also run as a loop over the samples, the way they are usually written.
For every score of pytorch-ood, ``--peers`` prints the largest difference between ours and minus theirs, as a share of
the standard deviation of the score, and the rank correlation. Different definitions show up as such.
"""

from __future__ import annotations

import argparse
import copy
import resource
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from abstain import Outputs, scores

#: Microseconds per sample of the reference at n = 50,000, d = 512, K = 100; None: it lists none.
REFERENCE: dict[str, float | None] = {
    **dict.fromkeys(["msp", "neg_log_error", "neg_entropy", "neg_gini", "max_logit", "energy"], 2.0),
    "gen": 10.0, "gradnorm": 1.0, "react": 7.0, "scale": 7.0, "ash_p": 7.0, "ash_b": 7.0, "ash_s": 7.0, "dice": 7.0,
    "klm": 30.0, "openmax": 20.0, "mds": 26.0, "knn": 1400.0, "nnguide(fraction=0.01)": 14.0,
}  # fmt: skip
OTHERS = [
    "softmax_margin", "logit_margin", "max_logit_pnorm", "temp_msp", "rmds", "vim", "residual", "she", "fdbd",
    "sirc_msp_l1", "sirc_msp_res", "sirc_neg_entropy_l1", "sirc_neg_entropy_res",
]  # fmt: skip


def outputs_of(n: int, d: int, k: int, seed: int) -> Outputs:
    """Return random outputs of a linear head on features after a ReLU."""
    model = np.random.default_rng(0)
    weight, bias = model.normal(size=(k, d)) / np.sqrt(d), model.normal(size=k)
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, k, n)
    features = np.maximum(rng.normal(size=(n, d)) + 2.0 * weight[labels], 0.0)
    return Outputs(labels=labels, logits=features @ weight.T + bias, features=features, head=(weight, bias))


def seconds(job: Callable[[], Any], repeats: int) -> float:
    """Return the least processor time of several runs (with OMP_NUM_THREADS=1 that of one core)."""
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        job()
        best = min(best, time.process_time() - start)
    return float(best)


def klm_loop(p: Any, templates: Any) -> Any:
    """One sample and class at a time, with scipy's relative entropy, as published code does."""
    from scipy.stats import entropy

    return np.array([-min(entropy(row, template) for template in templates) for row in p])


def gradnorm_loop(features: Any, weight: Any, bias: Any) -> Any:
    """One backward pass per sample."""
    import torch

    layer = torch.nn.Linear(weight.shape[1], weight.shape[0]).double()
    with torch.no_grad():
        layer.weight.copy_(torch.tensor(weight))
        layer.bias.copy_(torch.tensor(bias))
    norms = []
    for row in torch.tensor(features):
        layer.zero_grad()
        torch.nn.functional.log_softmax(layer(row), dim=0).sum().neg().backward()
        norms.append(float(layer.weight.grad.abs().sum()))  # type: ignore[union-attr]
    return np.array(norms)


def table(n: int, d: int, k: int, rows: int) -> None:
    """Print cost per sample and fit time of every score."""
    train, validation, test = outputs_of(n, d, k, 1), outputs_of(2000, d, k, 2), outputs_of(rows, d, k, 3)
    print(f"n = {n}, d = {d}, K = {k}, {rows} rows scored\n")
    print(f"{'score':26s} {'us/sample':>10s} {'reference':>10s} {'of budget':>10s} {'fit, s':>8s}")
    for spec in [*REFERENCE, *OTHERS]:
        entry = scores.parse(spec)
        data = validation if entry.fit_split == "validation" else train
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = entry.fit(data)
        fit = time.process_time() - start
        cost = 1e6 * seconds(lambda fitted=fitted: fitted.score(test), 2 if spec == "knn" else 7) / rows
        reference = REFERENCE.get(spec)
        budget = f"{reference:10.1f} {cost / (2 * reference):10.2f}" if reference else f"{'':10s} {'':10s}"
        print(f"{spec:26s} {cost:10.2f} {budget} {fit if fitted.fingerprint else 0.0:8.2f}", flush=True)
    loops(validation, test, k)


def loops(validation: Outputs, test: Outputs, k: int) -> None:
    """Print how much faster the closed forms are than loops over samples."""
    some = test.select(np.arange(50))
    many = test.n
    klm = scores.get("klm").fit(validation)
    p = np.exp(some.log_probabilities())
    templates = np.exp(klm.arrays["log_templates"])
    np.testing.assert_allclose(klm.score(some), klm_loop(p, templates), rtol=1e-8)
    ratio = seconds(lambda: klm_loop(p, templates), 2) / some.n / (seconds(lambda: klm.score(test), 5) / many)
    print(f"\nKLM: {ratio:,.0f} times faster than a loop over samples and classes")
    weight, bias = some.head
    gradnorm = scores.get("gradnorm").fit()
    np.testing.assert_allclose(gradnorm.score(some), gradnorm_loop(some.features, weight, bias), rtol=1e-10)
    loop = seconds(lambda: gradnorm_loop(some.features, weight, bias), 3) / some.n
    ratio = loop / (seconds(lambda: gradnorm.score(test), 5) / many)
    print(f"GradNorm: {ratio:,.0f} times faster than a loop of backward passes")


def bank(n: int, d: int) -> None:
    """Print the peak memory of fitting and scoring a large kNN bank, beyond the features themselves."""
    rng = np.random.default_rng(0)
    features = np.empty((n, d), np.float32)
    for start in range(0, n, 1 << 16):
        features[start : start + (1 << 16)] = rng.random((min(1 << 16, n - start), d), dtype=np.float32)
    outputs = Outputs(features=features, unlabelled=True)
    fitted = scores.get("knn").fit(outputs)
    after_fit = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    start = time.perf_counter()
    fitted.score(outputs.select(np.arange(1000)))
    took = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    given, size = features.nbytes / 2**30, fitted.arrays["bank"].nbytes / 2**30
    print(f"{n} x {d}: features {given:.2f} GiB, bank {size:.2f} GiB")
    print(f"peak after the fit {after_fit:.2f} GiB, after scoring 1000 rows in {took:.1f} s {peak:.2f} GiB")
    print(f"beyond features and bank: {peak - given - size:.2f} GiB")


def small_outputs(n: int, seed: int, spread: float) -> Outputs:
    """Return outputs of a linear head on features after a ReLU."""
    model = np.random.default_rng(0)
    weight, bias = model.normal(size=(8, 40)) / 3.0, 0.1 * model.normal(size=8)
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 8, n)
    features = np.maximum(spread * rng.normal(size=(n, 40)) + 2.0 * weight[labels], 0.0)
    return Outputs(labels=labels, logits=features @ weight.T + bias, features=features, head=(weight, bias))


def tensor(array: Any) -> Any:
    """Return a tensor of double precision, or of class indices."""
    import torch

    array = np.array(array)
    return torch.tensor(array if array.dtype.kind == "i" else array.astype(np.float64))


def pairs(train: Outputs, test: Outputs) -> dict[str, tuple[str, Callable[[], Any]]]:
    """Return our spec and their score, by name."""
    import torch
    from pytorch_ood import detector as peer

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
    import torch
    from pytorch_ood import detector as peer

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = torch.nn.Linear(x.shape[1], 8).double()

        def forward(self, x: Any) -> Any:
            return self.fc(x)

    model = Model()
    weight, bias = small_outputs(2, 0, 1.0).head
    with torch.no_grad():
        model.fc.weight.copy_(torch.tensor(weight))
        model.fc.bias.copy_(torch.tensor(bias))
    return peer.GradNorm(model, param_filter=lambda name: name == "fc.weight").predict(x)


def detectors() -> None:
    """Print one line per shared score."""
    from scipy.stats import spearmanr

    train, test = small_outputs(2000, 1, 1.0), small_outputs(300, 2, 1.5)
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bank", action="store_true", help="memory of a large kNN bank instead")
    parser.add_argument("--peers", action="store_true", help="scores of pytorch-ood instead")
    parser.add_argument("--n", type=int, help="fit rows")
    parser.add_argument("--rows", type=int, default=10_000, help="rows that are scored")
    options = parser.parse_args()
    if options.peers:
        warnings.simplefilter("ignore")
        detectors()
    elif options.bank:
        bank(options.n or 1_280_000, 768)
    else:
        table(options.n or 50_000, 512, 100, options.rows)
