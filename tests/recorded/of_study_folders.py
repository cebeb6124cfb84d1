"""Folders of studies: names of files, pools with plans, damaged and missing files, passes, scores that need fits."""

import json
import shutil
import tempfile
import warnings
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import numpy as np

import abstain
from abstain import study
from tests.recorded import shown, tried

NAMES = (
    "val",
    "my-dev-2",
    "train",
    "fit_x",
    "iid",
    "test",
    "fog",
    "corruption-3",
    "severity_2",
    "corr",
    "level4",
    "sub",
    "near-a",
)
NAMES += ("far_b", "ood", "foreign", "shifted", "holdout", "calibration", "idx", "subclass-1", "newclass", "eval.id")
#: What is said of a set that is added.
ADDED = (
    {"role": "shift"}, {"shift": {"kind": "x"}}, {"role": "nothing"}, {"data": "d", "seed": 9}, {"settings": {"a": 1}},
    {"set": "a b"}, {"model": ""}, {"run": "last"}, {"run": "run12"}, {"role": "foreign", "set": "old"},
)  # fmt: skip


@contextmanager
def _folder():
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield Path(name)


def _outputs(n, seed, *, labels=True, ids=None, shift=0.0, **more):
    rng = np.random.default_rng([81, n, seed])
    truth = np.random.default_rng([82, n]).integers(0, 3, n)
    features = rng.normal(size=(n, 4)) + 1.5 * np.eye(3, 4)[truth] + shift
    logits = features[:, :3] * 1.5
    given = {"labels": truth} if labels else {"unlabelled": True}
    return abstain.Outputs(
        **given, logits=logits, features=features, head=(1.5 * np.eye(3, 4), np.zeros(3)), ids=ids, **more
    )


def roles_of_names():
    """Return roles and shifts that names of sets say, with and without labels, given and replaced."""
    with _folder() as folder:
        for name, labels in product(NAMES, (True, False)):
            out = _outputs(5, 0, labels=labels)
            yield (f"{name} {labels}", tried(study.add_outputs, folder, out, model="m", run=f"r{labels:d}7", set=name))
        made = _outputs(6, 1)
        for options in ADDED:
            yield json.dumps(options), tried(study.add_outputs, folder, made, **{"model": "n", "set": "s", **options})
        runs = study.read_study(folder).runs
        yield (
            "runs",
            [[run.folder, run.seed, run.data, run.settings, len(run.sets), run.sets[-1].files] for run in runs],
        )
        text = (folder / "study.json").read_text()
        for old, new in (
            ('"role": "ood"', '"role": "foreign"'),
            ("abstain.study/1", "abstain.study/2"),
            ('"runs"', '"rums"'),
            ("[", "("),
        ):
            (folder / "study.json").write_text(text.replace(old, new))
            read = tried(study.read_study, folder / "study.json")
            yield old, read if isinstance(read, str) else [each.role for each in read.runs[1].sets]
        (folder / "study.json").write_text(text)
        known = study.read_study(folder)
        yield (
            "wrong",
            [tried(known.outputs, *each) for each in (("m", "r17", "none"), ("m", "r9", "val"), ("k", "r17", "val"))],
        )
        yield "n", [known.outputs("m", "r17", "val").n, known.outputs("m", "r07", "ood").labels is None]
        yield (
            "twice",
            tried(study.Run, "m", "r", "d", 0, (study.SavedSet("a", "test", 1), study.SavedSet("a", "test", 2))),
        )
        yield (
            "names",
            [tried(study.Run, *each, "d", 0, ()) for each in (("a/b", "c"), ("a", "c d"), ("", "c"), ("a", "-c"))],
        )
        yield "missing", tried(study.add_run, folder, study.Run("q", "r", "d", 0, (study.SavedSet("a", "test", 1),)))


def folders_as_studies():
    """Return what is made of folders with one to four levels, and of files of several formats."""
    with _folder() as folder:
        source, score = folder / "source", np.linspace(0.1, 0.9, 8)
        for place in ("a/seed3/test", "a/seed3/val", "b/test", "iid", "a/b/c/deep"):
            (source / place).parent.mkdir(parents=True, exist_ok=True)
            abstain.write_outputs(_outputs(8, 2), source / f"{place}.npz")
        lines = ["correct,confidence", *(f"{k % 3 > 0:d},{each}" for k, each in enumerate(score))]
        (source / "b" / "shifted.csv").write_text("\n".join(lines) + "\n")
        (source / "b" / "notes.txt").write_text("nothing")
        yield "copied", [[run, each] for run, each in study.init_study(folder / "made", source, data="toy")]
        yield (
            "read",
            [
                [run.folder, run.seed, run.data, [each.name for each in run.sets]]
                for run in study.read_study(folder / "made").runs
            ],
        )
        yield "again", tried(study.init_study, folder / "made", source)
        yield "in place", [[run, each] for run, each in study.init_study(source)]
        (folder / "empty").mkdir()
        yield "empty", tried(study.init_study, folder / "empty")
        results = study.evaluate(folder / "made", metrics=["augrc", "nll"], workers=1)
        yield (
            "results",
            [
                [row["model"], row["set"], row["score"], row["metric"], row["value"], row["reason"] is None]
                for row in results.rows()
            ],
        )
        yield "said", [len(results.said), results.failures, results.notes()]


def files_left_out():
    """Return results where files are damaged, gone, or of other sizes than the manifest says."""
    with _folder() as folder:
        for model, (k, name) in product("abc", enumerate(("validation", "train", "test", "near"))):
            study.add_outputs(folder, _outputs(30, k, labels=name != "near", shift=k / 3.0), model=model, set=name)
        odd = np.random.default_rng(1).dirichlet(np.ones(3), 30)  # logits that look like probabilities
        study.add_outputs(folder, abstain.Outputs(labels=np.arange(30) % 3, logits=odd), model="b", set="odd")
        (folder / "a/seed0/test.npz").write_bytes(b"nothing")
        (folder / "b/seed0/near.npz").unlink()
        abstain.write_outputs(_outputs(29, 3), folder / "c/seed0/validation.npz")
        scores = ["msp", "knn(neighbours=3)", "vim(dim=2)", "temp_msp", "pass_msp"]
        for mode in ("keep", "drop", "both"):
            results = study.evaluate(folder, scores, ["augrc", "accuracy"], id_failures=mode, workers=1)
            yield mode, [[f.file for f in results.failures], len(results.said), [
                [row["model"], row["set"], row["id_failures"], row["score"], row["metric"], row["value"], row["n"]]
                for row in results.rows()]]  # fmt: skip
            yield f"{mode} shown", [results.verdict, results.headline()]
        for options in (
            {"models": ["d"]},
            {"sets": ["x"]},
            {"scores": "nothing"},
            {"metrics": []},
            {"level": 2.0},
            {"metrics": "joint.auroc"},
            {"id_failures": "x"},
            {"nan_policy": "x"},
        ):
            yield json.dumps(options), tried(study.evaluate, folder, **options)
        abstain.write_outputs(_outputs(30, 7), folder / "b/seed0/train.npz")  # what knn is fitted on is other data now
        again = study.evaluate(folder, scores, "augrc", models=["b"], sets=["test"], workers=1)
        yield "refitted", [[row["score"], row["value"], row["standard_error"]] for row in again.rows()]
        shutil.rmtree(folder / "units")
        two = study.evaluate(folder, "msp", "augrc", models=["b", "c"], sets=["test"], workers=2)
        yield "two processes", [[row["model"], row["value"], row["standard_error"]] for row in two.rows()]
        yield (
            "default",
            [
                [row["score"], row["metric"]]
                for row in study.evaluate(folder, models=["b"], sets=["test"], workers=1).rows()
            ],
        )


def pools_with_plans():
    """Return numbers, means, tables and rankings of pools of which a plan labelled some rows."""
    rng = np.random.default_rng(9)
    score, other = rng.random(400), rng.random(400)
    loss = (rng.random(400) > score**0.4) * 1.0
    with _folder() as folder:
        for number, (options, seeds) in enumerate((({"n": 80}, (0, 1)), ({"n": 120}, (2,)))):
            for seed in seeds:
                plan = abstain.plan_labels(score, seed=seed, **options)
                out = abstain.Outputs(scores={"sure": score, "other": other}, unlabelled=True)
                some = np.where(plan.stage > 0, loss, np.nan)
                study.add_outputs(folder, out, model=f"m{number}", run=f"r{seed}", set="pool", plan=plan, loss=some)
        results = study.evaluate(folder, metrics=["augrc", "risk", "ece"], workers=1)
        yield (
            "rows",
            [
                [row[name] for name in ("run", "score", "metric", "value", "low", "high", "n", "labelled")]
                for row in results.rows()
            ],
        )
        yield "means", results.means()
        yield "shown", shown(results)
        yield "pair", [tried(results.p_value, *results.means("augrc")[:2]), tried(study.rank, folder, "pool", "sure")]
        a, b = np.zeros(400, dtype=int), (rng.random(400) < 0.1).astype(int)
        plan = abstain.plan_labels(score, n=100, compare=(other, a, b), seed=0)
        for model, column, losses in (("one", score, loss), ("two", other, np.where(a == b, loss, 1.0 - loss))):
            out = abstain.Outputs(scores={"sure": column}, unlabelled=True)
            study.add_outputs(
                folder / "pair", out, model=model, set="pool", plan=plan, loss=np.where(plan.stage > 0, losses, np.nan)
            )
        yield "ranked", tried(study.rank, folder / "pair", "pool", "sure", ["augrc", "aurc"], level=0.9)
        for bad in ({"loss": loss[:9]}, {"loss": None}, {"role": "ood"}, {"plan": None}):
            given = {"plan": plan, "loss": np.where(plan.stage > 0, loss, np.nan), **bad}
            yield str(list(bad)), tried(study.add_outputs, folder, out, model="x", set="pool", **given)


def passes_and_new_classes():
    """Return metrics over passes, and test and OOD data as one set."""
    rng = np.random.default_rng(4)
    made = _outputs(40, 0, passes=rng.dirichlet(np.ones(3), (5, 40)), sample_weight=rng.random(40))
    for metric, score in (
        ("aurc", "msp"),
        ("augrc", "neg_entropy"),
        ("accuracy", "msp"),
        ("nll", "msp"),
        ("auroc_f", "gen"),
        ("aurc", "knn"),
    ):
        over = tried(study.over_passes, made, metric, score)
        yield over if isinstance(over, str) else [shown(over), over.mean, over.deviation, over.rows()]
    single = study.over_passes(_outputs(9, 1, passes=rng.dirichlet(np.ones(3), (1, 9))), "risk")
    yield [single.deviation, single.of_mean]
    for mode in ("keep", "drop", "x"):
        joined = tried(
            study.join_new_class,
            _outputs(12, 2, scores={"s": np.arange(12.0)}),
            _outputs(5, 3, labels=False, scores={"s": np.ones(5)}),
            mode,
        )
        yield (
            joined
            if isinstance(joined, str)
            else [joined.loss, joined.scores, np.sum(joined.logits), joined.groups, joined.predicted()]
        )
