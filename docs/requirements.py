"""Check requirements R1 to R5 of Traub et al. (2024) for every metric over all thresholds, by counter-example.

Each check returns None, if no counter-example was found, or one line with numbers. The search space is finite
and small: every ranking of at most eight predictions (0 = right, 1 = wrong, most confident first), first without
ties, then with them. "Holds" therefore means: no counter-example there; where a proof exists the page names it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np

from abstain import UnmetNeed, metrics
from abstain.blocks import TieBlocks
from abstain.metrics import Metric

#: What section 2.4 of the paper says a metric fails; metrics that it does not discuss are absent.
PAPER: dict[str, frozenset[str]] = {
    "augrc": frozenset(),
    "aurc": frozenset({"R2", "R3", "R5"}),
    "e_aurc": frozenset({"R2", "R3", "R5"}),
    "auroc_f": frozenset({"R1", "R2", "R5"}),
    "naurc": frozenset({"R2", "R3"}),
    "f1_auc": frozenset({"R2", "R5"}),
    "accuracy_rejection_area": frozenset({"R2", "R3"}),
    "brier_confidence": frozenset({"R2", "R4"}),
    "nll_confidence": frozenset({"R2", "R4"}),
    "oc_auc": frozenset({"R1", "R2", "R5"}),
}
TITLES = {
    "R1": "sensitive to both factors",
    "R2": "monotone in each",
    "R3": "ranking read as AUROC",
    "R4": "any score",
    "R5": "any loss",
}
EPS = 1e-9
#: Two ways to spread the same order over [0, 1], for metrics that read the values of the score.
SPREADS = ((0.95, 0.55), (0.45, 0.05))


@dataclass(frozen=True, eq=False)
class Item:
    """One ranking with one spread of its scores: accuracy, AUROC of failures, and how to print it."""

    text: str
    accuracy: Fraction
    auroc: Fraction
    blocks: TieBlocks
    spread: int


def _item(pattern: tuple[tuple[int, int], ...], spread: int) -> Item:
    """Build an item from blocks of (right, wrong), most confident first."""
    right, wrong = (sum(column) for column in zip(*pattern, strict=True))
    above, pairs = 0, Fraction(0)
    for r, w in pattern:
        pairs += w * (above + Fraction(r, 2))
        above += r
    high, low = SPREADS[spread]
    score = np.linspace(high, low, len(pattern)) if len(pattern) > 1 else np.array([high])
    rows = [(score[k], loss) for k, (r, w) in enumerate(pattern) for loss in [0.0] * r + [1.0] * w]
    blocks = TieBlocks.from_samples([loss for _, loss in rows], [value for value, _ in rows], oracle=True)
    text = "".join("0" * r + "1" * w if r + w == 1 else f"({'0' * r}{'1' * w})" for r, w in pattern)
    text = f"``{text}``" + (" with low scores" if spread else "")
    return Item(text, Fraction(right, right + wrong), pairs / (right * wrong), blocks, spread)


@cache
def untied(n: int, spread: int = 0) -> tuple[Item, ...]:
    """Return all rankings of n predictions without ties, with at least one right and one wrong."""
    return tuple(
        _item(tuple((1 - loss, loss) for loss in losses), spread)
        for losses in itertools.product((0, 1), repeat=n)
        if 0 < sum(losses) < n
    )


@cache
def tied(n: int) -> tuple[Item, ...]:
    """Return all rankings of n predictions with at least one tie, with at least one right and one wrong."""

    def patterns(rest: int) -> Iterator[tuple[tuple[int, int], ...]]:
        if rest == 0:
            yield ()
        for size in range(1, rest + 1):
            for wrong in range(size + 1):
                for tail in patterns(rest - size):
                    yield ((size - wrong, wrong), *tail)

    return tuple(
        _item(pattern, 0) for pattern in patterns(n) if len(pattern) < n and 0 < sum(wrong for _, wrong in pattern) < n
    )


def spaces(metric: Metric) -> Iterator[tuple[str, tuple[Item, ...]]]:
    """Yield what to say of a counter-example and where to look for it, simplest first."""
    if "unit_score" in metric.needs:
        yield "", (*untied(6, 0), *untied(6, 1))
        return
    yield "", untied(8)
    yield "only with ties: ", (*untied(5), *tied(5))


@cache
def value(name: str, item: Item) -> float:
    """Return a metric's value, negated if higher is better: lower is better from here on."""
    metric = metrics.get(name)
    return metric(item.blocks) if metric.direction == "lower" else -metric(item.blocks)


def _shown(metric: Metric, one: Item, other: Item) -> str:
    sign = 1.0 if metric.direction == "lower" else -1.0
    a, b = (sign * value(metric.name, item) + 0.0 for item in (one, other))
    return f"{one.text} → {other.text}: value {a:.4g} → {b:.4g}"


@cache
def _pairs(items: tuple[Item, ...], fixed: str) -> list[tuple[Item, Item]]:
    """Return pairs of equal ``fixed`` factor whose other factor rises from the first to the second."""
    free = "auroc" if fixed == "accuracy" else "accuracy"
    groups: dict[Fraction, list[Item]] = {}
    for item in items:
        groups.setdefault(getattr(item, fixed), []).append(item)
    return [
        (one, other)
        for group in groups.values()
        for one, other in itertools.combinations(sorted(group, key=lambda item: getattr(item, free)), 2)
        if getattr(one, free) < getattr(other, free)
    ]


def sensitive(metric: Metric) -> str | None:
    """R1: the value reacts to each factor, with the other one fixed."""
    _, items = next(iter(spaces(metric)))
    for fixed, free in (("auroc", "accuracy"), ("accuracy", "ranking")):
        pairs = _pairs(items, fixed)
        if all(abs(value(metric.name, one) - value(metric.name, other)) < EPS for one, other in pairs):
            one, other = max(pairs, key=lambda pair: pair[1].accuracy - pair[0].accuracy)
            return f"blind to {free}: {_shown(metric, one, other)}"
    return None


def monotone(metric: Metric) -> str | None:
    """R2: with one factor fixed, the value improves strictly when the other one does."""
    for when, items in spaces(metric):
        worst, found = -np.inf, None
        for fixed in ("accuracy", "auroc"):
            for one, other in _pairs(items, fixed):
                rise = value(metric.name, other) - value(metric.name, one)
                if rise > max(worst + EPS, -EPS):
                    worst, found = rise, (fixed, one, other)
        if found is not None:
            fixed, one, other = found
            free = "AUROC" if fixed == "accuracy" else "accuracy"
            kept, before, after = (
                float(getattr(item, name.lower())) for item, name in ((one, fixed), (one, free), (other, free))
            )
            label = "accuracy" if fixed == "accuracy" else "AUROC"
            factors = f"{label} {kept:.3g}, {free} {before:.3g} → {after:.3g}"
            return f"{when}{factors}: {_shown(metric, one, other)}"
    return None


def like_auroc(metric: Metric) -> str | None:
    """R3: at a fixed accuracy the value is a function of the AUROC of failures alone."""
    for when, items in spaces(metric):
        widest, found = EPS, None
        groups: dict[tuple[Fraction, Fraction], list[Item]] = {}
        for item in items:
            groups.setdefault((item.accuracy, item.auroc), []).append(item)
        for group in groups.values():
            ordered = sorted(group, key=lambda item: value(metric.name, item))
            gap = value(metric.name, ordered[-1]) - value(metric.name, ordered[0])
            if gap > widest:
                widest, found = gap, (ordered[-1], ordered[0])
        if found is not None:
            one, other = found
            factors = f"accuracy {float(one.accuracy):.3g}, AUROC {float(one.auroc):.3g} both"
            return f"{when}{factors}: {_shown(metric, one, other)}"
    return None


def any_score(metric: Metric) -> str | None:
    """R4: scores of any scale are accepted, and only their order counts."""
    loss, confidence = [0.0, 1.0, 0.0, 0.0, 1.0], np.array([0.9, 0.8, 0.6, 0.4, 0.3])
    before = metric.evaluate(TieBlocks.from_samples(loss, confidence, oracle=True)).value
    for name, transformed in (
        ("10 g - 5", 10.0 * confidence - 5.0),
        ("g³", confidence**3),
        ("ln g", np.log(confidence)),
    ):
        try:
            after = metric.evaluate(TieBlocks.from_samples(loss, transformed, oracle=True)).value
        except UnmetNeed:
            return f"refuses the scores {name}, from {transformed[-1]:.3g} to {transformed[0]:.3g}"
        if abs(after - before) > EPS:
            return f"{name} instead of g: value {before:.4g} → {after:.4g}"
    return None


def any_loss(metric: Metric) -> str | None:
    """R5: losses of any size are accepted, and a smaller loss of any sample is a strict improvement."""
    confidence = [0.9, 0.8, 0.6, 0.4, 0.3]
    graded, large = [0.0, 0.5, 0.2, 1.0, 0.7], [0.0, 3.5, 0.2, 12.0, 0.7]
    for name, loss in (("graded losses", graded), ("losses above 1", large)):
        try:
            metric.require(TieBlocks.from_samples(loss, confidence, oracle=True))
        except UnmetNeed:
            return f"refuses {name} ({', '.join(f'{x:g}' for x in loss)})"
    sign = 1.0 if metric.direction == "lower" else -1.0
    rng = np.random.default_rng(0)
    for _ in range(200):
        loss = rng.integers(0, 5, size=5) / 2.0
        i = int(rng.integers(5))
        if loss[i] == 0.0 or len(set(loss)) == 1:
            continue
        smaller = loss.copy()
        smaller[i] -= 0.5
        if len(set(smaller)) == 1:
            continue
        before, after = (metric(TieBlocks.from_samples(column, confidence, oracle=True)) for column in (loss, smaller))
        if sign * (after - before) > -EPS:
            columns = " → ".join("".join(f"{x:g} " for x in column).strip() for column in (loss, smaller))
            return f"losses {columns}: value {before:.4g} → {after:.4g}"
    return None


CHECKS = {"R1": sensitive, "R2": monotone, "R3": like_auroc, "R4": any_score, "R5": any_loss}


@cache
def table() -> dict[str, dict[str, str | None]]:
    """Return for every metric over all thresholds the counter-example of each requirement, or None."""
    entries = [metrics.get(name) for name in metrics.names("blocks", "probabilities")]
    return {
        metric.name: {rule: check(metric) for rule, check in CHECKS.items()}
        for metric in entries
        if metric.multi_threshold and metric.input == "blocks"
    }


def disagreements() -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return the cells where the paper names a failure and none was found, and those where it is the other way.

    The second list is no contradiction: section 2.4 does not go through all five requirements for every metric.
    """
    found = table()
    cells = [(name, rule) for name in PAPER if name in found for rule in CHECKS]
    failing = {cell: found[cell[0]][cell[1]] is not None for cell in cells}
    named = {(name, rule) for name, rules in PAPER.items() for rule in rules}
    return (
        [cell for cell in cells if cell in named and not failing[cell]],
        [cell for cell in cells if cell not in named and failing[cell]],
    )


def as_rst(found: dict[str, dict[str, str | None]]) -> str:
    """Return the table of marks, then the counter-examples, in reStructuredText."""
    lines = [
        ".. role:: holds\n   :class: holds\n",
        ".. role:: fails\n   :class: fails\n",
        ".. list-table::\n   :header-rows: 1\n   :widths: 30 14 14 14 14 14\n",
        "   * - Metric",
    ]
    lines += [f"     - {rule}: {title}" for rule, title in TITLES.items()]
    refuted, beyond = disagreements()
    for name, cells in found.items():
        lines.append(f"   * - :ref:`{metrics.get(name).label} <metric-{name}>`")
        for rule, example in cells.items():
            mark = ":holds:`✓`" if example is None else ":fails:`✗`"
            note = " [1]_" if (name, rule) in refuted else " [2]_" if (name, rule) in beyond else ""
            lines.append(f"     - {mark}{note}")
    lines += [
        "",
        ".. [1] The paper names this as a failure; the search finds no counter-example.",
        ".. [2] A failure that section 2.4 of the paper does not name.",
        "",
        ".. rubric:: Counter-examples\n",
    ]
    for name, cells in found.items():
        failures = [(rule, example) for rule, example in cells.items() if example is not None]
        if failures:
            lines.append(f"**{metrics.get(name).label}**\n")
            lines += [f"- :fails:`{rule}` {example}" for rule, example in failures] + [""]
    return "\n".join(lines)


if __name__ == "__main__":
    print(as_rst(table()))
