"""Members of an npz file are read to their end, once each, and never more than there is."""

import io
import zipfile

import numpy as np
import pytest

import abstain
from tests.refusal import refused

N = 60
SURE = np.linspace(0.5, 1.0, N)
LOSS = (np.arange(N) % 7 == 0).astype(float)


def member(array, described=None):
    """Return the bytes of an array behind the header of another."""
    file = io.BytesIO()
    np.lib.format.write_array(file, array if described is None else described)
    body = b"" if described is None else array.tobytes()
    header = file.getvalue()[: len(file.getvalue()) - (0 if described is None else described.nbytes)]
    return header + body


def archive(path, *members, deflated=False):
    """Write members, also two of one name."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED) as file:
        for name, content in members:
            file.writestr(f"{name}.npy", content)
    return path


def huge():
    """Return a header that announces more than any memory holds."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)})
    return file.getvalue()


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("confidence", "message"),
    [
        ([member(SURE, SURE.astype(np.float32))], "more bytes than its header says"),
        ([member(np.tile(SURE, 100), SURE)], "more bytes than its header says"),
        ([member(SURE), member(SURE[::-1].copy())], "holds 'confidence' 2 times"),
        ([huge()], "shorter than its header says"),
        ([member(SURE)[:-8]], "expected 480 bytes got 472"),
        ([member(np.full(N, "x" * 1_000_000))], "bytes of text in"),  # a few kilobytes that become 240 MB
    ],
)
def test_what_is_not_what_its_header_says_is_refused(tmp_path, confidence, message):
    """Each gave a wrong or a partial column before, or the traceback of a library."""
    members = [("loss", member(LOSS)), *(("confidence", content) for content in confidence)]
    file = archive(tmp_path / "a.npz", *members, deflated="text" in message)
    refused(ValueError, message, abstain.read_outputs, file)


def test_numbers_that_unpack_without_measure_are_refused(tmp_path, monkeypatch):
    """A megabyte that becomes a gigabyte of zeros, here with a lower limit; a long column of zeros is none."""
    zeros = [("loss", member(np.zeros(200_000))), ("confidence", member(np.arange(200_000.0)))]
    file = archive(tmp_path / "a.npz", *zeros, deflated=True)
    assert abstain.read_outputs(file).n == 200_000
    monkeypatch.setattr("abstain.outputs._objects.HARMLESS_NUMBERS", 1 << 20)
    refused(ValueError, r"'loss' holds 1600128 bytes of numbers in", abstain.read_outputs, file)


def test_a_member_that_is_no_array_is_named(tmp_path):
    """A damaged name drops a column, such as the weights, which is said: it is called unused, and weighs nothing."""
    file = tmp_path / "a.npz"
    weights = member(np.linspace(1.0, 2.0, N))
    archive(file, ("loss", member(LOSS)), ("confidence", member(SURE)), ("weight", weights))
    assert abstain.read_outputs(file).sample_weight is not None
    file.write_bytes(file.read_bytes().replace(b"weight.npy", b"weight.npx"))
    found = abstain.read_outputs(file)
    assert found.sample_weight is None
    assert "weight.npx" in found.reading.unused


def test_an_encrypted_member_is_one_error(tmp_path):
    """The flag of encryption, which the library answers with a RuntimeError."""
    file = archive(tmp_path / "a.npz", ("loss", member(LOSS)), ("confidence", member(SURE)))
    content = bytearray(file.read_bytes())
    place = 0
    while (place := content.find(b"PK\x01\x02", place)) >= 0:
        content[place + 8] |= 1
        place += 4
    file.write_bytes(content)
    refused(ValueError, r"a.npz: cannot be read .*encrypted", abstain.read_outputs, file)


def test_a_long_reason_is_cut(tmp_path, monkeypatch):
    """After 200 characters, of which the first is a quotation mark here."""
    monkeypatch.setattr("abstain.outputs.readers.recognised", lambda _: {}["x" * 300])
    refused(ValueError, r"read \('x{199}\); write", abstain.read_outputs, archive(tmp_path / "a.npz"))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("log_templates", lambda array: np.roll(array, 1, axis=0)),
        ("log_templates", lambda array: np.full_like(array, np.nan)),
        ("log_templates", lambda array: array.astype(np.float32)),
        ("log_templates", lambda array: array[:3]),
        ("abstain_score", lambda array: np.array(str(array).replace('"n_fit": 10000', '"n_fit": 10001'))),
    ],
)
def test_an_edited_fitted_score_is_refused(tmp_path, name, change):
    """Other numbers, shapes, types or headers than were saved give no score."""
    outputs, path = abstain.datasets.load("cifar10_vgg16"), tmp_path / "klm.npz"
    fitted = abstain.scores.get("klm").fit(outputs)
    fitted.save(path)
    np.testing.assert_array_equal(abstain.scores.load(path).score(outputs), fitted.score(outputs))
    with np.load(path) as file:
        arrays = dict(file)
    new = change(arrays[name])
    assert new.tobytes() != arrays[name].tobytes()
    np.savez(path, **arrays | {name: new})
    refused(ValueError, "were changed after it was saved", abstain.scores.load, path)


def test_a_damaged_archive_is_told_by_every_door(tmp_path):
    """The compressed bytes break off inside the first header: no reader of other formats may fall over it."""
    path = tmp_path / "a.npz"
    np.savez_compressed(path, loss=LOSS, confidence=SURE)
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as file:
        start = file.infolist()[0].header_offset + 30 + len("loss.npy") + 20
    content[start : start + 40] = b"\xff" * 40
    path.write_bytes(content)
    policy = abstain.choose_threshold(LOSS, SURE, coverage=0.5).policy(score="confidence")
    for reads in (abstain.read_outputs, lambda file: abstain.apply_policy(policy, file, tmp_path / "b.csv")):
        refused(ValueError, r"a\.npz", reads, path)
    assert not (tmp_path / "b.csv").exists()
