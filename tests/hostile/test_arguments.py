"""All public functions on hostile arguments: a value, or an error that names the argument."""

import numpy as np
import pytest

from abstain import metrics
from tests.hostile.calls import HOSTILE, LEFT_OUT, N, known, needed, public, right

EVERY = {home: function for home, function in public().items() if home not in LEFT_OUT}
FUNCTIONS = {home: function for home, function in EVERY.items() if known(home, function)}

#: What stands in a message in place of the argument where that says it as well.
INSTEAD = {
    "score_a": "scores['a']", "score_b": "scores['b']", "spec": "is not known", "text": "is not known",
    "name": "is not known", "scores": "is not known", "strata": "every stratum", "outputs": "column is recognised",
    "sd": "out of reach", "cost": "class indices must be in", "confidence": "the pool has", "compare": "confidence",
    "loss": "the pilot holds", "matrix": "probabilities", "conditions": "condition",
    "zone": "region",
}  # fmt: skip


def answer(home, name, value):
    """Return what is wrong with the outcome, if anything is."""
    given = right(home, FUNCTIONS[home]) | {name: value}
    try:
        found = FUNCTIONS[home](**given)
    except (TypeError, ValueError) as error:
        first = (str(error).splitlines() or [""])[0]
        return None if name in first or INSTEAD.get(name, name) in first else f"{type(error).__name__}: {first}"
    except FileNotFoundError as error:  # text in the place of outputs is a path
        return None if name == "outputs" else repr(error)
    except Exception as error:
        return f"!! {error!r}"
    known = metrics.names("blocks", "probabilities")
    if home.removeprefix("abstain.") in known and name not in ("loss", "factor", "clip", "zero_division"):
        low, high = metrics.get(home.removeprefix("abstain.")).range
        if not (np.isnan(found) or low - 1e-9 <= found <= high + 1e-9):
            return f"{found!r} is outside [{low}, {high}]"
    return f"a complex number: {found!r}" if isinstance(found, complex) else None


@pytest.mark.filterwarnings("ignore")
def test_the_functions_work():
    """The arguments that the others change are right, so that an error is the change's; all functions are tried."""
    wrong = {}
    for home, function in FUNCTIONS.items():
        try:
            function(**right(home, function))
        except Exception as error:
            wrong[home] = repr(error)
    assert wrong == {}
    assert len(EVERY.keys() - FUNCTIONS.keys()) <= 5, "give their arguments in tests/hostile/calls.py"


@pytest.mark.parametrize("every", [12, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("home", FUNCTIONS)
@pytest.mark.filterwarnings("ignore")
def test_a_hostile_argument_is_named(home, every):
    """Each argument by one of twelve values here, by all where slow tests run; no other error, nothing complex."""
    wrong = {}
    for place, name in enumerate(needed(FUNCTIONS[home])[1]):
        for word in list(HOSTILE)[(5 * place + len(home)) % every :: every]:
            value = iter([1.0] * N) if word == "generator" else HOSTILE[word]
            problem = answer(home, name, value)
            if problem is not None:
                wrong[name, word] = problem
    assert wrong == {}
