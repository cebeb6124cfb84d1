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


def test_import_abstain_loads_no_other_library():
    """Whoever only imports the library waits for NumPy and for nothing else."""
    loaded = _fresh("import json, sys, abstain; abstain.augrc([0, 1], [1, 0]); print(json.dumps(sorted(sys.modules)))")
    assert "abstain.blocks" in loaded
    assert set(NOT_LOADED) & set(loaded) == set()


def test_the_command_loads_the_library_when_a_command_is_called():
    """Help is printed without NumPy, by the command's own modules, the lowest layer and the declaration of columns."""
    code = "import contextlib, io, json, sys; from abstain.cli import run\n"
    code += "with contextlib.redirect_stdout(io.StringIO()): run(['--help'])\n"
    loaded = _fresh(code + "print(json.dumps(sorted(sys.modules)))")
    assert {"numpy", *NOT_LOADED} & set(loaded) == {"click"}
    packages = {package(name) for name in loaded if name.startswith("abstain.")}
    assert {name for name in packages if LAYERS[name] > 0} == {"cli", "outputs"}
    assert [name for name in loaded if name.startswith("abstain.outputs.")] == ["abstain.outputs._reading"]


def test_an_evaluation_of_a_small_table_loads_little(tmp_path):
    """Of the libraries only SciPy, for quantiles, polars, for the file, and click."""
    rng = np.random.default_rng(0)
    score = 1.0 / (1.0 + np.exp(-np.abs(rng.normal(4.0, 3.0, 1000))))
    wrong = rng.random(1000) > score
    rows = "".join(f"{int(loss)},{each}\n" for loss, each in zip(wrong, score, strict=True))
    (tmp_path / "rows.csv").write_text("loss,confidence\n" + rows)
    code = "import contextlib, io, json, sys; from abstain.cli import run; said = io.StringIO()\n"
    code += f"with contextlib.redirect_stdout(said): run(['evaluate', {str(tmp_path / 'rows.csv')!r}])\n"
    said, loaded = _fresh(code + "print(json.dumps([said.getvalue(), sorted(sys.modules)]))")
    assert "certified (95 %)" in said
    assert "AUGRC" in said
    assert set(NOT_LOADED) & set(loaded) == {"click", "scipy", "polars"}
    assert {"scipy.stats", "scipy.optimize", "abstain.thresholds._choose"} & set(loaded) == set()


@pytest.mark.parametrize(
    "module", ["evaluation", "inference", "live", "outputs", "policy", "pool", "study", "summaries", "thresholds"]
)
def test_packages_that_load_on_demand_have_what_their_stubs_name(module):
    """A name of the stub is that object of its module, and nothing is loaded with the package itself."""
    stub = (ROOT / f"src/abstain/{module}/__init__.pyi").read_text(encoding="utf-8")
    for line in stub.splitlines()[2:]:
        home, name = re.fullmatch(r"from (\S+) import (\w+) as \2", line).groups()
        found = getattr(importlib.import_module(f"abstain.{module}"), name)
        assert found is getattr(importlib.import_module(home), name)
        assert name in dir(importlib.import_module(f"abstain.{module}"))
    loaded = _fresh(f"import json, sys, abstain.{module}; print(json.dumps(sorted(sys.modules)))")
    assert [name for name in loaded if name.startswith("abstain.")] == [
        "abstain._lazy",
        "abstain._version",
        f"abstain.{module}",
    ]
    with pytest.raises(AttributeError, match=f"module 'abstain.{module}' has no attribute 'nothing'"):
        importlib.import_module(f"abstain.{module}").nothing  # noqa: B018


def test_import_abstain_costs_little_more_than_numpy():
    """At most 1.3 times the processor time of ``import numpy``: the best of several runs of each."""
    code = """
import time
start = time.process_time()
import numpy
middle = time.process_time()
import abstain
print([middle - start, time.process_time() - start])
"""
    numpy, both = zip(*(_fresh(code) for _ in range(9)), strict=True)
    assert min(both) <= 1.3 * min(numpy)


@pytest.mark.slow
def test_commands_and_policies_start_soon():
    """As processes beside one that imports NumPy: what loads all of SciPy or the inference would be a regression."""
    pytest.importorskip("resource")
    from benchmarks import start

    assert {name: found for name, found in start.ratios(7).items() if found > 1.6 * start.BARS[name]} == {}
