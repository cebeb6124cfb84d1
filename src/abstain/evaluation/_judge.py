"""The tests of an evaluation: which score is best, which risks are certified, which groups differ.

All of it is about independent rows of one sample; where rows depend, or scores have rows of their own, nothing is said.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from abstain import metrics
from abstain._typing import FloatArray
from abstain.blocks import TieBlocks

if TYPE_CHECKING:
    from abstain.curve import OperatingPoint
    from abstain.evaluation._comparison import Comparison
    from abstain.evaluation._result import Evaluation, ScoreSummary
    from abstain.inference import GroupComparison
    from abstain.thresholds import RiskLevel

#: Risks that are certified for every score, fixed before any data: delta is shared by all of them.
RISK_LEVELS = (0.01, 0.02, 0.05, 0.1, 0.2)
#: Probability that any certified level of an evaluation is wrong.
DELTA = 0.05
#: The risk that the verdict speaks of; of a graded loss the coverage.
RISK, COVERAGE = 0.05, 0.8
#: A certified level, or a measured risk, for a smaller share of the rows is not reported.
LEAST = 0.01
#: By what scores are ranked.
BY = "augrc"
#: More groups than this have too many pairs to test.
MOST_GROUPS = 40


class Rate(NamedTuple):
    """The error rate of the answers in a group, their number, the interval of the rate, and the group."""

    risk: float
    n: int
    low: float
    high: float
    name: str


class Judged:
    """Tests of one evaluation, each made when it is first asked for."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self._levels: dict[str, tuple[RiskLevel, ...]] = {}
        self.uncertified = ""

    @cached_property
    def whole(self) -> dict[str, ScoreSummary]:
        """Each score on all rows."""
        return {each.score: each for each in self._evaluation.summaries if each.group is None}

    @cached_property
    def independent(self) -> bool:
        """Whether rows are independent of each other, as far as is known."""
        facts = self._evaluation.provenance
        each = facts.get("models", {"": facts}).values()
        return "few_labels" not in facts and not any(one["clustered"] for one in each)

    @property
    def copies(self) -> list[str]:
        """What is to be said of rows that are copies of others; of all scores alike, since it is about the rows."""
        facts = self._evaluation.provenance
        found = [each.get("copied_rows") for each in facts.get("models", {"": facts}).values()]
        return list(dict.fromkeys(each for each in found if each is not None))

    def odd_values(self, score: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield which caveats the values of a score ask for, and with what: codes, mixed units, doubtful readings."""
        from abstain.outputs import doubts
        from abstain.thresholds import unusual

        blocks = self.whole[score].curve.blocks
        rows = rows_of(blocks)
        values = blocks.score if rows is None else rows[1]
        yield from ((kind, {"score": score} | found) for kind, found in unusual(values))
        if rows is not None and np.isfinite(values).all():
            graded = self._evaluation.provenance.get("understood", {}).get("loss", "0/1") != "0/1"
            nothing = dict.fromkeys(("confidence", "predictions", "labels", "logits", "probabilities", "passes"))
            given = {**nothing, "scores": {score: values}, "loss": rows[0] if graded else None}
            yield from (("doubtful_reading", {"doubt": str(each)}) for each in doubts(given, rows[0], None))

    def ranking(self, score: str) -> tuple[float, float, float] | None:
        """Return the AUROC of failures with its interval, that of a score with one value at one half."""
        for each in self._evaluation.measurements:
            if (each.metric, each.group, each.score) == ("auroc_f", None, score) and each.value == each.value:
                constant = len(self.whole[score].curve.blocks.score) == 1
                return (each.value, 0.5, 0.5) if constant else (each.value, each.low, each.high)
        return None

    @property
    def comparable(self) -> bool:
        """Whether all scores were measured on the same rows."""
        return bool(self._evaluation.provenance.get("same_samples")) and self.independent

    @property
    def level(self) -> float:
        """Of intervals and tests."""
        return float(self._evaluation.provenance.get("level") or 0.95)

    @cached_property
    def best(self) -> str | None:
        """The score of least AUGRC, the first of equals; None where scores cannot be compared."""
        if not self.whole or (len(self.whole) > 1 and not self.comparable):
            return None
        area = metrics.get(BY)
        return min(self.whole, key=lambda name: area(self.whole[name].curve.blocks))

    @cached_property
    def comparison(self) -> Comparison | None:
        """Paired tests of all scores; None where there is one, or rows are not known any more."""
        tables = {name: each.curve.blocks for name, each in self.whole.items()}
        known = {name: each.samples for name, each in tables.items()}
        sizes = {0 if each is None or each.times is not None else len(each.loss) for each in known.values()}
        if not self.comparable or len(tables) < 2 or len(sizes) > 1 or sizes == {0}:
            return None
        from abstain.evaluation._comparison import compare_tables

        return compare_tables(tables, BY, self.level)

    def levels(self, score: str) -> tuple[RiskLevel, ...]:
        """Return what is certified of a score: for each risk level its threshold; empty where none can be."""
        if score not in self._levels:
            self._levels[score] = self._certified(score)
        return self._levels[score]

    def place(self, score: str) -> tuple[OperatingPoint, float | None] | None:
        """Return the point that the verdict describes, and the risk certified there, None if none is.

        That of the certified level at or next above the risk of the verdict, else of the largest certified level;
        without one where the measured risk is below the limit, else at the usual coverage.
        """
        curve, levels = self.whole[score].curve, self.levels(score)
        if (kept := nearest(levels)) is not None and kept.coverage >= LEAST:
            return curve.at(threshold=kept.threshold), kept.risk
        point = curve.at(risk=RISK) if curve.blocks.binary else curve.at(coverage=COVERAGE)
        if point.reason is not None or point.coverage < LEAST:
            point = curve.at(coverage=COVERAGE)
        return None if point.reason is not None else (point, None)

    def _certified(self, score: str) -> tuple[RiskLevel, ...]:
        """Certify all levels of a score; where none can be, :attr:`uncertified` says why."""
        blocks = written_out(self.whole[score].curve.blocks)
        samples, level = blocks.samples, self._evaluation.provenance.get("level")
        weighted = (samples is not None and samples.sample_weight is not None) or not np.array_equal(
            blocks.weight, blocks.count
        )
        reasons = {
            "the loss is not 0/1 ('abstain threshold' with --max-loss can certify)": not blocks.binary,
            "rows depend on each other ('abstain threshold' with --clusters can certify)": not self.independent,
            "rows count by weights ('abstain threshold' can certify)": weighted,
            "no intervals were asked for (level 0)": samples is None and level is None,
            "single rows are not known any more": samples is None or samples.times is not None,
            "".join(self.copies[:1]): bool(self.copies),
        }
        self.uncertified = next((why for why, holds in reasons.items() if holds), "")
        if self.uncertified:
            return ()
        from abstain.thresholds import certify_levels

        blocks._let_go()  # the order of the rows takes as much memory
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            tried = len(RISK_LEVELS) * len(self.whole)
            found = certify_levels(blocks, RISK_LEVELS, DELTA / tried, tried)
        self.uncertified = str(caught[0].message) if caught else ""
        return () if caught else found

    @cached_property
    def groups(self) -> dict[str, GroupComparison]:
        """The risk of answering everything in the groups of each column; columns with too many groups are left out."""
        if not self.independent or not self.whole or self._evaluation.provenance.get("level") is None:
            return {}
        found, score = {}, self.best or next(iter(self.whole))
        for column, summaries in by_column(self._evaluation, score).items():
            rows = [rows_of(each.curve.blocks) for each in summaries.values()]
            if not 1 < len(rows) <= MOST_GROUPS or any(each is None or each[2] is not None for each in rows):
                continue
            losses = [each[0] for each in rows if each is not None]
            loss, confidence = np.concatenate(losses), np.concatenate([each[1] for each in rows if each is not None])
            names = np.repeat(np.array(list(summaries)), [len(each) for each in losses])
            from abstain.inference import compare_groups  # only where there are groups

            found[column] = compare_groups(loss, confidence, names, "risk", level=self.level)
        return found


def rates_of(members: Mapping[str, ScoreSummary], threshold: float, level: float) -> list[Rate]:
    """Return the error rates of the answers in groups, the highest first; their intervals hold together."""
    from abstain.inference import clopper_pearson

    found, sure = [], 1.0 - (1.0 - level) / len(members)
    for name, summary in members.items():
        at, blocks = summary.curve.at(threshold=threshold), summary.curve.blocks
        if at.n_accepted and np.array_equal(blocks.weight, blocks.count):
            errors = round(at.selective_risk * at.n_accepted)
            found.append(
                Rate(errors / at.n_accepted, at.n_accepted, *clopper_pearson(errors, at.n_accepted, sure), name)
            )
    return sorted(found, reverse=True)


def nearest(levels: Sequence[RiskLevel]) -> RiskLevel | None:
    """Return the certified level of the verdict's risk, else of the next larger one, else of the largest."""
    kept = [each for each in levels if each.attained]
    return next((each for each in kept if each.risk >= RISK), kept[-1] if kept else None)


def by_column(evaluation: Evaluation, score: str) -> dict[str, dict[str, ScoreSummary]]:
    """Return the groups of each group column, by their value."""
    found: dict[str, dict[str, ScoreSummary]] = {}
    for each in evaluation.summaries:
        if each.group is not None and each.score == score:
            column, _, value = each.group.partition(" = ")
            found.setdefault(column, {})[value] = each
    return found


#: More rows than this are not written out again from their counts.
MOST_ROWS = 2_000_000


def written_out(blocks: TieBlocks) -> TieBlocks:
    """Return a table that keeps each of its rows, where it keeps the counts of few enough; else the same table."""
    samples = blocks.samples
    if samples is None or samples.times is None or blocks.n > MOST_ROWS:
        return blocks
    which = np.repeat(np.arange(samples.times.size), samples.times.astype(np.intp))
    score = blocks.score[np.asarray(samples.block)]
    weight = None if samples.sample_weight is None else samples.sample_weight[which]
    return TieBlocks.from_samples(samples.loss[which], score[which], weight, oracle=True, keep_samples=True)


def rows_of(blocks: TieBlocks) -> tuple[FloatArray, FloatArray, FloatArray | None] | None:
    """Return loss, score and weight of each row, in the order of the rows; None where the table did not keep them."""
    blocks = blocks.once("written out", lambda: written_out(blocks))
    samples = blocks.samples
    if samples is None or samples.times is not None:
        return None
    weight = None if samples.sample_weight is None else np.asarray(samples.sample_weight, dtype=np.float64)
    score = blocks.score[np.asarray(samples.block)] if samples.score is None else samples.score
    return np.asarray(samples.loss, dtype=np.float64), score, weight
