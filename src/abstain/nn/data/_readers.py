"""Readers of image files, one per format; no pickle is ever opened."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch

from abstain._checks import closest
from abstain._typing import AnyArray, ArrayLike
from abstain.nn._libraries import library, pillow
from abstain.nn.data._images import Files, Images, fitted

Pair = tuple[Images, Images]
PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".webp", ".ppm", ".tif", ".tiff")


def scaled(pictures: AnyArray) -> torch.Tensor:
    """From bytes (n, height, width) or (n, height, width, channels) to (n, channels, height, width)."""
    values = np.asarray(pictures)
    if values.dtype.kind not in "iu" or values.min() < 0 or values.max() > 255:
        raise ValueError(f"images are {values.dtype} from {values.min()} to {values.max()}; give bytes, 0 to 255")
    values = values.astype(np.uint8, copy=False)
    values = values[:, None] if values.ndim == 3 else values.transpose(0, 3, 1, 2)
    return torch.from_numpy(np.array(values))  # a copy: files are read-only maps


def whole(labels: ArrayLike) -> torch.Tensor:
    """Labels as int64."""
    return torch.from_numpy(np.asarray(labels).astype(np.int64).reshape(-1))


def read_npz(path: Path) -> Images | Pair:
    """Read a NumPy archive: ``x_train``, ``y_train``, ``x_test``, ``y_test``; ``x``, ``y``; or JPEG files in a row.

    In the last form image i is ``jpeg[offsets[i]:offsets[i + 1]]`` with label ``y[i]``.
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (zipfile.BadZipFile, EOFError) as error:
        raise ValueError(f"{path}: is no readable npz file ({error}); write it again") from None
    except ValueError:
        raise ValueError(f"{path}: holds Python objects, which are never loaded; save numbers and text") from None
    names = tuple(map(str, arrays["class_names"])) if "class_names" in arrays else None
    if "jpeg" in arrays:
        return Images(_jpegs(arrays["jpeg"], arrays["offsets"], path), whole(arrays["y"]), names, path.stem)
    if "x_train" in arrays:
        train, test = (
            Images(scaled(arrays[f"x_{part}"]), whole(arrays[f"y_{part}"]), names, f"{path.stem} {part}")
            for part in ("train", "test")
        )
        return train, test
    for x, y in (("x", "y"), ("x_test", "y_test"), ("images", "labels")):
        if x in arrays:
            labels = arrays.get(y, np.zeros(len(arrays[x])))
            return Images(scaled(arrays[x]), whole(labels), names, path.stem)
    found = ", ".join(arrays) or "nothing"
    raise ValueError(f"{path}: holds {found}; give x_train, y_train, x_test, y_test, or x and y")


def _jpegs(stream: AnyArray, offsets: AnyArray, path: Path) -> torch.Tensor:
    image = pillow(f"{path}: decoding JPEG files")
    pictures = [
        np.asarray(image.open(io.BytesIO(stream[start:stop].tobytes())).convert("RGB"))
        for start, stop in pairwise(offsets)
    ]
    return scaled(np.stack(pictures))


def read_idx(path: Path) -> np.ndarray:
    """Read one idx file (MNIST and its relatives), compressed or not."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    if len(data) < 4 or data[:3] != b"\0\0\x08" or len(data) < 4 + 4 * data[3]:
        raise ValueError(f"{path}: is no idx file of bytes; fetch it again")
    rank = data[3]
    shape = struct.unpack(f">{rank}I", data[4 : 4 + 4 * rank])
    values = np.frombuffer(data, dtype=np.uint8, offset=4 + 4 * rank)
    if values.size != int(np.prod(shape)):
        raise ValueError(f"{path}: holds {values.size} bytes for shape {shape}; it is cut short, fetch it again")
    return values.reshape(shape)


def read_mnist(folder: Path) -> Pair:
    """Read the four idx files of MNIST, Fashion-MNIST or KMNIST."""

    def part(name: str) -> Images:
        stems = (folder / f"{name}-images-idx3", folder / f"{name}-labels-idx1")
        images, labels = (read_idx(_either(Path(f"{stem}-ubyte"), Path(f"{stem}-ubyte.gz"))) for stem in stems)
        return Images(scaled(images), whole(labels), None, f"{folder.name} {name}")

    return part("train"), part("t10k")


def _either(plain: Path, packed: Path) -> Path:
    if not plain.is_file() and not packed.is_file():
        raise FileNotFoundError(f"{plain}[.gz]: no such file; the four files of MNIST belong together")
    return plain if plain.is_file() else packed


def read_cifar(folder: Path) -> Pair:
    """Read the binary files of CIFAR-10 (five batches and a test batch) or CIFAR-100."""
    hundred = (folder / "train.bin").is_file()
    files = [folder / "train.bin"] if hundred else [folder / f"data_batch_{number}.bin" for number in range(1, 6)]
    test = folder / ("test.bin" if hundred else "test_batch.bin")
    names_file = folder / ("fine_label_names.txt" if hundred else "batches.meta.txt")
    names = tuple(names_file.read_text(encoding="utf-8").split()) if names_file.is_file() else None
    parts = []
    for which, group in (("train", files), ("test", [test])):
        rows = np.concatenate([_cifar_rows(file, 2 if hundred else 1) for file in group])
        pixels = torch.from_numpy(np.ascontiguousarray(rows[:, -3072:])).reshape(-1, 3, 32, 32)
        parts.append(Images(pixels, whole(rows[:, 1 if hundred else 0]), names, f"{folder.name} {which}"))
    return parts[0], parts[1]


def _cifar_rows(path: Path, labels: int) -> np.ndarray:
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file; give the folder of the binary version of CIFAR")
    data = np.frombuffer(path.read_bytes(), dtype=np.uint8)
    if not data.size or data.size % (3072 + labels):
        raise ValueError(f"{path}: {data.size} bytes are no whole number of images; fetch it again")
    return data.reshape(-1, 3072 + labels)


def read_folder(folder: Path, size: int | None = None) -> Images:
    """Read a folder with one folder per class; file names sort the images, folder names the classes."""
    classes = sorted(entry.name for entry in folder.iterdir() if entry.is_dir())
    paths, labels = [], []
    for number, name in enumerate(classes):
        inside = sorted(path for path in (folder / name).rglob("*") if path.suffix.lower() in PICTURES)
        paths += inside
        labels += [number] * len(inside)
    if not paths:
        raise ValueError(f"{folder}: holds no folder of images ({', '.join(PICTURES)}); make one folder per class")
    return Images(files_of(paths, size), whole(labels), tuple(classes), folder.name)


def read_list(path: Path, root: Path, size: int | None = None) -> Images:
    """Read an OpenOOD list: a line per image, its path below ``root`` and its label; -1 is out-of-distribution."""
    rows = [line.rsplit(maxsplit=1) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    for number, row in enumerate(rows, 1):
        if len(row) != 2 or not row[1].removeprefix("-").isdecimal():
            raise ValueError(f"{path}: line {number} is no path with a label; write 'folder/image.png 3'")
    paths = [root / row[0] for row in rows]
    missing = next((each for each in paths if not each.is_file()), None)
    if missing is not None:
        raise FileNotFoundError(f"{missing}: no such file, but {path.name} lists it; set the folder of the images")
    return Images(files_of(paths, size), whole([int(row[1]) for row in rows]), None, path.stem)


def files_of(paths: list[Path], size: int | None) -> torch.Tensor | Files:
    """Small images are decoded at once, larger ones when they are needed; the size is the first one's."""
    image = pillow("reading images")
    if size is None:
        with image.open(paths[0]) as first:
            size = min(first.size)
    files = Files(paths, size, resize=round(size * 8 / 7) if size >= 96 else size)
    return files if size > 64 else files[torch.arange(len(paths))]


def read_hugging_face(name: str, size: int | None = None) -> Pair:
    """Read a data set of the Hugging Face hub that has images and labels; needs their library ``datasets``."""
    datasets = library("datasets", f"hf:{name}")
    image = pillow(f"hf:{name}")
    found = datasets.load_dataset(name)
    test = next((part for part in ("test", "validation", "valid") if part in found), None)
    if "train" not in found or test is None:
        raise ValueError(f"hf:{name} has the parts {', '.join(found)}; a training and a test part are needed")

    def part(split: Any, which: str) -> Images:
        kinds = {key: type(value).__name__ for key, value in split.features.items()}
        pictures, labels = (next((k for k, v in kinds.items() if v == kind), None) for kind in ("Image", "ClassLabel"))
        if pictures is None or labels is None:
            raise ValueError(f"hf:{name}: columns {kinds} hold no Image with a ClassLabel")
        side = size or min(split[0][pictures].size)
        values = [fitted(each.convert("RGB"), side, side, image) for each in split[pictures]]
        names = tuple(split.features[labels].names)
        return Images(torch.from_numpy(np.stack(values)), whole(split[labels]), names, f"{name} {which}")

    return part(found["train"], "train"), part(found[test], test)


def read_torchvision(name: str, root: Path) -> Pair:
    """Read a data set of torchvision that is on the disk already; needs torchvision."""
    datasets = library("torchvision.datasets", f"torchvision:{name}")
    if not hasattr(datasets, name):
        raise ValueError(f"torchvision has no data set {name!r}; {closest(name, datasets.__all__)}")
    kind = getattr(datasets, name)
    try:
        train, test = (kind(root, train=train, download=False) for train in (True, False))
    except RuntimeError:
        raise FileNotFoundError(f"torchvision:{name}: is not complete in {root} (ABSTAIN_DATA); put it there") from None
    except TypeError:
        raise ValueError(f"torchvision:{name} has no train=; give a folder or an npz of its images") from None
    parts = []
    for which, split in (("train", train), ("test", test)):
        labels = split.targets if hasattr(split, "targets") else split.labels
        parts.append(Images(scaled(np.asarray(split.data)), whole(labels), tuple(split.classes), f"{name} {which}"))
    return parts[0], parts[1]
