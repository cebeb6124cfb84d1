"""What all tests share: the Hypothesis profiles and the array libraries."""

import gc
import importlib
import os
import random
import shlex
import sys

# Workers share the cores: one thread each, as said before NumPy and PyTorch start theirs.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from tests.command import Done

# ci: the same examples on every run, so that a red run can be repeated; long: many times as many (.ci/run --all);
# thorough: by hand, random and very long.
_SHARED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("ci", derandomize=True, max_examples=25, database=None, print_blob=True, **_SHARED)
settings.register_profile("long", derandomize=True, max_examples=300, database=None, print_blob=True, **_SHARED)
settings.register_profile("thorough", max_examples=3000, **_SHARED)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# Hypothesis also draws the constants that stand in the modules imported so far, so that examples would depend on the
# tests that ran before in the same process. There is no setting for it; tests/test_numerics.py notices if this fails.
if hasattr(providers, "_get_local_constants"):
    _NOTHING = providers.Constants()
    providers._get_local_constants = lambda: _NOTHING


def pytest_addoption(parser):
    """Add ``--order SEED``: the tests in a random order, the same one for the same seed."""
    parser.addoption("--order", type=int, default=None, metavar="SEED", help="run the tests in a random order")


def pytest_collection_modifyitems(config, items):
    """Skip tests marked slow unless an expression of marks names them (``pytest -m slow``); shuffle on request."""
    if config.getoption("--order") is not None:
        random.Random(config.getoption("--order")).shuffle(items)
    if "slow" not in config.getoption("-m"):
        for item in items:
            if item.get_closest_marker("slow"):
                item.add_marker(pytest.mark.skip(reason="slow: run with -m slow"))


def pytest_collection_finish():
    """Collect garbage seldom, and never among what is loaded until now: it was up to a quarter of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.fixture(autouse=True)
def nothing_selected():
    """Forget what other tests of this process have selected: a certificate on rows like theirs would warn."""
    if (reuse := sys.modules.get("abstain.thresholds._row_warnings")) is not None:
        reuse._SELECTED.clear()


@pytest.fixture(params=["numpy", "array_api_strict", "torch"])
def xp(request):
    """Return an array library: NumPy, the strict reference of the Array API standard, or PyTorch."""
    return importlib.import_module(request.param)


@pytest.fixture
def abstain_(monkeypatch, tmp_path):
    """Return the command, run in a folder of its own."""
    pytest.importorskip("rich")
    testing = pytest.importorskip("click.testing")
    from abstain.cli import run

    monkeypatch.chdir(tmp_path)
    for name in ("COLUMNS", "FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments):
        with testing.CliRunner().isolation() as (out, err, _):
            code = run([str(argument) for argument in arguments])
            return Done(code, out.getvalue().decode(), err.getvalue().decode())

    return call


@pytest.fixture
def do(abstain_):
    """Return a function that runs a line as it is typed, which must end with the exit code that is given."""

    def call(line, code=0):
        done = abstain_(*shlex.split(line))
        assert done.code == code, done
        return done

    return call
