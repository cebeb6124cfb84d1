"""The output unit by which a network abstains (Deep Gamblers): taken off the classes, kept as a score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from abstain._checks import closest
from abstain._typing import FloatArray
from abstain.outputs._columns import log_softmax


def without_unit(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return checked matrices without their last column, and scores with minus the probability of that column.

    The probabilities of the classes are divided by their sum, which logits do of themselves.
    """
    changed: dict[str, Any] = {}
    scores: dict[str, FloatArray] = {}
    if given["logits"] is not None:
        changed["logits"] = given["logits"][:, :-1]
        scores["neg_reservation"] = -np.exp(log_softmax(given["logits"])[:, -1])
    if given["probabilities"] is not None:
        changed["probabilities"] = _renormalised(given["probabilities"])
        scores.setdefault("neg_reservation", -given["probabilities"][:, -1])
    if given["passes"] is not None:
        changed["passes"] = _renormalised(given["passes"])
        unit: FloatArray = np.mean(given["passes"][..., -1], axis=0, dtype=np.float64)
        scores["pass_neg_reservation"] = -unit
    if not changed:
        raise ValueError("abstention_unit=True needs logits, probabilities or passes, whose last column is the unit")
    return changed | {"scores": scores}


def _renormalised(p: Any) -> Any:
    """Return the other columns divided by their sum; equal shares where nothing is left for them."""
    rest = p[..., :-1]
    total = rest.sum(axis=-1, keepdims=True)
    equal = np.full_like(rest, 1.0 / rest.shape[-1])
    return np.divide(rest, total, out=equal, where=total > 0.0)


def put_last(fields: dict[str, Any], which: int | str) -> None:
    """Make a class, by its place or name, the last one, and mark it as the unit; the labels are those of the rest."""
    given = [name for name in ("logits", "probabilities", "passes") if fields.get(name) is not None]
    if not given:
        raise ValueError("abstain_class needs logits, probabilities or passes, with a column for it; give them")
    width = int(np.shape(fields[given[0]])[-1])
    names = None if fields.get("class_names") is None else list(fields["class_names"])
    place = _place(which, names, width)
    order = [k for k in range(width) if k != place] + [place]
    for name in given:
        fields[name] = np.asarray(fields[name])[..., order]
    if names is not None:
        fields["class_names"] = [names[k] for k in order if k < len(names)]
    if fields.get("head") is not None:
        fields["head"] = tuple(np.asarray(part)[order] for part in fields["head"])
    fields["abstention_unit"] = True


def _place(which: int | str, names: list[str] | None, width: int) -> int:
    if names is not None and str(which) in names:
        return names.index(str(which))
    try:
        place = int(which)
    except ValueError:
        hint = closest(str(which), names) if names else f"give its place, 0 to {width - 1}"
        raise ValueError(f"abstain_class={which!r} is no class; {hint}") from None
    if width < 3 or not 0 <= place < width:
        raise ValueError(f"abstain_class={which!r} must be one of {width} classes, beside at least two others")
    if names is None and place != width - 1:
        raise ValueError(
            f"abstain_class={place} is not the last of {width} classes, so it is open what the labels after it count; "
            "give class_names=[...]"
        )
    return place
