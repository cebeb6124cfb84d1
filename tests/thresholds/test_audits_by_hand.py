"""Audits by hand: intervals of rows and clusters, exact for counts, and answers that a bound for all must share."""

import re

import numpy as np
import pytest
from scipy import stats

import abstain
from abstain.policy import Calibration, Guarantee, Objective, Policy
from tests.thresholds.test_enumerated import hoeffding_bentkus


def mean_ends(weight, value, level, most):
    """Return the ends of a weighted mean, by Student's t; NaN where nothing varies."""
    known = weight > 0.0
    weight, value = weight[known], value[known]
    if not weight.size:
        return np.nan, np.nan
    mean = np.average(value, weights=weight)
    error = np.sqrt(np.sum((weight * (value - mean)) ** 2)) / weight.sum()
    if weight.size > 1 and error <= 1e-12 * mean:
        return np.nan, np.nan
    reach = stats.t.ppf(0.5 + 0.5 * level, weight.size - 1) * error if weight.size > 1 else np.inf
    return max(0.0, mean - reach), min(most, mean + reach)


def counted_ends(errors, n, level):
    """Return Clopper and Pearson's."""
    return abstain.inference.clopper_pearson(int(errors), n, level)


@pytest.mark.parametrize("kind", ["binary", "graded", "clusters", "rows of clusters"])
def test_an_audit_is_what_its_intervals_and_bounds_say(kind):
    """All rows and two groups, at any error rate: shares, ends, and one of three answers with its reason."""
    clustered, graded, answers, reasons = "clusters" in kind, kind == "graded", [], set()
    largest, top = (6 if kind == "rows of clusters" else None), 2.0 if kind != "binary" else 1.0
    known = Calibration(n=9, n_clusters=5 if clustered else None, max_cluster=largest)
    promise = Guarantee(risk=0.2 * top, delta=0.05, max_loss=top, statement="")
    policy = Policy("s", None, None, None, {"": 0.5}, Objective(cost_error=3.0, cost_review=1.0), promise, known)
    for seed in range(24):
        rng = np.random.default_rng(seed)
        n = int(rng.choice([2, 8, 60, 900]))
        unit = np.arange(n) // 3 if clustered else None
        score, site = np.round(rng.random(n), 2) * (seed != 5), np.where(np.arange(n) < n // 2, "a", "b")
        loss = (rng.random(n) < rng.choice([0.02, 0.1, 0.2, 0.5, 0.9])) * 1.0
        loss = np.repeat(loss[: -(-n // 3)], 3)[:n] if clustered and seed % 2 else loss
        if graded:
            loss = loss * (2.0 if seed % 3 else 0.7) if seed % 4 else np.full(n, rng.choice([0.05, 0.4, 1.9]))
        elif clustered:
            loss = 2.0 * loss
        seen = abstain.audit(policy, loss, score, clusters=unit, level=0.9, groups=site)
        for name, found in {None: seen, **seen.groups}.items():
            mine = np.ones(n, bool) if name is None else site == name
            level, sure = 0.9, 0.9 if name is None else 1.0 - 0.1 / len(seen.groups)
            x, kept = loss[mine], score[mine] >= 0.5
            assert (found.n, found.n_accepted) == (mine.sum(), kept.sum())
            assert found.coverage == pytest.approx(kept.mean())
            values = x[kept]
            if clustered:
                units = np.unique(unit[mine], return_inverse=True)[1]
                rows, size = (np.bincount(units, kept * 1.0), np.bincount(units) * 1.0)
                total = np.bincount(units, x * kept)
                coverage = mean_ends(size, rows / size, level, 1.0)
                means = (total / np.where(rows > 0.0, rows, 1.0))[rows > 0.0]
                values = 0.4 + (total - 0.4 * rows)[rows > 0.0] / 6.0 if largest else means
                risk = x[kept].mean() if largest and kept.any() else means.mean() if means.size else np.nan
                each = (rows[rows > 0.0] if largest else np.ones(means.size)), means
                ends, judged = (mean_ends(*each, at, np.inf) for at in (level, sure))
            else:
                coverage = counted_ends(kept.sum(), mine.sum(), level)
                risk = values.mean() if values.size else np.nan
                binary = not graded or set(x) <= {0.0, 1.0}
                ends, judged = (
                    (np.nan, np.nan) if not values.size
                    else counted_ends(values.sum(), values.size, at) if binary
                    else mean_ends(np.ones(values.size), values, at, np.inf) for at in (level, sure)
                )  # fmt: skip
            assert found.coverage_interval == pytest.approx(coverage, nan_ok=True)
            assert found.risk == pytest.approx(risk, nan_ok=True)
            assert found.risk_interval == pytest.approx(ends, nan_ok=True)
            low, high = judged
            limit, answer = promise.risk, None
            exact = not clustered and (not graded or set(x) <= {0.0, 1.0})
            if values.size:
                error = (1.0 - sure) / 2.0
                bounds = [
                    exact or hoeffding_bentkus(float(np.sum(part)), values.size, at) <= error
                    for part, at in ((values / top, 0.2), (np.maximum(1.0 - values / top, 0.0), 0.8))
                ]
                answer = False if not low <= limit and bounds[1] else True if not high > limit and bounds[0] else None
            assert found.satisfied is answer, (seed, name)
            answers.append(answer)
            assert (found.reason == "nothing was accepted") == (not values.size)
            assert ("holds the limit" in str(found.reason)) == (low <= limit < high)
            assert ("has no interval" in str(found.reason)) == bool(values.size and np.isnan(low))
            told = "below" if high <= limit else "above" if low > limit else None
            assert (f"lies {told} the limit" in str(found.reason)) == (told is not None)
            reasons.add(str(found.reason)[:30])
        wrong = seen.coverage * seen.risk if seen.coverage else 0.0
        assert seen.cost == pytest.approx(3.0 * wrong + (1.0 - seen.coverage))
        assert (seen.limit, seen.guaranteed, dict(seen.thresholds)) == (promise.risk, True, {"": 0.5})
    assert {True, False, None} <= set(answers)
    assert len(reasons) >= 3
    alone = abstain.audit(policy, loss, score, clusters=unit, groups=np.full(n, "a"))
    for each, told in ((seen, ["2"]), (alone, [])):
        said = "\n".join(each.tables()[0].notes)
        assert re.findall("Answers about (.) groups allow for their number", said) == told


@pytest.mark.parametrize("n", [19, 20, 400])
def test_another_share_of_accepted_rows_is_noted_where_chance_does_not_explain_it(n, tmp_path):
    """By exact 99.9 % intervals that do not meet, by a hundredth at least; not of weighted rows, or clusters."""
    rows = {"n": 1000, "n_accepted": 300, "weighted": False}
    before = counted_ends(300, 1000, 0.999)
    others = [{"weighted": True}, {"n_clusters": 9}, {"n_accepted": None}]
    for share, more in [*((share / 10, {}) for share in range(11)), *((1.0, other) for other in others)]:
        kept = round(share * n)
        (tmp_path / "new.csv").write_text("s\n" + "0.5\n" * kept + "0.4\n" * (n - kept))
        known = Calibration(**{**rows, **more})
        policy = Policy("s", None, None, None, {"": 0.5}, Objective(coverage=0.3), None, known)
        found = abstain.apply_policy(policy, tmp_path / "new.csv", tmp_path / "out.csv")
        low, high = counted_ends(kept, n, 0.999)
        apart = (low > before[1] or high < before[0]) and abs(kept / n - 0.3) >= 0.01 and not more
        assert (found.n, found.n_accepted) == (n, kept)
        said = [f"{kept / n:.4g} of the rows are accepted, 0.3 of" in note for note in found.notes]
        assert said == [True] * apart


@pytest.mark.parametrize(("n", "beyond", "noted"), [(19, 19, False), (20, 10, False), (20, 11, True), (41, 21, True)])
@pytest.mark.parametrize("above", [False, True])
def test_scores_that_lie_where_hardly_any_did_are_noted(n, beyond, noted, above, tmp_path):
    """More than half of at least twenty, below the lowest or above the highest of the nine bins."""
    known = Calibration(n=10, n_accepted=5, weighted=False, bins=((0.2, 9), (0.4, 5), (0.6, 1)))
    policy = Policy("s", None, None, None, {"": 0.4}, Objective(coverage=0.5), None, known)
    inside = [0.2, 0.3, 0.6, 0.5] * n
    scores = ["0.61" if above else "0.19"] * beyond + [str(each) for each in inside[: n - beyond]]
    (tmp_path / "new.csv").write_text("\n".join(["s", *scores]))
    found = abstain.apply_policy(policy, tmp_path / "new.csv", tmp_path / "out.csv")
    side = "above 0.6" if above else "below 0.2"
    assert any(f"{beyond} of {n} scores are {side}," in note for note in found.notes) == noted
