"""Several training runs on one test set: two sources of variance, kept apart."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from abstain._typing import FloatArray


class Components(NamedTuple):
    """Variance of a mean over runs: from the test set, and from training (NaN: one run cannot tell)."""

    test: float
    seed: float
    df: float

    @property
    def total(self) -> float:
        """Sum of what is known."""
        return self.test + (0.0 if np.isnan(self.seed) else self.seed)


def over_runs(terms: FloatArray) -> FloatArray:
    """Return the mean of terms over runs; of a single run its own, without a copy."""
    return np.asarray(terms[0] if len(terms) == 1 else terms.mean(axis=0))


def components(values: FloatArray, terms: FloatArray, df: float, times: FloatArray | None = None) -> Components:
    r"""Return the variance components of the mean of ``values`` over runs.

    All runs share the test set, so its part is the squared norm of the terms averaged over runs. The spread of the
    values between runs holds training noise and, because each run errs on other samples, test-set noise

    .. math:: I = \frac{1}{R-1}\sum_r \lVert t_r - \bar t\rVert^2

    that the first part counts already: training is what exceeds it, ``max(0, S^2 - I) / R``.

    Parameters
    ----------
    values : ndarray of shape (n_runs,)
    terms : ndarray of shape (n_runs, n_terms)
        Squares sum to the test-set variance of each run.
    df : float
        Degrees of freedom of the test-set part.
    times : ndarray of shape (n_terms,), optional
        Of a single run: how many rows each term stands for.

    Notes
    -----
    The degrees of freedom of the sum are Welch and Satterthwaite's, of S^2/R (R - 1 of them) and of the part that all
    runs share. Two runs: nothing is subtracted, because S^2 with its single degree of freedom is often far too small
    by chance; with the subtraction the test of two equal models rejected 7.5 to 9.3 % (n = 300), without it 3.9 to
    6.5 %; from three runs on it rejects 3.2 to 5.6 % with it.
    """
    runs = values.size
    mean = over_runs(terms)
    if runs == 1:
        return of_one(mean, df, times)
    test = float(mean @ mean)
    between = float(np.var(values, ddof=1)) / runs
    inside = 0.0 if runs == 2 else float(np.sum((terms - mean) ** 2)) / (runs - 1) / runs
    if between <= inside:
        return Components(test, 0.0, df)
    return Components(test, between - inside, satterthwaite((max(test - inside, 0.0), df), (between, runs - 1.0)))


def satterthwaite(*parts: tuple[float, float]) -> float:
    """Return the degrees of freedom of a sum of independent variances, each given with its own."""
    total = sum(variance for variance, _ in parts)
    spread = sum(variance**2 / df for variance, df in parts if variance > 0.0)
    return np.inf if spread == 0.0 else total**2 / spread


def of_pair(
    values: tuple[FloatArray, FloatArray],
    terms: tuple[FloatArray, FloatArray],
    df: float,
    paired: bool,
) -> Components:
    """Return the variance components of a difference of means over runs.

    Runs that belong together (the same trained model, two scores) are subtracted run by run; runs of models that
    were trained apart add their training variances.
    """
    if paired:
        return components(values[0] - values[1], terms[0] - terms[1], df)
    difference = over_runs(terms[0]) - over_runs(terms[1])
    test = float(difference @ difference)
    first, second = (components(value, term, df) for value, term in zip(values, terms, strict=True))
    if np.isnan(first.seed) or np.isnan(second.seed):
        return Components(test, np.nan, df)
    if first.seed + second.seed == 0.0:
        return Components(test, 0.0, df)
    parts = [(part.seed, value.size - 1.0) for part, value in zip((first, second), values, strict=True)]
    return Components(test, first.seed + second.seed, satterthwaite((test, df), *parts))


def of_one(terms: FloatArray, df: float, times: FloatArray | None = None) -> Components:
    """Return the variance components of what was measured in a single run: its terms say nothing of training."""
    return Components(float(terms @ (terms if times is None else times * terms)), np.nan, df)


def covariance_of_runs(values: tuple[FloatArray, ...], paired: bool) -> FloatArray:
    """Return the training part of the covariance matrix of the means over runs; zero for single runs."""
    if paired and values[0].size > 1:
        result: FloatArray = np.atleast_2d(np.cov(np.stack(values), ddof=1)) / values[0].size
        return result
    return np.diag([0.0 if value.size == 1 else float(np.var(value, ddof=1)) / value.size for value in values])
