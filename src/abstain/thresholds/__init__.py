"""Operating points, empirical and certified; policies; monitoring.

What is behind this door stands in ``__init__.pyi``, and is loaded when it is first used.
"""

from abstain._lazy import door

__getattr__, __dir__ = door(__name__)

# Public here. What else the stub names is for the rooms above; some of it is public at the top of the package.
__all__ = [
    "CertificatePlan",
    "ChosenAmong",
    "ChosenPair",
    "choose_among",
    "choose_pair",
    "conditional_threshold",
    "plan_certificate",
    "remember_selection",
]
__all__ += ["Applied", "Attained", "Audit", "CertifiedBand", "CopiedRowsWarning", "GroupThresholds", "Monitoring"]
__all__ += ["ReusedCalibrationWarning", "ReusedSelectionWarning", "apply_policy", "audit", "certified_band"]
__all__ += ["Break", "DependentRowsWarning", "Drift", "Period", "SortedRowsWarning", "Watch", "load_watch", "monitor"]
__all__ += ["conformal_threshold"]
