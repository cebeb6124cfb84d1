"""Joint metrics of ID and OOD samples: one score and two, detection, guards, and protocols with their tables."""

from itertools import product

import numpy as np

from abstain import joint
from tests.paths import PATHS, taken
from tests.recorded import plain, shown, tried

#: ID and OOD rows, and on how many values the scores lie (0: no ties).
SIZES = ((1, 0, 0), (3, 1, 2), (12, 7, 3), (40, 0, 6), (70, 45, 0), (150, 90, 40))
SHARES = (None, 0.0, 0.25, 0.5, 0.8123456789)


def _columns(n, m, steps, seed=0):
    """Return the columns of a problem."""
    rng = np.random.default_rng([45, n, m, steps, seed])
    wrong = (rng.random(n) < 0.3).astype(float)
    found = {"id_loss": wrong}
    for name, reach in (("confidence", 1.2), ("detector", 0.5)):
        cases = [("id", rng.normal(1.0 - reach * wrong)), ("ood", rng.normal(-1.5 * (1.3 - reach), 1.0, m))]
        for kind, column in cases:
            found[f"{kind}_{name}"] = np.round(column * steps / 6.0) if steps else column
    return found


def _alone(columns, name="confidence"):
    return {"id_score": columns[f"id_{name}"], "ood_score": columns[f"ood_{name}"]}


def _curve(frontier):
    """Return all that a frontier says."""
    if frontier is None or isinstance(frontier, str):
        return frontier
    at = [tried(frontier.at, coverage=share) for share in (0.0, 0.31, 0.5, 1.0)]
    areas = [tried(getattr(frontier, name), each) for name in ("aurc", "augrc") for each in ("at_least", "exact")]
    return {**vars(frontier), "at": at, "areas": areas}


def _few(frontier):
    """Return what a long frontier says in few numbers."""
    found = _curve(frontier)
    long = {k: v for k, v in found.items() if np.size(v) > 9}
    return found | {k: [np.sum(np.where(np.isfinite(v), v, 9.0)), np.size(v)] for k, v in long.items()}


def one_score():
    """Return the metrics of one score, by their options."""
    for size, share in product(SIZES, SHARES):
        columns = _columns(*size)
        given = {"id_loss": columns["id_loss"], **_alone(columns), "prevalence": share}
        areas = product(("id", "all"), ("at_least", "exact"), (joint.aurc, joint.augrc))
        costs = product((0.0, 0.3, 0.5), (None, 0.2, 0.9, 1.0))
        yield [tried(joint.f1, **given), joint.aurc_optimum(columns["id_loss"])]
        yield [tried(area, **given, coverage_of=over, operator=way) for over, way, area in areas]
        yield [tried(joint.scod_risk, **given, ood_cost=cost, coverage=coverage) for cost, coverage in costs]


def detection():
    """Return what tells OOD from ID samples, at several limits."""
    for size, name in product(SIZES, ("confidence", "detector")):
        columns = _columns(*size)
        given, loss = _alone(columns, name), columns["id_loss"]
        row = [tried(joint.auroc, **given), tried(joint.oscr, loss, **given)]
        areas = product((joint.aupr_in, joint.aupr_out), ("trapezoid", "step"))
        row += [tried(each, **given, interpolation=rule) for each, rule in areas]
        for share in (0.05, 0.5, 0.8, 0.95, 1.0):
            row += [tried(joint.fpr_at_id_recall, **given, recall=share)]
            row += [tried(joint.fpr_at_ood_recall, **given, recall=share)]
            row += [tried(joint.ccr_at_fpr, loss, **given, fpr=share)]
        yield f"{size} {name}", row


def two_scores():
    """Return F1 and areas of two scores by prevalence, operator and method, with their frontiers."""
    for size, share in product(SIZES[:5], SHARES[::2]):
        columns = _columns(*size) | {"prevalence": share}
        row = [tried(joint.ds_f1, **columns), tried(joint.ds_f1, **columns, method="grid", T=7)]
        row.append(tried(joint.f1_at, thresholds=(0.3, -0.5), **columns))
        for area, operator in product((joint.ds_aurc, joint.ds_augrc), ("at_least", "exact")):
            made = tried(area, **columns, operator=operator)
            row.append(made if isinstance(made, str) else [made.value, made.convention, _few(made.frontier)])
        if size[0] == 12:
            row.append([_curve(tried(each, **columns).frontier) for each in (joint.ds_aurc, joint.ds_augrc)])
        for T, K in ((3, 4), (9, 5)):
            made = tried(joint.ds_aurc, **columns, method="binned", T=T, K=K)
            row.append(made if isinstance(made, str) else made.value)
        yield f"{size} {share}", row


def paths_and_borders():
    """Return values that each path of the inner loops gives alike, the borders of blocks of pairs among the sizes."""
    for n, m, steps in ((31, 9, 0), (32, 5, 0), (33, 40, 0), (64, 70, 0), (120, 60, 9), (75, 2, 4)):
        columns, rows = _columns(n, m, steps, 1), []
        if n == 75:  # most are wrong
            columns["id_loss"] = 1.0 - columns["id_loss"]
        for path in PATHS:
            with taken(path):
                several = [columns | {"prevalence": share} for share in (None, 0.4)[n % 2 :]]
                row = [joint.ds_f1(**given).thresholds for given in several]
                areas = product(several, (joint.ds_aurc, joint.ds_augrc), ("at_least", "exact"))
                row += [_few(each(**given, operator=way).frontier) for given, each, way in areas]
            rows.append(plain(row))
        yield [rows[0], [each == rows[0] for each in rows[:2]]]


def guards():
    """Return null gains, transfers and intervals by their options."""
    for size, share in product(((60, 40, 0), (70, 30, 8), (40, 0, 5), (2, 2, 0), (140, 110, 0)), (None, 0.3)):
        given = _columns(*size) | {"prevalence": share, "rng": 3}
        for metric, scheme in product(("ds_f1", "ds_aurc", "ds_augrc"), ("conditional", "permuted")):
            gain = tried(joint.null_gain, **given, metric=metric, scheme=scheme, n_permutations=2)
            yield gain if isinstance(gain, str) else [*vars(gain).values(), gain.p_value, gain.excess]
        moved = [tried(joint.transfer, **given, share=part, n_splits=2) for part in (0.3, 0.5, 0.75)]
        yield [[each, each if isinstance(each, str) else each.loss] for each in moved]
        yield tried(joint.confidence_intervals, **given, level=0.9, n_splits=2)


def evaluations():
    """Return whole evaluations with their tables, figures and guards."""
    cases = [*product(((1, 1, 0), (30, 30, 0), (40, 0, 6), (80, 45, 3)), (None, 0.2, 0.5), (False, True))]
    for size, share, turned in [each for each in cases if each[1] is None or not each[2]]:
        columns = _columns(*size, 2)
        if turned:
            columns |= {name: -columns[name] for name in ("id_detector", "ood_detector")}
        result = tried(joint.evaluate, **columns, prevalence=share, n_permutations=3, n_splits=3, rng=5)
        if isinstance(result, str):
            yield result
            continue
        yield [shown(result), result.rows(), list(result.frontiers), result.thresholds]
        if not turned:
            yield [[np.sum(each) for each in result.f1_surface(6)], [np.sum(each) for each in result.pairs(5)]]
            yield [tried(lambda each=result: each.balanced.rows()[0]), result.aurc_optimum]
            yield sorted(result.confidence_intervals(n_splits=2)) if size[0] > 2 else None
    yield joint.evaluate(**_columns(30, 9, 0), rng=np.random.default_rng(1), n_permutations=2, n_splits=2).seed


def _run(seed, far):
    """Return a network with three scores on three OOD sets; the last score is backward there."""
    rng = np.random.default_rng([seed, 7])
    wrong = rng.random(40) < 0.3
    inside, sets = {name: rng.normal(1.0 - wrong) for name in ("msp", "energy", "distance")}, {}
    for k, name in enumerate(("near1", "near2", "far1")):
        sets[name] = {score: rng.normal(-far * k, 1.0, 20 + 5 * k) for score in ("msp", "energy")}
        sets[name]["distance"] = rng.normal(2.0 + k, 1.0, 20 + 5 * k)
    return joint.ScoredRun(wrong * 1.0, inside | {"msp": 1.0 / (1.0 + np.exp(-inside["msp"]))}, sets)


def protocols():
    """Return protocols of several strategies and runs: records, means, tables and verdicts."""
    groups = {"near": ["near1", "near2"], "far": ["far1"]}
    runs = {"ce": [_run(0, 0.4), _run(1, 0.5)], "mixup": [_run(2, 0.9), _run(3, 1.5)]}
    for name, given, share in (("all", runs, None), ("one", _run(4, 0.2), 0.3), ("runs", [_run(5, 1.0)] * 2, None)):
        said = []
        result = joint.protocol(given, groups, confidence="msp", prevalence=share, progress=said.append)
        every = [record.value for record in result.records]
        row = [len(said), result.sizes, result.scores, result.strategies, every, result.verdict]
        asked = [*product(("msp", "energy", None), (None, "near", "far1"))]
        for metric in sorted({record.metric for record in result.records}):
            row.append([tried(result.mean, metric, score=score, group=group) for score, group in asked])
        layouts = [(layout, {}) for layout in ("single-double", "strategies", "tasks", "detection", "sets")]
        layouts += [("strategies", {"metric": "aurc", "group": "far"}), ("tasks", {"score": "energy", "fpr": "ood"})]
        layouts += [("reliability", {"fpr": "both"}), ("detection", {"fpr": "id"}), ("sets", {"metric": "auroc"})]
        for layout, options in layouts:
            table = result.table(layout, **options)
            row.append([[column.title for column in table.columns], table.rows, table.ranks, table.notes])
        yield name, row


def verdicts_with_gains():
    """Return the verdict of a protocol with gains of second thresholds."""
    result, names = joint.protocol(_run(0, 0.4), {"far": ["far1"]}, confidence="msp"), ("metric", "score", "gain", "p")
    for n, least in product((4, 99), (0.001, 0.03, 0.4)):
        gains = product(("ds_f1", "ds_aurc"), (("energy", 0.04, least), ("distance", 0.02, 0.2)))
        gains = [(metric, *gain) for metric, gain in gains]
        about = {"set": "far1", "null_mean": 0.01, "n_permutations": n}
        yield joint.with_gains(result.verdict, [about | dict(zip(names, gain, strict=True)) for gain in gains])
