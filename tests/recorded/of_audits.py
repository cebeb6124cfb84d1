"""Audits, levels and copies of certified thresholds, and what is shown of thresholds, audits, monitors and plans."""

from itertools import product

import numpy as np

import abstain
from abstain import pool, thresholds
from abstain.blocks import TieBlocks
from abstain.live import LiveCertificate
from abstain.monitoring import Monitor
from tests.recorded import shown, tried
from tests.recorded.calls import guaranteed, later
from tests.recorded.contents import chosen, easy, said, shortened, warned, whole

KINDS = {"exact": {"risk": 0.08, "delta": 0.1}, "bound": {"risk": 0.1, "delta": 0.1, "max_loss": 1.5}}
KINDS |= {"cost": {"cost": (5.0, 0.5)}, "none": {"coverage": 0.5}}


def _new(seed, n, shift, graded):
    """Return rows to audit, of which more are wrong by a shift."""
    p = easy(seed, n, graded=graded, share=0.5)
    worse = np.random.default_rng(seed + 9).random(n) < shift
    return p | {"loss": np.where(worse, 1.0, p["loss"])}


def audits():
    """Return audits of thresholds by kind, level, groups and number of rows."""
    for (kind, options), n, shift in product(KINDS.items(), (1, 25, 800), (0.0, 0.06, 0.4)):
        made = abstain.choose_threshold(**chosen(easy(1, 1500, graded=kind == "bound", share=0.5)), **options)
        p, level = _new(n, n, shift, kind == "bound"), 0.6 if shift == 0.06 else 0.95
        for each in ((), ("groups",)):
            yield whole(abstain.audit(made, **chosen(p, *each), level=level), "verdict", "level")


def audits_of_groups_and_clusters():
    """Return audits of guarantees about each group, about clusters, and about rows of clusters; of policies, too."""
    p, limits = easy(2, 2400, share=0.8), {"risk": 0.16, "delta": 0.2}
    found = abstain.choose_threshold(**chosen(p, "groups"), risk=0.1, delta=0.1)
    made = [abstain.choose_threshold(**chosen(p, "clusters"), **limits, **more) for more in ({}, {"max_cluster": 13})]
    for n, shift in product((30, 900), (0.0, 0.03, 0.4)):
        q = _new(n, n, shift, False)
        q["confidence"][::11] = np.nan
        for one in (found, found.policy(score="s", group="g")):
            seen = abstain.audit(one, **chosen(q, "groups"))
            yield [whole(seen), said(seen)]
        for one, more in product(made, ((), ("groups",))):
            yield whole(tried(abstain.audit, one, **chosen(q, "clusters", *more), nan_policy="drop"), "verdict")


def rows_that_were_used_before():
    """Return the warnings of an audit on rows of the calibration, and of a certificate on rows of a selection."""

    def mixed(n, share, old, new):
        return {name: np.where(np.arange(n) < share * n, old[name], new[name]) for name in old}

    for n, steps in product((6, 30, 300, 900), (0, 11, 2000)):
        p, fresh = (chosen(easy(n + k, n, steps=steps)) for k in (0, 1))
        made = abstain.choose_threshold(**p, coverage=0.5)
        parts = [mixed(n, share, p, fresh) for share in (0.0, 0.1, 0.25, 0.6, 1.0)]
        parts += [{name: p[name][: n // 2] for name in p}]
        parts += [{name: np.concatenate([p[name], fresh[name], fresh[name] + 0.0]) for name in p}]
        yield [warned(abstain.audit, made, **rows)[1] for rows in parts]
    for n, steps in product((60, 400), (0, 9)):
        p, fresh = (chosen(easy(7000 + k + n + steps, n, steps=steps)) for k in (0, 1))
        thresholds.remember_selection(**p)
        parts = [mixed(n, share, p, fresh) for share in (0.0, 0.15, 0.2, 0.3, 1.0)]
        yield [warned(abstain.choose_threshold, **rows, risk=0.2, delta=0.1)[1] for rows in parts]


def levels_that_are_certified():
    """Return certificates of several limits, and what is certified in place of a limit that failed."""
    for n, steps, tried_before in product((90, 1500), (0, 7), (1, 3)):
        p = easy(n, n, steps=steps, share=0.8)
        blocks = TieBlocks.from_samples(p["loss"], p["confidence"], nan_policy="reject", keep_samples=True)
        for one in thresholds.certify_levels(blocks, (0.03, 0.08, 0.2), 0.05, tried=tried_before):
            plain = [one.attained, one.threshold, one.coverage, one.needed(), one.least(), *one.chosen()]
            yield f"{n} {steps} {tried_before} {one.risk}", whole(plain, "statement")
        made = abstain.choose_threshold(**chosen(p), risk=0.03, delta=0.05)
        for one in thresholds.certified_instead(made, abstain.RiskCoverageCurve(blocks)):
            yield f"{n} {steps} instead {one.risk:.6g}", [one.delta, whole(one.found, "sketch", "bins", "verdict")]


def copies_of_rows_of_several_columns():
    """Return what is said of copies of rows of which several columns are known."""
    rng = np.random.default_rng(4)
    n = 200
    for copied in (0, 9, 10, 60, 100):
        kept = np.concatenate([np.arange(copied), np.arange(n - copied)])
        score, label = rng.random(n)[kept], rng.integers(0, 5, n)[kept]
        table = TieBlocks.from_samples((label == 0).astype(float), score)
        other = np.where(np.arange(n) < copied // 2, -1.0, rng.random((2, n))[:, kept])
        columns = {"same": [score, label], "text": [np.array(list("abcde"))[label], score], "matrix": [other.T, score]}
        for name, known in columns.items():
            text = thresholds.copied_rows([table], known)
            yield f"{copied} {name}", None if text is None else said(text)


LEFT = ("result", "fingerprint", "sketch", "bins")


@shortened(*LEFT)
def thresholds_as_they_are_shown():
    """Return certificates that hold and fail, by rows and groups, points of these rows, and pairs of scores."""
    p = easy(3, 900, share=0.7)
    missing = np.where(np.arange(900) % 50 == 0, np.nan, p["confidence"])
    cases = {"certified": {"risk": 0.1, "delta": 0.1}, "fails": {"risk": 0.01, "delta": 0.1}}
    cases |= {"bound": {"risk": 0.04, "delta": 0.1, "max_loss": 2.0}, "costs": {"cost": (5.0, 0.5)}}
    cases |= {"point fails": {"risk": 0.0001}, "capacity": {"capacity": (10, 40)}}
    for (name, options), column in product(cases.items(), ((), ("groups",), ("clusters",))):
        given = {**chosen(p, *column), "confidence": missing, "nan_policy": "reject", **options}
        result = abstain.choose_threshold(**given)
        yield f"{name} {column}", [shown(result), len(result.brief()), result.rows()[:1]]
    yield "pair", shown(thresholds.choose_pair(p["loss"], p["confidence"], p["other"], risk=0.1, delta=0.1, rng=1))


@shortened(*LEFT)
def audits_as_they_are_shown():
    """Return audits by kind, groups and shift."""
    p = easy(2, 2400, share=0.8)
    for name, options in {"risk": {"risk": 0.1, "delta": 0.1}, "costs": {"cost": (5.0, 0.5)}}.items():
        plain = abstain.choose_threshold(**chosen(p), **options)
        grouped = abstain.choose_threshold(**chosen(p, "groups"), **options)
        for made, n, worse in product((plain, grouped), (25, 700), (0.0, 0.2)):
            for column in ((), ("groups",)) if made is plain else (("groups",),):
                seen = abstain.audit(made, **chosen(later(n, n, worse=worse), *column))
                yield f"{name} {made is plain} {n} {worse} {column}", shown(seen)


@shortened(*LEFT, "periods")
def monitors_as_they_are_shown():
    """Return monitors by groups, times and change."""
    for columns, worse, timed in product(((), ("groups",)), (0.0, 0.3), (False, True)):
        stream = Monitor(guaranteed(*columns), run_length=300.0, maturity=4.0 if timed else None)
        for k, n in enumerate((300, 900, 40)):
            part = later(10 + k, n, worse=worse * (k > 0), lower=0.4 * worse * k)
            days = {"time": 40.0 * k + np.arange(n) * 30.0 / n, "as_of": 40.0 * k + (31.0 if k == 2 else 39.0)}
            more = days if timed else {}
            result = stream.update(**chosen(part, *columns), **more)
        yield f"{columns} {worse} {timed}", [shown(result), len(result.brief())]
    many = Monitor(guaranteed(risk=None, delta=None, cost=(4.0, 0.5)))
    part = later(30, 600)
    for k in range(30):
        many.update(**{name: column[20 * k : 20 * k + 20] for name, column in chosen(part).items()}, again=True)
    yield "many", shown(many.result())


@shortened(*LEFT)
def plans_and_live_certificates_as_they_are_shown():
    """Return plans of labels, certificates of regions, and live certificates."""
    p = easy(5, 400, share=0.5)
    cases = {"usual": {"n": 50}, "few": {"n": 12, "error_rate": 0.03}, "adaptive": {"n": 60, "design": "adaptive"}}
    cases |= {"region": {"n": 60, "region": 0.5, "design": "uniform"}}
    cases |= {"point": {"n": 60, "metric": "selective_risk(coverage=0.4)"}, "two": {"n": 60, "compare": p["other"]}}
    for name, options in cases.items():
        plan = abstain.plan_labels(p["confidence"], seed=1, **options)
        known = np.where(plan.stage > 0, p["loss"], np.nan)
        stages = [plan] if name == "two" else [plan, plan.extend(known, 10, seed=2)]
        yield name, [[shown(one), one.rows()[:2]] for one in stages]
        if name == "region":
            yield "certified", [shown(pool.certify_region(plan, known, risk=each, delta=0.1)) for each in (0.02, 0.2)]
    for groups, worse in product((None, ["a", "b", "c"]), (0.0, 0.4)):
        live = LiveCertificate(risk=0.1, thresholds=[0.9, 0.6, 0.3], groups=groups, maturity=2.0, run_length=100.0)
        for k in range(3):
            week = later(40 + k, 900, worse=worse * (k > 1))
            more = {} if groups is None else {"groups": week["groups"]}
            more |= {"time": 10.0 * k + np.arange(900) / 200.0, "as_of": 10.0 * k + (5.0 if k == 2 else 9.0)}
            result = live.update(week["confidence"], week["loss"], **more)
            live.policy(score="s", group=None if groups is None else "g")
        yield f"live {groups} {worse}", shown(result)
