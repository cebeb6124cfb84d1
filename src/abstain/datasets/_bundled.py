"""Outputs that come with the package; ``data/README.md`` says where each is from and under which licence."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from functools import partial
from importlib.resources import files
from typing import Any

import numpy as np

from abstain._checks import one_of
from abstain._typing import FloatArray
from abstain.outputs import Outputs

#: Models of ``imagenet_six.npz``, best accuracy first.
_SIX = ("efficientnet_b3a", "resnext50", "resnext101", "resnet101", "mobilenetv3", "resnet34")


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
        - ``"cifar10_votes"``: the majority of 30 networks: 0/1 loss, and its share of the votes as confidence; 10,000
          images of CIFAR-10 in their order, then 2,000 of CIFAR-10.1, collected anew (group ``set``); accuracy 0.97
          and 0.918. From modestyachts/CIFAR-10.1, MIT.
        - ``"imagenet_resnet34"``, ``_resnet101``, ``_resnext50``, ``_resnext101``, ``_efficientnet_b3a``,
          ``_mobilenetv3``: 0/1 loss and largest probability of a model on the same 2,000 of the 50,000 validation
          images of ImageNet. From hollance/reliability-diagrams, MIT.
        - ``"fashion_mnist_id"``: 0/1 loss of a network on 1,000 images of Fashion-MNIST, and its scores ``msp`` and
          ``gen``; ``"fashion_mnist_ood"``: the scores of 1,000 images of MNIST, which it does not know. From
          cleanlab/ood-detection-benchmarks, Apache-2.0.

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
    >>> abstain.datasets.names()[:4]
    ['cifar10_vgg16', 'cifar10_votes', 'digits_logreg', 'fashion_mnist_id']
    """
    return list(_LOADERS)


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


def _cifar10_votes() -> Outputs:
    columns = _archive("cifar10_votes.npz")
    sets = {name: columns[f"{name}_votes"] for name in ("cifar10", "cifar10_1")}
    return Outputs(
        loss=np.concatenate([_bits(columns[f"{name}_wrong"], len(votes)) for name, votes in sets.items()]),
        confidence=np.concatenate(list(sets.values())) / 30.0,
        groups={"set": np.repeat(["CIFAR-10", "CIFAR-10.1"], [len(votes) for votes in sets.values()])},
    )


def _imagenet(model: str) -> Outputs:
    columns = _archive("imagenet_six.npz")
    score = columns[f"{model}_msp"]
    return Outputs(loss=_bits(columns[f"{model}_wrong"], len(score)), confidence=score)


def _fashion_mnist_id() -> Outputs:
    columns = _archive("fashion_mnist_ood.npz")
    msp, gen = columns["fashion_msp"], columns["fashion_gen"]
    return Outputs(loss=_bits(columns["fashion_wrong"], len(msp)), confidence=msp, scores={"msp": msp, "gen": gen})


def _fashion_mnist_ood() -> Outputs:
    columns = _archive("fashion_mnist_ood.npz")
    msp, gen = columns["mnist_msp"], columns["mnist_gen"]
    return Outputs(confidence=msp, scores={"msp": msp, "gen": gen}, unlabelled=True)


def _bits(packed: Any, n: int) -> FloatArray:
    return np.unpackbits(packed, count=n).astype(float)


def _archive(name: str) -> dict[str, Any]:
    with np.load(io.BytesIO(_bytes(name)), allow_pickle=False) as archive:
        return dict(archive)


def _bytes(name: str) -> bytes:
    return files("abstain.datasets").joinpath("data", name).read_bytes()


_LOADERS: dict[str, Callable[[], Outputs]] = {
    "cifar10_vgg16": lambda: Outputs(**_archive("cifar10_vgg16.npz")),
    "cifar10_votes": _cifar10_votes,
    "digits_logreg": _digits_logreg,
    "fashion_mnist_id": _fashion_mnist_id,
    "fashion_mnist_ood": _fashion_mnist_ood,
    **{f"imagenet_{model}": partial(_imagenet, model) for model in _SIX},
    "llama3_70b_mmlu": _llama3_70b_mmlu,
}
