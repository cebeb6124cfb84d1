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
from abstain.joint._ds_aurc import AreaResult, ds_augrc, ds_aurc
from abstain.joint._ds_f1 import F1Point, ds_f1, f1_at
from abstain.joint._evaluate import JointEvaluation, evaluate
from abstain.joint._frontier import JointOperatingPoint, RiskCoverageFrontier
from abstain.joint._null import NullGain, null_gain
from abstain.joint._problem import Thresholds
from abstain.joint._protocol import ProtocolResult, Record, ScoredRun, protocol
from abstain.joint._single import augrc, aurc, aurc_optimum, f1, scod_risk
from abstain.joint._splits import Transfer, confidence_intervals, transfer
from abstain.joint._tables import with_gains as with_gains

__all__ = ["AreaResult", "F1Point", "JointEvaluation", "JointOperatingPoint", "NullGain", "ProtocolResult", "Record"]
__all__ += ["RiskCoverageFrontier", "ScoredRun", "Thresholds", "Transfer", "augrc", "aupr_in", "aupr_out", "aurc"]
__all__ += ["aurc_optimum", "auroc", "ccr_at_fpr", "confidence_intervals", "ds_augrc", "ds_aurc", "ds_f1", "evaluate"]
__all__ += ["f1", "f1_at", "fpr_at_id_recall", "fpr_at_ood_recall", "null_gain", "oscr", "protocol", "scod_risk"]
__all__ += ["transfer"]
