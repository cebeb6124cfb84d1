"""Files for hosts: the action, the workflows and the hooks run what the Makefile says."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import abstain
from tests.imports import ROOT

yaml = pytest.importorskip("yaml")
if not (ROOT / ".github").exists():
    pytest.skip("the distribution of the sources has no files for hosts", allow_module_level=True)

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def load(path):
    """Return a YAML file."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def ran(name, folder, contexts, given):
    """Run one step of the action as a runner does; return its exit code and outputs."""
    action = load(ROOT / "action.yml")
    (step,) = [each for each in action["runs"]["steps"] if each.get("id") == name]
    inputs = {each: str(value.get("default", "")) for each, value in action["inputs"].items()} | given
    contexts = contexts | {f"inputs.{each}": value for each, value in inputs.items()}
    values = {
        each: re.sub(r"\$\{\{ ([\w.]+) \}\}", lambda found: contexts[found[1]], value)
        for each, value in step["env"].items()
    }
    (folder / "output").write_text("", "utf-8")
    (folder / "step.sh").write_text(step["run"], "utf-8")
    values |= {"GITHUB_OUTPUT": str(folder / "output"), "GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
    words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(folder / "step.sh")]
    environment = os.environ | values | {"RUNNER_TEMP": str(folder)}
    done = subprocess.run(words, env=environment, cwd=ROOT, timeout=600, check=False)
    lines = (folder / "output").read_text("utf-8").splitlines()
    return done.returncode, dict(line.split("=", 1) for line in lines)


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_the_action_evaluates_and_decides(tmp_path):
    """A condition that fails decides the exit code; summary, table and page are there all the same."""
    rng = np.random.default_rng(0)
    confidence = rng.random(300)
    wrong = rng.random(300) > 0.5 + confidence / 2
    for name in ("new.npz", "base.npz"):
        np.savez(tmp_path / name, error=wrong, confidence=confidence)
    given = {"file": str(tmp_path / "new.npz"), "options": "--loss error --metrics 'augrc, aurc'"}
    given |= {"gate": "augrc<=0.01\naugrc\n", "against": str(tmp_path / "base.npz"), "margin": "0.02"}
    done, outputs = ran("evaluate", tmp_path, {"steps.install.outputs.python": sys.executable}, given)
    assert (done, outputs["passed"]) == (1, "false")
    summary = (tmp_path / "summary.md").read_text("utf-8")
    assert summary.startswith("gate: fail · 1 pass, 1 fail")
    for name, metric in (("augrc\\<=0.01", abstain.augrc), ("AURC ↓", abstain.aurc)):
        (found,) = re.findall(rf"^\| {re.escape(name)} \| ([\d.]+) \[", summary, re.MULTILINE)
        assert float(found) == pytest.approx(metric(wrong, confidence), abs=5e-5)
    assert re.search(r"\| augrc: margin 0\.02 \| 0 \[-0\.01\d*, 0\.01\d*\] \| pass \|", summary)
    made = {path.name for path in Path(outputs["folder"]).iterdir()}
    assert made == {"gate.md", "table.md", "page.html", "evaluation.json"}


@pytest.mark.slow
def test_the_action_installs_itself(tmp_path):
    """The first step installs this checkout into an environment of its own, the second one runs there."""
    contexts = {"github.action_path": str(ROOT)}
    done, installed = ran("install", tmp_path, contexts, {"python": sys.executable, "file": ""})
    assert done == 0
    contexts = {"steps.install.outputs.python": installed["python"]}
    given = {
        "file": f"{ROOT}/src/abstain/datasets/data/llama3_70b_mmlu.npz",
        "options": "--loss wrong --confidence msp",
    }
    done, outputs = ran("evaluate", tmp_path, contexts, given)
    assert (done, outputs["passed"]) == (0, "true")
    assert (tmp_path / "summary.md").read_text("utf-8").startswith("**Answer 44.1 % of the cases")


def test_workflows_run_what_the_makefile_says():
    """No second list of checks: every target exists, and the suite runs on every Python and system that is declared."""
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    jobs = {path.stem: load(path)["jobs"] for path in WORKFLOWS}
    runs = [step.get("run", "") for each in jobs.values() for job in each.values() for step in job["steps"]]
    called = {target for run in runs for target in re.findall(r"^make ([\w-]+)", run, re.MULTILINE)}
    assert called == {"test", "minimum", "docs", "dist"} <= targets
    assert any(run.startswith(".ci/run") for run in runs)
    assert not any(tool in run for run in runs for tool in ("pytest", "ruff", "mypy", "sphinx"))
    matrix = jobs["tests"]["newest"]["strategy"]["matrix"]
    assert {each.split("-")[0] for each in matrix["os"]} == {"ubuntu", "macos", "windows"}
    assert matrix["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert PROJECT["requires-python"] == f">={matrix['python'][0]}"
    (hooks,) = load(ROOT / ".pre-commit-config.yaml")["repos"]  # the same list before a commit
    assert hooks["repo"] == "local"
    assert [(hook["entry"], hook["language"]) for hook in hooks["hooks"]] == [("make lint", "system")]


def test_workflows_may_do_little():
    """They read, publishing gets an identity and nothing else, and actions of others are named by commit."""
    pinned = re.compile(r"[\w-]+/[\w-]+@[0-9a-f]{40}|\./|pypa/gh-action-pypi-publish@release/v1")
    jobs = {"action": load(ROOT / "action.yml")["runs"]}
    for path in WORKFLOWS:
        assert load(path)["permissions"] == {"contents": "read"}, path
        jobs |= load(path)["jobs"]
        for name, job in jobs.items():
            assert job.get("permissions", {"id-token": "write"}) == {"id-token": "write"}, (path, name)
            assert [step for step in job["steps"] if not pinned.fullmatch(step.get("uses", "./"))] == []
    publish = load(ROOT / ".github/workflows/release.yml")["jobs"]["publish"]
    assert (publish["environment"], publish["needs"]) == ("pypi", "build")


def test_the_recipe_of_conda_says_what_pyproject_says():
    """Version, Python and lower bounds: those of the core and of the command."""
    recipe = load(ROOT / "conda/recipe.yaml")
    assert recipe["context"]["version"] == abstain.__version__
    assert f">={recipe['context']['python_min']}" == PROJECT["requires-python"]
    wanted = {each.replace(">=", " >=") for each in PROJECT["dependencies"] + PROJECT["optional-dependencies"]["cli"]}
    named = {each.replace("matplotlib-base", "matplotlib") for each in recipe["requirements"]["run"]}
    assert {each for each in named if not each.startswith("python ")} == wanted
    assert recipe["about"]["license"] == PROJECT["license"]
