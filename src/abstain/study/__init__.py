"""Studies: folders of saved outputs, one manifest, ``<model>/<run>/<set>.npz``, evaluated together.

The names are listed in ``__init__.pyi``, and each is loaded when it is first used.
"""

from abstain._lazy import on_demand

__getattr__, __dir__ = on_demand(__name__)

__all__ = ["Head", "Run", "SavedSet", "add_outputs", "add_run", "by_objective", "evaluate", "init_study"]
__all__ += ["join_new_class", "levels", "over_passes", "protocol", "rank", "rank_changes", "read_study"]
__all__ += ["select_scores", "select_settings", "sweep"]
