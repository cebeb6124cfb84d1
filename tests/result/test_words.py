"""Names and numbers as text."""

import numpy as np
import pytest

from abstain._result import clean, decimals, fixed, number, short


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.03, "0.03000"), (0.0312, "0.03120"), (0.25, "0.2500"), (-0.1708, "-0.1708"), (1.5, "1.500"),
        (0.999999, "1.0000"), (1.0, "1"), (0.0, "0"), (-0.0, "0"), (12.0, "12"), (12345.67, "12346"),
        (4.2e-5, "0.00004200"), (4e-7, "4.000e-07"), (3e7, "3.000e+07"), (np.nan, "—"), (np.inf, "inf"),
    ],
)  # fmt: skip
def test_numbers_keep_four_digits_and_whole_ones_are_exact(value, text):
    """A zero at the end is a digit too; what is not exactly 1 does not print as 1."""
    assert number(value) == text


def test_numbers_of_a_column_share_their_decimals():
    """Four digits of the smallest, unless the largest would have more than five."""
    shown = [fixed(value, decimals([0.0689, 0.1106])) for value in (0.0689, 0.1106, 0.0, np.nan)]
    assert shown == ["0.06890", "0.11060", "0", "—"]
    shown = [fixed(value, decimals([-4.236e-5, 1.2778e-3])) for value in (-4.236e-5, 1.2778e-3)]
    assert shown == ["-0.0000424", "0.0012778"]
    assert decimals([]) is decimals([0.0, np.nan]) is decimals([1e-7]) is None


def test_clean_and_short():
    """Control and formatting characters become visible escapes; long names lose their middle, empty ones show."""
    assert clean("a\x1b[0m\u202eb\U000e0041\n") == "a\\x1b[0m\\u202eb\\U000e0041\\x0a"
    assert clean("é 置 $x$ [b]") == "é 置 $x$ [b]"
    assert short("") == '""'
    assert short("x" * 40) == "x" * 40
    assert short("start" + "x" * 300 + "end") == "start" + "x" * 21 + "…" + "x" * 10 + "end"
