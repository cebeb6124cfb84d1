"""Compiled loops: where they are taken, and where numba cannot be loaded."""

import subprocess
import sys


def test_a_numba_that_cannot_be_loaded_is_not_tried_again(tmp_path):
    """It may take a second each time."""
    (tmp_path / "numba.py").write_text("print('tried')\nraise ImportError('for another NumPy')\n", encoding="utf-8")
    code = "from abstain import _fast\nassert [_fast.kernel(len, 10, (0, 0)) for _ in range(3)] == [None] * 3"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{code}"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout.splitlines() == ["tried"]
