"""Studies: folders of outputs, means over runs, tests of pairs, tables, choices, rankings, layouts of papers."""

import json
import re
from dataclasses import replace
from functools import lru_cache, partial
from itertools import combinations, product
from pathlib import Path

import numpy as np

import abstain
from abstain import study
from tests.recorded import tried
from tests.recorded.sources import folder, softmax

METRICS = ["augrc", "aurc", "accuracy", "auroc_f", "ece"]


def _outputs(n, seed, skill, *, same=1, labels=True, passes=0):
    """Return outputs of three classes; the labels are those of the set, the logits those of the run."""
    rng, shared = np.random.default_rng([11, seed]), np.random.default_rng([12, same, n])
    truth = shared.integers(0, 3, n)
    logits = shared.normal(size=(n, 3)) + rng.normal(0.0, 0.5, (n, 3)) + skill * np.eye(3)[truth] * labels
    given = {"labels": truth} if labels else {"unlabelled": True}
    if passes:
        given["passes"] = softmax(logits + rng.normal(0.0, 0.7, (passes, n, 3)))
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
    runs = [
        [run["model"], run["name"], run["seed"], run["sets"], run["settings"]] for run in more["manifest"]["runs"][::3]
    ]
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
