"""Studies evaluated: the numbers are those of one set alone, nothing is done twice, and damage stays where it is."""

import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import polars
import pytest

import abstain
from abstain import study
from abstain.study import _evaluate
from tests.processes import beside
from tests.refusal import refused

METRICS = ["augrc", "aurc", "accuracy"]


def outputs(seed, n=300, passes=False):
    """Return outputs with two stored scores; labels depend on nothing but n."""
    truth, noise = np.random.default_rng(n), np.random.default_rng(seed)
    z = truth.normal(size=(n, 4)) * 2
    labels = (z + truth.gumbel(size=z.shape)).argmax(1)
    z = z + noise.normal(size=z.shape)
    more = {}
    if passes:
        p = np.exp(z + noise.normal(size=(5, *z.shape)))
        more["passes"] = p / p.sum(-1, keepdims=True)
    return abstain.Outputs(
        labels=labels, logits=z, scores={"one": z.max(1), "two": z.max(1) + noise.normal(size=n)}, **more
    )


@pytest.fixture
def folder(tmp_path):
    """Return a study of two models with three runs, a validation, a test and a OOD set each."""
    for (model, start), seed in product((("ce", 0), ("mc", 10)), range(3)):
        made = [("validation", outputs(start + seed, 200, passes=model == "mc"))]
        made += [("test", outputs(start + seed, 300, passes=model == "mc"))]
        ood = replace(outputs(start + seed, 150, passes=model == "mc"), labels=None, unlabelled=True)
        for name, each in (*made, ("near-ood", ood)):
            study.add_outputs(tmp_path, each, model=model, run=f"seed{seed}", set=name, data="toy")
    return tmp_path


def test_numbers_are_those_of_a_set_alone(folder):
    """Values, errors and intervals equal ``abstain.evaluate``; scores of passes are judged on their predictions."""
    found, names = study.read_study(folder), ["one", "temp_msp", "pass_msp"]
    results = study.evaluate(found, names, METRICS, models=["mc"], sets=["test"])
    validation, test = (found.outputs("mc", "seed1", name) for name in ("validation", "test"))
    rows = {(row["score"], row["metric"]): row for row in results.only(run="seed1").rows()}
    for entry in abstain.evaluate(test, names, METRICS, fit=validation).measurements:
        row = rows.pop((entry.score, entry.metric))
        for name in ("value", "low", "high", "standard_error"):
            assert row[name] == getattr(entry, name)
    assert not rows


def test_foreign_data_beside_the_test_set(folder):
    """Kept: all test rows. Dropped: the right ones. Both as ``join_new_class`` gives, and all OOD rows fail."""
    found = study.read_study(folder)
    results = study.evaluate(
        found, ["one"], ["augrc", "accuracy"], sets=["near-ood"], models=["ce"], id_failures="both"
    )
    test, ood = (found.outputs("ce", "seed0", name) for name in ("test", "near-ood"))
    for mode in ("keep", "drop"):
        joined = study.join_new_class(test, ood, mode)
        row = next(r for r in results.only(run="seed0", id_failures=mode, metric="augrc").rows())
        assert row["n"] == joined.n
        assert row["value"] == pytest.approx(abstain.augrc(joined.loss, joined.scores["one"]), rel=1e-12)
    passes = study.evaluate(found, ["pass_msp"], ["accuracy"], sets=["near-ood"], models=["mc"], id_failures="keep")
    right = 300 - abstain.scores.judged("pass_msp", found.outputs("mc", "seed0", "test")).error.sum()
    assert passes.only(run="seed0").rows()[0]["value"] == pytest.approx(right / 450)


def test_means_keep_the_two_variances_apart(folder):
    """The part of the test set agrees with the exact one from influences of all rows; their squares add."""
    found = study.read_study(folder)
    mean = study.evaluate(found, ["one"], METRICS, models=["ce"], sets=["test"]).means("augrc")[0]
    each = [found.outputs("ce", f"seed{seed}", "test") for seed in range(3)]
    terms = np.stack([abstain.inference.influence("augrc", o.error, o.scores["one"]) / o.n for o in each])
    exact = np.linalg.norm(terms.mean(axis=0))
    assert mean.n_runs == 3
    assert mean.value == pytest.approx(np.mean([abstain.augrc(o.error, o.scores["one"]) for o in each]))
    assert mean.test_error == pytest.approx(exact, rel=0.15)
    assert mean.test_error < np.linalg.norm(terms, axis=1).mean()
    assert mean.standard_error == pytest.approx(np.hypot(mean.test_error, mean.training_error))
    alone = study.evaluate(found, ["one"], METRICS, sets=["test"]).only(run="seed0", model="ce").means("augrc")[0]
    assert alone.n_runs == 1
    assert np.isnan(alone.training_error)


def test_only_what_changed_is_done_again(folder):
    """A file that changes brings its own unit and the OOD ones that rest on it; metadata brings none."""
    found = study.read_study(folder)
    said = []
    study.evaluate(found, ["one"], METRICS, progress=said.append)
    assert re.fullmatch("18 units, 0 done before; 18 to do, about .* in 1 process", said[0])  # it is short
    again = study.evaluate(found, ["one"], METRICS, progress=said.append)
    assert said[-1] == "18 units, all done before"
    study.add_outputs(folder, outputs(99), model="ce", run="seed1", set="test")
    study.evaluate(found, ["one"], METRICS, progress=said.append)
    assert "18 units, 16 done before; 2 to do" in said[-1]
    sorted((folder / "units").glob("*.npz"), key=lambda path: path.stat().st_mtime)[0].write_bytes(b"half a")
    study.evaluate(found, ["one"], METRICS, progress=said.append)
    assert "17 done before; 1 to do" in said[-1]
    study.add_run(folder, replace(found.run("ce", "seed0"), notes=("another note",)))
    assert study.evaluate(folder, ["one"], METRICS, progress=said.append).headline() == again.headline()
    assert said[-1] == "18 units, all done before"


def test_long_work_says_how_far_it_is(folder, monkeypatch):
    """More than five seconds after it last did so, not after the last unit; what went wrong is said at once."""
    (folder / "ce/seed0/test.npz").write_bytes(b"half a")
    clock, said = iter([100.0, 105.0, 105.5, 109.0, 1.1e7, 1.1e7, 2e7]), []
    monkeypatch.setattr(_evaluate, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    study.evaluate(folder, ["one"], METRICS, sets=["test"], progress=said.append)
    assert said[1].startswith("ce/seed0/test: ")  # of the work, a share of .097 and .458
    assert said[2:] == ["2 of 6 units, about 51 s left", "4 of 6 units, about 3666.9 hours left"]


def test_damage_stays_where_it_is(folder, do):
    """A corrupt file, and the OOD data that need it, are named; the exit code is 1; all else is there."""
    (folder / "ce/seed1/test.npz").write_bytes((folder / "ce/seed1/test.npz").read_bytes()[:500])
    (folder / "mc/seed2/validation.npz").unlink()
    said = do(f"study evaluate {folder} --scores one --metrics augrc,aurc", 1)
    assert "left out ce/seed1/test: " in said.err
    assert "left out ce/seed1/near-ood: " in said.err
    assert "mc/seed2/validation" in said.err
    table = polars.read_parquet(folder / "results.parquet")
    assert len(table) == 15 * 2
    assert {"model", "run", "set", "score", "metric", "value", "standard_error", "n"} <= set(table.columns)
    means = polars.read_parquet(folder / "means.parquet")
    assert means.filter(model="ce", set="test", metric="augrc")["n_runs"].to_list() == [2]
    assert "ce one" in said.out


def with_two(send, folder):
    """Evaluate with two workers."""
    study.evaluate(folder, ["one", "two"], METRICS, workers=2)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_workers_are_killed_and_started_again(folder):
    """Two processes give what one gives; whoever is killed leaves whole units, and the next call does the rest."""
    found = study.read_study(folder)
    one = study.evaluate(found, ["one", "two"], METRICS, workers=1)
    for unit in (folder / "units").glob("*"):
        unit.unlink()
    process = beside(with_two, folder).process
    end = time.monotonic() + 60.0
    while not list((folder / "units").glob("*.npz")) and process.is_alive() and time.monotonic() < end:
        time.sleep(0.005)
    process.kill()
    process.join()
    said = []
    again = study.evaluate(found, ["one", "two"], METRICS, workers=2, progress=said.append)
    assert ", 0 done before" not in said[0]
    assert again.rows() == one.rows()


def test_what_cannot_be_meant_is_refused(folder):
    """Unknown models, sets, scores, metrics; joint metrics; before anything is done."""
    for options, message in (
        ({"models": ["cee"]}, "model='cee' is not known; did you mean 'ce'"),
        ({"sets": ["tset"]}, "set='tset' is not known; did you mean 'test'"),
        ({"scores": ["oen"]}, "score 'oen' is in no file; did you mean 'one'"),
        ({"metrics": "joint.auroc"}, "needs two scores and OOD data"),
        ({"id_failures": "lose"}, "id_failures='lose' is not known"),
    ):
        refused(ValueError, message, study.evaluate, folder, **options)
    assert not (folder / "units").exists()
    results = study.evaluate(folder, ["one"], METRICS, sets=["test"])
    refused(ValueError, "metric 'e_augrc' was not evaluated", results.means, "e_augrc")


def test_a_study_of_files_that_are_there(tmp_path, do):
    """Roles, shifts and seeds are guessed from names and said; the copy has the same outputs."""
    ood = replace(outputs(1), labels=None, unlabelled=True)
    for place in ("a/seed3/val", "a/seed3/iid", "a/seed3/corruption-2", "b/far"):
        file = tmp_path / "elsewhere" / f"{place}.npz"
        file.parent.mkdir(parents=True, exist_ok=True)
        abstain.write_outputs(ood if "far" in place else outputs(1), file)
    assert "corruption" in do("study init made --from elsewhere --data toy").out
    found = study.read_study(tmp_path / "made")
    assert {(run.folder, run.seed, each.name, each.role) for run in found.runs for each in run.sets} == {
        ("a/seed3", 3, "val", "validation"), ("a/seed3", 3, "iid", "test"), ("a/seed3", 3, "corruption-2", "shift"),
        ("b/seed0", 0, "far", "ood"),
    }  # fmt: skip
    (shift,) = (each.shift for each in found.runs[0].sets if each.role == "shift")
    assert shift == {"kind": "corruption", "level": 2}
    assert found.outputs("a", "seed3", "iid").fingerprint == outputs(1).fingerprint
    (tmp_path / "more.csv").write_text("label,prediction,conf\n1,1,0.9\n0,1,0.2\n")
    do("study add made more.csv --predictions prediction --confidence conf --model c --set test")
    assert study.read_study(tmp_path / "made").models() == ["a", "b", "c"]
    do("study init made", 2)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_a_process_that_does_not_answer_is_ended_and_named(tmp_path, monkeypatch):
    """It has closed its output, and would go on for a minute."""
    code = "import os, time; os.close(1); time.sleep(60)"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "encoding": "utf-8"}
    monkeypatch.setattr(
        "abstain.study._units._start", lambda _: subprocess.Popen([sys.executable, "-S", "-c", code], **pipes)
    )
    for seed in range(2):
        study.add_outputs(tmp_path, outputs(seed, 50), model=f"m{seed}", set="test")
    found = study.evaluate(tmp_path, scores=["one"], metrics=["accuracy"], workers=2)
    assert [each.why for each in found.failures] == [
        f"the process that worked on it ended with code {-signal.SIGKILL}; is there enough memory?"
    ] * 2


@pytest.mark.parametrize(("seconds", "text"), [(0.2, "1 s"), (119, "119 s"), (120, "2.0 minutes"), (7200, "2.0 hours")])
def test_the_time_that_it_takes_is_said_in_its_unit(seconds, text):
    assert _evaluate._time(seconds) == text
