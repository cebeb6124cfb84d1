"""Standard errors, intervals, bootstraps, bands, sizes of samples and curves, few units and many."""

from itertools import product

import numpy as np

import abstain
from abstain import inference, testing
from tests.recorded import rows_of, shown, tried
from tests.recorded.of_metrics import OF_SCORES
from tests.recorded.populations import kinds, models, rows, scores_and_rows

#: One or more metrics of each kind: areas, points, rankings, precisions, bins and means.
SOME = (
    "aurc", "aurc(estimator=trapezoid)", "aurc(estimator=harmonic)", "aurc(estimator=log)", "augrc", "sele",
    "augrc(coverage_range=(0.3,0.8))", "aurc(coverage_range=(0.2,0.7))", "accuracy_rejection_area", "augrc_unbiased",
    "augrc_achievable", "aurc_achievable", "e_aurc", "e_augrc", "naurc", "naugrc", "f1_auc",
    "prediction_rejection_ratio", "accuracy", "risk", "coverage_at_risk(risk=0.1)", "selective_risk(coverage=0.5)",
    "selective_accuracy(coverage=0.7)", "generalized_risk(coverage=0.5)", "selective_risk(threshold=0.45)",
    "selective_accuracy(threshold=0.45)", "generalized_risk(threshold=0.45)", "auroc_f", "fpr95_error",
    "fpr95_success(recall=0.8)", "aupr_error", "aupr_success", "average_precision_error", "average_precision_success",
    "oc_auc(review_fraction=0.1)", "oc_auc(review_fraction=0.1,curve=pr)", "cwsa(threshold=0.3)",
    "cwsa(threshold=0.3,denominator=all)", "cwsa_plus(threshold=0.3)", "cwsa_plus(threshold=0.3,denominator=all)",
    "aumcc", "ece(bins=4)", "mce(bins=4)", "brier_confidence", "nll_confidence",
)  # fmt: skip


def intervals_of_every_metric():
    """Return the interval that each metric gets by default."""
    for (kind, columns), name in product(kinds(31, 90, steps=30), SOME):
        if kind in ("plain", "weights", "all"):
            yield f"{name} {kind}", tried(inference.confidence_interval, name, **columns, n_resamples=40)


def intervals_by_method():
    """Return intervals by method, level and what may be unseen."""
    names = ("augrc", "aurc", "auroc_f", "risk", "coverage_at_risk(risk=0.2)", "selective_risk(coverage=0.6)")
    for (kind, columns), name in product(kinds(32, 60, steps=12), names):
        for method in ("influence", "percentile", "bca")[: 3 if kind in ("plain", "all") else 2]:
            given = {"method": method, "level": 0.8, "n_resamples": 200 if method == "bca" else 60, "rng": 3}
            yield tried(inference.confidence_interval, name, **columns, **given)
        yield tried(inference.confidence_interval, name, **columns, level=0.9, n_resamples=60, unseen="top")


def intervals_at_the_edges():
    """Return intervals with no, one, few and only failures, of graded losses, of one and two rows."""
    n, interval = np.arange(40.0), inference.confidence_interval
    names = ["augrc", "aurc", "auroc_f", "risk", "accuracy", "e_aurc", "naugrc", "selective_risk(coverage=0.5)"]
    designs = ({}, {"clusters": n // 4}, {"sample_weight": 1.0 + n % 3})
    for k, name, unseen, more in product((0, 1, 3, 39, 40), names, ("random", "top"), designs):
        yield tried(interval, name, (n < k) * 1.0, (7.0 * n) % 40.0, n_resamples=40, unseen=unseen, **more)
    yield [tried(interval, m, n[:size] % 2, n[:size]) for size, m in product((1, 2, 3), SOME[:9])]
    p = rows(33, 50, steps=10, graded=True)
    for scale, name in product((1.0, 9.0), SOME[:24]):
        yield tried(interval, name, scale * p["loss"], p["confidence"], n_resamples=40)


def standard_errors():
    """Return standard errors of all metrics in all designs."""
    cases = product(kinds(34, 48, steps=9), SOME)
    return [tried(inference.standard_error, name, **columns) for (_, columns), name in cases]


def influences():
    """Return the influence of each row on every metric, of losses of two kinds."""
    for seed, steps, graded in ((35, 0, False), (36, 6, False), (37, 5, True)):
        p = rows(seed, 14, steps=steps, graded=graded)
        for weight, name in product((None, p["sample_weight"]), SOME):
            yield tried(inference.influence, name, p["loss"], p["confidence"], sample_weight=weight)


def proportions():
    """Return exact intervals of proportions, adjusted p-values and rank correlations."""
    counts = ((0, 1), (0, 30), (7, 30), (30, 30), (3, 5000))
    for (k, n), level, side in product(counts, (0.8, 0.95), ("two-sided", "upper", "lower")):
        yield inference.clopper_pearson(k, n, level, side=side)
    yield [inference.holm(each) for each in ([0.01, 0.04, 0.03, 0.5], [0.2], [0.6, 0.9, 0.0], [])]
    several = (([1, 2, 3, 4], [1, 3, 2, 4]), ([1, 1, 2, 3], [2, 2, 1, 3]), ([1, 1], [2, 3]), ([1], [2]))
    yield [tried(inference.kendall_tau, a, b) for a, b in several]
    wilcoxon = inference.wilcoxon_over_resamples
    for k, direction in product((1, 2), ("lower", "higher")):
        yield tried(wilcoxon, np.random.default_rng(k).normal([[0.0], [0.4], [0.5]], 1.0, (3, 9)), direction)
    tied = [[0, 0, 1, 2, 2], [0, 1, 1, 0, 2], [1, 1, 1, 1, 1]]
    yield [tried(wilcoxon, each) for each in (tied, [[1.0, 2.0], [2.0, 1.0]])]


def bootstraps():
    """Return bootstraps, by design, with what is undefined in some resamples."""
    names = ("augrc", "aurc", "auroc_f", "f1_auc", "fpr95_error")
    for (_, columns), name, backend in product(kinds(39, 40, steps=8), names, ("auto", "numpy")):
        result = inference.bootstrap(name, **columns, n_resamples=20, rng=5, backend=backend)
        facts = [result.estimate, result.replicates, result.method, result.df, result.warning, result.rests_on]
        ends = [tried(result.interval, level=each) for each in (0.5, 0.9)]
        yield [*facts, result.n_undefined, result.standard_error, ends]
    few = (np.arange(30) == 4) * 1.0, np.arange(30) % 11
    for method in ("percentile", "bca"):
        yield tried(inference.confidence_interval, "auroc_f", *few, method=method, n_resamples=1000)


def replicates_and_covariances():
    """Return replicates of several metrics of two scores, and the covariance of three metrics, in each design."""
    other = rows(41, 30)["other"]
    for (kind, columns), backend in product(kinds(40, 30, steps=6), ("auto", "numpy")):
        pair, design = [(columns["loss"], columns["confidence"]), (columns["loss"], other)], dict(columns)
        del design["loss"], design["confidence"]
        given = {"n_resamples": 6, "rng": 2, "backend": backend, **design}
        yield f"{kind} {backend}", tried(inference.replicates, ["augrc", "auroc_f", "risk"], pair, **given)
    for kind, columns in [(kind, dict(columns)) for kind, columns in kinds(38, 40, steps=8)]:
        pair, weight = (columns.pop("loss"), columns.pop("confidence")), columns.get("sample_weight")
        terms = [inference.influence(m, *pair, sample_weight=weight) for m in ("risk", "augrc", "auroc_f")]
        yield kind, inference.covariance(*terms, **columns)


def few_units():
    """Return errors and intervals of few clusters and strata, of weights of 0, and of one unit that decides."""
    n, p = np.arange(36), rows(42, 36, steps=9)
    nothing = np.where(n % 5 == 2, 0.0, p["sample_weight"])
    designs = [{"clusters": n % k} for k in (1, 2, 3, 6, 18)] + [{"strata": n % k} for k in (1, 2, 12, 18)]
    designs += [{"sample_weight": each} for each in (nothing, np.where(n == 7, 30.0, 1.0), nothing / 50.0)]
    designs += [{"clusters": np.where(n < 25, 0, n)}]
    designs += [{"sample_weight": nothing, "clusters": n // 3}, {"strata": n % 2, "clusters": n % 12}]
    for given, metric in product(designs, ("augrc", "aurc", "risk", "auroc_f", "coverage_at_risk(risk=0.2)")):
        for scale, unseen in ((1.0, {}), (0.0, {"unseen": "random"}), (0.0, {"unseen": "top"})):
            columns = {"loss": scale * p["loss"], "confidence": p["confidence"], "n_resamples": 40, **given}
            yield tried(inference.confidence_interval, metric, **columns, **unseen)


def bands_of_clusters():
    """Return bands of few and of many clusters, of which a few more may be wrong as a whole or alike."""
    p, ways = rows(43, 60, steps=6), ("pointwise", "simultaneous")
    for units, wrong, unseen, kind in product((4, 6, 9, 19, 30), (0, 1, 5), ("whole", "alike"), ways):
        loss = np.where(np.arange(60) % units < wrong, p["loss"], 0.0)
        given = {"clusters": np.arange(60) % units, "unseen": unseen, "kind": kind}
        band = tried(inference.risk_band, loss, p["confidence"], n_draws=100, **given)
        yield band if isinstance(band, str) else [band.low, band.high, band.rests_on, band.warning]


def _band(found, risks=(0.0, 0.1, 0.3)):
    """Return a band with its readings along and across."""
    if isinstance(found, str):
        return found
    along = [found.at(each) for each in (-1.0, 0.35, 0.6, 5.0)]
    across = [found.coverage_at_risk_interval(each) for each in risks]
    facts = [found.unit, found.risk_kind, found.kind, found.method, found.level, found.min_coverage, found.warning]
    return [found.table(), facts, along, across, len(found)]


def bands():
    """Return bands of each kind and method, with weights, clusters, graded and large losses."""
    methods = [("pointwise", each) for each in ("auto", "clopper-pearson", "influence")]
    methods += [("simultaneous", each) for each in ("auto", "multiplier", "dkw")]
    columns, kinds = ((), ("sample_weight",), ("clusters",)), ("pointwise", "simultaneous")
    for seed, (kind, method), risk, names in product((71, 72), methods, ("selective", "generalized"), columns):
        p = rows(seed, 36, steps=7 * (seed == 72), graded=seed == 72)
        given = {name: p[name] for name in names} | {"kind": kind, "method": method, "risk": risk, "level": 0.9}
        yield _band(tried(inference.risk_band, p["loss"], p["confidence"], n_draws=100, **given))
    for k, kind in product((0, 1, 36), kinds):
        loss, score = (np.arange(36) < k) * 1.0, (7.0 * np.arange(36)) % 12
        yield _band(tried(inference.risk_band, loss, score, kind=kind, n_draws=100))
    p = rows(73, 40, steps=8, graded=True)
    for least in (0.0, 0.4, 1.0):
        given = {"kind": "simultaneous", "min_coverage": least, "n_draws": 100, "rng": 9}
        yield _band(tried(inference.risk_band, 6.0 * p["loss"], p["confidence"], **given))
    nothing = np.where(np.arange(40) % 5 == 2, 0.0, p["sample_weight"])
    for units, kind in product((1, 2, 3, 8), kinds):
        given = {"clusters": np.arange(40) % units, "sample_weight": nothing, "kind": kind, "n_draws": 100}
        yield _band(tried(inference.risk_band, p["loss"], p["confidence"], **given))
    yield _band(tried(inference.risk_band, [1.0], [0.5]))
    yield _band(inference.risk_band(p["loss"], p["confidence"], clusters=np.arange(40) // 9))


def planners():
    """Return sizes of samples and what they detect, from standard deviations and from pilots."""
    p, small = rows(74, 160), rows(75, 30)
    alone, found = (p["loss"], p["confidence"]), []
    pilots = (*alone, p["other"]), ((p["loss"], np.roll(p["loss"], 3)), p["confidence"], p["other"])
    for power, level in product((0.5, 0.8, 0.95), (0.8, 0.99)):
        given, differences = {"power": power, "level": level}, ((0.01, 0.2), (-0.4, 0.1), (3.0, 0.5))
        found.append([inference.samples_for_difference(d, sd=s, **given) for d, s in differences])
        found.append([inference.detectable_difference(n, sd=0.3, **given) for n in (2, 50, 10**6)])
    for metric in ("augrc", "auroc_f", "aurc", "risk", "e_aurc", "selective_risk(coverage=0.5)", "coverage_at_risk"):
        for pilot in (*pilots, (small["loss"], small["confidence"], small["other"])):
            more = {"pilot": pilot, "metric": metric}
            found.append(tried(inference.influence_sd, pilot, metric))
            found.append(tried(inference.samples_for_difference, 0.02, **more))
            found.append(tried(inference.detectable_difference, 500, **more, power=0.9))
        for width, level in product((0.3, 0.1, 0.02), (0.8, 0.95)):
            found.append(tried(inference.samples_for_width, width, alone, metric, level=level))
        found.append(tried(inference.influence_sd, alone, metric))
    few = (np.zeros(50), np.arange(50)), ((np.arange(80) % 6 == 1) * 1.0, np.arange(80) % 13)
    return found + [tried(inference.samples_for_width, 0.05, *each) for each in product(few, ("augrc", "risk", "aurc"))]


def curves():
    """Return curves with their tables, hulls and operating points; also of few rows, of no and only errors."""
    asked = [{"coverage": each} for each in (0.0, 0.3, 0.5, 0.65, 1.0)]
    asked += [{"risk": each} for each in (0.0, 0.1, 0.2, 0.5, 1.0)]
    asked += [{"threshold": each} for each in (-1.0, 0.5, 0.75, 2.0)]
    n, given = np.arange(8.0), []
    pairs = [([1.0], [0.3]), ([0.0, 1.0], [1.0, 1.0]), (n * 0.0, n), (n * 0.0 + 1.0, n), (n % 2, n * 0.0), (n, -n)]
    for seed, steps, graded in ((76, 0, False), (77, 6, False), (78, 8, True)):
        p = rows(seed, 30, steps=steps, graded=graded)
        gaps, weight = p["confidence"].copy(), {"sample_weight": p["sample_weight"]}
        gaps[[2, 9]] = np.nan
        given += [(p["loss"], p["confidence"], more) for more in ({}, weight)]
        given += [(p["loss"], gaps, more) for more in ({"nan_policy": "reject"}, {"nan_policy": "drop", **weight})]
    for loss, score, more in [*given, *((*pair, {}) for pair in pairs)]:
        curve = abstain.risk_coverage_curve(loss, score, **more)
        at = [[tried(each.at, **point) for point in asked] for each in (curve, curve.hull())]
        yield [curve.table(), curve.n_accepted, curve.hull().table(), at]


def losses():
    """Return losses of predictions, with options and what is clipped."""
    p = rows(79, 12)
    labels, matrix, guess = p["labels"], p["probabilities"], p["probabilities"].argmax(axis=1)
    costs, masks = np.arange(16.0).reshape(4, 4) / 4.0, np.random.default_rng(3).random((2, 5, 4, 4)) < 0.4
    masks[:, 1], masks[0, 2], masks[1, 3] = False, False, False
    out, named = (np.arange(12) % 3 == 0) * 1, (["cat", "dog", "cat"], ["dog", "dog", "cat"])
    of = abstain.losses
    yield [of.zero_one(labels, guess), of.zero_one(*named), tried(of.zero_one, labels, matrix)]
    yield [of.brier(labels, matrix), of.cross_entropy(labels, matrix), of.cross_entropy(labels, matrix, clip=0.2)]
    yield [of.cross_entropy(labels, logits=np.log(matrix) * by) for by in (3.0, 300.0)]
    yield of.cross_entropy([0, 1, 1], [[1.0, 0.0], [1.0, 0.0], [0.25, 0.75]])
    yield tried(of.cross_entropy, labels, matrix, logits=matrix)
    yield [of.cost_matrix(labels, guess, costs), tried(of.cost_matrix, [0, 5], [1, 1], costs)]
    yield [of.dice(*masks), of.dice(*masks[:, :, 0]), tried(of.dice, masks[0], masks[1, :2])]
    yield [of.ood_cost(p["loss"], out, *more) for more in ((), (0.25,), (7,))]


def asserted_risks():
    """Return the certified thresholds of a test of a selective risk, and its refusals."""
    p = rows(80, 600)
    columns = {"loss": p["loss"] * (p["confidence"] < 0.7), "confidence": p["confidence"]}
    for risk, delta, coverage in ((0.05, 0.05, 0.0), (0.1, 0.2, 0.3), (0.3, 0.1, 0.9), (0.001, 0.05, 0.5)):
        try:
            yield testing.assert_selective_risk(columns, risk, delta, coverage=coverage)
        except AssertionError as why:
            yield str(why)


def metrics_of_many_rows():
    """Return metrics of more rows than are summed at once."""
    p = rows(141, 140_001)
    tables = [abstain.TieBlocks.from_samples(p["loss"], p["confidence"], *w) for w in ((), (p["sample_weight"],))]
    for name in [*OF_SCORES, "aurc(estimator=log)", "aurc(estimator=trapezoid)", "augrc(coverage_range=(0.2,0.6))"]:
        if name not in ("generalized_risk", "selective_accuracy", "selective_risk"):
            yield name, [tried(abstain.metrics.parse(name), each) for each in tables]


def inference_on_many_rows():
    """Return errors, intervals and sums of influence of more rows than are held at once."""
    p = rows(142, 70_000)
    for names, metric in (((), "augrc"), ((), "aurc"), (("sample_weight",), "augrc"), (("clusters",), "aurc")):
        yield inference.confidence_interval(metric, p["loss"], p["confidence"], **{name: p[name] for name in names})
    terms = inference.influence("aurc", p["loss"], p["confidence"])
    yield [terms[::7000], float(np.abs(terms).sum()), inference.covariance(terms, p["loss"])]


def tests_with_many_errors():
    """Return comparisons, margins and groups where errors are many, so that nothing is swapped."""
    scores, p = scores_and_rows(143, 900, 3)
    loss, two = np.where(p["other"] < 0.3, 1.0, p["loss"]), {name: scores[name] for name in "ab"}
    for metric in ("augrc", "auroc_f", "selective_risk(coverage=0.5)"):
        for names in ((), ("sample_weight",), ("sample_weight", "clusters")):
            given = {name: p[name] for name in names} or {"adjust": "max-t"}
            yield rows_of(abstain.compare(loss, scores, metric, **given))
        yield rows_of(abstain.compare(loss, scores, metric, adjust="holm"))
        for claim in ("non-inferior", "equivalent"):
            yield rows_of(inference.non_inferiority(loss, two, metric, margin=0.02, claim=claim))
        yield rows_of(inference.compare_groups(loss, scores["a"], p["groups"], metric))
    for runs, metric, paired in product((0, 3), ("augrc", "risk", "auroc_f"), (True, False)):
        yield rows_of(abstain.compare(*models(144 + runs, 700, runs), metric, paired_runs=paired))


def many_resamples():
    """Return intervals from more resamples than are drawn at once, and from few; coverages of nearly all rows."""
    p, rng, n = rows(145, 300), np.random.default_rng(148), np.arange(300)
    for metric, method in product(("augrc", "auroc_f"), ("percentile", "bca")):
        given = {"method": method, "n_resamples": 1200}
        yield tried(inference.confidence_interval, metric, p["loss"], p["confidence"], **given)
    for errors in (3, 30):
        loss = (n < errors) * 1.0
        scores = {"knows": 0.1 * rng.random(300) - loss, "wrong": loss + 0.1 * rng.random(300)}
        for level in (0.8, 0.99):
            given = {"n_resamples": 60, "level": level}
            yield rows_of(tried(abstain.compare, loss, scores, "coverage_at_risk(risk=0.02)", **given))
    for errors, resamples in product((3, 4, 5, 6, 7), (3, 19, 39, 1000)):
        given = {"n_resamples": resamples, "method": "percentile", "level": 0.5 if resamples == 3 else 0.9}
        yield tried(inference.confidence_interval, "auroc_f", (n < errors) * 1.0, (7.0 * n) % 300, **given)


def many_thresholds():
    """Return bands over more thresholds than are drawn, or computed, at once."""
    p, wide = rows(146, 3000), rows(147, 25_000)
    cases = [("pointwise", "auto"), ("pointwise", "influence"), ("simultaneous", "auto"), ("simultaneous", "dkw")]
    for (kind, method), names in product(cases, ((), ("clusters",))):
        given = {name: p[name] for name in names} | {"kind": kind, "method": method, "n_draws": 150}
        band = tried(inference.risk_band, p["loss"], p["confidence"], **given)
        yield band if isinstance(band, str) else [band.at(each) for each in (0.1, 0.5, 0.9)]
    band = inference.risk_band(wide["loss"], wide["confidence"])
    yield [band.low[::2000], band.high[::2000], len(band)]


def runs_in_every_design():
    """Return comparisons and rankings of several runs, of equal and of unlike numbers, by each route."""
    (losses, scores), n = models(149, 60, 4), np.arange(60)
    uneven = {"x": losses["x"], "y": losses["y"][:2]}, {"x": scores["x"], "y": scores["y"][:2]}
    designs = [{}, {"clusters": np.sqrt(3.0 * n) // 1}, {"strata": n % 3}]
    for design in [*designs, {"sample_weight": 1.0 + n % 2, "clusters": n // 5}]:
        for metric in ("augrc", "f1_auc", "coverage_at_risk(risk=0.3)", "auroc_f", "accuracy"):
            given = {"n_resamples": 20, **design}
            yield rows_of(tried(abstain.compare, losses, scores, metric, **given))
            yield rows_of(tried(abstain.compare, *uneven, metric, paired_runs=False, **given))
        yield rows_of(tried(inference.non_inferiority, losses, scores, "augrc", margin=0.1, **design))
        yield rows_of(abstain.compare(losses["x"], scores, "augrc", adjust="max-t", **design))


def many_groups_and_pairs():
    """Return evaluations by many groups, and comparisons of more pairs than a table shows."""
    p, rng = rows(161, 900), np.random.default_rng(161)
    for number in (7, 25, 45):
        given = {"loss": p["loss"], "confidence": p["confidence"], "groups": {"site": rng.integers(0, number, 900)}}
        result = abstain.evaluate(**given, metrics=["augrc", "auroc_f"])
        yield shown(result) if number == 25 else [result.verdict, result.notes()]
    yield shown(inference.compare_groups(p["loss"], p["confidence"], rng.integers(0, 7, 900), "risk"))
    scores = {name: p["confidence"] + 0.1 * j * rng.normal(size=900) for j, name in enumerate("abcdefg")}
    yield shown(abstain.compare(p["loss"], scores, method="influence"))


def resamples_of_many_rows():
    """Return resamples of more rows than are drawn one by one, and of more than are left out one by one."""
    for n, names in product((2500, 5001), ((), ("clusters",), ("sample_weight",), None)):
        p = rows(162, n)
        if names is None:
            bca = {"method": "bca", "n_resamples": 120}
            yield inference.confidence_interval("augrc", p["loss"], p["confidence"], **bca)
        else:
            given = {name: p[name] for name in names} | {"n_resamples": 12}
            pair = [(p["loss"], p["confidence"])] * 2
            yield inference.replicates(["augrc", "aurc", "auroc_f"], pair, **given)[:, 0]
