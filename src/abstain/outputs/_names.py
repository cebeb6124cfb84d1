"""Which column of a file plays which part: by the caller's word, else by its name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from abstain._checks import closest, listed
from abstain._typing import ArrayLike

#: Part (and the argument that names its column) -> names that are recognised, in lower case, words parted by "_".
SINGLE: dict[str, tuple[str, ...]] = {
    "labels": (
        "label", "labels", "y", "y_true", "target", "targets", "true_label", "true_labels", "true_class", "truth",
        "true", "gt", "gt_label", "ground_truth", "groundtruth", "gold", "gold_label", "reference", "references",
        "actual", "actual_label", "actual_class", "y_test", "y_val", "expected", "label_true", "correct_answer",
    ),
    "predictions": (
        "prediction", "predictions", "pred", "preds", "y_pred", "yhat", "y_hat", "pred_label", "pred_labels",
        "predicted", "predicted_label", "predicted_labels", "predicted_class", "pred_class", "prediction_label",
        "model_prediction", "label_pred", "predicted_answer", "top1", "top_1", "argmax",
    ),
    "confidence": (
        "confidence", "confidences", "conf", "conf_score", "confidence_score", "score", "msp", "max_prob",
        "max_probability", "max_softmax", "max_softmax_prob", "max_softmax_probability", "certainty",
        "prediction_confidence", "model_confidence", "self_confidence", "stated_confidence", "answer_confidence",
        "verbal", "verbal_confidence", "verbalized_confidence", "max_proba", "top1_prob", "top_prob", "p_max",
        "logprob", "log_prob", "mean_logprob", "avg_logprob",
    ),
    "uncertainty": (
        "uncertainty", "uncertainties", "uncertainty_score", "predictive_uncertainty", "predictive_entropy", "entropy",
        "mean_token_entropy", "token_entropy", "semantic_entropy", "perplexity",
        "predictive_variance", "predictive_std", "pred_std", "y_std",
    ),
    "positive_probability": ("positive_probability", "positive_prob", "prob_positive", "p_positive", "prob_pos"),
    "either": (
        "y_prob", "y_proba", "y_score", "y_scores", "prob", "proba", "probability", "p", "pred_prob", "pred_proba",
        "y_pred_prob", "y_pred_proba", "prediction_prob", "prediction_probability", "predicted_probability",
    ),
    "loss": ("loss", "error"),
    "correct": (
        "correct", "is_correct", "correctness", "acc", "accuracy", "right", "is_right", "em", "exact_match", "grade",
        "graded", "passed", "verdict", "response_correct", "answer_correct",
    ),
    "quality": ("quality",),
    "abstained": ("abstained", "is_abstained", "abstain", "refused", "is_refusal"),
    "should_abstain": ("should_abstain", "unanswerable", "is_unanswerable", "is_impossible"),
    "is_ood": ("is_ood", "ood"),
    "sample_weight": ("weight", "weights", "sample_weight", "sample_weights"),
    "ids": ("id", "ids", "sample_id"),
    "clusters": ("cluster", "clusters"),
}  # fmt: skip

#: Part -> names of a whole matrix, prefixes of one column per class.
MATRIX: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "logits": (("logits", "logit"), ("logit_", "logits_")),
    "probabilities": (
        ("probabilities", "probability", "probs", "prob", "proba", "softmax", "y_proba", "y_prob"),
        ("prob_", "probs_", "proba_", "probability_", "probabilities_", "p_"),
    ),
    "features": (("features",), ("feature_", "features_")),
}

# Patterns are text: of each file few are asked for, and all of them take longer to compile than a small file to read.
#: A single column of this kind is the probability of the second of two classes: nobody writes it for the first alone.
_SECOND = r"(?:y_)?(?:p|prob|probs|proba|probability)_1"

#: Columns that hold a finished score of a method, known by its name.
EXTERNAL = ("odin", "gram", "confidnet", "tcp", "devries", "reservation", "deep_gamblers")

#: Columns that often say what is right, but are called so for other things, too: named where nothing else does.
LIKELY = {
    "labels": ("answer", "default", "class", "category", "outcome", "response", "churn", "fraud", "diagnosis"),
    "quality": ("iou", "dice", "f1", "bleu", "rouge", "rouge_l", "meteor", "chrf", "jaccard"),
    "loss": ("wer", "cer", "mae", "mse", "abs_error", "squared_error", "brier", "nll"),
}

#: Columns that often say that rows are of several kinds, or belong together: worth a word where they are not used.
KINDS = r"model|model_name|dataset|task|split|fold|seed|run|run_id"
#: Columns of answers in words, among which some may say that they are none.
TEXTS = r"(?:model_)?(?:answer|response|completion|output|generation|generated_text|prediction)s?"
UNITS = r"(?:patient|subject|participant|person|user|document|doc|study|scan|slide|session|question)(?:_?id)?"


#: Columns that are a finished score, or say how sure something is, by a word in their name.
SCORES = (
    r"(?:.+_)?(?:score|conf|confidence|certainty|uncertainty|entropy|margin|energy|variance|gini|(?:max_?)?logit|msp|"
    r"mahalanobis|r?mds|knn|vim|gen|klm|openmax|react|gradnorm|odin|gram|logprob|log_prob|perplexity)s?(?:_.+)?"
)
#: Columns that name a row if no two rows share a value.
ROW = r".+_id|case(?:_?(?:no|number|nr))?|(?:uu|gu)id|row(?:_?(?:no|number|nr))?"


@dataclass
class Plan:
    """The columns to load: one per part, several per matrix, and dicts of name -> column."""

    single: dict[str, str] = field(default_factory=dict)
    matrix: dict[str, list[str]] = field(default_factory=dict)
    groups: dict[str, str] = field(default_factory=dict)
    scores: dict[str, str] = field(default_factory=dict)
    #: Score -> column of the predictions that it is about.
    score_predictions: dict[str, str] = field(default_factory=dict)
    class_names: list[str] | None = None
    #: Parts whose column the caller has named; "scores" if some were.
    told: frozenset[str] = frozenset()

    def columns(self) -> list[str]:
        """All columns, each once."""
        inner = [name for names in self.matrix.values() for name in names]
        every = [*self.single.values(), *inner, *self.groups.values(), *self.scores.values()]
        every += self.score_predictions.values()
        return list(dict.fromkeys(every))

    def drop(self, *parts: str) -> None:
        """Leave out what was found by name alone."""
        for part in parts:
            if part not in self.told:
                self.single.pop(part, None)
                self.matrix.pop(part, None)


def plan(
    columns: dict[str, int],
    given: Mapping[str, ArrayLike],
    groups: str | Sequence[str],
    scores: str | Sequence[str],
    several: bool = False,
) -> Plan:
    """Choose columns, given the number of dimensions of each; explicit choices are made first.

    ``given``: the columns that the caller named, by part; ``several``: a row has several labels, which may be a
    column each.
    """
    result = Plan()
    for name in (name for name in given if name in SINGLE):
        column = given[name]
        one = isinstance(column, str) and column in columns
        if column is not None and several and name in ("labels", "predictions") and not one:
            result.matrix[name] = _matches(column, columns, name)
        elif column is not None:
            result.single[name] = exact(column, columns, name)
    for name in MATRIX:
        if given.get(name) is not None:
            result.matrix[name] = _matches(given[name], columns, name)
    classes = result.matrix.get("probabilities", [])
    if len(classes) == 1 and columns[classes[0]] == 1 and "positive_probability" not in result.single:
        result.single["positive_probability"] = result.matrix.pop("probabilities")[0]
    result.told = frozenset({*result.single, *result.matrix, *(["scores"] if scores else [])})
    result.groups = _family(groups, columns, "group", "groups")
    result.scores = _family(scores, columns, "score", "scores")

    told = result.single.keys() & {"predictions", "loss", "correct", "quality"}
    taken = set(result.columns())
    free = {name: ndim for name, ndim in columns.items() if name not in taken}
    for name in MATRIX:
        if name not in result.matrix:
            _automatic_matrix(result, name, free, needed=not told)
    for name in SINGLE:
        if name not in result.single and name not in result.matrix:
            _automatic_single(result, name, free)
    _settle(result)
    if not groups:
        result.groups = _automatic_family(free, "group")
    if not scores:
        result.scores = _automatic_family(free, "score", whole=False)
        used = set(result.columns())
        result.scores |= {name: name for name in free if plain(name) in EXTERNAL and name not in used}
    own = {score: f"prediction_{score}" for score in result.scores}
    result.score_predictions = {score: name for score, name in own.items() if name in free}
    _order_classes(result, columns)
    return result


def _settle(result: Plan) -> None:
    """Of several columns that say how confident the model is, keep the one that says it best; named ones stay."""
    told, single = result.told, result.single
    if told & {"positive_probability", "confidence", "uncertainty"}:
        result.drop("positive_probability", "confidence", "uncertainty", "either")
    if result.matrix.keys() & {"logits", "probabilities"}:
        result.drop("positive_probability", "either")
    if "confidence" in single:
        result.drop("uncertainty", "either")
        if "positive_probability" in single:
            result.drop("positive_probability")
    elif "positive_probability" in single:
        result.drop("uncertainty", "either")
    elif "uncertainty" in single:
        result.drop("either")
    if told & {"loss", "correct", "quality"}:
        result.drop("loss", "correct", "quality")
    elif "predictions" in told or told & {"logits", "probabilities"}:
        result.drop("correct", "quality")


def unused(columns: dict[str, int], used: Iterable[str]) -> list[str]:
    """Return the columns that are not used but look as if they meant something here."""
    known = {name for names in SINGLE.values() for name in names}
    rest = [name for name, ndim in columns.items() if ndim == 1 and name not in set(used)]
    telling = (UNITS, KINDS, SCORES)
    return [name for name in rest if plain(name) in known or any(re.fullmatch(each, plain(name)) for each in telling)]


def likely(name: str) -> str:
    """Return the part that a column of this name often plays, though not always; else an empty text."""
    return next((part for part, names in LIKELY.items() if plain(name) in names), "")


def plain(name: str) -> str:
    """Return a name in lower case, its words parted by "_": "True Label" and "trueLabel" are true_label."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z]|[A-Z]+$)", "_", name)
    return re.sub(r"[^0-9a-z]+", "_", parted.lower()).strip("_")


def exact(name: str, columns: Iterable[str], option: str) -> str:
    """Return the name of a column if there is one; else raise, with the nearest."""
    if not isinstance(name, str):
        raise TypeError(f"{option} must be the name of a column, got {name!r}")
    if name in columns:
        return name
    known = list(columns)
    hint = (
        closest(name, known) if len(known) <= 12 or "did you" in closest(name, known) else f"columns: {listed(known)}"
    )
    raise ValueError(f"column {name!r} is not in the file; {hint}; give {option}=<column>")


def _matches(pattern: str | Sequence[str], columns: dict[str, int], option: str) -> list[str]:
    if not isinstance(pattern, str | Sequence):
        raise TypeError(f"{option} must be a name, a pattern or a sequence of names, got {pattern!r}")
    found: list[str] = []
    if isinstance(pattern, str) and pattern not in columns and "," in pattern:  # names in one text, by commas
        pattern = [part.strip() for part in pattern.split(",")]
    for part in [pattern] if isinstance(pattern, str) else pattern:
        if part in columns:
            found.append(part)
        elif any(sign in part for sign in "*?["):
            fitting = [name for name in columns if fnmatchcase(name, part)]
            if not fitting:
                raise ValueError(f"no column matches {option}={part!r}; columns: {listed(columns)}")
            found += fitting
        else:
            exact(part, columns, option)
    whole = [name for name in found if columns[name] > 1]
    if whole and len(found) > 1:
        raise ValueError(
            f"{option}={pattern!r} matches several matrices ({listed(found)}); give {option}=<one of them>"
        )
    return found


def _automatic_single(result: Plan, name: str, free: dict[str, int]) -> None:
    taken = set(result.columns())
    singles = [column for column, ndim in free.items() if ndim == 1 and column not in taken]
    found = [column for column in singles if plain(column) in SINGLE[name]]
    if not found:  # a field of an object: data.correct
        found = [column for column in singles if plain(column.rpartition(".")[2]) in SINGLE[name] and "." in column]
    pairs = {"predictions": ".label", "confidence": ".score"}  # a nested {"label": ..., "score": ...}
    if not found and name in pairs:
        known = {*free, *result.columns()}  # the partner may have been named
        stems = {column.rpartition(".")[0] for column in singles if column.endswith(pairs[name])}
        both = [stem for stem in stems if {f"{stem}.label", f"{stem}.score"} <= known]
        found = [f"{stem}{pairs[name]}" for stem in sorted(both)]
    if not found and name in ("labels", "predictions"):  # one-hot, or probabilities, as their values tell
        wide = [column for column, ndim in free.items() if ndim == 2 and column not in taken]
        found = [column for column in wide if plain(column) in SINGLE[name]]
    if not found and name == "positive_probability":
        found = [column for column in singles if re.fullmatch(_SECOND, plain(column))]
    if len(found) > 1:
        if name == "either":
            return
        raise ValueError(f"{name} could be {' or '.join(map(repr, found))}; give {name}=<one of them>")
    if found:
        result.single[name] = found[0]


def _automatic_matrix(result: Plan, name: str, free: dict[str, int], *, needed: bool) -> None:
    """Find the one matrix of this name; of several none, where predictions or a loss were named and stand alone."""
    known, prefixes = MATRIX[name]
    found = [
        [column]
        for column, ndim in free.items()
        if ndim > 1 and (column.lower() in known or column.lower().startswith(prefixes))
    ]
    if not found:
        families = (_per_class(free, prefix) for prefix in prefixes)
        found = [family for family in families if len(family) > 1]
    if len(found) > 1 and not needed:
        return
    if len(found) > 1:
        names = " or ".join(repr(family[0]) + (" …" if len(family) > 1 else "") for family in found)
        raise ValueError(f"{name} could be {names}; give {name}=<one of them>")
    if found:
        result.matrix[name] = found[0]


def _per_class(free: dict[str, int], prefix: str) -> list[str]:
    family = [column for column, ndim in free.items() if ndim == 1 and column.lower().startswith(prefix)]
    numbered = [column for column in family if column[len(prefix) :].removeprefix("-").isdecimal()]
    # p_value, p_adjusted, … are no classes: the short prefix counts only before a number
    return numbered or ([] if prefix == "p_" else family)


def _family(names: str | Sequence[str], columns: dict[str, int], prefix: str, option: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in [names] if isinstance(names, str) else names:
        if name not in columns and f"{prefix}_{name}" in columns:
            found[name] = f"{prefix}_{name}"
        else:
            found |= {column: column for column in _matches(name, columns, option)}
    return found


def _automatic_family(free: dict[str, int], prefix: str, *, whole: bool = True) -> dict[str, str]:
    found = {}
    for column, ndim in free.items():
        if ndim == 1 and column.lower().startswith(f"{prefix}_"):
            found[column[len(prefix) + 1 :]] = column
        elif ndim == 1 and whole and column.lower() in (prefix, f"{prefix}s"):
            found[column] = column
    return found


def _order_classes(result: Plan, columns: dict[str, int]) -> None:
    """Put one-column-per-class matrices in the order of their numbers; take class names from the column names."""
    for name, family in result.matrix.items():
        if len(family) == 1 and columns[family[0]] > 1:
            continue
        if name not in MATRIX:  # labels, a column each: in the order that was given
            continue
        suffixes = _suffixes(family, MATRIX[name][1])
        numbered = all(any(sign.isdecimal() for sign in suffix) for suffix in suffixes)
        if numbered and not any(suffix.startswith("-") for suffix in suffixes):  # else the order of the file
            order = sorted(range(len(family)), key=lambda index: natural(suffixes[index]))
            family[:] = [family[index] for index in order]
            suffixes = [suffixes[index] for index in order]
        if all(suffix.isdecimal() for suffix in suffixes):
            suffixes = [str(int(suffix)) for suffix in suffixes]
        if name != "features" and suffixes != [str(index) for index in range(len(suffixes))]:
            result.class_names = suffixes


def natural(name: str) -> list[tuple[int, int, str]]:
    """Sort key in which ``logit_10`` comes after ``logit_9``."""
    parts = re.split(r"(\d+)", name)
    return [(1, int(part), "") if part.isdecimal() else (0, 0, part) for part in parts if part]


def _suffixes(family: list[str], prefixes: tuple[str, ...]) -> list[str]:
    for prefix in sorted(prefixes, key=len, reverse=True):
        if all(name.lower().startswith(prefix) and len(name) > len(prefix) for name in family):
            return [name[len(prefix) :] for name in family]
    numbers = [re.fullmatch(r"(.*?)(\d+)", name) for name in family]
    if all(numbers) and len({match[1] for match in numbers if match}) == 1:
        return [match[2] for match in numbers if match]
    return list(family)
