"""Studies: folders of saved outputs, one manifest, ``<model>/<run>/<set>.npz``, evaluated together."""

from abstain.study._add import add_outputs, init_study
from abstain.study._add import read_set as read_set
from abstain.study._best import best_of as best_of  # for the command
from abstain.study._evaluate import evaluate
from abstain.study._grid import Grid as Grid
from abstain.study._grid import Head, rank_changes, sweep
from abstain.study._layouts import by_objective, levels
from abstain.study._manifest import Run, SavedSet, add_run, read_study
from abstain.study._manifest import Study as Study
from abstain.study._ood import join_new_class, protocol
from abstain.study._passes import OverPasses as OverPasses
from abstain.study._passes import over_passes
from abstain.study._rank import rank
from abstain.study._results import Failure as Failure
from abstain.study._results import Mean as Mean
from abstain.study._results import StudyResults as StudyResults
from abstain.study._select import SettingChoice as SettingChoice
from abstain.study._select import SettingSelection as SettingSelection
from abstain.study._select import select_scores, select_settings

__all__ = ["Head", "Run", "SavedSet", "add_outputs", "add_run", "by_objective", "evaluate", "init_study"]
__all__ += ["join_new_class", "levels", "over_passes", "protocol", "rank", "rank_changes", "read_study"]
__all__ += ["select_scores", "select_settings", "sweep"]
