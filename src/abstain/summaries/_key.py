"""The key of a summary: which bin a score falls into, the same on every machine, in every engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from abstain._checks import LARGEST, one_of, refuse, whole
from abstain._typing import FloatArray, IntArray

Scale = Literal["probability", "real"]
#: What a file says it is; a change of the key or of the columns is another number.
FORMAT = "abstain.summary/1"
#: The same of a file of groups, each with bins of its own.
OF_GROUPS = "abstain.groups/1"
#: The same of a file of cells of two scores.
OF_CELLS = "abstain.cells/1"
#: Binary orders of magnitude below 1 that bins tell apart: all that 1 - p can have in float64, and those of a score.
ORDERS = {"probability": 53, "real": 32}
#: Least and most bits of a key.
FEWEST, MOST = 8, 20

#: Columns of the bins: type, what an empty bin holds, and how those of two parts combine.
COLUMNS: dict[str, tuple[type[np.generic], float, Any]] = {
    "n": (np.int64, 0, np.add),
    "loss_sum": (np.float64, 0.0, np.add),
    "other_losses": (np.int64, 0, np.add),
    "largest_loss": (np.float64, 0.0, np.maximum),
    "lowest": (np.float64, np.inf, np.minimum),
    "highest": (np.float64, -np.inf, np.maximum),
}


@dataclass(frozen=True)
class Key:
    r"""From a score to its bin; bins ascend as scores descend.

    ``"probability"``: the leading bits of 1 - p as float64, whose spacing is finest near p = 1, where the scores of a
    good classifier are (bits of p itself would be as coarse there as equal widths). ``"real"``: sign and leading bits
    of the score, in size from 2^-32 to 2^32; what is nearer to zero or further away shares the bins at the ends. The
    last bin holds -inf alone, which is a row without a score.

    Every step is exact in IEEE arithmetic, so that the bits can be had by comparing and multiplying with powers of two,
    too: see :func:`sql`. A logarithm could not be used, as its last digit differs between libraries.

    Parameters
    ----------
    scale : {"probability", "real"}
    bits : int
        2**bits bins.

    Examples
    --------
    >>> from abstain.summaries import Key
    >>> Key("probability").of([1.0, 0.999, 0.5]).tolist(), Key("real").of([3.0, -1.0]).tolist()
    ([0, 44057, 53249], [15615, 49152])
    """

    scale: Scale = "probability"
    bits: int = 16

    def __post_init__(self) -> None:
        one_of(self.scale, ("probability", "real"), "scale")
        if whole(self.bits, "bits", usual=16) < FEWEST or self.bits > MOST:
            raise ValueError(f"bits must lie between {FEWEST} and {MOST}, got {self.bits!r}; 16 is usual")

    @property
    def bins(self) -> int:
        """Number of bins."""
        return 1 << self.bits

    @property
    def name(self) -> str:
        """The name in files, as ``"probability/16"``: summaries of one name add up."""
        return f"{self.scale}/{self.bits}"

    @classmethod
    def named(cls, name: str) -> Key:
        """Return the key of a name."""
        scale, _, bits = name.partition("/")
        if scale not in ORDERS or not bits.isdecimal():
            raise ValueError(f"the key {name!r} is not known; known: probability/BITS, real/BITS")
        return cls(scale, int(bits))  # type: ignore[arg-type]

    @property
    def orders(self) -> int:
        """Binary orders of magnitude below 1 that are distinguished."""
        return ORDERS[self.scale]

    @property
    def steps(self) -> int:
        """Bits of a bin within one order of magnitude: 64 orders, and for scores two signs."""
        return self.bits - (6 if self.scale == "probability" else 7)

    def checked(self, score: FloatArray, name: str, nan_policy: Literal["raise", "reject"] | None) -> FloatArray:
        """Return scores for which there is a bin, -inf in the place of NaN where that is rejected; refuse others."""
        if score.min() >= 0.0 and score.max() <= 1.0:  # nearly always, and no NaN is
            return score
        if nan_policy == "reject":
            score = np.where(np.isnan(score), -np.inf, score)
        remedy = 'repair the scores, or pass nan_policy="reject" (ranked last, never accepted)'
        if nan_policy is None:
            remedy = "give every row a score; -inf is accepted last"
        refuse(np.isnan(score), score, name, "holds NaN", remedy, np)
        if self.scale == "probability":
            outside = ((score < 0.0) & (score > -np.inf)) | (score > 1.0)
            refuse(outside, score, name, "lies outside [0, 1]", 'make the summary with scale="real"', np)
        return score

    def of(self, confidence: FloatArray) -> IntArray:
        """Return the bins of scores, float64 and not NaN; those of probabilities lie in [0, 1] or are -inf."""
        score = np.asarray(confidence, dtype=np.float64)
        missing = np.flatnonzero(score == -np.inf)
        magnitude = 1.0 - score if self.scale == "probability" else np.abs(score)
        found = magnitude.view(np.int64)  # the magnitude is a new array
        found >>= 52 - self.steps
        found -= (1023 - self.orders) << self.steps
        if self.scale == "probability":
            found += 1  # bin 0: p = 1
            np.maximum(found, 0, out=found)
        else:
            half = self.bins >> 1
            np.clip(found, 0, half - 1, out=found)
            found = np.where(score > 0.0, half - 1 - found, np.minimum(half + found, self.bins - 2))
        found[missing] = self.bins - 1
        result: IntArray = found
        return result


# ---------------------------------------------------------------------- the same in SQL


def sql(key: Key, *, confidence: str, loss: str, table: str = "predictions", groups: str | None = None) -> str:
    """Return a query whose result, once written as Parquet, is a summary: see :func:`read_summary`.

    It stays within the standard: common table expressions, CASE, FLOOR and IEEE arithmetic, without casts of bits and
    without a logarithm. The leading bits of a number are had by multiplying with powers of two until it lies in [1, 2),
    which is exact, so that every engine finds the bins of Python, and results of several engines add up.

    Parameters
    ----------
    key : Key
    confidence, loss : str
        Columns, which the query quotes. A loss that is a truth value is cast to a number; an engine that cannot
        (PostgreSQL) needs ``CAST(wrong AS INTEGER)`` in a view.
    table : str
        What stands after FROM, as it is: a table, a view, or ``read_parquet('logs/*.parquet')``.
    groups : str, optional
        Column whose values are summarized apart.

    Returns
    -------
    str

    Notes
    -----
    Rows without a usable score or loss (null, NaN, a negative loss, a confidence outside [0, 1]) are counted in bin -1,
    which :func:`read_summary` refuses with their number: SQL would leave a null out of a sum in silence.

    Examples
    --------
    >>> from abstain.summaries import Key, sql
    >>> text = sql(Key("real"), confidence="energy", loss="wrong", table="logs")
    >>> text.count("GROUP BY"), text.splitlines()[2]
    (1, '  FROM logs')
    """
    at = 1 << key.steps
    own, also = ("", "") if groups is None else (f", {_quoted(groups)} AS part", ", part")
    lines = [
        "WITH given AS (",
        f"  SELECT CAST({_quoted(confidence)} AS DOUBLE PRECISION) AS score,"
        f" CAST({_quoted(loss)} AS DOUBLE PRECISION) AS loss{own}",
        f"  FROM {table}",
        "), usable AS (",
        f"  SELECT CASE WHEN {_usable(key)}",
        f"    AND loss BETWEEN 0E0 AND {_number(LARGEST)} THEN score END AS score, loss{also}",
        "  FROM given",
        "), by64 AS (",
        f"  SELECT score, loss{also}, 0 AS places, {_scaled(key)} AS z",
        "  FROM usable",
    ]
    for shift in (32, 16, 8, 4, 2, 1):
        far = f"z >= {_number(2.0**shift)}"
        lines += [
            f"), by{shift} AS (",
            f"  SELECT score, loss{also}, CASE WHEN {far} THEN places + {shift} ELSE places END AS places,",
            f"    CASE WHEN {far} THEN z * {_number(2.0**-shift)} ELSE z END AS z",
            f"  FROM by{2 * shift}",
        ]
    lines += [
        "), placed AS (",
        f"  SELECT score, loss{also}, z,",
        f"    places * {at} + CAST(FLOOR(z * {_number(float(at))}) AS BIGINT) - {at} AS place",
        "  FROM by1",
        "), binned AS (",
        f"  SELECT score, loss{also}, COALESCE({_bin(key)}, -1) AS bin",
        "  FROM placed",
        ")",
        f"SELECT {_said(key, groups)}, bin, COUNT(*) AS n, SUM(loss) AS loss_sum,",
        "  CAST(SUM(CASE WHEN loss = 0E0 OR loss = 1E0 THEN 0 ELSE 1 END) AS BIGINT) AS other_losses,",
        "  MAX(loss) AS largest_loss, MIN(score) AS lowest, MAX(score) AS highest",
        "FROM binned",
        "GROUP BY bin" + also,
    ]
    return "\n".join(lines)


def _said(key: Key, groups: str | None) -> str:
    """Return the columns that say what the bins are of."""
    if groups is None:
        return f"'{FORMAT}' AS \"format\", '{key.name}' AS \"key\""
    name = groups.replace("'", "''")
    return f'\'{OF_GROUPS}\' AS "format", \'{key.name}\' AS "key", \'{name}\' AS "groups", part AS "group"'


def _usable(key: Key) -> str:
    """Return which scores are numbers; some engines hold NaN above everything, and none divides by it to 0."""
    if key.scale == "probability":
        return "score BETWEEN 0E0 AND 1E0"
    return f"(score <= {_number(_LARGEST_SCORE)} OR 1E0 / NULLIF(score, 0E0) = 0E0)"


def _scaled(key: Key) -> str:
    """Return the magnitude in units of the smallest that is distinguished: 0, or in [1, 2^64)."""
    unit = _number(2.0**key.orders)
    if key.scale == "probability":
        return f"(1E0 - score) * {unit}"
    return (
        f"CASE WHEN ABS(score) >= {unit} THEN {_number(2.0**64 - 2048.0)}"
        f" WHEN ABS(score) < {_number(2.0**-key.orders)} THEN 1E0 ELSE ABS(score) * {unit} END"
    )


def _bin(key: Key) -> str:
    """Return the bin of a place, counted from the smallest magnitude."""
    if key.scale == "probability":
        return "CASE WHEN z = 0E0 THEN 0 ELSE place + 1 END"
    half, last = key.bins >> 1, key.bins - 1
    return (
        f"CASE WHEN score < -{_number(_LARGEST_SCORE)} THEN {last} WHEN score > 0E0 THEN {half - 1} - place"
        f" WHEN place = {half - 1} THEN {last - 1} ELSE {half} + place END"
    )


#: The largest finite number: beyond it is infinity.
_LARGEST_SCORE = 1.7976931348623157e308


def _number(value: float) -> str:
    """Return a literal of an approximate number, which every engine reads to the last bit."""
    text = repr(value).upper()
    return text if "E" in text else f"{text}E0"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
