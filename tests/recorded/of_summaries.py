"""Summaries of rows: their bins, bounds and curves, merged, grouped, of two scores, from files and engines."""

import hashlib

import numpy as np

from abstain.summaries import GroupedSummary, JointSummary, Key, Summary, sql
from tests.recorded import shown
from tests.recorded.populations import rows
from tests.recorded.sources import refused

KEYS = [(scale, bits) for scale in ("probability", "real") for bits in (8, 11, 16)]
#: Metrics of what a threshold accepts.
BY = ("selective_risk", "generalized_risk", "selective_accuracy")
FEW = ("augrc", "aurc", "risk", "coverage_at_risk(risk=0.2)", "selective_risk(coverage=0.7)")


def _bins(summary):
    return {name: column.sum() if len(column) > 40 else column for name, column in summary.columns().items()}


def _filled(seed, scale, bits, **options):
    p = rows(seed, 60, **options)
    return Summary(scale, bits).update(p["loss"], p["confidence"]), p


def keys_of_scores():
    """Return the bins of scores at the ends, on the edges and between them."""
    scores = np.array([1.0, 1 - 2.0**-53, 1 - 2.0**-30, 0.99999, 0.96875, 0.75, 0.5, 0.4999, 0.25, 1e-9, 0.0, -np.inf])
    real = np.array(
        [np.inf, 2.0**33, 2.0**32, 2.0**31, 3.0, 1.0, 2.0**-32, 2.0**-33, 0.0, -(2.0**-33), -0.5, -(2.0**33)]
    )
    real = np.append(real, -np.inf)
    yield from (
        {f"{scale}/{bits}": Key(scale, bits).of(scores if scale[0] == "p" else real) for scale, bits in KEYS}
    ).items()
    yield "sizes", [[Key(scale, bits).bins, Key(scale, bits).steps, Key(scale, bits).orders] for scale, bits in KEYS]
    yield "bad", [refused(Key, *each) for each in (("real", 7), ("real", 21), ("other", 16), ("real", 8.5))]
    yield "named", [refused(Key.named, name) for name in ("real/9", "real", "other/9", "probability/x")]
    texts = [sql(Key(scale, bits), confidence='a"b', loss="l", groups=by) for scale, bits in KEYS for by in (None, "g")]
    yield "sql", [hashlib.sha256(text.encode()).hexdigest()[:16] for text in texts]


def bounds_of_metrics():
    """Return results, curves and bins, with ties and without, of 0/1 and graded losses, on both scales."""
    found = {}
    for seed, options in enumerate(({}, {"steps": 6}, {"graded": True}, {"steps": 4, "graded": True})):
        for scale, bits in KEYS[:-1]:
            summary, _ = _filled(seed, scale, bits, **options)
            key = f"{options} {scale} {bits}"
            found[key] = [summary.result(None if bits == 8 else FEW), summary.n_bins, summary.binary, _bins(summary)]
            if bits == 8:
                found[key].append(summary.curve())
    one = Summary().update([0.0, 0.5], [0.7, 0.7])
    found["one bin"] = [shown(one.result()), one.curve(), one.n, str(one).split()]
    right, wrong = (
        Summary().update([0] * 5, np.linspace(0, 1, 5)),
        Summary("real", 8).update([2] * 5, np.linspace(-9, 9, 5)),
    )
    found["all right"], found["all wrong"] = right.result(), [wrong.result(), wrong.curve()]
    return found


def rows_that_are_taken():
    """Return what is left of bad columns, of NaN, of parts that are merged and of none."""
    p, nothing = rows(5, 40), Summary("real", 9)
    holes = np.where(np.arange(40) % 7 == 2, np.nan, p["confidence"])
    bad = [
        ([0.0], [np.nan]),
        ([-1.0], [0.5]),
        ([0.0], [1.5]),
        ([0.0], [-0.5]),
        ([0, 1], [0.5]),
        ([np.inf], [0.5]),
        ([], []),
    ]
    yield "bad", [refused(lambda *each: Summary().update(*each).n, *each) for each in bad]
    yield (
        "policies",
        [
            refused(Summary(scale).update, p["loss"], holes, nan_policy=policy)
            for scale in ("probability", "real")
            for policy in ("raise", "other")
        ],
    )
    rejected = Summary("probability", 8).update(p["loss"], holes, nan_policy="reject")
    yield "rejected", [shown(rejected.result()), _bins(rejected), rejected.curve()]
    parts = [Summary("probability", 8).update(p["loss"][k::3], p["confidence"][k::3]) for k in range(3)]
    merged = parts[0].merge(*parts[1:])
    yield "merged", [_bins(merged), merged.n, parts[0].n, merged.result(FEW)]
    yield "apart", [refused(nothing.merge, other) for other in (Summary("real", 8), Summary(bits=9), JointSummary(), 3)]
    unscored = Summary("real", 8).update([0.0, 1.0], [-np.inf, -np.inf])
    yield (
        "unscored",
        [
            refused(unscored.bounds, each)
            for each in ("aurc", "coverage_at_risk(risk=0.6)", "selective_risk(threshold=0)")
        ],
    )
    yield "none", [refused(nothing.result), refused(nothing.bounds, "aurc"), nothing.n, nothing.n_bins]
    metrics = (
        "ece",
        "cwsa",
        *(f"{name}(threshold={at})" for name in BY for at in (0.05, 0.41, 0.5, 0.77, 2, -1)),
        "nothing",
        "aurc(own)",
        "selective_risk(coverage=0.3)",
        "trust",
        "auroc_f",
    )
    yield "metrics", [refused(merged.bounds, metric) for metric in metrics]


def summaries_of_groups():
    """Return grouped summaries by words and numbers, merged, and what is refused."""
    p = rows(6, 60, steps=7)
    found = {}
    for name, groups in {"words": p["groups"], "numbers": p["labels"], "truths": p["labels"] > 1}.items():
        one = GroupedSummary(name, "real", 9).update(p["loss"][:40], p["confidence"][:40], groups[:40])
        both = one.merge(GroupedSummary(name, "real", 9).update(p["loss"][40:], p["confidence"][40:], groups[40:]))
        found[name] = [shown(both.result(FEW[:3])), both.n, list(both.parts), both.whole.n, str(both).split(), one.n]
        found[f"{name} usual"] = shown(both.result())
    words = GroupedSummary("g", bits=8).update([0, 1], [0.5, 0.6], ["a", "b"])
    found["bad"] = [
        refused(words.update, [0, 1], [0.5, 0.6], each) for each in ([1, 2], ["a"], ["a", None], [np.nan, 1.0])
    ]
    found["bad"] += [
        refused(GroupedSummary, ""),
        refused(GroupedSummary("g", bits=8).result),
        refused(words.merge, Summary()),
    ]
    found["bad"] += [refused(words.merge, GroupedSummary("h", bits=8)), words.n, words.update([], [], []).n]
    many = np.arange(1001)
    found["bad"] += [refused(GroupedSummary("g", bits=8).update, many * 0, many / 2000, many)]
    return found


def summaries_of_two_scores():
    """Return joint summaries, merged and weighted, and what is refused."""
    found = {}
    for seed, steps in ((7, 0), (8, 5)):
        p, q = rows(seed, 50, steps=steps), rows(seed + 10, 30, steps=steps)
        for bits in (8, 10):
            one = JointSummary(bits=bits).update(p["loss"], id_confidence=p["confidence"], id_detector=p["other"])
            two = JointSummary(bits=bits).update(ood_confidence=q["other"] * 0.8, ood_detector=q["confidence"] - 0.2)
            both = one.merge(two)
            results = [refused(both.result, prevalence=share) for share in (None, 0.0, 0.9, 1.0)]
            results.append(shown(both.result(prevalence=0.25)))
            found[f"{seed} {bits}"] = [results, refused(one.result, prevalence=0.2), one.result(), refused(two.result)]
            found[f"{seed} {bits}"] += [both.n_id, both.n_ood, both.n, both.n_cells, str(both).split(), _bins(both)]
            found[f"{seed} {bits}"] += [refused(both.bounds, name) for name in ("ds_f1", "ds_aurc", "ds_augrc", "ds_x")]
    empty = JointSummary("real", "probability", 9)
    bad = [
        {"id_loss": [0.5], "id_confidence": [0.5], "id_detector": [0.5]},
        {"id_loss": [1, 0], "id_confidence": [0.5], "id_detector": [0.5]},
        {"id_loss": [1], "id_confidence": [0.5], "id_detector": [1.5]},
        {"ood_confidence": [np.nan], "ood_detector": [0.5]},
        {"ood_confidence": [0.5, 1.0], "ood_detector": [0.5]},
        {"ood_confidence": [0.5], "ood_detector": [-0.5]},
        {"id_loss": [0], "id_confidence": [-np.inf], "id_detector": [0.5]},
        {},
    ]
    found["bad"] = [refused(lambda **each: empty.update(**each).n, **each) for each in bad]
    found["bad"] += [refused(JointSummary, bits=bits) for bits in (7, 13)] + [
        refused(empty.merge, JointSummary(bits=9))
    ]
    return found
