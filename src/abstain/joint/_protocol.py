"""The protocol: one ID set, named OOD sets in groups, several scores, training strategies and runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from inspect import signature

import numpy as np

from abstain._checks import UnmetNeed, fraction, one_of
from abstain._pace import Pace
from abstain._registry import known_options
from abstain._result import Result, Table
from abstain._typing import ArrayLike, Document
from abstain.blocks import TieBlocks
from abstain.joint import _detection, _tables
from abstain.joint._ds_aurc import areas
from abstain.joint._ds_f1 import exact
from abstain.joint._frontier import single_frontier
from abstain.joint._problem import Problem, errors, problem
from abstain.joint._single import aurc as single_aurc
from abstain.joint._tables import LAYOUTS, RECORDED

#: What takes how long, in parts of the shortest: one score on the ID set, one on both sets, and a pair of scores.
_ALONE, _CURVE, _PAIR = 1, 1, 8


@dataclass(frozen=True, eq=False)
class ScoredRun:
    """One trained network: its losses and scores on the ID set, and its scores on each OOD set.

    Parameters
    ----------
    id_loss : array-like of shape (n_id,)
        0/1 loss of the ID samples.
    id_scores : mapping of score name to array-like of shape (n_id,)
        All scores, higher = accept.
    ood_scores : mapping of set name to mapping of score name to array-like
        The same scores on each OOD set.

    Examples
    --------
    >>> import abstain
    >>> abstain.joint.ScoredRun([0, 1], {"msp": [0.9, 0.8]}, {"mnist": {"msp": [0.7]}}).id_loss
    [0, 1]
    """

    id_loss: ArrayLike
    id_scores: Mapping[str, ArrayLike]
    ood_scores: Mapping[str, Mapping[str, ArrayLike]]


@dataclass(frozen=True)
class Record:
    """One number of a protocol.

    Parameters
    ----------
    strategy : str
        How the network was trained.
    run : int
        Which of its runs.
    score : str
        The detector score (DS metrics) or the only score.
    set : str
        The OOD set; empty for what needs none.
    metric : str
        Name of the metric.
    value : float
        A plain fraction.
    n_id, n_ood : int
        Samples.

    Examples
    --------
    >>> import abstain
    >>> abstain.joint.Record("basic", 0, "msp", "mnist", "f1", 0.7, 100, 50).value
    0.7
    """

    strategy: str
    run: int
    score: str
    set: str
    metric: str
    value: float
    n_id: int
    n_ood: int


@dataclass(frozen=True, eq=False, repr=False)
class ProtocolResult(Result):
    """All records of a protocol, their means, and tables in the layouts of the literature.

    Parameters
    ----------
    records : tuple of Record
        One per strategy, run, score, set and metric.
    groups : dict of str to tuple of str
        Names of the OOD sets per group, such as near and far.
    confidence : str
        The score that is the confidence of the DS metrics.
    prevalence : float or None
        Share of OOD samples that was asked for.

    Examples
    --------
    >>> import abstain
    >>> outside = {"mnist": {"msp": [0.8, 0.7], "knn": [1.0, 2.2]}}
    >>> run = abstain.joint.ScoredRun([0, 0, 1], {"msp": [0.9, 0.5, 0.4], "knn": [3.0, 2.0, 2.5]}, outside)
    >>> result = abstain.joint.protocol(run, {"far": ["mnist"]}, confidence="msp")
    >>> result.mean("ds_f1", score="knn", group="far")
    (0.6666666666666666, nan)
    """

    _names = ("strategy", "run", "score", "set", "metric")
    _values, _asks = ("value",), "better"

    records: tuple[Record, ...]
    groups: dict[str, tuple[str, ...]]
    confidence: str
    prevalence: float | None

    @property
    def strategies(self) -> list[str]:
        """Training strategies, in the order given."""
        return list(dict.fromkeys(record.strategy for record in self.records))

    @property
    def scores(self) -> list[str]:
        """Scores, in the order given."""
        return list(dict.fromkeys(record.score for record in self.records))

    @property
    def sizes(self) -> dict[str, int]:
        """Samples of the ID set (``"ID"``) and of each OOD set."""
        return {"ID": self.records[0].n_id} | {record.set: record.n_ood for record in self.records if record.set}

    def mean(
        self, metric: str, *, score: str | None = None, group: str | None = None, strategy: str | None = None
    ) -> tuple[float, float]:
        """Return mean and standard deviation over runs; per run, the unweighted mean over the sets of the group.

        Parameters
        ----------
        metric : str
            Name of the metric.
        score : str, optional
            Default: the confidence.
        group : str, optional
            A group, or one OOD set; default: all sets. Metrics of the ID set need none.
        strategy : str, optional
            Default: the first.

        Returns
        -------
        tuple of float
            Mean, and standard deviation (divisor runs - 1; NaN for one run).

        Raises
        ------
        ValueError
            An unknown name.
        """
        score, strategy = score or self.confidence, strategy or self.strategies[0]
        sets = self._sets(group)
        chosen = [
            record
            for record in self.records
            if (record.metric, record.score, record.strategy) == (metric, score, strategy)
            and (record.set in sets or not record.set)
        ]
        if not chosen:
            one_of(metric, RECORDED, "metric")
            one_of(score, self.scores, "score")
            one_of(strategy, self.strategies, "strategy")
            raise ValueError(f"there is no {metric!r} of {score!r}")
        runs = sorted({record.run for record in chosen})
        means = np.array([np.mean([record.value for record in chosen if record.run == run]) for run in runs])
        return float(means.mean()), float(means.std(ddof=1)) if len(runs) > 1 else float("nan")

    def table(self, layout: str = "single-double", **options: str) -> Table:
        """Return a table in a layout of the literature.

        Parameters
        ----------
        layout : str
            ``"single-double"``: scores x (F1, AURC, DS-F1, DS-AURC), groups behind slashes. ``"strategies"``:
            training strategies x scores for one ``metric=`` and one ``group=``, with accuracy. ``"tasks"``: strategies
            x (AUROC, FPR, ID-only AURC, accuracy). ``"reliability"``: strategies x accuracy, calibration, failure
            detection, OOD detection and both together. ``"detection"``: scores x (AUROC, FPR, AUPR, OSCR). ``"sets"``:
            scores x sets for one ``metric=``.
        **options : str
            ``metric``, ``group``, ``strategy``, ``score``, as the layout needs them; ``fpr``: ``"id"``, ``"ood"`` or
            ``"both"``, at 95 % recall of which samples (OpenOOD 1.5: of the OOD samples); the heading says it.

        Returns
        -------
        Table

        Raises
        ------
        ValueError, TypeError
            An unknown layout or name; an option that the layout does not have.
        """
        build = LAYOUTS[one_of(layout, LAYOUTS, "layout")]
        known = [each for each in signature(build).parameters.values() if each.kind is each.KEYWORD_ONLY]
        known_options(f"layout {layout!r}", options, {each.name: each.default for each in known})
        return build(self, **options)

    def _sets(self, group: str | None) -> tuple[str, ...]:
        every = tuple(name for names in self.groups.values() for name in names)
        if group is None or group in self.groups:
            return every if group is None else self.groups[group]
        return (one_of(group, (*self.groups, *every), "group"),)

    verdict = property(_tables.verdict_of)

    def tables(self) -> list[Table]:
        """Return the first layout."""
        return [self.table()]

    def rows(self) -> list[Document]:
        """Return the records."""
        return [asdict(record) for record in self.records]

    def to_dict(self) -> Document:
        """Return plain values: the records, groups and sizes."""
        return {**super().to_dict(), "sizes": self.sizes}


def protocol(
    runs: ScoredRun | Sequence[ScoredRun] | Mapping[str, ScoredRun | Sequence[ScoredRun]],
    groups: Mapping[str, Sequence[str]],
    *,
    confidence: str,
    prevalence: float | None = None,
    progress: Callable[[str], object] | None = None,
) -> ProtocolResult:
    """Evaluate every score on every OOD set: values per set first, then unweighted means, never pooled.

    Parameters
    ----------
    runs : ScoredRun, list of them, or mapping of strategy to either
        One per trained network; several runs of one strategy give a spread.
    groups : mapping of group to names of OOD sets
        For instance ``{"near": ["cifar10"], "far": ["mnist", "svhn"]}``.
    confidence : str
        The score that is paired, as the confidence, with each score as the detector score.
    prevalence : float in [0, 1), optional
        Share of OOD samples, the same for every set; default: as in the data, so that F1 and AURC depend on the sizes.
    progress : callable, optional
        Called with a line of text before each run.

    Returns
    -------
    ProtocolResult

    Raises
    ------
    ValueError, TypeError
        Names that do not occur; bad columns; an OOD set in no group or in two; runs of different sets, or none.

    Notes
    -----
    Areas are "at least". A score paired with itself gives the values of one score.

    References
    ----------
    Yang et al. (2022) and Zhang et al. (2023), OpenOOD, for groups and means per set.

    Examples
    --------
    >>> import abstain
    >>> run = abstain.joint.ScoredRun([0, 0, 1], {"msp": [0.9, 0.5, 0.4]}, {"mnist": {"msp": [0.8, 0.7]}})
    >>> abstain.joint.protocol([run, run], {"far": ["mnist"]}, confidence="msp").sizes
    {'ID': 3, 'mnist': 2}
    """
    if isinstance(runs, ScoredRun) or not isinstance(runs, Mapping):
        runs = {"": runs}
    sets = _named(groups)
    if prevalence is not None:
        fraction(prevalence, "prevalence", below_one=True)
    records: list[Record] = []
    for strategy, several in runs.items():
        for number, run in enumerate([several] if isinstance(several, ScoredRun) else several):
            one_of(confidence, run.id_scores, "confidence")
            for name in sets:
                scores = run.ood_scores[one_of(name, run.ood_scores, "OOD set")]
                for score in run.id_scores:
                    one_of(score, scores, f"OOD set {name}: score")
            which = f"{strategy} run {number + 1}".strip()
            if progress is not None:
                progress(which)
            found = _records(strategy, number, run, sets, confidence, prevalence)
            _same_sizes(which, found, records)
            records += found
    if not records:
        raise ValueError("runs holds no run; give at least one ScoredRun")
    return ProtocolResult(
        tuple(records), {name: tuple(names) for name, names in groups.items()}, confidence, prevalence
    )


def _named(groups: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the names of all OOD sets."""
    if not isinstance(groups, Mapping) or any(isinstance(names, str) for names in groups.values()):
        raise TypeError(f'groups must map names to lists of OOD sets, such as {{"far": ["mnist"]}}, got {groups!r}')
    sets = [name for names in groups.values() for name in names]
    if len(set(sets)) != len(sets) or not sets:
        raise ValueError(f"groups={dict(groups)!r} must name at least one OOD set, and each only once")
    return sets


def _same_sizes(which: str, found: list[Record], records: list[Record]) -> None:
    """All runs are about the same sets; tables print their sizes once."""
    expected = {record.set: (record.n_id, record.n_ood) for record in records}
    for record in found:
        sizes = (record.n_id, record.n_ood)
        if expected.get(record.set, sizes) != sizes:
            other = f"with OOD set {record.set or 'none'!r}, others {expected[record.set]}"
            raise ValueError(f"{which} has (ID, OOD) samples {sizes} {other}")


def _records(
    strategy: str, number: int, run: ScoredRun, sets: Sequence[str], confidence: str, prevalence: float | None
) -> list[Record]:
    wrong = errors(run.id_loss)
    found: list[Record] = []
    pace: Pace | None = None
    for score, column in run.id_scores.items():
        alone = {
            "accuracy": 1.0 - float(wrong.mean()),
            "id_aurc": single_aurc(wrong, id_score=column, ood_score=[], operator="exact"),
            **_alone(wrong, column),
        }
        found += [Record(strategy, number, score, "", metric, value, wrong.size, 0) for metric, value in alone.items()]
        if pace is None:  # the first has loaded what is compiled, which says nothing about the rest
            pace = Pace("joint metrics", len(run.id_scores) * (_ALONE + (_CURVE + _PAIR) * len(sets)) - _ALONE)
        else:
            pace.advance(_ALONE)
        for name in sets:
            outside = run.ood_scores[name]
            data = problem(wrong, run.id_scores[confidence], column, outside[confidence], outside[score], prevalence)
            for metric, value in _values(data, pace).items():
                found.append(Record(strategy, number, score, name, metric, value, data.n_id, data.n_ood))
    return found


def _alone(wrong: ArrayLike, column: ArrayLike) -> dict[str, float]:
    """Return metrics of the ID samples alone, without those that the score does not allow."""
    blocks = TieBlocks.from_samples(wrong, column, oracle=True)
    found: dict[str, float] = {}
    for name in ("id_augrc", "id_auroc_f", "id_ece"):
        with suppress(UnmetNeed):
            value, reason = RECORDED[name].evaluate(blocks)
            found |= {} if reason else {name: value}
    return found


def _values(data: Problem, pace: Pace) -> dict[str, float]:
    """Every metric of one score on one set; the DS metrics pair it with the confidence."""
    alone = data.swapped().alone()
    curve = single_frontier(alone)
    pace.advance(_CURVE)
    inside, outside = data.detector[: data.n_id], data.detector[data.n_id :]
    ds_aurc, ds_augrc = areas(data)
    pace.advance(_PAIR)
    return {
        "f1": exact(alone).value,
        "aurc": curve.aurc(),
        "augrc": curve.augrc(),
        "ds_f1": exact(data).value,
        "ds_aurc": ds_aurc.value,
        "ds_augrc": ds_augrc.value,
        "auroc": _detection.auroc(id_score=inside, ood_score=outside),
        "fpr_at_id_recall95": _detection.fpr_at_id_recall(id_score=inside, ood_score=outside),
        "fpr_at_ood_recall95": _detection.fpr_at_ood_recall(id_score=inside, ood_score=outside),
        "aupr_in": _detection.aupr_in(id_score=inside, ood_score=outside),
        "aupr_out": _detection.aupr_out(id_score=inside, ood_score=outside),
        "oscr": _detection.oscr(data.wrong, id_score=inside, ood_score=outside),
    }
