"""What stands around the exact search, each against its formula with the same draws, and every cell of the tables."""

import re
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics as sklearn_metrics

import abstain
from abstain import joint
from tests.joint.references import Columns, best_f1, random_problem

NAMES = ("ds_f1", "ds_aurc", "ds_augrc")


def halves(columns, share, rng):
    """Random rows of both kinds, and the others."""
    inside, outside = rng.permutation(columns.n_id), rng.permutation(columns.n_ood)
    i, o = round(share * len(inside)), round(share * len(outside))
    return tuple(
        Columns(*(np.asarray(c)[ids] for c in columns[:3]), *(np.asarray(c)[ood] for c in columns[3:]))
        for ids, ood in ((inside[:i], outside[:o]), (inside[i:], outside[o:]))
    )


def with_detector(columns, values):
    return columns._replace(id_detector=values[: columns.n_id], ood_detector=values[columns.n_id :])


@pytest.mark.parametrize("prevalence", [None, 0.3])
def test_counts_and_error_of_f1(prevalence):
    """Each row moves F1 by its derivative, numerically; the two kinds are two samples."""
    columns = random_problem(60, 45, 3, decimals=1)
    weight = 1.0 if prevalence is None else 60 * prevalence / (1 - prevalence) / 45
    found = joint.f1_at(**columns.named, thresholds=(0.5, 0.2), prevalence=prevalence)
    inside = (columns.id_confidence >= 0.5) & (columns.id_detector >= 0.2)
    outside = (columns.ood_confidence >= 0.5) & (columns.ood_detector >= 0.2)
    right = inside & (columns.id_loss == 0)

    def f1(ids, oods):
        return 2 * (ids @ right) / (ids @ (inside + 1.0) + weight * (oods @ outside))

    id_rows, ood_rows = np.ones(60), np.ones(45)
    assert found.value == pytest.approx(f1(id_rows, ood_rows))
    moves = [f1(id_rows + h, ood_rows) - f1(id_rows - h, ood_rows) for h in 1e-4 * np.eye(60)]
    others = [f1(id_rows, ood_rows + h) - f1(id_rows, ood_rows - h) for h in 1e-4 * np.eye(45)]
    variance = sum(len(each) * np.var(np.array(each) / 2e-4, ddof=1) for each in (moves, others))
    assert found.standard_error == pytest.approx(np.sqrt(variance), rel=1e-6)
    answered = inside.sum() + weight * outside.sum()
    assert (found.precision, found.recall) == pytest.approx((right.sum() / answered, right.sum() / 60))
    alone = joint.f1_at(**columns._replace(ood_confidence=[0.9], ood_detector=[0.9]).named, thresholds=(0.5, 0.2))
    only = np.array([(2.0 * r - alone.value * (t + 1.0)) for r, t in zip(right, inside, strict=True)])
    assert alone.standard_error == pytest.approx(np.std(only, ddof=1) * np.sqrt(60) / (inside.sum() + 61))


@pytest.mark.parametrize("seed", range(8))
def test_the_best_f1_at_a_share_that_is_no_fraction(seed):
    """Weights are no whole numbers then; every pair of thresholds is tried."""
    columns = random_problem(45, 30, seed, decimals=1)
    found = joint.ds_f1(**columns.named, prevalence=1 / np.pi)
    assert found.value == pytest.approx(float(best_f1(columns, Fraction(1 / np.pi))), abs=1e-12)
    assert joint.f1_at(**columns.named, thresholds=found.thresholds, prevalence=1 / np.pi).value == found.value


@pytest.mark.parametrize(("share", "prevalence"), [(0.3, None), (0.6, 0.2)])
def test_thresholds_are_carried_from_one_part_to_the_other(share, prevalence):
    """The same splits drawn by hand: thresholds of the first part on the second, next to the best of the second."""
    columns, rng = random_problem(70, 50, 2), np.random.default_rng(5)
    found = joint.transfer(**columns.named, share=share, n_splits=3, prevalence=prevalence, rng=5)
    assert found.share == share
    best, carried = [], []
    for _ in range(3):
        first, second = halves(columns, share, rng)
        pair = joint.ds_f1(**first.named, prevalence=prevalence).thresholds
        best.append(float(joint.ds_f1(**second.named, prevalence=prevalence)))
        carried.append(float(joint.f1_at(**second.named, thresholds=pair, prevalence=prevalence)))
    np.testing.assert_allclose(found.oracle, best)
    np.testing.assert_allclose(found.transferred, carried)
    assert found.loss == pytest.approx(np.mean(best) - np.mean(carried))


@pytest.mark.parametrize(("n_id", "n_ood", "groups"), [(5, 2, 1), (45, 20, 6), (900, 250, 100)])
def test_useless_scores_are_permuted_among_neighbours(n_id, n_ood, groups):
    """Rows by confidence in groups of equal size, at least 10 and at most 100 groups, shuffled within each."""
    columns, rng = random_problem(n_id, n_ood, 4, decimals=1), np.random.default_rng(1)
    n, times = n_id + n_ood, {5: 2, 45: 3, 900: 1}[n_id]
    found = joint.null_gain(**columns.named, metric="ds_f1", n_permutations=times, rng=1)
    single = float(joint.f1(columns.id_loss, **columns.alone))
    confidence = np.append(columns.id_confidence, columns.ood_confidence)
    detector = np.append(columns.id_detector, columns.ood_detector)
    gains = []
    for _ in range(times):
        ranks = np.unique(confidence, return_inverse=True)[1]
        order, place = np.argsort(ranks + rng.random(n)), rng.random(n)
        values = np.empty(n)
        for group in range(groups):
            members = [k for k in range(n) if k * groups // n == group]
            values[order[members]] = detector[order[sorted(members, key=lambda k: place[k])]]
        gains.append(float(joint.ds_f1(**with_detector(columns, values).named)) - single)
    np.testing.assert_allclose(found.null, gains, atol=1e-12)
    assert found.gain == float(joint.ds_f1(**columns.named)) - single
    assert found.null_mean == pytest.approx(np.mean(gains))
    assert found.excess == pytest.approx(found.gain - np.mean(gains))
    assert found.null_sd == pytest.approx(np.std(gains, ddof=1) if times > 1 else np.nan, nan_ok=True)
    assert found.p_value == (1 + sum(gain >= found.gain for gain in gains)) / (times + 1)


@pytest.mark.parametrize(("case", "prevalence"), [("plain", None), ("plain", 0.4), ("no error", None)])
def test_intervals_by_their_formula(case, prevalence):
    """From the values of all rows and of both halves of each split; areas on the log scale unless one is 0."""
    columns, rng = random_problem(50, 40, 6), np.random.default_rng(3)
    if case == "no error":
        columns = columns._replace(id_loss=np.zeros(50), ood_confidence=np.full(40, -9.0))
    options = {"prevalence": prevalence}

    def values(each):
        both = [float(getattr(joint, name)(**each.named, **options)) for name in NAMES]
        one = [float(getattr(joint, name[3:])(each.id_loss, **each.alone, **options)) for name in NAMES]
        return [*both, *one, both[0] - one[0], one[1] - both[1], one[2] - both[2]]

    found = joint.confidence_intervals(**columns.named, level=0.9, n_splits=4, rng=3, **options)
    names = [*NAMES, "f1", "aurc", "augrc", "ds_f1 - f1", "ds_aurc - aurc", "ds_augrc - augrc"]
    assert list(found) == names
    parts = np.array([[values(half) for half in halves(columns, 0.5, rng)] for _ in range(4)])
    kappa = 1 / (2 ** (2 / 3) - 1)
    for j, (name, whole) in enumerate(zip(names, values(columns), strict=True)):
        log = name.endswith("rc") and "-" not in name and whole > 0 and (parts[:, :, j] > 0).all()
        at, pieces = (np.log(whole), np.log(parts[:, :, j])) if log else (whole, parts[:, :, j])
        d = pieces.mean() - at
        variance = np.mean((pieces[:, 0] - pieces[:, 1]) ** 2) / 4 + kappa**2 * pieces.mean(axis=1).var(ddof=1)
        error = np.sqrt(variance + (kappa * d / 2) ** 2)
        ends = at - kappa * d + np.array([-1, 1]) * stats.norm.ppf(0.95) * error
        interval = found[name]
        assert interval.estimate == pytest.approx(whole, abs=1e-12)
        assert interval.method == f"4 splits into halves, {'log' if log else 'plain'} scale"
        if error < 1e-12:
            assert np.isnan(interval.low), name
            assert np.isnan(interval.high), name
            continue
        if log:
            ends, error = np.exp(ends), error * np.exp(at - kappa * d)
        expected = ends if "-" in name else np.clip(ends, 0.0, 1.0)
        assert (interval.low, interval.high) == pytest.approx(tuple(expected), abs=1e-9), name
        assert interval.standard_error == pytest.approx(error, abs=1e-12)


def test_every_number_of_an_evaluation():
    """Values and guards of both scores and of each alone, at each share of OOD samples, and the points of all pairs."""
    columns = random_problem(40, 30, 7, decimals=1)
    result = joint.evaluate(**columns.named, prevalence=0.2, n_permutations=4, n_splits=3, rng=8)
    for (share, each), name in product((("as in the data", None), ("balanced", 0.5), ("given", 0.2)), NAMES):
        (row,) = (row for row in result.rows() if (row["share"], row["metric"]) == (share, name))
        null = joint.null_gain(**columns.named, metric=name, n_permutations=4, prevalence=each, rng=8)
        both = float(getattr(joint, name)(**columns.named, prevalence=each))
        one, two = (
            float(getattr(joint, name[3:])(part.id_loss, **part.alone, prevalence=each))
            for part in (columns, columns.swapped())
        )
        expected = (one, two, both, (1 if name == "ds_f1" else -1) * (both - one))
        assert (row["confidence"], row["detector"], row["both"], row["gain"]) == pytest.approx(expected, abs=1e-12)
        assert (row["null_mean"], row["null_sd"], row["p"]) == (null.null_mean, null.null_sd, null.p_value)
        assert row["prevalence"] == (30 / 70 if each is None else each)
    carried = joint.transfer(**columns.named, n_splits=3, prevalence=0.2, rng=8)
    means = {"oracle": carried.oracle.mean(), "transferred": carried.transferred.mean()}
    assert result.to_dict()["transfer"] == pytest.approx(means)
    coverage, risk = result.pairs(4)
    inside, outside = (np.array(c) for c in (columns[:3], columns[3:]))
    points = set()
    for pair in np.ndindex(4, 4):
        limits = [np.quantile(np.append(a, b), q / 3, method="lower")
                  for q, a, b in zip(pair, inside[1:], outside, strict=True)]  # fmt: skip
        taken, other = ((part >= np.array(limits)[:, None]).all(axis=0) for part in (inside[1:], outside))
        if taken.any():
            answered = taken.sum() + 40 * 0.25 / 30 * other.sum()
            points.add((round(taken.mean(), 9), round(1 - (taken & (columns.id_loss == 0)).sum() / answered, 9)))
    assert set(zip(coverage.round(9), risk.round(9), strict=True)) == points


# ---------------------------------------------------------------------- protocol

SIZES = {"a": 30, "b": 12, "c": 20}
GROUPS = {"near": ["a", "b"], "far": ["c"]}


def run(seed):
    first, rng = random_problem(50, 1, seed, decimals=1), np.random.default_rng(seed)
    scores = {"msp": 1 / (1 + np.exp(-first.id_confidence)), "knn": first.id_detector}
    outside = {name: {"msp": rng.beta(2, 2, n), "knn": rng.normal(0.2, 1, n)} for name, n in SIZES.items()}
    return joint.ScoredRun(first.id_loss, scores, outside)


def values_of(one, score, name, prevalence):
    """Every metric of one score on one set by its function or by scikit-learn."""
    inside, outside = one.id_scores[score], one.ood_scores[name][score]
    both = Columns(one.id_loss, one.id_scores["msp"], inside, one.ood_scores[name]["msp"], outside).named
    pair = {"id_score": inside, "ood_score": outside}
    is_id, merged = np.repeat([1, 0], [50, SIZES[name]]), np.append(inside, outside)
    at = {"prevalence": prevalence}
    return {
        **{each: float(getattr(joint, each)(one.id_loss, **pair, **at)) for each in ("f1", "aurc", "augrc")},
        **{each: float(getattr(joint, each)(**both, **at)) for each in NAMES},
        "auroc": sklearn_metrics.roc_auc_score(is_id, merged),
        "oscr": joint.oscr(one.id_loss, **pair),
        **{each: getattr(joint, each)(**pair) for each in ("aupr_in", "aupr_out")},
        **{f"{each}95": getattr(joint, each)(**pair) for each in ("fpr_at_id_recall", "fpr_at_ood_recall")},
    }


def alone_of(one, score):
    """Metrics of the ID samples."""
    loss, column = one.id_loss, one.id_scores[score]
    found = {
        "accuracy": 1 - np.mean(loss),
        "id_aurc": abstain.aurc(loss, column),
        "id_augrc": abstain.augrc(loss, column),
        "id_auroc_f": sklearn_metrics.roc_auc_score(1 - np.asarray(loss), column),
    }
    return found | ({"id_ece": abstain.ece(loss, column)} if score == "msp" else {})  # of probabilities only


RUNS = {"basic": [run(1), run(2)], "mixup": [run(4), run(5)]}


def test_every_record_and_every_cell_of_the_tables():
    """Records by the functions; cells are means over runs of unweighted means over sets, with their deviation."""
    result = joint.protocol(RUNS, GROUPS, confidence="msp", prevalence=0.1)
    known = {
        (strategy, number, score, name): values_of(one, score, name, 0.1) if name else alone_of(one, score)
        for strategy, several in RUNS.items()
        for number, one in enumerate(several)
        for score in ("msp", "knn")
        for name in ("", "a", "b", "c")
    }
    found = {}
    for row in result.rows():
        found.setdefault((row["strategy"], row["run"], row["score"], row["set"]), {})[row["metric"]] = row["value"]
        assert (row["n_id"], row["n_ood"]) == (50, SIZES.get(row["set"], 0))
    assert found.keys() == known.keys()
    for key, values in known.items():
        assert found[key] == pytest.approx(values, abs=1e-9), key
    assert result.sizes == {"ID": 50, **SIZES}

    def cell(metric, score, strategy, sets):
        per_run = [np.mean([known[strategy, k, score, name].get(metric, np.nan) for name in sets]) for k in range(2)]
        return float(np.mean(per_run)), float(np.std(per_run, ddof=1))

    wanted = [(metric, ("",)) for metric in ("accuracy", "id_ece", "id_auroc_f", "id_aurc", "id_augrc")]
    wanted += [(m, each) for m in ("auroc", "fpr_at_id_recall95", "ds_f1", "ds_aurc") for each in (("a", "b"), ("c",))]
    for row in result.table("reliability", score="knn").rows:
        shown = [(estimate.value, estimate.spread) for estimate in row[1:]]
        assert shown == [pytest.approx(cell(m, "knn", row[0], sets), nan_ok=True, abs=1e-9) for m, sets in wanted]
    for strategy in RUNS:
        notes = "\n".join(result.table("single-double", strategy=strategy).notes)
        shown = re.search(r"^ID accuracy (\S+) ± (\S+)$", notes, re.MULTILINE).groups()
        assert [*map(float, shown)] == pytest.approx(cell("accuracy", "msp", strategy, ("",)), abs=6e-3), strategy


def test_a_score_that_points_the_wrong_way_is_named():
    """On the first set with an AUROC 3 standard errors below a half, not 2.3; of the confidence nothing is said."""
    outside = {name: {"msp": np.zeros(9), "far": np.full(9, 5.0 if name != "a" else 0.75)} for name in "abc"}
    one = joint.ScoredRun(np.arange(50) % 2, {"msp": np.ones(50), "far": np.linspace(0, 1, 50)}, outside)
    caveats = joint.protocol([one], GROUPS, confidence="msp").verdict.caveats
    values = [each.values for each in caveats if each.kind == "reversed"]
    assert [(each["score"], each["auroc"], each["where"]) for each in values] == [("far", 0.0, ", OOD rows of b")]
    backwards = joint.ScoredRun(one.id_loss, {"far": one.id_scores["far"]}, {"b": {"far": np.full(9, 0.99)}})
    caveats = joint.protocol(backwards, {"x": ["b"]}, confidence="far").verdict.caveats
    assert [each.kind for each in caveats] == ["ood_answered"]
