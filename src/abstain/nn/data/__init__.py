"""Images to train and test on: readers without pickle, splits that are declared, and shifts."""

from abstain.nn.data._corruptions import CORRUPTIONS as CORRUPTIONS
from abstain.nn.data._corruptions import corrupt, corrupted
from abstain.nn.data._images import Files, Images, synthetic
from abstain.nn.data._load import known, load
from abstain.nn.data._shifts import CLASS_NAMES as CLASS_NAMES
from abstain.nn.data._shifts import SUPER_CLASSES as SUPER_CLASSES
from abstain.nn.data._shifts import hold_out, ood
from abstain.nn.data._task import Task, TestSet, task

__all__ = ["Files", "Images", "Task", "TestSet", "corrupt", "corrupted", "hold_out", "known", "load", "ood"]
__all__ += ["synthetic", "task"]
