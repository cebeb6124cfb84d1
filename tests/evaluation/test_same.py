"""What is equal to the bit, and what to how many digits: the table in docs/conventions.md, row by row."""

import os
import subprocess
import sys

import numpy as np

#: Prints every value and interval of the default evaluation, and of all metrics of single functions, as hex.
SCRIPT = """
import numpy as np, abstain
rng = np.random.default_rng(0)
for n in (300, 60_000):
    score, weight = rng.random(n), rng.random(n)
    for loss in ((rng.random(n) > score) * 1.0, rng.random(n)):
        for weights in (None, weight):
            outputs = abstain.Outputs(loss=loss, confidence=score, sample_weight=weights)
            found = abstain.evaluate(outputs, metrics="default" if weights is None else ["aurc", "augrc", "e_aurc"])
            print(n, [(row.metric, row.value.hex(), row.low, row.high) for row in found.measurements])
            print(abstain.curve.risk_coverage_curve(loss, score, sample_weight=weights).selective_risk.tobytes().hex())
"""

#: Prints scores that multiply matrices.
SCORES = """
import numpy as np, abstain
rng = np.random.default_rng(0)
logits, features = rng.normal(size=(3000, 10)), rng.normal(size=(3000, 64))
outputs = abstain.Outputs(labels=rng.integers(0, 10, 3000), logits=logits, features=features)
for name in ("knn", "mds", "rmds", "klm", "openmax"):
    fitted = abstain.scores.get(name).fit(outputs.select(slice(0, 2000)))
    print(*fitted.score(outputs.select(slice(2000, 3000))).tolist())
"""


def printed(script=SCRIPT, **environment):
    """Return what the script prints in a process of its own."""
    command, env = [sys.executable, "-c", script], {**os.environ, **environment}
    return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout


def test_processes_and_threads_change_no_bit():
    """Another process, another order of hashes, another number of threads: the same bytes."""
    first = printed(PYTHONHASHSEED="1", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    assert first.count("augrc") >= 8
    assert printed(PYTHONHASHSEED="2", OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="2") == first


def test_threads_keep_the_digits_of_scores_that_multiply_matrices():
    """The linear algebra behind NumPy divides its sums among the threads; ``knn`` takes its products in float32."""
    shown = [printed(SCORES, OMP_NUM_THREADS=n, OPENBLAS_NUM_THREADS=n).splitlines() for n in ("1", "2")]
    first, second = (np.array([row.split() for row in rows], float) for rows in shown)
    np.testing.assert_allclose(first[:1], second[:1], rtol=0.0, atol=5e-7)
    np.testing.assert_allclose(first[1:], second[1:], rtol=1e-10, atol=1e-10 * float(np.abs(first).max()))
