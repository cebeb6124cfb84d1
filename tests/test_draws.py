"""The examples that tests draw are the same in every run, whatever ran before in the same process."""

import importlib.util
import sys

from hypothesis import given, settings
from hypothesis import strategies as st


def drawn():
    """Return what one test draws."""
    found = []

    @settings(max_examples=200, derandomize=True, database=None)
    @given(st.integers(), st.floats(), st.text())
    def take(whole, real, text):
        found.append((whole, repr(real), text))

    take()
    return found


def test_draws_do_not_depend_on_the_modules_imported_before(tmp_path, monkeypatch):
    """A module full of constants, imported between two runs, changes no example."""
    before = drawn()
    file = tmp_path / "constants_of_ours.py"
    file.write_text("\n".join(f"X{i} = ({1000 + i}, {i}.5, 'word {i}')" for i in range(300)))
    spec = importlib.util.spec_from_file_location("constants_of_ours", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "constants_of_ours", module)
    spec.loader.exec_module(module)
    assert drawn() == before
