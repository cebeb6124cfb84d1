"""Thresholds over objectives, procedures, groups and losses; bands, pairs and candidates; audits; results as shown."""

from itertools import product

import numpy as np
import polars as pl

import abstain
from abstain import thresholds
from tests.recorded import shown, tried
from tests.recorded.contents import chosen, easy, said, warned, whole
from tests.recorded.populations import rows

LONG = ("fingerprint", "sketch", "bins")
COLUMNS = ("loss", "confidence")


def _found(p, *names, **options):
    result, caught = warned(abstain.choose_threshold, **chosen(p, *names), **options)
    short = (*LONG, "verdict", "objective", "n", "level")
    return result if isinstance(result, str) else [whole(result, *short), whole(result.reach), caught]


def certificates_of_right_and_wrong():
    """Return certificates of 0/1 losses by rows, ties, limit and delta."""
    cases = [(12, 0, 0.3), (30, 0, 0.3), (63, 0, 0.0), (94, 0, 0.1), (120, 6, 0.6), (700, 0, 0.5), (700, 12, 0.2)]
    cases += [(2500, 0, 0.6)]
    for n, steps, share in cases:
        p = easy(n + steps, n, steps=steps, share=share)
        for risk, delta in ((0.02, 0.05), (0.06, 0.1), (0.1, 0.05), (0.25, 0.3)):
            yield f"{n} {steps} {risk}", _found(p, risk=risk, delta=delta)


def certificates_that_say_how_many_rows():
    """Return certificates that fail, of scores that are good, useless or turned."""
    for n, kind, steps, risk in product((90, 400), range(4), (0, 8), (0.01, 0.08)):
        p = rows(n + steps, n, steps=steps)
        score = p["confidence"]
        score = (score, np.roll(score, 7), 1.0 - score, 0.0 * score)[kind]
        yield whole(shown(abstain.choose_threshold(p["loss"], score, risk=risk, delta=0.1)), *LONG)


def certificates_with_losses_that_are_graded():
    """Return certificates by betting, with and without weights, ties and a largest loss above one."""
    for n, steps, largest, weighted in product((80, 900), (0, 6), (1.0, 2.5), (False, True)):
        p = easy(n, n, steps=steps, graded=True, share=1.0)
        weight = np.where(p["sample_weight"] < 0.8, 0.0, p["sample_weight"])
        more = {"sample_weight": weight, "max_weight": 12.0} if weighted else {}
        for risk, unseen in ((0.06, 0.0), (0.12, 0.0), (0.1, 0.01)):
            yield _found(p, risk=risk, delta=0.1, max_loss=largest, ood_share=unseen, **more)


def certificates_of_clusters():
    """Return certificates of clusters that count once, and of rows of clusters of at most some size."""
    for n, steps, graded, most, risk in product((250, 1600), (0, 9), (False, True), (None, 12, 18), (0.13, 0.16)):
        p = easy(n, n, steps=steps, graded=graded, share=1.0)
        options = {"risk": risk, "delta": 0.2, "max_cluster": most} | ({"max_loss": 1.5} if graded else {})
        yield _found(p, "clusters", **options)


def certificates_of_groups():
    """Return one threshold for each group: of all together, and each by itself."""
    p, kinds = easy(3, 2400, share=0.8), (abstain.choose_threshold, thresholds.separate_group_thresholds)
    for more, risk, kind in product(({}, {"clusters": p["clusters"]}, {"max_loss": 2.0}), (0.06, 0.14), kinds):
        result = kind(**chosen(p, "groups"), risk=risk, delta=0.1, **more)
        parts = [whole(shown(result), *LONG), whole(result.calibration, "groups"), whole(result.reach)]
        yield [*parts, result.about_answered().guarantee(), whole(result.rows()[:1])]


SHORT = ("calibration", "verdict", "objective", "level", "full_risk", "best", "n", "risk_limit", "delta")


def bands_and_reach():
    """Return certified bands of the risk, and how far they reach."""
    for limit, upper, coverage in product((0.01, 0.05, 0.3), (0.0, 0.0031, 0.0499, 0.2, 1.0), (0.0, 0.33, 1.0)):
        yield _reach(thresholds.Reach(limit, upper, coverage, answered=0.7))
    p, outside = easy(6, 500, share=0.5), easy(7, 200)
    columns = {"id_confidence": p["confidence"], "id_detector": p["other"], "ood_confidence": outside["confidence"]}
    joint = abstain.joint.evaluate(p["loss"], **columns, ood_detector=0.5 * outside["other"])
    for limits, delta in product(((0.2, 0.3), (0.6, 0.1), (2.0, 0.0)), (0.05, 0.2)):
        yield _reach(thresholds.Reach.of_joint(joint, limits, risk=0.15, delta=delta))
    at = np.array([-1.0, 0.0, 0.31, 0.5, 0.77, 0.9, 0.999, 2.0])
    cases = [(1, 0, 0, 0.1), (2, 0, 0, 0.1), (40, 0, 0, 0.05), (900, 0, 0, 0.05), (900, 8, 0, 0.3)]
    for n, steps, graded, delta in (*cases, (900, 0, 1, 0.05), (900, 8, 1, 0.2)):
        p, largest = easy(n, n, steps=steps, graded=bool(graded)), 2.0 if graded else None
        band = thresholds.certified_band(**chosen(p), delta=delta, max_loss=largest)
        yield [whole(band), whole(band.upper_at(at)), whole(band.upper_at(band.threshold))]
        yield [_reach(band.reach(each, risk=risk)) for each, risk in product((0.5, 0.9, 3.0), (0.03, 0.2, 0.6))]


def _reach(one):
    numbers = [one.slack, one.ood_share, one.ood_cases(), one.ood_cases(0.4), one.ood_cases(0.0), one.density_ratio]
    numbers += [one.chi_square, one.total_variation, one.subgroup(0.5), one.smallest_subgroup, one.with_ood(0.1)]
    return whole([*vars(one).values(), *numbers, said(one.sentence)])


def two_scores():
    """Return pairs of thresholds, by what is known of rows out of distribution."""
    several = ((1, 600, False, 0.12, 0.05), (2, 2500, False, 0.05, 0.1), (3, 2500, True, 0.12, 0.05))
    for seed, n, graded, risk, delta in several:
        p, outside = easy(seed, n, graded=graded, share=0.5), np.arange(n) % 5 == 0
        loss, other = np.where(outside, 1.0, p["loss"]), np.where(outside, 0.4 * p["other"], p["other"])
        other[::17] = np.nan
        cases = [{}, {"second_threshold": 0.3}, {"is_ood": outside}, {"is_ood": outside & (loss < 0.0)}]
        cases += [{"is_ood": outside, "prevalence": share} for share in (0.04, 0.5, 0.999)]
        for more in [*cases, {"is_ood": outside, "prevalence": 0.1, "second_threshold": 0.35}]:
            given = {"risk": risk, "delta": delta, "rng": seed, **more} | ({"max_loss": 1.2} if graded else {})
            pair = thresholds.choose_pair(loss, p["confidence"], other, **given)
            counts = [int(pair.accept(p["confidence"], other).sum()), shown(pair)["cells"], pair.rows(), said(pair)]
            short = whole(pair, *SHORT[:-3], "attained", "statement", "prevalence")
            made = pair.policy(score="msp", second="softmax_margin", second_computed=True, logits=["a", "b"])
            plain = pair.policy(score="s", second="t", second_uncertainty=list(more) == ["second_threshold"])
            yield [short, whole(counts), _reach(pair.reach), made.second, plain.second, plain.thresholds]


def candidates_and_metrics():
    """Return what is chosen among candidates, and the thresholds of the largest CWSA."""
    for (n, graded), many, risk in product(((400, True), (1000, False)), (2, 3, 5, 6), (0.05, 0.15)):
        p = easy(n, n, graded=graded, share=0.4)
        mix = {f"s{k}": p["confidence"] * (1.0 - 0.15 * k) + 0.15 * k * p["other"] for k in range(many)}
        bound = {"max_loss": 1.5} if graded else {}
        made = abstain.choose_among(p["loss"], mix, risk=risk, delta=0.1, rng=4, **bound)
        each = {name: one.threshold for name, one in made.each.items()}
        yield whole([made.name, made.rule, made.seed, each, made.found.coverage, made.found.delta])
    columns = ((), ("sample_weight",), ("groups",))
    for steps, metric, column, shift in product((0, 9), ("cwsa", "cwsa_plus"), columns, (0.0, 0.4, 5.0)):
        p = rows(steps, 120, steps=steps)
        given = chosen(p, *column) | {"confidence": p["confidence"] + shift}
        yield whole(tried(thresholds.cwsa_threshold, **given, metric=metric), *SHORT)


SIZES = ((1, 0), (2, 0), (60, 0), (500, 9), (1200, 0))
LIMITS = ((0.02, 0.05), (0.07, 0.1), (0.2, 0.25), (0.8, 0.3))


def procedures_of_right_and_wrong():
    """Return what the exact procedures of papers certify."""
    several = (None, [0.9, 0.6, 0.3, 0.05, -np.inf, 0.6], np.linspace(0.0, 1.0, 11))
    kinds = ("sgr", "fixed_sequence", "bonferroni", "prespecified")
    for (n, steps), (risk, delta), kind, fixed in product(SIZES, LIMITS, kinds, several):
        if (n < 3) == (risk > 0.5) and ((kind == "sgr") == (fixed is None) or kind not in ("sgr", "prespecified")):
            options = {"risk": risk, "delta": delta} | ({} if fixed is None else {"thresholds": fixed})
            p = chosen(easy(n, n, steps=steps, share=0.5))
            result = tried(getattr(thresholds, f"{kind}_threshold"), **p, **options)
            yield whole(result, *SHORT, "attained", "statement")


def scores_that_are_refused():
    """Return what the procedures make of scores that are missing or infinite."""
    p, kinds = chosen(easy(5, 300)), ("sgr", "fixed_sequence", "bonferroni", "prespecified", "conformal")
    for odd, policy, kind in product((np.nan, np.inf, -np.inf), ("raise", "reject", "drop"), kinds):
        score = np.where(np.arange(300) % 29 == 0, odd, p["confidence"])
        given = {"loss": p["loss"], "confidence": score, "risk": 0.15, "nan_policy": policy}
        given |= {"delta": 0.1} if kind != "conformal" else {}
        given |= {"thresholds": [0.9, 0.5]} if kind == "prespecified" else {}
        yield whole(tried(getattr(thresholds, f"{kind}_threshold"), **given), *SHORT)


def procedures_of_other_losses():
    """Return what bounds of other losses, weights and clusters certify at fixed thresholds and at fixed ranks."""
    at, bound = {"thresholds": [0.85, 0.5, 0.2]}, {"bound": "hoeffding-bentkus"}
    cases = product((200, 1500), ((False, 2.0), (True, 1.0)), (0.15, 0.35), (False, True))
    for n, (graded, largest), risk, weighted in cases:
        p = easy(n, n, graded=graded)
        weights = {"sample_weight": p["sample_weight"] * (np.arange(n) % 4 > 0), "max_weight": 14.0}
        options = {**chosen(p), "risk": risk, "delta": 0.1, "max_loss": largest, **(weights if weighted else {})}
        one, other = thresholds.prespecified_threshold, thresholds.bonferroni_threshold
        calls = [(one, at), (one, at | bound), (other, bound | {"thresholds": None}), (other, at | bound)]
        calls += [] if weighted else [(one, at | {"clusters": p["clusters"]})]
        yield [whole(tried(call, **options, **more), *SHORT, "statement") for call, more in calls]


def thresholds_of_other_risks():
    """Return conditional, conformal and prior thresholds."""
    for seed, graded, steps in product((1, 2), (False, True), (0, 7)):
        p = easy(seed, 700, graded=graded, steps=steps)
        where, bound = p["groups"] != "a", {"max_loss": 1.5} if graded else {}
        for risk, more in product((0.05, 0.15, 0.4), ({}, {"clusters": p["clusters"]})):
            given = {**chosen(p), "where": where, "what": "some rows", "risk": risk, "delta": 0.1, **bound}
            result = tried(thresholds.conditional_threshold, **given, **more)
            yield [whole(result, "sketch", "fingerprint", "bins", "verdict"), said(result)]
        for risk in (0.0005, bound.get("max_loss", 1.0) / 701.0, 0.02, 0.05, 0.2):
            result = thresholds.conformal_threshold(**chosen(p), risk=risk, **bound)
            yield [whole(result), said(result.reason)]


def thresholds_of_known_priors():
    """Return prior thresholds over priors, grids, limits and largest losses."""
    shares = ((0.25, 0.25, 0.25, 0.25), (0.7, 0.1, 0.2, 0.0), (0.1, 0.2, 0.3, 0.4))
    limits = ((0.05, 0.3), (0.1, 0.3), (0.2, 0.05))
    for n, prior, (risk, delta), largest in product((300, 4000), shares, limits, (1.0, 1.5)):
        p = easy(n, n, graded=n == 300)
        for grid in ({"thresholds": np.linspace(0.05, 0.95, 19)}, {"scores": p["other"]}):
            given = {"prior": dict(enumerate(prior)), "risk": risk, "delta": delta, "max_loss": largest, **grid}
            yield whole(thresholds.prior_threshold(**chosen(p, "labels"), **given))


def points_of_these_rows():
    """Return thresholds without a certificate, by objective, with ties, weights, clusters and groups."""
    objectives = [{"risk": each} for each in (0.01, 0.05, 0.2, 1.0)]
    objectives += [{"coverage": each} for each in (0.0, 0.31, 1.0)] + [{"capacity": each} for each in (0.2, (30, 90))]
    objectives += [{"cost": each} for each in ((1.0, 0.05), (10.0, 1.0), (1.0, 2.0), (3.0, 0.0))]
    kinds = {"plain": (), "weights": ("sample_weight",), "clusters": ("clusters",)}
    kinds |= {"groups": ("groups",), "all": ("sample_weight", "clusters")}
    for (name, columns), steps, objective in product(kinds.items(), (0, 5), objectives):
        result = abstain.choose_threshold(**chosen(rows(steps, 90, steps=steps), *columns), **objective)
        short = (*LONG, "n", "objective", "calibration", "verdict", "level", "procedure", "printed", "n_accepted")
        yield f"{name} {steps} {objective}", whole(result if steps else shown(result), *short)


def rows_without_a_score():
    """Return what missing and infinite scores do."""
    p, certificate = easy(5, 200), {"risk": 0.1, "delta": 0.1}
    score, nothing = p["confidence"].copy(), np.full(200, -np.inf)
    score[::9], score[4::50] = np.nan, -np.inf
    for policy, delta, column in product(("raise", "reject", "drop"), (None, 0.2), ((), ("clusters",), ("groups",))):
        given = {**chosen(p, *column), "confidence": score, "risk": 0.15, "delta": delta, "nan_policy": policy}
        result = tried(abstain.choose_threshold, **given)
        yield [whole(result), said(result)]
    for objective in ({"risk": 0.1}, {"coverage": 0.5}, {"cost": (1.0, 0.1)}, {"capacity": 0.0}, certificate):
        yield whole(tried(abstain.choose_threshold, p["loss"], nothing, **objective))
        yield whole(abstain.choose_threshold(p["loss"], score, nan_policy="reject", **objective), *LONG)
    alone = np.where((p["clusters"] % 5 == 0) | (p["clusters"] > 40), np.nan, p["confidence"])  # of whole clusters
    for most in (None, 30):
        given = {**chosen(p, "clusters"), "confidence": alone, "risk": 0.25, "delta": 0.3, "max_cluster": most}
        yield whole(abstain.choose_threshold(**given, nan_policy="reject"))


def rows_that_are_counted():
    """Return thresholds of a lazy frame, which counts rows."""
    p = easy(8, 1500, steps=40)
    frame = pl.DataFrame({name: p[name] for name in COLUMNS}).lazy()
    frame = frame.with_columns(w=pl.Series(np.round(p["sample_weight"], 1) + 0.1))
    frame = frame.with_columns(g=pl.Series(p["groups"]), c=pl.Series(p["clusters"]))
    names = {"loss": "loss", "confidence": "confidence"}
    weighted = {"sample_weight": "w", "max_weight": 15.0, "risk": 0.3, "delta": 0.1}
    cases = {"plain": {"risk": 0.06, "delta": 0.1}, "fails": {"risk": 0.001, "delta": 0.1}}
    cases |= {"bound": {"risk": 0.1, "delta": 0.1, "max_loss": 2.0}, "weights": weighted}
    cases |= {"groups": {"risk": 0.12, "delta": 0.1, "groups": "g"}}
    cases |= {"clusters": {"risk": 0.2, "delta": 0.1, "clusters": "c", "max_cluster": 20}}
    cases |= {"capacity": {"capacity": 0.3}, "by weight": {"coverage": 0.6, "sample_weight": "w"}}
    yield from [(name, whole(abstain.choose_threshold(frame=frame, **names, **more))) for name, more in cases.items()]
    odd = [{"loss": [0.0, 1.0]}, {"confidence": ["confidence"]}, {"groups": ["g"]}, {"clusters": 3}]
    for more in (*odd, {"labels": "no"}, {"confidence": "no"}, {"groups": "no"}, {"max_cluster": 3}):
        yield str(more), tried(abstain.choose_threshold, frame=frame, **(names | {"risk": 0.1, "delta": 0.1} | more))


def warnings_about_rows():
    """Return the warnings of odd columns of scores and of groups."""
    rng, n, k = np.random.default_rng(2), 400, np.arange(400)
    score, wrong = rng.random(n), rng.random(n) < 0.02
    few, unit, low = k < 20, k / (n - 1.0), np.where(k < 20, -1.0, 0.0)
    columns = [np.round(score, 5), np.round(score, 8), score[:39].repeat(11)[:n], score[:41].repeat(10)[:n]]
    columns += [np.where(few, low, other) for other in (unit, -0.5 + 0.1 * unit, -0.4999 + 0.1 * unit)]
    columns += [np.where(few, -1.0, np.where(k < 27, 99.0, 0.3 * unit)), np.where(few, 99.99, unit)]
    columns += [np.where(few, -np.inf, np.where(k < 30, -9.0, unit)), np.where(few, unit, 20.0 + 80.0 * unit)]
    columns += [np.where(few, 100.0 * (1.0 - 0.5 * score), unit), np.where(k < 100, 10.0, unit)]
    columns += [np.where(k < 100, 10.01 + unit, unit), np.where(k < 100, 100.01, unit)]
    columns += [np.where(k < 100, 50.0, np.where(few[::-1], 1.0, 0.5 + score))]
    columns += [np.where(k < 60, 50.0, np.where(k < end, 5.0, unit)) for end in (80, 79)]
    columns += [np.where(k < 7, -1.0, score + 1.2), np.where(k < 3, 999.0, score), np.where(k < 3, 9.0, 8.7 * score)]
    columns += [np.where(k < 3, 998.0, score), *(np.where(k < end, 100.0 * score, score) for end in (100, 19))]
    columns += [np.where(k < 200, 100.0 * score, np.where(k < 300, score, 5.0 * score)), np.repeat(score[: n // 2], 2)]
    columns += [np.concatenate([score[:end], score[: n - end]]) for end in (19, 10)] + [np.round(score, 3)]
    columns += [(1.0 / (1.0 + np.exp(-8.0 * score))).astype(np.float32).astype(float)]
    columns += [score.astype(np.float16).astype(float), *(np.round(score * by) / by for by in (3000.0, 60000.0))]

    def caught(loss, column, **more):
        return warned(abstain.choose_threshold, loss, column, risk=0.1, delta=0.1, **more)[1]

    for column, loss in product(columns, (wrong, np.repeat(wrong[: n // 2], 2))):
        yield [caught(loss, column), caught(*[np.concatenate([each, each[::2]]) for each in (loss, column)])]
    groups = [np.array(each)[k % 4] for each in (["A", "a", "b", " b"], [" a", "b", "c", "d"], ["a", "b", "c", "d"])]
    yield from [caught(wrong, score, groups=each) for each in (*groups, k % 21 + 0.5, k % 20 + 0.5, k % 41 / 2.0)]
