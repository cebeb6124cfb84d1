"""Attacks on certificates through the public functions with their defaults; the truth is known everywhere.

    python -m benchmarks.certificate_attacks [enumerated two rows parts said clusters declared among] [--full]

A guarantee is violated where the risk of what is accepted is above the limit by more than rounding. After each of the
first five parts stands how many shares there were, and which of them are above delta by more than their error.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from benchmarks.harness import Form, command, error, percent, say
from scipy import stats

import abstain
from abstain.thresholds import certified_band, choose_among, conditional_threshold

Rng = np.random.Generator
SEED, OTHER, DELTA = 7151, 20261122, 0.05
#: The risk of a population that violates every guarantee, as a multiple of the limit.
ABOVE = 1.0005
TINY = 1e-9


class Shares:
    """Shares of violated guarantees, each printed at once, and a summary."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.late: list[str] = []

    def add(self, name: str, violated: float, delta: float, many: int | None = None) -> None:
        """Print a share and keep it; ``many`` samples, None where it is exact."""
        noise = 0.0 if many is None else error(violated, many)
        self.names.append(name)
        if violated > delta + noise + TINY:
            self.late.append(name)
        exact = "exact" if many is None else f"+- {100 * noise:.1f}"
        say(f"{name}: violated {100 * violated:.2f} % ({exact}), delta {100 * delta:g} %")

    def end(self) -> None:
        """Print how many are above delta."""
        say(f"{len(self.names)} shares; above delta by more than the error: {len(self.late)} {self.late}")


def certified(loss: Any, score: Any, limit: float, delta: float, **options: Any) -> float:
    """The threshold that the public function gives, +inf for none."""
    return abstain.choose_threshold(loss, score, risk=limit, delta=delta, **options).threshold


# ---------------------------------------------------------------------- populations of rows


@dataclass(frozen=True)
class Population:
    """Levels of the score from the most confident on: share and risk of each; continuous inside a level if not tied."""

    name: str
    share: Any
    risk: Any
    tied: bool
    limit: float

    @property
    def edges(self) -> Any:
        """The coverages at which levels end."""
        return np.concatenate([[0.0], np.cumsum(self.share)])

    def draw(self, n: int, rng: Rng) -> tuple[Any, Any]:
        """Rows in sorted order: the most confident first, and errors first among equals."""
        u = np.sort(rng.random(n) * self.edges[-1])
        level = np.searchsorted(self.edges, u, side="right") - 1
        loss = (rng.random(n) < np.asarray(self.risk)[level]).astype(float)
        score = -(level.astype(float) if self.tied else u)
        order = np.lexsort((-loss, -score))
        return loss[order], score[order]

    def above(self, threshold: float) -> bool:
        """Whether the risk of what a threshold accepts is above the limit."""
        if threshold == np.inf:
            return False
        if self.tied:
            u = self.edges[np.searchsorted(np.arange(len(self.share)), -threshold, side="right")]
        else:
            u = min(max(-threshold, 0.0), self.edges[-1])
        if u <= 0.0:
            return False
        errors = np.interp(u, self.edges, np.append(0.0, np.cumsum(np.multiply(self.share, self.risk))))
        return bool(errors / u > self.limit * (1.0 + TINY))


def waves(name: str, share: Any, limit: float, tied: bool, rng: Rng | None = None) -> Population:
    """A population whose cumulative risk is just above the limit at the end of every second level."""
    share = np.asarray(share, dtype=float) / np.sum(share)
    risk = np.full(len(share), ABOVE * limit)
    for i in range(0, len(share) - 1, 2):  # a good or a bad level, and one that makes up for it
        first = 0.0 if rng is None else rng.uniform(0.0, 3.0 * limit)
        second = (ABOVE * limit * (share[i] + share[i + 1]) - first * share[i]) / share[i + 1]
        if 0.0 <= second <= 1.0:
            risk[i], risk[i + 1] = first, second
    return Population(name, share, risk, tied, limit)


def populations(limit: float) -> Iterator[Population]:
    """Ties, bad tops, late changes, and risks that stay at the limit."""
    flat, jump = ABOVE * limit, min(1.0, 8 * limit)
    yield Population("flat", [1.0], [flat], False, limit)
    for k in (2, 3, 10, 50):
        yield Population(f"flat, {k} levels", np.full(k, 1 / k), np.full(k, flat), True, limit)
    for most in (0.5, 0.9, 0.97):
        for where, share in (("top", [most, 1 - most]), ("bottom", [1 - most, most])):
            yield Population(f"flat, {most:g} in one score at the {where}", share, [flat, flat], True, limit)
    for top in (0.02, 0.1, 0.3, 0.6):
        broken = min(1.0, flat / (1 - top))
        yield Population(f"flawless {top:g}, then a tie that breaks it", [top, 1 - top], [0.0, broken], True, limit)
        wall = top * flat / (jump - flat)
        share = [top, wall, max(1 - top - wall, 0.0)]
        yield Population(f"flawless {top:g}, a wall, flat", share, [0.0, jump, flat], False, limit)
    risk = [10 * limit, (flat * 0.5 - 0.3 * limit) / 0.47, flat]
    yield Population("bad top of 3 %, then good, flat at the end", [0.03, 0.47, 0.5], risk, False, limit)
    yield Population("late change in the last tenth", [0.9, 0.1], [0.9 * limit, 1.9045 * limit], False, limit)
    octaves = np.diff(np.concatenate([[0.0], 2.0 ** -np.arange(12)[::-1]]))
    yield waves("good and bad octaves", octaves, limit, False)
    yield waves("good and bad octaves, tied", octaves, limit, True)
    yield waves("forty waves", np.ones(40), limit, False)
    yield waves("four hundred waves", np.ones(400), limit, False)
    rng = np.random.default_rng(SEED)
    for i in range(6):
        k = int(rng.integers(4, 60))
        name = f"random {i}, {k} levels{', tied' if i % 2 else ''}"
        yield waves(name, rng.dirichlet(np.full(k, 0.5)) + 1e-6, limit, bool(i % 2), rng)


def rows(form: Form) -> None:
    """All populations of rows, in sorted order."""
    many, shares = form(1000, 150), Shares()
    settings = [(66, 0.05, 0.1), (150, 0.05, 0.05), (300, 0.1, 0.05), (1000, 0.05, 0.05), (3000, 0.02, 0.05)]
    for n, limit, delta in settings if form.full else settings[1:3]:
        for each in populations(limit):
            rng = np.random.default_rng([SEED, n])
            violated = sum(each.above(certified(*each.draw(n, rng), limit, delta)) for _ in range(many))
            shares.add(f"rows, n={n}, limit {limit:g}, {each.name}", violated / many, delta, many)
    shares.end()


# ---------------------------------------------------------------------- exact


def enumerated(form: Form) -> None:
    """One score for all rows, errors first; the certificate is a function of the number of errors alone."""
    shares = Shares()
    for limit, delta in ((0.05, 0.05), (0.05, 0.1), (0.1, 0.05), (0.1, 0.1), (0.2, 0.1), (0.02, 0.05), (0.01, 0.1)):
        worst, at = 0.0, 0
        for n in sorted({*range(60, 301, 1 if form.full else 40), 63, 66, 75, 252}):
            total = 0.0
            for k in range(n + 1):
                threshold = certified(np.arange(n) < k, np.ones(n), limit, delta)
                if stats.binom.cdf(k, n, limit) > 3 * delta:  # so many are never certified
                    assert threshold == np.inf
                    break
                total += float(stats.binom.pmf(k, n, ABOVE * limit)) * (threshold < np.inf)
            worst, at = max((worst, at), (total, n))
        shares.add(f"enumerated, one score, limit {limit:g}, worst at n={at}", worst, delta)
    shares.end()


def two(form: Form) -> None:
    """Two tied scores with a risk at or above the limit at either; enumerated over the rows and errors at each."""
    shares = Shares()
    settings = ((60, 0.1, 0.1), (100, 0.05, 0.1), (150, 0.1, 0.05), (300, 0.05, 0.05))
    for n, limit, delta in settings if form.full else settings[:1]:
        known: dict[tuple[int, int, int], float] = {}
        worst, name = 0.0, ""
        for share in (0.1, 0.25, 0.5, 0.75, 0.9) if form.full else (0.25, 0.75):
            tops = stats.binom.pmf(np.arange(n + 1), n, share)
            for first in (0.0, 0.7, ABOVE, 1.5, 3.0):
                second, total = (ABOVE - share * first) / (1 - share) * limit, 0.0
                if not 0.0 <= second <= 1.0:
                    continue
                for a in np.flatnonzero(tops > (1e-4 if form.full else 2e-3)).tolist():
                    for i, j, chance in _errors(a, n, limit, delta, first * limit, second):
                        if (a, i, j) not in known:
                            loss = np.concatenate([np.arange(a) < i, np.arange(n - a) < j])
                            known[a, i, j] = certified(loss, np.arange(n) < a, limit, delta)
                        threshold = known[a, i, j]
                        violated = threshold <= 0.0 or (threshold < np.inf and first > 1.0)
                        total += violated * tops[a] * chance
                worst, name = max((worst, name), (total, f"top share {share:g} with {first:g} of the limit"))
        shares.add(f"two levels, n={n}, limit {limit:g}, worst: {name}", worst, delta)
    shares.end()


def _errors(a: int, n: int, limit: float, delta: float, first: float, second: float) -> Iterator[tuple[int, int, Any]]:
    """Yield the numbers of errors among the first a rows and the others, and their probability."""
    one = stats.binom.pmf(np.arange(a + 1), a, first)
    other = stats.binom.pmf(np.arange(n - a + 1), n - a, second)
    for i in np.flatnonzero(one > 1e-6).tolist():
        never = stats.binom.cdf(i, max(a, 1), limit) > 3 * delta
        for j in np.flatnonzero(other > 1e-6).tolist():
            if never and stats.binom.cdf(i + j, n, limit) > 3 * delta:
                break
            yield i, j, one[i] * other[j]


# ---------------------------------------------------------------------- weights, groups, and all that is said


def weighted(rng: Rng, together: bool, n: int = 300) -> bool:
    """Certify with weights; ``together``: errors go with them."""
    value, part = np.array([0.5, 1.0, 4.0]), np.array([0.5, 0.4, 0.1])
    weight = rng.choice(value, n, p=part)
    rate = 0.10 * ABOVE * weight * (part @ value) / (part @ value**2) if together else np.full(n, 0.10 * ABOVE)
    loss = (rng.random(n) < rate).astype(float)
    return certified(loss, rng.random(n), 0.10, DELTA, sample_weight=weight, max_weight=4.0) < np.inf


def graded(rng: Rng, kind: str, n: int = 300) -> bool:
    """Certify losses in [0, 1]."""
    if kind == "beta":
        loss = rng.beta(0.10 * ABOVE * 0.5, (1 - 0.10 * ABOVE) * 0.5, n)
    elif kind == "three values":
        loss = rng.choice([0.0, 0.1, 1.0], n, p=[1 - 0.2 - (0.1 * ABOVE - 0.02), 0.2, 0.1 * ABOVE - 0.02])
    else:
        loss = np.full(n, 0.1 * ABOVE) + 0.05 * rng.choice([-1.0, 1.0], n)
    return certified(loss, np.round(rng.random(n), 1), 0.10, DELTA, max_loss=1.0) < np.inf


def grouped(rng: Rng, size: list[int], one_score: bool) -> bool:
    """Certify groups of these sizes."""
    group = np.repeat(np.arange(len(size)), size)
    loss = (rng.random(len(group)) < 0.10 * ABOVE).astype(float)
    score = np.ones(len(group)) if one_score else rng.random(len(group))
    order = np.lexsort((-loss, group))
    found = abstain.choose_threshold(loss[order], score[order], risk=0.1, delta=0.1, groups=group[order])
    return any(one.attainable for one in found.groups.values())


def conditioned(rng: Rng, n: int = 600) -> bool:
    """Certify a loss that is conditioned on a class."""
    where = rng.random(n) < 0.5
    loss = (rng.random(n) < np.where(where, 0.10 * ABOVE, 0.0)).astype(float)
    return conditional_threshold(loss, rng.random(n), where, what="kind", risk=0.1, delta=DELTA).attainable


def parts(form: Form) -> None:
    """Weights, graded losses, groups, conditioned losses; every certificate is false."""
    many, shares = form(1000, 100), Shares()
    tried: dict[str, tuple[float, Callable[[Rng], bool]]] = {
        "weights": (DELTA, lambda rng: weighted(rng, False)),
        "weights, errors go with them": (DELTA, lambda rng: weighted(rng, True)),
        "graded loss, beta": (DELTA, lambda rng: graded(rng, "beta")),
        "graded loss, three values": (DELTA, lambda rng: graded(rng, "three values")),
        "graded loss, near the limit": (DELTA, lambda rng: graded(rng, "near")),
        "groups of 200, 200, 200, one score": (0.1, lambda rng: grouped(rng, [200] * 3, True)),
        "groups of 300, 100, 1, 1, 1": (0.1, lambda rng: grouped(rng, [300, 100, 1, 1, 1], False)),
        "20 groups of 150": (0.1, lambda rng: grouped(rng, [150] * 20, False)),
        "loss conditioned on a class": (DELTA, conditioned),
    }
    for name, (delta, false) in tried.items():
        rng = np.random.default_rng([SEED, 2])
        shares.add(f"parts, {name}", sum(false(rng) for _ in range(many)) / many, delta, many)
    shares.end()


def said(form: Form) -> None:
    """All that an answer that is not attainable says at once, and the certified band at every threshold."""
    many, shares = form(1000, 60), Shares()
    chosen = [each for each in populations(0.05) if each.name.split()[0] in ("flat", "flat,", "good", "random")][::2]
    for n in (150, 1000):
        for each in chosen:
            rng, wrong, band = np.random.default_rng([SEED, 5, n]), 0, 0
            for _ in range(many):
                loss, score = each.draw(n, rng)
                found = abstain.choose_threshold(loss, score, risk=1e-4, delta=DELTA)
                wrong += any(replace(each, limit=one.risk).above(one.threshold) for one in found.attained)
                tested = np.unique(score)[:: max(1, n // 100)]
                limits = certified_band(loss, score, delta=DELTA).upper_at(tested)
                band += any(replace(each, limit=u).above(t) for t, u in zip(tested, limits, strict=True))
            shares.add(f"said, n={n}, {each.name}, attained", wrong / many, DELTA, many)
            shares.add(f"said, n={n}, {each.name}, band", band / many, DELTA, many)
    shares.end()


# ---------------------------------------------------------------------- clusters and candidates


def clustered(kind: str, m: int, rng: Rng) -> tuple[Any, Any, Any, float]:
    """Losses, scores and clusters of a population with the same risk at every threshold, and this risk."""
    size, risk = np.full(m, {"spiky": 20, "copies": 5, "twice": 2}.get(kind, 10)), 0.0502
    if kind == "spiky":  # all errors in few clusters
        risk = 0.055
        rate = (rng.random(m) < risk / 0.5) * 0.5
    elif kind in ("copies", "twice"):
        rate = (rng.random(m) < risk) * 1.0
    elif kind.startswith("beta"):
        size = rng.integers(1, int(kind.split()[3]) + 1, m)
        rate = rng.beta(risk * 7 / 3, (1 - risk) * 7 / 3, m)
    else:
        rate = np.minimum(risk * rng.gamma(0.5, 2.0, m), 1.0)
        risk = 0.0497
    cluster = np.repeat(np.arange(m), size)
    loss = (rng.random(len(cluster)) < rate[cluster]).astype(float)
    score = rng.random(m)[cluster] if kind in ("copies", "twice") else rng.random(len(cluster))
    return loss, score, cluster, risk


def robust_t(loss: Any, cluster: Any, limit: float) -> bool:
    """Whether a one-sided cluster-robust t limit of the risk of all rows is below the limit."""
    size, total = np.bincount(cluster), np.bincount(cluster, loss)
    risk = total.sum() / size.sum()
    spread = np.sqrt(np.sum((total - risk * size) ** 2)) / size.sum()
    return bool(risk + stats.t.ppf(1 - DELTA, len(size) - 1) * spread <= limit)


def clusters(form: Form) -> None:
    """Share of samples with a certificate where every certificate is false."""
    many = form(1000, 100)
    kinds = {"spiky": (50, 100, 400), "twice": (300,), "copies": (60, 200, 300), "beta, 1 to 5 rows": (167, 1000),
             "beta, 1 to 20 rows": (50, 300), "frailty": (200,)}  # fmt: skip
    for kind, m in ((kind, m) for kind, sizes in kinds.items() for m in sizes):
        rng, found = np.random.default_rng([OTHER, m]), np.zeros(3)
        for _ in range(many):
            loss, score, cluster, risk = clustered(kind, m, rng)
            limit = min(0.05, risk - 1e-4)
            alone, whole = (certified(loss, score, limit, DELTA, clusters=each) < np.inf for each in (None, cluster))
            found += alone, whole, robust_t(loss, cluster, limit)
        rows, mine, robust = (percent(each, many) for each in found)
        say(f"clusters, {kind}, {m} of them: false {rows} (independent rows), {mine} (clusters=), {robust} (cluster t)")


def sized(kind: str, m: int, rng: Rng) -> tuple[Any, Any, int]:
    """Losses and clusters of sizes up to the declared one, with a risk of rows just above 10 %."""
    most, risk = 25, 0.1002
    size = np.where(rng.random(m) < 0.02, most, 1)
    large = size == most
    in_large = risk * 1.48 / 0.5  # where these hold all errors: of 1.48 rows a cluster, half a row is of a large one
    if kind == "errors in large":
        rate = np.where(large, in_large, 0.0)
    elif kind == "large ones wrong":
        rate = np.where(large, rng.random(m) < in_large, 0.0)
    elif kind == "errors spread":
        rate = np.full(m, risk)
    elif kind == "log-normal":
        most, size = 50, np.clip(np.round(3.0 * np.exp(rng.normal(size=m))), 1, 50).astype(int)
        rate = np.minimum(0.1035 * rng.gamma(0.5, 2.0, m), 1.0)  # the cut takes .003
    elif kind == "five copies":
        most, size, rate = 5, np.full(m, 5), (rng.random(m) < risk) * 1.0
    else:  # risk with size
        most, size = 10, rng.integers(1, 11, m)
        rate = risk * size / 7.0
    cluster = np.repeat(np.arange(m), size)
    return (rng.random(len(cluster)) < rate[cluster]).astype(float), cluster, most


def declared(form: Form) -> None:
    """Certificates of the risk of rows, all of them false, and what the declared size costs."""
    many = form(2000, 200)
    for kind in ("errors in large", "large ones wrong", "errors spread", "log-normal", "five copies", "risk with size"):
        for m in (200, 1000):
            rng, false = np.random.default_rng([OTHER, 11, m]), 0
            for _ in range(many):
                loss, cluster, most = sized(kind, m, rng)
                score, options = rng.random(len(loss)), {"clusters": cluster, "max_cluster": most}
                false += certified(loss, score, 0.1, DELTA, **options) < np.inf
            say(f"declared size, {kind}, {m} clusters: false {percent(false, many)}")
    for kind in ("of 10", "of 1 to 10", "of 1 to 10, 2 % of 25"):
        for m in (300, 1000, 3000):
            rng, found = np.random.default_rng(m), list[list[float]]()
            for _ in range(20):
                size = np.full(m, 10) if kind == "of 10" else rng.integers(1, 11, m)
                size = np.where(rng.random(m) < 0.02, 25, size) if "25" in kind else size
                cluster = np.repeat(np.arange(m), size)
                u, frailty, most = rng.random(len(cluster)), rng.gamma(2.0, 0.5, m), int(size.max())
                loss = (rng.random(len(cluster)) < np.minimum(0.12 * u * frailty[cluster], 1.0)).astype(float)
                options = {"risk": 0.05, "delta": DELTA, "clusters": cluster}
                each = [abstain.choose_threshold(loss, -u, **options, max_cluster=largest)
                        for largest in (None, most, 2 * most, 4 * most)]  # fmt: skip
                found.append([one.coverage for one in each])
            means = ", ".join(f"{mean:.2f}" for mean in np.mean(found, axis=0))
            say(f"declared size, {m} clusters {kind}: coverage if each counts once, 1, 2, 4 times the size: {means}")


def among(form: Form) -> None:
    """Useless scores under a flat risk just above the limit: every certificate is false."""
    many = form(1000, 100)
    for n, k in ((150, 5), (500, 5), (500, 20)):
        rng, best, mine = np.random.default_rng([OTHER, n, k]), 0, 0
        for _ in range(many):
            loss = (rng.random(n) < 0.0502).astype(float)
            scores = {str(j): rng.random(n) for j in range(k)}
            best += any(certified(loss, score, 0.05, DELTA) < np.inf for score in scores.values())
            mine += choose_among(loss, scores, risk=0.05, delta=DELTA, rng=rng).attainable
        shares = f"best certificate {percent(best, many)}, choose_among {percent(mine, many)}"
        say(f"among, n={n}, {k} scores: false, {shares}")


if __name__ == "__main__":
    command(__doc__, enumerated, two, rows, parts, said, clusters, declared, among)
