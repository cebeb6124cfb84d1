"""Plans that compare two scores, certificates of regions, and plans in files."""

import tempfile
from itertools import product
from pathlib import Path

import numpy as np

import abstain
from abstain import pool
from tests.recorded import tried
from tests.recorded.contents import said, shortened, warned, whole
from tests.recorded.pools import a_pool, drawn, labelled


def two_scores_of_a_pool():
    """Return plans that compare two scores, and what their labels say."""
    found = {}
    for steps, models, design, metric in product(
        (0, 7), (False, True), ("planned", "uniform"), ("augrc", "risk", "sele")
    ):
        p = a_pool(240, steps)
        first, other = np.zeros(240, dtype=int), p["differs"]
        compare = (p["other"], first, other) if models else p["other"]
        options = {"compare": compare, "metric": metric, "seed": 2, "error_rate": 0.2 if steps else None}
        plan = tried(abstain.plan_labels, p["confidence"], 70, design=design, **options)
        if isinstance(plan, str):
            found[f"{steps} {models} {design} {metric}"] = plan
            continue
        loss = [p["loss"], np.where(p["differs"] > 0, 1.0 - p["loss"], p["loss"]) if models else p["loss"]]
        stages = [plan, plan.extend(labelled(plan, loss[0]), 20, seed=1)]
        seen = []
        for one in stages:
            known = dict(zip(("a", "b"), (labelled(one, each) for each in loss), strict=True))
            scores = {"a": p["confidence"], "b": p["other"]}
            result = tried(abstain.compare, known, scores, metric, plan=one, level=0.9)
            seen.append(result if isinstance(result, str) else [whole(result.rows()), drawn(one)[2:]])
        found[f"{steps} {models} {design} {metric}"] = seen
    p = a_pool(40)
    plan = abstain.plan_labels(p["confidence"], 40, compare=p["other"], design="uniform", seed=2)
    for name, other in {"all": p["confidence"], "same": p["confidence"] + 0.0, "other": p["other"]}.items():
        plan = abstain.plan_labels(p["confidence"], 40, compare=other, design="uniform", seed=2)
        scores = {"a": p["confidence"], "b": other}
        seen = abstain.compare({"a": p["loss"], "b": p["loss"]}, scores, "augrc", plan=plan)
        found[name] = [whole(seen.rows()), whole(plan.of_second().facts)]
        with tempfile.TemporaryDirectory() as folder:
            plan.save(Path(folder) / "plan.csv")
            lines = (Path(folder) / "plan.csv").read_text().splitlines()
            (Path(folder) / "turned.csv").write_text("\n".join([lines[0], *lines[:0:-1]]))
            again = [tried(pool.load_plan, Path(folder) / f"{each}.csv") for each in ("plan", "turned")]
            found[name] += [one if isinstance(one, str) else [one.digest[:9], one.planned] for one in again]
    return found


@shortened()
def certificates_of_regions():
    """Return certificates of the most confident part of a pool, and the levels of several looks."""
    for n, steps, region, share in product((700,), (0, 9), (0.3, 0.7), (0.1, 0.5)):
        p = a_pool(n, steps, share)
        plan = tried(abstain.plan_labels, p["confidence"], n // 5, region=region, design="uniform", seed=4)
        if not isinstance(plan, str):
            for risk, delta in ((0.05, 0.1), (0.2, 0.05))[share > 0.2 :]:
                seen = pool.certify_region(plan, labelled(plan, p["loss"]), risk=risk, delta=delta)
                yield f"{n} {steps} {region} {share} {risk}", [whole(seen.rows()), said(seen)]
    for analyses, level in ((1, 0.95), (2, 0.7), (4, 0.95)):
        looks = sorted({1, (analyses + 1) // 2, analyses})
        yield f"looks {analyses} {level}", [pool.interim_level(look, analyses, level=level) for look in looks]


@shortened()
def plans_that_are_saved():
    """Return plans from files of each kind, with names of rows in other orders and spellings."""
    p = a_pool(120)
    p["confidence"][7] = np.nan
    names = {"none": None, "numbers": np.arange(120) + 0.0, "text": [f"=row {k:03}" for k in range(120)]}
    names["padded"], names["days"] = [f"{k:03}" for k in range(120)], np.datetime64("2026-01-01") + np.arange(120)
    with tempfile.TemporaryDirectory() as folder:
        times = [f"2026-01-{1 + k % 28:02}T{k // 28:02}:30:00Z" for k in range(120)]
        names |= {"times": times, "hours": [each.replace("Z", "+02:00") for each in times]}
        names |= {"floats": np.arange(120) + 0.5}
        for (name, ids), kind in product(names.items(), ("json", "csv", "parquet")):
            plan = abstain.plan_labels(p["confidence"], 40, seed=1, ids=ids, nan_policy="reject", judge=p["judge"])
            more = plan.extend(labelled(plan, p["loss"]), 10, seed=2)
            more.save(Path(folder) / f"plan.{kind}")
            again = pool.load_plan(Path(folder) / f"plan.{kind}")
            spelt = {"numbers": np.arange(120), "padded": np.arange(120), "floats": [f"{k}.50" for k in range(120)],
                     "times": [each.replace("T", " ")[:-4] + "+00:00" for each in times],
                     "hours": [each[:-1] + ".000+0200" for each in times]}.get(name, ids)  # fmt: skip
            order = np.arange(120)[::-1] if ids is not None else np.arange(120)
            known = labelled(plan, p["loss"])
            given = {"ids": None if spelt is None else np.asarray(spelt)[order], "nan_policy": "reject"}
            seen = warned(abstain.evaluate, loss=known[order], confidence=p["confidence"][order], plan=plan, **given)
            result = seen[0] if isinstance(seen[0], str) else whole(seen[0].rows()[:3])
            yield f"{name} {kind}", [whole(again.facts), again.digest == more.digest, again.rows()[:4], result, seen[1]]
