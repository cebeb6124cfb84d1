"""The slow, obviously right table: a dictionary from score to the rows that share it."""

import math
from collections import defaultdict

import numpy as np

from abstain import TieBlocks

COLUMNS = ("score", "weight", "loss", "count")
MOMENTS = ("weight2", "weight2_loss", "weight2_loss2")


def slow_table(loss, confidence, weight=None):
    """Return the columns of the table, highest score first, without blocks of weight zero."""
    weight = [1.0] * len(loss) if weight is None else weight
    rows = defaultdict(list)
    for sample_loss, score, sample_weight in zip(loss, confidence, weight, strict=True):
        rows[float(score)].append((float(sample_loss), float(sample_weight)))  # -0.0 == 0.0 is one key
    table = {name: [] for name in COLUMNS + MOMENTS}
    for score in sorted(rows, reverse=True):
        block = rows[score]
        if sum(w for _, w in block) == 0.0:
            continue
        table["score"].append(score + 0.0)
        table["weight"].append(math.fsum(w for _, w in block))
        table["loss"].append(math.fsum(w * x for x, w in block))
        table["count"].append(float(len(block)))
        table["weight2"].append(math.fsum(w * w for _, w in block))
        table["weight2_loss"].append(math.fsum(w * w * x for x, w in block))
        table["weight2_loss2"].append(math.fsum((w * x) ** 2 for x, w in block))
    return table


def columns(table):
    """Return the columns of a table, with its moments if it has any."""
    found = {name: getattr(table, name) for name in COLUMNS}
    if table.moments is not None:
        found |= {name: getattr(table.moments, name) for name in MOMENTS}
    return found


def assert_same(table, expected, *, exact=False):
    """Scores and counts agree bit by bit, sums to a few roundings, or bit by bit too if ``exact``."""
    other = columns(expected) if isinstance(expected, TieBlocks) else expected
    for name, found in columns(table).items():
        assert found.dtype == np.float64
        if exact or name in ("score", "count"):
            np.testing.assert_array_equal(found, other[name], err_msg=name, strict=isinstance(expected, TieBlocks))
        else:
            np.testing.assert_allclose(found, other[name], rtol=1e-13, atol=0.0, err_msg=name)
    assert not np.signbit(table.score[table.score == 0.0]).any(), "-0.0 must be 0.0"


def assert_same_flags(table, expected):
    """What is known about the samples agrees too."""
    for name in ("binary", "frequencies", "n", "n_rejected", "n_dropped"):
        assert getattr(table, name) == getattr(expected, name), name
