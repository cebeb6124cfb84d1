"""Cost per sample of every confidence score, beside what a careful implementation was measured to need.

    OMP_NUM_THREADS=1 python benchmarks/scores_speed.py            # n = 50,000, d = 512, K = 100
    python benchmarks/scores_speed.py --bank                       # peak memory of a kNN bank of 1.28 million x 768

The budget is twice the reference cost, measured on two shared cores in single precision; here everything but the kNN
products is float64. KLM and GradNorm also run as a loop over the samples, the way they are usually written.
"""

from __future__ import annotations

import argparse
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


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bank", action="store_true", help="memory of a large kNN bank instead")
    parser.add_argument("--n", type=int, help="fit rows")
    parser.add_argument("--rows", type=int, default=10_000, help="rows that are scored")
    options = parser.parse_args()
    if options.bank:
        bank(options.n or 1_280_000, 768)
    else:
        table(options.n or 50_000, 512, 100, options.rows)
