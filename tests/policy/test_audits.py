"""Audits: which answers are drawn for a label, and with which chance."""

import hashlib

import numpy as np
import pytest

import abstain

POLICY = abstain.choose_threshold([0, 1, 0], [0.9, 0.2, 0.6], coverage=0.5).policy(score="msp")


def test_draws_follow_from_identifier_and_seed():
    """A row is drawn if the hash of seed and identifier lies below its chance, whatever else is decided with it."""
    score, names = [0.95, 0.7, 0.3, float("nan")], ["a", "b", "c", "d"]
    found = POLICY.decide(score, ids=names, audit=0.5, seed="secret")
    assert found.label_probability.tolist() == [0.5, 0.5, 1.0, 1.0]
    digests = [hashlib.sha256(f"secret\x1f{name}".encode()).digest()[:8] for name in names]
    below = [int.from_bytes(each, "little") / 2**64 for each in digests]
    assert found.drawn.tolist() == [below[0] < 0.5, below[1] < 0.5, True, True]
    one = POLICY.decide(0.7, ids="b", audit=0.5, seed="secret")
    assert (one.drawn[0], one.label_probability[0], one.reason[0]) == (found.drawn[1], 0.5, "accepted")


def test_the_share_that_is_drawn():
    """Of many answers about the asked share is drawn; another seed draws others, of all rejected ones every one."""
    score = np.linspace(0, 1, 20_000)
    names = [str(k) for k in range(20_000)]
    first, other = (POLICY.decide(score, ids=names, audit=0.1, seed=seed) for seed in (1, 2))
    assert first.drawn[~first.accepted].all()
    assert first.drawn[first.accepted].mean() == pytest.approx(0.1, abs=0.015)
    both = (first.drawn & other.drawn)[first.accepted].mean()
    assert both == pytest.approx(0.01, abs=0.006)


def test_what_cannot_be_drawn():
    """Draws need names, one for each row, and a chance above 0."""
    for given, error, message in (
        ({"audit": 0.1, "seed": 1}, TypeError, "needs ids="),
        ({"audit": 0.1, "ids": ["a"]}, TypeError, "seed=, kept secret"),
        ({"audit": 0.0, "ids": ["a"], "seed": 1}, ValueError, r"in \(0, 1\]"),
        ({"audit": 0.1, "ids": [None], "seed": 1}, ValueError, "must name each row"),
        ({"audit": 0.1, "ids": ["a", "b"], "seed": 1}, ValueError, "2 names for 1 rows"),
    ):
        with pytest.raises(error, match=message):
            POLICY.decide([0.9], **given)


def test_names_are_of_one_row_each():
    """Rows of one name would be drawn together; a whole number is one name, whatever its type."""
    with pytest.raises(ValueError, match="no two alike"):
        POLICY.decide([0.9, 0.8], ids=["a", "a"], audit=0.5, seed=1)
    kinds = [np.array([1, 2], dtype=kind) for kind in (int, float, str)]
    draws = [POLICY.decide([0.9, 0.8], ids=ids, audit=0.5, seed=1).drawn for ids in kinds]
    assert (draws[0] == draws[1]).all()
    assert (draws[0] == draws[2]).all()
