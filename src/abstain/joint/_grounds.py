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
    return Verdict(Status.COMPARED, score=first, n=n, full_risk=1.0 - accuracy, caveats=tuple(caveats))


def with_gains(verdict: Verdict, gains: Sequence[Mapping[str, Any]]) -> Verdict:
    """Return the verdict with the largest gain of a second threshold, its p-value adjusted for all gains tried."""
    found = []
    for metric in dict.fromkeys(str(row["metric"]) for row in gains):
        best = max((row for row in gains if row["metric"] == metric), key=lambda row: float(row["gain"]))
        p = min(1.0, len(gains) * float(best["p"])) if best.get("n_permutations") else math.nan
        found.append(Better(
            f"a second threshold on {best['score']}", "one threshold", f"gain in {metric.upper().replace('_', '-')}",
            float(best["gain"]), float(best["null_mean"]), p=p, significant=p < 0.05, where=str(best["set"]),
            same_answers=False,
        ))  # fmt: skip
    return replace(verdict, comparison=replace(found[0], also=tuple(found[1:]))) if found else verdict


def of_protocol(result: ProtocolResult) -> list[dict[str, Any]]:
    """Return what one score does, and of which foreign set it accepts most rows."""
    first, metric = result.confidence, "fpr_at_id_recall95"
    alone = {name: result.mean(name)[0] for name in ("f1", "aurc", "accuracy")}
    every = {name: result.mean(metric, group=name)[0] for names in result.groups.values() for name in names}
    worst = max(every, key=lambda name: every[name])
    scores = {each: result.mean(metric, score=each, group=worst)[0] for each in result.scores}
    best = min(scores, key=lambda name: scores[name])
    return [
        {"about": "single", "score": first, **alone},
        {"about": "foreign", "chosen": False, "familiar": 0.0, "answered": 0.0, "bad": 0.0,
         "at": "", "from95": "", "score": first, "set": worst, "share": every[worst], "best": best,
         "least": scores[best], "besides": "", "count": f", the most of {len(every)} sets" if len(every) > 1 else ""},
        {"about": "no threshold", "what": "This evaluation", "others": False, "how": "",
         "apart": True, "few": False,
         "of": "in-distribution rows alone, foreign ones left out"},
        *({"about": "reversed", "score": score, "set": name, "auroc": value}
          for score, name, value in reversed_scores(result) if score != first),
    ]  # fmt: skip


def grounds_of(gains: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what the verdict of gains beside noise rests on: the largest in each metric, p times all that were tried.

    ``floor``: the least p that so many permutations can give, times as many; ``enough``: how many could say 5 %.
    """
    found, count = [], len(gains)
    for metric in dict.fromkeys(str(row["metric"]) for row in gains):
        best = max((row for row in gains if row["metric"] == metric), key=lambda row: float(row["gain"]))
        n = int(best.get("n_permutations", 0))
        found.append({
            "about": "gain", "set": best["set"], "detector": best["score"], "gain": best["gain"] + 0.0,
            "metric": metric.upper().replace("_", "-"), "noise": best["null_mean"], "p": min(1.0, count * best["p"]),
            "count": count, "n": n, "floor": count / (n + 1) if n else 0.0, "enough": 20 * count,
        })  # fmt: skip
    return found
