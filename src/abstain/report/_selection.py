"""A selection as plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from abstain.report._comparison import _aligned
from abstain.report._tables import ARROW, clean, decimals, fixed

if TYPE_CHECKING:
    from abstain.selection import Selection


def selection_as_text(selection: Selection) -> str:
    """Return one row per selecting metric: its choice, the validation value, and the test value with its interval."""
    tested = selection.n_test is not None
    header = ["selected by", "choice", "validation"]
    header += ["test", f"{100 * selection.level:g} % interval"] if tested else []
    rows = [header]
    notes = []
    for choice in selection.choices.values():
        estimates = [choice.validation] if choice.test is None else [choice.validation, choice.test.estimate]
        places = decimals(estimates)
        row = [f"{clean(choice.label)} {ARROW[choice.direction]}", clean(choice.name)]
        row += [fixed(value, places) for value in estimates]
        if choice.test is not None:
            row.append(f"{fixed(choice.test.low, places)} to {fixed(choice.test.high, places)}")
            if choice.test.warning:
                notes.append(f"note: {clean(choice.label)}: {clean(choice.test.warning)}")
        if choice.tied:
            others = ", ".join(clean(name) for name in choice.tied)
            notes.append(
                f"note: {clean(choice.label)} is the same for {clean(choice.name)} and {others}; the first wins"
            )
        rows.append(row)
    sizes = f"{selection.n_validation} validation" + (f" and {selection.n_test} test" if tested else "") + " samples"
    return "\n\n".join([sizes, _aligned(rows), *(["\n".join(notes)] if notes else [])])
