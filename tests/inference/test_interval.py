"""Intervals: exact binomial, both ends on every scale, degrees of freedom, warnings instead of silent NaN."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq
from scipy.special import expit, logit

import abstain
from abstain import inference, metrics
from abstain.inference._rests_on import Units
from tests.inference.populations import allowance


@pytest.mark.parametrize("method", ["influence", "percentile"])
def test_a_risk_at_a_threshold_rests_on_what_is_accepted(method):
    """Eight of 500 clusters are accepted, two of them with an error, or five: all others say nothing of these."""
    unit, given = np.repeat(np.arange(500), 20), {"method": method, "n_resamples": 50}
    loss = np.where(unit < 8, np.arange(10_000) % 20 + 10 * (unit > 1) == 0, np.arange(10_000) % 17 == 0) * 1.0
    for accepted, said in ((8, "rests on about 2 clusters with errors"), (5, "about 5 clusters; give at least 6")):
        score = (unit < accepted) * 0.9
        found = abstain.confidence_interval("selective_risk(threshold=0.5)", loss, score, clusters=unit, **given)
        assert said in found.warning
        assert np.isnan(found.low) == (accepted == 5)


@pytest.mark.parametrize(("metric", "best"), [("auroc_f", 1.0), ("e_augrc", 0.0), ("prediction_rejection_ratio", 1.0)])
def test_a_perfect_ranking_has_an_interval(metric, best):
    """No sample moves the value, so only an unseen error can: the better end is the best value."""
    found = abstain.confidence_interval(metric, [1] * 5 + [0] * 95, range(100))
    assert found[int(best)] == best
    assert 0.0 < found.high - found.low < 0.8
    assert "room for one unseen error" in found.warning


def test_one_error_is_no_worse_than_the_worst_ranking_at_the_largest_rate():
    """Student's t with one degree of freedom gave an AUGRC of up to .5 for one error among 100, and .036 for none."""
    for metric in ("augrc", "aurc", "sele", "e_augrc", "accuracy_rejection_area"):
        ends = []
        for errors in (0, 1, 2):
            loss = np.isin(np.arange(100), [10, 13][:errors]) * 1.0
            low, high, *_ = abstain.confidence_interval(metric, loss, -np.arange(100.0))
            ends.append(1.0 - low if metric == "accuracy_rejection_area" else high)
        assert ends == sorted(ends)
        if metric == "augrc":
            rates = [inference.clopper_pearson(errors, 100)[1] for errors in (0, 1)]
            assert ends[:2] == pytest.approx([rate - rate * rate / 2.0 for rate in rates])


@pytest.mark.parametrize(
    "design", [{}, {"clusters": np.arange(40) // 2}, {"strata": np.arange(40) % 2}, {"sample_weight": np.full(40, 2.0)}]
)
def test_errors_among_the_rest_say_nothing_of_what_is_accepted(design):
    """Where 16 of 40 rows are accepted, and none is wrong, the bound counts these, or their eight clusters."""
    score, loss = -np.arange(40.0), np.repeat([0.0, 0.0, 1.0], [16, 4, 20])
    units, many = (8, "clusters") if "clusters" in design else (16, "rows")
    for at in ("threshold=-15", "coverage=0.4"):
        found = abstain.confidence_interval(f"selective_risk({at})", loss, score, **design)
        assert (found.low, found.high) == pytest.approx(inference.clopper_pearson(0, units))
        said = f"about {units} {many}; no error occurred among what is" if design else "no error among 16 accepted"
        assert said in found.warning
    whole = abstain.confidence_interval("generalized_risk(threshold=-15)", loss, score, **design)  # of all rows
    assert (whole.low, whole.high) == pytest.approx(inference.clopper_pearson(0, 20 if "clusters" in design else 40))
    mirrored = abstain.confidence_interval("selective_accuracy(threshold=-15)", loss, score, **design)
    assert (mirrored.low, mirrored.high) == pytest.approx((1.0 - found.high, 1.0))
    assert not design or ("at most" in found.warning and "at least" in mirrored.warning)
    assert abstain.confidence_interval("selective_risk(threshold=-20)", loss, score, **design).low > 0.0


def test_the_bound_without_errors_holds_whatever_errors_have_to_do_with_weights():
    """20 rows stand for a fifth of all: if only these can be wrong, 1,000 right rows of the rest do not help."""
    heavy = np.r_[np.ones(20), np.zeros(1000)]
    designs = [
        {"sample_weight": 1.0 + 11.5 * heavy},
        {"sample_weight": 1.0 + 11.5 * heavy, "strata": heavy},
        {"clusters": np.r_[np.repeat(np.arange(20), 25), 20 + np.arange(2000)]},
    ]
    for design in designs:
        n = len(next(iter(design.values())))
        found = abstain.confidence_interval("selective_risk(threshold=0.5)", np.zeros(n), np.full(n, 0.9), **design)
        assert found.high == pytest.approx(0.2 * inference.clopper_pearson(0, 20)[1], rel=1e-9)


def test_large_clusters_count_among_what_is_accepted():
    """Of 60 clusters of one size twelve are accepted nearly whole: these may lack one that is wrong as a whole."""
    score = np.where((np.arange(60) < 12)[:, None], 0.9, np.where(np.arange(30) < 1, 0.9, 0.1)).ravel()
    loss = (np.arange(1800) % 20 == 0) * 1.0
    design = {"clusters": np.repeat(np.arange(60), 30)}
    found = abstain.confidence_interval("selective_risk(threshold=0.5)", loss, score, **design)
    assert found.warning.startswith("rests on about 14 clusters with right answers; a few clusters hold most rows")
    share = 360.0 / 408.0 * (1.0 - 0.025 ** (1.0 / 12.0))
    assert found.high == pytest.approx(found.estimate + share * (1.0 - found.estimate))
    assert "few clusters" not in str(abstain.confidence_interval("risk", loss, score, **design).warning)


@pytest.mark.parametrize(("rows", "said"), [(6, False), (7, True)])
def test_large_clusters_need_room_where_the_effective_number_is_below_half_of_all(rows, said):
    """Two clusters of 6 rows and 18 of one row count as 30^2 / 90 = 10 of 20."""
    clusters = np.repeat(np.arange(20), np.r_[rows, rows, np.ones(18, dtype=int)])
    found = abstain.confidence_interval("risk", clusters == 7, clusters, clusters=clusters)
    assert ("a few clusters hold most rows" in found.warning) == said


@pytest.mark.parametrize("size", [1, 7])
def test_no_errors_give_a_bound_and_say_so(size):
    """Without an error: up to the two-sided end under the worst ranking, of clusters, which may be wrong as a whole."""
    score, clusters = np.linspace(0, 1, 100 * size), np.arange(100 * size) // size if size > 1 else None
    worst, bound = 1 - 0.025**0.01, 1 - 0.05**0.01
    areas = {"risk": lambda p: p, "augrc": lambda p: p - p**2 / 2, "aurc": lambda p: p * (1 - np.log(p))}
    for name, area in areas.items():
        interval = abstain.confidence_interval(name, np.zeros(100 * size), score, clusters=clusters)
        assert (interval.low, interval.standard_error) == (0.0, 0.0)
        assert interval.high == pytest.approx(area(worst))
        assert f"at most {area(bound):.4g} at level 0.95 (one-sided bound" in interval.warning
    few = abstain.confidence_interval("selective_risk(threshold=0)", np.zeros(100 * size), score, clusters=clusters)
    assert few.high == pytest.approx(worst, rel=0.01)


@pytest.mark.parametrize("n", [5, 59, 400])
def test_exact_intervals_cover_at_every_risk(n):
    """Coverage by enumeration of all counts, not by simulation; choosing the side by the data would fall short."""
    counts, score = np.arange(n + 1), np.arange(n)
    risks = np.concatenate([np.geomspace(1e-5, 0.1, 400), np.linspace(0.1, 0.9, 100)])
    for metric in ("risk", "accuracy"):
        found = [abstain.confidence_interval(metric, (score < k).astype(float), score) for k in counts]
        ends = np.array([(1 - each.high, 1 - each.low) if metric == "accuracy" else each[:2] for each in found])
        mass = stats.binom.pmf(counts, n, risks[:, None])
        inside = (ends[:, 0] <= risks[:, None]) & (risks[:, None] <= ends[:, 1])
        assert np.sum(mass * inside, axis=1).min() >= 0.95 - 1e-9
    ends[0, 1] = inference.clopper_pearson(0, n, side="upper")[1]
    inside = (ends[:, 0] <= risks[:, None]) & (risks[:, None] <= ends[:, 1])
    assert np.sum(mass * inside, axis=1).min() < 0.95


@pytest.mark.parametrize("n", [5, 10, 20])
def test_a_few_samples_have_the_degrees_of_freedom_of_a_mean(n):
    """The interval of a mean of uniform losses covers at any number of rows, up to 2.6 Monte Carlo errors."""
    losses = np.random.default_rng(n).random((500, n))
    found = [abstain.confidence_interval("risk", loss, range(n)) for loss in losses]
    assert max(each.df for each in found) <= n - 1
    assert np.mean([each.low <= 0.5 <= each.high for each in found]) >= 0.95 - allowance(0.95, 500)


RANGES = ["sele(factor=2)", "augrc(coverage_range=(0.05, 0.7))", "aurc(coverage_range=(0.3, 0.9))"]
BOUNDED = [metrics.parse(spec) for spec in (*metrics.names("blocks"), *RANGES)]
BOUNDED = [metric for metric in BOUNDED if metric.image is None and metric.worst is not None]


@pytest.mark.parametrize("metric", BOUNDED, ids=lambda metric: metric.spec)
def test_bound_without_errors_is_reached_by_the_worst_ranking(metric):
    """The bound equals the area of a population whose errors are all ranked first; no smaller error rate exceeds it."""
    score, tied = np.linspace(1, 0, 100_000), np.zeros(100_000)
    column = tied if metric.name == "sele" else score  # SELE charges a tie as if its errors came first
    for mu in (0.1, 0.5):
        table = abstain.TieBlocks.from_samples((np.arange(100_000) < mu * 100_000).astype(float), column, oracle=True)
        assert metric(table) == pytest.approx(metric.worst(mu, **metric.settings), abs=1e-4)
    bounds = [metric.worst(p, **metric.settings) for p in np.linspace(0.01, 0.99, 99)]
    assert (np.diff(bounds) >= -1e-12).all()


def test_degrees_of_freedom_of_a_quantile_follow_its_level():
    """Of 16 errors four times the share behind the quantile, at most all: .8, .95 and .99 leave 12.8, 3.2 and 0.64."""
    rng = np.random.default_rng(0)
    loss = np.repeat([1.0, 0.0], [16, 284])
    score = rng.random(300) - 0.3 * loss
    for recall, df in ((0.05, 3.2), (0.5, 16.0), (0.8, 12.8), (0.95, 3.2), (0.99, 0.64)):
        found = inference.bootstrap(metrics.get("fpr95_error", recall=recall), loss, score, n_resamples=200)
        assert found.df == pytest.approx(df)


IMAGES = [metrics.get(name) for name in metrics.names("blocks") if metrics.get(name).image is not None]


@pytest.mark.parametrize("metric", IMAGES, ids=lambda metric: metric.name)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("method", ["influence", "percentile"])
def test_an_image_has_the_image_of_the_interval(metric, weighted, method):
    """One minus a risk has one minus its interval, with the degrees of freedom and the standard error of the risk."""
    rng = np.random.default_rng(1)
    loss = (rng.random(200) < 0.1) * 1.0
    score, weight = rng.random(200) - 0.5 * loss, rng.random(200) if weighted else None
    options = {"sample_weight": weight, "method": method, "n_resamples": 100}
    one = abstain.confidence_interval(metric, loss, score, **options)
    base = abstain.confidence_interval(metric.base, loss, score, **options)
    assert (one.low, one.high) == pytest.approx(metric.image.ends(base.low, base.high), abs=1e-12)
    assert one.estimate == pytest.approx(metric.image(base.estimate), abs=1e-12)
    assert one.standard_error == pytest.approx(abs(metric.image.factor) * base.standard_error)
    assert (one.df, one.method) == (pytest.approx(base.df), base.method)


def test_means_over_predictions_have_intervals():
    """NLL and Brier score of the vector: a mean, so the interval is that of a risk; clusters too."""
    rng = np.random.default_rng(3)
    labels, proba, unit = rng.integers(0, 3, 200), rng.dirichlet(np.ones(3), 200), np.arange(200) // 4
    squares = np.sum((proba - np.eye(3)[labels]) ** 2, axis=1)
    for name, terms in (("nll", -np.log(proba[np.arange(200), labels])), ("brier_score", squares)):
        assert inference.influence(name, labels, proba) == pytest.approx(terms - terms.mean())
        for given in ({}, {"clusters": unit}, {"method": "percentile"}):
            found = abstain.confidence_interval(name, labels, proba, **given)
            expected = abstain.confidence_interval("risk", terms, np.zeros(200), **given)
            assert found[:3] == pytest.approx(expected[:3], rel=1e-9)
            assert found.standard_error == pytest.approx(expected.standard_error, rel=1e-9)


@pytest.mark.parametrize("metric", ["ece", "aurc_achievable", "mce"])
def test_metrics_whose_bias_does_not_vanish_say_so(metric):
    """Hull areas and calibration errors have no interval by default, and one of a bootstrap has the warning."""
    for method in ("auto", "percentile"):
        found = abstain.confidence_interval(metric, *errors_of(100), method=method, n_resamples=50)
        assert (np.isnan(found.low), found.estimate > 0.0) == (method == "auto", True)
        assert re.search("bias .*does not vanish compared with its spread", found.warning)


# ---------------------------------------------------------------------- both ends on every scale


def errors_of(n):
    """So many errors that one which was not seen moves an end by little, and fewer than half."""
    rng = np.random.default_rng(1)
    score = rng.beta(2, 2, n)
    return (rng.random(n) < 0.3 - 0.3 * (score - 0.5)).astype(float), score


FEW = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [0.99, 0.9, 0.1, 1.0, 0.98, 0.95]


@pytest.mark.parametrize("metric", ["cwsa", "f1_auc", "cwsa_plus"])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
def test_both_ends_on_a_linear_scale(metric, level):
    """Student's t times the standard error on either side, up to the ends of the range."""
    for columns in (errors_of(3000), FEW)[: 1 + (metric == "cwsa_plus")]:
        found = abstain.confidence_interval(metric, *columns, level=level)
        reach = stats.t.ppf(0.5 + 0.5 * level, found.df) * found.standard_error
        least = -1.0 if metric == "cwsa" else 0.0
        expected = max(found.estimate - reach, least), min(found.estimate + reach, 1.0)
        assert (found.low, found.high) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("range", [(0.0, 1.0), (-1.0, 3.0)])
def test_both_ends_on_the_logit_scale_far_from_the_estimate(range):
    """At 99.9 % in 300 rows Student's t reaches further than the room for an unseen error; ranges may start below 0."""
    metric, (least, most) = replace(abstain.metrics.get("average_precision_error"), range=range), range
    found = abstain.confidence_interval(metric, *errors_of(300), level=0.999)
    share = (found.estimate - least) / (most - least)
    reach = stats.t.ppf(0.9995, found.df) * found.standard_error / (most - least) / (share * (1.0 - share))
    expected = least + (most - least) * expit(logit(share) + np.array([-reach, reach]))
    assert [found.low, found.high] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("metric", ["risk(threshold=0.5)", "accuracy"])
def test_each_binomial_end_is_its_own_tail(metric):
    """Of a risk at a threshold fixed in advance, and of an accuracy, whose ends are the other way round."""
    loss, score = errors_of(500)
    accepted = score >= 0.5 if "threshold" in metric else np.ones(500, dtype=bool)
    k, n = int(loss[accepted].sum()), int(accepted.sum())
    low, high = stats.beta.ppf(0.025, k, n - k + 1), stats.beta.ppf(0.975, k + 1, n - k)
    found = abstain.confidence_interval(metric.replace("risk(", "selective_risk("), loss, score)
    expected = (low, high) if "risk" in metric else (1.0 - high, 1.0 - low)
    assert (found.low, found.high) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("number", "unit", "note", "refused"),
    [
        (30.0, "rows", None, None),
        (30.0 - 1e-9, "errors", None, None),
        (29.4, "rows", "about 29 rows", None),
        (1.4, "errors", "about 1 error", None),
        (5.32, "clusters", "about 5 clusters", None),
        (5.3, "clusters", "about 5 clusters", "it rests on about 5 clusters; give at least 6"),
        (5.3, "rows", "about 5 rows", None),
    ],
)
def test_what_a_number_of_units_says(number, unit, note, refused):
    """Below thirty it is said; below what six clusters of like size have there is no interval."""
    found = inference.RestsOn(number, unit)
    for said, expected in ((found.note, note), (found.refusal, refused)):
        assert (said is None) == (expected is None)
        assert expected is None or expected in said


def test_a_part_stands_out_by_fishers_exact_test():
    """Of each part against all others, times the number of parts; of equal p-values the higher rate."""
    rng = np.random.default_rng(1)
    for _ in range(40):
        rows = rng.integers(1, 30, rng.integers(2, 5))
        wrong = rng.binomial(rows, rng.random(rows.size))
        tails = stats.hypergeom.sf(wrong - 1, rows.sum(), wrong.sum(), rows)
        part, p = inference.stands_out(wrong.tolist(), rows.tolist())
        assert p == pytest.approx(min(1.0, rows.size * tails.min()), rel=1e-9)
        assert tails[part] == pytest.approx(tails.min(), rel=1e-9)
    assert inference.stands_out([0, 0, 0], [4, 9, 2]) == (0, 1.0)
    assert inference.stands_out([2, 9], [2, 9])[0] == 0


@pytest.mark.parametrize("alpha", [0.5, 0.05, 1e-6])
def test_the_largest_share_that_may_be_wrong_is_the_root_of_its_equation(alpha):
    """Each unit of the share w is right with min(c / w, 1); all are with the probability alpha."""
    rng = np.random.default_rng(3)
    amounts, times = rng.exponential(size=9) * (np.arange(9) % 4 > 0), rng.integers(1, 4, 9).astype(float)
    kept = amounts > 0.0
    share, often = (amounts / (amounts @ times))[kept], times[kept]

    def lacking(log):
        return often @ np.minimum(log - np.log(share), 0.0) - np.log(alpha)

    right = np.minimum(np.exp(brentq(lacking, -40.0, 0.0, xtol=1e-13)) / share, 1.0)
    assert Units(amounts, times, "rows").most_wrong(alpha) == pytest.approx(often @ (share * (1.0 - right)), rel=1e-9)
