"""Numbers and columns that every function takes or refuses alike."""

from decimal import Decimal

import numpy as np
import pytest

from abstain import _checks
from tests.refusal import refused

PER_CENT = r"x must lie in \[0, 1\], got -1e-09; give a fraction, not per cent"
LEVEL = "x = 0.95 is the probability that the guarantee fails; .* give x=0.05$"


def inside(value, name):
    return _checks.inside(value, name, 0.05)


#: A check, what it takes, and what it refuses with which words.
NUMBERS = [
    (_checks.fraction, [0, 1, np.float32(0.5)], {-1e-9: PER_CENT, 1.001: "got 1.001", np.nan: "got nan"}),
    (inside, [1e-9, 0.999], {0: r"x must lie inside \(0, 1\), got 0.0; 0.05 is usual", 1: "got 1.0"}),
    (_checks.failure_probability, [0.3, 0.5], {0.95: LEVEL, 0.501: "give x=0.499$"}),
    (_checks.not_negative, [0, 1e300], {-1e-9: "x must be a finite number >= 0, got", np.inf: "got inf"}),
    (_checks.positive, [1e-300, Decimal("0.25")], {0: "x must be a finite number > 0, got 0", -1: "> 0, got -1"}),
    (_checks.whole, [1, 3.0, 2**63 - 1], {0: "x must be a whole number >= 1, got 0", 1.5: "got 1.5", "3": "got '3'"}),
    (_checks.whole, [np.int8(2)], {True: "got True", 2**63: "got 9223372036854775808"}),
]
NO_NUMBERS = [
    (_checks.fraction, "0.5", r"x must be a number in \[0, 1\], got '0.5'"),
    (_checks.positive, [1], r"x must be a number > 0, got \[1\]"),
    (_checks.not_negative, 10**400, "x must be a number >= 0"),
    (_checks.flag, 1, "x must be True or False, got 1"),
    (_checks.generator, -1, "x=-1 is no seed"),
]


def test_numbers_are_taken_or_refused_by_name():
    """At the ends of each range and just beyond them."""
    for function, values, bad in NUMBERS:
        assert [function(value, "x") for value in values] == [float(value) for value in values[:-1]] + [values[-1]]
        for value, words in bad.items():
            refused(ValueError, words, function, value, "x")
    for function, value, words in NO_NUMBERS:
        refused(TypeError, words, function, value, "x")
    assert _checks.fraction(0.999, "x", below_one=True) == 0.999
    refused(ValueError, r"x must lie in \[0, 1\), got 1.0", _checks.fraction, 1, "x", below_one=True)


def test_columns_of_every_kind_are_read():
    """Gradients, half precision, masks, nulls and decimals; what is beyond float64 or no number is named."""
    torch = pytest.importorskip("torch")
    one, masked = [1.0, np.nan], np.ma.masked_array([1, 2], [False, True])
    for column, wanted in (
        (torch.tensor([1.0, 2.0], requires_grad=True), [1.0, 2.0]),
        (torch.tensor([1.5], dtype=torch.bfloat16), [1.5]),
        *((each, one) for each in (masked, [1, None], [Decimal(1), None])),
    ):
        np.testing.assert_array_equal(_checks.vector(column, "x", np, None), wanted)
    for error, column, words in (
        (ValueError, [10**400, None], "x holds a whole number beyond the range of float64"),
        (TypeError, None, "x is missing"),
        (TypeError, np.array(["a"]), "x must be numeric, got dtype"),
        (TypeError, ["a", None], "x must be numeric, but it holds 'a' of type str"),
        (ValueError, [[1.0], [1.0, 2.0]], "x is ragged"),
        (ValueError, [[1.0]], r"got shape \(1, 1\); use .ravel"),
        (ValueError, 1.0, "got a single number"),
        (ValueError, [], "x is empty"),
    ):
        refused(error, words, _checks.vector, column, "x", np, None)


def test_messages_name_what_is_near():
    """At most three names, else all; long lists are cut; a position is said as an editor counts it."""
    assert _checks.closest("augcr", ["augrc", "risk"]) == "did you mean 'augrc'?"
    assert _checks.closest("zzz", ["b", "a"]) == "known: a, b"
    assert _checks.listed(map(str, range(12))).endswith("10, 11")
    assert _checks.listed(map(str, range(13))).endswith("10, 11, … (13 in all)")
    assert (_checks.listed([]), _checks.listed([" a"])) == ("none", "' a'")
    assert _checks.with_row("loss[3] = nan") == "loss[3] = nan [data row 4]"
    assert _checks.with_row("see x; python -c 'a[3]'") == "see x; python -c 'a[3]'"
    for name, engine in (("*", "pandas"), ("^a$", "duckdb"), ("^a", "polars")):
        _checks.refuse_pattern(name, engine)
    for name in ("*", "^a$"):
        refused(ValueError, "is no name but a pattern in polars", _checks.refuse_pattern, name, "polars")
