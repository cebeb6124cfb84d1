"""What the verdict of a joint evaluation rests on: the confidence alone, OOD rows, and gains compared with noise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from abstain._result import Better, Caveat, Status, Verdict, percent
from abstain.joint._tables import reversed_scores

if TYPE_CHECKING:
    from abstain.joint._protocol import ProtocolResult

#: A difference in the share of accepted rows that is smaller than this matters little.
SLIGHT = 0.01


def verdict_of(result: ProtocolResult) -> Verdict:
    """Return what one score does alone, and of which OOD set it accepts most rows."""
    first, metric = result.confidence, "fpr_at_id_recall95"
    accuracy, f1, aurc = (result.mean(name)[0] for name in ("accuracy", "f1", "aurc"))
    every = {name: result.mean(metric, group=name)[0] for names in result.groups.values() for name in names}
    worst = max(every, key=lambda name: every[name])
    least, best = min((result.mean(metric, score=each, group=worst)[0], each) for each in result.scores)
    other = f"; {best} accepts {percent(least)}" if every[worst] - least >= SLIGHT else ""
    caveats = [Caveat.of("ood_accepted", score=first, share=every[worst], set=worst, best=other)]
    for score, name, value in reversed_scores(result):
        if score != first:
            caveats.append(Caveat.of("reversed", score=score, auroc=value, where=f", OOD rows of {name}"))
    n = result.sizes.get("ID", max(result.sizes.values(), default=0))
    reason = f"One threshold on {first} has an F1 of {f1:.4f} and an AURC of {aurc:.4f} with OOD rows"
    return Verdict(Status.COMPARED, first, n=n, full_risk=1.0 - accuracy, caveats=tuple(caveats), reason=reason)


def with_gains(verdict: Verdict, gains: Sequence[Mapping[str, Any]]) -> Verdict:
    """Return the verdict with the largest gain of a second threshold in each metric, p times all gains tried.

    Where so few permutations were made that no p-value could be below 5 %, there is no test.
    """
    best: dict[str, Mapping[str, Any]] = {}
    for row in gains:
        if row["metric"] not in best or row["gain"] > best[row["metric"]]["gain"]:
            best[row["metric"]] = row
    found: list[Better] = []
    for metric, row in best.items():
        n, p = row.get("n_permutations", 0), min(1.0, len(gains) * row["p"])
        if len(gains) / (n + 1) >= 0.05 and p >= 0.05 and row["gain"] > row["null_mean"]:
            verdict, p = verdict.but(Caveat.of("few_permutations", n=n, enough=20 * len(gains))), math.nan
        label = f"gain in {metric.upper().replace('_', '-')}"
        pair = Better(f"a second threshold on {row['score']}", "chance", label, row["gain"], row["null_mean"], p=p)
        found.append(replace(pair, significant=p < 0.05, where=str(row["set"]), claim=f"{pair.best} helps"))
    return replace(verdict, comparison=replace(found[0], also=tuple(found[1:]))) if found else verdict
