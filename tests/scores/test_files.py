"""The file of a fitted score: what comes back, and what is refused; fitted scores by command."""

import json

import numpy as np
import pytest

import abstain
from abstain import scores
from tests.refusal import refused
from tests.scores.toy import TEST, TRAIN, fitted

NAMES = scores.names()
FITTED = [name for name in NAMES if scores.get(name).fit_function is not None]
HEADER = {
    "name": "knn", "version": 1, "options": {}, "arrays": ["bank"], "fingerprint": None, "n_fit": 0, "parts": [],
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_saved_score_is_the_same_score(name, tmp_path):
    """One file, no pickle: name, options, arrays and the fingerprint of the fit data come back."""
    score = fitted(name)
    file = tmp_path / "score.npz"
    score.save(file)
    again = scores.load(file)
    np.testing.assert_array_equal(again.score(TEST), score.score(TEST))
    assert again.name == name
    assert again.fingerprint == score.fingerprint
    assert again.n_fit == score.n_fit
    assert again.settings.keys() == score.settings.keys()
    assert [part.name for part in again.parts] == [part.name for part in score.parts]
    assert (score.fingerprint is None) == (name not in FITTED)


@pytest.fixture(scope="module")
def combination():
    """Return a combination with a fitted part: a file with arrays of both."""
    return fitted("combine_ranks", scores=("msp", fitted("knn")))


def test_a_damaged_file_is_refused_or_unharmed(combination, tmp_path):
    """Cut anywhere, or with any byte changed: an error that names the file, or exactly the score that was saved."""
    file = tmp_path / "score.npz"
    combination.save(file)
    whole, expected = file.read_bytes(), combination.score(TEST)
    for length in (0, 1, 30, len(whole) // 2, len(whole) - 30, len(whole) - 1):
        file.write_bytes(whole[:length])
        refused(ValueError, r"score\.npz: is no saved score", scores.load, file)
    rng = np.random.default_rng(0)
    refusals = []
    for place in rng.integers(0, len(whole), 300):
        damaged = bytearray(whole)
        damaged[place] ^= int(rng.integers(1, 256))
        file.write_bytes(damaged)
        try:
            found = scores.load(file).score(TEST)
        except ValueError as error:
            refusals.append(str(error))
        else:
            np.testing.assert_array_equal(found, expected)
    assert len(refusals) > 200
    assert all("score.npz: is no saved score" in refusal for refusal in refusals)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"version": 99}, "holds version 99 of knn, this is version 1; fit it again"),
        ({"name": "oracle"}, "holds the score 'oracle', which this version of abstain does not know"),
        ({"parts": [{**HEADER, "version": 7}]}, "holds version 7 of knn"),
        ({"arrays": ["bank", "tree"]}, "is no saved score"),
        ({"options": {"k": 3}}, "is no saved score .knn has no option 'k'"),
        ({"options": None}, "is no saved score"),
    ],
)
def test_files_that_do_not_fit_are_refused(header, message, tmp_path):
    """Another version, an unknown score, missing arrays, unknown options."""
    file = tmp_path / "score.npz"
    np.savez(file, bank=np.ones((2, 2)), abstain_score=np.array(json.dumps(HEADER | header)))
    refused(ValueError, rf"score\.npz: {message}", scores.load, file)


def test_other_files_are_refused(tmp_path):
    """No file, another archive, another header, a pickle, no archive at all."""
    refused(FileNotFoundError, r"none\.npz: no such file", lambda: scores.load(tmp_path / "none.npz"))
    file = tmp_path / "other.npz"
    for contents in ({"a": np.ones(3)}, {"abstain_score": np.array("[]")}, {"abstain_score": np.array([{}])}):
        np.savez(file, **contents)
        refused(ValueError, "is no saved score", scores.load, file)
    abstain.write_outputs(TRAIN, file)
    refused(ValueError, "is no saved score", scores.load, file)
    file.write_text("text")
    refused(ValueError, "is no saved score", scores.load, file)


def test_a_failed_save_leaves_the_old_file(combination, tmp_path, monkeypatch):
    """Nobody ever sees half of a file."""
    file = tmp_path / "score.npz"
    combination.save(file)
    before = file.read_bytes()

    def failing(stream, **arrays):
        stream.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", failing)
    refused(OSError, r"score\.npz: cannot be written", lambda: fitted("mds").save(file))
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]
