"""The summary as one ANSI ``GROUP BY``: the same key by exact arithmetic, for engines that no frame library reaches."""

from __future__ import annotations

from abstain._checks import LARGEST
from abstain.summaries._key import FORMAT, OF_GROUPS, Key


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
    return f"(score <= {_number(MOST)} OR 1E0 / NULLIF(score, 0E0) = 0E0)"


def _scaled(key: Key) -> str:
    """Return the magnitude in units of the smallest that is told apart: 0, or in [1, 2^64)."""
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
        f"CASE WHEN score < -{_number(MOST)} THEN {last} WHEN score > 0E0 THEN {half - 1} - place"
        f" WHEN place = {half - 1} THEN {last - 1} ELSE {half} + place END"
    )


#: The largest finite number: beyond it is infinity.
MOST = 1.7976931348623157e308


def _number(value: float) -> str:
    """Return a literal of an approximate number, which every engine reads to the last bit."""
    text = repr(value).upper()
    return text if "E" in text else f"{text}E0"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
