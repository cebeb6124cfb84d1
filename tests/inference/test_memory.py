"""What large tables do not keep: nothing is lost by it."""

import dataclasses

import numpy as np
import pytest

import abstain

#: What is kept, and for how many rows.
KEPT = {
    "abstain.inference._unseen.MOST_KEPT": 0, "abstain.metrics._augrc.KEPT": 0,
    "abstain.inference._interval.MOST_KEPT": 0, "abstain.metrics._area.KEPT": 0, "abstain._sums.ROOM": 1000,
    "abstain.metrics._area.ROOM": 1000, "abstain._sums.PART": 700,
}  # fmt: skip


@pytest.mark.parametrize(("rows", "less"), [("0/1", 7), ("0/1", 2), ("real", 2), ("clusters", 2)])
@pytest.mark.parametrize("digits", [None, 2])
def test_an_evaluation_that_gives_memory_back_has_the_same_numbers(monkeypatch, digits, rows, less):
    """Large tables keep neither gradients nor sums; one with one more error keeps no columns. Small ones do the same.

    What is made part by part, or follows from the table before, is what is made of columns.
    """
    rng = np.random.default_rng(0)
    score = rng.random(3000) if digits is None else np.round(rng.random(3000), digits)
    score[:3] = 1.0 + 1e-13  # counts as 1
    loss = (rng.random(3000) > score) * (rng.random(3000) if rows == "real" else 1.0)
    given = {"clusters": np.arange(3000) // 3} if rows == "clusters" else {}

    def evaluated():
        found = abstain.evaluate(loss=loss, confidence=score, metrics="all", **given).measurements
        return np.array([[each.value, each.low, each.high, each.standard_error] for each in found], dtype=float)

    before = evaluated()
    for name, most in list(KEPT.items())[:less]:
        monkeypatch.setattr(name, most)
    np.testing.assert_allclose(evaluated(), before, rtol=1e-11)


def test_such_a_table_is_changed_as_any_other(monkeypatch):
    """A metric of one's own may replace columns, merge and weigh anew: what it makes are plain tables."""
    rng, plain = np.random.default_rng(0), abstain.metrics.get("augrc")
    score = rng.random(500)
    loss, kinds = rng.random(500) > score, set()

    def value(blocks):
        twice = dataclasses.replace(blocks, weight=2.0 * blocks.weight, loss=2.0 * blocks.loss, samples=None)
        made = twice, blocks.reweight(np.ones(blocks.n)), twice.merge(blocks), blocks.merge(twice)
        kinds.update((type(blocks) is abstain.TieBlocks, *(type(each) is abstain.TieBlocks for each in made)))
        with pytest.raises(ValueError, match="read-only"):
            blocks.loss[0] = 1.0
        return plain(made[2])

    own = dataclasses.replace(plain, value=value)
    before, kinds = abstain.confidence_interval(own, loss, score), set()
    monkeypatch.setattr("abstain.inference._unseen.MOST_KEPT", 0)
    after = abstain.confidence_interval(own, loss, score)
    assert (after.low, after.high) == pytest.approx((before.low, before.high), rel=1e-12)
    assert kinds == {True, False}
