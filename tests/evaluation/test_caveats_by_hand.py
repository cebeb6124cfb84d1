"""What speaks against a score and its groups, by rules written out here: sizes, ranking, rates."""

from collections import Counter

import numpy as np
import pytest
from scipy import stats

import abstain
from abstain.inference import clopper_pearson


def of_score(loss, score):
    """Return the caveats of the rows and of the score, with what decides each."""
    n, found = len(loss), {}
    if n < 100 or loss.sum() < 10:
        found["small_sample"] = None
    if loss.any() and not loss.all() and abstain.confidence_interval("auroc_f", loss, score).high < 0.5:
        found["reversed"] = None
    return found


def of_groups(loss, score, site, threshold, limit):
    """Return the caveats of the groups, with the names in them."""
    found, names, rates = {}, sorted(set(site)), []
    for name in names:
        kept = (site == name) & (score >= threshold)
        if kept.any():
            k, m = int(loss[kept].sum()), int(kept.sum())
            rates.append((k / m, m, clopper_pearson(k, m, 1.0 - 0.05 / len(names))[0], name, k))
    rates.sort(reverse=True)
    for kind, sure in (("group_above", True), ("group_unclear", False)):
        high = [each[3] for each in rates if limit is not None and each[0] > limit and (each[2] > limit) == sure]
        found |= {kind: high} if high else {}
    if "group_above" in found or len(rates) < 2:
        return found
    rows, errors = sum(each[1] for each in rates), sum(each[4] for each in rates)
    p = [float(stats.hypergeom.sf(k - 1, rows, errors, m)) for _, m, _, _, k in rates]
    return found | ({"stands_out": rates[int(np.argmin(p))][3]} if len(p) * min(p) < 0.05 else {})


@pytest.mark.filterwarnings("ignore:confidence is higher where the loss is higher")
def test_caveats_of_an_evaluation_are_those_of_the_rules():
    """Of small evaluations with good and bad scores and groups; each kind occurs, and each is missing somewhere."""
    seen = Counter()
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n, groups = int(rng.choice([80, 150, 600])), int(rng.integers(2, 5))
        site, z = np.array(list("wxyz"))[rng.integers(0, groups, n)], rng.normal(size=n)
        rate = np.where(site == "w", rng.choice([0.02, 0.4]), rng.choice([0.02, 0.1]))
        chance = np.clip(rate * np.exp(-1.2 * z - 0.5), 0.0, 1.0)
        loss = (rng.random(n) < chance) * 1.0
        score = stats.norm.cdf(rng.choice([1.0, 1.0, 0.0, -1.0]) * z + 0.3 * rng.normal(size=n))
        score = rng.choice([0.5, 0.05]) + (1.0 - rng.choice([0.5, 0.9])) * score if seed % 3 else score
        score = 1.0 - chance if seed % 4 == 0 else score
        score = np.clip(np.round(score, int(rng.choice([1, 2, 12]))), 0.0, 1.0)
        found = abstain.evaluate(loss=loss, confidence=score, groups={"site": site}, metrics=["augrc", "auroc_f"])
        caveats = {each.kind: each.values for each in found.verdict.caveats}
        expected, place = of_score(loss, score), found.judged.place("confidence")
        if place is not None:
            expected |= of_groups(loss, score, site, place[0].threshold, place[1])
        kinds = ("small_sample", "reversed", "group_above", "group_unclear", "stands_out")
        for kind in kinds if place is not None else kinds[:2]:
            assert (kind in caveats) == (kind in expected), (seed, kind)
        for kind, wanted in expected.items():
            if wanted is not None:
                assert caveats[kind].get("groups", caveats[kind].get("name")) == wanted, (seed, kind)
        if place is None or {"copied_rows", "uncertified"} & caveats.keys():
            continue
        seen.update(list(expected))
        limit, ranking = place[1], abstain.confidence_interval("auroc_f", loss, score) if loss.any() else None
        status = "certified" if limit is not None and limit <= 0.05 else "not certified"
        if "group_above" in expected and status == "certified":
            status = "certified for the mix of all cases only"
        if ranking is not None and ranking.low <= 0.5:
            status = "threshold of no use"
        assert found.verdict.status == status, seed
    assert len(seen) == 5
    assert all(0 < number < 30 for number in seen.values())
