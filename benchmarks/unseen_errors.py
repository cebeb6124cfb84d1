"""Intervals where the decisive errors may be unseen, and bands of clusters: coverage and warnings.

    python -m benchmarks.unseen_errors [PART ...] [--full]

Parts: cells, attacks, designs, edges, coverages, top, whole, bands, large, differences. The truth is known everywhere.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from benchmarks.harness import Form, command, held, percent, say
from scipy import stats

import abstain
from abstain.inference import _interval

AREAS = ("augrc", "aurc", "auroc_f")
REAL = ("risk", "augrc", "aurc", "e_augrc", "e_aurc", "naurc", "sele", "selective_risk(threshold=0.6)")
EXCESS = ("e_augrc", "e_aurc", "naugrc", "naurc", "sele")
AT_COVERAGE = ("selective_risk(coverage=0.8)", "generalized_risk(coverage=0.8)", "selective_risk(coverage=0.5)")
AT_RISK = ("coverage_at_risk(risk=0.01)", "coverage_at_risk(risk=0.05)")

Rng = np.random.Generator
Columns = dict[str, Any]
Draw = Callable[[int, Rng], Columns]


# ---------------------------------------------------------------------- populations of 0/1 losses


class Population(NamedTuple):
    """0/1 losses whose chance is ``risk(u)`` at the share u of more confident rows.

    ``ends``: the coverages at which tied scores end, None for a continuous score.
    """

    name: str
    risk: Callable[[np.ndarray], np.ndarray]
    ends: tuple[float, ...] | None = None

    def score(self, u: np.ndarray) -> np.ndarray:
        """Return a confidence in [0, 1]."""
        return 1.0 - (u if self.ends is None else np.searchsorted(self.ends, u) / len(self.ends))

    def draw(self, n: int, rng: Rng) -> Columns:
        """Return n samples."""
        u = rng.random(n)
        return {"loss": (rng.random(n) < self.risk(u)).astype(float), "confidence": self.score(u)}

    def table(self, cells: int = 400_000) -> abstain.TieBlocks:
        """Return a weighted table that is the population, up to the width of a cell."""
        u = (np.arange(cells) + 0.5) / cells
        p, score = self.risk(u), np.tile(self.score(u), 2)
        return abstain.TieBlocks.from_samples(np.repeat([1.0, 0.0], cells), score, np.r_[p, 1.0 - p], oracle=True)


def steps(name: str, *parts: tuple[float, float], ties: bool = True) -> Population:
    """Return a population of levels, each a coverage at which it ends and its risk."""
    ends, risks = zip(*parts, strict=True)
    return Population(name, lambda u: np.asarray(risks)[np.searchsorted(ends, u)], ends if ties else None)


def two_levels(mass: float, confident: float, rest: float, ties: bool = True) -> Population:
    """Return a confident mass that is nearly flawless, with a small uncertain rest."""
    name = f"{mass:.0%} at {confident:.1%}, rest {rest:.1%}" + ("" if ties else ", continuous")
    return steps(name, (mass, confident), (1.0, rest), ties=ties)


CELLS = (
    (two_levels(0.95, 0.004, 0.5), (300,)),
    (two_levels(0.95, 0.004, 0.5, ties=False), (300, 1000)),
    (two_levels(0.98, 0.002, 0.5), (300, 1000)),
    (two_levels(0.90, 0.005, 0.3), (300,)),
    (two_levels(0.80, 0.005, 0.2), (300,)),
    (two_levels(0.95, 0.010, 0.5), (300,)),
)
FEW_AT_THE_TOP = ((0.01, 1.0), (0.2, 0.03), (0.4, 0.1), (0.6, 0.2), (0.8, 0.4), (1.0, 0.6))
#: Chosen against the construction after it stood.
ATTACKS = (
    (Population("overconfident top 2 %", lambda u: np.where(u < 0.02, 0.10, 0.001 + 0.3 * u**6)), (200, 500, 2000)),
    (steps("hidden middle level", (0.5, 0.0), (0.9, 0.004), (1.0, 0.4)), (200, 500)),
    (steps("errors at the very top only", (0.01, 0.3), (0.97, 0.0), (1.0, 0.5), ties=False), (300, 1000)),
    (two_levels(0.05, 0.5, 0.996), (300,)),
    (two_levels(0.05, 0.5, 0.004), (300,)),
    (steps("70 % at the top score, 0.3 % wrong", (0.7, 0.003), (0.9, 0.02), (1.0, 0.25)), (200, 500)),
    (Population("perfect ranking, 4 % errors", lambda u: (u > 0.96) * 1.0), (300, 1000)),
    (Population("97 % errors", lambda u: 0.94 + 0.06 * u), (400,)),
    (steps("five levels, top 1 % wrong", *FEW_AT_THE_TOP), (300,)),
)

FIVE = steps("five levels, edge at .8", (0.2, 0.03), *FEW_AT_THE_TOP[2:])
HALF = Population("half of the rows at one score", lambda u: np.where(u <= 0.5, 0.05, 0.05 + 0.8 * (u - 0.5)),
                  (0.5, *np.linspace(0.5, 1.0, 101)[1:].tolist()))  # fmt: skip
SMOOTH = Population("smooth, 10 % errors", lambda u: 0.4 * u**3)
EASY = Population("good model, 3 % errors", lambda u: 0.12 * u**3)
OVERCONFIDENT = Population("overconfident, never below 5.4 %", lambda u: np.where(u < 0.03, 0.4, 0.054 + 0.1 * u**2))


# ---------------------------------------------------------------------- other losses, weights, strata, clusters


class Design(NamedTuple):
    """Samples that are drawn or weighed in another way; the truth is the metric of one huge sample."""

    name: str
    draw: Draw

    def table(self) -> abstain.TieBlocks:
        """Return the table of one huge sample."""
        found = self.draw(4_000_000, np.random.default_rng(99))
        columns = (found["loss"], found["confidence"], found.get("sample_weight"))
        return abstain.TieBlocks.from_samples(*columns, oracle=True)


def stratified(n: int, rng: Rng) -> Columns:
    """A tenth of the rows stands for nine tenths of the population, which is confident and nearly flawless."""
    first = np.arange(n) < n // 10
    loss = (rng.random(n) < np.where(first, 0.03, 0.5)).astype(float)
    weight = np.where(first, 0.9 / first.mean(), 0.1 / (1.0 - first.mean()))
    return {"loss": loss, "confidence": first + rng.random(n), "sample_weight": weight}


def clustered(n: int, rng: Rng) -> Columns:
    """Clusters of ten; one in sixty is corrupt, and most of its confident rows are wrong."""
    cluster = np.arange(n) // 10
    bad = (rng.random(n // 10 + 1) < 1.0 / 60.0)[cluster]
    u = rng.random(n)
    loss = (rng.random(n) < np.where(u < 0.95, np.where(bad, 0.6, 0.001), 0.5)).astype(float)
    return {"loss": loss, "confidence": 1.0 - u, "clusters": cluster}


def frail(n: int, rng: Rng) -> Columns:
    """Clusters of five with their own error rates on the first cell: gamma of variance 1 around its risks."""
    cluster = np.arange(n) // 5
    u, factor = rng.random(n), rng.gamma(1.0, 1.0, n // 5 + 1)[cluster]
    loss = (rng.random(n) < np.minimum(np.where(u < 0.95, 0.004, 0.3) * factor, 1.0)).astype(float)
    return {"loss": loss, "confidence": 1.0 - u, "clusters": cluster}


def verbal(n: int, rng: Rng) -> Columns:
    """Five verbal levels up to 1, where 3 % are wrong."""
    level = rng.integers(1, 6, n)
    loss = (rng.random(n) < np.where(level == 5, 0.03, 1.0 - level / 5)).astype(float)
    return {"loss": loss, "confidence": level / 5}


def real(kind: str, n: int, rng: Rng) -> Columns:
    """Real losses of mean .1 + .6 u^2."""
    u = rng.random(n)
    noise = {
        "exponential": lambda: rng.exponential(1.0, n),
        "log-normal, sd 1.5": lambda: rng.lognormal(-1.125, 1.5, n),
        "Pareto, 2.5": lambda: 0.6 * (1.0 + rng.pareto(2.5, n)),
        "one loss in a hundred is 100 times as large": lambda: np.where(rng.random(n) < 0.01, 50.0, 0.5),
    }[kind]()
    return {"loss": (0.1 + 0.6 * u**2) * noise, "confidence": 1.0 - u}


def weighted(population: Population, kind: str, n: int, rng: Rng) -> Columns:
    """Weights that are log-normal with sd 1, rise with the rank, or are three times as large at errors."""
    found = population.draw(n, rng)
    weight = {
        "log-normal weights": lambda: rng.lognormal(0.0, 1.0, n),
        "weights rise": lambda: np.exp(2.0 * (1.0 - found["confidence"])) * rng.exponential(1.0, n),
        "weights go with errors": lambda: np.where(found["loss"] > 0.0, 3.0, 1.0) * rng.lognormal(0.0, 0.5, n),
    }[kind]()
    return found | {"sample_weight": weight}


# ---------------------------------------------------------------------- coverage of the default intervals


def cell(of: Population | Design, sizes: Iterable[int], metrics: tuple[str, ...], many: int) -> None:
    """Print the coverage of all intervals and of those without a warning, and the shares warned and without one."""
    table, bound = of.table(), {spec: abstain.metrics.parse(spec) for spec in metrics}
    for n in sizes:
        rng, found = np.random.default_rng(n), {spec: np.full((3, many), np.nan) for spec in bound}
        for k in range(many):
            columns = of.draw(n, rng)
            for spec, metric in bound.items():
                each = abstain.confidence_interval(metric, **columns)
                found[spec][:, k] = each.low, each.high, each.warning is not None
        for spec, (low, high, warned) in found.items():
            truth = bound[spec](table)
            truth = 0.0 if np.isnan(truth) else truth  # a coverage that nothing attains
            given = ~np.isnan(low)
            inside = (low <= truth + 1e-12) & (truth - 1e-12 <= high)
            shares = f"{held(inside[given])}  unwarned {held(inside[given & (warned == 0)])}"
            shares += f"  warned {100 * warned.mean():5.1f} %  none {100 * np.mean(~given):4.1f} %"
            say(f"{of.name:36} n {n:5} expected {n * table.mean_loss:6.1f}  {spec:30} {shares}")


def cells(form: Form) -> None:
    """The cells in which intervals failed: rare confident errors."""
    for population, sizes in CELLS:
        cell(population, sizes, AREAS + EXCESS, form(1000, 150))


def attacks(form: Form) -> None:
    """Populations that were chosen against the construction after it stood."""
    for population, sizes in ATTACKS:
        cell(population, sizes, AREAS + EXCESS, form(500, 60))


def designs(form: Form) -> None:
    """Weights, clusters, scores of exactly 0 or 1, real losses."""
    many = form(500, 40)
    cell(Design("stratified", stratified), (100, 400), AREAS, many)
    cell(Design("corrupt clusters of ten", clustered), (600, 2000), AREAS, many)
    cell(Design("frail clusters of five", frail), (500,), AREAS, many)
    cell(Design("errors at a score of 1", verbal), (100, 300, 2000), ("nll_confidence",), many)
    for kind, sizes in (("exponential", (100, 300)), ("log-normal, sd 1.5", (100, 300)), ("Pareto, 2.5", (100,)),
                        ("one loss in a hundred is 100 times as large", (100,))):  # fmt: skip
        cell(Design(kind, partial(real, kind)), sizes, REAL, many)


def edges(form: Form) -> None:
    """A fixed coverage at the end of a wide tie."""
    for population in (FIVE, HALF):
        cell(population, (100, 300, 2000), AT_COVERAGE, form(500, 60))


def coverages(form: Form) -> None:
    """The largest coverage at a risk, which jumps."""
    for population in (SMOOTH, EASY, OVERCONFIDENT, FIVE):
        cell(population, (300, 2000), AT_RISK, form(500, 60))
    for population in (SMOOTH, EASY, OVERCONFIDENT, FIVE):
        for kind in ("log-normal weights", "weights rise", "weights go with errors"):
            design = Design(f"{population.name}; {kind}", partial(weighted, population, kind))
            cell(design, (300, 1000), AT_RISK, form(500, 30))


def top(form: Form) -> None:
    """AURC and AUGRC where confident errors are seldom seen, by where an unseen one may lie."""
    u = (np.arange(1e6) + 0.5) / 1e6
    risks = {"top 2 % at 10 %": np.where(u < 0.02, 0.1, 0.001 + 0.3 * u**6),
             "top 1 % at 30 %": np.where(u < 0.01, 0.3, np.where(u < 0.97, 0.0, 0.5)),
             ".3 u2": 0.3 * u**2, ".2 u3": 0.2 * u**3, ".01 + .3 u2": 0.01 + 0.3 * u**2}  # fmt: skip
    for name, risk in risks.items():
        total = np.cumsum(risk)
        truths = {"aurc": np.mean(total / np.arange(1, len(u) + 1)), "augrc": np.mean(total / len(u))}
        for n in (200, 500, 1000):
            rng, found = np.random.default_rng(2), list[list[Any]]()
            for _ in range(form(1000, 20)):
                x = rng.random(n)
                loss = (rng.random(n) < risk[(x * len(u)).astype(int)]).astype(float)
                made = [(abstain.confidence_interval(metric, loss, -x, unseen=unseen), truth)
                        for metric, truth in truths.items() for unseen in ("random", "top")]  # type: ignore[arg-type]  # fmt: skip
                found.append([(one.low <= truth <= one.high, one.high - one.low) for one, truth in made])
            inside, width = np.moveaxis(np.array(found, dtype=float), 2, 0)
            for k, metric in ((0, "AURC"), (2, "AUGRC")):
                wider = np.median((width[:, k + 1] / width[:, k])[:100])
                shares = f"{held(inside[:, k])} random, {held(inside[:, k + 1])} top, x {wider:.2f}"
                say(f"top, {name}, n={n}: {metric} {shares}")


# ---------------------------------------------------------------------- clusters that are wrong as a whole

#: Sizes of clusters, the chance that one is wrong as a whole (None: rates from Beta(1, 9)), and that of other rows.
WHOLE: dict[str, tuple[Callable[[Rng], Any], float | None, float]] = {
    "60, of 25 rows (one in ten) or 1": (lambda rng: np.where(rng.random(60) < 0.1, 25, 1), 0.1, 0.0),
    "60, of 25 rows (one in five) or 1": (lambda rng: np.where(rng.random(60) < 0.2, 25, 1), 0.15, 0.0),
    "10 of 30 rows, 40 of 3": (lambda rng: np.repeat([30, 3], [10, 40]), 0.1, 0.0),
    "40, log-normal (1.2)": (lambda rng: np.ceil(5.0 * rng.lognormal(0.0, 1.2, 40)).astype(int), 0.1, 0.0),
    "200, of 25 rows (one in twenty) or 1": (lambda rng: np.where(rng.random(200) < 0.05, 25, 1), 0.1, 0.0),
    "12 of 30 rows": (lambda rng: np.full(12, 30), 0.1, 0.03),
    "24 of 15 rows": (lambda rng: np.full(24, 15), 0.04, 0.03),
    "15 of 25 rows": (lambda rng: np.full(15, 25), 0.1, 0.0),
    "15 of 25 rows, wrong ones on top": (lambda rng: np.full(15, 25), 0.1, 0.03),
    "60 of 5 rows, but three of 100": (lambda rng: np.repeat([100, 5], [3, 57]), None, 0.0),
    "60, log-normal (1)": (lambda rng: np.ceil(5.0 * rng.lognormal(0.0, 1.0, 60)).astype(int), None, 0.0),
    "15 of 20 rows": (lambda rng: np.full(15, 20), None, 0.0),
}


def whole(form: Form) -> None:
    """Single intervals without and with room for such clusters, and bands; where there are none, widths alone."""
    for name, (sizes, chance, rows) in WHOLE.items():
        rng, top, w, hold = np.random.default_rng(1), name.endswith("top"), chance or 0.0, list[bool]()
        ends: dict[str, list[Any]] = {spec + way: [] for spec in REAL[:3] for way in (" without", "")}
        for draw in range(form(1000, 10)):
            unit = np.repeat(np.arange(len(size := sizes(rng))), size)
            wrong = (rng.random(len(size)) < w)[unit]
            rate = rows if chance is not None else rng.beta(1, 9, len(size))[unit]
            loss = (wrong | (rng.random(len(unit)) < rate)) * 1.0
            score = rng.random(len(unit)) + (wrong if top else -0.5 * loss if chance is None else 0.0)
            for spec in REAL[:3]:
                with mock.patch.object(_interval, "whole_clusters", return_value=[]):
                    ends[spec + " without"].append(abstain.confidence_interval(spec, loss, score, clusters=unit)[:2])
                ends[spec].append(abstain.confidence_interval(spec, loss, score, clusters=unit)[:2])
            if chance is not None:
                hold.append(contains(loss, score, unit, partial(flat, w, rows, top), draw)[0])
        shown = [f"bands {held(hold)}"] if hold else []
        for spec, found in ends.items():
            low, high = np.array(found)[~np.isnan(found).any(axis=1)].T
            truth = (w + (1.0 - w) * rows) * (0.5 if "augrc" in spec else 1.0)
            inside = f" {held((low <= truth) & (truth <= high))}," if hold and not top else ""
            shown.append(f"{spec}{inside} width {np.median(high - low):.3f}")
        say(f"whole, {name}{'' if chance is None else f'; {chance:g}, other rows {rows:g}'}: {'; '.join(shown)}")


def flat(whole: float, rows: float, top: bool, threshold: Any) -> Any:
    """Return the risk from a threshold on of useless scores; clusters that are wrong as a whole may be on top."""
    others = (1.0 - whole) * (1.0 - top * np.clip(threshold, 0.0, 1.0))
    return (whole + others * rows) / (whole + others)


# ---------------------------------------------------------------------- bands, and differences of coverages


def contains(
    loss: Any, score: Any, clusters: Any, truth: Callable[[Any], Any], draw: int, unseen: str = "whole"
) -> tuple[bool, Any]:
    """Return whether a simultaneous band holds from a coverage of .1 on, and the band."""
    options: dict[str, Any] = {"kind": "simultaneous", "n_draws": 300, "rng": draw, "unseen": unseen}
    band = abstain.inference.risk_band(loss, score, clusters=clusters, **options)
    known = band.coverage >= 0.1
    at = truth(band.threshold)[known]
    return bool(((band.low[known] <= at) & (at <= band.high[known])).all()), band


def bands(form: Form) -> None:
    """Share of samples in which a band with ``clusters=`` holds."""
    grid = (np.arange(4000) + 0.5) / 4000
    for frailty in (True, False):
        rate = stats.gamma(2.0, scale=0.5).ppf((np.arange(2000) + 0.5) / 2000) if frailty else np.ones(1)
        risk = np.minimum((0.02 + 0.35 * grid**2)[:, None] * rate, 1.0).mean(axis=1)
        mean = np.cumsum(risk) / np.arange(1, 4001)
        truth = lambda threshold, mean=mean: np.interp(-threshold, grid + 0.5 / 4000, mean)  # noqa: E731
        for sizes in ("equal", "log-normal", "one in twenty"):
            for m in (60, 200):
                rng, found = np.random.default_rng(3), []
                for draw in range(form(400, 5)):
                    size = np.full(m, 10)
                    if sizes == "log-normal":
                        size = np.clip(np.round(5.0 * np.exp(rng.normal(0.0, 1.0, m) - 0.5)), 1, 200).astype(int)
                    elif sizes == "one in twenty":
                        size = np.where(rng.random(m) < 0.05, 100, 5)
                    cluster = np.repeat(np.arange(m), size)
                    each = rng.gamma(2.0, 0.5, m)[cluster] if frailty else 1.0
                    u = rng.random(len(cluster))
                    loss = (rng.random(len(u)) < np.minimum((0.02 + 0.35 * u**2) * each, 1.0)).astype(float)
                    found.append(contains(loss, -u, cluster, truth, draw)[0])
                say(f"bands, {sizes}, error rates vary: {frailty}, {m} clusters: hold {held(found)}")


def large(form: Form) -> None:
    """Of all clusters 15 % have 40 rows, the others 3 rows and 5 % errors; the scores are useless, so the risk is one.

    ``whole``: a large one is wrong altogether in one case of five; samples without any are those of a population with
    much less risk.
    """
    many = form(2000, 5)
    kinds = [(*kind, unseen) for kind in (("rates from Beta(1, 4)", 60), ("wrong as a whole", 50))
             for unseen in ("whole", "alike")]  # fmt: skip
    for kind, m, unseen in kinds:
        rng, found, below, truth = np.random.default_rng(3), [], [], (6.0 * 0.2 + 2.55 * 0.05) / 8.55
        for draw in range(many):
            big = rng.random(m) < 0.15
            cluster = np.repeat(np.arange(m), np.where(big, 40, 3))
            rate = rng.beta(1, 4, m) if kind.startswith("rates") else (rng.random(m) < 0.2) * 1.0
            loss = (rng.random(len(cluster)) < np.where(big, rate, 0.05)[cluster]) * 1.0
            score = rng.random(len(loss))
            holds, band = contains(loss, score, cluster, partial(np.full_like, fill_value=truth), draw, unseen)
            found.append(holds)
            if not rate[big].any():
                below.append(bool(band.high[-1] < truth))
        none = f"none wrong in {percent(len(below), many)}, below the risk in {held(below)} of these"
        say(f"large clusters, {kind}, unseen={unseen}: hold {held(found)} of {many}, risk {truth:.3f}; {none}")


def differences(form: Form) -> None:
    """The difference of two coverages at a risk where the risk is flat around the limit, and where it rises."""

    def draw(kind: str, rows: int, rng: Rng) -> tuple[Any, dict[str, Any]]:
        e = rng.random(rows)
        risk = np.where(e < 0.7, 0.048, 0.25) if kind == "flat" else 0.4 * e**3
        wider = (0.05, 0.3) if kind == "flat" else (0.0, 0.25)
        scores = {name: -e + by * rng.normal(size=rows) for name, by in zip("ab", wider, strict=True)}
        return (rng.random(rows) < risk).astype(float), scores

    for kind in ("flat", "rises"):
        for limit in (0.01, 0.05):
            for n in (300, 1000):
                rng, found = np.random.default_rng(1), []
                loss, scores = draw(kind, 1_000_000, rng)
                values = [abstain.coverage_at_risk(loss, each, risk=limit) for each in scores.values()]
                truth, metric = values[0] - values[1], f"coverage_at_risk(risk={limit})"
                for _ in range(form(500, 5)):
                    both = abstain.compare(*draw(kind, n, rng), metric=metric, n_resamples=100, rng=0)
                    each = both.difference("a", "b")
                    found.append(each.low <= truth <= each.high)
                say(f"coverage at {limit:g}, {kind}, n={n}: true {truth:.3f}, covered {held(found)}")


if __name__ == "__main__":
    command(__doc__, cells, attacks, designs, edges, coverages, top, whole, bands, large, differences)
