"""What a threshold guarantees, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from abstain._result import Amount, percent


def loss_of(value: float, max_loss: float) -> float:
    """Return a mean loss, which sentences give in per cent only where no loss is larger than that of an error."""
    return value if max_loss <= 1.0 else Amount(value)


def errs(delta: float) -> dict[str, float]:
    """Return with what probability a certificate errs, and with what one of two at least.

    The second is looked at because the first did not pass, so whoever takes it relies on both.
    """
    return {"delta": delta, "both": min(1.0, 2.0 * delta)}


def each_errs(delta: float) -> str:
    """Return the same in words."""
    return f"each errs with {percent(delta)}; together {percent(errs(delta)['both'])}"


def plainly(promise: Mapping[str, Any]) -> str:
    """Return what is guaranteed without its probability: of right and wrong answers as the share of wrong ones."""
    said = str(promise["statement"]).partition(", the mean loss of ")[2]
    what, _, limit = said.rpartition(" is at most ")
    if not what:  # of something else than a mean loss
        return str(promise["statement"])
    if promise["bound"] == "binomial" and what.startswith("what is accepted"):
        rest = what.removeprefix("what is accepted")
        return (
            f"of new cases like these, at most {percent(promise['risk'])} of what is answered{rest} is wrong on average"
        )
    return f"of new cases like these, the mean loss of {what} is at most {limit}"
