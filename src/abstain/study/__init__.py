"""Studies: folders of saved outputs, one manifest, ``<model>/<run>/<set>.npz``."""

from abstain.study._folder import add_run, read_study
from abstain.study._manifest import Run, SavedSet, Study
from abstain.study._new_class import join_new_class

__all__ = ["Run", "SavedSet", "Study", "add_run", "join_new_class", "read_study"]
