"""Images to train and test on: readers without pickle, splits that are declared, and shifts."""

import warnings
from typing import Any

from abstain.nn.data._corruptions import CORRUPTIONS as CORRUPTIONS
from abstain.nn.data._corruptions import corrupt, corrupted
from abstain.nn.data._images import Files as Files
from abstain.nn.data._images import Images, synthetic
from abstain.nn.data._load import known, load
from abstain.nn.data._shifts import CLASS_NAMES as CLASS_NAMES
from abstain.nn.data._shifts import SUPER_CLASSES as SUPER_CLASSES
from abstain.nn.data._shifts import hold_out, ood
from abstain.nn.data._task import Task, task
from abstain.nn.data._task import TestSet as TestSet

__all__ = ["Images", "Task", "corrupt", "corrupted", "hold_out", "known", "load", "ood", "synthetic", "task"]


def __getattr__(name: str) -> Any:
    """Return what had another name in version 0.2."""
    if name != "foreign":
        raise AttributeError(f"module 'abstain.nn.data' has no attribute {name!r}")
    warnings.warn("abstain.nn.data.foreign is now abstain.nn.data.ood", FutureWarning, stacklevel=2)
    return ood
