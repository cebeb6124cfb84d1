"""Whether a policy was made for the model that is about to use it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from abstain._checks import listed

if TYPE_CHECKING:
    from abstain.policy._policy import Policy


def mismatch(
    policy: Policy, model: str | None, class_names: Sequence[Any] | None, columns: Sequence[str] | None,
    temperature: float | None,
) -> str | None:  # fmt: skip
    """Return in what the policy differs from what it is to be used with; None if in nothing."""
    made = policy.about.get("model")
    if model is not None and made != model:
        said = f"was made for the model {made!r}, not {model!r}" if made else f"does not say its model ({model!r}?)"
        return f"the policy {said}; a threshold belongs to one model: choose it again on rows that {model!r} has scored"
    if class_names is not None:
        names = [str(name) for name in class_names]
        if policy.classes is None:
            return "the policy does not know its classes; make it with class_names="
        if names != policy.classes:
            what = "order" if sorted(names) == sorted(policy.classes) else "classes"
            return f"the policy knows other {what}: {listed(policy.classes)}; got {listed(names)}"
    if columns is not None:
        needed = [policy.score] if policy.inputs is None else next(iter(policy.inputs.values()))
        if policy.inputs is not None and len(needed) > 1 and list(columns) != needed:
            return f"the policy computes its score from {listed(needed)}, in this order; got {listed(columns)}"
        missing = [name for name in [*needed, *([policy.group] if policy.group else [])] if name not in columns]
        if missing:
            return f"the policy needs the column {missing[0]!r}; got {listed(columns)}"
    if temperature is not None and (policy.temperature or 1.0) != temperature:
        return f"the policy divides logits by {policy.temperature or 1.0:g}, not {temperature:g}"
    return None
