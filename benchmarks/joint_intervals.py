"""How often nominal 95 % intervals of joint metrics hold the truth, known from simulation.

    python benchmarks/joint_intervals.py --samples 200 1000 5000 --draws 200

Four populations with as many OOD as ID samples: two useful scores; a useless second score, so that the true gain is
0; an accurate network with a strong second score, whose areas are small; correlated scores with ties and tails. The
truth is the mean over two samples of 300,000 + 300,000. Prints, per metric: the truth, the share of intervals that
hold it, how often the truth lies below and above them, the mean optimism of the estimate in standard deviations of
itself, and the mean length of the intervals in those that an unbiased estimate of the same spread would have.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np

from abstain import joint

Columns = dict[str, np.ndarray]


def named(wrong: np.ndarray, *scores: np.ndarray) -> Columns:
    """Return the columns by name."""
    names = ("id_confidence", "id_detector", "ood_confidence", "ood_detector")
    return {"id_loss": wrong.astype(float), **dict(zip(names, scores, strict=True))}


def useful(n: int, rng: np.random.Generator) -> Columns:
    """Two useful scores, accuracy 75 %."""
    wrong = rng.random(n) < 0.25
    confidence = np.append(rng.normal(1.5, 1, n) - 1.2 * wrong, rng.normal(0.3, 1, n))
    score = np.append(rng.normal(1.0, 1, n), rng.normal(0, 1, n))
    return named(wrong, confidence[:n], score[:n], confidence[n:], score[n:])


def useless(n: int, rng: np.random.Generator) -> Columns:
    """The second score is noise."""
    return useful(n, rng) | {"id_detector": rng.normal(size=n), "ood_detector": rng.normal(size=n)}


def strong(n: int, rng: np.random.Generator) -> Columns:
    """Accuracy 92 %, OOD samples far away in the second score."""
    wrong = rng.random(n) < 0.08
    inside, outside = rng.normal(2.5, 1, n) - 2 * wrong, rng.normal(0.5, 1, n)
    return named(wrong, inside, rng.normal(3, 1, n) - 0.3 * wrong, outside, rng.normal(0, 1.5, n))


def tied(n: int, rng: np.random.Generator) -> Columns:
    """Accuracy 60 %, heavy tails, correlated scores with ties."""
    wrong = rng.random(n) < 0.4
    shared = rng.standard_t(3, 2 * n)
    place = np.append(1.0 - 0.8 * wrong, np.full(n, -0.2))
    confidence = (place + 0.6 * shared + 0.6 * rng.standard_t(3, 2 * n)).round(1)
    score = (np.append(np.ones(n), np.zeros(n)) + 0.6 * shared + 0.6 * rng.standard_t(3, 2 * n)).round(1)
    return named(wrong, confidence[:n], score[:n], confidence[n:], score[n:])


#: The form of the intervals was chosen on the first three, with the same seeds; the fourth came after.
POPULATIONS = {"useful": useful, "useless": useless, "strong": strong, "tied": tied}


def true_values(name: str) -> dict[str, float]:
    """Return the metrics of a population, from two large samples."""
    found = []
    for seed in range(2):
        columns = POPULATIONS[name](300_000, np.random.default_rng([seed, 10**6]))
        alone = {"id_score": columns["id_confidence"], "ood_score": columns["ood_confidence"]}
        both = [
            float(joint.ds_f1(**columns)),
            float(joint.ds_aurc(**columns)),
            float(joint.ds_augrc(**columns)),
        ]
        one = [float(function(columns["id_loss"], **alone)) for function in (joint.f1, joint.aurc, joint.augrc)]
        found.append([*both, *one, both[0] - one[0], one[1] - both[1], one[2] - both[2]])
    names = ["ds_f1", "ds_aurc", "ds_augrc", "f1", "aurc", "augrc"]
    names += ["ds_f1 - f1", "ds_aurc - aurc", "ds_augrc - augrc"]
    return dict(zip(names, np.mean(found, axis=0).tolist(), strict=True))


def intervals(seed: int, name: str, n: int, n_splits: int) -> dict[str, tuple[float, float, float]]:
    """Return the ends and the estimate per metric for one sample."""
    columns = POPULATIONS[name](n, np.random.default_rng([seed, n]))
    found = joint.confidence_intervals(**columns, n_splits=n_splits)
    return {metric: (each.low, each.high, each.estimate) for metric, each in found.items()}


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--samples", type=int, nargs="+", default=[200, 1000, 5000])
    parser.add_argument("--splits", type=int, default=50)
    parser.add_argument("--populations", nargs="+", default=list(POPULATIONS), choices=POPULATIONS)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    for name in arguments.populations:
        truth = true_values(name)
        for n in arguments.samples:
            work = partial(intervals, name=name, n=n, n_splits=arguments.splits)
            with ProcessPoolExecutor(arguments.workers) as pool:
                drawn = list(pool.map(work, range(arguments.draws), chunksize=4))
            print(f"\n{name}, {n} ID and {n} OOD samples, {arguments.draws} draws", flush=True)
            for metric, value in truth.items():
                low, high, estimate = np.array([each[metric] for each in drawn]).T
                spread = estimate.std(ddof=1)
                better = -1.0 if metric in ("ds_aurc", "ds_augrc", "aurc", "augrc") else 1.0
                print(
                    f"  {metric:<17} {value:.4f}  held {np.mean((low <= value) & (value <= high)):.3f}  "
                    f"(truth below {np.mean(value < low):.3f}, above {np.mean(value > high):.3f})  "
                    f"optimism {better * np.mean(estimate - value) / spread:+.2f} sd  "
                    f"length {np.mean(high - low) / (2 * 1.96 * spread):.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
