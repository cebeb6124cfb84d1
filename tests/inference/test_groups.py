"""Strata and clusters: small ones, samples of weight 0, columns of any library, missing groups."""

from __future__ import annotations

import numpy as np
import pytest

import recuse
from tests.inference.test_influence import draw


def test_pairs_as_strata_keep_their_variance():
    """A stratum of two shows half of its variance; the simulated spread of a stratified mean is met."""
    rng = np.random.default_rng(1)
    strata = np.repeat(np.arange(40), 2)
    draws = rng.random((2000, 80)) + np.repeat(rng.random(40), 2)
    spread = np.std(draws.mean(axis=1))
    errors = [recuse.standard_error("risk", loss, np.arange(80), strata=strata) for loss in draws[:200]]
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(spread, rel=0.06)


def test_strata_of_one_sample_are_taken_together():
    loss, score, _ = draw(7)
    strata = np.where(np.arange(loss.size) < loss.size // 2, -1, np.arange(loss.size))
    together = np.where(strata < 0, -1, 0)
    found = recuse.standard_error("augrc", loss, score, strata=strata)
    assert found == pytest.approx(recuse.standard_error("augrc", loss, score, strata=together))
    with pytest.raises(ValueError, match="every stratum holds a single sample"):
        recuse.standard_error("augrc", loss, score, strata=np.arange(loss.size))
    groups = np.arange(loss.size) % 4
    with pytest.raises(ValueError, match="every stratum holds a single cluster"):
        recuse.standard_error("augrc", loss, score, strata=groups, clusters=groups)


def test_samples_of_weight_0_make_no_cluster():
    loss, score, _ = draw(8)
    clusters, kept = np.arange(loss.size) % 20, np.arange(loss.size) % 20 < 6
    found = recuse.confidence_interval("augrc", loss, score, sample_weight=kept.astype(float), clusters=clusters)
    alone = recuse.confidence_interval("augrc", loss[kept], score[kept], clusters=clusters[kept])
    assert found == pytest.approx(alone)
    assert "only 6 clusters" in found.warning


CONSTRUCTORS = {"numpy": "array", "pandas": "Series", "polars": "Series", "pyarrow": "array"}


@pytest.mark.parametrize("library", CONSTRUCTORS)
def test_groups_of_any_library_are_taken(library):
    make = getattr(pytest.importorskip(library), CONSTRUCTORS[library])
    loss, score, _ = draw(6)
    expected = recuse.standard_error("augrc", loss, score, clusters=np.arange(loss.size) % 7)
    groups = make([f"patient {k % 7}" for k in range(loss.size)])
    assert recuse.standard_error("augrc", loss, score, clusters=groups) == pytest.approx(expected)


@pytest.mark.parametrize("values", [["a", None], [1, None], [1.0, float("nan")]])
@pytest.mark.parametrize("library", CONSTRUCTORS)
def test_a_missing_group_is_named(library, values):
    make = getattr(pytest.importorskip(library), CONSTRUCTORS[library])
    with pytest.raises(ValueError, match=r"clusters\[1\] is missing; give every sample a group"):
        recuse.standard_error("augrc", [0, 1], [0.1, 0.2], clusters=make(values))


def test_a_missing_date_or_category_is_named():
    with pytest.raises(ValueError, match=r"strata\[1\] is missing"):
        recuse.standard_error("augrc", [0, 1], [0.1, 0.2], strata=np.array(["2020-01-01", "NaT"], "datetime64[D]"))
    pandas = pytest.importorskip("pandas")
    for kind, values in (("category", ["a", None]), ("Int64", [1, None])):
        with pytest.raises(ValueError, match=r"strata\[1\] is missing"):
            recuse.standard_error("augrc", [0, 1], [0.1, 0.2], strata=pandas.Series(values, dtype=kind))
