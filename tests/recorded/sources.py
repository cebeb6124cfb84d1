"""Sources that are read, and what is recorded of a reading: its columns, and the numbers and names in its sentences."""

import re
import tempfile
import warnings
from contextlib import chdir, contextmanager
from pathlib import Path

import numpy as np

import abstain

RNG = np.random.default_rng(20261126)
N = 60
NAMES = np.array(["ant", "bee", "cat"])


def softmax(values):
    """Return probabilities of classes."""
    shifted = np.exp(values - values.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


#: Sixty rows of a model of three classes, and of one of two: what their columns are made of.
Y = RNG.integers(0, 3, N)
LOGITS = RNG.normal(size=(N, 3)) + 1.5 * np.eye(3)[Y]
P = softmax(LOGITS)
PRED = P.argmax(axis=1)
CONF = P.max(axis=1)
WRONG = (PRED != Y).astype(int)
TWO = RNG.integers(0, 2, N)
P1 = np.clip(0.5 + 0.3 * (2 * TWO - 1) * RNG.random(N) + RNG.normal(0.0, 0.15, N), 0.01, 0.99)
SITE = np.array(["north", "south"])[RNG.integers(0, 2, N)]
WHO = np.sort(RNG.integers(0, 15, N))
WEIGHT = RNG.integers(1, 5, N) / 2.0


def said(text):
    """Return the numbers and the quoted names of a sentence; what it says of them is judged by other tests."""
    return re.findall(r"`[^`]*`|'[^']*'|(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?", str(text))


def refused(call, *values, **options):
    """Return what a call gives; of an error its kind, and the numbers and names in its message."""
    try:
        return call(*values, **options)
    except (TypeError, ValueError, OSError) as error:
        return [type(error).__name__, *said(error)]


def column(values):
    """Return a short column as it is; of a long one its length, extremes and two sums."""
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        array = np.unique(array.astype(str), return_inverse=True)[1].reshape(array.shape)
    if array.size <= 12:
        return array
    flat = array.ravel().astype(float)
    known = np.where(np.isfinite(flat), flat, -7.0)
    return [*array.shape, known.min(), known.max(), known.sum(), (known * np.cos(np.arange(len(known)))).sum()]


def outcome(outputs, warned=()):
    """Return everything that can be told of outputs."""
    found = {"doubts": [said(each.message) for each in warned]}
    names = "labels predictions confidence loss logits probabilities passes features sample_weight ids clusters"
    for name in names.split():
        if (value := getattr(outputs, name)) is not None:
            found[name] = column(value)
    for name in ("groups", "scores", "score_predictions"):
        found |= {f"{name} {key}": column(each) for key, each in getattr(outputs, name).items()}
    if outputs.head is not None:
        found["head"] = [column(each) for each in outputs.head]
    if (states := outputs.states) is not None:
        rates = {name: [rows.sum(), np.sum(values * rows)] for name, (rows, values) in states.rates().items()}
        found["states"] = [states.counts, states.unscored, column(states.loss), rates, said(states), states.graded]
    if (reading := outputs.reading) is not None:
        words = {part: said(each) for part, each in reading.words.items()}
        found["reading"] = [reading.single, reading.matrix, reading.scores, reading.levels, words]
        found["told"] = [reading.rows.split(), [said(each) for each in reading.notes], reading.unused]
    found["understood"] = {part: said(each) for part, each in outputs.understood("energy").items()}
    found["is"] = [outputs.n, outputs.n_classes, outputs.class_names, outputs.largest_loss, outputs.declines]
    return found


def read(source, **options):
    """Return what is read of a source, with the doubts about it; of an error its kind, numbers and names."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            return outcome(abstain.read_outputs(source, **options), warned)
        except (TypeError, ValueError, OSError) as error:
            return [type(error).__name__, *said(error)]


def made(**columns):
    """Return what ``Outputs`` makes of columns, as ``read`` does of a source."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            return outcome(abstain.Outputs(**columns), warned)
        except (TypeError, ValueError) as error:
            return [type(error).__name__, *said(error)]


@contextmanager
def folder():
    """Work in an empty folder, so that no path of this machine is in any message."""
    with tempfile.TemporaryDirectory() as name:
        (here := Path(name) / "here").mkdir()
        with chdir(here):
            yield Path()
