"""Studies: folders of outputs, means over runs, tests of pairs, tables, choices, rankings and protocols."""

import json
import re
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from itertools import combinations, product
from pathlib import Path

import numpy as np

import abstain
from abstain import study
from tests.recorded import tried

METRICS = ["augrc", "aurc", "accuracy", "auroc_f", "ece"]


@contextmanager
def _folder():
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def _outputs(n, seed, skill, *, same=1, labels=True, passes=0):
    """Return outputs of three classes; the labels are those of the set, the logits those of the run."""
    rng, shared = np.random.default_rng([11, seed]), np.random.default_rng([12, same, n])
    truth = shared.integers(0, 3, n)
    logits = shared.normal(size=(n, 3)) + rng.normal(0.0, 0.5, (n, 3)) + skill * np.eye(3)[truth] * labels
    given = {"labels": truth} if labels else {"unlabelled": True}
    if passes:
        given["passes"] = _softmax(logits + rng.normal(0.0, 0.7, (passes, n, 3)))
    scores = {"sure": logits.max(axis=1) + rng.normal(size=n)}
    return abstain.Outputs(**given, logits=logits, scores=scores, ids=np.array([f"r{k}" for k in range(n)]))


def _softmax(logits):
    """Return probabilities."""
    weight = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weight / weight.sum(axis=-1, keepdims=True)


SETS = (
    ("validation", 40, 1.4, {}),
    ("test", 60, 1.5, {}),
    ("fog-1", 40, 1.2, {}),
    ("fog-2", 40, 0.6, {"role": "shift", "shift": {"kind": "corruption", "level": 2}}),
    ("corruption-3", 40, 0.3, {}),
    ("sub", 40, 1.0, {}),
    ("near-a", 30, 0.0, {}),
    ("far-b", 35, 0.0, {}),
)
MODELS = {"dg-reward=3": 1.0, "dg-reward=6": 1.3, "ce": 0.9}


def _made(folder):
    """Write a study of three models; runs and skill differ."""
    for m, (model, factor) in enumerate(MODELS.items()):
        for run, (s, (name, n, skill, options)) in product(range(3 - m), enumerate(SETS)):
            if model == "ce" and name.startswith("fog"):
                continue
            out = _outputs(n, 100 * m + 10 * run + s, skill * factor, same=s, labels=skill > 0.0)
            objective = {"network": "tiny", "objective": "sele" if m else "ce"}
            study.add_outputs(
                folder, out, model=model, run=f"seed{run}", set=name, data="toy", settings=objective, **options
            )
    for (seed, skill), name in product(((4, 2.0), (5, 1.0)), ("validation", "test")):
        out = _outputs(50, seed, skill, same=seed)
        study.add_outputs(folder, out, model="dg-reward=6", run=f"seed{seed}", set=name, data="other")


@lru_cache
def _everything():
    """Return the results, and what else the folder gives."""
    with _folder() as folder:
        _made(folder)
        said = []
        results = study.evaluate(folder, ["msp", "sure"], METRICS, id_failures="both", workers=1, progress=said.append)
        again = study.evaluate(folder, ["msp", "sure"], METRICS, id_failures="both", workers=1, progress=said.append)
        known = study.read_study(folder)
        more = {
            "manifest": json.loads((folder / "study.json").read_text()),
            "said": [re.findall(r"\d+", line)[:3] for line in (said[0], said[-1])],
            "again": again.numbers == results.numbers,
            "models": [known.models(), [run.folder for run in known.runs_of(["ce"])], known.run("ce", "seed0").seed],
            "ranked": [
                study.rank(folder, name, ["msp", "sure"], metrics, models=models, n_resamples=100, rng=1, level=0.9)
                for name, metrics, models in (
                    ("validation", ["augrc"], ["dg-reward=3"]),
                    ("sub", ["aurc", "accuracy"], ["dg-reward=3", "ce"]),
                    ("near-a", ["augrc"], ["dg-reward=6", "ce"]),
                )
            ],
            "protocols": [
                study.protocol(folder, ["sure"], models=["dg-reward=3", "ce"], prevalence=share, groups=groups)
                for share, groups in ((None, None), (0.3, {"both": ["near-a", "far-b"]}))
            ],
            "chosen": [
                study.select_scores(folder, ["gen(gamma=0.1)", "gen(gamma=0.5)", "msp", "sure"], ood, models=models)
                for ood, models in (("near-a", None), ("far-b", ["ce"]))
            ],
        }
        for level, policy in ((None, "raise"), (0.5, "drop")):
            found = study.evaluate(
                folder, "sure", "augrc", models=["ce"], sets=["test"], level=level, nan_policy=policy, workers=1
            )
            more[f"level {level}"] = found.rows()
    return results, more


def evaluated_numbers():
    """Return some of the numbers, and their influences."""
    results, more = _everything()
    rows = (
        results.only(model="ce").rows()
        + results.only(model="dg-reward=3", set=["near-a", "test"], metric="augrc").rows()
    )
    weight = np.arange(1.0, results.sums.shape[1] + 1.0)
    return [
        rows,
        np.nansum(results.sums * weight, axis=1),
        results.samples,
        results.said,
        more["level None"],
        more["level 0.5"],
    ]


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
    parts = {
        "all": results,
        "one score": results.only(score="msp"),
        "one model": results.only(model="dg-reward=3", data="toy"),
        "test": results.only(set="test", score=["msp"]),
        "validation": results.only(role="validation"),
        "keep": results.only(id_failures=["", "keep"], data="toy"),
    }
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
        yield from [
            [(row["model"], row["run"], row["set"], row["value"]) for row in part.numbers][::7],
            np.nansum(part.sums),
        ]
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
