"""Slow, obviously right versions: every pair of thresholds, counted one by one, in fractions."""

from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

import abstain

INF = float("inf")


class Columns(NamedTuple):
    """The five columns of a problem, as the public functions take them."""

    id_loss: Any
    id_confidence: Any
    id_detector: Any
    ood_confidence: Any
    ood_detector: Any

    @property
    def named(self):
        """The columns by name."""
        return self._asdict()

    @property
    def alone(self):
        """The scores that a function of one score takes, by name: the confidence."""
        return {"id_score": self.id_confidence, "ood_score": self.ood_confidence}

    @property
    def n_id(self):
        """Number of ID samples."""
        return len(self.id_loss)

    @property
    def n_ood(self):
        """Number of OOD samples."""
        return len(self.ood_detector)

    def swapped(self):
        """Exchange the two scores."""
        return Columns(self.id_loss, self.id_detector, self.id_confidence, self.ood_detector, self.ood_confidence)

    def mapped(self, confidence, detector):
        """Apply a function to each score."""
        kept = self._replace(id_confidence=confidence(self.id_confidence), id_detector=detector(self.id_detector))
        return kept._replace(ood_confidence=confidence(self.ood_confidence), ood_detector=detector(self.ood_detector))


@st.composite
def joint_problems(draw, max_id=8, max_ood=7, min_ood=0):
    """Draw a small problem; few distinct scores, so that nearly everything ties, or many, or special values."""
    n_id, n_ood = draw(st.integers(1, max_id)), draw(st.integers(min_ood, max_ood))
    few, sevenths = st.integers(0, 2).map(float), st.integers(0, 5).map(lambda k: k / 7)
    special = st.sampled_from([-INF, -1.0, -0.0, 0.0, 5e-324, INF])
    element = draw(st.sampled_from([few, sevenths, st.integers(0, 60).map(float), special, st.just(1.0)]))
    same = draw(st.booleans()) and draw(st.booleans())

    def column(n):
        return np.array(draw(st.lists(element, min_size=n, max_size=n)), dtype=float)

    loss = np.array(draw(st.lists(st.sampled_from([0.0, 1.0]), min_size=n_id, max_size=n_id)))
    inside, outside = column(n_id), column(n_ood)
    return Columns(loss, inside, inside if same else column(n_id), outside, outside if same else column(n_ood))


def ratio(columns, prevalence):
    """Weight of an OOD sample."""
    if prevalence is None:
        return Fraction(1)
    return columns.n_id * prevalence / ((1 - prevalence) * columns.n_ood) if columns.n_ood else Fraction(0)


def all_pairs(columns):
    """Return the distinct numbers of accepted right, wrong and OOD samples for every pair of thresholds."""
    return _all_pairs(*(tuple(column.tolist()) for column in columns))


@lru_cache(maxsize=1)
def _all_pairs(*columns):
    loss, c_in, a_in, c_out, a_out = map(np.array, columns)
    found = set()
    for t, r in product({*a_in.tolist(), *a_out.tolist(), -INF, INF}, {*c_in.tolist(), *c_out.tolist(), -INF, INF}):
        inside = (a_in >= t) & (c_in >= r)
        right, wrong = int(np.sum(inside & (loss == 0))), int(np.sum(inside & (loss == 1)))
        found.add((right, wrong, int(np.sum((a_out >= t) & (c_out >= r)))))
    return sorted(found)


def best_f1(columns, prevalence=None):
    """DS-F1 by trying everything."""
    weight = ratio(columns, prevalence)
    values = [Fraction(2 * r) / (r + w + weight * o + columns.n_id) for r, w, o in all_pairs(columns)]
    return max(values)


def level_curve(columns, prevalence=None, *, generalized=False):
    """Least risk per number of accepted ID samples, by trying everything."""
    weight = ratio(columns, prevalence)
    curve = {}
    for r, w, o in all_pairs(columns):
        if r + w == 0:
            continue
        total = columns.n_id + weight * columns.n_ood if generalized else r + w + weight * o
        risk = Fraction(w + weight * o) / total
        curve[r + w] = min(curve.get(r + w, risk), risk)
    return curve


def steps(curve):
    """Levels above which no risk is as small."""
    return [j for j in sorted(curve) if all(curve[j] < curve[k] for k in curve if k > j)]


def ds_aurc(columns, operator, prevalence=None):
    """DS-AURC by trying everything."""
    curve, n = level_curve(columns, prevalence), columns.n_id
    if operator == "at_least":
        return sum(min(curve[k] for k in curve if k >= j) for j in range(1, n + 1)) / Fraction(n)
    return sum(curve[min(k for k in curve if k >= j)] for j in range(1, n + 1)) / Fraction(n)


def ds_augrc(columns, operator, prevalence=None):
    """DS-AUGRC by trying everything."""
    curve, n = level_curve(columns, prevalence, generalized=True), columns.n_id
    if operator == "at_least":
        risk = [Fraction(0)] + [min(curve[k] for k in curve if k >= j) for j in range(1, n + 1)]
        return sum((risk[j - 1] + risk[j]) / 2 for j in range(1, n + 1)) / Fraction(n)
    knots = [(0, Fraction(0)), *sorted(curve.items())]
    return sum((k - j) * (a + b) / 2 for (j, a), (k, b) in pairwise(knots)) / Fraction(n)


def one_score(columns):
    """Return the problem whose detector score is constant."""
    return columns.mapped(lambda c: c, lambda a: np.zeros(len(a)))


def grid_f1(columns, T):
    """The published loop over quantiles of both scores, Algorithm 1."""
    c = np.append(columns.id_confidence, columns.ood_confidence)
    a = np.append(columns.id_detector, columns.ood_detector)
    right = np.append(columns.id_loss == 0, np.zeros(columns.n_ood, dtype=bool))
    best = 0.0
    for r in np.quantile(c, np.linspace(0, 1, T), method="lower"):
        for t in np.quantile(a, np.linspace(0, 1, T), method="lower"):
            taken = (c >= r) & (a >= t)
            if (taken[: columns.n_id]).any():
                best = max(best, float(2 * (taken & right).sum() / (taken.sum() + columns.n_id)))
    return best


def grid_aurc(columns, T, K):
    """The published mean over K bins of coverage of the least risk of T x T quantiles; between bins a straight line."""
    c, a = (np.append(columns.id_confidence, columns.ood_confidence),
            np.append(columns.id_detector, columns.ood_detector))  # fmt: skip
    n, least = columns.n_id, {}
    for r in np.quantile(c, np.linspace(0, 1, T), method="lower"):
        for t in np.quantile(a, np.linspace(0, 1, T), method="lower"):
            taken = (c >= r) & (a >= t)
            inside = int(taken[:n].sum())
            if inside:
                right, k = int((taken[:n] & (columns.id_loss == 0)).sum()), -(-inside * K // n)
                least[k] = min(1 - Fraction(right, int(taken.sum())), least.get(k, Fraction(1)))
    values = []
    for k in range(1, K + 1):
        below, above = (
            max((j for j in least if j <= k), default=min(least)),
            min((j for j in least if j >= k), default=max(least)),
        )
        share = Fraction(k - below, above - below) if below < k < above else Fraction(0)
        values.append(least[below] * (1 - share) + least[above] * share)
    return sum(values) / K


def random_problem(n_id, n_ood, seed=0, decimals=None):
    """A larger problem with two useful scores."""
    rng = np.random.default_rng(seed)
    wrong = rng.random(n_id) < 0.25
    c = np.append(rng.normal(1.5, 1, n_id) - 1.2 * wrong, rng.normal(0.3, 1, n_ood))
    a = np.append(rng.normal(1.0, 1, n_id), rng.normal(0, 1, n_ood))
    if decimals is not None:
        c, a = c.round(decimals), a.round(decimals)
    return Columns(wrong.astype(float), c[:n_id], a[:n_id], c[n_id:], a[n_id:])


def value(function, columns, **options):
    """Value of a public function of abstain.joint."""
    return float(getattr(abstain.joint, function)(**columns.named, **options))
