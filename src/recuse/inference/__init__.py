"""Inference for every metric: standard errors, intervals, bands, bootstrap, paired tests and rankings."""

from recuse.inference._bands import RiskBand, risk_band
from recuse.inference._binomial import clopper_pearson
from recuse.inference._bootstrap import Bootstrap, bootstrap, replicates
from recuse.inference._influence import covariance, influence, standard_error
from recuse.inference._interval import Interval, confidence_interval
from recuse.inference._letters import letter_groups
from recuse.inference._multiple import holm
from recuse.inference._paired import Difference
from recuse.inference._permutation import Permutation, permutation_test
from recuse.inference._planner import detectable_difference, influence_sd, required_samples
from recuse.inference._ranking import Ranking, RankingStudy, kendall_tau, ranking_study
from recuse.inference._wilcoxon import wilcoxon_over_resamples

__all__ = ["Interval", "clopper_pearson", "confidence_interval", "covariance", "influence", "standard_error"]
__all__ += ["Bootstrap", "RiskBand", "bootstrap", "replicates", "risk_band"]
__all__ += ["Difference", "Permutation", "holm", "letter_groups", "permutation_test"]
__all__ += ["detectable_difference", "influence_sd", "required_samples"]
__all__ += ["Ranking", "RankingStudy", "kendall_tau", "ranking_study", "wilcoxon_over_resamples"]
