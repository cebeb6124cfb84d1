"""Operating points, empirical and certified; policies.

The names are listed in ``__init__.pyi``, and each is loaded when it is first used.
"""

from typing import Any

from abstain._lazy import on_demand

_load, __dir__ = on_demand(__name__)

# Public here. What else the stub names is for the packages above; some of it is public at the top of the package.
__all__ = ["CopiedRowsWarning", "ReusedCalibrationWarning", "ReusedSelectionWarning", "bonferroni_threshold"]
__all__ += ["certified_band", "choose_pair", "conditional_threshold", "conformal_threshold", "cwsa_threshold"]
__all__ += ["fixed_sequence_threshold", "plan_certificate", "prespecified_threshold", "prior_threshold"]
__all__ += ["separate_group_thresholds", "sgr_threshold"]

#: What was here in 0.2.0, and what it is called now.
_MOVED = {"Watch": "monitoring.Monitor", "load_watch": "monitoring.load_monitor", "monitor": "monitor"}
_MOVED |= {name: f"monitoring.{name}" for name in ("Break", "DependentRowsWarning", "Drift", "Monitoring", "Period")}
_MOVED |= {"SortedRowsWarning": "monitoring.SortedRowsWarning"}


def __getattr__(name: str) -> Any:
    """Load a public name; those that moved warn."""
    if name not in _MOVED:
        return _load(name)
    import warnings
    from importlib import import_module

    warnings.warn(f"abstain.thresholds.{name} is now abstain.{_MOVED[name]}", FutureWarning, stacklevel=2)
    return getattr(import_module("abstain.monitoring"), _MOVED[name].rpartition(".")[2])
