"""Values of 360 random problems through the public API, to the bit: record them before a change, compare after it.

    python benchmarks/same_values.py record before.json
    python benchmarks/same_values.py compare before.json --tolerance 1e-12

``--package`` records another version under another name. Certified thresholds and fingerprints are always compared to
the bit; ``--tolerance`` is relative and for all other values.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

PROBLEMS = 360
SIZES = (1, 2, 3, 5, 8, 20, 60, 200, 600, 1500)
SAMPLED = (
    "augrc",
    "aurc",
    "auroc_f",
    "e_augrc",
    "naurc",
    "risk",
    "selective_risk",
    "coverage_at_risk",
    "sele",
    "fpr95_error",
)


def problem(seed: int) -> dict[str, Any]:
    """Losses, scores, weights and groups: ties of every kind, 0/1, graded and real losses."""
    rng = np.random.default_rng([20261122, seed])
    n = SIZES[seed % len(SIZES)]
    ease = rng.random(n)
    graded = ("binary", "binary", "thirds", "real")[seed // 10 % 4]
    wrong = rng.random(n) < 0.5 * (1 - ease) ** (1 + seed % 3)
    loss = wrong.astype(float)
    if graded == "thirds":
        loss = rng.integers(0, 4, n) / 3
    elif graded == "real":
        loss = rng.gamma(0.5, 1.0, n)
    steps = (0, 0, 7, 2, 1)[seed % 5]
    noisy = np.clip(ease + rng.normal(0, 0.2, n), 0, 1)
    confidence = np.round(noisy * steps) / steps if steps else noisy
    weight = (None, None, rng.integers(0, 4, n).astype(float) + (np.arange(n) == 0), rng.gamma(2.0, 1.0, n))[
        seed // 3 % 4
    ]
    labels = rng.integers(0, 4, n)
    raw = rng.gamma(0.4, 1.0, (n, 4)) + 1e-3
    return {
        "rng": rng, "n": n, "loss": loss, "confidence": confidence, "other": rng.normal(size=n), "weight": weight,
        "labels": labels, "probabilities": raw / raw.sum(axis=1, keepdims=True), "group": rng.integers(0, 3, n),
    }  # fmt: skip


def plain(value: Any) -> Any:
    """Floats as hexadecimal text, everything else as JSON has it."""
    if isinstance(value, (bool, np.bool_)) or value is None or isinstance(value, str):
        return value if not isinstance(value, np.bool_) else bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value).hex()
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value.tolist()]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return type(value).__name__


def tried(call: Callable[[], Any]) -> Any:
    """The value, or the name of the error."""
    try:
        return plain(call())
    except (TypeError, ValueError, ArithmeticError) as error:
        return type(error).__name__


def interval(found: Any) -> list[float]:
    """What an interval says."""
    return [found.estimate, found.low, found.high, found.standard_error, found.df]


def certificate(found: Any) -> list[Any]:
    """What a threshold says."""
    return [found.threshold, found.n_accepted, found.risk, found.attainable]


def values(package: Any, seed: int) -> Iterator[tuple[str, Any]]:
    """Everything that one problem shows, by name."""
    p = problem(seed)
    loss, confidence, weight = p["loss"], p["confidence"], p["weight"]
    predictions = package.metrics.Predictions(p["labels"], p["probabilities"], weight)
    sampled = package.TieBlocks.from_samples(loss, confidence, sample_weight=weight, keep_samples=True)
    for name in package.metrics.names():
        metric = package.metrics.get(name)
        if metric.input == "joint":
            continue
        data = predictions if metric.input == "probabilities" else sampled
        yield f"value {name}", tried(lambda metric=metric, data=data: metric(data))
    for name in SAMPLED:
        columns = {"loss": loss, "confidence": confidence, "sample_weight": weight}
        yield f"interval {name}", tried(lambda n=name, c=columns: interval(package.confidence_interval(n, **c)))
        yield f"influence {name}", tried(lambda n=name, c=columns: package.inference.influence(n, **c))
    largest = float(max(1.0, loss.max()))
    for limit in (0.05, 0.2):
        for kind, options in (
            ("empirical", {"sample_weight": weight}),
            ("certified", {"delta": 0.1, "max_loss": largest}),
        ):
            options = options | {"risk": limit}
            choose = partial(package.choose_threshold, loss, confidence, **options)
            yield f"{kind} {limit}", tried(lambda choose=choose: certificate(choose()))
    outputs = package.Outputs(
        labels=p["labels"], probabilities=p["probabilities"], confidence=confidence, sample_weight=weight,
        groups={"site": p["group"]},
    )  # fmt: skip
    yield "fingerprint", tried(lambda: outputs.fingerprint)
    for scores in (["confidence"], ["confidence", "softmax_margin"]):
        evaluate = partial(package.evaluate, outputs, scores=scores, groups="site")
        yield f"evaluate {scores[-1]}", tried(lambda evaluate=evaluate: measured(evaluate()))
    resampled = {"method": "percentile", "n_resamples": 100, "rng": 1}
    yield "bootstrap", tried(lambda: interval(package.confidence_interval("augrc", loss, confidence, **resampled)))
    pair = {"one": confidence, "other": p["other"]}
    yield "compare", tried(lambda: differences(package.compare(loss, pair, metric="augrc")))
    ood = np.arange(p["n"]) % 4 == 3
    sides = {"id": ~ood, "ood": ood}
    columns = {f"{side}_{name}": column[rows] for side, rows in sides.items()
               for name, column in (("confidence", confidence), ("detector", p["other"]))}  # fmt: skip
    joint = [getattr(package.joint, name) for name in ("ds_f1", "ds_aurc")]
    yield "joint", tried(lambda: [metric((loss > 0)[~ood], **columns).value for metric in joint])


def measured(found: Any) -> list[Any]:
    """What an evaluation says."""
    return [[getattr(each, "label", each.metric), each.score, each.group, each.value] for each in found.measurements]


def differences(found: Any) -> list[Any]:
    """What a comparison says."""
    return [[each.difference, each.low, each.high, each.p_value] for each in found.differences]


def recorded(package: Any) -> dict[str, Any]:
    """All problems."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {f"{seed:03d} {name}": value for seed in range(PROBLEMS) for name, value in values(package, seed)}


def differs(one: Any, other: Any, tolerance: float) -> bool:
    """Whether two recorded values differ by more than the tolerance."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) != len(other) or any(differs(a, b, tolerance) for a, b in zip(one, other, strict=True))
    if one == other or not tolerance:
        return bool(one != other)
    try:
        a, b = float.fromhex(one), float.fromhex(other)
    except (TypeError, ValueError):
        return True
    return not (math.isnan(a) and math.isnan(b)) and not abs(a - b) <= tolerance * max(1.0, abs(a), abs(b))


def main() -> int:
    """Record, or compare with what was recorded."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["record", "compare"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--package", default="abstain")
    parser.add_argument("--tolerance", type=float, default=0.0)
    options = parser.parse_args()
    now = recorded(importlib.import_module(options.package))
    if options.action == "record":
        options.file.write_text(json.dumps(now, indent=0) + "\n")
        print(f"{len(now)} values of {PROBLEMS} problems")
        return 0
    before = json.loads(options.file.read_text())
    exact = ("certified", "fingerprint")
    changed = [
        name
        for name in sorted(before.keys() | now.keys())
        if name not in before
        or name not in now
        or differs(before[name], now[name], 0.0 if name[4:].startswith(exact) else options.tolerance)
    ]
    for name in changed[:40]:
        print(f"{name}: {before.get(name, '(absent)')} -> {now.get(name, '(absent)')}")
    kinds = Counter(name[4:].partition(" ")[0] for name in changed)
    print(", ".join(f"{count} {kind}" for kind, count in kinds.most_common()))
    print(f"{len(now)} values of {PROBLEMS} problems, {len(changed)} differ (tolerance {options.tolerance:g})")
    return bool(changed)


if __name__ == "__main__":
    sys.exit(main())
