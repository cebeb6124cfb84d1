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


def test_cifar10_vgg16():
    """The set is complete, in the order of CIFAR-10, and unchanged."""
    outputs = datasets.load("cifar10_vgg16")
    assert (outputs.n, outputs.n_classes) == (10000, 10)
    assert outputs.error.sum() == 641
    assert outputs.class_names[:2] == ("airplane", "automobile")
    assert np.bincount(outputs.labels).tolist() == [1000] * 10
    assert outputs.fingerprint == "c919c7780e23b36d41009df4c89ed1f097b88edc9ef5f4c4e3d01e154e7480a8"


def test_llama3_70b_mmlu():
    """The set is complete, its numbers are those of the source, and the two scores are what makes it interesting."""
    outputs = datasets.load("llama3_70b_mmlu")
    assert outputs.n == 6000
    assert outputs.loss_per_sample().sum() == 1480
    assert outputs.confidence.tolist() == outputs.scores["msp"].tolist()
    assert len(np.unique(outputs.scores["msp"])) == 3028
    assert len(np.unique(outputs.scores["max_logit"])) == 362
    assert outputs.fingerprint == "99891d3b69f72b87c66dd4b865b868a594f4bd92ab5b3ebb988468f38692678f"


def test_digits_logreg():
    """The set is complete and its confidences are probabilities."""
    outputs = datasets.load("digits_logreg")
    assert (outputs.n, outputs.n_classes) == (899, 10)
    assert outputs.error.sum() == 35
    assert outputs.confidence.min() > 0.2
    assert outputs.confidence.max() <= 1.0


SCRIPT = Path(__file__).parents[2] / "benchmarks/make_bundled.py"


def test_digits_are_what_the_script_makes(tmp_path):
    """The script in ``benchmarks`` makes the bundled file again."""
    pytest.importorskip("sklearn")
    runpy.run_path(str(SCRIPT))["digits"](tmp_path / "digits.csv")
    made = np.genfromtxt(tmp_path / "digits.csv", delimiter=",", skip_header=1)
    outputs = datasets.load("digits_logreg")
    np.testing.assert_array_equal(made[:, 0], outputs.labels)
    np.testing.assert_array_equal(made[:, 1], outputs.predictions)
    np.testing.assert_allclose(made[:, 2], outputs.confidence, atol=2e-6)


def test_votes_of_thirty_networks():
    """Both sets are complete and in order; the second one is harder; a share is a whole number of votes."""
    outputs = datasets.load("cifar10_votes")
    new = outputs.groups["set"] == "CIFAR-10.1"
    assert new.tolist() == [False] * 10_000 + [True] * 2000
    assert (outputs.loss[~new].sum(), outputs.loss[new].sum()) == (300, 164)
    assert np.array_equal(np.round(30 * outputs.confidence) / 30, outputs.confidence)


def test_six_models_of_imagenet():
    """The same images: errors go together; accuracies are those of the complete set within sampling error."""
    whole = {"efficientnet_b3a": 0.81874, "resnext50": 0.79762, "resnext101": 0.79312, "resnet101": 0.77374,
             "mobilenetv3": 0.75768, "resnet34": 0.75112}  # fmt: skip
    losses = [datasets.load(f"imagenet_{name}").loss for name in whole]
    for loss, accuracy in zip(losses, whole.values(), strict=True):
        assert abs(1.0 - loss.mean() - accuracy) < 3.0 * np.sqrt(accuracy * (1.0 - accuracy) / 2000)
    assert np.corrcoef(losses)[np.triu_indices(6, 1)].min() > 0.5


def test_a_set_and_a_foreign_one():
    """Both scores tell MNIST from Fashion-MNIST; the OOD rows have no label."""
    known, ood = datasets.load("fashion_mnist_id"), datasets.load("fashion_mnist_ood")
    assert (known.n, ood.n, known.loss.sum()) == (1000, 1000, 43)
    assert ood.loss is None
    for score in ("msp", "gen"):
        assert (known.scores[score][:, None] > ood.scores[score]).mean() > 0.9


def test_extracts_are_what_the_script_makes(tmp_path):
    """The script in ``benchmarks`` makes the bundled extracts again from the complete sets."""
    folder = Path(os.environ.get("ABSTAIN_DATA", "nowhere"))
    if not (folder / "outputs" / "imagenet_val_msp.npz").is_file():
        pytest.skip("the complete sets are not here (ABSTAIN_DATA)")
    main = runpy.run_path(str(SCRIPT))["main"]
    main.__globals__["TARGET"] = tmp_path
    main(folder)
    for made in tmp_path.iterdir():
        with np.load(made) as one, np.load(files("abstain.datasets").joinpath("data", made.name)) as other:
            assert one.files == other.files
            assert all(np.array_equal(one[name], other[name]) for name in one.files), made.name


def test_names_and_messages():
    """Every listed name loads, and a wrong one gets the nearest."""
    assert len(datasets.names()) == 12
    assert {"cifar10_vgg16", "digits_logreg", "llama3_70b_mmlu"} < set(datasets.names())
    for name in datasets.names():
        assert datasets.load(name).n > 0
    with pytest.raises(ValueError, match="name='cifar10' is not known; did you mean 'cifar10_votes'"):
        datasets.load("cifar10")


def test_loading_needs_numpy_only():
    """A fresh installation without extras can load every set."""
    code = (
        "import sys; sys.modules.update(polars=None, pandas=None, sklearn=None)\n"
        "from abstain import datasets; print(*[datasets.load(name).n for name in datasets.names()])"
    )
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


def calibration_error(outputs, bins=15):
    """Expected calibration error with right-closed bins of equal width."""
    which = np.clip(np.ceil(outputs.confidence * bins) - 1, 0, bins - 1).astype(int)
    gap = np.bincount(which, (1 - outputs.error) - outputs.confidence, bins)
    return np.abs(gap).sum() / outputs.n


@pytest.mark.parametrize("kind", PRINTED)
def test_synthetic_models_match_the_printed_results(kind):
    """Accuracy, calibration error and range are those of the paper, within its sampling error."""
    accuracy, ece, low, high = PRINTED[kind]
    outputs = datasets.synthetic(kind, n=100_000)
    deviation = np.sqrt(accuracy * (1 - accuracy) / 1000)  # of the paper's draw
    assert abs(1 - outputs.error.mean() - accuracy) <= 2.5 * deviation
    assert abs(calibration_error(outputs) - ece) <= 2.5 * deviation + 0.003
    assert outputs.confidence.min() >= low
    assert outputs.confidence.max() <= high
    assert np.ptp(outputs.confidence) >= 0.99 * (high - low)


def test_seeds_and_generators():
    """Equal seeds give equal data, given as a number or as a generator."""
    one, two = datasets.synthetic("random", rng=3), datasets.synthetic("random", rng=np.random.default_rng(3))
    assert one.fingerprint == two.fingerprint
    assert one.fingerprint != datasets.synthetic("random", rng=4).fingerprint
    assert datasets.synthetic("random").n == 1000
    assert set(np.unique(one.labels)) == set(np.unique(one.predictions)) == {0, 1, 2}


def test_every_number_can_be_changed():
    """Accuracy and intervals given by the caller replace those of the kind."""
    outputs = datasets.synthetic("random", n=20_000, p_correct=0.5, correct=(0.6, 0.6), wrong=(0.1, 0.2))
    assert abs(outputs.error.mean() - 0.5) < 0.02
    assert set(outputs.confidence[outputs.error == 0]) == {0.6}
    assert outputs.confidence[outputs.error == 1].max() <= 0.2


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"kind": "calibratet"}, ValueError, "kind='calibratet' is not known; did you mean 'calibrated'"),
        ({"kind": "random", "n": 0}, ValueError, "n must be a whole number >= 1, got 0"),
        ({"kind": "random", "p_correct": 90}, ValueError, r"p_correct must lie in \[0, 1\]"),
        ({"kind": "random", "correct": (0.9, 0.1)}, ValueError, "correct must be .*low <= high"),
        ({"kind": "random", "wrong": (0.5, 1.5)}, ValueError, r"wrong must lie in \[0, 1\]"),
        ({"kind": "random", "wrong": 0.5}, TypeError, r"wrong must be a pair \(low, high\)"),
    ],
)
def test_synthetic_messages(options, error, message):
    """Bad arguments are named with their value and the remedy."""
    with pytest.raises(error, match=message):
        datasets.synthetic(**options)
