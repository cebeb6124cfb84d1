"""Tie blocks from samples and frames, merged and weighted anew, and influence."""

from itertools import product

import numpy as np
import polars as pl

import abstain
from tests.recorded import tried
from tests.recorded.populations import rows

ALL = ("aurc", "augrc", "auroc_f", "risk", "e_aurc", "naurc", "coverage_at_risk", "risk_at_coverage")
FLAGS = ("keep_samples", "oracle", "moments")


def _table(found):
    """Return everything that a table holds."""
    if isinstance(found, str):
        return found
    kept, second = found.samples, found.moments
    columns = [found.score, found.weight, found.loss, found.count, found.cumulative_weight, found.selective_risk]
    facts = [found.binary, found.frequencies, found.n, found.n_rejected, found.n_dropped, found.largest_tie]
    facts += [found.distinct_share, found.mean_loss, found.total_loss, found.total_weight]
    samples = None if kept is None else [kept.order, kept.block, kept.score]
    moments = None if second is None else [second.weight2, second.weight2_loss, second.weight2_loss2]
    best = tried(lambda: found.oracle)
    optimum = best if isinstance(best, str) else [best.score, best.weight, best.loss, best.count, best.binary]
    constant = found.constant
    return [
        columns,
        facts,
        samples,
        moments,
        optimum,
        [constant.weight, constant.loss, constant.count, constant.binary],
    ]


def _kinds(seed, n):
    """Return columns with and without ties, graded losses, weights, zero weights and missing scores."""
    plain, tied, graded = rows(seed, n), rows(seed + 1, n, steps=4), rows(seed + 2, n, steps=5, graded=True)
    weight = np.where(np.arange(n) % 5 == 2, 0.0, np.round(graded["sample_weight"], 1))
    gaps = np.where(np.arange(n) % 4 == 1, np.nan, tied["confidence"])
    signed = np.where(np.arange(n) % 3 == 0, -0.0, tied["confidence"] - 0.5)
    return {
        "plain": (plain["loss"], plain["confidence"], None),
        "tied": (tied["loss"], tied["confidence"], None),
        "graded": (graded["loss"], graded["confidence"], None),
        "weights": (tied["loss"], tied["confidence"], np.ceil(weight)),
        "graded weights": (graded["loss"], graded["confidence"], weight),
        "gaps": (tied["loss"], gaps, None),
        "graded gaps": (np.where(np.isnan(gaps), 0.5, tied["loss"]), gaps, weight),
        "infinite": (tied["loss"], np.where(tied["confidence"] > 0.8, np.inf, signed), None),
        "empty blocks": (graded["loss"], graded["confidence"], 1.0 * (graded["confidence"] != 0.4)),
    }


def tables_of_samples():
    """Return tables by what they keep, and what becomes of missing scores."""
    for (name, (loss, score, weight)), policy in product(_kinds(111, 11).items(), ("raise", "reject", "drop")):
        for flags in ((), FLAGS, ("moments",)):
            given = dict.fromkeys(flags, True) | {"nan_policy": policy}
            if policy == "raise" or "gaps" in name:
                table = tried(abstain.TieBlocks.from_samples, loss, score, weight, **given)
                yield f"{name} {policy} {flags}", _table(table)


def tables_of_frames():
    """Return tables that an engine sums or that are read, of few and of many rows."""
    for n in (13, 400):
        for name, (loss, score, weight) in _kinds(121, n).items():
            columns = {"l": loss, "s": score} | ({} if weight is None else {"w": weight})
            frame = pl.DataFrame(columns)
            for lazy, policy in product((False, True), ("raise", "reject", "drop")):
                if policy == "raise" or "gaps" in name:
                    given = {"nan_policy": policy, "oracle": True, "moments": True}
                    given |= {"sample_weight": None if weight is None else "w"}
                    source = frame.lazy() if lazy else frame
                    table = tried(abstain.TieBlocks.from_frame, source, confidence="s", loss="l", **given)
                    wide = n > 100 and len(getattr(table, "score", "")) > 20
                    yield f"{n} {name} {lazy} {policy}", [table.n, table.mean_loss] if wide else _table(table)


def merged_and_weighted():
    """Return tables merged of parts, and weighted anew."""
    make = abstain.TieBlocks.from_samples
    for name, (loss, score, weight) in _kinds(131, 12).items():
        given = {"nan_policy": "drop", "moments": True, "oracle": True}
        parts = [make(loss[k::3], score[k::3], None if weight is None else weight[k::3], **given) for k in range(3)]
        yield f"{name} merged", _table(parts[0].merge(*parts[1:]))
        yield f"{name} mixed", _table(parts[0].merge(make(loss[:5], np.arange(5.0))))
        if "gaps" not in name:
            kept = make(loss, score, weight, keep_samples=True, **given)
            for k, fresh in enumerate((np.arange(12) % 3, np.linspace(0.1, 2.0, 12), np.ones(12))):
                yield f"{name} weighted {k}", _table(kept.reweight(fresh))


def influence_of_ranked_metrics():
    """Return the influence of each row, by metric, with and without ties and weights."""
    for steps in (0, 5):
        p = rows(steps, 40, steps=steps)
        for weight in (None, p["sample_weight"]):
            columns = {"loss": p["loss"], "confidence": p["confidence"], "sample_weight": weight}
            for name in ALL:
                yield f"{name} {steps} {weight is None}", tried(abstain.inference.influence, name, **columns)
