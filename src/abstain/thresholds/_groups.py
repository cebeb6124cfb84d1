"""One threshold per group or predicted class."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain._checks import same_length, to_numpy, vector
from abstain._typing import ArrayLike, BoolArray, FloatArray
from abstain.thresholds._results import CertifiedThreshold, EmpiricalThreshold, statement

if TYPE_CHECKING:
    from abstain.thresholds._policy import Policy


#: Spellings of truth values: NumPy's and pandas', and that of spreadsheets; polars and JSON use small letters.
TRUTH = ("True", "False", "TRUE", "FALSE")


def group_column(groups: ArrayLike) -> Any:
    """Return the groups as text; a missing group is an error."""
    column = np.asarray(groups.to_numpy() if hasattr(groups, "to_numpy") else to_numpy(groups))
    if column.ndim != 1:
        raise ValueError(f"groups must be one-dimensional, one value per sample, got shape {column.shape}")
    for position, value in enumerate(column):
        if value is None or value != value:
            raise ValueError(f"groups[{position}] is missing; name a group for every row, for example 'unknown'")
    return np.array([group_name(value) for value in column])


def group_name(value: Any) -> str:
    """Return the name of a group: its text, with truth values as files write them, whoever wrote the file."""
    text = str(value)
    return text.lower() if text in TRUTH else text


def accept_by_group(thresholds: Mapping[str, float], scores: FloatArray, groups: ArrayLike) -> BoolArray:
    """Return the accept mask of rows of groups; unknown groups, NaN scores and infinite thresholds reject."""
    column = group_column(groups)
    same_length(confidence=scores, groups=column)
    limits = {name: value if value < np.inf else np.nan for name, value in thresholds.items()}
    return np.asarray(scores >= np.array([limits.get(name, np.nan) for name in column]))


@dataclass(frozen=True)
class GroupThresholds:
    """One threshold per group; a row of a group that was not calibrated is rejected.

    Parameters
    ----------
    groups : dict of str to EmpiricalThreshold or CertifiedThreshold
        The groups by name, each with its own threshold or reason.
    delta : float or None
        Error probability that was asked for.
    multiplicity : {"all", "each"}
        Whether it is that of all promises together or that of each.
    fingerprint : str
        Of all calibration rows.

    Examples
    --------
    >>> import abstain
    >>> found = abstain.choose_threshold([0, 0, 1, 0], [4, 3, 2, 1], coverage=0.5, groups=["a", "b", "a", "b"])
    >>> {name: each.threshold for name, each in found.groups.items()}
    {'a': 4.0, 'b': 3.0}
    >>> found.accept([3.5, 3.5, 9.0], ["a", "b", "new"]).tolist()
    [False, True, False]
    """

    groups: Mapping[str, EmpiricalThreshold | CertifiedThreshold]
    delta: float | None
    multiplicity: str
    fingerprint: str

    @property
    def attainable(self) -> bool:
        """Whether every group reached the objective."""
        return all(each.attainable for each in self.groups.values())

    def accept(self, confidence: ArrayLike, groups: ArrayLike) -> BoolArray:
        """Return the accept mask of new rows."""
        scores = vector(confidence, "confidence", np, None)
        return accept_by_group({name: each.threshold for name, each in self.groups.items()}, scores, groups)

    @property
    def calibration(self) -> dict[str, Any]:
        """Return rows, fingerprint and versions, and those of each group."""
        each = {name: one.calibration for name, one in self.groups.items()}
        total = {key: sum(one[key] for one in each.values()) for key in ("n", "n_accepted", "n_unscored", "n_dropped")}
        first = next(iter(each.values()))
        kept = {key: first[key] for key in ("weighted", "abstain", "numpy")}
        return {**total, **kept, "fingerprint": self.fingerprint, "groups": each}

    def guarantee(self) -> dict[str, Any] | None:
        """Return what is promised for the groups that were attained, or None."""
        promised = next((found for one in self.groups.values() if (found := one.guarantee()) is not None), None)
        if promised is None or self.delta is None:
            return None
        together = "for all groups at once" if self.multiplicity == "all" else "for each group by itself"
        words = statement(
            promised["risk"], self.delta, weighted=self.calibration["weighted"], together=f" {together}",
            clustered="n_clusters" in next(iter(self.groups.values())).calibration, group=True,
        )  # fmt: skip
        return promised | {"delta": self.delta, "multiplicity": self.multiplicity, "statement": words}

    def policy(self, *, score: str, group: str, **options: Any) -> Policy:
        """Return the policy that a deployment needs; ``group`` names the column of the groups.

        The other options are those of :meth:`EmpiricalThreshold.policy`.
        """
        from abstain.thresholds._policy import Policy

        return Policy.of(self, score=score, group=group, **options)

    def save(self, path: str | os.PathLike[str], *, score: str, group: str, **options: Any) -> None:
        """Write the policy as a small JSON file; the options are those of :meth:`policy`."""
        self.policy(score=score, group=group, **options).save(path)

    def __str__(self) -> str:
        return "\n".join(f"{name}: {each}" for name, each in self.groups.items())
