"""Shared type names."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.intp]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
#: A NumPy array of numbers, text or objects.
AnyArray: TypeAlias = npt.NDArray[Any]

#: An array of the library whose functions are in ``Namespace``: NumPy, PyTorch or another of the Array API standard.
Array: TypeAlias = Any
Namespace: TypeAlias = ModuleType
Device: TypeAlias = object

#: What a user may pass as a column of numbers: a list, a NumPy array, a torch tensor or another
#: Array API array, a pandas, polars or pyarrow column.
ArrayLike: TypeAlias = Any

#: Where rows come from: a path or a pattern of paths, a frame of any library, columns by name, or ``abstain.Outputs``.
Source: TypeAlias = Any

#: What happens to a sample without a confidence score: ``"raise"`` an error; ``"reject"`` it (it is
#: ranked last, never accepted, and stays in N); ``"drop"`` it and count it.
NanPolicy: TypeAlias = Literal["raise", "reject", "drop"]

#: A time of rows, and an age of labels: numbers, or dates and their differences.
Moment: TypeAlias = Any
Age: TypeAlias = Any

#: Of random numbers: what ``numpy.random.default_rng`` takes.
Seed: TypeAlias = int | Sequence[int] | np.random.SeedSequence | np.random.BitGenerator | np.random.Generator | None

#: Named values that JSON can hold: an object of a file, the state of a monitor, a row of ``Result.rows()``.
Document: TypeAlias = dict[str, Any]
#: Keyword arguments: options by name, whose types the function that takes them knows.
Options: TypeAlias = dict[str, Any]

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl
    from matplotlib.axes import Axes as Axes
    from narwhals.typing import IntoFrame

    Frame: TypeAlias = IntoFrame
    PolarsFrame: TypeAlias = pl.DataFrame
    LazyFrame: TypeAlias = nw.LazyFrame[Any]
    EagerFrame: TypeAlias = nw.DataFrame[Any]
    Expr: TypeAlias = nw.Expr
else:  # these libraries load when they are needed
    Axes = Frame = PolarsFrame = LazyFrame = EagerFrame = Expr = Any
