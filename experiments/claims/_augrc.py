"""Checks of the AUGRC paper: formulas."""

from __future__ import annotations

import importlib.util
import itertools
import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import abstain
from experiments.claims._ledger import check
from experiments.claims._sources import data, holds, listed, synthetic, tied

#: Saved probabilities of ten networks on CIFAR-10 and CIFAR-100.
SAVED = (
    *(("cifar10_test_models.npz", f"probs_{name}") for name in ("vgg16", "wideresnet_16_4", "lenet5", "cleanlab_cv")),
    *(("cifar10_test_models_b.npz", f"probs_{name}")
      for name in ("densenet_bc_l190_k40", "resnet110", "preresnet110", "cnn_kerrigan")),
    *(("cifar100_test_models.npz", f"probs_{name}") for name in ("densenet_bc_100", "wideresnet_16_4")),
)  # fmt: skip


@check("A1")
def range_of_augrc() -> str:
    values = [abstain.augrc(*each) for each in tied(300)]
    ends = abstain.augrc([0] * 9, range(9)), abstain.augrc([1] * 9, range(9))
    holds(ends == (0.0, 0.5) and 0.0 < min(values) < max(values) < 0.5, "outside [0, 1/2]")
    return (
        f"300 tied problems within [{min(values):.3f}, {max(values):.3f}]; all right {ends[0]:g}, all wrong {ends[1]:g}"
    )


@check("A2")
def two_risks() -> str:
    gap = 0.0
    for loss, confidence in tied():
        for tau in np.unique(confidence):
            accepted = confidence >= tau
            risk = abstain.selective_risk(loss, confidence, threshold=tau)
            general = abstain.generalized_risk(loss, confidence, threshold=tau)
            gap = max(gap, abs(general - accepted.mean() * risk), abs(general - (loss * accepted).mean()))
    holds(gap < 1e-15, gap)
    return f"generalized risk = coverage x selective risk = P(failure, accepted), gap {gap:.0e}"


@check("A3", "A4")
def identity() -> str:
    gap = rest = 0.0
    for loss, confidence in tied(300):
        acc, auroc = 1.0 - loss.mean(), abstain.auroc_f(loss, confidence)
        first = (1.0 - auroc) * acc * (1.0 - acc)
        gap = max(gap, abs(abstain.augrc(loss, confidence) - first - 0.5 * (1.0 - acc) ** 2))
        rest = max(rest, abs(abstain.e_augrc(loss, confidence) - first))
    holds(max(gap, rest) < 1e-15, (gap, rest))
    return f"gap of the identity {gap:.0e}, of e-AUGRC against its first term {rest:.0e} (300 tied problems)"


@check("A5")
def derivatives() -> str:
    grid = np.linspace(0.01, 0.99, 99)
    found = [abstain.augrc_partial_derivatives(acc, auroc) for acc in grid for auroc in grid]
    holds(max(max(each) for each in found) < 0.0, "a derivative is not negative")
    return f"negative at all {len(found)} points of a grid; at (.8, .7): {listed(abstain.augrc_partial_derivatives(0.8, 0.7))}"


@check("A6")
def two_samples() -> str:
    loss, confidence = np.array([0, 0, 1, 0, 1.0]), np.array([5, 4, 3, 2, 1])
    acc, auroc = 1.0 - loss.mean(), abstain.auroc_f(loss, confidence)
    pairs = list(itertools.product(range(5), repeat=2))
    both = np.mean([loss[i] * loss[j] for i, j in pairs])
    outranks = np.mean(
        [loss[i] != loss[j] and (confidence[i] > confidence[j]) == (loss[i] > loss[j]) for i, j in pairs]
    )
    terms = (1.0 - auroc) * acc * (1.0 - acc), 0.5 * (1.0 - acc) ** 2
    holds(np.allclose((outranks, both), (2 * terms[0], 2 * terms[1])), "no factor of two")
    return f"five samples: probabilities {listed((outranks, both))}, terms {listed(terms)}: half of them"


@check("A7")
def places() -> str:
    n, places = 5, np.arange(1, 6)
    augrc = abstain.contributions("augrc", np.ones(n), -places) * n**2
    aurc = abstain.contributions("aurc", np.ones(n), -places) * n
    holds(np.allclose(augrc, n - places + 0.5), augrc)
    holds(np.allclose(aurc, [sum(1.0 / s for s in range(t, n + 1)) for t in places]), aurc)
    return (
        f"N = 5: AUGRC N^2 x contribution {listed(augrc)}; printed N - t - 1: {listed(n - places - 1)}; AURC as printed"
    )


@check("A8", "A26")
def weights() -> str:
    loss, places = np.zeros(20), -np.arange(20)
    loss[0] = 1.0
    first = [abstain.contributions(name, loss, places)[0] for name in ("aurc", "augrc")]
    steps = [np.ptp(np.diff(abstain.contributions(name, np.ones(20), places))) for name in ("aurc", "augrc")]
    holds(first[0] > 3 * first[1] and steps[1] < 1e-15 < steps[0], first)
    return f"first of 20 fails: {first[0]:.4f} of AURC, {first[1]:.4f} of AUGRC, whose weights fall by equal steps"


@cache
def requirements() -> Any:
    """Return the module behind docs/requirements.md."""
    path = Path(__file__).resolve().parents[2] / "docs" / "requirements.py"
    spec = importlib.util.spec_from_file_location("requirements_of_metrics", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module, module.table()


def _fails(name: str) -> list[str]:
    return [key for key, found in requirements()[1][name].items() if found]


def _against(*names: str) -> str:
    module, _ = requirements()
    return "; ".join(
        f"{name} fails {' '.join(_fails(name)) or 'none'}, the paper: {' '.join(sorted(module.PAPER[name])) or 'none'}"
        for name in names
    )


@check("A9", kind="slow")
def augrc_meets_all() -> str:
    holds(not _fails("augrc"), _fails("augrc"))
    return _against("augrc")


@check("A10", kind="slow")
def aurc_fails() -> str:
    holds(set(_fails("aurc")) == {"R2", "R3"}, _fails("aurc"))
    return _against("aurc")


@check("A11", kind="slow")
def e_aurc_fails() -> str:
    holds(set(_fails("e_aurc")) == {"R2", "R3", "R5"}, _fails("e_aurc"))
    return _against("e_aurc")


@check("A12", kind="slow")
def auroc_fails() -> str:
    holds(set(_fails("auroc_f")) == {"R1", "R2", "R5"}, _fails("auroc_f"))
    return _against("auroc_f")


@check("A13", kind="slow")
def proper_fail() -> str:
    for name in ("brier_confidence", "nll_confidence"):
        holds({"R2", "R4"} <= set(_fails(name)), _fails(name))
    return _against("brier_confidence", "nll_confidence")


@check("A14", kind="slow")
def oc_auc_fails() -> str:
    holds("R1" not in _fails("oc_auc") and {"R2", "R5"} <= set(_fails("oc_auc")), _fails("oc_auc"))
    return _against("oc_auc")


@check("A46", kind="slow")
def none_meets_all() -> str:
    module, _ = requirements()
    meeting = [name for name in module.PAPER if not _fails(name)]
    holds(meeting == ["augrc"], meeting)
    return f"of {len(module.PAPER)} metrics that the paper lists only {meeting[0]} meets all"


@check("A16")
def naurc_is_linear() -> str:
    gap = 0.0
    for loss, confidence in tied():
        optimum, chance = abstain.aurc(loss, confidence) - abstain.e_aurc(loss, confidence), loss.mean()
        expected = (abstain.aurc(loss, confidence) - optimum) / (chance - optimum)
        gap = max(gap, abs(abstain.naurc(loss, confidence) - expected))
    holds(gap < 1e-13, gap)
    return f"NAURC = (AURC - optimum) / (error rate - optimum), gap {gap:.0e}"


@check("A17")
def rejection() -> str:
    gap = max(abs(abstain.accuracy_rejection_area(*each) + abstain.aurc(*each) - 1.0) for each in tied())
    holds(gap < 1e-15, gap)
    return f"area = 1 - AURC, gap {gap:.0e}"


@check("A18")
def retention() -> str:
    rng = np.random.default_rng(0)
    loss, confidence = (rng.random(300) < 0.3).astype(float), rng.random(300)
    order = np.argsort(-confidence)
    kept = np.concatenate([[0.0], np.cumsum(loss[order])]) / 300  # errors that remain when the rest goes to an oracle
    area = float(np.sum(0.5 * (kept[1:] + kept[:-1])) / 300)
    holds(abs(area - abstain.augrc(loss, confidence)) < 1e-12, area)
    return f"300 samples: area of error retention {area:.4f}, AUGRC {abstain.augrc(loss, confidence):.4f}"


@check("A19", "A20")
def optimal_f1() -> str:
    grid = np.linspace(0.3, 0.999, 700)
    found = np.array([abstain.f1_auc_optimal(float(acc)) for acc in grid])
    gap = max(abs(abstain.f1_auc_optimal(float(a)) - 2 * a * (1 + math.log((1 + 1 / a) / 4))) for a in grid)
    best = float(grid[found.argmax()])
    n = 200_000
    loss = np.r_[np.zeros(int(0.8 * n)), np.ones(n - int(0.8 * n))]
    numeric = abs(abstain.f1_auc(loss, -np.arange(n)) - abstain.f1_auc_optimal(0.8))
    holds(gap < 1e-12 and 0.55 < best < 0.57 and numeric < 1e-4, (gap, best, numeric))
    return f"largest at accuracy {best:.3f}: {found.max():.4f}, at .95 {abstain.f1_auc_optimal(0.95):.4f}; formula gap {gap:.0e}"


@check("A21")
def e_aurc_moves() -> str:
    found = {}
    for acc in (0.6, 0.9):  # every failure outranks the same share of successes: AUROC is equal
        n = 1000
        loss = np.r_[np.zeros(int(acc * n)), np.ones(n - int(acc * n))]
        confidence = np.r_[np.linspace(0, 1, int(acc * n)), np.full(n - int(acc * n), 0.3)]
        found[acc] = abstain.auroc_f(loss, confidence), abstain.e_aurc(loss, confidence)
    holds(abs(found[0.6][0] - found[0.9][0]) < 2e-3 and found[0.6][1] > 1.5 * found[0.9][1], found)
    return "; ".join(f"accuracy {acc}: AUROC {a:.3f}, e-AURC {e:.4f}" for acc, (a, e) in found.items())


@check("A15")
def accepted_area() -> str:
    rng = np.random.default_rng(0)
    found: dict[int, list[tuple[float, float]]] = {}
    for _ in range(800):  # failure AUROC and the area, by the number of failures among eight
        labels, positive = rng.integers(0, 2, 8), rng.random(8)
        p = np.c_[1.0 - positive, positive]
        wrong = (p.argmax(1) != labels).astype(float)
        if 0 < labels.sum() < 8 and 0 < wrong.sum() < 8:
            area = float(abstain.auroc_accepted_area(labels, p))
            found.setdefault(int(wrong.sum()), []).append((round(abstain.auroc_f(wrong, p.max(1)), 9), area))
    pairs = [two for each in found.values() for two in itertools.pairwise(sorted(each))]
    worse = sum(b > a and w < v - 1e-9 for (a, v), (b, w) in pairs)
    other = sum(a == b and abs(v - w) > 1e-9 for (a, v), (b, w) in pairs)
    try:
        abstain.auroc_accepted_area([0, 1, 2], np.eye(3) * 0.4 + 0.2)
    except abstain.UnmetNeed:
        holds(worse > 0 and other > 0, (worse, other))
        return (
            f"three classes are refused; of {len(pairs)} neighbours with equal accuracy {worse} have the larger failure "
            f"AUROC and the smaller area, {other} the same AUROC and another area"
        )
    raise AssertionError("three classes are taken")


@check("A22", kind="data")
def varied_losses() -> str:
    counts, networks = {"Brier": [0, 0], "cross-entropy": [0, 0]}, 0
    for file, key in SAVED:
        with np.load(data(file)) as archive:
            labels, p = archive["labels"], archive[key].astype(float)
        networks += 1
        right, confidence = np.clip(p[np.arange(len(p)), labels], 1e-12, 1.0), p.max(1)
        top = np.argsort(-confidence, kind="stable")[: len(p) // 2]
        losses = {
            "0/1": (p.argmax(1) != labels).astype(float),
            "Brier": ((p - np.eye(p.shape[1])[labels]) ** 2).sum(1), "cross-entropy": -np.log(right),
        }  # fmt: skip
        shares = {}
        for name, loss in losses.items():
            parts = [abstain.contributions(metric, loss, confidence) for metric in ("aurc", "augrc")]
            shares[name] = [float(each[top].sum() / each.sum()) for each in parts]
        for name, count in counts.items():
            count[0] += shares[name][0] > shares["0/1"][0]
            count[1] += shares[name][0] / shares[name][1] > shares["0/1"][0] / shares["0/1"][1]
    text = "; ".join(f"{name} {a}, {b}" for name, (a, b) in counts.items())
    return f"more confident half of {networks} networks: its share of AURC larger than with 0/1, that share over the one of AUGRC: {text}"


@check("A32")
def below_and_superior() -> str:
    from scipy.stats import wilcoxon

    rng = np.random.default_rng(0)
    value = np.empty((500, 5))  # AUGRC of five scores in 500 resamples, made up: the first one's rank varies most
    value[:, 1] = 0.100
    bad = rng.random(500) < 0.3
    value[:, 0] = np.where(bad, 0.1004, 0.097) + 1e-5 * rng.random(500)
    value[:, 2:] = 0.1001 + 1e-5 * np.arange(3)
    ranks = 1 + (value[:, :, None] > value[:, None, :]).sum(axis=2)
    mean, p = ranks.mean(axis=0), float(wilcoxon(value[:, 0], value[:, 1], alternative="less").pvalue)
    holds(mean[0] > mean[1] and p < 1e-6, (mean, p))
    return f"synthetic AUGRC of 500 resamples: mean ranks {mean[0]:.2f} and {mean[1]:.2f}; Wilcoxon calls the first one lower, p = {p:.0e}"


@check("A25")
def toy() -> str:
    rankings = [[1, 17, 18, 19, 20], [13, 14, 15, 16, 17], [12, 13, 14, 15, 16, 17]]  # places of failures among twenty
    names = ("auroc_f", "aurc", "augrc")
    values = [
        [getattr(abstain, name)(np.isin(np.arange(1, 21), failures), -np.arange(20)) for name in names]
        for failures in rankings
    ]
    one, two, three = values
    holds(np.isclose(one[0], two[0]) and two[1] < one[1] and np.isclose(one[2], two[2]), values)
    holds(three[0] < one[0] and three[1] < one[1] and three[2] > one[2], values)
    return "a reconstruction, AUROC AURC AUGRC: " + "; ".join(listed(each) for each in values)


@check("A27")
def generalized_curve() -> str:
    worst = 0.0
    for loss, confidence in tied():
        risks = [abstain.generalized_risk(loss, confidence, threshold=t) for t in np.unique(confidence)[::-1]]
        coverages = [np.mean(confidence >= t) for t in np.unique(confidence)[::-1]]
        holds(np.all(np.diff(risks) >= 0.0) and np.all(np.array(risks) <= coverages), "not monotone")
        worst = max(worst, max(np.array(risks) - coverages))
    return f"monotone and below the diagonal in 100 of 100 tied problems (largest excess {worst:.2g})"


@check("A40")
def scaled_logits() -> str:
    z = np.random.default_rng(0).normal(size=(2000, 10)) * 3
    order = [np.argsort(np.argsort((z / t).max(1))) for t in (1.0, 1.7)]
    p = [np.exp(z / t) / np.exp(z / t).sum(1, keepdims=True) for t in (1.0, 1.7)]
    soft = [np.argsort(np.argsort(each.max(1))) for each in p]
    from experiments.claims._sources import printed

    t3 = printed("augrc")["table3_augrc_x1000"]
    differ = sum(a != b for a, b in zip(t3["MLS"], t3["TEMP-MLS"], strict=True))
    holds((order[0] == order[1]).all() and (soft[0] != soft[1]).any() and differ > 10, differ)
    return f"max z/T ranks as max z in 2000 of 2000; printed MLS and TEMP-MLS differ in {differ} of 21 columns"


@check("A47")
def passes_change_predictions() -> str:
    rng = np.random.default_rng(0)
    z = rng.normal(size=(500, 4)) * 2
    p = np.exp(z) / np.exp(z).sum(1, keepdims=True)
    y = np.array([rng.choice(4, p=each) for each in p])
    noisy = [np.exp(z + rng.normal(size=z.shape) * 1.5) for _ in range(20)]
    outputs = abstain.Outputs(labels=y, logits=z, passes=np.stack([q / q.sum(1, keepdims=True) for q in noisy]))
    differ = int((abstain.scores.pass_predictions(outputs) != outputs.predicted()).sum())
    found = abstain.evaluate(outputs, ["msp", "pass_msp"], ["accuracy"])
    acc = [found.value("accuracy", score=name) for name in ("msp", "pass_msp")]
    others = [
        name for name in abstain.scores.names()
        if abstain.scores.get(name).judged_by != abstain.scores.get("msp").judged_by
    ]  # fmt: skip
    holds(differ > 0 and acc[0] != acc[1] and all(name.startswith("pass_") for name in others), (acc, others))
    return (
        f"toy: {differ} of 500 predictions differ between the network and the mean of passes; accuracy {listed(acc)}; of the "
        f"scores of a finished network here only those of passes ({len(others)}) have predictions of their own"
    )


@check("A49")
def mean_working_point() -> str:
    loss, confidence = synthetic("calibrated", 2000)
    order = np.argsort(-confidence, kind="stable")
    curve = np.r_[0.0, np.cumsum(loss[order])] / loss.size
    area = float(np.mean(0.5 * (curve[1:] + curve[:-1])))
    value = abstain.augrc(loss, confidence + 1e-12 * -np.argsort(order))
    holds(abs(area - abstain.augrc(loss, confidence)) < 1e-5, (area, value))
    return f"mean of P(failure, accepted) over coverages {area:.6f}, AUGRC {abstain.augrc(loss, confidence):.6f}"
