"""What comes of applying a policy to a file: how many rows were decided how, and which are drawn for a label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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


@dataclass(frozen=True)
class Audits:
    """Which share of what is accepted is drawn for a label, by which column of names, and the seed."""

    share: float
    ids: str | None
    seed: Any

    def __post_init__(self) -> None:
        if not 0.0 < self.share <= 1.0:
            raise ValueError(f"audit must be in (0, 1], got {self.share!r}; give the share of answers to be labelled")
        if self.ids is None or self.seed is None:
            raise TypeError("audit= needs ids=, the column with a name of each row, and seed=, kept secret")

    def columns(self, frame: pl.LazyFrame, accepted: pl.Expr) -> list[pl.Expr]:
        """Return the two columns of the draws, as expressions; refuse names that are missing or come twice."""
        import polars as pl

        name = pl.col(str(self.ids))
        n, distinct, missing = (
            frame.select(pl.len(), name.n_unique().alias("d"), name.null_count().alias("m")).collect().row(0)
        )
        if distinct < n or missing:
            raise ValueError(
                f"column {self.ids!r} must name each row, and no two alike: rows of one name would be drawn together"
            )
        chance = pl.when(accepted).then(self.share).otherwise(1.0)

        def drawn(rows: pl.Series) -> pl.Series:
            each = rows.struct
            return pl.Series(drawn_rows(row_names(each.field("ids")), each.field("chance").to_numpy(), self.seed))

        both = pl.struct(name.alias("ids"), chance.alias("chance"))
        return [
            both.map_batches(drawn, return_dtype=pl.Boolean, is_elementwise=True).alias("label_drawn"),
            chance.alias("label_probability"),
        ]
