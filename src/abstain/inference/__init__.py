"""Inference for every metric: standard errors, intervals, bands, bootstrap, paired tests and rankings."""

from abstain.inference._bands import RiskBand, risk_band
from abstain.inference._binomial import clopper_pearson
from abstain.inference._bootstrap import Bootstrap, bootstrap, replicates
from abstain.inference._confidence import confidence_interval
from abstain.inference._influence import covariance, influence, standard_error
from abstain.inference._interval import Interval
from abstain.inference._letters import letter_groups
from abstain.inference._multiple import holm
from abstain.inference._paired import Difference
from abstain.inference._permutation import Permutation, permutation_test
from abstain.inference._planner import detectable_difference, influence_sd, required_samples
from abstain.inference._ranking import Ranking, RankingStudy, kendall_tau, ranking_study
from abstain.inference._wilcoxon import wilcoxon_over_resamples

__all__ = ["Interval", "clopper_pearson", "confidence_interval", "covariance", "influence", "standard_error"]
__all__ += ["Bootstrap", "RiskBand", "bootstrap", "replicates", "risk_band"]
__all__ += ["Difference", "Permutation", "holm", "letter_groups", "permutation_test"]
__all__ += ["detectable_difference", "influence_sd", "required_samples"]
__all__ += ["Ranking", "RankingStudy", "kendall_tau", "ranking_study", "wilcoxon_over_resamples"]
