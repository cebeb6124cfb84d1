"""A policy: what a deployment needs to know about a threshold, in one small JSON file that notices being edited."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any, Unpack, cast

import numpy as np

from abstain._checks import vector
from abstain._files import digest_of, write_text
from abstain._typing import ArrayLike, BoolArray, Document, FloatArray
from abstain.policy import _contents, _plain
from abstain.policy._contents import Calibration, Guarantee, Kind, Objective, Score, SecondScore, about_of
from abstain.policy._decide import Rows, accept_by_group, decide, with_audits
from abstain.policy._plain import Decision
from abstain.policy._reading import as_calibrated, checked, no_columns, refuse_mismatch
from abstain.policy._scores import compute, inputs_of, is_own

if TYPE_CHECKING:
    from abstain.outputs import Columns

FORMAT = "abstain.policy/2"
KEYS = ("score", "inputs", "temperature", "group", "thresholds", "objective", "guarantee", "calibration")


@dataclass(frozen=True)
class Policy:
    """Accept if score >= threshold, with what is guaranteed and on what rows; see :func:`abstain.load_policy`.

    Parameters
    ----------
    score : str
        Column of the confidence score in new files; with ``inputs`` the score that is computed, see
        :func:`abstain.scores.names`.
    inputs : dict of str to list of str, or None
        ``{"logits": columns}`` or ``{"probabilities": columns}``, from which the score is computed.
    temperature : float or None
        Divides the logits before the score is computed.
    group : str or None
        Column of the groups, if there is a threshold for each.
    thresholds : dict of str to float
        Threshold per group; without groups the only key is ``""``. +inf rejects everything.
    objective : Objective
        What was asked for.
    guarantee : Guarantee or None
        What is certified, in numbers and in words; None: nothing is.
    calibration : Calibration
        What the calibration rows showed; per group where there are groups.
    reading : Columns
        How the calibration file was read, as arguments of :func:`abstain.read_outputs`. With ``abstained`` (or
        ``correct``, whose words say so) rows on which the model itself abstained are rejected; with ``uncertainty`` the
        score is minus its column; with ``clusters`` rows that share its values are monitored as one. With
        ``confidence_levels`` the score is said in words, or in per cent (``["%"]``): texts are read as at calibration,
        and numbers beyond the scale are refused.
    classes : list of str or None
        The classes in the order of their columns.
    about : dict of str to str
        ``model`` (its identity), ``created`` (a date), ``author`` and ``note``, as far as they were given.
    second : SecondScore or None
        A second score that must reach a threshold of its own; see :func:`abstain.thresholds.choose_pair`.

    Examples
    --------
    >>> import abstain
    >>> found = abstain.choose_threshold([0, 1, 0], [0.9, 0.2, 0.6], coverage=0.5)
    >>> policy = found.policy(score="msp")
    >>> policy.decide(0.7), policy.accept([0.7, 0.5]).tolist(), policy.guarantee
    (Decision(accepted=True, reason='accepted', score=0.7, threshold=0.6), [True, False], None)
    >>> round(found.policy(score="msp", logits=["z0", "z1"], temperature=2.0).decide([0.0, 4.0]).score, 6)
    0.880797
    """

    score: str
    inputs: Mapping[Kind, list[str]] | None
    temperature: float | None
    group: str | None
    thresholds: Mapping[str, float]
    objective: Objective
    guarantee: Guarantee | None
    calibration: Calibration
    reading: Columns = dataclasses.field(default_factory=no_columns)
    classes: list[str] | None = None
    about: Mapping[str, str] = dataclasses.field(default_factory=dict)
    second: SecondScore | None = None

    @classmethod
    def of(
        cls,
        found: Any,
        *,
        score: str,
        group: str | None = None,
        logits: str | Sequence[str] | None = None,
        probabilities: str | Sequence[str] | None = None,
        temperature: float | None = None,
        reading: Columns | None = None,
        class_names: Sequence[str] | None = None,
        model: str | None = None,
        author: str | None = None,
        note: str | None = None,
        second: SecondScore | None = None,
    ) -> Policy:
        """Return the policy of one threshold, or of one per group, whose guarantee covers the groups that have one.

        Parameters
        ----------
        found : EmpiricalThreshold, CertifiedThreshold or GroupThresholds
        score : str
            Column of the score in new files; with ``logits`` or ``probabilities`` the score to compute from these.
        group : str
            Column of the groups, where there is one threshold for each.
        logits, probabilities : str or sequence of str, optional
            Columns of the classes in new files, or the one column that holds them as lists.
        temperature : float, optional
            Divides the logits; the scores that the threshold was chosen on must have been computed with it.
        reading : dict, optional
            Arguments of :func:`abstain.read_outputs` with which new files are read, such as
            ``{"abstained": "declined"}``, by which rows on which the model itself abstained are rejected.
        class_names : sequence of str, optional
            The classes in the order of their columns.
        model, author, note : str, optional
            Whose threshold it is, such as a version or a hash of the weights, who chose it, and what should be known;
            :func:`abstain.load_policy` refuses a policy of another model.
        second : SecondScore, optional
            A second score, which must reach a threshold of its own.
        """
        groups: Mapping[str, Any] | None = getattr(found, "groups", None)
        columns = {"score": score} if groups is None else {"score": score, "group": group}
        for name, column in columns.items():
            if not isinstance(column, str) or not column:
                raise TypeError(f"{name} must be text, got {column!r}; name the column in new files")
        inputs = inputs_of(score, logits, probabilities, temperature)
        each: Any = {"": found} if groups is None else groups
        return cls(
            score=score,
            inputs=inputs,
            temperature=temperature,
            group=group,
            thresholds={name: one.threshold for name, one in each.items()},
            objective=next(iter(each.values())).objective,
            guarantee=found.guarantee(),
            calibration=found.calibration,
            reading=checked(reading or {}, score, inputs),
            classes=None if class_names is None else [str(name) for name in class_names],
            about=about_of(model, author, note),
            second=second,
        )

    def __repr__(self) -> str:
        """Name score, thresholds and guarantee in one short line; ``print`` shows them in words."""
        return _contents.named(self.score, self.thresholds, self.guarantee)

    def __str__(self) -> str:
        """Say where it answers, what is guaranteed, and what the calibration rows showed, a line each."""
        return _contents.described(self.score, self.thresholds, self.guarantee, self.calibration, self.about)

    # ------------------------------------------------------------------ decide

    def decide(
        self,
        rows: Rows,
        groups: ArrayLike | None = None,
        *,
        second: ArrayLike | None = None,
        declined: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        audit: float | None = None,
        seed: int | str | None = None,
    ) -> Any:
        """Decide a row, or many: answer or reject, with the reason, the score and the threshold.

        Parameters
        ----------
        rows : float, None, dict, array-like or data frame
            What the policy names. A number is the value of its column of the score, and an array of shape (n,) many of
            them. Where the score is computed from classes, an array of shape (K,) is one row and (n, K) are n rows; of
            a policy on the probability of the second of two classes, a number or an array of shape (n, 1). A dict is
            one row, by column; a frame of pandas, polars or another library that Narwhals knows, and a list of dicts,
            many.
        groups : text or array-like, optional
            The group of each row, unless a dict or frame holds it.
        second : float or array-like, optional
            The values of the second score, unless a dict or frame holds them or they are computed from the same rows.
        declined : bool or array-like, optional
            Whether the model itself gave no answer, unless a dict or frame says so; default: it answered.
        ids : text or sequence of text, optional
            Names of the rows, needed with ``audit``; never used for another row, whose draw would be the same.
        audit : float in (0, 1], optional
            Draw this share of the answers for a label; what is not answered is reviewed, and so always drawn. The
            result is then :class:`Decisions` with ``drawn`` and ``label_probability``, which a live certificate takes.
        seed : int or text
            Needed with ``audit``: the draw of a row depends on its identifier and this alone, so it can be repeated.
            Nobody who can choose identifiers should know it.

        Returns
        -------
        Decision or Decisions
            Of one row, or of many. A missing score, NaN and an unknown group are rejected, with that reason.

        Raises
        ------
        ValueError
            What is no probability where probabilities are needed, or the reverse; another number of classes; a column
            that is missing.
        TypeError
            Text or a truth value in the place of a number; groups that are not given.
        """
        if audit is not None:
            return with_audits(decide(self, rows, groups, second, declined), ids, audit, seed)
        if type(rows) is float and self._bare and declined is None:  # as fast as can be: a service with finished scores
            threshold = self.thresholds[""]
            reason = _plain.reason_of(rows, threshold, 0.0, 0.0)
            return Decision(reason == 0, _plain.REASONS[reason], rows, threshold)
        return decide(self, rows, groups, second, declined)

    def accept(self, confidence: ArrayLike, groups: ArrayLike | None = None) -> BoolArray:
        """Return which scores are accepted, or whether one is; NaN and unknown groups are rejected."""
        if self.second is not None:
            raise TypeError("this policy has two scores; call decide(rows), or decide(scores, second=second_scores)")
        if np.ndim(confidence) == 0:
            mask: BoolArray = self.accept(np.atleast_1d(confidence), None if groups is None else np.atleast_1d(groups))
            return mask[0]  # type: ignore[no-any-return]
        scores = self.heard(confidence, "confidence")
        if self.group is None:
            return np.asarray((scores >= self.thresholds[""]) & (self.thresholds[""] < inf))
        if groups is None:
            raise TypeError(f"this policy has one threshold per {self.group}; give groups=")
        return accept_by_group(self.thresholds, scores, groups)

    def heard(self, values: ArrayLike, name: str) -> FloatArray:
        """Return values of the score's column as numbers: words and per cent are read as at calibration."""
        levels = self.levels
        if levels is None:
            numbers: FloatArray = vector(values, name, np, None)
            return numbers
        listed_values = values.to_list() if hasattr(values, "to_list") else np.asarray(values, dtype=object).tolist()
        return np.array([_plain.heard(value, name, levels) for value in listed_values], dtype=np.float64)

    def confidence(self, matrix: ArrayLike) -> FloatArray:
        """Return the score of rows of logits or probabilities, as the policy states; NaN where an entry is missing."""
        if self.inputs is None:
            raise ValueError(f"this policy takes its score from the column {self.score!r}; nothing is computed")
        kind: Any = next(iter(self.inputs))
        return compute(self.score, kind, matrix, self.temperature)

    @property
    def confidence_name(self) -> str:
        """What sentences call the score; of an uncertainty its negative."""
        return f"minus {self.score}" if "uncertainty" in self.reading else self.score

    @property
    def first(self) -> Score:
        """How the score is had from a row."""
        return Score(self.score, self.inputs, self.temperature, "uncertainty" in self.reading)

    @property
    def parts(self) -> list[Score]:
        """The score, and the second one if there is one."""
        return [self.first] if self.second is None else [self.first, self.second]

    @property
    def levels(self) -> list[str] | None:
        """The words of a confidence that is stated in words, ``["%"]`` if in per cent, or None."""
        found = self.reading.get("confidence_levels")
        return None if found is None else list(found)

    def read_column(self, part: Score, values: ArrayLike, name: str) -> FloatArray:
        """Return a score from the values of its column."""
        found = self.heard(values, name) if part == self.first else vector(values, name, np, None)
        return -found if part.uncertainty else found

    def of_second(self) -> Policy:
        """Return the policy of the second score alone, which guarantees nothing."""
        other = self._second()
        reading: Columns = {"uncertainty": other.score} if other.uncertainty else {}
        own = {name: getattr(other, name) for name in ("score", "inputs", "temperature")}
        limit = {"": other.threshold}
        return dataclasses.replace(
            self, **own, group=None, thresholds=limit, guarantee=None, reading=reading, second=None
        )

    def as_one(self, confidence: ArrayLike, second: ArrayLike) -> tuple[Policy, FloatArray]:
        """Return a policy of one score that decides as this one: the first score, -inf where the second is too low.

        A row that has no second score gets NaN. ``second`` holds the values of its column.
        """
        limit = self._second().threshold
        first, other = vector(confidence, "confidence", np, None), self.read_column(self._second(), second, "second")
        both = np.where(other >= limit, first, -inf)
        both[np.isnan(other)] = np.nan
        return dataclasses.replace(self, second=None), both

    def _second(self) -> SecondScore:
        if self.second is None:
            raise TypeError("this policy has one score")
        return self.second

    # ------------------------------------------------------------------ what it is about

    def check(
        self, *, model: str | None = None, class_names: Sequence[str] | None = None,
        columns: Sequence[str] | None = None, temperature: float | None = None,
    ) -> Policy:  # fmt: skip
        """Return the policy itself if it was made for this model, these classes in this order, columns, temperature.

        What is not given is not compared. A policy that does not know it is refused too: it cannot be checked.
        """
        refuse_mismatch(self, model, class_names, columns, temperature)
        return self

    def columns(self, **given: Unpack[Columns]) -> Columns:
        """Return the arguments by which :func:`abstain.read_outputs` reads labelled rows as the calibration rows were.

        What is ``given`` comes first: a column of losses takes the place of labels and predictions.

        Examples
        --------
        >>> import abstain
        >>> outputs = abstain.read_outputs({"wrong": [0, 1, 0], "entropy": [0.1, 0.6, 0.2]}, loss="wrong")
        >>> how = abstain.policy.score_reading(outputs)
        >>> found = abstain.choose_threshold(outputs.loss_per_sample(), how.confidence(outputs), coverage=0.5)
        >>> found.policy(**how.arguments()).columns()
        {'uncertainty': 'entropy', 'loss': 'wrong'}
        """
        return as_calibrated(self, given)

    def said_declined(self) -> tuple[str, str] | None:
        """Return what says on which rows the model itself abstained: the part of a file, and its column."""
        for part in ("abstained", *(("correct", "predictions") if self.calibration.answered else ())):
            if part in self.reading:
                return part, cast(str, self.reading[part])  # type: ignore[literal-required]
        return None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the policy as JSON; infinite thresholds are written as text."""
        content = self._content()
        text = json.dumps({"format": FORMAT, **content, "digest": digest_of(content)}, indent=2, allow_nan=False)
        write_text(path, text + "\n")

    def to_python(self) -> str:
        """Return a Python file that needs nothing else and decides as this policy does; see :doc:`/serve`."""
        from abstain.policy._export import source

        return source(self)

    def to_sql(self, dialect: str = "duckdb") -> str:
        """Return a SQL expression that is true for rows to answer; see :doc:`/serve`.

        Parameters
        ----------
        dialect : {"duckdb", "postgres", "sqlite"}
        """
        from abstain.policy._export import case

        return case(self, dialect)

    def _content(self) -> Document:
        """Return what the file holds; infinite thresholds as text."""
        from abstain._result import plain

        content: Document = plain({each.name: getattr(self, each.name) for each in dataclasses.fields(self)})
        return content

    @cached_property
    def _bare(self) -> bool:
        """Whether a number alone decides."""
        plain = not self.reading.keys() & {"uncertainty", "confidence_levels"}
        return self.inputs is None and self.group is None and self.second is None and plain

    @cached_property
    def row_policy(self) -> Document | None:
        """Return what ``_plain.decide_row`` needs; None if that cannot decide rows of this policy."""
        for part in self.parts:
            if part.inputs is not None and not is_own(part.score, next(iter(part.inputs)), part.temperature):
                return None
        said = self.said_declined()
        if said is not None and said[0] != "abstained":
            return None
        content = self.exported(self.first)
        content |= {"group": self.group, "thresholds": dict(self.thresholds), "second": None}
        if self.second is not None:
            content["second"] = self.exported(self.second) | {"threshold": self.second.threshold}
        return content | {"declined": None if said is None else said[1]}

    def exported(self, part: Score) -> Document:
        """Return how a score is had from a row, in the form of an exported policy."""
        return {
            "score": part.score,
            "inputs": None if part.inputs is None else dict(part.inputs),
            "temperature": part.temperature,
            "uncertainty": part.uncertainty,
            "levels": self.levels if part == self.first else None,
        }
