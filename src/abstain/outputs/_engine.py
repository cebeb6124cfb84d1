"""Rows that an engine holds (polars, DuckDB, Spark, Dask, …): what they are understood to be, and expressions for it.

The first rows are read in the same way as a file. What is understood of them is said once, as an expression on all
rows; each row's problems are part of that expression, so that one scan counts them too.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import or_
from typing import Any

from abstain._checks import LARGEST, UnmetNeed, closest, engine_of, refuse_pattern
from abstain._typing import ArrayLike, EagerFrame, Expr, LazyFrame
from abstain.outputs._columns import SIGNS
from abstain.outputs._outputs import Outputs
from abstain.outputs._parts import Parts
from abstain.outputs._read import read_outputs

#: First rows by which columns are understood.
FIRST = 10_000
#: Arguments of ``read_outputs`` that have a meaning row by row, in an engine.
READ = (
    "labels", "predictions", "probabilities", "confidence", "uncertainty", "loss", "correct", "sample_weight",
    "clusters", "ids", "class_names",
)  # fmt: skip
#: What a scan cannot evaluate has this remedy.
REMEDY = "collect() the frame, which is then evaluated in memory"
#: Columns of what scores are made of.
TOP, LEAST, TOTAL, PLACE, OWN = (f"abstain_{name}" for name in ("top", "least", "total", "place", "own"))
#: Scores that an engine computes from probability columns.
COMPUTED = ("msp", "softmax_margin", "neg_entropy", "neg_gini")

#: What a number below 0 in the place of a loss or weight stands for.
PROBLEMS = {
    -1.0: "null", -2.0: "NaN", -3.0: "negative", -4.0: "infinite", -5.0: f"above {LARGEST:g}, where sums overflow,",
    -6.0: "neither 0 nor 1", -7.0: "no distribution (probabilities of 0 to 1 that sum to 1)",
    -8.0: "none of the classes",
}  # fmt: skip


@dataclass(frozen=True)
class Rows:
    """A lazy frame of Narwhals, its first rows as outputs, and which column is what."""

    frame: LazyFrame
    schema: Mapping[str, Any]
    first: Outputs
    #: Whether the names of the classes were given, not found in the columns; whether these and the labels are -1 and 1.
    told: bool = False
    signs: bool = False

    @classmethod
    def of(
        cls, frame: LazyFrame, scores: Callable[[EagerFrame], list[str]], groups: Sequence[str],
        columns: Mapping[str, ArrayLike], unlabelled: bool = False,
    ) -> Rows:  # fmt: skip
        """Understand the first rows as a file is understood; ``scores``: which are columns, given these rows.

        ``unlabelled``: a loss may be missing.
        """
        for name, value in columns.items():
            if name not in READ and value is not None:
                raise UnmetNeed(f"{name}= is not read in a scan; filter the frame, or {REMEDY}")
        head = _first_rows(frame)
        _refuse_intervals(frame, [*groups, columns.get("clusters")])
        with warnings.catch_warnings():  # a doubt about the first rows need not be one about all
            warnings.simplefilter("ignore", UserWarning)
            told = {"groups": list(groups), "scores": scores(head), **columns}
            try:
                first = read_outputs(head.to_native(), **told)
            except ValueError as error:
                said, advice, _ = str(error).partition("; give unscored=")
                if not advice:
                    raise
                if not unlabelled:
                    raise ValueError(f"{said} among the first {len(head)}; filter or repair these rows") from None
                first = read_outputs(_known(head).to_native(), **told)
        label = None if first.labels is None or first.reading is None else first.reading.single.get("labels")
        signs = set(first.class_names or ()) == set(SIGNS) and label is not None and -1 in head[label].to_list()
        found = cls(frame, dict(frame.collect_schema()), first, columns.get("class_names") is not None, signs)
        for part in found.single:
            if part not in READ:
                raise UnmetNeed(f"column {found.single[part]!r} ({part}) is not read in a scan; drop it, or {REMEDY}")
        return found

    def on(self, frame: LazyFrame) -> Rows:
        """Return the same understanding of other rows, whose columns are called alike."""
        return replace(self, frame=frame, schema=dict(frame.collect_schema()))

    @property
    def single(self) -> Mapping[str, str]:
        """Part -> its column."""
        assert self.first.reading is not None
        return self.first.reading.single

    @property
    def matrix(self) -> list[str]:
        """Columns of the class probabilities, in the order of the classes."""
        assert self.first.reading is not None
        return list(self.first.reading.matrix.get("probabilities", ()))

    # ------------------------------------------------------------------ expressions

    def score(self, name: str) -> Expr:
        """Return the expression of a score, NaN where there is none."""
        import narwhals as nw

        if name in (self.first.scores or {}):
            return self._number(self._named(name, "score_"))
        if name == "confidence" and "confidence" in self.single:
            return self._number(self.single["confidence"])
        if name == "confidence" and "uncertainty" in self.single:
            return 0.0 - self._number(self.single["uncertainty"])
        plain = name.partition("(")[0]
        if plain not in COMPUTED or plain != name:
            raise UnmetNeed(f"score {name!r} is not computed in a scan, which knows {', '.join(COMPUTED)}; {REMEDY}")
        self._probabilities(f"score {name!r}")
        return nw.col(OWN)

    def ready(self, score: str) -> Any:
        """Return the frame with what expressions of probabilities are made of, as columns."""
        first = self.first
        judged = first.loss is not None or first.predictions is not None or score in (first.score_predictions or {})
        if judged and not self._computed(score):
            return self.frame
        import narwhals as nw

        add = partial(_with_facts, self._probabilities(f"score {score!r}"), score)
        if self.frame.implementation.is_dask():  # which joins nothing over columns with other columns
            native = self.frame.to_native()
            return nw.from_native(native.map_partitions(lambda part: add(nw.from_native(part)).to_native()))
        return add(self.frame)

    def _computed(self, score: str) -> bool:
        return score in COMPUTED and score not in (self.first.scores or {})

    def loss(self, score: str) -> Expr:
        """Return the expression of the loss of the predictions that a score is about."""
        found = self._loss(score)
        return self._if_distribution(found) if self._computed(score) else found

    def _loss(self, score: str) -> Expr:

        first, single = self.first, self.single
        if score in (first.score_predictions or {}):
            return self._differ(single["labels"], f"prediction_{score}")
        if first.loss is not None and "loss" in single:
            return self.checked(single["loss"])
        if first.loss is not None and "correct" in single:
            right = self._number(single["correct"], fill=False)
            known = (right == 0.0) | (right == 1.0)
            return _first((right.is_null(), -1.0), (~known, -6.0), otherwise=1.0 - right)
        if first.predictions is not None:
            return self._differ(single["labels"], single["predictions"])
        return self._missed()

    def about(self, score: str) -> str:
        """Return the columns that the loss is made of, as a message names them."""
        single, labels = self.single, self.single.get("labels")
        found = f"column {labels!r}"
        if self.first.loss is not None:
            found = f"column {single.get('loss', single.get('correct'))!r}"
        elif score in (self.first.score_predictions or {}):
            found = f"one of columns {labels!r} and 'prediction_{score}'"
        elif self.first.predictions is not None:
            found = f"one of columns {labels!r} and {single['predictions']!r}"
        return f"one of the probabilities and {found}" if self._computed(score) else found

    def weight(self) -> Expr | None:
        """Return the expression of the weights, if there are any."""
        return self.checked(self.single["sample_weight"]) if "sample_weight" in self.single else None

    def group(self, name: str) -> str:
        """Return the column of a group."""
        return self._named(name, "group_")

    def _named(self, name: str, prefix: str) -> str:
        return f"{prefix}{name}" if name not in self.schema and f"{prefix}{name}" in self.schema else name

    def column(self, name: str) -> Expr:
        """Return a column as it is."""
        import narwhals as nw

        if name not in self.schema:
            raise ValueError(f"column {name!r} is not there; {closest(name, map(str, self.schema))}")
        refuse_pattern(name, engine_of(self.frame))
        return nw.col(name)

    def _number(self, name: str, fill: bool = True) -> Expr:
        import narwhals as nw

        column, dtype = self.column(name), self.schema[name]
        if not (dtype.is_numeric() or dtype == nw.Boolean):
            raise TypeError(f"column {name!r} must be numeric in a scan, got {dtype}; cast it to numbers, or {REMEDY}")
        column = column.cast(nw.Int8) if dtype == nw.Boolean else column
        column = column.cast(nw.Float64) + 0.0
        return column.fill_null(float("nan")) if fill else column

    def checked(self, name: str) -> Expr:
        """Return a column of losses or weights, with the numbers of problems in the place of what is none."""
        x = self._number(name, fill=False)
        return _first(
            (x.is_null(), -1.0), (x.is_nan(), -2.0), (x == float("inf"), -4.0), (x < 0.0, -3.0), (x > LARGEST, -5.0),
            otherwise=x,
        )  # fmt: skip

    def _differ(self, labels: str, predictions: str) -> Expr:
        """Return 1 where the two differ."""
        import narwhals as nw

        kinds = {name: self._is_text(name) for name in (labels, predictions)}
        if len(set(kinds.values())) > 1:
            text = next(name for name, is_text in kinds.items() if is_text)
            raise TypeError(f"columns {labels!r} and {predictions!r}: only {text!r} is text; cast one of them")
        one, two = (nw.col(name).cast(nw.String) if kinds[name] else nw.col(name) for name in kinds)
        missing = one.is_null() | two.is_null()
        return _first((missing, -1.0), (one == two, 0.0), otherwise=nw.lit(1.0))

    def _is_text(self, name: str) -> bool:
        self.column(name)
        dtype = self.schema[name]
        return not (dtype.is_numeric() or str(dtype) == "Boolean")

    def _missed(self) -> Expr:
        """Return 1 where the largest probability, the first of equal ones, is not that of the label."""
        import narwhals as nw

        p, labels = self._probabilities("the prediction"), self.single["labels"]
        label, text = nw.col(labels), self._is_text(labels)
        called = self.first.class_names
        if text and called is None:
            raise TypeError(f"column {labels!r} is text; name the classes of the probabilities: class_names=[...]")
        names = list(called or ()) if text else self._numbers(len(p), str(self.schema[labels]) == "Boolean")
        label = label.cast(nw.String) if text else label
        right = reduce(or_, [(label == name) & (nw.col(PLACE) == k) for k, name in enumerate(names)])
        known = reduce(or_, [label == name for name in names])
        return self._if_distribution(
            _first((label.is_null(), -1.0), (~known, -8.0), (right, 0.0), otherwise=nw.lit(1.0))
        )

    def _numbers(self, n_classes: int, truth: bool) -> list[Any]:
        """Return the label of each class where labels are no text: its place unless, as in memory, it is the name."""
        names = self.first.class_names or ()
        if truth and {name.lower() for name in names} == {"true", "false"}:
            return [name.lower() == "true" for name in names]
        named = self.signs if self.told else names and all(name.lstrip("-").isdecimal() for name in names)
        return [float(name) for name in names] if named else list(range(n_classes))

    def _if_distribution(self, loss: Expr) -> Expr:
        """Return the loss where the probabilities are such."""
        import narwhals as nw

        p = [nw.col(each) for each in self.matrix]
        nothing = reduce(or_, [each.is_null() for each in p])
        fine = ((nw.col(TOTAL) - 1.0).abs() <= 1e-3) & (nw.col(LEAST) >= 0.0)
        return _first((nothing, -1.0), (~fine, -7.0), otherwise=loss)

    def _probabilities(self, what: str) -> list[str]:
        names = self.matrix
        if not names:
            raise UnmetNeed(f"{what} needs columns of probabilities in a scan: probabilities='p_*'; or {REMEDY}")
        for name in names:
            self._number(name)  # refuses lists, which hold a whole matrix
        return names


def first_of(source: Parts, groups: Sequence[str], columns: Mapping[str, ArrayLike]) -> Outputs:
    """Return the first rows as all are understood."""
    with source.first.about():
        return Rows.of(source.first.frame, lambda _: [], groups, columns).first


def _first(*cases: tuple[Expr, float], otherwise: Expr) -> Expr:
    """Return the value of the first condition that holds; the oldest Narwhals has no chain of them."""
    import narwhals as nw

    for condition, value in reversed(cases):
        otherwise = nw.when(condition).then(nw.lit(value)).otherwise(otherwise)
    return otherwise


def _first_rows(frame: LazyFrame) -> EagerFrame:
    """Return some first rows in memory; of the partitions of Dask, those of the first that has any."""
    if not frame.implementation.is_dask():
        return frame.head(FIRST).collect()
    import narwhals as nw

    native = frame.to_native()
    parts = (native.partitions[k].head(FIRST, npartitions=1) for k in range(native.npartitions))
    found = next((part for part in parts if len(part)), native.partitions[0].head(0, npartitions=1))
    return nw.from_native(found, eager_only=True)


def _refuse_intervals(frame: LazyFrame, names: Sequence[str | None]) -> None:
    """Refuse to group by INTERVAL of SQL, which is three numbers: a month and 30 days may be equal and are not one."""
    if not frame.implementation.is_duckdb():
        return
    native = frame.to_native()
    kinds = dict(zip(native.columns, map(str, native.types), strict=True))
    for name in names:
        if isinstance(name, str) and kinds.get(name) == "INTERVAL":
            raise TypeError(
                f"column {name!r} is an INTERVAL (months, days and microseconds), which names no group; "
                f'cast it: CAST("{name}" AS VARCHAR)'
            )


def _known(head: EagerFrame) -> Any:
    """Return rows in which nothing is missing."""
    import narwhals as nw

    kinds = head.schema
    missing = [nw.col(name).is_nan() for name in kinds if kinds[name].is_float()]
    return head.drop_nulls().filter(*(~each for each in missing))


def _with_facts(names: list[str], score: str, frame: LazyFrame) -> Any:
    """Add what is to know of probabilities: sum, least and largest, the place of the largest, and a score."""
    import narwhals as nw

    p = [nw.col(each).cast(nw.Float64) for each in names]  # as in memory: margins of short floats are others
    facts = {TOP: nw.max_horizontal(*p), LEAST: nw.min_horizontal(*p), TOTAL: nw.sum_horizontal(*p)}
    frame = frame.with_columns(**facts)
    place: Expr = nw.lit(len(p) - 1)
    for k in range(len(p) - 2, -1, -1):  # the first of equal ones
        place = nw.when(p[k] == nw.col(TOP)).then(nw.lit(k)).otherwise(place)
    frame = frame.with_columns(**{PLACE: place})
    own = nw.col(TOP)
    if score == "neg_gini":
        own = nw.sum_horizontal(*(each * each for each in p)) - 1.0
    elif score == "neg_entropy":
        own = nw.sum_horizontal(*(nw.when(each > 0.0).then(each * each.log()).otherwise(0.0) for each in p))
    elif score == "softmax_margin":
        own = own - nw.max_horizontal(*(nw.when(nw.col(PLACE) == k).then(0.0).otherwise(x) for k, x in enumerate(p)))
    return frame.with_columns(**{OWN: own})
