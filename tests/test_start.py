"""What an import and the start of the command load, and what that costs."""

import importlib
import importlib.util
import json
import re
import subprocess
import sys

import numpy as np
import pytest

from tests.imports import ROOT
from tests.test_architecture import LAYERS, package

NOT_LOADED = ["scipy", "narwhals", "polars", "pandas", "torch", "matplotlib", "rich", "click", "sklearn", "numba"]


def _fresh(code):
    """Run code in a fresh interpreter and return what it prints as JSON."""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=120)
    return json.loads(done.stdout)


def loaded(code):
    """Return the modules that code loads which prints nothing."""
    return _fresh(f"import contextlib, io, json, sys\n{code}\nprint(json.dumps(sorted(sys.modules)))")


def test_import_abstain_loads_no_other_library():
    """Whoever only imports the library waits for NumPy and for nothing else."""
    found = loaded("import abstain; abstain.augrc([0, 1], [1, 0])")
    assert "abstain.blocks" in found
    assert set(NOT_LOADED) & set(found) == set()


def test_the_command_loads_the_library_when_a_command_is_called():
    """Help is printed without NumPy, by the command's own modules, the lowest layer and the declaration of columns."""
    found = loaded("from abstain.cli import run\nwith contextlib.redirect_stdout(io.StringIO()): run(['--help'])")
    assert {"numpy", *NOT_LOADED} & set(found) == {"click"}
    packages = {package(name) for name in found if name.startswith("abstain.")}
    assert {name for name in packages if LAYERS[name] > 0} == {"cli", "outputs"}
    assert [name for name in found if name.startswith("abstain.outputs.")] == ["abstain.outputs._reading"]


def test_an_evaluation_of_a_small_table_loads_little(tmp_path):
    """Of the libraries only SciPy, for quantiles, polars, for the file, and click."""
    rng = np.random.default_rng(0)
    score = 1.0 / (1.0 + np.exp(-np.abs(rng.normal(4.0, 3.0, 1000))))
    rows = np.column_stack([rng.random(1000) > score, score])
    np.savetxt(tmp_path / "rows.csv", rows, delimiter=",", header="loss,confidence", comments="")
    code = "from abstain.cli import run\nwith contextlib.redirect_stdout(io.StringIO()) as said:"
    code += f" run(['evaluate', {str(tmp_path / 'rows.csv')!r}])\nassert 'certified (95 %)' in said.getvalue()"
    found = set(loaded(code))
    assert set(NOT_LOADED) & found == {"click", "scipy", "polars"}
    assert {"scipy.stats", "scipy.optimize", "abstain.thresholds._choose"} & found == set()


@pytest.mark.parametrize(
    "name", ["evaluation", "inference", "live", "outputs", "policy", "pool", "study", "summaries", "thresholds"]
)
def test_packages_that_load_on_demand_have_what_their_stubs_name(name):
    """A name of the stub is that object of its module, and nothing is loaded with the package itself."""
    module, stub = importlib.import_module(f"abstain.{name}"), ROOT / f"src/abstain/{name}/__init__.pyi"
    for line in stub.read_text(encoding="utf-8").splitlines()[2:]:
        home, public = re.fullmatch(r"from (\S+) import (\w+) as \2", line).groups()
        assert getattr(module, public) is getattr(importlib.import_module(home), public)
        assert public in dir(module)
    ours = {each for each in loaded(f"import abstain.{name}") if each.startswith("abstain.")}
    assert ours == {"abstain._lazy", "abstain._version", f"abstain.{name}"}
    with pytest.raises(AttributeError, match=f"module 'abstain.{name}' has no attribute 'nothing'"):
        module.nothing  # noqa: B018


def test_import_abstain_costs_little_more_than_numpy():
    """At most 1.3 times the processor time of ``import numpy``: the best of several runs of each."""
    code = "from time import process_time as now; start = now(); import numpy; middle = now()\n"
    code += "import abstain; print([middle - start, now() - start])"
    numpy, both = zip(*(_fresh(code) for _ in range(9)), strict=True)
    assert min(both) <= 1.3 * min(numpy)


@pytest.mark.slow
def test_commands_and_policies_start_soon():
    """As processes beside one that imports NumPy: what loads all of SciPy or the inference would be a regression."""
    pytest.importorskip("resource")
    from benchmarks import start

    assert {name: found for name, found in start.ratios(7).items() if found > 1.6 * start.BARS[name]} == {}
