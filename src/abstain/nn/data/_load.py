"""From a name or a folder to training and test images."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from abstain._checks import closest
from abstain.nn.data import _readers as readers
from abstain.nn.data import _shifts as shifted
from abstain.nn.data._images import Images, synthetic

#: Where named data sets lie.
SETTING = "ABSTAIN_DATA"

#: name -> what to look for below the setting: files or folders of which the first that is there is read.
KNOWN: dict[str, tuple[str, ...]] = {
    "mnist": ("mnist.npz", "MNIST/raw", "mnist"),
    "fashion_mnist": ("fashion_mnist.npz", "FashionMNIST/raw", "fashion_mnist"),
    "kmnist": ("kmnist.npz", "KMNIST/raw", "kmnist", "kmnist_test5k.npz"),
    "notmnist": ("notmnist.npz", "notmnist", "notmnist_test5k.npz"),
    "cifar10": ("cifar-10-batches-bin", "cifar10_train_jpeg90.npz", "cifar10.npz", "cifar10"),
    "cifar100": ("cifar-100-binary", "cifar100.npz", "cifar100", "cifar100_test5k_jpeg90.npz"),
    "svhn": ("svhn.npz", "svhn"),
    "tiny_imagenet": ("tiny-imagenet-200", "tiny_imagenet.npz", "tinyimagenet_val3k_32px_jpeg90.npz"),
    "textures": ("textures.npz", "dtd10_textures_32px_jpeg90.npz", "dtd"),
    "places365": ("places365.npz", "places365"),
    "imagenet": ("imagenet",),
    "ssb_hard": ("ssb_hard",),
    "ninco": ("ninco",),
    "inaturalist": ("inaturalist",),
    "openimage_o": ("openimage_o",),
    "camelyon17": ("camelyon17_v1.0", "camelyon17"),
    "iwildcam": ("iwildcam_v2.0", "iwildcam"),
    "breeds": ("breeds",),
}
#: Behind a name or folder: the images of the same classes from elsewhere that come with the set.
SHIFT = ":shift"


def known() -> list[str]:
    """Return the names that :func:`load` knows.

    Examples
    --------
    >>> from abstain.nn import data
    >>> "cifar10" in data.known()
    True
    """
    return ["synthetic", *KNOWN]


def load(name: str, *, size: int | None = None) -> tuple[Images | None, Images]:
    """Return training and test images of a data set; the first is None where only test images are there.

    Parameters
    ----------
    name : str
        A name (``"mnist"``, ``"fashion_mnist"``, ``"cifar10"``, ``"cifar100"``, ...), looked up below the folder that
        the environment variable ``ABSTAIN_DATA`` names; ``"synthetic"``; a file or a folder; ``"hf:NAME"`` with the
        library ``datasets``; ``"torchvision:NAME"`` with torchvision, which opens CIFAR's pickle itself. Sets that come
        with a shift (``"camelyon17"``, ``"iwildcam"``, ``"breeds"``) give it under ``"NAME:shift"``, as test images.
    size : int, optional
        Height and width of images from folders; default the shorter side of the first.

    Returns
    -------
    train, test : Images or None, Images

    Raises
    ------
    FileNotFoundError
        Nothing of that name.
    ValueError
        Files that cannot be understood. A pickle, such as the Python version of CIFAR, is never opened.

    Notes
    -----
    Read are: ``.npz`` files (see the guide), idx files of the MNIST family, the binary version of CIFAR, folders
    ``train`` and ``test`` (or ``val``) with a folder per class, and OpenOOD's lists (``train.txt``, ``test.txt``); the
    folders of CAMELYON17 and iWildCam of WILDS; and ENTITY-13 of BREEDS from a folder with ImageNet's ``train`` and
    ``val`` and the three files of the hierarchy (``class_hierarchy.txt``, ``dataset_class_info.json``,
    ``node_names.txt``).

    Examples
    --------
    >>> from abstain.nn import data
    >>> train, test = data.load("synthetic")
    >>> train
    Images(synthetic train: 600 x 3 x 16 x 16, 4 classes)
    """
    if name.endswith(SHIFT):
        return None, _shift(name, size)
    kind, _, rest = name.partition(":")
    if kind == "synthetic":
        return synthetic(**_sizes(rest, name))
    if rest and kind == "hf":
        return readers.read_hugging_face(rest, size)
    if rest and kind == "torchvision":
        return readers.read_torchvision(rest, _root(name))
    return _read(_place(name), size)


def _place(name: str) -> Path:
    if name in KNOWN:
        return _first(name, _root(name))
    path = Path(name)
    if not path.exists():
        raise FileNotFoundError(f"{name}: no such file or folder, and no known data set; {closest(name, known())}")
    return path


def _shift(name: str, size: int | None) -> Images:
    path = _place(name.removesuffix(SHIFT))
    read = _with_a_shift(path)
    if read is None:
        raise ValueError(f"data {name!r}: {path} has no shift of its own; camelyon17, iwildcam and breeds have one")
    return read(path, "shift", size)


def _with_a_shift(path: Path) -> Callable[[Path, str, int | None], Images] | None:
    """Return what reads the parts of a set that comes with a shift."""
    if (path / "metadata.csv").is_file():
        return shifted.read_wilds
    return shifted.read_breeds if all((path / file).is_file() for file in shifted.HIERARCHY) else None


def _sizes(text: str, name: str) -> dict[str, int]:
    """``synthetic:n=60,classes=10`` as numbers."""
    allowed = ("n", "classes", "size", "channels", "seed")
    sizes: dict[str, int] = {}
    for part in filter(None, text.split(",")):
        key, _, value = part.partition("=")
        if key not in allowed or not value.isdecimal():
            raise ValueError(f"data {name!r} cannot be read at {part!r}; write synthetic:n=600,classes=4,size=16")
        sizes[key] = int(value)
    return sizes


def _root(name: str) -> Path:
    root = os.environ.get(SETTING)
    if not root:
        raise FileNotFoundError(f"data {name!r}: {SETTING} is not set; set it to the folder of data, or give a path")
    return Path(root)


def _first(name: str, root: Path) -> Path:
    for base in (root, root / "images"):
        for entry in KNOWN[name]:
            if (base / entry).exists():
                return base / entry
    wanted = ", ".join(KNOWN[name])
    raise FileNotFoundError(f"data {name!r}: none of {wanted} lies in {root} ({SETTING}); put one there")


def _read(path: Path, size: int | None) -> tuple[Images | None, Images]:
    if path.is_dir():
        return _read_directory(path, size)
    if path.suffix == ".npz":
        found = readers.read_npz(path)
        if not isinstance(found, Images):
            return found
        partner = path.with_name(path.name.replace("_train_", "_test_"))
        if partner != path and partner.exists():
            test = readers.read_npz(partner)
            return found, test if isinstance(test, Images) else test[1]
        return None, found
    if path.suffix == ".txt":
        return None, readers.read_list(path, path.parent, size)
    raise ValueError(f"{path}: extension {path.suffix!r} is not known; give .npz, a list .txt, or a folder")


def _read_directory(path: Path, size: int | None) -> tuple[Images | None, Images]:
    read = _with_a_shift(path)
    if read is not None:
        return read(path, "train", size), read(path, "test", size)
    inside = {entry.name for entry in path.iterdir()}
    if any(name.startswith("train-images-idx3") for name in inside):
        return readers.read_mnist(path)
    if inside & {"data_batch_1.bin", "train.bin"}:
        return readers.read_cifar(path)
    if inside & {"data_batch_1", "batches.meta", "meta"} and not inside & {"train.txt"}:
        raise ValueError(f"{path}: is the Python version of CIFAR, a pickle, which is never opened; use the binary one")
    test = _first_of(path, ("test", "val", "validation", "test.txt", "val.txt"), size)
    train = _first_of(path, ("train", "train.txt"), size)
    if test is None:
        return None, readers.read_folder(path, size)
    if train is not None and train.class_names != test.class_names:
        raise ValueError(f"{path}: the folders of training and test are not the same classes; give both the same names")
    return train, test


def _first_of(folder: Path, names: tuple[str, ...], size: int | None) -> Images | None:
    """Read the first of these folders and lists that is there."""
    path = next((folder / name for name in names if (folder / name).exists()), None)
    if path is None:
        return None
    return readers.read_list(path, folder, size) if path.suffix == ".txt" else readers.read_folder(path, size)
