"""Every class of results with an example: who adds a class that prints itself adds it here."""

import tempfile
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

import abstain
from abstain.conformance import check

RNG = np.random.default_rng(0)
N = 300
LOSS = (RNG.random(N) < 0.2).astype(float)
SCORES = {"good": RNG.random(N) - LOSS, "plain": RNG.random(N), "50 % & more": RNG.random(N)}
SITE = np.where(RNG.random(N) < 0.5, "north", "south_#1")


def _evaluation():
    outputs = abstain.Outputs(loss=LOSS, scores=SCORES, groups={"site": SITE})
    return abstain.evaluate(outputs, list(SCORES), groups="site")


def _selection():
    half = slice(0, N, 2), slice(1, N, 2)
    return abstain.select({name: tuple((LOSS[h], score[h]) for h in half) for name, score in SCORES.items()})


def _tuning():
    outputs = abstain.datasets.load("cifar10_vgg16").select(np.arange(500))
    return abstain.tune("gen", outputs, grid={"gamma": [0.1, 0.5], "top": [3, 5]})


def _live():
    """Return what two groups have certified after two calls."""
    rng = np.random.default_rng(3)
    live = abstain.LiveCertificate(risk=0.1, scores=rng.random(500), groups=["north", "south_#1"])
    for _ in range(2):
        live.update(rng.random(1000), rng.random(1000) < 0.02, groups=np.tile(["north", "south_#1"], 500))
    return live.result()


@cache
def _study():
    """Return a study of two models with two runs; a name that LaTeX would read is among its scores."""
    folder = Path(tempfile.mkdtemp())
    for (model, name), seed, part in product(
        (("ce", "good"), ("sure_plus", "plain")), range(2), ("validation", "test")
    ):
        scores = {"msp_1": SCORES[name] + seed * 0.1 * SCORES["plain"], "50 % & more": SCORES["plain"]}
        made = abstain.Outputs(loss=LOSS, scores=scores)
        abstain.study.add_outputs(folder, made, model=model, run=f"seed{seed}", set=part)
    return folder


def _study_results():
    return abstain.study.evaluate(_study(), metrics=["augrc", "aurc", "accuracy"])


def _joint_columns():
    rng, names = np.random.default_rng(1), ("confidence", "detector")
    inside = {f"id_{name}": rng.normal(1.0, 1.0, N) for name in names}
    return inside | {f"ood_{name}": rng.normal(0.0, 1.0, 200) for name in names}


def _protocol():
    columns = _joint_columns()
    inside = {"msp": columns["id_confidence"], "knn": columns["id_detector"]}
    outside = {"msp": columns["ood_confidence"], "knn": columns["ood_detector"]}
    run = abstain.joint.ScoredRun(LOSS, inside, {"close": outside, "away": outside})
    groups = {"near": ["close"], "far": ["away"]}
    return abstain.joint.protocol({"basic": [run, run], "other": run}, groups, confidence="msp")


def _certified(**options):
    wrong = np.random.default_rng(2).random(2000) > np.linspace(0.7, 1.0, 2000)
    return abstain.choose_threshold(wrong, np.linspace(0.0, 1.0, 2000), delta=0.05, **options)


def _later(name):
    rng, policy = np.random.default_rng(3), _certified(risk=0.1).policy(score="s")
    loss, score = (rng.random(500) < 0.1).astype(float), rng.random(500)
    return getattr(abstain, name)(
        policy, loss, score, **({} if name == "monitor" else {"groups": SITE.repeat(2)[:500]})
    )


def _plan():
    plan = abstain.plan_labels(SCORES["good"], n=60, metric="aurc", design="adaptive", seed=0)
    return plan.extend(np.where(plan.stage > 0, LOSS, np.nan), seed=1)


def _zone():
    plan = abstain.plan_labels(SCORES["good"], n=120, region=0.5, seed=0)
    return abstain.pool.certify_region(plan, np.where(plan.stage > 0, LOSS, np.nan), risk=0.1, delta=0.1)


#: The class by its name, and how to make one.
RESULTS = {
    "Audit": lambda: _later("audit"),
    "CertifiedThreshold": lambda: _certified(risk=0.05),
    "ChosenPair": lambda: abstain.thresholds.choose_pair(
        LOSS, SCORES["good"], SCORES["plain"], risk=0.3, delta=0.1, is_ood=np.arange(N) % 5 == 0, prevalence=0.1, rng=0
    ),
    "Comparison": lambda: abstain.compare(LOSS, SCORES),
    "Conformance": lambda: check(lambda confidence, loss: 1.5 * float(loss.mean()), "aurc"),
    "EmpiricalThreshold": lambda: abstain.choose_threshold(LOSS, SCORES["good"], coverage=0.5),
    "Evaluation": _evaluation,
    "Gate": lambda: abstain.gate(
        abstain.evaluate(loss=LOSS, confidence=SCORES["good"]),
        ["augrc<=0.1", "aurc"],
        against=abstain.evaluate(loss=LOSS, confidence=SCORES["plain"]),
        margin=0.01,
    ),
    "GroupComparison": lambda: abstain.inference.compare_groups(LOSS, SCORES["good"], SITE, n_resamples=50),
    "Grid": lambda: _study_results().grid("augrc"),
    "GroupThresholds": lambda: _certified(risk=0.05, groups=np.tile(["a", "b", "c_&"], 667)[:2000]),
    "LabelPlan": _plan,
    "GroupedResult": lambda: abstain.summaries.GroupedSummary("site").update(LOSS, SCORES["plain"], SITE).result(),
    "JointResult": lambda: abstain.summaries.JointSummary("real", bits=8).update(LOSS, **_joint_columns()).result(),
    "JointEvaluation": lambda: abstain.joint.evaluate(LOSS, **_joint_columns(), n_permutations=2, n_splits=2),
    "LiveCertification": _live,
    "Monitoring": lambda: _later("monitor"),
    "NonInferiority": lambda: abstain.inference.non_inferiority(
        LOSS, {name: SCORES[name] for name in ("good", "plain")}, margin=0.1
    ),
    "OverPasses": lambda: abstain.study.over_passes(
        abstain.Outputs(labels=LOSS.astype(int), passes=RNG.dirichlet([1, 1], size=(3, N))), "augrc"
    ),
    "ProtocolResult": _protocol,
    "RankingStudy": lambda: abstain.ranking_study(LOSS, SCORES, n_resamples=100),
    "Selection": _selection,
    "SettingSelection": lambda: abstain.study.select_settings(
        abstain.study.evaluate(_study(), metrics=["augrc", "aurc"]), families={"ce": "nets", "sure_plus": "nets"}
    ),
    "StudyResults": _study_results,
    "SummaryResult": lambda: abstain.summaries.Summary().update(LOSS, SCORES["plain"]).result(),
    "Tuning": _tuning,
    "RegionCertificate": _zone,
}
