"""Strata and clusters: small ones, samples of weight 0, columns of any library, missing groups."""

import numpy as np
import pytest

import abstain
from tests.inference.test_influence import draw


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
    rng = np.random.default_rng(5)
    loss, score = rng.random(400), rng.random(400)
    pairs, tens = np.arange(400) // 2, np.arange(400) // 10
    drawn = abstain.inference.bootstrap("risk", loss, score, strata=pairs)
    error = abstain.standard_error("risk", loss, score, strata=pairs)
    assert drawn.standard_error == pytest.approx(error / np.sqrt(2.0), rel=0.08)
    assert "the smallest stratum holds 2 sample(s)" in drawn.warning
    assert abstain.inference.bootstrap("risk", loss, score, strata=tens).warning is None
    assert abstain.inference.bootstrap("risk", loss, score, clusters=tens).warning is None
    scores = {"a": score, "b": rng.random(400)}
    for strata, said in ((pairs, True), (tens, False)):
        table = abstain.compare(loss, scores, metric="augrc", method="bootstrap", n_resamples=100, strata=strata).table
        assert ("smallest stratum" in str(table[0]["warning"])) == said


def test_strata_of_one_sample_are_taken_together():
    loss, score, _ = draw(7)
    strata = np.where(np.arange(loss.size) < loss.size // 2, -1, np.arange(loss.size))
    together = np.where(strata < 0, -1, 0)
    found = abstain.standard_error("augrc", loss, score, strata=strata)
    assert found == pytest.approx(abstain.standard_error("augrc", loss, score, strata=together))
    with pytest.raises(ValueError, match="every stratum holds a single sample"):
        abstain.standard_error("augrc", loss, score, strata=np.arange(loss.size))
    groups = np.arange(loss.size) % 4
    with pytest.raises(ValueError, match="every stratum holds a single cluster"):
        abstain.standard_error("augrc", loss, score, strata=groups, clusters=groups)


def test_samples_of_weight_0_make_no_cluster():
    loss, score, _ = draw(8)
    clusters, kept = np.arange(loss.size) % 20, np.arange(loss.size) % 20 < 6
    found = abstain.confidence_interval("augrc", loss, score, sample_weight=kept.astype(float), clusters=clusters)
    alone = abstain.confidence_interval("augrc", loss[kept], score[kept], clusters=clusters[kept])
    assert found == pytest.approx(alone)
    assert "only 6 clusters" in found.warning


CONSTRUCTORS = {"numpy": "array", "pandas": "Series", "polars": "Series", "pyarrow": "array"}


@pytest.mark.parametrize("library", CONSTRUCTORS)
def test_groups_of_any_library_are_taken(library):
    make = getattr(pytest.importorskip(library), CONSTRUCTORS[library])
    loss, score, _ = draw(6)
    expected = abstain.standard_error("augrc", loss, score, clusters=np.arange(loss.size) % 7)
    groups = make([f"patient {k % 7}" for k in range(loss.size)])
    assert abstain.standard_error("augrc", loss, score, clusters=groups) == pytest.approx(expected)


@pytest.mark.parametrize("values", [["a", None], [1, None], [1.0, float("nan")]])
@pytest.mark.parametrize("library", CONSTRUCTORS)
def test_a_missing_group_is_named(library, values):
    make = getattr(pytest.importorskip(library), CONSTRUCTORS[library])
    with pytest.raises(ValueError, match=r"clusters\[1\] is missing; give every sample a group"):
        abstain.standard_error("augrc", [0, 1], [0.1, 0.2], clusters=make(values))


def test_a_missing_date_or_category_is_named():
    with pytest.raises(ValueError, match=r"strata\[1\] is missing"):
        abstain.standard_error("augrc", [0, 1], [0.1, 0.2], strata=np.array(["2020-01-01", "NaT"], "datetime64[D]"))
    pandas = pytest.importorskip("pandas")
    for kind, values in (("category", ["a", None]), ("Int64", [1, None])):
        with pytest.raises(ValueError, match=r"strata\[1\] is missing"):
            abstain.standard_error("augrc", [0, 1], [0.1, 0.2], strata=pandas.Series(values, dtype=kind))
