"""Strata and clusters: small ones, samples of weight 0, columns of any library, missing groups."""

import numpy as np
import pytest

import abstain
from abstain.inference import risk_band
from tests.inference.test_influence import draw
from tests.refusal import refused


def test_pairs_as_strata_keep_their_variance():
    """A stratum of two shows half of its variance; the simulated spread of a stratified mean is met."""
    rng = np.random.default_rng(1)
    strata = np.repeat(np.arange(40), 2)
    draws = rng.random((2000, 80)) + np.repeat(rng.random(40), 2)
    spread = np.std(draws.mean(axis=1))
    errors = [abstain.standard_error("risk", loss, np.arange(80), strata=strata) for loss in draws[:200]]
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(spread, rel=0.06)


def test_a_bootstrap_within_small_strata_warns():
    """Of pairs it shows half of the variance; ten in each stratum are enough to say nothing."""
    loss, score = np.random.default_rng(5).random((2, 100))
    for size in (2, 10):
        strata = np.arange(100) // size
        drawn = abstain.inference.bootstrap("risk", loss, score, strata=strata, n_resamples=400)
        error = abstain.standard_error("risk", loss, score, strata=strata)
        assert drawn.standard_error == pytest.approx(error * np.sqrt(1.0 - 1.0 / size), rel=0.08)
        given = {"metric": "augrc", "method": "bootstrap", "n_resamples": 20, "strata": strata}
        table = abstain.compare(loss, {"a": score, "b": -score}, **given).table
        for warning in (drawn.warning, table[0]["warning"]):
            assert ("the smallest stratum holds 2 sample(s)" in str(warning)) == (size == 2)


def test_strata_of_one_sample_are_taken_together():
    loss, score, _ = draw(7)
    strata = np.where(np.arange(loss.size) < loss.size // 2, -1, np.arange(loss.size))
    found = abstain.standard_error("augrc", loss, score, strata=strata)
    assert found == pytest.approx(abstain.standard_error("augrc", loss, score, strata=np.minimum(strata, 0)))


def test_samples_of_weight_0_make_no_cluster():
    loss, score, _ = draw(8)
    clusters, kept = np.arange(loss.size) % 20, np.arange(loss.size) % 20 < 6
    found = abstain.confidence_interval("augrc", loss, score, sample_weight=kept.astype(float), clusters=clusters)
    alone = abstain.confidence_interval("augrc", loss[kept], score[kept], clusters=clusters[kept])
    assert found == pytest.approx(alone)
    assert "only 6 clusters" in found.warning


@pytest.mark.parametrize("risk", ["selective", "generalized"])
@pytest.mark.parametrize("clustered", [False, True])
def test_samples_of_weight_0_leave_the_band_as_it_is(risk, clustered):
    """They make no threshold, no row and no cluster."""
    loss, score, _ = draw(8)
    unit, kept = np.arange(loss.size) % 20 if clustered else None, np.arange(loss.size) % 20 < 8
    few = None if unit is None else unit[kept]
    found = risk_band(loss, score, sample_weight=kept * 1.0, clusters=unit, risk=risk)
    alone = risk_band(loss[kept], score[kept], sample_weight=np.ones(kept.sum()), clusters=few, risk=risk)
    assert found.table() == {name: pytest.approx(column, rel=1e-12) for name, column in alone.table().items()}


CONSTRUCTORS = {"numpy": "array", "pandas": "Series", "polars": "Series", "pyarrow": "array"}


@pytest.mark.parametrize("library", CONSTRUCTORS)
def test_groups_of_any_library_are_taken_and_a_missing_one_is_named(library):
    make = getattr(pytest.importorskip(library), CONSTRUCTORS[library])
    loss, score, _ = draw(6)
    expected = abstain.standard_error("augrc", loss, score, clusters=np.arange(loss.size) % 7)
    groups = make([f"patient {k % 7}" for k in range(loss.size)])
    assert abstain.standard_error("augrc", loss, score, clusters=groups) == pytest.approx(expected)
    said = r"clusters\[1\] is missing; give every sample a group"
    columns = [make(values) for values in (["a", None], [1, None], [1.0, float("nan")])]
    columns += [make(["a", None], dtype="category"), make([1, None], dtype="Int64")] if library == "pandas" else []
    for column in columns:
        refused(ValueError, said, abstain.standard_error, "augrc", [0, 1], [0.1, 0.2], clusters=column)
