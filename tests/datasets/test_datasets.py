"""Bundled data: it is what it says, and NumPy suffices. Synthetic models: what the paper prints."""

import os
import runpy
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from abstain import datasets
from tests.refusal import refused

CIFAR = "c919c7780e23b36d41009df4c89ed1f097b88edc9ef5f4c4e3d01e154e7480a8"
LLAMA = "99891d3b69f72b87c66dd4b865b868a594f4bd92ab5b3ebb988468f38692678f"


@pytest.mark.parametrize(
    ("name", "n", "errors", "fingerprint"),
    [
        ("cifar10_vgg16", 10_000, 641, CIFAR),
        ("llama3_70b_mmlu", 6000, 1480, LLAMA),
        ("digits_logreg", 899, 35, None),
        ("cifar10_votes", 12_000, 464, None),
        ("fashion_mnist_id", 1000, 43, None),
    ],
)
def test_sets_are_complete_and_unchanged(name, n, errors, fingerprint):
    """Rows, errors and, of those that papers use, the hash."""
    outputs = datasets.load(name)
    assert (outputs.n, outputs.loss_per_sample().sum()) == (n, errors)
    assert fingerprint in (None, outputs.fingerprint)


def test_what_makes_each_set_interesting():
    """Classes in the order of CIFAR-10, ties of two scores, probabilities, votes, foreign rows."""
    cifar, llama, digits = map(datasets.load, ("cifar10_vgg16", "llama3_70b_mmlu", "digits_logreg"))
    assert (cifar.n_classes, digits.n_classes, cifar.class_names[:2]) == (10, 10, ("airplane", "automobile"))
    assert np.bincount(cifar.labels).tolist() == [1000] * 10
    assert llama.confidence.tolist() == llama.scores["msp"].tolist()
    assert [len(np.unique(llama.scores[name])) for name in ("msp", "max_logit")] == [3028, 362]
    assert 0.2 < digits.confidence.min() <= digits.confidence.max() <= 1.0
    votes, known, ood = map(datasets.load, ("cifar10_votes", "fashion_mnist_id", "fashion_mnist_ood"))
    new = votes.groups["set"] == "CIFAR-10.1"
    assert new.tolist() == [False] * 10_000 + [True] * 2000
    assert votes.loss[new].sum() == 164
    assert np.array_equal(np.round(30 * votes.confidence) / 30, votes.confidence)
    assert (ood.n, ood.loss) == (1000, None)
    for score in ("msp", "gen"):
        assert (known.scores[score][:, None] > ood.scores[score]).mean() > 0.9


def test_six_models_of_imagenet():
    """The same images: errors go together; accuracies are those of the complete set within sampling error."""
    whole = {"efficientnet_b3a": 0.81874, "resnext50": 0.79762, "resnext101": 0.79312, "resnet101": 0.77374,
             "mobilenetv3": 0.75768, "resnet34": 0.75112}  # fmt: skip
    losses = [datasets.load(f"imagenet_{name}").loss for name in whole]
    for loss, accuracy in zip(losses, whole.values(), strict=True):
        assert abs(1.0 - loss.mean() - accuracy) < 3.0 * np.sqrt(accuracy * (1.0 - accuracy) / 2000)
    assert np.corrcoef(losses)[np.triu_indices(6, 1)].min() > 0.5


SCRIPT = Path(__file__).parents[2] / "benchmarks/make_bundled.py"


def test_digits_are_what_the_script_makes(tmp_path):
    """The script in ``benchmarks`` makes the bundled file again."""
    pytest.importorskip("sklearn")
    runpy.run_path(str(SCRIPT))["digits"](tmp_path / "digits.csv")
    made = np.genfromtxt(tmp_path / "digits.csv", delimiter=",", skip_header=1)
    outputs = datasets.load("digits_logreg")
    np.testing.assert_array_equal(made[:, :2].T, [outputs.labels, outputs.predictions])
    np.testing.assert_allclose(made[:, 2], outputs.confidence, atol=2e-6)


@pytest.mark.skipif("ABSTAIN_DATA" not in os.environ, reason="the complete sets are not here (ABSTAIN_DATA)")
def test_extracts_are_what_the_script_makes(tmp_path):
    """The script in ``benchmarks`` makes the bundled extracts again from the complete sets."""
    main = runpy.run_path(str(SCRIPT))["main"]
    main.__globals__["TARGET"] = tmp_path
    main(Path(os.environ["ABSTAIN_DATA"]))
    for made in tmp_path.iterdir():
        with np.load(made) as one, np.load(files("abstain.datasets").joinpath("data", made.name)) as other:
            assert one.files == other.files
            assert all(np.array_equal(one[name], other[name]) for name in one.files), made.name


def test_every_name_loads_with_numpy_only():
    """A fresh installation without extras can load every set."""
    assert len(datasets.names()) == 12
    code = "import sys; sys.modules.update(polars=None, pandas=None, sklearn=None)\nfrom abstain import datasets\n"
    code += "print(*[datasets.load(name).n for name in datasets.names()])"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert sum(map(int, printed.split())) == 10000 + 12000 + 899 + 1000 + 1000 + 6 * 2000 + 6000


# ---------------------------------------------------------------------- synthetic models

# Printed in the paper, for one draw of n = 1000: accuracy, expected calibration error, and (computed from the
# stated intervals) the smallest and the largest confidence.
PRINTED = {
    "calibrated": (0.938, 0.13, 0.5, 1.0),
    "overconfident": (0.943, 0.0069, 0.9, 1.0),
    "underconfident": (0.94, 0.487, 0.3, 0.6),
    "random": (0.3366, 0.317, 0.3, 1.0),
    "perfect": (1.0, 0.0, 1.0, 1.0),
}


@pytest.mark.parametrize("kind", PRINTED)
def test_synthetic_models_match_the_printed_results(kind):
    """Accuracy, calibration error (15 bins of equal width) and range, within the paper's sampling error."""
    accuracy, ece, low, high = PRINTED[kind]
    outputs = datasets.synthetic(kind, n=100_000)
    deviation = 2.5 * np.sqrt(accuracy * (1 - accuracy) / 1000)  # of the paper's draw
    assert abs(1 - outputs.error.mean() - accuracy) <= deviation
    which = np.clip(np.ceil(outputs.confidence * 15) - 1, 0, 14).astype(int)
    gap = np.abs(np.bincount(which, (1 - outputs.error) - outputs.confidence, 15)).sum() / outputs.n
    assert abs(gap - ece) <= deviation + 0.003
    assert low <= outputs.confidence.min() <= outputs.confidence.max() <= high
    assert np.ptp(outputs.confidence) >= 0.99 * (high - low)


def test_seeds_and_numbers_of_the_caller():
    """Equal seeds give equal data, as a number or as a generator; accuracy and intervals replace those of the kind."""
    one, two = datasets.synthetic("random", rng=3), datasets.synthetic("random", rng=np.random.default_rng(3))
    assert one.fingerprint == two.fingerprint != datasets.synthetic("random", rng=4).fingerprint
    assert one.n == 1000
    assert set(np.unique(one.labels)) == set(np.unique(one.predictions)) == {0, 1, 2}
    outputs = datasets.synthetic("random", n=20_000, p_correct=0.5, correct=(0.6, 0.6), wrong=(0.1, 0.2))
    assert abs(outputs.error.mean() - 0.5) < 0.02
    assert set(outputs.confidence[outputs.error == 0]) == {0.6}
    assert 0.1 <= outputs.confidence[outputs.error == 1].min() <= outputs.confidence[outputs.error == 1].max() <= 0.2


def test_messages():
    """Bad arguments are named with their value and the remedy."""
    refused(ValueError, "name='cifar10' is not known; did you mean 'cifar10_votes'", datasets.load, "cifar10")
    for error, message, kind, options in (
        (ValueError, "kind='calibratet' is not known; did you mean 'calibrated'", "calibratet", {}),
        (ValueError, "n must be a whole number >= 1, got 0", "random", {"n": 0}),
        (ValueError, r"p_correct must lie in \[0, 1\]", "random", {"p_correct": 90}),
        (ValueError, "correct must be .*low <= high", "random", {"correct": (0.9, 0.1)}),
        (ValueError, r"wrong must lie in \[0, 1\]", "random", {"wrong": (0.5, 1.5)}),
        (TypeError, r"wrong must be a pair \(low, high\)", "random", {"wrong": 0.5}),
    ):
        refused(error, message, datasets.synthetic, kind, **options)
