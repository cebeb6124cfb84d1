"""Checks of the joint paper: formulas, by brute force."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import abstain
from abstain import joint
from experiments.claims._ledger import check
from experiments.claims._sources import holds, listed, printed


def problem(seed: int, n: int = 12, ood: int = 8) -> tuple[Any, dict[str, Any]]:
    """Return a small tied problem."""
    rng = np.random.default_rng(seed)
    wrong = (rng.random(n) < 0.3).astype(float)
    names = ("id_confidence", "id_detector"), ("ood_confidence", "ood_detector")
    made = {
        name: rng.integers(0, 6, size) + (size == n) for size, of in zip((n, ood), names, strict=True) for name in of
    }
    return wrong, made


def brute(wrong: Any, given: dict[str, Any]) -> tuple[float, float]:
    """Return best F1 of two thresholds over all pairs, and that of the confidence alone."""
    n, best = wrong.size, [0.0, 0.0]
    values = [np.unique(np.r_[given[f"id_{k}"], given[f"ood_{k}"]]) for k in ("confidence", "detector")]
    for a, b in itertools.product(np.r_[-9, values[0]], np.r_[-9, values[1]]):
        inside = (given["id_confidence"] >= a) & (given["id_detector"] >= b)
        outside = (given["ood_confidence"] >= a) & (given["ood_detector"] >= b)
        right, accepted = float(((1 - wrong) * inside).sum()), inside.sum() + outside.sum()
        f1 = 2 * right / (n + accepted)  # precision right/accepted, recall right/n
        best[0] = max(best[0], f1)
        if b == -9:
            best[1] = max(best[1], f1)
    return best[0], best[1]


@check("J2", "J9", "J24", "J6")
def exact_f1() -> str:
    gap, equal = 0.0, 0
    for seed in range(60):
        wrong, given = problem(seed)
        two, one = brute(wrong, given)
        gap = max(gap, abs(float(joint.ds_f1(wrong, **given)) - two))
        holds(two >= one, seed)
        equal += two == one
    below = []
    for table, best in (("table2", 1),):
        head = {(c["group"], c["ood_score"]): j for j, c in enumerate(printed("joint")[table]["columns"])}
        for row in printed("joint")[table]["rows"].values():
            below += [
                best
                for (group, score), j in head.items()
                if score not in ("MSP", "") and row[j] < row[head[group, "MSP"]]
            ]
    holds(gap < 1e-12 and len(below) == 8 and equal > 0, (gap, len(below), equal))
    return f"60 tied problems: gap to all pairs {gap:.0e}, never below one score, equal to it in {equal}; {len(below)} printed cells of Table 2 are below MSP"


@check("J1", "J3", "J16", "J14", "J4")
def area_of_two() -> str:
    more = more_grid = 0
    gap = 0.0
    for seed in range(40):
        wrong, given = problem(seed)
        single = joint.aurc(wrong, id_score=given["id_confidence"], ood_score=given["ood_confidence"])
        two = float(joint.ds_aurc(wrong, **given))
        holds(two <= single + 1e-12, (two, single))
        more += two < single - 1e-12
        empty = {**given, "ood_confidence": [], "ood_detector": []}
        alone = joint.aurc(wrong, id_score=given["id_confidence"], ood_score=[])
        constant = {**empty, "id_detector": np.ones(wrong.size)}
        gap = max(gap, abs(float(joint.ds_aurc(wrong, **constant)) - alone))
    rng = np.random.default_rng(0)
    for _ in range(20):
        wrong = (rng.random(400) < 0.2).astype(float)
        given = {k: rng.normal(1.0 * k.startswith("id"), 1.0, 400) for k in
                 ("id_confidence", "id_detector", "ood_confidence", "ood_detector")}  # fmt: skip
        more_grid += float(joint.ds_aurc(wrong, **given, method="grid", T=100, K=100)) > float(
            joint.ds_aurc(wrong, **given)
        )
    holds(more > 0 and gap < 1e-12, (more, gap))
    return f"over all thresholds never above one score (below in {more} of 40); a second score that accepts all, no OOD: gap {gap:.0e}; grid of 100 x 100 above the exact area in {more_grid} of 20"


@check("J7")
def real_line() -> str:
    wrong, given = problem(3)
    shifted: Any = {name: 100.0 * np.asarray(column) - 250.0 for name, column in given.items()}
    values = float(joint.ds_f1(wrong, **given)), float(joint.ds_f1(wrong, **shifted))
    holds(values[0] == values[1], values)
    return f"scores in [0, 6] and the same in [-250, 350]: DS-F1 {values[0]:.4f} and {values[1]:.4f}"


@check("J10")
def nothing_right() -> str:
    found = float(joint.ds_f1([1, 1], id_confidence=[1, 2], id_detector=[1, 2], ood_confidence=[0], ood_detector=[0]))
    holds(found == 0.0, found)
    return f"all ID samples wrong: precision and recall are 0, F1 of the algorithm 0/0; by true positives {found:g}"


@check("J11", kind="slow")
def grids() -> str:
    rng = np.random.default_rng(0)
    wrong = (rng.random(3000) < 0.25).astype(float)
    given: Any = {k: rng.normal(2.0 * k.startswith("id"), 1.0, 3000) - (wrong if k == "id_confidence" else 0)
             for k in ("id_confidence", "id_detector", "ood_confidence", "ood_detector")}  # fmt: skip
    exact = 1000 * float(joint.ds_aurc(wrong, **given))
    found = {
        (t, k): 1000 * float(joint.ds_aurc(wrong, **given, method="grid", T=t, K=k))
        for t in (100, 1000)
        for k in (100, 1000)
    }
    holds(max(found.values()) - min(found.values()) > 0.5, found)
    return f"DS-AURC x 1000 exact {exact:.2f}; " + ", ".join(f"T {t} K {k}: {v:.2f}" for (t, k), v in found.items())


@check("J12")
def several_thresholds() -> str:
    ood = [0.7, 0.5]  # two OOD samples lie between two ID samples: three thresholds, one ID coverage
    risks = {t: sum(x >= t for x in ood) / (1 + sum(x >= t for x in ood)) for t in (0.8, 0.6, 0.4)}
    holds(len(set(risks.values())) == 3, risks)
    return f"ID .9, .3 and OOD .7, .5: thresholds .8, .6, .4 have ID coverage 1/2 and risks {listed(risks.values(), 3)}"


@check("J36")
def mixed_label() -> str:
    p, y1, y2, share = np.array([0.2, 0.5, 0.3]), np.eye(3)[0], np.eye(3)[2], 0.3
    soft = share * y1 + (1 - share) * y2
    gap = abs(-(soft @ np.log(p)) - (share * -(y1 @ np.log(p)) + (1 - share) * -(y2 @ np.log(p))))
    holds(gap < 1e-15, gap)
    return f"cross-entropy of the mixed label = mixed cross-entropies, gap {gap:.0e}"


@check("J8")
def in_two_steps() -> str:
    known, foreign = (abstain.datasets.load(f"fashion_mnist_{part}") for part in ("id", "ood"))
    inside, outside = (known.scores["msp"], known.scores["gen"]), (foreign.scores["msp"], foreign.scores["gen"])

    def f1(given: Any, other: Any, right: Any) -> float:
        return float(2.0 * (right * given).sum() / (known.n + given.sum() + other.sum()))

    right = 1.0 - known.loss
    alone = [
        max(f1(a >= t, b >= t, right) for t in np.unique(np.r_[a, b])) for a, b in zip(inside, outside, strict=True)
    ]
    tau = max(
        np.unique(np.r_[inside[1], outside[1]]), key=lambda t: f1(inside[1] >= t, outside[1] >= t, np.ones(known.n))
    )
    two = max(
        f1((inside[1] >= tau) & (inside[0] >= t), (outside[1] >= tau) & (outside[0] >= t), right)
        for t in np.unique(np.r_[inside[0], outside[0]])
    )
    both = float(joint.ds_f1(known.loss, id_confidence=inside[0], id_detector=inside[1], ood_confidence=outside[0],
                             ood_detector=outside[1]))  # fmt: skip
    holds(two < max(alone) < both, (two, alone, both))
    return (
        f"Fashion-MNIST against MNIST, MSP and GEN: threshold of GEN by OOD detection first, then of MSP {two:.4f}; one "
        f"score alone {max(alone):.4f}; both at once {both:.4f}"
    )


@check("J13")
def several_at_a_coverage() -> str:
    coverage = [0.0, 0.5, 0.5, 0.5, 1.0]
    area = [float(np.trapezoid([0.0, *risks, 0.0], coverage)) for risks in np.eye(3)]
    holds(area == [0.25, 0.0, 0.25], area)
    return "numpy.trapezoid with three risks at one coverage: the first counts for the piece before it, the last for the piece behind, the one between not at all"


@check("J49", "J52")
def at_a_share() -> str:
    rng = np.random.default_rng(0)
    wrong = (rng.random(2000) < 0.2).astype(float)
    given: Any = {k: rng.normal(1.5 * k.startswith("id"), 1.0, 2000) - (wrong if k == "id_confidence" else 0)
             for k in ("id_confidence", "id_detector", "ood_confidence", "ood_detector")}  # fmt: skip
    found = [float(joint.ds_f1(wrong, **given, prevalence=share)) for share in (0.1, 0.5, 0.9)]
    moved = joint.transfer(wrong, **given, n_splits=10, rng=0)
    holds(found[0] > found[1] > found[2] and moved.loss > 0, found)
    return f"synthetic model, DS-F1 at OOD shares .1, .5, .9: {listed(found, 3)}; thresholds of one half lose {moved.loss:.4f} on the other"


@check("J46")
def fpr_orientations() -> str:
    from abstain import joint as j

    rng = np.random.default_rng(0)
    inside, outside = rng.normal(2.0, 1.0, 4000), rng.normal(0.0, 1.5, 4000)
    found = (
        j.fpr_at_id_recall(id_score=inside, ood_score=outside),
        j.fpr_at_ood_recall(id_score=inside, ood_score=outside),
    )
    holds(abs(found[0] - found[1]) > 0.02, found)
    return f"synthetic scores: FPR at 95 % recall of ID {found[0]:.3f}, of OOD {found[1]:.3f}"


@check("J51")
def ignores_errors() -> str:
    inside, outside = [0.9, 0.8, 0.7], [0.2, 0.1]
    found = [float(joint.f1(wrong, id_score=inside, ood_score=outside)) for wrong in ([0, 0, 0], [1, 1, 0])]
    holds(found[0] != found[1], found)
    return f"the same scores, no and two ID errors: AUROC {joint.auroc(id_score=inside, ood_score=outside):g} for both, F1 {listed(found)}"
