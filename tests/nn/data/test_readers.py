"""Readers of images: every format, what is wrong with a file, and that no pickle is opened."""

import gzip
import io
import pickle
import struct

import numpy as np
import pytest
import torch

from abstain.nn import data
from tests.refusal import refused

image = pytest.importorskip("PIL.Image")
RNG = np.random.default_rng(0)
GREY = RNG.integers(0, 256, (6, 8, 8), dtype=np.uint8)
COLOUR = RNG.integers(0, 256, (6, 8, 8, 3), dtype=np.uint8)
LABELS = np.arange(6) % 3


def png(path, picture):
    """Write an image without loss."""
    path.parent.mkdir(parents=True, exist_ok=True)
    image.fromarray(picture).save(path)


def idx(path, array):
    """Write an idx file as MNIST has them."""
    head = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    body = head + array.astype(np.uint8).tobytes()
    path.write_bytes(gzip.compress(body) if path.suffix == ".gz" else body)


def test_jpeg_archives_with_their_partner(tmp_path, monkeypatch):
    """A file of JPEG streams, found by name below the setting, with its test part beside it."""
    for part in ("train", "test"):
        streams = []
        for picture in COLOUR:
            stream = io.BytesIO()
            image.fromarray(picture).save(stream, "JPEG")
            streams.append(np.frombuffer(stream.getvalue(), dtype=np.uint8))
        offsets = np.concatenate([[0], np.cumsum([len(stream) for stream in streams])])
        np.savez(tmp_path / f"cifar10_{part}_jpeg90.npz", jpeg=np.concatenate(streams), offsets=offsets, y=LABELS)
    monkeypatch.setenv("ABSTAIN_DATA", str(tmp_path))
    train, test = data.load("cifar10")
    assert train.shape == test.shape == (3, 8, 8)
    assert train.labels.tolist() == LABELS.tolist()


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_idx_files_of_mnist(tmp_path, ending):
    """The four files, compressed or not; one that is missing or cut short is named."""
    for part in ("train", "t10k"):
        idx(tmp_path / f"{part}-images-idx3-ubyte{ending}", GREY)
        idx(tmp_path / f"{part}-labels-idx1-ubyte{ending}", LABELS)
    train, _ = data.load(str(tmp_path))
    assert torch.equal(train.pixels[:, 0], torch.from_numpy(GREY))
    assert train.labels.tolist() == LABELS.tolist()
    (tmp_path / f"t10k-labels-idx1-ubyte{ending}").unlink()
    refused(FileNotFoundError, "t10k-labels-idx1", data.load, str(tmp_path))
    file = tmp_path / f"train-images-idx3-ubyte{ending}"
    head = b"\0\0\x08\x03" + bytes(12)
    for held, message in (
        (b"\0\0\x08\x01\0\0\0\x09" + bytes(8), r"holds 8 bytes for shape \(9,\)"),
        *((head[:length], "is no idx file of bytes") for length in (3, 4, 15)),
    ):
        file.write_bytes(gzip.compress(held) if ending else held)
        refused(ValueError, message, data.load, str(tmp_path))


def test_folders_and_lists_that_cannot_be_read(tmp_path):
    for place in ("train/cat", "test/dog"):
        png(tmp_path / place / "0.png", COLOUR[0])
    refused(ValueError, "are not the same classes", data.load, str(tmp_path))
    for text, error, message in (
        ("train/cat/0.png\n", ValueError, "line 1 is no path with a label"),
        ("9.png 0\n", FileNotFoundError, r"9.png: no such file, but test.txt lists it"),
    ):
        (tmp_path / "test.txt").write_text(text)
        refused(error, message, data.load, str(tmp_path / "test.txt"))


@pytest.mark.parametrize("hundred", [False, True])
def test_binary_cifar(tmp_path, hundred):
    """Rows of label bytes and 3,072 bytes, planes one after the other; fine labels of CIFAR-100."""
    pixels = RNG.integers(0, 256, (4, 3072), dtype=np.uint8)
    labels = np.arange(4, dtype=np.uint8)[:, None]
    rows = np.hstack([labels * 0 + 9, labels, pixels] if hundred else [labels, pixels])
    names = ["train.bin", "test.bin"] if hundred else [*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin"]
    for name in names:
        (tmp_path / name).write_bytes(rows.tobytes())
    train, test = data.load(str(tmp_path))
    assert len(train) == (4 if hundred else 20)
    assert test.labels.tolist() == [0, 1, 2, 3]
    assert torch.equal(test.pixels.reshape(4, -1), torch.from_numpy(pixels))
    (tmp_path / names[-1]).write_bytes(rows.tobytes()[:-1])
    refused(ValueError, "are no whole number of images", lambda: data.load(str(tmp_path)))


def test_a_pickle_is_never_opened(tmp_path):
    """Neither the Python version of CIFAR nor an archive of objects; the bomb would leave a file."""
    bomb = tmp_path / "bomb"

    class Bomb:
        def __reduce__(self):
            return (open, (str(bomb), "w"))

    (tmp_path / "cifar").mkdir()
    (tmp_path / "cifar" / "data_batch_1").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(ValueError, match="a pickle, which is never opened; use the binary one"):
        data.load(str(tmp_path / "cifar"))
    np.savez(tmp_path / "objects.npz", x=np.array([Bomb()], dtype=object), y=np.zeros(1))
    with pytest.raises(ValueError, match="holds Python objects, which are never loaded"):
        data.load(str(tmp_path / "objects.npz"))
    assert not bomb.exists()


def test_large_pictures_are_decoded_when_they_are_needed(tmp_path):
    """Nothing is decoded at first; a broken file is named when its row is asked for."""
    big = RNG.integers(0, 256, (100, 120, 3), dtype=np.uint8)
    for which in range(3):
        png(tmp_path / "test" / "a" / f"{which}.png", big)
    (tmp_path / "test" / "a" / "1.png").write_bytes(b"nothing")
    _, test = data.load(str(tmp_path), size=96)
    assert isinstance(test.pixels, data.Files)
    assert test.take([0, 2]).shape == (2, 3, 96, 96)
    assert len(test.select([2, 0])) == 2
    refused(ValueError, r"1.png: is no readable image", test.take, [1])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("cifar11", "no such file or folder, and no known data set; did you mean 'cifar1"),
        ("cifar10", "ABSTAIN_DATA is not set"),
        ("synthetic:m=3", "cannot be read at 'm=3'"),
        ("hf:cats", "hf:cats needs datasets; pip install datasets"),
        ("torchvision:CIFAR10", "ABSTAIN_DATA is not set"),
    ],
)
def test_names_that_lead_nowhere(name, message, monkeypatch):
    """One line with the remedy."""
    monkeypatch.delenv("ABSTAIN_DATA", raising=False)
    refused((FileNotFoundError, ValueError, ModuleNotFoundError), message, data.load, name)


def test_pictures_are_checked():
    """Shapes, types, labels."""
    bytes_ = torch.zeros(2, 1, 4, 4, dtype=torch.uint8)
    for arguments, error, message in (
        ((bytes_, torch.zeros(3, dtype=torch.int64)), ValueError, "shapes do not fit"),
        ((bytes_.float(), torch.zeros(2, dtype=torch.int64)), TypeError, "give bytes from 0 to 255"),
        ((bytes_, torch.tensor([0, -2])), ValueError, "label -2 is no class"),
        ((bytes_, torch.tensor([0, 5]), ("a", "b")), ValueError, "label 5 has no name among 2"),
    ):
        refused(error, message, data.Images, *arguments)


def test_torchvision_that_cannot_be_used(monkeypatch, tmp_path):
    """Built for another PyTorch, data that are not there, an unknown name: a line each, no traceback of the library."""
    import sys
    import types

    def absent(root, train, download):
        raise RuntimeError("Dataset not found or corrupted.")

    module = types.ModuleType("torchvision.datasets")
    module.CIFAR10, module.__all__ = absent, ["CIFAR10"]
    monkeypatch.setenv("ABSTAIN_DATA", str(tmp_path))
    monkeypatch.setitem(sys.modules, "torchvision", types.ModuleType("torchvision"))
    monkeypatch.setitem(sys.modules, "torchvision.datasets", module)
    refused(FileNotFoundError, "torchvision:CIFAR10: is not complete in", data.load, "torchvision:CIFAR10")
    refused(ValueError, "no data set 'CIFAR11'; did you mean 'CIFAR10'", data.load, "torchvision:CIFAR11")
    finder = types.SimpleNamespace(find_spec=lambda name, *_: _broken(name))
    for name in ("torchvision", "torchvision.datasets"):
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [finder, *sys.meta_path])
    refused(ImportError, "installed but cannot be loaded", data.load, "torchvision:CIFAR10")


def _broken(name):
    if name.startswith("torchvision"):
        raise RuntimeError("operator torchvision::nms does not exist")
