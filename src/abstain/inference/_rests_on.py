"""The one measure of how many independent units an interval or a p-value rests on, and what is said of few."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from abstain._checks import to_numpy
from abstain._typing import FloatArray, IntArray
from abstain.blocks import TieBlocks
from abstain.inference._resample import Sampling

#: Below so many effective units their number is said.
SAID = 30.0
#: Units below which it matters that some may be missing: of 20 without a wrong one, 14 % may be wrong.
FEWEST = 20.0
#: Clusters below which nothing is said: the range of K values holds their median with the probability 1 - 2^(1 - K),
#: and swaps of K clusters have no p-value below 2^(1 - K). That is 0.05 here; with fewer the shape of a distribution
#: would have to be known.
LEAST = 5.32
#: What is said of two that no row distinguishes, or hardly.
EQUAL = "the two are equal on every sample: the interval has room for rows that differ and were not seen"
HARDLY = EQUAL.replace("are equal on every sample", "hardly differ")


def effective_number(amounts: FloatArray, unit: IntArray | None = None, times: FloatArray | None = None) -> float:
    """Return how many equal amounts would be as unevenly shared as these: (sum a)^2 / sum a^2, 0 of nothing.

    The one measure of how many independent units something rests on: rows by their weight, clusters by their rows
    (``unit``: the cluster of each row, in which amounts are summed), errors by their loss, rows that differ by what
    they move. ``times``: how many rows each amount stands for.
    """
    each = np.ones(len(amounts)) if times is None else times
    if unit is not None:
        amounts = np.bincount(unit, amounts * each).astype(np.float64)
        each = np.ones(len(amounts))
    total, square = float(np.abs(amounts) @ each), float(amounts**2 @ each)
    return total**2 / square if square > 0.0 else 0.0


class Units(NamedTuple):
    """Independent units, ``rows`` or ``clusters``: how much each stands for, and how often it occurs."""

    amounts: FloatArray
    times: FloatArray
    unit: str

    @property
    def number(self) -> float:
        """The effective number."""
        return effective_number(self.amounts, None, self.times)

    @property
    def unlike(self) -> float:
        """The effective number of clusters where a few hold most rows, so that it is below half of them; else inf.

        Among clusters of like size a wrong one that is seen stands for others. Small ones say little about large ones.
        """
        few = self.unit == "clusters" and self.number < 0.5 * np.count_nonzero(self.amounts)
        return self.number if few else math.inf

    def most_wrong(self, alpha: float) -> float:
        r"""Return the largest share that is wrong where none of these is, with a probability of alpha at least.

        Unit i, a share :math:`w_i` of the whole, is right with the probability :math:`q_i`; all are with their product.
        If that is alpha, what is wrong, the sum of :math:`w_i (1 - q_i)`, is largest for
        :math:`q_i = \min(\lambda / w_i, 1)`. Of n equal units it is the binomial's :math:`1 - \alpha^{1/n}`. So the
        bound holds whatever errors have to do with these amounts.
        """
        share = self.amounts / (self.amounts @ self.times)
        order = np.argsort(-share)[: np.count_nonzero(share)]
        share, times = share[order], self.times[order]
        counted = np.cumsum(times)
        level = (math.log(alpha) + np.cumsum(times * np.log(share))) / counted
        last = int(np.argmax(level >= np.append(np.log(share[1:]), -np.inf)))
        return float(np.cumsum(times * share)[last] - counted[last] * math.exp(level[last]))


def units_of(blocks: TieBlocks, sampling: Sampling, within: int | None = None) -> Units:
    """Return the independent units of a table; ``within``: of its first so many tie blocks."""
    amounts, times = _amounts(blocks, within)
    if sampling.clusters is None:
        return Units(amounts, times, "rows")
    sums = np.bincount(sampling.clusters, amounts * times).astype(np.float64)
    return Units(sums, np.ones(sums.size), "clusters")


def _amounts(blocks: TieBlocks, within: int | None) -> tuple[FloatArray, FloatArray]:
    """Return the weight of each row, 0 beyond so many tie blocks, and how often it occurs."""
    samples, number = blocks._kept, blocks._kept.loss.size
    weight = np.ones(number) if samples.sample_weight is None else np.asarray(to_numpy(samples.sample_weight))
    weight = weight if within is None else weight * (to_numpy(samples.block) < within)
    return weight, np.ones(number) if samples.times is None else np.asarray(samples.times, dtype=np.float64)


def with_whole_clusters(value: FloatArray, worst: FloatArray, number: FloatArray, level: float) -> FloatArray:
    """Return a mean loss if the sample lacks clusters that are wrong as a whole; an upper limit is at least this.

    Let a be what the level leaves out on one side. If a share s = 1 - a^(1/m) of all clusters is wrong as a whole, m
    clusters hold none of them with the probability a. Such a sample is one of the other clusters, whatever these show,
    so no limit that rests on them alone allows for the share. With it, and with scores like those of the others, the
    mean is 1 - s times theirs plus s times the worst.
    It grows with the mean of the others. From 20 clusters on the mean stays as it is: there the sample itself counts.
    """
    share = (1.0 - (0.5 - 0.5 * level) ** (1.0 / number)) * (number < FEWEST)
    return np.asarray(value + share * (worst - value))


@dataclass(frozen=True, order=True)
class RestsOn:
    """The effective number of independent units that something rests on, and what they are; by itself its sentence.

    Examples
    --------
    >>> from abstain.inference import RestsOn
    >>> print(RestsOn(11.6, "clusters"))
    rests on about 12 clusters
    >>> RestsOn(1.2, "rows").counted
    'about 1 row'
    """

    number: float
    unit: str

    def __str__(self) -> str:
        """Return the sentence."""
        return f"rests on {self.counted}"

    @property
    def counted(self) -> str:
        """How many units these are."""
        return f"about {self.number:.0f} {self.unit if round(self.number) != 1 else self.unit.rstrip('s')}"

    @property
    def note(self) -> str | None:
        """The sentence where the number is small."""
        return str(self) if self.number < SAID * (1.0 - 1e-9) else None  # however its sums are rounded

    @property
    def refusal(self) -> str | None:
        """Why nothing is said of so few clusters."""
        if self.unit != "clusters" or self.number >= LEAST:
            return None
        return f"no interval and no p-value: it {self}; give at least 6 of similar size"


def rests_on(blocks: TieBlocks, sampling: Sampling, within: int | None = None) -> RestsOn:
    """Return what a metric of a table rests on: its rows, clusters, errors or right answers, whichever are fewest.

    ``within``: it looks at the first so many tie blocks only.
    """
    if within is None and blocks.binary and sampling.clusters is None and blocks._kept.sample_weight is None:
        errors = blocks.total_loss
        found = {"rows": float(blocks.n), "errors": errors, "right answers": blocks.n - errors}
    else:
        unit, (weight, times) = sampling.clusters, _amounts(blocks, within)
        loss = np.asarray(to_numpy(blocks._kept.loss), dtype=np.float64)
        found = {"rows" if unit is None else "clusters": effective_number(weight, unit, times)}
        if found.get("clusters", LEAST) < LEAST:  # too few for whatever they hold
            return fewest(found)
        among = "" if unit is None else "clusters with "
        found[f"{among}errors"] = effective_number(weight * loss, unit, times)
        if blocks.binary:
            found[f"{among}right answers"] = effective_number(weight * (1.0 - loss), unit, times)
    return fewest(found)


def fewest(numbers: dict[str, float]) -> RestsOn:
    """Return the smallest of these numbers; units of which there are none are left out, for nothing rests on them."""
    unit = min((each for each in numbers if numbers[each] > 0.0), key=numbers.__getitem__, default="rows")
    return RestsOn(numbers.get(unit, 0.0), unit)


def joined(*notes: str | None) -> str | None:
    """Return the notes as one text, or None without any."""
    return "; ".join(note for note in notes if note) or None
