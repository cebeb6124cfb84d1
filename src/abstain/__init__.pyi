"""The public names of abstain; each is loaded when it is first used, those of metrics from their registry.

A class that only functions return is marked as a result: a type annotation finds it here, ``__all__`` leaves it out.
"""

from abstain import datasets as datasets
from abstain import inference as inference
from abstain import joint as joint
from abstain import live as live
from abstain import losses as losses
from abstain import metrics as metrics
from abstain import monitoring as monitoring
from abstain import nn as nn
from abstain import plots as plots
from abstain import policy as policy
from abstain import pool as pool
from abstain import scores as scores
from abstain import study as study
from abstain import summaries as summaries
from abstain import thresholds as thresholds
from abstain._checks import UndefinedMetricWarning as UndefinedMetricWarning
from abstain._checks import UnmetNeed as UnmetNeed
from abstain._result import Result as Result
from abstain._result import Table as Table  # result
from abstain._version import __version__ as __version__
from abstain.blocks import Moments as Moments  # result
from abstain.blocks import Samples as Samples  # result
from abstain.blocks import TieBlocks as TieBlocks
from abstain.curve import OperatingPoint as OperatingPoint  # result
from abstain.curve import RiskCoverageCurve as RiskCoverageCurve
from abstain.curve import risk_coverage_curve as risk_coverage_curve
from abstain.evaluation import Candidate as Candidate  # result
from abstain.evaluation import Check as Check  # result
from abstain.evaluation import Comparison as Comparison  # result
from abstain.evaluation import Evaluation as Evaluation  # result
from abstain.evaluation import Gate as Gate  # result
from abstain.evaluation import Measurement as Measurement  # result
from abstain.evaluation import ScoreSummary as ScoreSummary  # result
from abstain.evaluation import Selection as Selection  # result
from abstain.evaluation import Tuning as Tuning  # result
from abstain.evaluation import compare as compare
from abstain.evaluation import evaluate as evaluate
from abstain.evaluation import gate as gate
from abstain.evaluation import select as select
from abstain.evaluation import tune as tune
from abstain.inference import Interval as Interval  # result
from abstain.inference import RankingStudy as RankingStudy  # result
from abstain.inference import confidence_interval as confidence_interval
from abstain.inference import ranking_study as ranking_study
from abstain.inference import standard_error as standard_error
from abstain.live import LiveCertificate as LiveCertificate
from abstain.metrics._accepted import *
from abstain.metrics._augrc import *
from abstain.metrics._aurc import *
from abstain.metrics._calibration import *
from abstain.metrics._calibration import ReliabilityCurve as ReliabilityCurve  # result
from abstain.metrics._contribution import *
from abstain.metrics._detection import *
from abstain.metrics._excess import *
from abstain.metrics._point import *
from abstain.metrics._precision import *
from abstain.metrics._proper import *
from abstain.metrics._rank_weights import *
from abstain.metrics._reference import *
from abstain.metrics._retention import *
from abstain.metrics._trust import *
from abstain.metrics._trust_curve import *
from abstain.monitoring import monitor as monitor
from abstain.outputs import Outputs as Outputs
from abstain.outputs import read_outputs as read_outputs
from abstain.outputs import write_outputs as write_outputs
from abstain.plots import RiskCoverageDisplay as RiskCoverageDisplay
from abstain.policy import load_policy as load_policy
from abstain.pool import plan_labels as plan_labels
from abstain.thresholds import CertifiedThreshold as CertifiedThreshold  # result
from abstain.thresholds import EmpiricalThreshold as EmpiricalThreshold  # result
from abstain.thresholds import apply_policy as apply_policy
from abstain.thresholds import audit as audit
from abstain.thresholds import choose_among as choose_among
from abstain.thresholds import choose_threshold as choose_threshold
