"""Audits, levels and copies of certified thresholds."""

from itertools import product

import numpy as np

import abstain
from abstain import thresholds
from abstain.blocks import TieBlocks
from tests.recorded import shown, tried
from tests.recorded.contents import chosen, easy, said, warned, whole

KINDS = {"exact": {"risk": 0.08, "delta": 0.1}, "bound": {"risk": 0.1, "delta": 0.1, "max_loss": 1.5}}
KINDS |= {"cost": {"cost": (5.0, 0.5)}, "none": {"coverage": 0.5}}
LEFT = ("result", "fingerprint", "sketch", "bins")


def _new(seed, n, shift, graded):
    """Return rows to audit, of which more are wrong by a shift."""
    p = easy(seed, n, graded=graded, share=0.5)
    return p | {"loss": np.where(np.random.default_rng(seed + 9).random(n) < shift, 1.0, p["loss"])}


def audits():
    """Return audits of thresholds by kind, level, groups and number of rows."""
    for (kind, options), n, shift in product(KINDS.items(), (1, 25, 800), (0.0, 0.06, 0.4)):
        made = abstain.choose_threshold(**chosen(easy(1, 1500, graded=kind == "bound", share=0.5)), **options)
        p, level = _new(n, n, shift, kind == "bound"), 0.6 if shift == 0.06 else 0.95
        for each in ((), ("groups",)):
            seen = abstain.audit(made, **chosen(p, *each), level=level)
            yield whole([seen, shown(seen)] if n > 1 else seen, *LEFT, "verdict", "level")


def audits_of_groups_and_clusters():
    """Return audits of guarantees about each group, about clusters, and about rows of clusters; of policies, too."""
    p, limits = easy(2, 2400, share=0.8), {"risk": 0.16, "delta": 0.2}
    kinds = ({"risk": 0.1, "delta": 0.1}, KINDS["cost"])
    found, costs = (abstain.choose_threshold(**chosen(p, "groups"), **each) for each in kinds)
    made = [abstain.choose_threshold(**chosen(p, "clusters"), **limits, **more) for more in ({}, {"max_cluster": 13})]
    for n, shift in product((30, 900), (0.0, 0.03, 0.4)):
        q = _new(n, n, shift, False)
        q["confidence"][::11] = np.nan
        for one in (found, found.policy(score="s", group="g"), costs):
            yield whole(shown(abstain.audit(one, **chosen(q, "groups"))))
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
    rng, n = np.random.default_rng(4), 200
    for copied in (0, 9, 10, 60, 100):
        kept = np.concatenate([np.arange(copied), np.arange(n - copied)])
        score, label = rng.random(n)[kept], rng.integers(0, 5, n)[kept]
        table = TieBlocks.from_samples((label == 0).astype(float), score)
        other = np.where(np.arange(n) < copied // 2, -1.0, rng.random((2, n))[:, kept])
        columns = {"same": [score, label], "text": [np.array(list("abcde"))[label], score], "matrix": [other.T, score]}
        for name, known in columns.items():
            text = thresholds.copied_rows([table], known)
            yield f"{copied} {name}", None if text is None else said(text)
