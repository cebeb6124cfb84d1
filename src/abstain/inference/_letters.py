"""Compact letter display: two names share a letter exactly if they do not differ significantly."""

from __future__ import annotations

from itertools import combinations
from string import ascii_letters

import numpy as np

from abstain._checks import plain
from abstain._typing import ArrayLike, BoolArray

__all__ = ["letter_groups"]


def letter_groups(significant: ArrayLike) -> list[str]:
    r"""Return the letters of a compact letter display, by insert-and-absorb.

    Two entries share a letter if, and only if, their difference is not significant. Start with one group of all;
    for each significant pair split every group that holds both; drop a group that lies inside another one, and
    at last those whose pairs all share other groups.

    Parameters
    ----------
    significant : array-like of shape (k, k), bool
        Symmetric; whether two entries differ significantly. Entries in the order in which letters are handed out,
        mostly best first.

    Returns
    -------
    list of str
        One string of letters per entry, "a" first; a to z, A to Z, then "(53)" and so on.

    Raises
    ------
    ValueError
        Not a symmetric matrix, or an entry that differs from itself.

    Notes
    -----
    Absence of a significant difference is not evidence of equality: a shared letter means "not told apart".

    References
    ----------
    Piepho (2004), Journal of Computational and Graphical Statistics 13: insert and absorb, and its sweeping.

    Examples
    --------
    The first differs from the last, and the middle one from none:

    >>> import abstain
    >>> abstain.inference.letter_groups([[0, 0, 1], [0, 0, 0], [1, 0, 0]])
    ['a', 'ab', 'b']
    """
    matrix = _checked(significant)
    groups = [frozenset(range(len(matrix)))] if len(matrix) else []
    for i, j in combinations(range(len(matrix)), 2):
        if matrix[i, j]:
            groups = _split(groups, i, j)
    groups = sorted(_swept(groups), key=sorted)
    names = [_letter(k) for k in range(len(groups))]
    return ["".join(name for name, group in zip(names, groups, strict=True) if i in group) for i in range(len(matrix))]


def _checked(significant: ArrayLike) -> BoolArray:
    matrix = plain(significant, "significant", "a symmetric matrix of truth values").astype(np.bool_)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"significant must be a symmetric matrix, got shape {matrix.shape}")
    astray = np.argwhere(matrix != matrix.T)
    if astray.size:
        i, j = astray[0]
        raise ValueError(f"significant must be symmetric, but [{i}, {j}] and [{j}, {i}] differ; set both")
    if np.diag(matrix).any():
        raise ValueError(f"significant[{int(np.argmax(np.diag(matrix)))}] differs from itself; the diagonal is False")
    return matrix


def _split(groups: list[frozenset[int]], i: int, j: int) -> list[frozenset[int]]:
    """Split every group that holds both, and absorb what then lies inside another group."""
    kept = [group for group in groups if not {i, j} <= group]
    parts = {group - {out} for group in groups if {i, j} <= group for out in (i, j)}
    parts = {part for part in parts if not any(part <= group for group in kept)}
    return kept + [part for part in parts if not any(part < other for other in parts)]


def _swept(groups: list[frozenset[int]]) -> list[frozenset[int]]:
    """Leave out groups, the smallest first, whose members and pairs all share other groups."""
    for group in sorted(groups, key=lambda group: (len(group), sorted(group))):
        others = [other for other in groups if other != group]
        pairs = list(combinations(sorted(group), 2)) or [(next(iter(group)),) * 2]
        if all(any(set(pair) <= other for other in others) for pair in pairs):
            groups = others
    return groups


def _letter(k: int) -> str:
    return ascii_letters[k] if k < len(ascii_letters) else f"({k + 1})"
