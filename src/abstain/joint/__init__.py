"""Joint reliability: failures in distribution and out-of-distribution inputs, with two scores, in one evaluation."""

from abstain.joint._detection import (
    aupr_in,
    aupr_out,
    auroc,
    ccr_at_fpr,
    fpr_at_id_recall,
    fpr_at_ood_recall,
    oscr,
)
from abstain.joint._ds_aurc import AreaResult as AreaResult
from abstain.joint._ds_aurc import ds_augrc, ds_aurc
from abstain.joint._ds_f1 import F1Point as F1Point
from abstain.joint._ds_f1 import ds_f1, f1_at
from abstain.joint._evaluate import JointEvaluation as JointEvaluation
from abstain.joint._evaluate import evaluate
from abstain.joint._frontier import JointOperatingPoint as JointOperatingPoint
from abstain.joint._frontier import RiskCoverageFrontier as RiskCoverageFrontier
from abstain.joint._null import NullGain as NullGain
from abstain.joint._null import null_gain
from abstain.joint._problem import Thresholds as Thresholds
from abstain.joint._protocol import ProtocolResult as ProtocolResult
from abstain.joint._protocol import Record as Record
from abstain.joint._protocol import ScoredRun, protocol
from abstain.joint._single import augrc, aurc, aurc_optimum, f1, scod_risk
from abstain.joint._splits import Transfer as Transfer
from abstain.joint._splits import confidence_intervals, transfer
from abstain.joint._tables import with_gains as with_gains

__all__ = ["ScoredRun", "augrc", "aupr_in", "aupr_out", "aurc", "aurc_optimum", "auroc", "ccr_at_fpr"]
__all__ += ["confidence_intervals", "ds_augrc", "ds_aurc", "ds_f1", "evaluate", "f1", "f1_at", "fpr_at_id_recall"]
__all__ += ["fpr_at_ood_recall", "null_gain", "oscr", "protocol", "scod_risk", "transfer"]
