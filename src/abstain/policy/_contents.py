"""What a policy holds, in records: what was asked for, what is guaranteed, and what the calibration rows showed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from math import inf, isnan
from typing import Any, Literal, Self

from abstain._typing import Document

#: What a score is computed from.
Kind = Literal["logits", "probabilities"]


class Record(Mapping[str, Any]):
    """A frozen dataclass that can also be read as a mapping of those of its fields that are not None.

    So ``record["risk"]``, ``"delta" in record`` and ``dict(record)`` work as they did when these were dicts, and JSON
    holds what is known.
    """

    @classmethod
    def from_content(cls, content: Document) -> Self:
        """Return the record of a mapping, such as that of a file; what is not known here is left out."""
        return cls(**{each.name: content[each.name] for each in fields(cls) if each.name in content})  # type: ignore[arg-type]

    def __getitem__(self, name: str) -> Any:
        value = getattr(self, name) if name in _names(self) else None
        if value is None:
            raise KeyError(name)
        return value

    def __iter__(self) -> Iterator[str]:
        return (name for name in _names(self) if getattr(self, name) is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _names(record: Any) -> list[str]:
    return [each.name for each in fields(record)]


@dataclass(frozen=True)
class Objective(Record):
    """What a threshold was chosen for: one of these, ``risk`` with ``delta`` where it is certified.

    ``by_eye``: the threshold itself, which a person picked on a page; ``ood_share``: share of what is accepted that may
    be of an unseen kind and wrong.

    Examples
    --------
    >>> import abstain
    >>> abstain.choose_threshold([0, 1], [0.9, 0.2], coverage=0.5).objective.coverage
    0.5
    """

    risk: float | None = None
    delta: float | None = None
    coverage: float | None = None
    capacity: float | None = None
    cost_error: float | None = None
    cost_review: float | None = None
    metric: str | None = None
    by_eye: float | None = None
    ood_share: float | None = None

    def cost_per_case(self, coverage: float, risk: float) -> float | None:
        """Return what a case cost by the costs that chose the threshold; None where no costs did."""
        if self.cost_error is None or self.cost_review is None or isnan(coverage):
            return None
        errors = coverage * risk if coverage > 0.0 else 0.0
        return self.cost_error * errors + self.cost_review * (1.0 - coverage)


@dataclass(frozen=True)
class Guarantee(Record):
    """What is certified: the risk exceeds its limit with a probability of at most ``delta``.

    Parameters
    ----------
    risk, delta : float
        Limit of the mean loss of what is accepted, and the probability that the certificate fails.
    max_loss : float
        Largest possible loss.
    statement : str
        The same in words, with the population that it is about.
    procedure, bound : str or None
        How it was certified.
    multiplicity : {"all", "each"} or None
        Of several thresholds: whether delta is that of all guarantees together or that of each.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> found = abstain.choose_threshold(np.zeros(100), np.arange(100), risk=0.05, delta=0.05)
    >>> found.guarantee().risk, found.guarantee().bound
    (0.05, 'binomial')
    """

    risk: float
    delta: float
    max_loss: float
    statement: str
    procedure: str | None = None
    bound: str | None = None
    multiplicity: str | None = None


@dataclass(frozen=True)
class Calibration(Record):
    """What the calibration rows showed.

    Parameters
    ----------
    n, n_accepted, n_unscored, n_dropped : int or None
        Rows; those that the threshold accepts; those without a score; those left out. None: not known, as in a policy
        that was edited by hand.
    coverage : float or None
        Accepted share, of the weight where rows were weighted.
    fingerprint, sketch : str or None
        By what the rows are recognised, whole or in part.
    bins : tuple of (float, int)
        Scores near the deciles, each with the number of rows at or above it.
    weighted, answered : bool or None
        Whether rows had weights; whether they are those that the model itself answered, out of more.
    n_clusters : int or None
        Number of clusters, where rows depend on each other.
    max_cluster : int or None
        Largest possible number of rows of a cluster, where the guarantee is about rows and not about clusters.
    of, n_of : str and int, or None
        The rows that the guarantee is about, in words, and their number, where these are a part of all.
    versions : mapping of str to str, or None
        Those of the libraries.
    groups : mapping of str to Calibration, or None
        The same of each group.

    Examples
    --------
    >>> import abstain
    >>> abstain.choose_threshold([0, 1], [0.9, 0.2], coverage=0.5).calibration.n
    2
    """

    n: int
    n_accepted: int | None = None
    coverage: float | None = None
    n_unscored: int | None = None
    n_dropped: int | None = None
    fingerprint: str | None = None
    sketch: str | None = None
    bins: tuple[tuple[float, int], ...] = ()
    weighted: bool | None = None
    answered: bool | None = None
    n_clusters: int | None = None
    max_cluster: int | None = None
    of: str | None = None
    n_of: int | None = None
    versions: Mapping[str, str] | None = None
    groups: Mapping[str, Calibration] | None = None

    @classmethod
    def from_file(cls, content: Document) -> Calibration:
        """Return the record of what a file holds."""
        bins = tuple((float(edge), int(count)) for edge, count in content.get("bins", ()))
        groups = content.get("groups")
        each = None if groups is None else {name: cls.from_file(one) for name, one in groups.items()}
        old = {name: content[name] for name in ("abstain", "numpy") if name in content}  # as 0.2.0 wrote them
        return cls.from_content({"versions": old or None, **content, "bins": bins, "groups": each})

    @property
    def each(self) -> Mapping[str, Calibration]:
        """Return that of each group; without groups the only name is ""."""
        return {"": self} if self.groups is None else self.groups

    @property
    def clustered(self) -> bool:
        """Whether rows belong to clusters."""
        return any(one.n_clusters is not None for one in self.each.values())

    @property
    def largest_cluster(self) -> int | None:
        """The largest possible cluster, where the guarantee is about rows; None: each cluster counts once."""
        return max((one.max_cluster for one in self.each.values() if one.max_cluster is not None), default=None)


@dataclass(frozen=True)
class Score:
    """How a score is had from a row: a column, minus a column, or computed from the columns of the classes.

    Parameters
    ----------
    score : str
        Column of the score, or the score that is computed.
    inputs : dict of str to list of str, or None
        ``{"logits": columns}`` or ``{"probabilities": columns}``, from which the score is computed.
    temperature : float or None
        Divides the logits.
    uncertainty : bool
        Whether the score is minus its column.
    """

    score: str
    inputs: Mapping[Kind, list[str]] | None
    temperature: float | None
    uncertainty: bool

    @property
    def columns(self) -> list[str]:
        """The columns from which the score is computed, or the one that holds it."""
        return [self.score] if self.inputs is None else next(iter(self.inputs.values()))


@dataclass(frozen=True)
class SecondScore(Score):
    """A second score, which must reach a threshold of its own."""

    threshold: float


def statement(risk: float, delta: float, calibration: Calibration, *, together: str = "", group: bool = False) -> str:
    """Return a guarantee in words, with the population it is about."""
    drawn = "clusters" if calibration.clustered else "rows"
    what = "what is accepted"
    if (size := calibration.largest_cluster) is not None:
        drawn += f", none of which can have more than {size} rows"
    elif calibration.clustered:
        what = "an accepted row of a new cluster, each cluster that has one counting once,"
    what += " in a group" if group else ""
    population = " in the weighted population" if calibration.weighted else ""
    population += ", of the rows that the model itself answers," if calibration.answered else ""
    return (
        f"with probability at least {1.0 - delta:g}{together} over the draw of the calibration {drawn}, the mean loss "
        f"of {what}{population} is at most {risk:g}"
    )


def about_of(model: str | None, author: str | None, note: str | None) -> dict[str, str]:
    """Return who made a policy of what, and when."""
    from datetime import UTC, datetime

    given = {"model": model, "created": datetime.now(UTC).date().isoformat(), "author": author, "note": note}
    for name, text in given.items():
        if text is not None and (not isinstance(text, str) or not text.strip()):
            raise TypeError(f"{name} must be text, got {text!r}")
    return {name: text for name, text in given.items() if text is not None}


def named(score: str, thresholds: Mapping[str, float], guarantee: Guarantee | None) -> str:
    """Return in one short line the score, the thresholds and the guarantee of a policy."""
    found = dict(thresholds) if len(thresholds) <= 3 else f"<{len(thresholds)} groups>"
    kept = "None" if guarantee is None else f"<risk {guarantee.risk:g}, delta {guarantee.delta:g}>"
    return f"Policy(score={score!r}, thresholds={found}, guarantee={kept})"


def described(
    score: str,
    thresholds: Mapping[str, float],
    guarantee: Guarantee | None,
    calibration: Calibration,
    about: Mapping[str, str],
) -> str:
    """Return in words where a policy answers, what is guaranteed, and what the calibration rows showed."""
    from abstain._result import SPOKEN, clean, percent, readable

    places = [f"{readable(at)}{f' in {name}' if name else ''}" for name, at in thresholds.items() if at < inf]
    answers = SPOKEN.format("Answer if {} >= {:list}; refer the rest for review.", score, places)
    share = "" if calibration.coverage is None else f", coverage {percent(calibration.coverage)}"
    lines = [
        answers if places else "Refer all cases for review.",
        "No guarantee." if guarantee is None else f"Guarantee: {guarantee.statement}",
        "Calibration: unknown" if calibration.n is None else f"Calibration: {calibration.n:,} rows{share}",
    ]
    return "\n".join([*lines, *(f"{name.capitalize()}: {clean(value)}" for name, value in about.items())])
