"""Optional libraries, with a report of what to install where they are missing."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from abstain._extras import lacking


def pillow(purpose: str) -> ModuleType:
    """Return ``PIL.Image``."""
    try:
        from PIL import Image
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(lacking(purpose, "Pillow", extra="train"), name="PIL") from error
    return Image


def library(module: str, purpose: str) -> ModuleType:
    """Return a module of a library that no extra of ours installs."""
    name = module.partition(".")[0]
    try:
        return import_module(module)
    except ImportError as error:
        raise ModuleNotFoundError(f"{purpose} needs {name}; pip install {name}", name=name) from error
    except RuntimeError as error:  # torchvision that was built for another PyTorch
        raise ImportError(f"{name} is installed but cannot be loaded ({error}); install that of this PyTorch") from None
