"""Cost per sample of every confidence score, next to what a careful implementation was measured to need.

    OMP_NUM_THREADS=1 python -m benchmarks.scores_speed [--n 50000] [--rows 10000]

The reference is in single precision; here everything but the kNN products is float64. 512 features, 100 classes.
"""

import time
from functools import partial

import numpy as np
from benchmarks.harness import Form, command, say, seconds

from abstain import Outputs, scores

#: Microseconds per sample of the reference at n = 50,000, d = 512, K = 100.
REFERENCE: dict[str, float] = {
    **dict.fromkeys(["msp", "neg_log_error", "neg_entropy", "neg_gini", "max_logit", "energy"], 2.0),
    "gen": 10.0, "gradnorm": 1.0, "react": 7.0, "scale": 7.0, "ash_p": 7.0, "ash_b": 7.0, "ash_s": 7.0, "dice": 7.0,
    "klm": 30.0, "openmax": 20.0, "mds": 26.0, "knn": 1400.0, "nnguide(fraction=0.01)": 14.0,
}  # fmt: skip
OTHERS = [
    "softmax_margin", "logit_margin", "max_logit_pnorm", "temp_msp", "rmds", "vim", "residual", "she", "fdbd",
    "sirc_msp_l1", "sirc_msp_res", "sirc_neg_entropy_l1", "sirc_neg_entropy_res",
]  # fmt: skip


def outputs_of(n: int, seed: int, d: int = 512, k: int = 100) -> Outputs:
    """Return random outputs of a linear head on features after a ReLU."""
    model = np.random.default_rng(0)
    weight, bias = model.normal(size=(k, d)) / np.sqrt(d), model.normal(size=k)
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, k, n)
    features = np.maximum(rng.normal(size=(n, d)) + 2.0 * weight[labels], 0.0)
    return Outputs(labels=labels, logits=features @ weight.T + bias, features=features, head=(weight, bias))


def costs(form: Form, n: int = 50_000, rows: int = 10_000) -> None:
    """Cost per sample and fit time of every score."""
    train, validation, test = outputs_of(n, 1), outputs_of(2000, 2), outputs_of(rows, 3)
    say(f"{'score':26s} {'us/sample':>10s} {'reference':>10s} {'fit, s':>8s}")
    for spec in [*REFERENCE, *OTHERS]:
        entry = scores.parse(spec)
        start = time.process_time()
        fitted = entry.fit(validation if entry.fit_split == "validation" else train)
        fit = time.process_time() - start if fitted.fingerprint else 0.0
        cost = 1e6 * seconds(partial(fitted.score, test), 2 if spec == "knn" else 7) / rows
        say(f"{spec:26s} {cost:10.2f} {REFERENCE.get(spec, ''):>10} {fit:8.2f}")


if __name__ == "__main__":
    command(__doc__, costs)
