"""``apply_policy``: decide every row of a file of any size, in bounded memory."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from abstain._checks import closest, listed, with_row
from abstain._extras import need
from abstain._files import without_formulas, write_file
from abstain.outputs import Scan, declined, scan, spoken
from abstain.policy import TRUTH, Policy, group_name, span
from abstain.thresholds._shift import moved, other_share, usual

_KINDS = (".csv", ".tsv", ".parquet", ".jsonl")


@dataclass(frozen=True)
class Applied:
    """How many rows were written, accepted, without a score, declined by the model, of no known group; and notes.

    Examples
    --------
    >>> from abstain.thresholds import Applied
    >>> Applied(n=3, n_accepted=1, n_unscored=1).n_accepted
    1
    """

    n: int
    n_accepted: int
    n_unscored: int
    n_declined: int = 0
    n_unknown_group: int = 0
    notes: tuple[str, ...] = ()


def apply_policy(
    policy: Policy, source: str | os.PathLike[str], output: str | os.PathLike[str], *, column: str = "accepted"
) -> Applied:
    r"""Copy the rows of a file with one more column: whether the policy accepts the row.

    Parameters
    ----------
    policy : Policy
    source : str or path
        A file of any kind that :func:`read_outputs` reads.
    output : str or path
        ``.csv``, ``.tsv``, ``.parquet`` or ``.jsonl``. The output appears only when it is complete. A CSV has the
        separator that ``source`` has, but for tabs, which belong to ``.tsv``; texts that a spreadsheet would run as
        a formula get an apostrophe in front.
    column : str
        Name of the new column of booleans.

    Returns
    -------
    Applied
        With ``n``, ``n_accepted``, ``n_unscored`` and ``n_declined``: rows without a score are rejected, and those that
        the model itself declined, where the policy knows the column that says so (``reading``). ``notes`` say if most
        scores lie where hardly any of the calibration rows did, as after a change of units, or if the share of accepted
        rows is not that of calibration. ``n_unknown_group`` rows
        have no group, or one that was not calibrated: they are rejected.

    Raises
    ------
    ValueError
        A column of the score or group, or that of what the model declined, is missing or cannot be read; the new column
        exists; an unknown extension.
    ImportError
        polars is missing.

    Notes
    -----
    polars streams CSV and Parquet in batches and keeps only a part of them: 1, 4 and 16 million rows of a Parquet file
    with 16 columns took 0.22, 0.44 and 0.68 GB; other files are held in memory. A confidence in words or per cent is
    read as :func:`read_outputs` reads it. A policy with ``inputs`` computes its score from them, with its temperature;
    a finished column of that name is then not used.

    Examples
    --------
    >>> import pathlib, tempfile, abstain
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "new.csv").write_text("case,msp\na,0.95\nb,0.3\nc,\n")
    >>> policy = abstain.choose_threshold([0, 1], [0.9, 0.2], coverage=0.5).policy(score="msp")
    >>> abstain.apply_policy(policy, folder / "new.csv", folder / "decided.csv")
    Applied(n=3, n_accepted=1, n_unscored=1, n_declined=0, n_unknown_group=0, notes=())
    >>> (folder / "decided.csv").read_text().splitlines()
    ['case,msp,accepted', 'a,0.95,true', 'b,0.3,false', 'c,,false']
    """
    need("deciding files", "polars")
    name, out = os.fspath(source), os.fspath(output)
    kind = os.path.splitext(out)[1].lower()
    if kind not in _KINDS:
        raise ValueError(f"{out}: extension {kind!r} cannot be written; use one of {', '.join(_KINDS)}")
    try:
        rows = scan(name)
    except ValueError as error:
        raise ValueError(str(error) if str(error).startswith(f"{name}: ") else f"{name}: {error}") from None
    if os.path.exists(out) and os.path.samefile(name, out):
        raise ValueError(f"{out}: is the input itself; write the decided rows to another file")
    return _Rows(rows, name, policy, column).decide(out, kind)


class _Rows:
    """The rows of a file on their way to a decision."""

    def __init__(self, rows: Scan, name: str, policy: Policy, column: str) -> None:
        self.rows, self.name, self.policy, self.column = rows, name, policy, column
        #: columns of the policy that are fields of objects
        self.inner: list[str] = []
        #: values of a confidence in words or per cent, by the text that says them
        self.said: dict[str, float] = {}
        #: whether the score could not be computed from what the classes hold
        self.no_score = False
        #: the same rows with the second score of the policy, as if that were the only one
        self.second = None if policy.second is None else _Rows(rows, name, policy.of_second(), column)

    def decide(self, out: str, kind: str) -> Applied:
        """Write the rows with their decisions, and count them."""
        import polars as pl

        frame = self.rows.frame
        try:
            schema = frame.collect_schema()
            nested = [each for each, dtype in schema.items() if dtype.is_nested()]
            if kind in (".csv", ".tsv") and nested:
                shown = f"{nested[0]!r} of {schema[nested[0]]}"
                raise ValueError(f"{out}: a CSV has no place for column {shown}; use .parquet")
            frame, schema = self._opened(pl, frame, schema)
            score, refused, decided = _columns(pl, self, schema)
            self._within(frame, score)
            written, original = frame.with_columns(decided.alias(self.column)).drop(self.inner), self.rows.original
            if original is not None and kind in (".parquet", ".jsonl"):  # objects and lists as they were
                # in one chunk: polars before 1.38 does not write objects that lie in several
                written = original.with_columns(written.select(self.column).collect().to_series()).rechunk().lazy()
            _write(written, out, kind, self.rows.separator)
            # a second pass: one pass for both holds more of the file in memory, and takes as long
            low, high = usual(self.policy)
            each = {
                "accepted": decided, "unscored": (score.is_null() | score.is_nan()) & ~refused, "refused": refused,
                "below": (score < low) & ~refused, "above": (score > high) & score.is_not_nan() & ~refused,
                "strange": _strange(pl, self, schema) & ~refused,
            }  # fmt: skip
            counts = frame.select(pl.len(), *(value.fill_null(False).sum().alias(key) for key, value in each.items()))
            n, accepted, unscored, n_refused, below, above, strange = map(
                int, counts.collect(engine="streaming").row(0)
            )
            odd = moved(n - unscored - n_refused, below, above, low, high)
            notes = (*_not_told(self.policy, schema), *(odd or other_share(self.policy, n - n_refused, accepted)))
            return Applied(n, accepted, unscored, n_refused, strange, notes)
        except (pl.exceptions.PolarsError, ValueError, TypeError) as error:
            parts = [each for each in (self, self.second) if each is not None and each.no_score]
            cause = parts[0]._unusable(pl) if parts else None
            if cause is None and not isinstance(error, pl.exceptions.PolarsError):
                raise
            if isinstance(error, pl.exceptions.InvalidOperationError):
                if self._spoken(pl):
                    return self.decide(out, kind)
                cause = _no_number(pl, self)
            cause = cause or self.rows.flaw(self.name)
            raise ValueError(f"{self.name}: {cause or str(error).strip().splitlines()[0]}; repair the file") from None

    def _opened(self, pl: Any, frame: Any, schema: Any) -> tuple[Any, Any]:
        """Give the columns of the policy that are fields of objects (``probability.values``) columns of their own."""
        self.inner = []
        for wanted in [each for each in _wanted(self.policy) if each not in schema and "." in each]:
            outer, *fields = wanted.split(".")
            kind, value = schema.get(outer), pl.col(outer)
            for field in fields:
                inside = dict(kind) if isinstance(kind, pl.Struct) else {}
                kind, value = inside.get(field), value.struct.field(field)
            if kind is not None:
                frame = frame.with_columns(value.alias(wanted))
                self.inner.append(wanted)
        return frame, frame.collect_schema()

    def _unusable(self, pl: Any) -> str | None:
        """Return why no score can be computed, with the row of the file: all of its classes at once."""
        self.no_score = False
        frame, schema = self._opened(pl, self.rows.frame, self.rows.frame.collect_schema())
        source, matrix = _classes(pl, self, schema)
        try:
            self.policy.confidence(matrix(frame.select(source.alias("classes")).collect()["classes"]))
        except (ValueError, TypeError) as error:
            columns = next(iter((self.policy.inputs or {}).values()))
            return f"column{'s' * (len(columns) > 1)} {listed(columns, 4)}: {with_row(str(error))}"
        return None

    def score(self, pl: Any, values: Any) -> Any:
        """Return the score of a part of the rows; note if there is none."""
        try:
            return pl.Series(self.policy.confidence(values), dtype=pl.Float64)
        except (ValueError, TypeError):
            self.no_score = True
            raise

    def _within(self, frame: Any, score: Any) -> None:
        """Refuse a number beyond the scale of a confidence in words or per cent, before anything is written."""
        levels = self.policy.reading.get("confidence_levels")
        if levels is not None:
            low, high = span(list(levels))
            out = frame.select(score.filter((score < low) | (score > high)).first().alias("out"))
            value = out.collect(engine="streaming").item()
            if value is not None:
                raise ValueError(
                    f"{self.name}: column {self.policy.score!r} holds {value:g}, outside [{low:g}, {high:g}], the "
                    "scale of calibration; write it as the calibration file had it"
                )

    def _spoken(self, pl: Any) -> bool:
        """Learn what a confidence in words or per cent means; whether there is one that was not known before."""
        score, schema = self.policy.score, self.rows.frame.collect_schema()
        if self.policy.inputs is not None or self.said or schema[score] != pl.String:
            return False
        texts = self.rows.frame.select(_text(pl, score).alias(score)).unique().collect()[score].drop_nulls().to_list()
        try:
            self.said = dict(
                zip(texts, map(float, spoken(texts, levels=self.policy.reading.get("confidence_levels"))), strict=True)
            )
        except ValueError:
            return False
        return bool(self.said)


def _write(frame: Any, out: str, kind: str, separator: str) -> None:
    if kind in (".csv", ".tsv"):
        separator = "\t" if kind == ".tsv" else "," if separator == "\t" else separator
        write_file(out, lambda file: without_formulas(frame).sink_csv(file, separator=separator))
    else:
        write_file(out, frame.sink_parquet if kind == ".parquet" else frame.sink_ndjson)


def _wanted(policy: Policy) -> list[str]:
    """Return the columns that decide."""
    scored = [policy.score] if policy.inputs is None else next(iter(policy.inputs.values()))
    other = [] if policy.second is None else _wanted(policy.of_second())
    return [*scored, *other, *(policy.said_declined() or ())[1:], *([] if policy.group is None else [policy.group])]


def _not_told(policy: Policy, schema: Any) -> list[str]:
    """Say if the verdicts that told at calibration what the model declined are not in the file."""
    part, name = policy.said_declined() or ("", "")
    if part != "correct" or name in schema:
        return []
    return [
        f"at calibration {name!r} said which rows the model itself declined, and it is not in this file: the promise "
        "is about the rows that the model answers, so reject the others"
    ]


def _refused(pl: Any, rows: _Rows, schema: Any) -> Any:
    """Return whether the model itself declined a row, as the policy remembers how that is said."""
    part, column = rows.policy.said_declined() or ("", "")
    if not part or (part == "correct" and column not in schema):
        return pl.lit(False)
    if column not in schema:
        raise ValueError(
            f"{rows.name}: column {column!r} is missing, which said at calibration what the model itself declined, and "
            f"the promise is about what it answers; write this column, false where it answers; "
            f"{closest(column, schema.names())}"
        )
    return pl.col(column).map_batches(
        lambda values: pl.Series(declined(values, f"column {column!r}", part, strict=False), dtype=pl.Boolean),
        return_dtype=pl.Boolean, is_elementwise=True,
    )  # fmt: skip


def _columns(pl: Any, rows: _Rows, schema: Any) -> tuple[Any, Any, Any]:
    """Return three expressions: the score, whether the model itself declined, and whether a row is accepted."""
    name, policy, column = rows.name, rows.policy, rows.column
    if policy.group is not None:
        _require(policy.group, name, schema)
    if column in schema or (rows.rows.original is not None and column in rows.rows.original.columns):
        raise ValueError(f"{name}: column {column!r} exists already; name another one")
    if policy.inputs is None:
        _require(policy.score, name, schema)
        score = _number(pl, rows, schema, policy.score)
    else:
        score = _computed(pl, rows, schema)
    score = -score if "uncertainty" in policy.reading else score
    if rows.second is not None:  # -inf where the second score is too low, nothing where it is missing
        other, _, reached = _columns(pl, rows.second, schema)
        score = pl.when(reached).then(score).when(other.is_not_null() & other.is_not_nan()).then(float("-inf"))
    refused = _refused(pl, rows, schema)
    limit: Any = pl.lit(policy.thresholds.get(""), dtype=pl.Float64)
    if policy.group is not None:
        names = list(policy.thresholds)
        limit = _names(pl, schema, policy.group).replace_strict(
            names, [policy.thresholds[each] for each in names], default=None, return_dtype=pl.Float64
        )  # fmt: skip
    reachable = limit < float("inf")
    return score, refused, (score.is_not_nan() & (score >= limit) & reachable & ~refused).fill_null(False)


def _strange(pl: Any, rows: _Rows, schema: Any) -> Any:
    """Return which rows have no group, or one that was not calibrated."""
    if rows.policy.group is None:
        return pl.lit(False)
    return ~_names(pl, schema, rows.policy.group).is_in(list(rows.policy.thresholds)).fill_null(False)


def _names(pl: Any, schema: Any, group: str) -> Any:
    """Return the groups by the names that calibration gave them; polars writes numbers like 1e-5 otherwise."""
    if schema[group].is_float():
        return pl.col(group).map_batches(
            lambda rows: pl.Series([group_name(value) for value in rows.to_numpy()], dtype=pl.String),
            return_dtype=pl.String, is_elementwise=True,
        )  # fmt: skip
    text = pl.col(group).cast(pl.String)
    return pl.when(text.is_in(TRUTH)).then(text.str.to_lowercase()).otherwise(text)


def _require(wanted: str, name: str, schema: Any) -> None:
    if wanted not in schema:
        raise ValueError(f"{name}: column {wanted!r} of the policy is missing; {closest(wanted, schema.names())}")


def _no_number(pl: Any, rows: _Rows) -> str | None:
    """Return the first text of a deciding column that is no number."""
    frame, policy = rows.rows.frame, rows.policy
    schema = frame.collect_schema()
    for column in [policy.score] if policy.inputs is None else next(iter(policy.inputs.values())):
        if schema[column] == pl.String:
            value = _decimal(_text(pl, column), rows)
            bad = value.is_not_null() & value.cast(pl.Float64, strict=False).is_null()
            row, first = frame.select(bad.arg_true().first().alias("row"), value.filter(bad).first()).collect().row(0)
            if row is not None:
                return f"column {column!r} must hold numbers, but data row {row + 1} holds {first!r}"
    return None


def _text(pl: Any, column: str) -> Any:
    """Return a column of text, empty as missing; `when` streams, `replace` would hold the column."""
    value = pl.col(column).str.strip_chars()
    return pl.when(value != "").then(value)


def _number(pl: Any, rows: _Rows, schema: Any, column: str) -> Any:
    """Return a column as Float64; an empty text is a missing number."""
    kind = schema[column]
    if not (kind.is_numeric() or kind == pl.String):
        raise ValueError(f"{rows.name}: column {column!r} must be numeric, but it is {kind}; convert it first")
    if kind != pl.String:
        return pl.col(column).cast(pl.Float64)
    text = _text(pl, column)
    if rows.said:
        return text.replace_strict(list(rows.said), list(rows.said.values()), default=None, return_dtype=pl.Float64)
    return _decimal(text, rows).cast(pl.Float64)


def _decimal(text: Any, rows: _Rows) -> Any:
    """Return numbers in a text with a point, where the file has a comma."""
    return text.str.replace(",", ".", literal=True) if rows.rows.decimal_comma else text


def _computed(pl: Any, rows: _Rows, schema: Any) -> Any:
    """Return the score that the policy computes from the columns of the classes, or from one column of lists."""
    source, matrix = _classes(pl, rows, schema)
    return source.map_batches(lambda batch: rows.score(pl, matrix(batch)), return_dtype=pl.Float64, is_elementwise=True)


def _classes(pl: Any, rows: _Rows, schema: Any) -> tuple[Any, Any]:
    """Return the columns of the classes, and what makes a matrix of some rows of them."""
    name, policy = rows.name, rows.policy
    columns = next(iter((policy.inputs or {}).values()))
    for wanted in columns:
        if wanted not in schema:
            scaled = "" if policy.temperature is None else f" with temperature {policy.temperature:g}"
            finished = f", not taken from the column {policy.score!r}" if policy.score in schema else ""
            raise ValueError(
                f"{name}: column {wanted!r} is missing: the policy's score {policy.score!r} is computed from "
                f"{listed(columns, 4)}{scaled}{finished}; write these columns, or choose a threshold on a column"
            )
    if len(columns) == 1 and not _is_single_probability(policy, schema[columns[0]]):
        if not isinstance(schema[columns[0]], pl.List | pl.Array):
            raise ValueError(f"{name}: column {columns[0]!r} must hold lists, one number per class; convert it first")
        return pl.col(columns[0]), _lists
    return pl.struct([_number(pl, rows, schema, each).alias(each) for each in columns]), _struct


def _is_single_probability(policy: Policy, dtype: Any) -> bool:
    """Whether the one column of the policy is the probability of the second of two classes."""
    return "probabilities" in (policy.inputs or {}) and not dtype.is_nested()


def _struct(rows: Any) -> Any:
    return rows.struct.unnest().to_numpy()


def _lists(rows: Any) -> Any:
    """Return lists of one length as a matrix; a missing list is a row of NaN."""
    import polars as pl

    lists = rows.cast(pl.List(pl.Float64))
    width = lists.list.len().max()
    return lists.list.to_array(width).to_numpy() if width else np.full((len(rows), 1), np.nan)
