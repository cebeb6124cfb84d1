"""Outputs that come with the package; ``data/README.md`` says where each is from and under which licence."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import numpy as np

from abstain._checks import one_of
from abstain.outputs import Outputs


def load(name: str) -> Outputs:
    """Load bundled outputs of a real model, with NumPy alone and without a network.

    Parameters
    ----------
    name : str
        - ``"cifar10_vgg16"``: VGG-16 on the CIFAR-10 test set, 10,000 x 10 softmax probabilities (float32
          values), labels and class names; accuracy 0.9359. From p-lambda/verified_calibration, MIT.
        - ``"llama3_70b_mmlu"``: Llama 3 70B on 6,000 multiple-choice questions of MMLU: 0/1 loss, and two
          confidence scores of its answer, the softmax probability ``msp`` and the raw logit ``max_logit``, which
          has only 362 distinct values; accuracy 0.7533. From bplaut/llm-calibration-and-correctness-prediction, MIT.
        - ``"digits_logreg"``: our logistic regression on half of the UCI hand-written digits, asked about the
          other half; 899 labels, predictions and confidences; accuracy 0.9611. Digits: CC BY 4.0.

    Returns
    -------
    Outputs

    Raises
    ------
    ValueError
        No data set has this name.

    Examples
    --------
    >>> import abstain
    >>> abstain.datasets.load("cifar10_vgg16")
    Outputs(n=10000, n_classes=10, labels, probabilities, class_names)
    >>> float(abstain.datasets.load("digits_logreg").error.mean().round(4))
    0.0389
    """
    return _LOADERS[one_of(name, _LOADERS, "name")]()


def names() -> list[str]:
    """Return the names that :func:`load` knows.

    Examples
    --------
    >>> import abstain
    >>> abstain.datasets.names()
    ['cifar10_vgg16', 'digits_logreg', 'llama3_70b_mmlu']
    """
    return list(_LOADERS)


def _cifar10_vgg16() -> Outputs:
    return Outputs(**_archive("cifar10_vgg16.npz"))


def _digits_logreg() -> Outputs:
    rows = list(csv.DictReader(io.StringIO(_bytes("digits_logreg.csv").decode())))
    return Outputs(
        labels=[int(row["labels"]) for row in rows],
        predictions=[int(row["predictions"]) for row in rows],
        confidence=[float(row["confidence"]) for row in rows],
    )


def _llama3_70b_mmlu() -> Outputs:
    columns = _archive("llama3_70b_mmlu.npz")
    scores = {name: columns[name] for name in ("msp", "max_logit")}
    return Outputs(loss=columns["wrong"], confidence=columns["msp"], scores=scores)


def _archive(name: str) -> dict[str, Any]:
    with np.load(io.BytesIO(_bytes(name)), allow_pickle=False) as archive:
        return dict(archive)


def _bytes(name: str) -> bytes:
    return files("abstain.datasets").joinpath("data", name).read_bytes()


_LOADERS: dict[str, Callable[[], Outputs]] = {
    "cifar10_vgg16": _cifar10_vgg16,
    "digits_logreg": _digits_logreg,
    "llama3_70b_mmlu": _llama3_70b_mmlu,
}
