"""What checks work on: printed numbers, random problems with ties, synthetic models, saved outputs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import abstain

PRINTED = Path(__file__).with_name("printed")


@cache
def printed(name: str) -> Any:
    """Return a file of printed numbers."""
    return json.loads((PRINTED / f"{name}.json").read_text(encoding="utf-8"))


def columns(name: str, table: str, **wanted: str) -> list[int]:
    """Return the places of the columns of a table with these properties."""
    found = printed(name)[table]["columns"]
    return [j for j, each in enumerate(found) if all(each.get(key) == value for key, value in wanted.items())]


def tied(count: int = 100, *, seed: int = 0, graded: bool = False) -> Iterator[tuple[Any, Any]]:
    """Yield random problems of 20 samples with ties: loss and confidence, failures and successes in each."""
    rng = np.random.default_rng(seed)
    while count:
        loss = rng.random(20) if graded else (rng.random(20) < 0.3).astype(float)
        if graded or 0 < loss.sum() < 20:
            count -= 1
            yield loss, rng.integers(0, 8, 20) / 8


@cache
def synthetic(kind: Any, n: int = 20000, seed: int = 0) -> tuple[Any, Any]:
    """Return loss and confidence of a synthetic model."""
    made = abstain.datasets.synthetic(kind, n, seed)
    return made.loss_per_sample(), np.asarray(made.confidence)


@cache
def vgg() -> Any:
    """Return the bundled outputs of a VGG-16 on CIFAR-10."""
    return abstain.datasets.load("cifar10_vgg16")


def data(name: str) -> Path:
    """Return a file of saved outputs."""
    folder = os.environ.get("ABSTAIN_DATA", "")
    file = Path(folder) / "outputs" / name
    assert file.is_file(), f"{name} is not in {folder or 'ABSTAIN_DATA'}/outputs"
    return file


def listed(values: Any, digits: int = 4) -> str:
    """Return numbers as text."""
    return ", ".join(f"{float(value):.{digits}g}" for value in values)


def holds(condition: Any, what: Any) -> None:
    """Fail with words unless a condition holds."""
    if not condition:
        raise AssertionError(what)
