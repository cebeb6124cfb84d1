"""What is seldom meant is said before a certificate rests on it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from abstain import choose_threshold

RNG = np.random.default_rng(0)
N = 2000
SCORE = RNG.random(N)
LOSS = (RNG.random(N) < 0.3 * (1.0 - SCORE)).astype(float)


def said(score: Any = SCORE, groups: Any = None) -> str:
    """Return the warnings of a certificate."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        choose_threshold(LOSS, score, risk=0.2, delta=0.05, groups=groups)
    return "\n".join(str(each.message) for each in caught)


@pytest.mark.parametrize(
    ("score", "words"),
    [
        (np.where(np.arange(N) % 2, SCORE, 100.0 * SCORE), "fractions and per cent are mixed"),
        (np.where(np.arange(N) % 50, SCORE, -999.0), "40 values of the score are -999, far from all others"),
    ],
)
def test_scores(score: Any, words: str) -> None:
    with pytest.warns(UserWarning, match=words):
        choose_threshold(LOSS, score, risk=0.2, delta=0.05)


def test_an_infinite_score_is_refused() -> None:
    with pytest.raises(ValueError, match=r"holds \+inf"):
        said(np.where(np.arange(N) % 50, SCORE, np.inf))


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        (np.array(["A", "a", "c"])[np.arange(N) % 3], "differ by case or blanks alone"),
        (np.array(["A", "b "])[np.arange(N) % 2], "has blanks at its ends"),
        (np.round(RNG.random(N), 2), "numbers with decimals"),
    ],
)
def test_groups(groups: Any, words: str) -> None:
    assert words in said(groups=groups)


@pytest.mark.parametrize("scale", [1.0, 100.0, -30.0])
def test_usual_rows_have_no_warning(scale: float) -> None:
    assert said(scale * SCORE) == said(np.log(SCORE)) == said(groups=np.arange(N) % 30) == ""
