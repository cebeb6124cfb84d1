"""Inference for every metric: standard errors, intervals, bands, bootstrap, paired tests and rankings."""

from abstain.inference._bands import RiskBand, risk_band
from abstain.inference._binomial import check_level as check_level
from abstain.inference._binomial import clopper_pearson
from abstain.inference._bootstrap import Bootstrap, bootstrap, replicates
from abstain.inference._columns import as_metric as as_metric
from abstain.inference._columns import as_metrics as as_metrics
from abstain.inference._columns import as_risk as as_risk
from abstain.inference._columns import check_scored as check_scored
from abstain.inference._columns import evaluated as evaluated
from abstain.inference._columns import tables as tables
from abstain.inference._confidence import confidence_interval as confidence_interval
from abstain.inference._coverage import of_coverage as of_coverage
from abstain.inference._estimates import by_influence as by_influence
from abstain.inference._influence import covariance, influence
from abstain.inference._influence import gradient as gradient
from abstain.inference._influence import standard_error as standard_error
from abstain.inference._influence import terms_of as terms_of
from abstain.inference._interval import Interval as Interval
from abstain.inference._interval import limited as limited
from abstain.inference._interval import of_samples as of_samples
from abstain.inference._letters import letter_groups
from abstain.inference._multiple import holm
from abstain.inference._paired import Adjust as Adjust
from abstain.inference._paired import Difference
from abstain.inference._paired import Method as Method
from abstain.inference._paired import Paired as Paired
from abstain.inference._paired import paired as paired
from abstain.inference._panel import Losses as Losses
from abstain.inference._panel import Panel as Panel
from abstain.inference._panel import Scores as Scores
from abstain.inference._panel import panel as panel
from abstain.inference._permutation import Permutation, permutation_test
from abstain.inference._planner import Detectable, Plan, detectable_difference, influence_sd, samples_for_difference
from abstain.inference._ranking import Ranking, kendall_tau
from abstain.inference._ranking import RankingStudy as RankingStudy
from abstain.inference._ranking import min_ranks as min_ranks
from abstain.inference._ranking import ranking_study as ranking_study
from abstain.inference._runs import components as components
from abstain.inference._unseen import OneMore as OneMore
from abstain.inference._unseen import worse_ends as worse_ends
from abstain.inference._width import samples_for_width
from abstain.inference._wilcoxon import wilcoxon_over_resamples

# Public here. What is imported as its own name is for the rooms above; some of it is public at the top of the package.
__all__ = ["clopper_pearson", "covariance", "influence"]
__all__ += ["Bootstrap", "RiskBand", "bootstrap", "replicates", "risk_band"]
__all__ += ["Difference", "Permutation", "holm", "letter_groups", "permutation_test"]
__all__ += ["Detectable", "Plan", "detectable_difference", "influence_sd", "samples_for_difference"]
__all__ += ["samples_for_width"]
__all__ += ["Ranking", "kendall_tau", "wilcoxon_over_resamples"]
