"""Thresholds over objectives, procedures, groups, clusters, weights and losses; bands, pairs and candidates."""

from itertools import product

import numpy as np
import polars as pl

import abstain
from abstain import thresholds
from tests.recorded import tried
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
    for n, kind, steps in product((90, 400), ("good", "useless", "turned", "equal"), (0, 8)):
        p = rows(n + steps, n, steps=steps)
        score = {
            "good": p["confidence"],
            "useless": np.roll(p["confidence"], 7),
            "turned": 1.0 - p["confidence"],
            "equal": 0.0 * p["confidence"],
        }[kind]
        for risk in (0.01, 0.08):
            result = abstain.choose_threshold(p["loss"], score, risk=risk, delta=0.1)
            yield f"{n} {kind} {steps} {risk}", [whole(result, *LONG), said(result)]


def certificates_with_losses_that_are_graded():
    """Return certificates by betting, with and without weights, ties and a largest loss above one."""
    for n, steps, largest, weighted in product((80, 900), (0, 6), (1.0, 2.5), (False, True)):
        p = easy(n, n, steps=steps, graded=True, share=1.0)
        weight = np.where(p["sample_weight"] < 0.8, 0.0, p["sample_weight"])
        more = {"sample_weight": weight, "max_weight": 12.0} if weighted else {}
        for risk, unseen in ((0.06, 0.0), (0.12, 0.0), (0.1, 0.01)):
            options = {"risk": risk, "delta": 0.1, "max_loss": largest, "ood_share": unseen}
            yield f"{n} {steps} {largest} {weighted} {risk}", _found(p, **options, **more)


def certificates_of_clusters():
    """Return certificates of clusters that count once, and of rows of clusters of at most some size."""
    for n, steps, graded, most in product((250, 1600), (0, 9), (False, True), (None, 12, 18)):
        p = easy(n, n, steps=steps, graded=graded, share=1.0)
        bound = {"max_loss": 1.5} if graded else {}
        for risk in (0.13, 0.16):
            options = {"risk": risk, "delta": 0.2, "max_cluster": most}
            yield f"{n} {steps} {graded} {most} {risk}", _found(p, "clusters", **options, **bound)


def certificates_of_groups():
    """Return one threshold for each group: of all together, and each by itself."""
    p = easy(3, 2400, share=0.8)
    for name, more in {"plain": {}, "clusters": {"clusters": p["clusters"]}, "bound": {"max_loss": 2.0}}.items():
        for risk in (0.06, 0.1, 0.14):
            given = {**chosen(p, "groups"), "risk": risk, "delta": 0.1, **more}
            for kind in (abstain.choose_threshold, abstain.thresholds.separate_group_thresholds):
                result = kind(**given)
                answered = result.about_answered()
                each = [whole(result, *LONG), whole(result.calibration, "groups"), whole(result.reach), said(result)]
                yield f"{name} {risk} {kind.__name__}", [*each, answered.guarantee()]


SHORT = ("calibration", "verdict", "objective", "level", "full_risk", "best", "n", "risk_limit", "delta")


def bands_and_reach():
    """Return certified bands of the risk, and how far they reach."""
    for limit, upper, coverage in product((0.01, 0.05, 0.3), (0.0, 0.0031, 0.0499, 0.2, 1.0), (0.0, 0.33, 1.0)):
        yield f"{limit} {upper} {coverage}", _reach(thresholds.Reach(limit, upper, coverage, answered=0.7))
    p, outside = easy(6, 500, share=0.5), easy(7, 200)
    columns = {"id_confidence": p["confidence"], "id_detector": p["other"], "ood_confidence": outside["confidence"]}
    joint = abstain.joint.evaluate(p["loss"], **columns, ood_detector=0.5 * outside["other"])
    for limits, delta in product(((0.2, 0.3), (0.6, 0.1), (2.0, 0.0)), (0.05, 0.2)):
        yield f"joint {limits} {delta}", _reach(thresholds.Reach.of_joint(joint, limits, risk=0.15, delta=delta))
    at = np.array([-1.0, 0.0, 0.31, 0.5, 0.77, 0.9, 0.999, 2.0])
    cases = [(1, 0, 0, 0.1), (2, 0, 0, 0.1), (40, 0, 0, 0.05), (900, 0, 0, 0.05), (900, 8, 0, 0.3)]
    for n, steps, graded, delta in (*cases, (900, 0, 1, 0.05), (900, 8, 1, 0.2)):
        p = easy(n, n, steps=steps, graded=bool(graded))
        band = thresholds.certified_band(**chosen(p), delta=delta, max_loss=2.0 if graded else None)
        yield f"{n} {steps} {graded}", [whole(band), whole(band.upper_at(at)), whole(band.upper_at(band.threshold))]
        reaches = [band.reach(each, risk=risk) for each in (0.5, 0.9, 3.0) for risk in (0.03, 0.2, 0.6)]
        yield f"reach {n} {steps} {graded}", [_reach(each) for each in reaches]


def _reach(one):
    numbers = [one.slack, one.ood_share, one.ood_cases(), one.ood_cases(0.4), one.ood_cases(0.0), one.density_ratio]
    numbers += [one.chi_square, one.total_variation, one.subgroup(0.5), one.smallest_subgroup, one.with_ood(0.1)]
    return whole([*vars(one).values(), *numbers, said(one.sentence)])


def two_scores():
    """Return pairs of thresholds, by what is known of rows out of distribution."""
    found = {}
    for seed, n, graded in ((1, 600, False), (2, 2500, False), (3, 2500, True)):
        p = easy(seed, n, graded=graded, share=0.5)
        outside = np.arange(n) % 5 == 0
        loss, other = np.where(outside, 1.0, p["loss"]), np.where(outside, 0.4 * p["other"], p["other"])
        other[::17] = np.nan
        bound = {"max_loss": 1.2} if graded else {}
        for risk, delta in ((0.05, 0.1), (0.12, 0.05)):
            cases = {"plain": {}, "fixed": {"second_threshold": 0.3}, "known": {"is_ood": outside}}
            cases |= {"none": {"is_ood": np.zeros(n, dtype=bool)}, "rare": {"is_ood": outside, "prevalence": 0.04}}
            cases |= {"often": {"is_ood": outside, "prevalence": 0.5}}
            cases |= {"nearly all": {"is_ood": outside, "prevalence": 0.999}}
            cases |= {"both": {"is_ood": outside, "prevalence": 0.1, "second_threshold": 0.35}}
            for name, more in cases.items():
                given = {"risk": risk, "delta": delta, "rng": seed, **more, **bound}
                pair = thresholds.choose_pair(loss, p["confidence"], other, **given)
                counts = [int(pair.accept(p["confidence"], other).sum()), said(pair), pair.rows()]
                short = (*SHORT[:-3], "attained", "statement", "prevalence")
                found[f"{seed} {risk} {name}"] = [whole(pair, *short), whole(counts), _reach(pair.reach)]
                made = pair.policy(score="msp", second="softmax_margin", second_computed=True, logits=["a", "b"])
                plain = pair.policy(score="s", second="t", second_uncertainty=name == "fixed")
                found[f"{seed} {risk} {name}"] += [made.second, plain.second, plain.thresholds]
    return found


def candidates_and_metrics():
    """Return what is chosen among candidates, and the thresholds of the largest CWSA."""
    for n, many, graded in product((400, 1000), (2, 3, 5, 6), (False, True)):
        p = easy(n, n, graded=graded, share=0.4)
        mix = {f"s{k}": p["confidence"] * (1.0 - 0.15 * k) + 0.15 * k * p["other"] for k in range(many)}
        bound = {"max_loss": 1.5} if graded else {}
        for risk in (0.05, 0.15):
            made = abstain.choose_among(p["loss"], mix, risk=risk, delta=0.1, rng=4, **bound)
            short = [made.name, made.rule, made.seed, {name: one.threshold for name, one in made.each.items()}]
            yield f"among {n} {many} {graded} {risk}", whole([*short, made.found.coverage, made.found.delta])
    for steps, metric, column in product((0, 9), ("cwsa", "cwsa_plus"), ((), ("sample_weight",), ("groups",))):
        for shift in (0.0, 0.4, 5.0):
            p = rows(steps, 120, steps=steps)
            given = chosen(p, *column) | {"confidence": p["confidence"] + shift}
            result = tried(thresholds.cwsa_threshold, **given, metric=metric)
            yield f"{metric} {steps} {column} {shift}", whole(result, *SHORT)


def plans_of_certificates():
    """Return how many rows a certificate takes, from a pilot."""
    for steps, risk, coverage in ((8, 0.25, 0.3),):
        p = rows(4, 40, steps=steps)
        plan = thresholds.plan_certificate(**chosen(p), risk=risk, delta=0.1, coverage=coverage, rng=3)
        yield f"{steps} {risk} {coverage}", whole(plan)


SIZES = ((1, 0), (2, 0), (60, 0), (500, 0), (500, 9), (1800, 0), (1800, 30))
LIMITS = ((0.02, 0.05), (0.07, 0.1), (0.2, 0.25), (0.8, 0.3))


def procedures_of_right_and_wrong():
    """Return what the exact procedures of papers certify."""
    kinds = ("sgr", "fixed_sequence", "bonferroni", "prespecified")
    for (n, steps), (risk, delta), kind in product(SIZES, LIMITS, kinds):
        if (n < 3) != (risk > 0.5):
            continue
        p = chosen(easy(n, n, steps=steps, share=0.5))
        for fixed in (None, [0.9, 0.6, 0.3, 0.05, -np.inf, 0.6], np.linspace(0.0, 1.0, 11)):
            more = {} if fixed is None else {"thresholds": fixed}
            if (kind == "sgr") != (fixed is None) and kind in ("sgr", "prespecified"):
                continue
            result = tried(getattr(thresholds, f"{kind}_threshold"), **p, risk=risk, delta=delta, **more)
            yield f"{n} {steps} {risk} {kind} {np.size(fixed)}", whole(result, *SHORT, "attained", "statement")


def scores_that_are_refused():
    """Return what the procedures make of scores that are missing or infinite."""
    p = chosen(easy(5, 300))
    for odd, policy in product((np.nan, np.inf, -np.inf), ("raise", "reject", "drop")):
        score = np.where(np.arange(300) % 29 == 0, odd, p["confidence"])
        given = {"loss": p["loss"], "confidence": score, "risk": 0.15, "delta": 0.1, "nan_policy": policy}
        each = [
            tried(getattr(thresholds, f"{kind}_threshold"), **given) for kind in ("sgr", "fixed_sequence", "bonferroni")
        ]
        each.append(tried(thresholds.prespecified_threshold, thresholds=[0.9, 0.5], **given))
        del given["delta"]
        each.append(tried(thresholds.conformal_threshold, **given))
        yield f"{odd} {policy}", [whole(one, *SHORT) for one in each]


def procedures_of_other_losses():
    """Return what bounds of other losses, weights and clusters certify at fixed thresholds and at fixed ranks."""
    at = [0.85, 0.5, 0.2]
    for n, graded, largest in product((200, 1500), (False, True), (1.0, 2.0)):
        p = easy(n, n, graded=graded)
        weights = {"sample_weight": p["sample_weight"] * (np.arange(n) % 4 > 0), "max_weight": 14.0}
        for risk, more in product((0.15, 0.35), ({}, weights)):
            options = {**chosen(p), "risk": risk, "delta": 0.1, "max_loss": largest, **more}
            each = [tried(thresholds.prespecified_threshold, thresholds=at, **options)]
            each.append(tried(thresholds.prespecified_threshold, thresholds=at, bound="hoeffding-bentkus", **options))
            for fixed in (None, at):
                bound = {"bound": "hoeffding-bentkus", "thresholds": fixed}
                each.append(tried(thresholds.bonferroni_threshold, **options, **bound))
            if not more:
                options |= {"clusters": p["clusters"]}
                each.append(tried(thresholds.prespecified_threshold, thresholds=at, **options))
            yield f"{n} {graded} {largest} {risk} {len(more)}", [whole(one, *SHORT, "statement") for one in each]


def thresholds_of_other_risks():
    """Return conditional, conformal and prior thresholds."""
    for seed, graded, steps in product((1, 2), (False, True), (0, 7)):
        p = easy(seed, 700, graded=graded, steps=steps)
        name, where, bound = f"{seed} {graded} {steps}", p["groups"] != "a", {"max_loss": 1.5} if graded else {}
        for risk in (0.05, 0.15, 0.4):
            given = {**chosen(p), "where": where, "what": "some rows", "risk": risk, "delta": 0.1, **bound}
            for more in ({}, {"clusters": p["clusters"]}):
                result = tried(thresholds.conditional_threshold, **given, **more)
                found = [whole(result, "sketch", "fingerprint", "bins", "verdict"), said(result)]
                yield f"conditional {name} {risk} {len(more)}", found
        for risk in (0.0005, bound.get("max_loss", 1.0) / 701.0, 0.02, 0.05, 0.2):
            result = thresholds.conformal_threshold(**chosen(p), risk=risk, **bound)
            yield f"conformal {name} {risk:.6f}", [whole(result), said(result.reason)]


def thresholds_of_known_priors():
    """Return prior thresholds over priors, grids, limits and largest losses."""
    priors = ({0: 0.25, 1: 0.25, 2: 0.25, 3: 0.25}, {0: 0.7, 1: 0.1, 2: 0.2, 3: 0.0}, {0: 0.1, 1: 0.2, 2: 0.3, 3: 0.4})
    for n, (k, prior), risk, delta in product((300, 4000), enumerate(priors), (0.05, 0.1, 0.2), (0.05, 0.3)):
        p = easy(n, n, graded=n == 300)
        for grid in ({"thresholds": np.linspace(0.05, 0.95, 19)}, {"scores": p["other"]}):
            for largest in (1.0, 1.5):
                given = {**chosen(p, "labels"), "prior": prior, "risk": risk, "delta": delta, "max_loss": largest}
                at = thresholds.prior_threshold(**given, **grid)
                yield f"{n} {k} {risk} {delta} {list(grid)} {largest}", whole(at)


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
        yield f"{name} {steps} {objective}", [whole(result, *short), steps or said(result)]


def rows_without_a_score():
    """Return what missing and infinite scores do."""
    p = easy(5, 200)
    score = p["confidence"].copy()
    score[::9], score[4::50] = np.nan, -np.inf
    for policy, delta, column in product(("raise", "reject", "drop"), (None, 0.2), ((), ("clusters",), ("groups",))):
        given = {**chosen(p, *column), "confidence": score, "risk": 0.15, "delta": delta, "nan_policy": policy}
        result = tried(abstain.choose_threshold, **given)
        yield f"{policy} {delta} {column}", [whole(result), said(result)]
    nothing = {"loss": p["loss"], "confidence": np.full(200, -np.inf)}
    certificate = {"risk": 0.1, "delta": 0.1}
    for objective in ({"risk": 0.1}, {"coverage": 0.5}, {"cost": (1.0, 0.1)}, {"capacity": 0.0}, certificate):
        yield f"nothing {objective}", whole(tried(abstain.choose_threshold, **nothing, **objective))
        given = {"loss": p["loss"], "confidence": score, "nan_policy": "reject", **objective}
        yield f"some {objective}", whole(abstain.choose_threshold(**given), *LONG)
    alone = np.where(p["clusters"] % 5 == 0, np.nan, p["confidence"])  # whole clusters without a score
    alone[p["clusters"] > 40] = np.nan
    for most in (None, 30):
        given = {**chosen(p, "clusters"), "confidence": alone, "risk": 0.25, "delta": 0.3, "max_cluster": most}
        yield f"clusters {most}", whole(abstain.choose_threshold(**given, nan_policy="reject"))


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
    for name, more in cases.items():
        yield name, whole(abstain.choose_threshold(frame=frame, **names, **more))
    odd = [{"loss": [0.0, 1.0]}, {"confidence": ["confidence"]}, {"groups": ["g"]}, {"clusters": 3}]
    for more in (*odd, {"labels": "no"}, {"confidence": "no"}, {"groups": "no"}, {"max_cluster": 3}):
        yield str(more), tried(abstain.choose_threshold, frame=frame, **(names | {"risk": 0.1, "delta": 0.1} | more))


def warnings_about_rows():
    """Return the warnings of odd columns of scores and of groups."""
    rng = np.random.default_rng(2)
    n = 400
    score, wrong = rng.random(n), rng.random(n) < 0.02
    few, unit = np.arange(n) < 20, np.arange(n) / (n - 1.0)
    columns = {"five digits": np.round(score, 5), "eight digits": np.round(score, 8)}
    columns |= {"few values": score[:39].repeat(11)[:n], "more values": score[:41].repeat(10)[:n]}
    columns |= {"no zero": np.where(few, -1.0, unit), "half a step": np.where(few, -1.0, -0.5 + 0.1 * unit)}
    columns |= {"above half a step": np.where(few, -1.0, -0.4999 + 0.1 * unit)}
    columns |= {"two codes": np.where(few, -1.0, np.where(np.arange(n) < 27, 99.0, 0.3 * unit))}
    columns |= {"nines": np.where(few, 99.99, unit)}
    columns |= {"infinite": np.where(few, -np.inf, np.where(np.arange(n) < 30, -9.0, unit))}
    columns |= {"twenty cents": np.where(few, 100.0 * (1.0 - 0.5 * score), unit)}
    columns |= {"twenty fractions": np.where(few, unit, 20.0 + 80.0 * unit)}
    columns |= {"up to ten": np.where(np.arange(n) < 100, 10.0, unit)}
    columns |= {"above ten": np.where(np.arange(n) < 100, 10.01 + unit, unit)}
    columns |= {"above hundred": np.where(np.arange(n) < 100, 100.01, unit)}
    columns |= {"one is a fraction": np.where(np.arange(n) < 100, 50.0, np.where(few[::-1], 1.0, 0.5 + score))}
    columns |= {"a third between": np.where(np.arange(n) < 60, 50.0, np.where(np.arange(n) < 80, 5.0, unit))}
    columns |= {"less between": np.where(np.arange(n) < 60, 50.0, np.where(np.arange(n) < 79, 5.0, unit))}
    columns |= {"sentinel -1": np.where(np.arange(n) < 7, -1.0, score + 1.2)}
    columns |= {"sentinel 999": np.where(np.arange(n) < 3, 999.0, score)}
    columns |= {"sentinel near": np.where(np.arange(n) < 3, 9.0, 8.7 * score)}
    columns |= {"no sentinel": np.where(np.arange(n) < 3, 998.0, score)}
    columns |= {"units": np.where(np.arange(n) < 100, 100.0 * score, score)}
    columns |= {"few cents": np.where(np.arange(n) < 19, 100.0 * score, score)}
    columns |= {
        "between": np.where(np.arange(n) < 200, 100.0 * score, np.where(np.arange(n) < 300, score, 5.0 * score))
    }
    columns |= {"copies": np.repeat(score[: n // 2], 2), "few copies": np.concatenate([score[:19], score[: n - 19]])}
    columns |= {"ten copies": np.concatenate([score[:10], score[: n - 10]]), "rounded": np.round(score, 3)}
    columns |= {"single": (1.0 / (1.0 + np.exp(-8.0 * score))).astype(np.float32).astype(float)}
    columns |= {"half": score.astype(np.float16).astype(float), "coarse grid": np.round(score * 3000.0) / 3000.0}
    columns |= {"finer grid": np.round(score * 60000.0) / 60000.0}
    for (name, column), repeated in product(columns.items(), (False, True)):
        loss = np.repeat(wrong[: n // 2], 2) if repeated else wrong
        yield f"{name} {repeated}", warned(abstain.choose_threshold, loss, column, risk=0.1, delta=0.1)[1]
        again = np.concatenate([column, column[::2]])
        given = np.concatenate([loss, loss[::2]])
        yield f"{name} {repeated} again", warned(abstain.choose_threshold, given, again, risk=0.1, delta=0.1)[1]
    groups = {"case": ["A", "a", "b", " b"], "blanks": [" a", "b", "c", "d"], "plain": ["a", "b", "c", "d"]}
    for name, names in groups.items():
        each = np.array(names)[np.arange(n) % 4]
        yield name, warned(abstain.choose_threshold, wrong, score, risk=0.1, delta=0.1, groups=each)[1]
    for k, values in enumerate((np.arange(n) % 21 + 0.5, np.arange(n) % 20 + 0.5, np.arange(n) % 41 / 2.0)):
        yield f"measured {k}", warned(abstain.choose_threshold, wrong, score, risk=0.1, delta=0.1, groups=values)[1]
