"""Shared type names."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.intp]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

#: What a user may pass as a column of numbers: a list, a NumPy array, a torch tensor or another
#: Array API array, a pandas, polars or pyarrow column.
ArrayLike: TypeAlias = Any

#: What happens to a sample without a confidence score: ``"raise"`` an error; ``"reject"`` it (it is
#: ranked last, never accepted, and stays in N); ``"drop"`` it and count it.
NanPolicy: TypeAlias = Literal["raise", "reject", "drop"]
