"""``apply_policy``: decide every row of a file of any size, in bounded memory."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from recuse._checks import closest
from recuse._files import write_file
from recuse.thresholds._policy import Policy

_KINDS = (".csv", ".parquet")


@dataclass(frozen=True)
class Applied:
    """How many rows were written, accepted, and without a score.

    Examples
    --------
    >>> from recuse.thresholds import Applied
    >>> Applied(n=3, n_accepted=1, n_unscored=1).n_accepted
    1
    """

    n: int
    n_accepted: int
    n_unscored: int


def apply_policy(
    policy: Policy, source: str | os.PathLike[str], target: str | os.PathLike[str], *, column: str = "accepted"
) -> Applied:
    r"""Copy a CSV or Parquet file with one more column: whether the policy accepts the row.

    Parameters
    ----------
    policy : Policy
    source, target : str or path
        ``.csv`` or ``.parquet``, each. The target appears only when it is complete.
    column : str
        Name of the new column of booleans.

    Returns
    -------
    Applied
        With ``n``, ``n_accepted`` and ``n_unscored``; rows without a score are rejected.

    Raises
    ------
    ValueError
        The score or group column is missing or no number; the new column exists; an unknown extension.
    ImportError
        polars is missing.

    Notes
    -----
    polars streams the file in batches; memory does not grow with the number of rows.

    Examples
    --------
    >>> import pathlib, tempfile, recuse
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "new.csv").write_text("case,msp\na,0.95\nb,0.3\nc,\n")
    >>> policy = recuse.choose_threshold([0, 1], [0.9, 0.2], coverage=0.5).policy(score="msp")
    >>> recuse.thresholds.apply_policy(policy, folder / "new.csv", folder / "decided.csv")
    Applied(n=3, n_accepted=1, n_unscored=1)
    >>> (folder / "decided.csv").read_text().splitlines()
    ['case,msp,accepted', 'a,0.95,true', 'b,0.3,false', 'c,,false']
    """
    try:
        import polars as pl
    except ModuleNotFoundError as error:
        raise ImportError('deciding files needs polars: pip install "recuse[cli]"') from error
    name, out = os.fspath(source), os.fspath(target)
    if os.path.exists(out) and os.path.samefile(name, out):
        raise ValueError(f"{out}: is the input itself; write the decided rows to another file")
    kinds = [os.path.splitext(path)[1].lower() for path in (name, out)]
    for path, kind in zip((name, out), kinds, strict=True):
        if kind not in _KINDS:
            raise ValueError(f"{path}: extension {kind!r} is not known; use one of {', '.join(_KINDS)}")
    if not os.path.isfile(name):
        raise FileNotFoundError(f"{name}: no such file; check the path")
    try:
        frame = _scan(pl, name, kinds[0], policy)
        unscored, decided = _columns(pl, name, frame.collect_schema(), policy, column)
        result = frame.with_columns(decided.alias(column))
        write = result.sink_csv if kinds[1] == ".csv" else result.sink_parquet
        write_file(out, write)
        counts = frame.select(pl.len().alias("n"), decided.sum().alias("a"), unscored.sum().alias("u"))
        row = counts.collect(engine="streaming").row(0)
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"{name}: {' '.join(str(error).split())[:300]}; repair the file") from None
    return Applied(*(int(value) for value in row))


def _scan(pl: Any, name: str, kind: str, policy: Policy) -> Any:
    """Open lazily; a CSV's decided columns get fixed types, all others stay the text that they were."""
    if kind == ".parquet":
        return pl.scan_parquet(name)
    return pl.scan_csv(name, infer_schema=False)


def _columns(pl: Any, name: str, schema: Any, policy: Policy, column: str) -> tuple[Any, Any]:
    for wanted in (policy.score, policy.group):
        if wanted is not None and wanted not in schema:
            raise ValueError(f"{name}: column {wanted!r} of the policy is missing; {closest(wanted, schema.names())}")
    if column in schema:
        raise ValueError(f"{name}: column {column!r} exists already; name another one")
    kind = schema[policy.score]
    if not (kind.is_numeric() or kind == pl.String):
        raise ValueError(f"{name}: column {policy.score!r} must be numeric, but it is {kind}; convert it first")
    text = pl.col(policy.score)
    if kind == pl.String:  # `when` streams, `replace` would hold the column
        text = text.str.strip_chars()
        text = pl.when(text != "").then(text)
    score = text.cast(pl.Float64)
    unscored = score.is_null() | score.is_nan()
    limit: Any = pl.lit(policy.thresholds.get(""), dtype=pl.Float64)
    if policy.group is not None:
        names = list(policy.thresholds)
        limit = pl.col(policy.group).cast(pl.String).replace_strict(
            names, [policy.thresholds[each] for each in names], default=None, return_dtype=pl.Float64
        )  # fmt: skip
    reachable = limit < float("inf")
    return unscored, (~unscored & (score >= limit) & reachable).fill_null(False)
