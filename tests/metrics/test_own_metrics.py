"""A metric of one's own, in the package as CONTRIBUTING says and outside of it, has all that ours have."""

import inspect
import json
import os
import pickle
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import abstain
from abstain import inference, metrics
from tests.imports import ROOT
from tests.refusal import refused

TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
METRIC, TEST = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
OUTSIDE = METRIC
for inside, instead in (
    ("from abstain.metrics._declare import register", "from abstain.metrics import register"),
    ("from abstain.metrics._gradient import Gradient", "from abstain.metrics import Gradient"),
    ("from abstain._typing import ArrayLike, NanPolicy\n", "ArrayLike = NanPolicy = object\n"),
    ("from abstain.blocks import TieBlocks", "from abstain import TieBlocks"),
    ("abstain.confident_loss", "own_metrics.confident_loss"),
    (">>> import abstain\n", ">>> import own_metrics\n"),
):
    assert inside in OUTSIDE
    OUTSIDE = OUTSIDE.replace(inside, instead)


def run(code, folder, **environment):
    """Run code in a fresh interpreter and return what it prints last as JSON."""
    warnings = ["-W", "error", "-W", "ignore::DeprecationWarning"]  # as in the suite: other libraries' own
    done = subprocess.run(
        [sys.executable, *warnings, "-c", code], cwd=folder, env=os.environ | environment, check=False,
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_a_new_leaf_is_found_in_python(tmp_path):
    """At the top of the package, in its list of names, in the registry, with interval, test and contributions."""
    shutil.copytree(ROOT / "src", tmp_path / "src")
    (tmp_path / "src/abstain/metrics/_confident.py").write_text(METRIC, "utf-8")
    (tmp_path / "test_confident.py").write_text(TEST, "utf-8")
    code = """
import abstain, json, test_confident
test_confident.test_by_hand()
assert "confident_loss" in abstain.__all__ and "confident_loss" in dir(abstain)
assert not hasattr(abstain.metrics, "confident_loss")
loss, score = [0, 1, 0, 0] * 50, [k % 100 / 100 for k in range(200)]
assert "confident_loss" in abstain.metrics.names()
interval = abstain.confidence_interval("confident_loss", loss, score)
compared = abstain.compare(loss, {"a": score, "b": score[::-1]}, metric="confident_loss(power=2)")
value = abstain.confident_loss(loss, score)
assert abs(sum(abstain.contributions("confident_loss", loss, score)) - value) < 1e-12
print(json.dumps([value, interval.low, interval.high, interval.method, compared.metric]))
"""
    path = os.pathsep.join(map(str, (tmp_path / "src", tmp_path, ROOT)))
    value, low, high, method, spec = run(code, tmp_path, PYTHONPATH=path)
    assert 0.0 < low < value < high < 1.0
    assert (method, spec) == ("log-t", "confident_loss(power=2)")


# ---------------------------------------------------------------------- outside of the package


PLUGIN = """
import contextlib, io, json
from abstain.cli import run
before = ["evaluate", "p.csv", "--metrics", "confident_loss", "--json", "-"]
for arguments, expected in ((before, 2), ([*before, "--plugin", "{}"], 0)):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()):
        assert run(arguments) == expected, arguments
assert json.loads(out.getvalue())["measurements"][0]["label"] == "Confident loss"
"""


@pytest.fixture(scope="module")
def outside(tmp_path_factory):
    """Return a folder with the same metric in a file of the user's own."""
    folder = tmp_path_factory.mktemp("outside")
    (folder / "own_metrics.py").write_text(OUTSIDE, "utf-8")
    rows = ["label,prediction,confidence", *(f"{k % 3},{k % 3 if k % 7 else 9},{k % 50 / 50}" for k in range(200))]
    (folder / "p.csv").write_text("\n".join(rows), "utf-8")
    return folder


def test_a_metric_from_outside_has_all_that_ours_have(outside):
    """Interval, bootstrap, ranking, report and pickle of a metric that the user's module registers, as a plugin."""
    code = PLUGIN.format("own_metrics")
    code += """
import pickle, numpy as np
import abstain, own_metrics
rng = np.random.default_rng(0)
score = rng.random((2, 300))
loss = (rng.random(300) > score[0]) * 1.0
interval = abstain.confidence_interval("confident_loss", loss, score[0])
drawn = abstain.inference.bootstrap("confident_loss", loss, score[0], n_resamples=400)
study = abstain.ranking_study(loss, {"a": score[0], "b": score[1]}, ["confident_loss"], n_resamples=100)
assert sorted(study.rankings["confident_loss"].names) == ["a", "b"]
evaluation = abstain.evaluate(loss=loss, confidence=score[0], metrics=["confident_loss", "augrc"])
evaluation.report("r.html")
assert "Confident loss" in open("r.html", encoding="utf-8").read()
metric = abstain.metrics.get("confident_loss", power=2.0)
assert pickle.loads(pickle.dumps(metric)).spec == metric.spec
assert own_metrics.confident_loss(loss, score[0]) == interval.estimate
assert abstain.metrics.names("blocks")[-1] == "confident_loss"
try:
    metric(abstain.metrics.Predictions(np.array([0]), np.array([[0.5, 0.5]])))
except TypeError as error:
    assert "call own_metrics.confident_loss(" in str(error), error
@abstain.metrics.register(title="Half", value=lambda blocks, a=1.0: a * blocks.mean_loss, direction="lower", source="x")
def half(loss, confidence, *, a=1.0, sample_weight=None, nan_policy="raise"):
    return 7.0 if a == 2.0 else None  # a body that computes something is kept
assert [half([1, 0], [1, 0], a=a) for a in (1.0, 2.0, 3.0)] == [0.5, 7.0, 1.5]
print(json.dumps([interval.standard_error, drawn.standard_error]))
"""
    error, drawn = run(code, outside, PYTHONPATH=str(outside))
    assert drawn == pytest.approx(error, rel=0.2)


def test_the_command_line_takes_a_plugin_that_is_a_file(outside):
    """After the command, as a module's name is above; without it the metric is not known."""
    assert run(PLUGIN.format("./own_metrics.py") + "print(json.dumps(arguments[-1]))", outside) == "./own_metrics.py"


def test_a_plugin_that_is_not_there_is_named(abstain_):
    """One line with the name, exit code 2."""
    for plugin in ("not_there", "not_there.py"):
        done = abstain_("metrics", "--plugin", plugin)
        assert (done.code, f"--plugin {plugin}: there is no such" in done.said) == (2, True)


# ---------------------------------------------------------------------- the decorator


def test_what_register_refuses():
    """Unknown facts, missing facts and taken names are named; so is a point that moves without being declared."""
    refused(TypeError, "register has no option 'titel'", metrics.register, titel="x")
    refused(TypeError, r"missing.*'title'", metrics.register(value=lambda blocks: 0.0), lambda loss, confidence: None)

    def augrc(loss, confidence):
        """Return nothing.

        Returns
        -------
        float
        """

    def other(loss, confidence, *, a=2):
        return None

    def another(loss, confidence, *, b=1):
        return None

    taken = metrics.register(title="x", value=lambda blocks: 0.0, direction="lower", range=(0, 1), source="x")
    refused(ValueError, "'augrc' is registered already", taken, augrc)
    refused(ValueError, "is no metric", metrics.image_of, augrc, 1.0, -1.0)
    refused(ValueError, "factor is 0", metrics.image_of, abstain.risk, 1.0, 0.0)
    declare = metrics.register(title="x", value=lambda blocks, a=1: 0.0, direction="lower", source="x")
    refused(TypeError, "other: a=2 is no option of value, or has another default", declare, other)
    refused(TypeError, "another: b=1 is no option of value, or has another default", declare, another)
    lame = metrics.Metric(
        name="lame", title="x", function=abstain.risk, value=lambda blocks, coverage=0.5: 0.5, direction="lower",
        range=(0.0, 1.0), source="x", inference="quantile", gradient=lambda blocks, coverage=0.5: None,
    )  # fmt: skip
    refused(abstain.UnmetNeed, "accepted_loss", inference.influence, lame, [0, 1, 0], [0.9, 0.8, 0.7])


def test_functions_keep_their_signature_and_refuse_as_python_does():
    """Missing and unknown arguments are named with the function, positional columns work, bodies are filled in."""
    refused(TypeError, r"augrc\(\) missing 1 required positional argument: 'confidence'", abstain.augrc, [0, 1])
    refused(TypeError, "unexpected keyword argument 'weight'", abstain.augrc, [0, 1], [1, 0], weight=[1, 1])
    assert abstain.augrc([0, 1], confidence=[1, 0]) == abstain.augrc([0, 1], [1, 0])
    assert pickle.loads(pickle.dumps(abstain.augrc)) is abstain.augrc
    assert np.isnan(metrics.get("auroc_f")(abstain.TieBlocks.from_samples([0, 0], [1, 0])))


def test_docstrings_describe_every_parameter():
    """What a module leaves out is filled in: each parameter of each public function is in its docstring, in order."""
    for name, function in metrics.FUNCTIONS.items():
        if inspect.isfunction(function):
            text = inspect.getdoc(function) or ""
            section = text.partition("Parameters\n----------\n")[2].partition("\n\n")[0]
            named = [line.split(" :")[0] for line in section.split("\n") if line[:1].strip()]
            described = [word for line in named for word in re.split(r",\s*", line)]
            assert described == list(inspect.signature(function).parameters), name
            assert " : option\n" not in text + "\n", name
