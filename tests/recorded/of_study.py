"""Studies: numbers, means, tables, choices, rankings, layouts; folders, names of files, pools, what is missing."""

import json
import re
import shutil
from dataclasses import replace
from functools import lru_cache, partial
from itertools import combinations, product
from pathlib import Path

import numpy as np

import abstain
from abstain import study
from tests.recorded import shown, tried
from tests.recorded.sources import folder

METRICS = ["augrc", "aurc", "accuracy", "auroc_f", "ece"]


def _outputs(n, seed, skill, *, same=1, labels=True):
    """Return outputs of three classes; the labels are those of the set, the logits those of the run."""
    rng, shared = np.random.default_rng([11, seed]), np.random.default_rng([12, same, n])
    truth = shared.integers(0, 3, n)
    logits = shared.normal(size=(n, 3)) + rng.normal(0.0, 0.5, (n, 3)) + skill * np.eye(3)[truth] * labels
    given = {"labels": truth} if labels else {"unlabelled": True}
    scores = {"sure": logits.max(axis=1) + rng.normal(size=n)}
    return abstain.Outputs(**given, logits=logits, scores=scores, ids=np.array([f"r{k}" for k in range(n)]))


SETS = (("validation", 40, 1.4, {}), ("test", 60, 1.5, {}), ("fog-1", 40, 1.2, {}))
SETS += (("fog-2", 40, 0.6, {"role": "shift", "shift": {"kind": "corruption", "level": 2}}),)
SETS += (("corruption-3", 40, 0.3, {}), ("sub", 40, 1.0, {}), ("near-a", 30, 0.0, {}), ("far-b", 35, 0.0, {}))
MODELS = {"dg-reward=3": 1.0, "dg-reward=6": 1.3, "ce": 0.9}


def _made(place):
    """Write a study of three models; runs and skill differ."""
    add = partial(study.add_outputs, place)
    for m, (model, factor) in enumerate(MODELS.items()):
        about = {"model": model, "data": "toy", "settings": {"network": "tiny", "objective": "sele" if m else "ce"}}
        for run, (s, (name, n, skill, options)) in product(range(3 - m), enumerate(SETS)):
            if model != "ce" or not name.startswith("fog"):
                out = _outputs(n, 100 * m + 10 * run + s, skill * factor, same=s, labels=skill > 0.0)
                add(out, run=f"seed{run}", set=name, **about, **options)
    for (seed, skill), name in product(((4, 2.0), (5, 1.0)), ("validation", "test")):
        add(_outputs(50, seed, skill, same=seed), model="dg-reward=6", run=f"seed{seed}", set=name, data="other")


@lru_cache
def _everything():
    """Return the results, and what else the folder gives."""
    models = ["dg-reward=3", "dg-reward=6", "ce"]
    with folder() as here:
        _made(here)
        said = []
        given = {"id_failures": "both", "workers": 1, "progress": said.append}
        results, again = (study.evaluate(here, ["msp", "sure"], METRICS, **given) for _ in "ab")
        known = study.read_study(here)
        more = {"manifest": json.loads(Path("study.json").read_text()), "again": again.numbers == results.numbers}
        more["said"] = [re.findall(r"\d+", line)[:3] for line in (said[0], said[-1])]
        more["models"] = known.models(), [run.folder for run in known.runs_of(["ce"])], known.run("ce", "seed0").seed
        rank = partial(study.rank, here, scores=["msp", "sure"], n_resamples=100, rng=1, level=0.9)
        more["ranked"] = [rank("validation", metrics=["augrc"], models=models[:1])]
        more["ranked"] += [rank("sub", metrics=["aurc", "accuracy"], models=models[::2])]
        more["ranked"] += [rank("near-a", metrics=["augrc"], models=models[1:])]
        protocol = partial(study.protocol, here, ["sure"], models=models[::2])
        more["protocols"] = [protocol(), protocol(prevalence=0.3, groups={"both": ["near-a", "far-b"]})]
        choose = partial(study.select_scores, here, ["gen(gamma=0.1)", "gen(gamma=0.5)", "msp", "sure"])
        more["chosen"] = [choose("near-a"), choose("far-b", models=["ce"])]
        only = partial(study.evaluate, here, "sure", "augrc", models=["ce"], sets=["test"], workers=1)
        more["levels"] = [only(level=None).rows(), only(level=0.5, nan_policy="drop").rows()]
    return results, more


def evaluated_numbers():
    """Return some of the numbers, and their influences."""
    results, more = _everything()
    few = {"model": "dg-reward=3", "set": ["near-a", "test"], "metric": "augrc"}
    rows = results.only(model="ce").rows() + results.only(**few).rows()
    weight = np.arange(1.0, results.sums.shape[1] + 1.0)
    yield from [rows, np.nansum(results.sums * weight, axis=1), results.samples, results.said]
    yield from more["levels"]


def means_over_runs():
    """Return all means, those of one metric, and their standard errors."""
    results, _ = _everything()
    nothing = replace(results, numbers=())
    refused = [tried(each.only, nonsense="x") for each in (results, nothing)]
    means = [[*vars(each).values(), each.standard_error] for each in results.means()]
    empty = [nothing.only(set="test").headline(), nothing.verdict, refused]
    return [means, len(results.means("AUGRC")), tried(results.means, "nothing"), results.values("set"), empty]


def tests_of_pairs():
    """Return whether two means rest on the same rows, and p-values, in both orders."""
    results, _ = _everything()
    for metric, name in product(("augrc", "accuracy"), ("validation", "test", "sub", "near-a")):
        means = [each for each in results.means(metric) if each.set == name and each.id_failures != "drop"]
        for a, b in combinations(means, 2):
            yield [results.same_rows(a, b), results.p_value(a, b), results.p_value(b, a)]


def tables():
    """Return the tables, grids, layouts and verdicts of parts of the results."""
    results, _ = _everything()
    parts = {"all": results, "one score": results.only(score="msp")}
    parts |= {"one model": results.only(model="dg-reward=3", data="toy")}
    parts |= {"test": results.only(set="test", score=["msp"]), "validation": results.only(role="validation")}
    parts |= {"keep": results.only(id_failures=["", "keep"], data="toy")}
    for name, part in parts.items():
        row = [part.headline(), part.notes(), part.verdict if part.numbers else None]
        for metric in (None, "accuracy"):
            for made in (tried(part.table, metric), tried(part.grid, metric)):
                row.append(made if isinstance(made, str) else made.to_text(400).split())
            row += [tried(each, part, metric or "augrc") for each in (study.levels, study.by_objective)]
        yield name, row


def selections():
    """Return what each metric chooses among settings, its table, its results, and settings of scores."""
    results, more = _everything()
    for families in (None, {"dg-reward=3": "x", "dg-reward=6": "x", "ce": "y"}):
        chosen = study.select_settings(results, ["augrc", "accuracy"], families=families)
        yield from [chosen.choices, [table.rows for table in chosen.tables()], chosen.rows(), chosen.notes()]
        yield from [chosen.table(None, "reward"), chosen.table("accuracy"), chosen.of("accuracy")]
        part = chosen.results("augrc")
        yield [(row["model"], row["run"], row["set"], row["value"]) for row in part.numbers][::7]
        yield np.nansum(part.sums)
    yield from [[each.choices, each.rows(), each.notes()] for each in more["chosen"]]


def of_the_folder():
    """Return the manifest, what was said, rankings and protocols."""
    _, more = _everything()
    ranked = [[each, len(each.notes())] for each in more["ranked"]]
    names = ("model", "name", "seed", "sets", "settings")
    runs = [[run[name] for name in names] for run in more["manifest"]["runs"][::3]]
    joint = [[each.groups, [record.value for record in each.records]] for each in more["protocols"]]
    return [runs, more["said"], more["again"], more["models"], ranked, joint]


def layouts():
    """Return grids of levels and objectives, with values made up for them."""
    results, _ = _everything()
    base = results.only(set="test", score="msp", metric="aurc")
    wide, numbers = {"network": {"name": "b", "width": 4, "head": "cosine"}}, []
    aurc, sele = {"name": "aurc"}, {"objective": {"name": "sele", "unit_mean": False}}
    settings = [{"network": "a", "objective": "sele"}]
    settings += [wide | {"stage": {"tune": {"objective": aurc | {"estimator": "log"}}}}]
    settings += [wide | {"stage": {"tune": {"objective": aurc, "crl": 1}}}]
    settings += [{"network": {"name": "b"}, "stage": {"base": {"objective": "ce"}}}]
    settings += [{"network": {"name": "c", "head": "linear"}, "stage": {"one": {"objective": "ce"}, "tune": sele}}, {}]
    for (k, about), run in product(enumerate(settings), range(2)):
        if run <= k % 2:
            row = {**base.numbers[0], "model": f"m{k}", "run": f"r{run}"}
            row |= {"settings": json.dumps(about) if about else ""}
            numbers.append({**row, "value": 0.1 + 0.03 * k + 0.01 * run, "standard_error": 0.02})
    made = replace(base, numbers=tuple(numbers), sums=(), samples={})
    plain = replace(made, numbers=tuple(row for row in numbers if row["model"] in ("m0", "m3")))
    found = [study.by_objective(each) for each in (made, plain)]
    found += [tried(study.by_objective, made, score="sure"), study.by_objective(made).table(across=True).rows]
    leveled = []
    for k, level in enumerate((None, 1, 2, "heavy", 10)):
        shift = {"kind": "corruption", "level": level} if level is not None else {}
        row = {**base.numbers[0], "role": "test" if level is None else "shift", "set": f"s{k}"}
        row |= {"shift": json.dumps(shift), "value": 0.2 * k + 0.01, "standard_error": 0.01 * k}
        leveled += [{**row, "data": data} for data in "ab"[: 2 - k // 4]]
    found += [study.levels(replace(base, numbers=tuple(leveled[k:]), sums=(), samples={}), "aurc") for k in (0, 8)]
    return [each.rows() if hasattr(each, "rows") and callable(each.rows) else each for each in found] + found[:2]


PARTS = ("val", "my-dev-2", "train", "fit_x", "iid", "test", "fog", "corruption-3", "severity_2", "corr", "level4")
PARTS += ("sub", "near-a", "far_b", "ood", "foreign", "shifted", "holdout", "calibration", "idx", "subclass-1")
PARTS += ("newclass", "eval.id")
#: What is said of a set that is added.
ADDED = (
    {"role": "shift"}, {"shift": {"kind": "x"}}, {"role": "nothing"}, {"data": "d", "seed": 9}, {"settings": {"a": 1}},
    {"set": "a b"}, {"model": ""}, {"run": "last"}, {"run": "run12"}, {"role": "foreign", "set": "old"},
)  # fmt: skip


def _linear(n, seed, *, labels=True, ids=None, shift=0.0, **more):
    rng, truth = np.random.default_rng([81, n, seed]), np.random.default_rng([82, n]).integers(0, 3, n)
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
        for name, labels in product(PARTS, (True, False)):
            out = _linear(5, 0, labels=labels)
            yield tried(study.add_outputs, here, out, model="m", run=f"r{labels:d}7", set=name)
        for options in ADDED:
            yield tried(study.add_outputs, here, _linear(6, 1), **{"model": "n", "set": "s", **options})
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
            abstain.write_outputs(_linear(8, 2), source / f"{place}.npz")
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
            study.add_outputs(here, _linear(30, k, labels=name != "near", shift=k / 3.0), model=model, set=name)
        odd = np.random.default_rng(1).dirichlet(np.ones(3), 30)  # logits that look like probabilities
        study.add_outputs(here, abstain.Outputs(labels=np.arange(30) % 3, logits=odd), model="b", set="odd")
        (here / "a/seed0/test.npz").write_bytes(b"nothing")
        (here / "b/seed0/near.npz").unlink()
        abstain.write_outputs(_linear(29, 3), here / "c/seed0/validation.npz")
        scores = ["msp", "knn(neighbours=3)", "vim(dim=2)", "temp_msp", "pass_msp"]
        for mode in ("keep", "drop", "both"):
            results = study.evaluate(here, scores, ["augrc", "accuracy"], id_failures=mode, workers=1)
            yield mode, _picked(results, "model set id_failures score metric value n")
            yield f"{mode} left out", [[f.file for f in results.failures], len(results.said)]
            yield f"{mode} shown", [results.verdict, results.headline()]
        cases = [{"models": ["d"]}, {"sets": ["x"]}, {"scores": "nothing"}, {"metrics": []}, {"level": 2.0}]
        cases += [{"metrics": "joint.auroc"}, {"id_failures": "x"}, {"nan_policy": "x"}]
        yield from [(json.dumps(options), tried(study.evaluate, here, **options)) for options in cases]
        abstain.write_outputs(_linear(30, 7), here / "b/seed0/train.npz")  # what knn is fitted on is other data now
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
    made = _linear(40, 0, passes=rng.dirichlet(np.ones(3), (5, 40)), sample_weight=rng.random(40))
    cases = [("aurc", "msp"), ("augrc", "neg_entropy"), ("accuracy", "msp"), ("nll", "msp"), ("auroc_f", "gen")]
    cases += [("aurc", "knn")]
    for metric, score in cases:
        over = tried(study.over_passes, made, metric, score)
        yield over if isinstance(over, str) else [shown(over), over.mean, over.deviation, over.rows()]
    single = study.over_passes(_linear(9, 1, passes=rng.dirichlet(np.ones(3), (1, 9))), "risk")
    yield [single.deviation, single.of_mean]
    new = _linear(5, 3, labels=False, scores={"s": np.ones(5)})
    for mode in ("keep", "drop"):
        joined = study.join_new_class(_linear(12, 2, scores={"s": np.arange(12.0)}), new, mode)
        yield [joined.loss, joined.scores, np.sum(joined.logits), joined.groups, joined.predicted()]
    yield tried(study.join_new_class, _linear(12, 2), new, "x")
