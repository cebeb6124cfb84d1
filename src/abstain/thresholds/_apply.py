"""``apply_policy``: decide every row of a file of any size, in bounded memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain._checks import closest, listed, with_row
from abstain._extras import need
from abstain._files import without_formulas, write_file
from abstain._typing import FloatArray
from abstain.outputs import Scan, scan, spoken
from abstain.policy import (
    ACCEPTED,
    DECLINED,
    MISSING,
    TRUTH,
    UNKNOWN,
    Policy,
    Score,
    audit_options,
    compute,
    decisions,
    group_name,
    said_declined_by,
    span,
)
from abstain.thresholds._applied import Applied, drawn_columns
from abstain.thresholds._audit import moved, other_share

if TYPE_CHECKING:
    import polars as pl

_KINDS = (".csv", ".tsv", ".parquet", ".jsonl")


def apply_policy(
    policy: Policy,
    source: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    column: str = "accepted",
    audit: float | None = None,
    ids: str | None = None,
    seed: int | str | None = None,
) -> Applied:
    r"""Copy the rows of a file with one more column: whether the policy accepts the row.

    Parameters
    ----------
    policy : Policy
    source : str or path
        A file of any kind that :func:`read_outputs` reads.
    output : str or path
        ``.csv``, ``.tsv``, ``.parquet`` or ``.jsonl``; it appears only when it is complete. A CSV has the separator of
        ``source``, but for tabs; texts that a spreadsheet would run as a formula get an apostrophe in front.
    column : str
        Name of the new column.
    audit, ids, seed
        Draw a share of what is accepted for a label, as :meth:`Policy.decide` does, by the column ``ids``; two more
        columns, ``label_drawn`` and ``label_probability``, say which rows were drawn and with which chance.

    Returns
    -------
    Applied
        Rows without a score, of no group that was calibrated, and those on which the model itself abstained, where
        the policy knows the column that says so, are rejected and counted. ``notes`` say if most scores lie where
        hardly any of the calibration rows did, as after a change of units, or if another share of rows is accepted.

    Raises
    ------
    ValueError
        A column of the policy is missing or cannot be read; the new column exists; an unknown extension.

    Notes
    -----
    polars streams CSV and Parquet; other files are held in memory. A confidence in words or per cent is read
    as :func:`read_outputs` reads it. A policy with ``inputs`` computes its score from them, with its temperature; a
    finished column of that name is then not used.

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
    draws = None if audit is None else audit_options(audit, ids, seed)
    return _File(rows, name, policy, column, draws).decide(out, kind)


class _File:
    """The rows of a file on their way to a decision."""

    def __init__(
        self, rows: Scan, name: str, policy: Policy, column: str, draws: tuple[float, str, int | str] | None
    ) -> None:
        import polars

        self.pl: Any = polars
        self.rows, self.name, self.policy, self.column, self.draws = rows, name, policy, column, draws
        self.declined = policy.said_declined()
        self.notes: list[str] = []
        self.words: dict[str, float] = {}  # values of a confidence in words or per cent
        self.failed: Score | None = None  # the score that could not be computed
        self.frame, self.schema, self.inner = rows.frame, rows.frame.collect_schema(), list[str]()

    def _open_objects(self) -> None:
        """Give the columns of the policy that are fields of objects (``probability.values``) columns of their own."""
        policy, schema = self.policy, self.schema
        columns = [column for part in policy.parts for column in part.columns]
        columns += [*(self.declined or ())[1:], *([] if policy.group is None else [policy.group])]
        for wanted in [each for each in columns if each not in schema and "." in each]:
            outer, *fields = wanted.split(".")
            kind, value = schema.get(outer), self.pl.col(outer)
            for field in fields:
                inside = dict(kind) if isinstance(kind, self.pl.Struct) else {}
                kind, value = inside.get(field), value.struct.field(field)
            if kind is not None:
                self.frame = self.frame.with_columns(value.alias(wanted))
                self.inner.append(wanted)
        self.schema = self.frame.collect_schema()
        if self.declined is not None and self.declined[0] == "correct" and self.declined[1] not in self.schema:
            self.notes.append(
                f"at calibration {self.declined[1]!r} said where the model itself abstained, and it is not in this "
                "file: the guarantee is about the rows that the model answers, so reject the others"
            )
            self.declined = None

    def decide(self, out: str, kind: str) -> Applied:
        """Write the rows with their decisions, and count them."""
        try:
            nested = [each for each, dtype in self.schema.items() if dtype.is_nested() and each not in self.inner]
            if kind in (".csv", ".tsv") and nested:
                shown = f"{nested[0]!r} of {self.schema[nested[0]]}"
                raise ValueError(f"{out}: a CSV has no place for column {shown}; use .parquet")
            self._open_objects()
            decided = self._decided()
            self._refuse_beyond_scale(decided.struct.field("score"))
            self._write(decided.struct.field("code") == ACCEPTED, out, kind)
            # counted in a second pass: one pass for both holds more of the file in memory, and takes as long
            edges = [edge for one in self.policy.calibration.each.values() for edge, _ in one.bins]
            low, high = (min(edges), max(edges)) if edges else (-np.inf, np.inf)
            code, score = self.pl.col("code"), self.pl.col("score")
            answered = code != DECLINED
            counts = (
                self.frame.select(decided.alias("decided"))
                .unnest("decided")
                .select(
                    self.pl.len(),
                    (code == ACCEPTED).sum().alias("accepted"),
                    ((score.is_nan() | (code == MISSING)) & answered).sum().alias("unscored"),
                    (code == DECLINED).sum().alias("declined"),
                    (code == UNKNOWN).sum().alias("unknown"),
                    ((score < low) & answered).sum().alias("below"),
                    ((score > high) & score.is_not_nan() & answered).sum().alias("above"),
                )
            )
            found = map(int, counts.collect(engine="streaming").row(0))
            n, accepted, unscored, declined, unknown, below, above = found
            scored = n - unscored - declined
            odd = moved(scored, below, "below", low) or moved(scored, above, "above", high)
            self.notes += odd or other_share(self.policy, n - declined, accepted)
            return Applied(n, accepted, unscored, declined, unknown, tuple(self.notes))
        except (self.pl.exceptions.PolarsError, ValueError, TypeError) as error:
            cause = self._unusable()
            if cause is None and not isinstance(error, self.pl.exceptions.PolarsError):
                raise
            if isinstance(error, self.pl.exceptions.InvalidOperationError):
                if self._learned_words():
                    return self.decide(out, kind)
                cause = self._no_number()
            cause = cause or self.rows.flaw(self.name) or str(error).strip().splitlines()[0]
            raise ValueError(f"{self.name}: {cause}; repair the file") from None

    # ------------------------------------------------------------------ the decision, as an expression

    def _decided(self) -> Any:
        """Return the reason and the score of every row, as one expression."""
        policy, schema = self.policy, self.schema
        if policy.group is not None:
            self._require(policy.group)
        original = [] if self.rows.original is None else self.rows.original.columns
        for fresh in (self.column, *(() if self.draws is None else ("label_drawn", "label_probability"))):
            if fresh in schema or fresh in original:
                raise ValueError(f"{self.name}: column {fresh!r} exists already; name another one")
        if self.draws is not None:
            self._require(self.draws[1])
        each = [
            value.alias(f"{place} {column}")
            for place, part in enumerate(policy.parts)
            for column, value in zip(part.columns, self._inputs(part), strict=True)
        ]
        if policy.group is not None:
            names = list(policy.thresholds)
            limits = [policy.thresholds[name] for name in names]
            limit = self._group().replace_strict(names, limits, default=None, return_dtype=self.pl.Float64)
            each.append(limit.alias("limit"))
        if self.declined is not None:
            self._require(
                self.declined[1], "says where the model itself abstained, and the guarantee is about the rest"
            )
            each.append(self.pl.col(self.declined[1]).alias("declined"))
        kind = self.pl.Struct({"code": self.pl.Int8, "score": self.pl.Float64})
        return self.pl.struct(each).map_batches(self._decide_batch, return_dtype=kind, is_elementwise=True)

    def _decide_batch(self, batch: pl.Series) -> Any:
        policy, columns = self.policy, batch.struct
        score, *other = [
            self._score(part, [columns.field(f"{place} {column}") for column in part.columns])
            for place, part in enumerate(policy.parts)
        ]
        limit: Any = policy.thresholds.get("")
        if policy.group is not None:
            limit = columns.field("limit").to_numpy()
        declined = None if self.declined is None else said_declined_by(columns.field("declined"), *self.declined)
        found = decisions(policy, score, limit, other[0] if other else None, declined)
        return self.pl.DataFrame({"code": found.codes, "score": found.score}).to_struct()

    def _score(self, part: Score, columns: list[pl.Series]) -> FloatArray:
        if part.inputs is None:
            values: FloatArray = columns[0].to_numpy()
            return -values if part.uncertainty else values
        try:
            return compute(part.score, next(iter(part.inputs)), _matrix(columns), part.temperature)
        except (ValueError, TypeError):
            self.failed = part
            raise

    def _inputs(self, part: Score) -> Iterator[pl.Expr]:
        """Yield the columns of a score as numbers, or the one column that holds lists."""
        scaled = "" if part.temperature is None else f" with temperature {part.temperature:g}"
        finished = f", not taken from the column {part.score!r}" if part.score in self.schema else ""
        for column in part.columns:
            if part.inputs is not None and column not in self.schema:
                raise ValueError(
                    f"{self.name}: column {column!r} is missing: the policy's score {part.score!r} is computed from "
                    f"{listed(part.columns, 4)}{scaled}{finished}; write them, or choose a threshold on a column"
                )
            self._require(column)
            kind = self.schema[column]
            if isinstance(kind, self.pl.List | self.pl.Array) and part.inputs is not None and len(part.columns) == 1:
                yield self.pl.col(column)
            elif len(part.columns) == 1 and "logits" in (part.inputs or {}):
                raise ValueError(f"{self.name}: column {column!r} must hold lists, one number per class")
            else:
                yield self._number(column)

    def _number(self, column: str) -> Any:
        """Return a column as Float64; an empty text is a missing number."""
        kind = self.schema[column]
        if not (kind.is_numeric() or kind == self.pl.String):
            raise ValueError(f"{self.name}: column {column!r} must be numeric, but it is {kind}; convert it first")
        if kind != self.pl.String:
            return self.pl.col(column).cast(self.pl.Float64)
        if self.words and column == self.policy.score:
            texts, values = list(self.words), list(self.words.values())
            return _text(column).replace_strict(texts, values, default=None, return_dtype=self.pl.Float64)
        return self._decimal(column).cast(self.pl.Float64)

    def _decimal(self, column: str) -> pl.Expr:
        """Return numbers in a text with a point, where the file has a comma."""
        text = _text(column)
        return text.str.replace(",", ".", literal=True) if self.rows.decimal_comma else text

    def _group(self) -> Any:
        """Return the groups by the names that calibration gave them; polars writes numbers like 1e-5 otherwise."""

        def named(rows: pl.Series) -> Any:
            return self.pl.Series([group_name(value) for value in rows.to_numpy()], dtype=self.pl.String)

        group = str(self.policy.group)
        column = self.pl.col(group)
        if self.schema[group].is_float():
            return column.map_batches(named, return_dtype=self.pl.String, is_elementwise=True)
        text = column.cast(self.pl.String)
        return self.pl.when(text.is_in(TRUTH)).then(text.str.to_lowercase()).otherwise(text)

    def _require(self, column: str, why: str = "") -> None:
        if column not in self.schema:
            reason = f"{column!r} {why}; " if why else ""
            near = closest(column, self.schema.names())
            raise ValueError(f"{self.name}: column {column!r} of the policy is missing; {reason}{near}")

    def _write(self, accepted: pl.Expr, out: str, kind: str) -> None:
        fresh = [accepted.alias(self.column)]
        if self.draws is not None:
            fresh += drawn_columns(self.frame, accepted, *self.draws)
        frame, original = self.frame.with_columns(fresh).drop(self.inner), self.rows.original
        if kind in (".csv", ".tsv"):
            comma = "," if self.rows.separator == "\t" else self.rows.separator
            separator = "\t" if kind == ".tsv" else comma
            write_file(out, lambda file: without_formulas(frame).sink_csv(file, separator=separator))
            return
        if original is not None:  # objects and lists as they were
            # in one chunk: polars before 1.38 does not write objects that lie in several
            added = [each.meta.output_name() for each in fresh]
            frame = original.with_columns(frame.select(added).collect().get_columns()).rechunk().lazy()
        write_file(out, frame.sink_parquet if kind == ".parquet" else frame.sink_ndjson)

    # ------------------------------------------------------------------ what is wrong, or odd

    def _refuse_beyond_scale(self, score: pl.Expr) -> None:
        """Refuse a number beyond the scale of a confidence in words or per cent, before anything is written."""
        levels = self.policy.levels
        if levels is None:
            return
        low, high = span(levels)
        out = self.frame.select(score.filter((score < low) | (score > high)).first().alias("out"))
        value = out.collect(engine="streaming").item()
        if value is not None:
            scale = f"outside [{low:g}, {high:g}], the scale of calibration"
            raise ValueError(f"{self.name}: column {self.policy.score!r} holds {value:g}, {scale}")

    def _unusable(self) -> str | None:
        """Return why no score can be computed, with the row of the file: all of its classes at once."""
        part = self.failed
        if part is None:
            return None
        columns = [value.alias(name) for name, value in zip(part.columns, self._inputs(part), strict=True)]
        try:
            self._score(part, self.frame.select(columns).collect().get_columns())
        except (ValueError, TypeError) as error:
            return f"column{'s' * (len(columns) > 1)} {listed(part.columns, 4)}: {with_row(str(error))}"
        return None

    def _learned_words(self) -> bool:
        """Learn what a confidence in words or per cent means; whether there is one that was not known before."""
        score = self.policy.score
        if self.policy.inputs is not None or self.words or self.schema[score] != self.pl.String:
            return False
        texts = self.frame.select(_text(score).alias(score)).unique().collect()[score].drop_nulls().to_list()
        try:
            values = spoken(texts, levels=self.policy.levels)
        except ValueError:
            return False
        self.words = dict(zip(texts, map(float, values), strict=True))
        return bool(self.words)

    def _no_number(self) -> str | None:
        """Return the first text of a deciding column that is no number."""
        for column in self.policy.first.columns:
            if self.schema[column] == self.pl.String:
                value = self._decimal(column)
                bad = value.is_not_null() & value.cast(self.pl.Float64, strict=False).is_null()
                wanted = bad.arg_true().first().alias("row"), value.filter(bad).first()
                row, first = self.frame.select(*wanted).collect().row(0)
                if row is not None:
                    return f"column {column!r} must hold numbers, but data row {row + 1} holds {first!r}"
        return None


def _text(column: str) -> pl.Expr:
    """Return a column of text, empty as missing; `replace` would hold the column."""
    import polars as pl

    value = pl.col(column).str.strip_chars()
    return pl.when(value != "").then(value)


def _matrix(columns: list[pl.Series]) -> FloatArray:
    """Return columns of numbers, or one column of lists of one length, as a matrix; a missing list is a row of NaN."""
    import polars as pl

    if not columns[0].dtype.is_nested():
        return np.column_stack([column.to_numpy() for column in columns])
    lists = columns[0].cast(pl.List(pl.Float64))
    width: Any = lists.list.len().max()
    return lists.list.to_array(width).to_numpy() if width else np.full((len(lists), 1), np.nan)
