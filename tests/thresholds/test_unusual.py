"""What is seldom meant is said before a certificate rests on it."""

import warnings

import numpy as np
import pytest

from abstain import choose_threshold
from abstain.thresholds._row_warnings import _by_rounding

pytestmark = pytest.mark.usefixtures("threshold_alone")
RNG = np.random.default_rng(0)
N = 2000
SCORE = RNG.random(N)
LOSS = (RNG.random(N) < 0.3 * (1.0 - SCORE)).astype(float)


def said(score=SCORE, groups=None, loss=LOSS):
    """Return the warnings of a certificate."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        choose_threshold(loss, score, risk=0.2, delta=0.05, groups=groups)
    return "\n".join(str(each.message) for each in caught)


def coded(code, rest=SCORE, number=40):
    """Return scores of which so many are a code."""
    return np.where(np.arange(N) < number, code, rest)


def units(fractions, between, cents, rest=0.5):
    """Return so many scores up to 1, up to 10 and up to 100; the others are ``rest``."""
    values = np.full(N, rest) + np.arange(N) * 1e-6
    values[:between], values[between : between + cents] = 5.0, 60.0
    return values[: fractions + between + cents] if rest == 0.5 else values


@pytest.mark.parametrize(
    ("score", "words"),
    [
        *[(coded(code), f"40 values of the score are {code:g}, far from") for code in (-1, -9, -99, -999, 99.0, 999)],
        *[(coded(code), "") for code in (-2.0, -98.0, 98.0, -99.5, 0.99, 1.0)],
        (coded(-1.0, np.where(SCORE < 0.001, 0.0, np.where(SCORE > 0.999, 1.0, SCORE))), ""),  # no further than 1
        (coded(9.0, 10.0 * SCORE), ""), (coded(9.0, 4.0 * SCORE), "40 values of the score are 9, far from"),
        (coded(-9.0, np.where(np.arange(N) < 50, 99.0, SCORE)), "values of the score are -9, far from"),
        (coded(-1.0, 0.4 + 0.001 * SCORE, N - 1), "1,999 values of the score are -1, far from"),
        (units(1900, 0, 100), "ractions and per cent are mixed"), (units(1901, 0, 99), ""),
        (units(100, 0, 1900), "ractions and per cent are mixed"), (units(99, 0, 1901), ""),
        (units(1600, 100, 300), ""), (units(1601, 99, 300), "ractions and per cent are mixed"),
        (units(300, 100, 1600), ""), (units(301, 99, 1600), "ractions and per cent are mixed"),
        (10.0 * SCORE, ""), (np.where(np.arange(N) % 2, SCORE, 200.0 * SCORE), ""),
        (np.where(np.arange(N) % 2, SCORE, 100.0 * SCORE), "ractions and per cent are mixed"),
        (np.where(np.arange(N) % 2, SCORE, 100.0 * SCORE) - 0.5, ""),
    ],
)  # fmt: skip
def test_scores(score, words):
    """A code of nines, or -1, further from all others than these from each other; two scales, a twentieth each."""
    found = said(score)
    assert words in found
    assert bool(found) == bool(words)


@pytest.mark.parametrize(
    ("once", "copies", "digits", "number"),
    [(91, 9, None, 0), (90, 10, None, 10), (1899, 99, None, 0), (1899, 100, None, 100), (400, 100, 4, 0),
     (400, 100, 8, 100)],
)  # fmt: skip
def test_copies(once, copies, digits, number):
    """From ten, and a twentieth of the rows, on; scores of four decimals tie without being copies."""
    rows = np.r_[np.arange(once), np.arange(copies)]
    score = SCORE[rows] if digits is None else np.round(SCORE[rows], digits)
    found = said(score, loss=LOSS[rows])
    assert (f"{number} of {once + copies} rows are exact copies" in found) == (number > 0)
    assert bool(found) == (number > 0)
    other = np.where(np.arange(once + copies) < once, LOSS[rows], 1.0 - LOSS[rows])
    assert said(score, loss=other) == ""


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["A", "a", "c"], "differ by case or blanks alone"), (["A b", "ab"], "differ by case or blanks alone"),
        (["A", "b "], "has blanks at its ends"), ([" b", "c"], "has blanks at its ends"), (["a b", "c"], ""),
        ([f"{k}.5" for k in range(21)], "numbers with decimals"), ([f"{k}.5" for k in range(20)], ""),
        ([*[f"{k}.5" for k in range(21)], *map(str, range(20))], "numbers with decimals"),
        ([*[f"{k}.5" for k in range(21)], *map(str, range(21))], ""), ([f"{k}.0" for k in range(30)], ""),
        ([f"site {k}" for k in range(30)], ""),
    ],
)  # fmt: skip
def test_groups(names, words):
    """Spellings that differ alone by case and blanks; more than twenty measured values, more than half of all."""
    found = said(groups=np.array(names)[np.arange(N) % len(names)])
    assert words in found
    assert bool(found) == bool(words)


@pytest.mark.parametrize(
    ("score", "tied", "part"),
    [
        ([0.9, 0.7, 0.69, 0.5, 0.3], (0, 1, 2, 4), 1 / 2), ([0.9, 0.89, 0.5, 0.3, 0.29], (0, 2, 4), 2 / 3),
        ([0.9, 0.885, 0.5, 0.4], (0, 2), 0.0), ([0.9, 0.88, 0.5, -np.inf], (0, 1, 2), 0.0), ([0.5, 0.25], (0, 1), 0.0),
        (np.float32([0.7, 0.69999993, 0.1]).astype(float), (0, 2), 1 / 2),
    ],
)  # fmt: skip
def test_how_many_tie_by_rounding(score, tied, part):
    """Of those that tie the part that has a neighbour within one and a half steps gives how many rows lie on a step."""
    each = np.isin(np.arange(len(score)), tied)
    rows = -0.5 * np.log(1.0 - part)
    wanted = 1.0 - (1.0 - np.exp(-rows)) / rows if part else 0.0
    assert _by_rounding(np.array(score), each) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("scale", [1.0, 100.0, -30.0])
def test_usual_rows_have_no_warning(scale):
    assert said(scale * SCORE) == said(np.log(SCORE)) == said(groups=np.arange(N) % 30) == ""
