"""Inference for every metric: standard errors, intervals, bands, bootstrap, paired tests and rankings.

The names are declared in ``__init__.pyi``, and are loaded when they are first used.
"""

from abstain._lazy import on_demand

__getattr__, __dir__ = on_demand(__name__)

# Public here. The stub declares more, for packages of higher layers; some of it is public at the top.
__all__ = ["clopper_pearson", "covariance", "influence"]
__all__ += ["Bootstrap", "RiskBand", "bootstrap", "replicates", "risk_band"]
__all__ += ["Difference", "Permutation", "holm", "letter_groups", "permutation_test"]
__all__ += ["Detectable", "Plan", "detectable_difference", "influence_sd", "samples_for_difference"]
__all__ += ["samples_for_width"]
__all__ += ["GroupComparison", "GroupDifference", "NonInferiority", "compare_groups", "non_inferiority"]
__all__ += ["Ranking", "kendall_tau", "wilcoxon_over_resamples"]
