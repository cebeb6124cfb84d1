"""Compiled loops: where they are taken, and where numba cannot be loaded."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from abstain._sums import cumulative
from tests.paths import PATHS, taken


def test_a_numba_that_cannot_be_loaded_is_not_tried_again(tmp_path) -> None:
    """It may take a second each time."""
    (tmp_path / "numba.py").write_text("print('tried')\nraise ImportError('for another NumPy')\n", encoding="utf-8")
    code = "from abstain import _fast\nassert [_fast.kernel(len, 10, (0, 0)) for _ in range(3)] == [None] * 3"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{code}"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout.splitlines() == ["tried"]


def test_only_columns_of_tables_are_summed_by_a_kernel() -> None:
    """Columns of other types, as of a table that somebody wrote down, keep their type on every path."""
    values = np.random.default_rng(0).random(5000).astype(np.float32)
    found = []
    for path in PATHS:
        with taken(path):
            found.append(cumulative(values))
    assert {each.dtype for each in found} == {np.dtype(np.float32)}
    assert len({each.tobytes() for each in found}) == 1
