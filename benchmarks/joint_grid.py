"""When a grid breaks the inequalities: DS-F1 >= F1 and DS-AURC <= AURC need exact values on both sides.

    python benchmarks/joint_grid.py

Two scores, the second weak, 10,000 ID and 9,000 OOD samples, 20 draws: how often T x T quantiles give a DS-F1 below
the exact F1 of the confidence alone, and how the binned DS-AURC compares with the exact one, with the binned AURC of
the confidence alone (10,000 thresholds, the same bins), and with a second score of pure noise.
"""

from __future__ import annotations

import argparse

import numpy as np

from abstain import joint


def population(seed: int, n_id: int, n_ood: int) -> dict[str, np.ndarray]:
    """Return a useful confidence and a weak detector score."""
    rng = np.random.default_rng(seed)
    wrong = rng.random(n_id) < 0.23
    confidence = np.append(rng.normal(1.8, 1.0, n_id) - 1.5 * wrong, rng.normal(0.2, 1.0, n_ood))
    weak = np.append(rng.normal(0.1, 1.0, n_id), rng.normal(0.0, 1.0, n_ood))
    inside = {"id_loss": wrong.astype(float), "id_confidence": confidence[:n_id], "id_detector": weak[:n_id]}
    return inside | {"ood_confidence": confidence[n_id:], "ood_detector": weak[n_id:]}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=20)
    arguments = parser.parse_args()
    draws = [population(seed, 10_000, 9_000) for seed in range(arguments.draws)]
    alone = [{"id_loss": c["id_loss"], "id_score": c["id_confidence"], "ood_score": c["ood_confidence"]} for c in draws]
    single = [joint.f1(**c).value for c in alone]
    exact = [joint.ds_f1(**c).value for c in draws]
    print(f"exact F1 {100 * np.mean(single):.2f} %, exact DS-F1 {100 * np.mean(exact):.2f} %")
    for T in (20, 100, 500, 1000):
        grid = [joint.ds_f1(**c, method="grid", T=T).value for c in draws]
        below = sum(g < s for g, s in zip(grid, single, strict=True))
        gap = 100 * np.mean(np.subtract(exact, grid))
        print(f"  T = {T:>4}: below the exact F1 in {below} of {len(draws)} draws; {gap:.3f} points below exact DS-F1")

    exact = [float(joint.ds_aurc(**c)) for c in draws]
    areas = [joint.aurc(**c) for c in alone]
    print(f"exact AURC {1000 * np.mean(areas):.2f}, exact DS-AURC {1000 * np.mean(exact):.2f} (x 1000)")
    for T, K in ((100, 100), (1000, 100), (100, 1000), (1000, 1000)):
        grid = [float(joint.ds_aurc(**c, method="grid", T=T, K=K)) for c in draws]
        flat = [c | {"id_detector": 0 * c["id_detector"], "ood_detector": 0 * c["ood_detector"]} for c in draws]
        binned = [float(joint.ds_aurc(**c, method="grid", T=10_000, K=K)) for c in flat]
        above = sum(p > b for p, b in zip(grid, binned, strict=True))
        bias = 1000 * np.mean(np.subtract(grid, exact))
        print(
            f"  T = {T:>4}, K = {K:>4}: {1000 * np.mean(grid):.2f}, off by {bias:+.2f}; "
            f"above the binned AURC ({1000 * np.mean(binned):.2f}) in {above} of {len(draws)} draws"
        )
    for n_id, n_ood in ((10_000, 9_000), (1_000, 900)):
        found = [joint.null_gain(**population(seed, n_id, n_ood), n_permutations=20) for seed in range(3)]
        f1 = [joint.null_gain(**population(seed, n_id, n_ood), metric="ds_f1", n_permutations=20) for seed in range(3)]
        aurc_gain, f1_gain = (np.mean([each.null_mean for each in several]) for several in (found, f1))
        print(f"noise as the second score, n_ID = {n_id}: DS-AURC gains {1000 * aurc_gain:.2f} (x 1000), ", end="")
        print(f"DS-F1 {100 * f1_gain:.3f} points")


if __name__ == "__main__":
    main()
