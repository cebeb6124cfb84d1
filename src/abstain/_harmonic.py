"""Means of harmonic numbers and logarithms over runs of ranks, exact to rounding at any rank.

The obvious differences (b H_b - a H_a, lgamma(b) - lgamma(a)) cancel: at rank 1e6 they keep six digits.
Both expansions below are written in x = rank + 1/2, where their odd terms vanish.
"""

from __future__ import annotations

import numpy as np

from abstain._typing import FloatArray

_NEAR = 16  # below this rank: exact tables; from it on: series, good to 1e-17
_HARMONIC = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, _NEAR + 1))))  # H_0 .. H_16
_LOG_FACTORIAL = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, _NEAR + 1)))))  # ln 0! .. ln 16!


def _harmonic_tail(n: FloatArray) -> FloatArray:
    """H_n - ln(n + 1/2) - gamma."""
    z = 1.0 / (n + 0.5) ** 2
    return z * (1 / 24 + z * (-7 / 960 + z * (31 / 8064 + z * (-127 / 30720 + z * 511 / 67584))))


def _stirling_tail(n: FloatArray) -> FloatArray:
    """Ln n! - [x ln x - x + ln(2 pi)/2] with x = n + 1/2."""
    z = 1.0 / (n + 0.5) ** 2
    series = -1 / 24 + z * (7 / 2880 + z * (-31 / 40320 + z * (127 / 215040 - z * 511 / 608256)))
    return series / (n + 0.5)


def _far(low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    return np.maximum(low, _NEAR), np.maximum(high, _NEAR)


def _near(table: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    return table[np.minimum(high, _NEAR).astype(np.intp)] - table[np.minimum(low, _NEAR).astype(np.intp)]


def harmonic_difference(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return H_high - H_low = 1/(low + 1) + ... + 1/high, elementwise."""
    start, stop = _far(low, high)
    far = np.log1p((stop - start) / (start + 0.5)) + _harmonic_tail(stop) - _harmonic_tail(start)
    return _near(_HARMONIC, low, high) + far


def mean_harmonic(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the mean of H_n - H_low over n = low, ..., high - 1."""
    return high * harmonic_difference(low, high) / (high - low) - 1.0


def mean_log(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the mean of ln n over n = low + 1, ..., high."""
    start, stop = _far(low, high)
    width, y = stop - start, start + 0.5
    far = width * np.log(stop + 0.5) + (y * np.log1p(width / y) - width) + _stirling_tail(stop) - _stirling_tail(start)
    return (_near(_LOG_FACTORIAL, low, high) + far) / (high - low)
