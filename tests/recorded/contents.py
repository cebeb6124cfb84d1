"""What is recorded of results: all that they hold, the numbers that they say, and the warnings on the way."""

import re
import warnings
import zlib
from functools import wraps

import numpy as np

from tests.recorded import plain, tried
from tests.recorded.populations import rows

#: What depends on the machine or the day.
PASSING = ("versions", "created", "abstain")
#: Words longer than this are recorded as a number.
LONG = 40


def whole(value, *without):
    """Return what a result holds, with numbers of 10 digits, but for some fields."""
    return _short(plain(value), {*PASSING, *without})


def _short(value, without):
    if isinstance(value, dict):
        return {key: _short(each, without) for key, each in value.items() if key not in without}
    if isinstance(value, list):
        return [_short(each, without) for each in value]
    if isinstance(value, float):
        return float(f"{value:.10g}")
    return zlib.crc32(value.encode()) if isinstance(value, str) and len(value) > LONG and "|" not in value else value


def said(result):
    """Return the numbers in the text of a result, and its answers, in their order."""
    return "|".join(re.findall(r"-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?|\byes\b|\bno\b|!|\binf\b", str(result)))


def refusal(call, *values, **options):
    """Return what a call gives, or the name and the message of its error."""
    try:
        return call(*values, **options)
    except (TypeError, ValueError, KeyError) as error:
        return [type(error).__name__, str(error)]


def warned(call, *values, **options):
    """Return what a call gives, or its error, and which warnings it makes, with their numbers."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = tried(call, *values, **options)
    return found, [[each.category.__name__, re.findall(r"\d+(?:\.\d+)?", str(each.message))] for each in caught]


def easy(seed, n, *, steps=0, share=0.3, graded=False):
    """Return rows of which few are wrong, as a model that may be certified has them."""
    found, rng = rows(seed, n, steps=steps, graded=graded), np.random.default_rng(seed)
    kept = rng.random(n) < share
    if not steps:  # no score comes twice
        found["confidence"] = 0.99 * found["confidence"] + 0.01 * rng.random(n)
    return found | {"loss": found["loss"] * kept}


def chosen(p, *names):
    """Return losses and scores, with some more columns."""
    return {name: p[name] for name in ("loss", "confidence", *names)}


def shortened(*without):
    """Record of a case what ``whole`` returns of it."""
    return lambda case: wraps(case)(lambda: whole(case(), *without))
