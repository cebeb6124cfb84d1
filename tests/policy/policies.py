"""Policies of every kind, with rows that they decide."""

import hashlib
import json

import numpy as np

import abstain
from abstain.policy import Calibration, Objective, Policy, compute

K = 4
CLASSES = [f"c{k}" for k in range(K)]


def logits(n, seed, spread=3.0):
    """Return rows of logits."""
    return spread * np.random.default_rng(seed).standard_normal((n, K))


def probabilities(n, seed):
    """Return rows of probabilities, some with few decimals."""
    p = np.random.default_rng(seed).dirichlet(np.full(K, 0.4), size=n)
    p[::3] = np.floor(1000 * p[::3]) / 1000
    p[::3, 0] = np.round(1.0 - p[::3, 1:].sum(axis=1), 3)
    return np.clip(p, 0.0, 1.0)


def fitted(score, groups=None, seed=1, **objective):
    """Return the threshold that is chosen for a score; one of its values is the threshold."""
    rng = np.random.default_rng(seed)
    rank = np.argsort(np.argsort(score)) / len(score)
    loss = (rng.random(len(score)) > 0.5 + 0.5 * rank).astype(float)
    return abstain.choose_threshold(loss, score, groups=groups, **(objective or {"coverage": 0.6}))


def by_hand(score, thresholds, **more):
    """Return a policy that guarantees nothing, with thresholds by hand."""
    plain = {"inputs": None, "temperature": None, "group": None, "guarantee": None}
    plain |= {"objective": Objective(), "calibration": Calibration(n=9)}
    return Policy(score=score, thresholds=thresholds, **{**plain, **more})


def signed(content, **changed):
    """Return the content of a file, changed, with a digest that fits."""
    content = content | changed
    rest = {name: value for name, value in content.items() if name not in ("format", "digest")}
    return content | {"digest": hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()}


def rows_of(name, n, seed):
    """Return rows of a kind of policy, by column."""
    rng = np.random.default_rng(seed)
    if name in ("column", "groups", "uncertainty", "declined"):
        score = np.round(rng.random(n), 3)
        rows = [{"s": float(value)} for value in score]
        for row, site, odd in zip(rows, rng.integers(0, 3, n), rng.random(n), strict=True):
            row["site"] = "NSW"[site] + "'s"
            row["declined"] = bool(odd < 0.2)
        return rows
    if name == "positive":
        p = rng.random(n)
        return [{"p": float(value)} for value in np.where(np.arange(n) % 2, p, np.round(p, 4))]
    matrix = logits(n, seed) if name.endswith("logits") else probabilities(n, seed)
    return [dict(zip(CLASSES, map(float, row), strict=True)) for row in matrix]


def matrix_of(rows, columns):
    """Return columns of rows as a matrix."""
    return np.array([[row[column] for column in columns] for row in rows])


#: Kind -> (score, kind of the classes, temperature), where the score is computed.
COMPUTED = {
    "msp of logits": ("msp", "logits", 1.3),
    "margin of logits": ("softmax_margin", "logits", None),
    "largest of logits": ("max_logit", "logits", 0.7),
    "lead of logits": ("logit_margin", "logits", None),
    "msp of probabilities": ("msp", "probabilities", None),
    "margin of probabilities": ("softmax_margin", "probabilities", None),
}
KINDS = ["column", "groups", "uncertainty", "declined", "positive", *[name.replace(" of ", "_") for name in COMPUTED]]


def make(name, n=800):
    """Return a policy of a kind, and the rows that it was calibrated on."""
    rows = rows_of(name, n, 0)
    if name in ("column", "declined"):
        reading = {"abstained": "declined"} if name == "declined" else None
        return fitted(matrix_of(rows, ["s"])[:, 0]).policy(score="s", reading=reading), rows
    if name == "uncertainty":
        return fitted(-matrix_of(rows, ["s"])[:, 0]).policy(score="s", reading={"uncertainty": "s"}), rows
    if name == "groups":
        sites = [row["site"] for row in rows]
        found = fitted(matrix_of(rows, ["s"])[:, 0], [site if site != "W's" else "N's" for site in sites])
        return found.policy(score="s", group="site"), rows
    if name == "positive":
        score = compute("msp", "probabilities", matrix_of(rows, ["p"]), None)
        return fitted(score).policy(score="msp", probabilities="p"), rows
    spec, kind, temperature = COMPUTED[name.replace("_", " of ")]
    score = compute(spec, kind, matrix_of(rows, CLASSES), temperature)
    options = {kind: CLASSES}
    return fitted(score).policy(score=spec, temperature=temperature, **options), rows
