"""``GroupedSummary``: a summary for each value of a column, from one pass over the rows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Literal

import numpy as np

from abstain._checks import same_length
from abstain._typing import ArrayLike, IntArray, PolarsFrame
from abstain.metrics import Metric
from abstain.outputs import group_names
from abstain.summaries import _file
from abstain.summaries._key import OF_GROUPS, Key, Scale
from abstain.summaries._results import GroupedResult
from abstain.summaries._summary import Summary, add_up

#: More groups than this are no groups: a summary of each takes megabytes.
MOST_GROUPS = 1000

Name = str | int | float | bool


class GroupedSummary:
    """One :class:`Summary` for each value of a column, which add up value by value.

    Parameters
    ----------
    groups : str
        What the column is called, such as ``"day"``.
    scale : {"probability", "real"}
    bits : int
        As for :class:`Summary`, of each group.

    Notes
    -----
    Bounds of a group are those of its rows alone. Each group takes the memory of a summary, 3 MB with 16 bits; at most
    1,000 are taken.

    Examples
    --------
    >>> from abstain.summaries import GroupedSummary
    >>> days = GroupedSummary("day").update([0, 1, 0], [0.9, 0.6, 0.8], ["mon", "mon", "tue"])
    >>> days.parts["mon"].bounds("risk").value, days.whole.n
    (0.5, 3)
    """

    def __init__(self, groups: str = "group", scale: Scale = "probability", bits: int = 16) -> None:
        if not isinstance(groups, str) or not groups:
            raise TypeError(f"groups must be the name of a column, got {groups!r}")
        self.groups, self.key = groups, Key(scale, bits)
        self._parts: dict[Name, Summary] = {}

    def update(
        self, loss: ArrayLike, confidence: ArrayLike, groups: ArrayLike, *,
        nan_policy: Literal["raise", "reject"] = "raise",
    ) -> GroupedSummary:  # fmt: skip
        """Take new rows, and return the summary itself; after an error it is as it was.

        Parameters
        ----------
        loss, confidence, nan_policy
            As for :meth:`Summary.update`.
        groups : array-like of shape (n_samples,)
            The group of each row: words, numbers or truth values.

        Returns
        -------
        GroupedSummary

        Raises
        ------
        ValueError, TypeError
            Bad columns; more than 1,000 groups; words where there were numbers.

        Examples
        --------
        >>> from abstain.summaries import GroupedSummary
        >>> GroupedSummary("site").update([0, 1], [0.9, 0.6], ["a", "b"]).n
        2
        """
        every = np.asarray(groups, dtype=object)
        kinds: dict[object, list[int]] = {}
        for row, value in enumerate(every.tolist()):
            kinds.setdefault(value, []).append(row)
        missing = [value for value in kinds if value is None or value != value]
        if missing:
            raise ValueError(f"groups holds {missing[0]!r}, which names no group; give every row one")
        return self.add(loss, confidence, len(every), [(key, np.array(at)) for key, at in kinds.items()], nan_policy)

    def add(
        self, loss: ArrayLike, confidence: ArrayLike, n: int, rows_of: Iterable[tuple[object, IntArray]],
        nan_policy: Literal["raise", "reject"],
    ) -> GroupedSummary:  # fmt: skip
        """Take n new rows that are sorted out already: the value of each group, and which rows it has."""
        losses, scores = Summary(self.key.scale, self.key.bits).checked(loss, confidence, nan_policy)
        if len(losses) != n:
            same_length(loss=losses, groups=np.zeros(n))
        found = list(rows_of)
        if not found:
            return self
        names = self._named([value for value, _ in found])
        for name, (_, rows) in zip(names, found, strict=True):
            if name not in self._parts:
                self._parts[name] = Summary(self.key.scale, self.key.bits)
            self._parts[name].add(losses[rows], scores[rows])
        return self

    def _named(self, values: list[object]) -> list[Name]:
        """Return the names of groups, which fit those that are known; refuse them otherwise."""
        names: list[Name] = group_names(values, self.groups).tolist() if values else []
        every = dict.fromkeys([*self._parts, *names])  # in the order in which they came
        if len({isinstance(each, str) for each in every}) > 1:
            word, number = (next(each for each in every if isinstance(each, str) == kind) for kind in (True, False))
            raise ValueError(f"groups={self.groups!r} are words and numbers, {word!r} and {number!r}; cast the column")
        if len(every) > MOST_GROUPS:
            raise ValueError(
                f"groups={self.groups!r} has more than {MOST_GROUPS} distinct values; "
                "give a column with fewer, for example intervals of a measured quantity"
            )
        return names

    def merge(self, *others: GroupedSummary) -> GroupedSummary:
        """Return the summary of all rows behind this one and the others, which stay as they are.

        Parameters
        ----------
        *others : GroupedSummary
            Of other rows, with the same column, scale and bits; a group need not be in all.

        Returns
        -------
        GroupedSummary

        Raises
        ------
        ValueError
            Another column, scale, or other bits.
        TypeError
            Something else than grouped summaries.

        Examples
        --------
        >>> from abstain.summaries import GroupedSummary
        >>> one = GroupedSummary("site").update([0], [0.9], ["a"])
        >>> one.merge(GroupedSummary("site").update([1, 0], [0.9, 0.8], ["a", "b"]))
        GroupedSummary(site, probability/16, n=3, groups=2)
        """
        add_up(self, others)
        result = GroupedSummary(self.groups, self.key.scale, self.key.bits)
        for part in (self, *others):
            for name in result._named(list(part._parts)):
                before = result._parts.get(name, Summary(self.key.scale, self.key.bits))
                result._parts[name] = before.merge(part._parts[name])
        return result

    @property
    def parts(self) -> Mapping[Name, Summary]:
        """The summary of each group, by its value, sorted."""
        return dict(sorted(self._parts.items()))

    @property
    def whole(self) -> Summary:
        """The summary of all rows."""
        return Summary(self.key.scale, self.key.bits).merge(*self._parts.values())

    @property
    def n(self) -> int:
        """Number of rows."""
        return sum(part.n for part in self._parts.values())

    @property
    def name(self) -> str:
        """Key and column: what summaries that add up have in common."""
        return f"{self.key.name} by {self.groups!r}"

    def result(self, metrics: str | Metric | Iterable[str | Metric] | None = None) -> GroupedResult:
        """Return the bounds of several metrics, of all rows and of each group.

        Parameters
        ----------
        metrics : specs, optional
            Default: all that follow from a summary, of which AUGRC and AURC are printed by group.

        Returns
        -------
        GroupedResult

        Raises
        ------
        UnmetNeed, ValueError
            As :meth:`Summary.bounds`.
        """
        given = metrics if metrics is None or isinstance(metrics, str | Metric) else list(metrics)
        every = {name: part.result(given) for name, part in self.parts.items()}
        return GroupedResult(self.groups, self.whole.result(given), every, metrics is None)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a Parquet file, all of it or nothing, which :func:`read_summary` reads again to the bit.

        Raises
        ------
        ValueError
            Another extension than ``.parquet``; no rows.
        ImportError
            polars is missing.
        """
        if not self._parts:
            raise ValueError("the summary holds no rows, and no group; there is nothing to save")
        _file.write(self.frame, path)

    def frame(self) -> PolarsFrame:
        """Return the bins of all groups as a polars frame, as they stand in a file."""
        import polars as pl

        own = {"format": pl.lit(OF_GROUPS), "groups": pl.lit(self.groups)}
        return pl.concat(part.frame().with_columns(**own, group=pl.lit(name)) for name, part in self.parts.items())

    @classmethod
    def of_frame(cls, frame: PolarsFrame) -> GroupedSummary:
        """Return the grouped summary that a polars frame with the columns of a file holds."""
        _file.present(frame, ["groups", "group", "n"])
        key, _ = _file.columns_of(frame)  # counts what cannot be used of all groups at once
        result = cls(_file.one(frame, "groups"), key.scale, key.bits)
        if missing := frame.filter(frame["group"].is_null())["n"].sum():
            raise ValueError(f"the column {result.groups!r} is null in {missing} rows; filter or fill these rows")
        of = {each["group"][0]: each for each in frame.partition_by("group")}
        names = result._named(list(of))
        if len(set(names)) < len(names):
            raise ValueError(f"two values of the group column {result.groups!r} are called alike")
        result._parts = {name: Summary.of_frame(part) for name, part in zip(names, of.values(), strict=True)}
        return result

    def __repr__(self) -> str:
        return f"GroupedSummary({self.groups}, {self.key.name}, n={self.n}, groups={len(self._parts)})"
