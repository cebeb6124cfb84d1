"""Inference for every metric: standard errors, intervals, bands, bootstrap, paired tests and rankings.

The names are declared in ``__init__.pyi``, and are loaded when they are first used.
"""

from abstain._lazy import on_demand

__getattr__, __dir__ = on_demand(__name__)

# Public here. The stub declares more, for packages of higher layers; some of it is public at the top.
__all__ = ["bootstrap", "clopper_pearson", "compare_groups", "covariance", "detectable_difference", "holm", "influence"]
__all__ += ["influence_sd", "kendall_tau", "non_inferiority", "permutation_test", "replicates", "risk_band"]
__all__ += ["samples_for_difference", "samples_for_width", "wilcoxon_over_resamples"]
