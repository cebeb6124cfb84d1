"""From verdicts, qualities, uncertainties and probabilities of one class to what ``Outputs`` holds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from abstain._checks import closest
from abstain._classes import both, is_text
from abstain._typing import ArrayLike, BoolArray, FloatArray, IntArray
from abstain.outputs import _states, _values
from abstain.outputs._columns import numbers
from abstain.outputs._names import Plan
from abstain.outputs._objects import is_number, taken, values_of
from abstain.outputs._states import ABSTAINED, CORRECT, UNSCORED, WRONG, States
from abstain.outputs.readers import levels_of, spoken

Unscored = Literal["wrong", "drop"]

#: Pairs of class names whose second is the positive one.
_PAIRS = (
    ("no", "yes"), ("false", "true"), ("negative", "positive"), ("neg", "pos"), ("absent", "present"),
    ("benign", "malignant"), ("normal", "abnormal"), ("ham", "spam"), ("n", "y"), ("f", "t"), ("<=50k", ">50k"),
)  # fmt: skip


@dataclass
class Answers:
    """Fields of ``Outputs`` in the making, and what is said about them."""

    fields: dict[str, ArrayLike]
    plan: Plan
    notes: list[str] = field(default_factory=list)
    #: How a field came about, where it is not a column as it stands.
    how: dict[str, str] = field(default_factory=dict)
    #: Words of the confidence, least sure first.
    levels: list[str] | None = None

    def quoted(self, part: str) -> str:
        """Return the column of a part, as messages quote it."""
        return f"`{self.plan.single.get(part, part)}`"

    # ------------------------------------------------------------------ how sure

    def sureness(self, levels: Sequence[str] | None = None) -> None:
        """Turn an uncertainty, or confidence in words, into a confidence."""
        said = self.fields.get("confidence")
        if said is not None and is_text(said):
            texts = values_of(said)
            self.fields["confidence"] = spoken(texts, f"column {self.plan.single['confidence']!r}", levels)
            self.levels = levels_of(texts) if levels is None else list(levels)
            self.how["confidence"] = f"{self.quoted('confidence')}, read from text as ordered values with ties"
            if self.levels is not None and len(self.levels) > 1:
                places = ", ".join(f"{word} = {place}" for place, word in enumerate(self.levels, start=1))
                self.notes.append(f"words of {self.quoted('confidence')} are places in a scale: {places}")
        uncertain = self.fields.pop("uncertainty", None)
        if uncertain is not None:
            self.fields["confidence"] = -numbers(uncertain, "uncertainty")
            self.how["confidence"] = f"minus {self.quoted('uncertainty')}"

    def either(self, unlabelled: bool = False) -> None:
        """Settle a column that may be P(class 1) or a confidence: by the classes, or by the caller."""
        column = self.fields.pop("either", None)
        if column is None:
            return
        classes = self._classes()
        name = self.plan.single["either"]
        judged = self.plan.single.keys() & {"loss", "correct", "quality", "predictions"}
        if len(classes) == 2 and judged and "scores" in self.plan.told and "either" not in self.plan.told:
            del self.plan.single["either"]  # others were named, and what is right does not rest on it
            self.notes.append(f"not used: `{name}`")
            return
        if unlabelled and len(classes) < 2:  # the classes are not known: there may be two
            raise ValueError(
                f"column {name!r} may be the probability of the second of two classes or the confidence in the "
                f"prediction; give positive_probability={name!r} or confidence={name!r}"
            )
        if len(classes) == 2:
            values = numbers(column, name)
            if np.nanmin(values) < 0.0 or np.nanmax(values) > 1.0:
                raise ValueError(
                    f"column {name!r} leaves [0, 1], as the decision value of two classes does, whose confidence is "
                    f"its distance from the threshold: write abs({name}) as a column; or give confidence={name!r} if "
                    "it is one"
                )
            hint = self._hint(values, classes)
            raise ValueError(
                f"column {name!r} may be the probability of class {classes[1]} or the confidence in the prediction"
                f"{hint}; give positive_probability={name!r} or confidence={name!r}"
            )
        self.fields["confidence"] = column
        self.plan.single["confidence"] = self.plan.single.pop("either")

    def _hint(self, column: FloatArray, classes: list[str]) -> str:
        if "predictions" not in self.fields:
            return " (no column of predictions was found, so more likely the first)"
        positive = _values.as_words(self.fields["predictions"]) == classes[1]
        if (positive == (column >= 0.5)).all():
            return f" (the prediction is {classes[1]} exactly where it is 0.5 or more: the first)"
        return ""

    def _classes(self) -> list[str]:
        """Return the names of the classes among labels and predictions, in order."""
        found: set[str] = set()
        for part in ("labels", "predictions"):
            if self.fields.get(part) is not None:
                found |= {word for word in _values.as_words(self.fields[part]).tolist() if word is not None}
        return _ordered(found)

    def positive(self, class_names: Sequence[str] | None) -> None:
        """Turn the probability of the second of two classes into probabilities of both."""
        column = self.fields.pop("positive_probability", None)
        if column is None:
            return
        name = self.plan.single["positive_probability"]
        p = numbers(column, name)
        bad = ~((p >= 0.0) & (p <= 1.0))
        if bad.any():
            row = int(np.argmax(bad))
            raise ValueError(f"column {name!r} holds {p[row]:g} in data row {row + 1}, which is no probability")
        names = list(class_names) if class_names is not None else self._two(name)
        if len(names) != 2:
            raise ValueError(f"{name!r} is the probability of one of two classes, but class_names has {len(names)}")
        self.fields["probabilities"] = both(p)
        self.how["probabilities"] = f"1 - p and p (p = {self.quoted('positive_probability')}, of class {names[1]})"
        if names != ["0", "1"]:
            self.fields["class_names"] = names
            for part in {"labels", "predictions"} & self.fields.keys():
                self.fields[part] = _values.as_words(self.fields[part])
        self._redundant(p, names)

    def _two(self, name: str) -> list[str]:
        found = self._classes()
        if len(found) > 2:
            raise ValueError(
                f"column {name!r} is the probability of one of two classes, but labels and predictions hold "
                f"{len(found)}; give the columns of all classes: probabilities=..."
            )
        if set(found) <= {"0", "1"}:
            return ["0", "1"]
        if set(found) <= {"-1", "1"}:
            return ["-1", "1"]
        if len(found) < 2:
            raise ValueError(f"labels hold the one class {found[0]!r}; give both names: class_names=[other, positive]")
        if all(is_number(word) for word in found) or tuple(word.lower() for word in found) in _PAIRS:
            return found
        words = re.split(r"[\W_]+", name.lower())
        last = [word for word in found if word.lower() in words]
        first, second = found if last != found[:1] else found[::-1]
        raise ValueError(
            f"which of {first!r} and {second!r} has the probability {name!r}? give "
            f"class_names=[{first!r}, {second!r}] if it is {second!r}, class_names=[{second!r}, {first!r}] if it is "
            f"{first!r}: the positive one last"
        )

    def _redundant(self, p: FloatArray, names: list[str]) -> None:
        """Leave out predictions that follow from the probability; of others keep the probability of what they say."""
        if self.fields.get("predictions") is None:
            return
        positive = _values.as_words(self.fields["predictions"]) == names[1]
        differ = (positive != (p >= 0.5)) & (p != 0.5)
        if not differ.any():
            self.fields.pop("predictions")
            self.plan.single.pop("predictions", None)
        elif self.fields.get("confidence") is None:
            self.fields["confidence"] = np.where(positive, p, both(p)[:, 0])
            self.how["confidence"] = f"probability of the predicted class, from {self.quoted('positive_probability')}"
            self.notes.append(
                f"{int(differ.sum())} predictions are not the likelier class: another threshold than 0.5 was used"
            )

    # ------------------------------------------------------------------ right or wrong

    def losses(self, unscored: Unscored | None) -> States | None:
        """Take verdicts, qualities, abstentions and missing losses apart; keep the rows that have a loss."""
        given = [part for part in ("loss", "correct", "quality") if self.fields.get(part) is not None]
        if len(given) > 1:
            columns = " or ".join(f"{part}={self.plan.single.get(part, part)!r}" for part in given)
            raise ValueError(f"several columns say what is right; give one of {columns}")
        state, loss, missing = self._judged(given[0] if given else None)
        abstained = self.fields.pop("abstained", None)
        if abstained is None and given == []:
            abstained = self._said_so()
        if abstained is not None:
            mask = _states.declined(abstained, "abstained")
            state = np.full(len(mask), CORRECT) if state is None else state
            state = np.where(mask, ABSTAINED, state)
        should = self.fields.pop("should_abstain", None)
        if state is None:
            return None
        lacking = missing & (state == UNSCORED) if missing is not None else np.zeros(len(state), dtype=bool)
        unscored = self._policy(state, lacking, unscored, given)
        states = States(
            state, np.full(len(state), np.nan) if loss is None else loss, unscored,
            None if should is None else _states.truth(should, "should_abstain"),
            self.fields.get("clusters"), self.fields.get("sample_weight"),
        )  # fmt: skip
        self._keep(states, loss)
        return states

    def _said_so(self) -> BoolArray | None:
        """Return which predictions are words of abstention that no label has; these rows lose their prediction."""
        labels, predictions = self.fields.get("labels"), self.fields.get("predictions")
        if predictions is None or labels is None or not is_text(predictions) or not is_text(labels):
            return None
        said = values_of(predictions)
        words = {word for word in set(said) - set(values_of(labels)) if word and _states.abstains(word)}
        mask = np.array([word in words for word in said])
        if not mask.any() or mask.all():
            return None
        listed = ", ".join(f"'{word}'" for word in sorted(words))
        self.notes.append(f"{int(mask.sum())} predictions say {listed}: these rows are abstentions of the model")
        return mask

    def _judged(self, part: str | None) -> tuple[IntArray | None, FloatArray | None, BoolArray | None]:
        """Return state, loss and which are missing; nothing where labels decide, or no loss is missing."""
        if part is None:
            return None, None, None
        column = self.fields.pop(part)
        name = self.plan.single.get(part, part)
        if part == "correct":
            self.how["loss"] = f"1 - {self.quoted('correct')}"
            return _states.graded(column, name)
        loss = numbers(column, part)
        if part == "quality":
            bad = (loss < 0.0) | (loss > 1.0)
            if bad.any():
                row = int(np.argmax(bad))
                raise ValueError(f"quality[{row}] = {loss[row]:g} is outside [0, 1], where 1 is perfect; divide it")
            self.how["loss"], loss = f"1 - {self.quoted('quality')}", 1.0 - loss
        missing = np.isnan(loss)
        if part == "loss" and not missing.any() and "abstained" not in self.fields:
            self.fields["loss"] = column
            return None, None, None
        return np.where(missing, UNSCORED, np.where(loss > 0.0, WRONG, CORRECT)), loss, missing

    def _policy(
        self, state: IntArray, lacking: BoolArray, unscored: Unscored | None, given: list[str]
    ) -> Unscored | None:
        """Return what unscored rows count as: wrong where a grader says so, by the caller's word where nothing does."""
        n = int(np.sum(state == UNSCORED))
        if not n:
            return None
        if unscored is None and lacking.any():
            row, n_lost = int(np.argmax(lacking)), int(lacking.sum())
            raise ValueError(
                f"{given[0]} {self.quoted(given[0])} is missing in {n_lost} row{'s' * (n_lost != 1)} (first: data row "
                f"{row + 1}); give unscored='wrong' to count them as wrong, or unscored='drop' to leave them out"
            )
        chosen: Unscored = unscored or "wrong"
        what = "count as wrong" if chosen == "wrong" else "are left out"
        other = "unscored='drop' leaves them out" if chosen == "wrong" else "unscored='wrong' counts them as wrong"
        self.notes.append(f"{n} unscored {'row' if n == 1 else 'rows'} {what}; {other}")
        return chosen

    def _keep(self, states: States, loss: FloatArray | None) -> None:
        """Leave the rows that are judged; an unscored answer that counts as wrong is ranked last if it has no score."""
        kept = states.kept
        if not kept.any():
            raise ValueError("no row is judged: all are abstained or unscored")
        last = (states.state == UNSCORED)[kept]
        for part, column in self.fields.items():
            if part in ("class_names", "head") or column is None:
                continue
            if part in ("scores", "groups", "score_predictions"):
                self.fields[part] = {name: taken(each, kept) for name, each in column.items()}
            else:
                self.fields[part] = taken(column, kept, axis=1 if part == "passes" else 0)
        if last.any():
            for name in ("confidence",) if self.fields.get("confidence") is not None else ():
                self.fields[name] = _ranked_last(self.fields[name], last)
            self.fields["scores"] = {name: _ranked_last(each, last) for name, each in self.fields["scores"].items()}
        if loss is not None:
            self.fields["loss"] = np.where(last, 1.0, loss[kept])
        elif last.any():
            raise ValueError("unscored rows need a column of verdicts; give correct=")


def _ranked_last(column: ArrayLike, rows: BoolArray) -> FloatArray:
    values = np.array(numbers(column, "confidence"))
    values[rows & np.isnan(values)] = -np.inf
    return values


def _ordered(words: set[str]) -> list[str]:
    """Return names of classes in order: numbers by value, known pairs with the positive one last, else by letters."""
    if all(is_number(word) for word in words):
        return sorted(words, key=float)
    lower = {word.lower(): word for word in words}
    pair = next((pair for pair in _PAIRS if set(pair) == lower.keys()), None)
    return sorted(words) if pair is None else [lower[word] for word in pair]


def put_last(fields: dict[str, ArrayLike], which: int | str) -> None:
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
        raise ValueError(f"abstain_class={which!r} must be one of {width} classes, next to at least two others")
    if names is None and place != width - 1:
        raise ValueError(
            f"abstain_class={place} is not the last of {width} classes, so it is open what the labels after it count; "
            "give class_names=[...]"
        )
    return place
