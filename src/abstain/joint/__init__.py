"""Joint reliability: failures in distribution and out-of-distribution inputs, with two scores, in one evaluation.

The names are listed in ``__init__.pyi``, and each is loaded when it is first used.
"""

from abstain._lazy import on_demand

__getattr__, __dir__ = on_demand(__name__)

__all__ = ["ScoredRun", "augrc", "aupr_in", "aupr_out", "aurc", "aurc_optimum", "auroc", "ccr_at_fpr"]
__all__ += ["confidence_intervals", "ds_augrc", "ds_aurc", "ds_f1", "evaluate", "f1", "f1_at", "fpr_at_id_recall"]
__all__ += ["fpr_at_ood_recall", "null_gain", "oscr", "protocol", "scod_risk", "transfer"]
