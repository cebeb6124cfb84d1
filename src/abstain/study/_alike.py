"""Whether models were measured on the same rows in the same order, as far as labels and identifiers tell."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from abstain.outputs import Outputs

#: What is known of the rows of a set: how many, and hashes of what names them.
Sample = Mapping[str, Any]


def sample_of(inside: Outputs, foreign: Outputs | None = None) -> dict[str, Any]:
    """Return what is known of the rows of a set; foreign data come behind the test set."""
    both = [inside] if foreign is None else [inside, foreign]
    ids = [each.ids for each in both]
    labels = None if inside.labels is None else np.asarray(inside.labels)
    if labels is not None and inside.class_names is not None and labels.ndim == 1:
        labels = np.asarray(inside.class_names)[labels]
    return {
        "n": sum(each.n for each in both),
        "ids": "" if any(each is None for each in ids) else _hash(np.concatenate([np.asarray(each) for each in ids])),
        "labels": "" if labels is None else _hash(labels),
        "named": inside.class_names is not None,
    }


def _hash(column: Any) -> str:
    return hashlib.sha256("\n".join(np.asarray(column).ravel().astype(str).tolist()).encode()).hexdigest()[:32]


def differ(one: Sample, other: Sample) -> str | None:
    """Return how the rows of two sets differ; None if they do not; an empty text where that cannot be told."""
    if one["n"] != other["n"]:
        return f"{one['n']:,} and {other['n']:,} rows"
    told = None if one["ids"] and other["ids"] else ""
    if told is None and one["ids"] != other["ids"]:
        return "other identifiers, or in another order"
    if one["labels"] and other["labels"] and one["named"] == other["named"]:
        return None if one["labels"] == other["labels"] else "other labels, or in another order"
    return told


def notes(samples: Mapping[tuple[str, str, str, str], Sample], foreign: set[str]) -> Iterator[str]:
    """Yield, for each set, which models were measured on other rows than the first, or may have been.

    ``samples``: by data set, set, model and run. ``foreign``: sets without labels, of which only sizes and identifiers
    tell.
    """
    first: dict[tuple[str, str], tuple[str, Sample]] = {}
    for (data, name, model, _), sample in samples.items():
        where, reference = first.setdefault((data, name), (model, sample))
        why = None if model == where else differ(reference, sample)
        if why:
            yield f"{name}: {where} and {model} have different rows ({why}), so they are not tested against each other"
        elif why == "" and name not in foreign:
            yield f"{name}: no labels and no ids tell whether {where} and {model} have the same rows; tests take it so"
