"""Plans that compare two scores, certificates of regions, and plans in files."""

from itertools import product
from pathlib import Path

import numpy as np

import abstain
from abstain import pool
from tests.recorded import shown, tried
from tests.recorded.contents import shortened, warned, whole
from tests.recorded.pools import a_pool, drawn, labelled
from tests.recorded.sources import folder


def two_scores_of_a_pool():
    """Return plans that compare two scores, and what their labels say."""
    metrics = ("augrc", "risk", "sele", "selective_risk(coverage=0.5)")
    for steps, models, design, metric in product((0, 7), (False, True), ("planned", "uniform"), metrics):
        p = a_pool(240, steps)
        compare = (p["other"], np.zeros(240, dtype=int), p["differs"]) if models else p["other"]
        options = {"compare": compare, "metric": metric, "seed": 2, "error_rate": 0.2 if steps else None}
        plan = tried(abstain.plan_labels, p["confidence"], 70, design=design, **options)
        if isinstance(plan, str):
            yield plan
            continue
        yield whole(shown(plan), "result")
        loss = [p["loss"], np.where(p["differs"] > 0, 1.0 - p["loss"], p["loss"]) if models else p["loss"]]
        for one in (plan, plan.extend(labelled(plan, loss[0]), 20, seed=1)):
            known = {name: labelled(one, each) for name, each in zip("ab", loss, strict=True)}
            scores = {"a": p["confidence"], "b": p["other"]}
            result = tried(abstain.compare, known, scores, metric, plan=one, level=0.9)
            yield result if isinstance(result, str) else [whole(shown(result), "beside"), drawn(one)[2:]]
    p = a_pool(40)
    for other in (p["confidence"], p["confidence"] + 0.0, p["other"]):
        plan = abstain.plan_labels(p["confidence"], 40, compare=other, design="uniform", seed=2)
        scores = {"a": p["confidence"], "b": other}
        seen = abstain.compare({"a": p["loss"], "b": p["loss"]}, scores, "augrc", plan=plan)
        yield [whole(seen.rows()), whole(plan.of_second().facts)]
        with folder():
            plan.save("plan.csv")
            lines = Path("plan.csv").read_text().splitlines()
            Path("turned.csv").write_text("\n".join([lines[0], *lines[:0:-1]]))
            again = [tried(pool.load_plan, Path(name)) for name in ("plan.csv", "turned.csv")]
            yield [one if isinstance(one, str) else [one.digest[:9], one.planned] for one in again]


@shortened()
def certificates_of_regions():
    """Return certificates of the most confident part of a pool, and the levels of several looks."""
    for n, steps, region, share in product((700,), (0, 9), (0.3, 0.7), (0.1, 0.5)):
        p = a_pool(n, steps, share)
        plan = tried(abstain.plan_labels, p["confidence"], n // 5, region=region, design="uniform", seed=4)
        if not isinstance(plan, str):
            for risk, delta in ((0.05, 0.1), (0.2, 0.05))[share > 0.2 :]:
                seen = pool.certify_region(plan, labelled(plan, p["loss"]), risk=risk, delta=delta)
                yield f"{n} {steps} {region} {share} {risk}", [whole(shown(seen)), whole(seen.rows())]
    for analyses, level in ((1, 0.95), (2, 0.7), (3, 0.95)):
        looks = sorted({1, (analyses + 1) // 2, analyses})
        yield f"looks {analyses} {level}", [pool.interim_level(look, analyses, level=level) for look in looks]


@shortened()
def plans_that_are_saved():
    """Return plans from files of each kind, with names of rows in other orders and spellings."""
    p = a_pool(120)
    p["confidence"][7] = np.nan
    names = {"none": None, "numbers": np.arange(120) + 0.0, "text": [f"=row {k:03}" for k in range(120)]}
    names["padded"], names["days"] = [f"{k:03}" for k in range(120)], np.datetime64("2026-01-01") + np.arange(120)
    with folder() as here:
        times = [f"2026-01-{1 + k % 28:02}T{k // 28:02}:30:00Z" for k in range(120)]
        names |= {"times": times, "hours": [each.replace("Z", "+02:00") for each in times]}
        names |= {"floats": np.arange(120) + 0.5}
        for (name, ids), kind in product(names.items(), ("json", "csv", "parquet")):
            if kind != "csv" and name not in ("none", "text", "days"):
                continue
            plan = abstain.plan_labels(p["confidence"], 40, seed=1, ids=ids, nan_policy="reject", judge=p["judge"])
            more = plan.extend(labelled(plan, p["loss"]), 10, seed=2)
            more.save(here / f"plan.{kind}")
            again = pool.load_plan(here / f"plan.{kind}")
            spelt = {"numbers": np.arange(120), "padded": np.arange(120), "floats": [f"{k}.50" for k in range(120)],
                     "times": [each.replace("T", " ")[:-4] + "+00:00" for each in times],
                     "hours": [each[:-1] + ".000+0200" for each in times]}.get(name, ids)  # fmt: skip
            order = np.arange(120)[::-1] if ids is not None else np.arange(120)
            known = labelled(plan, p["loss"])
            given = {"ids": None if spelt is None else np.asarray(spelt)[order], "nan_policy": "reject"}
            seen = warned(abstain.evaluate, loss=known[order], confidence=p["confidence"][order], plan=plan, **given)
            result = seen[0] if isinstance(seen[0], str) else whole(seen[0].rows()[:3])
            yield f"{name} {kind}", [whole(again.facts), again.digest == more.digest, again.rows()[:4], result, seen[1]]
