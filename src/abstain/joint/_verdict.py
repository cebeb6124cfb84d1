"""What the verdict of a joint evaluation rests on: the confidence alone, foreign rows, and gains beside noise."""

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
    accuracy = result.mean("accuracy")[0]
    every = {name: result.mean(metric, group=name)[0] for names in result.groups.values() for name in names}
    worst = max(every, key=lambda name: every[name])
    scores = {each: result.mean(metric, score=each, group=worst)[0] for each in result.scores}
    best = min(scores, key=lambda name: scores[name])
    other = f"; {best} accepts {percent(scores[best])}" if every[worst] - scores[best] >= SLIGHT else ""
    caveats = [Caveat.of("ood_accepted", score=first, share=every[worst], set=worst, best=other)]
    caveats += [
        Caveat.of("reversed", score=score, auroc=value, where=f", OOD rows of {name}")
        for score, name, value in reversed_scores(result)
        if score != first
    ]
    n = max(result.sizes.values(), default=0) if "ID" not in result.sizes else result.sizes["ID"]
    f1, aurc = (result.mean(name)[0] for name in ("f1", "aurc"))
    reason = f"One threshold on {first} has an F1 of {f1:.4f} and an AURC of {aurc:.4f} with OOD rows"
    return Verdict(Status.COMPARED, score=first, n=n, full_risk=1.0 - accuracy, caveats=tuple(caveats), reason=reason)


def with_gains(verdict: Verdict, gains: Sequence[Mapping[str, Any]]) -> Verdict:
    """Return the verdict with the largest gain of a second threshold in each metric, p times all gains tried.

    Where so few permutations were made that no p-value could be below 5 %, there is no test.
    """
    found, count = [], len(gains)
    for metric in dict.fromkeys(str(row["metric"]) for row in gains):
        best = max((row for row in gains if row["metric"] == metric), key=lambda row: float(row["gain"]))
        n, p = int(best.get("n_permutations", 0)), min(1.0, count * float(best["p"]))
        if count / (n + 1) >= 0.05 and p >= 0.05 and best["gain"] > best["null_mean"]:
            verdict = verdict.but(Caveat.of("few_permutations", n=n, enough=20 * count))
            p = math.nan
        found.append(Better(
            f"a second threshold on {best['score']}", "noise", f"gain in {metric.upper().replace('_', '-')}",
            float(best["gain"]), float(best["null_mean"]), p=p, significant=p < 0.05, where=str(best["set"]),
            same_answers=False,
        ))  # fmt: skip
    return replace(verdict, comparison=replace(found[0], also=tuple(found[1:]))) if found else verdict
