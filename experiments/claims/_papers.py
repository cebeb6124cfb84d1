"""Checks of the AUGRC paper on the numbers that it prints."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain.inference import kendall_tau
from experiments.claims._ledger import check
from experiments.claims._sources import holds, printed

UPPER, LOWER = "table4_upper_hparams_tuned_per_metric", "table4_lower_hparams_tuned_on_augrc"


def t3() -> dict[str, list[float]]:
    """Return Table 3."""
    found: dict[str, list[float]] = printed("augrc")["table3_augrc_x1000"]
    return found


def ranks(half: str, metric: str) -> dict[str, list[int]]:
    """Return a ranking of Table 4."""
    return {name: row[f"{metric}_rank"] for name, row in printed("augrc")[half].items()}


def sets() -> list[Any]:
    """Return the columns of Tables 3 and 4."""
    return list(printed("augrc")["columns"])


def _top(half: str, metric: str, j: int, most: int) -> set[str]:
    return {name for name, row in ranks(half, metric).items() if row[j] <= most}


def _compared(one: str, two: str) -> tuple[int, int, int]:
    a, b = np.array(t3()[one]), np.array(t3()[two])
    return int((a < b).sum()), int((a > b).sum()), int((a == b).sum())


@check("A29")
def top_three() -> str:
    parts = []
    for half, text in ((UPPER, "each tuned by its metric"), (LOWER, "equal tuning")):
        iid = [c["train"] for j, c in enumerate(sets()) if c["shift"] == "iid"
               and _top(half, "aurc", j, 3) != _top(half, "augrc", j, 3)]  # fmt: skip
        any_ = {c["train"] for j, c in enumerate(sets()) if _top(half, "aurc", j, 3) != _top(half, "augrc", j, 3)}
        parts.append(f"{text}: iid {len(iid)} of 6 ({' '.join(iid)}), any shift {len(any_)} of 6")
    holds(parts[0].startswith("each tuned by its metric: iid 3"), parts)
    return "; ".join(parts)


@check("A30")
def rankings_differ() -> str:
    parts = []
    for half in (UPPER, LOWER):
        one, two = ranks(half, "aurc"), ranks(half, "augrc")
        gaps = np.array([np.abs(np.subtract(one[name], two[name])) for name in one])
        taus = [kendall_tau([one[n][j] for n in one], [two[n][j] for n in one]) for j in range(21)]
        winners = sum(_top(half, "aurc", j, 1) != _top(half, "augrc", j, 1) for j in range(21))
        common = sum(bool(_top(half, "aurc", j, 1) & _top(half, "augrc", j, 1)) for j in range(21))
        parts.append(
            f"{int((gaps > 0).sum())} of 273 ranks differ ({int((gaps >= 3).sum())} by 3 or more), winners in {winners} of 21 "
            f"columns ({common} share one), tau {min(taus):.2f} to {max(taus):.2f}, median {np.median(taus):.2f}"
        )
    return "each tuned by its metric: " + parts[0] + "; equal tuning: " + parts[1]


@check("A34")
def dg_res() -> str:
    j = next(j for j, c in enumerate(sets()) if c == {"train": "CIFAR-10", "shift": "iid", "new_class_set": None})
    found = {name: (ranks(UPPER, "aurc")[name][j], ranks(UPPER, "augrc")[name][j], t3()[name][j])
             for name in ("DG-Res", "MCD-PE")}  # fmt: skip
    holds(found["DG-Res"][0] > found["MCD-PE"][0] and found["DG-Res"][1] < found["MCD-PE"][1], found)
    return "CIFAR-10 iid, rank by AURC, by AUGRC, AUGRC x 1000: " + "; ".join(f"{n} {v}" for n, v in found.items())


@check("A37")
def msr_is_not_beaten() -> str:
    rivals = {name: _compared(name, "MSR") for name in t3() if name != "MSR"}
    best = max(rivals, key=lambda name: rivals[name][0])
    beaten = sum(min(t3()[n][j] for n in rivals) < t3()["MSR"][j] for j in range(21))
    holds(all(worse > 0 for _, worse, _ in rivals.values()), rivals)
    better, worse, _ = rivals[best]
    return f"best rival {best}: better in {better}, worse in {worse} of 21; some score beats MSR in {beaten} of 21"


@check("A38")
def dropout() -> str:
    msr, pe = _compared("MCD-MSR", "MSR"), _compared("MCD-PE", "PE")
    holds(msr[0] > 10, msr)
    return f"MCD-MSR against MSR better, worse, equal {msr}; MCD-PE against PE {pe}"


@check("A39")
def temperature() -> str:
    mls, msr = _compared("TEMP-MLS", "MLS"), _compared("TEMP-MLS", "MSR")
    holds(mls[1] > 0 and msr[2] > 5, (mls, msr))
    return f"TEMP-MLS against MLS better, worse, equal {mls}; against MSR {msr}"


def _of_printed(names: list[str]) -> dict[str, list[int]]:
    return {name: [1 + sum(t3()[o][j] < t3()[name][j] for o in names) for j in range(21)] for name in names}


@check("A42")
def thirteen_scores() -> str:
    here, there = set(t3()), set(ranks(UPPER, "augrc"))
    found = _of_printed(list(t3()))
    renamed = {("MCD-EE" if name == "MCD-MI" else name): row for name, row in found.items()}
    wrong = sum(renamed[n][j] != row[j] for n, row in ranks(UPPER, "augrc").items() for j in range(21))
    holds(here != there, "the names agree")
    return f"only in Table 3: {' '.join(here - there)}, only in Table 4: {' '.join(there - here)}; with them {wrong} of 273 ranks differ"


@check("A43")
def ranks_of_strings() -> str:
    common = [name for name in t3() if name in ranks(UPPER, "augrc")]
    found = _of_printed(common)
    agree = 0
    for j in range(21):
        column = {name: ranks(UPPER, "augrc")[name][j] for name in common}
        agree += sum(found[n][j] == 1 + sum(column[o] < column[n] for o in common) for n in common)
    ties = sum(len(common) - len({t3()[n][j] for n in common}) for j in range(21))
    holds(agree == 252, agree)
    return f"ranks of the printed Table 3 equal those of Table 4 in {agree} of 252 cells (12 scores), with {ties} ties in print"


@check("A44")
def selected_rewards() -> str:
    table = printed("augrc-selection")
    names = [c["train"] for c in table["columns"]]
    inside = sum(
        value in table["reward_candidates"][name]
        for row in table["table1_reward"]["rows"].values()
        for name, value in zip(names, row, strict=True)
    )
    holds(inside == 24, inside)
    return f"{inside} of 24 printed rewards are among the candidates that the paper names; which metric gives them needs the networks"
