"""Folders of studies: names of files, pools with plans, damaged and missing files, passes, scores that need fits."""

import json
import shutil
from itertools import product

import numpy as np

import abstain
from abstain import study
from tests.recorded import shown, tried
from tests.recorded.sources import folder

NAMES = ("val", "my-dev-2", "train", "fit_x", "iid", "test", "fog", "corruption-3", "severity_2", "corr", "level4")
NAMES += ("sub", "near-a", "far_b", "ood", "foreign", "shifted", "holdout", "calibration", "idx", "subclass-1")
NAMES += ("newclass", "eval.id")
#: What is said of a set that is added.
ADDED = (
    {"role": "shift"}, {"shift": {"kind": "x"}}, {"role": "nothing"}, {"data": "d", "seed": 9}, {"settings": {"a": 1}},
    {"set": "a b"}, {"model": ""}, {"run": "last"}, {"run": "run12"}, {"role": "foreign", "set": "old"},
)  # fmt: skip


def _outputs(n, seed, *, labels=True, ids=None, shift=0.0, **more):
    rng = np.random.default_rng([81, n, seed])
    truth = np.random.default_rng([82, n]).integers(0, 3, n)
    features = rng.normal(size=(n, 4)) + 1.5 * np.eye(3, 4)[truth] + shift
    logits = features[:, :3] * 1.5
    given = {"labels": truth} if labels else {"unlabelled": True}
    head = 1.5 * np.eye(3, 4), np.zeros(3)
    return abstain.Outputs(**given, logits=logits, features=features, head=head, ids=ids, **more)


def _picked(results, names):
    """Return some columns of results."""
    return [[row[name] for name in names.split()] for row in results.rows()]


def roles_of_names():
    """Return roles and shifts that names of sets say, with and without labels, given and replaced."""
    with folder() as here:
        for name, labels in product(NAMES, (True, False)):
            out = _outputs(5, 0, labels=labels)
            yield tried(study.add_outputs, here, out, model="m", run=f"r{labels:d}7", set=name)
        for options in ADDED:
            yield tried(study.add_outputs, here, _outputs(6, 1), **{"model": "n", "set": "s", **options})
        known, path = study.read_study(here), here / "study.json"
        for run in known.runs:
            yield [run.folder, run.seed, run.data, run.settings, len(run.sets), run.sets[-1].files]
        text, cases = path.read_text(), [('"role": "ood"', '"role": "foreign"'), ("abstain.study/1", "abstain.study/2")]
        for old, new in (*cases, ('"runs"', '"rums"'), ("[", "(")):
            path.write_text(text.replace(old, new))
            read = tried(study.read_study, path)
            yield read if isinstance(read, str) else [each.role for each in read.runs[1].sets]
        path.write_text(text)
        yield [tried(known.outputs, *each) for each in (("m", "r17", "none"), ("m", "r9", "val"), ("k", "r17", "val"))]
        yield [known.outputs("m", "r17", "val").n, known.outputs("m", "r07", "ood").labels is None]
        one, two = study.SavedSet("a", "test", 1), study.SavedSet("a", "test", 2)
        runs = [("m", "r", (one, two)), ("a/b", "c", ()), ("a", "c d", ()), ("", "c", ()), ("a", "-c", ())]
        yield [tried(study.Run, model, name, "d", 0, sets) for model, name, sets in runs]
        yield tried(study.add_run, here, study.Run("q", "r", "d", 0, (one,)))


def folders_as_studies():
    """Return what is made of folders with one to four levels, and of files of several formats."""
    with folder() as here:
        source, score = here / "source", np.linspace(0.1, 0.9, 8)
        for place in ("a/seed3/test", "a/seed3/val", "b/test", "iid", "a/b/c/deep"):
            (source / place).parent.mkdir(parents=True, exist_ok=True)
            abstain.write_outputs(_outputs(8, 2), source / f"{place}.npz")
        lines = ["correct,confidence", *(f"{k % 3 > 0:d},{each}" for k, each in enumerate(score))]
        (source / "b" / "shifted.csv").write_text("\n".join(lines) + "\n")
        (source / "b" / "notes.txt").write_text("nothing")
        yield "copied", [[run, each] for run, each in study.init_study(here / "made", source, data="toy")]
        runs = study.read_study(here / "made").runs
        yield "read", [[run.folder, run.seed, run.data, [each.name for each in run.sets]] for run in runs]
        yield "again", tried(study.init_study, here / "made", source)
        yield "in place", [[run, each] for run, each in study.init_study(source)]
        (here / "empty").mkdir()
        yield "empty", tried(study.init_study, here / "empty")
        results = study.evaluate(here / "made", metrics=["augrc", "nll"], workers=1)
        yield "results", _picked(results, "model set score metric value reason")
        yield "said", [len(results.said), results.failures, results.notes()]


def files_left_out():
    """Return results where files are damaged, gone, or of other sizes than the manifest says."""
    with folder() as here:
        for model, (k, name) in product("abc", enumerate(("validation", "train", "test", "near"))):
            study.add_outputs(here, _outputs(30, k, labels=name != "near", shift=k / 3.0), model=model, set=name)
        odd = np.random.default_rng(1).dirichlet(np.ones(3), 30)  # logits that look like probabilities
        study.add_outputs(here, abstain.Outputs(labels=np.arange(30) % 3, logits=odd), model="b", set="odd")
        (here / "a/seed0/test.npz").write_bytes(b"nothing")
        (here / "b/seed0/near.npz").unlink()
        abstain.write_outputs(_outputs(29, 3), here / "c/seed0/validation.npz")
        scores = ["msp", "knn(neighbours=3)", "vim(dim=2)", "temp_msp", "pass_msp"]
        for mode in ("keep", "drop", "both"):
            results = study.evaluate(here, scores, ["augrc", "accuracy"], id_failures=mode, workers=1)
            yield mode, _picked(results, "model set id_failures score metric value n")
            yield f"{mode} left out", [[f.file for f in results.failures], len(results.said)]
            yield f"{mode} shown", [results.verdict, results.headline()]
        cases = [{"models": ["d"]}, {"sets": ["x"]}, {"scores": "nothing"}, {"metrics": []}, {"level": 2.0}]
        cases += [{"metrics": "joint.auroc"}, {"id_failures": "x"}, {"nan_policy": "x"}]
        for options in cases:
            yield json.dumps(options), tried(study.evaluate, here, **options)
        abstain.write_outputs(_outputs(30, 7), here / "b/seed0/train.npz")  # what knn is fitted on is other data now
        again = study.evaluate(here, scores, "augrc", models=["b"], sets=["test"], workers=1)
        yield "refitted", _picked(again, "score value standard_error")
        shutil.rmtree(here / "units")
        two = study.evaluate(here, "msp", "augrc", models=["b", "c"], sets=["test"], workers=2)
        yield "two processes", _picked(two, "model value standard_error")
        yield "default", _picked(study.evaluate(here, models=["b"], sets=["test"], workers=1), "score metric")


def pools_with_plans():
    """Return numbers, means, tables and rankings of pools of which a plan labelled some rows."""
    rng = np.random.default_rng(9)
    score, other = rng.random(400), rng.random(400)
    loss = (rng.random(400) > score**0.4) * 1.0
    with folder() as here:
        out = abstain.Outputs(scores={"sure": score, "other": other}, unlabelled=True)
        for seed, (model, n) in enumerate((("m0", 80), ("m0", 80), ("m1", 120))):
            plan = abstain.plan_labels(score, seed=seed, n=n)
            some = np.where(plan.stage > 0, loss, np.nan)
            study.add_outputs(here, out, model=model, run=f"r{seed}", set="pool", plan=plan, loss=some)
        results = study.evaluate(here, metrics=["augrc", "risk", "ece"], workers=1)
        yield "rows", _picked(results, "run score metric value low high n labelled")
        yield "means", results.means()
        yield "shown", shown(results)
        yield "pair", [tried(results.p_value, *results.means("augrc")[:2]), tried(study.rank, here, "pool", "sure")]
        a, b = np.zeros(400, dtype=int), (rng.random(400) < 0.1).astype(int)
        plan = abstain.plan_labels(score, n=100, compare=(other, a, b), seed=0)
        for model, column, losses in (("one", score, loss), ("two", other, np.where(a == b, loss, 1.0 - loss))):
            out = abstain.Outputs(scores={"sure": column}, unlabelled=True)
            some = np.where(plan.stage > 0, losses, np.nan)
            study.add_outputs(here / "pair", out, model=model, set="pool", plan=plan, loss=some)
        yield "ranked", tried(study.rank, here / "pair", "pool", "sure", ["augrc", "aurc"], level=0.9)
        for bad in ({"loss": loss[:9]}, {"loss": None}, {"role": "ood"}, {"plan": None}):
            given = {"plan": plan, "loss": np.where(plan.stage > 0, loss, np.nan), **bad}
            yield str(list(bad)), tried(study.add_outputs, here, out, model="x", set="pool", **given)


def passes_and_new_classes():
    """Return metrics over passes, and test and OOD data as one set."""
    rng = np.random.default_rng(4)
    made = _outputs(40, 0, passes=rng.dirichlet(np.ones(3), (5, 40)), sample_weight=rng.random(40))
    cases = [("aurc", "msp"), ("augrc", "neg_entropy"), ("accuracy", "msp"), ("nll", "msp"), ("auroc_f", "gen")]
    cases += [("aurc", "knn")]
    for metric, score in cases:
        over = tried(study.over_passes, made, metric, score)
        yield over if isinstance(over, str) else [shown(over), over.mean, over.deviation, over.rows()]
    single = study.over_passes(_outputs(9, 1, passes=rng.dirichlet(np.ones(3), (1, 9))), "risk")
    yield [single.deviation, single.of_mean]
    new = _outputs(5, 3, labels=False, scores={"s": np.ones(5)})
    for mode in ("keep", "drop"):
        joined = study.join_new_class(_outputs(12, 2, scores={"s": np.arange(12.0)}), new, mode)
        yield [joined.loss, joined.scores, np.sum(joined.logits), joined.groups, joined.predicted()]
    yield tried(study.join_new_class, _outputs(12, 2), new, "x")
