"""Thresholds without a certificate, of rows without a score, of counted rows; warnings about rows."""

from itertools import product

import numpy as np
import polars as pl

import abstain
from tests.recorded import tried
from tests.recorded.contents import chosen, easy, said, warned, whole
from tests.recorded.populations import rows

LONG = ("fingerprint", "sketch", "bins")
COLUMNS = ("loss", "confidence")


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
    for name, more in {
        "plain": {"risk": 0.06, "delta": 0.1},
        "fails": {"risk": 0.001, "delta": 0.1},
        "bound": {"risk": 0.1, "delta": 0.1, "max_loss": 2.0},
        "weights": weighted,
        "groups": {"risk": 0.12, "delta": 0.1, "groups": "g"},
        "clusters": {"risk": 0.2, "delta": 0.1, "clusters": "c", "max_cluster": 20},
        "capacity": {"capacity": 0.3},
        "by weight": {"coverage": 0.6, "sample_weight": "w"},
    }.items():
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
    columns = {
        "five digits": np.round(score, 5),
        "eight digits": np.round(score, 8),
        "few values": score[:39].repeat(11)[:n],
        "more values": score[:41].repeat(10)[:n],
        "no zero": np.where(few, -1.0, unit),
        "half a step": np.where(few, -1.0, -0.5 + 0.1 * unit),
        "above half a step": np.where(few, -1.0, -0.4999 + 0.1 * unit),
        "two codes": np.where(few, -1.0, np.where(np.arange(n) < 27, 99.0, 0.3 * unit)),
        "nines": np.where(few, 99.99, unit),
        "infinite": np.where(few, -np.inf, np.where(np.arange(n) < 30, -9.0, unit)),
        "twenty cents": np.where(few, 100.0 * (1.0 - 0.5 * score), unit),
        "twenty fractions": np.where(few, unit, 20.0 + 80.0 * unit),
        "up to ten": np.where(np.arange(n) < 100, 10.0, unit),
        "above ten": np.where(np.arange(n) < 100, 10.01 + unit, unit),
        "above hundred": np.where(np.arange(n) < 100, 100.01, unit),
        "one is a fraction": np.where(np.arange(n) < 100, 50.0, np.where(few[::-1], 1.0, 0.5 + score)),
        "a third between": np.where(np.arange(n) < 60, 50.0, np.where(np.arange(n) < 80, 5.0, unit)),
        "less between": np.where(np.arange(n) < 60, 50.0, np.where(np.arange(n) < 79, 5.0, unit)),
        "sentinel -1": np.where(np.arange(n) < 7, -1.0, score + 1.2),
        "sentinel 999": np.where(np.arange(n) < 3, 999.0, score),
        "sentinel near": np.where(np.arange(n) < 3, 9.0, 8.7 * score),
        "no sentinel": np.where(np.arange(n) < 3, 998.0, score),
        "units": np.where(np.arange(n) < 100, 100.0 * score, score),
        "few cents": np.where(np.arange(n) < 19, 100.0 * score, score),
        "between": np.where(np.arange(n) < 200, 100.0 * score, np.where(np.arange(n) < 300, score, 5.0 * score)),
        "copies": np.repeat(score[: n // 2], 2),
        "few copies": np.concatenate([score[:19], score[: n - 19]]),
        "ten copies": np.concatenate([score[:10], score[: n - 10]]),
        "rounded": np.round(score, 3),
        "single": (1.0 / (1.0 + np.exp(-8.0 * score))).astype(np.float32).astype(float),
        "half": score.astype(np.float16).astype(float),
        "coarse grid": np.round(score * 3000.0) / 3000.0,
        "finer grid": np.round(score * 60000.0) / 60000.0,
    }
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
