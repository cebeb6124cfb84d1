"""What comes of applying a policy to a file: how many rows were decided how, and which are drawn for a label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from abstain.policy import drawn_rows, row_names

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Applied:
    """How many rows were written, accepted, without a score, abstained by the model, of no known group; and notes."""

    n: int
    n_accepted: int
    n_unscored: int
    n_declined: int = 0
    n_unknown_group: int = 0
    notes: tuple[str, ...] = ()


def drawn_columns(frame: pl.LazyFrame, accepted: pl.Expr, share: float, ids: str, seed: int | str) -> list[pl.Expr]:
    """Return which rows are drawn for a label, and with which chance, as two columns.

    Names of rows that are missing or come twice are refused.
    """
    import polars as pl

    name = pl.col(ids)
    n, distinct, missing = (
        frame.select(pl.len(), name.n_unique().alias("d"), name.null_count().alias("m")).collect().row(0)
    )
    if distinct < n or missing:
        raise ValueError(
            f"column {ids!r} must name each row, and no two alike: rows of one name would be drawn together"
        )
    chance = pl.when(accepted).then(share).otherwise(1.0)

    def drawn(rows: pl.Series) -> pl.Series:
        each = rows.struct
        return pl.Series(drawn_rows(row_names(each.field("ids")), each.field("chance").to_numpy(), seed))

    both = pl.struct(name.alias("ids"), chance.alias("chance"))
    return [
        both.map_batches(drawn, return_dtype=pl.Boolean, is_elementwise=True).alias("label_drawn"),
        chance.alias("label_probability"),
    ]
