"""Letters: two names share one if and only if they do not differ significantly. What Holm refuses."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstain.inference import holm, letter_groups


@st.composite
def matrices(draw: st.DrawFn, max_size: int = 9) -> np.ndarray:
    size = draw(st.integers(0, max_size))
    matrix = np.zeros((size, size), dtype=bool)
    for i, j in combinations(range(size), 2):
        matrix[i, j] = matrix[j, i] = draw(st.booleans())
    return matrix


@given(matrices())
def test_letters_are_shared_exactly_without_significance(matrix):
    letters = letter_groups(matrix)
    assert all(letters)
    for i, j in combinations(range(len(matrix)), 2):
        assert matrix[i, j] == (not set(letters[i]) & set(letters[j]))


@given(matrices())
def test_no_letter_is_superfluous(matrix):
    letters = letter_groups(matrix)
    for letter in set("".join(letters)):
        rest = [text.replace(letter, "") for text in letters]
        needed = any(not text for text in rest) or any(
            not matrix[i, j] and not set(rest[i]) & set(rest[j]) for i, j in combinations(range(len(matrix)), 2)
        )
        assert needed


def test_published_example():
    """Piepho 2004: a chain in which neighbours do not differ."""
    size = 5
    matrix = np.abs(np.subtract.outer(np.arange(size), np.arange(size))) > 1
    assert letter_groups(matrix) == ["a", "ab", "bc", "cd", "d"]
    assert letter_groups(np.ones((3, 3)) - np.eye(3)) == ["a", "b", "c"]
    assert letter_groups(np.zeros((3, 3))) == ["a", "a", "a"]


def test_more_groups_than_letters():
    letters = letter_groups(1 - np.eye(60))
    assert len(set(letters)) == 60
    assert letters[52] == "(53)"


def test_bad_matrices():
    with pytest.raises(ValueError, match=r"symmetric, but \[0, 1\] and \[1, 0\] differ"):
        letter_groups([[0, 1], [0, 0]])
    with pytest.raises(ValueError, match=r"symmetric matrix, got shape \(1, 2\)"):
        letter_groups([[0, 1]])
    with pytest.raises(ValueError, match="differs from itself"):
        letter_groups([[1]])


@pytest.mark.parametrize(
    ("p", "error", "message"),
    [
        ([0.1, np.nan], ValueError, r"p_values is outside \[0, 1\]: p_values\[1\] = nan"),
        ([0.1, 5], ValueError, r"p_values\[1\] = 5.0"),
        (["a"], TypeError, "p_values must be numeric"),
        ([[0.1]], ValueError, "p_values must be one-dimensional"),
    ],
)
def test_what_is_no_p_value_is_named(p, error, message):
    with pytest.raises(error, match=message):
        holm(p)
