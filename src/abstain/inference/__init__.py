"""Inference for every metric: standard errors, intervals, bands, bootstrap, paired tests and rankings.

What is behind this door stands in ``__init__.pyi``, and is loaded when it is first used.
"""

from abstain._lazy import door

__getattr__, __dir__ = door(__name__)

# Public here. What else the stub names is for the rooms above; some of it is public at the top of the package.
__all__ = ["clopper_pearson", "covariance", "influence"]
__all__ += ["Bootstrap", "RiskBand", "bootstrap", "replicates", "risk_band"]
__all__ += ["Difference", "Permutation", "holm", "letter_groups", "permutation_test"]
__all__ += ["Detectable", "Plan", "detectable_difference", "influence_sd", "samples_for_difference"]
__all__ += ["samples_for_width"]
__all__ += ["GroupComparison", "GroupDifference", "NonInferiority", "compare_groups", "non_inferiority"]
__all__ += ["Ranking", "kendall_tau", "wilcoxon_over_resamples"]
