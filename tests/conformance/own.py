"""How abstain computes each definition of the vectors."""

ROWS = "f(loss, confidence, sample_weight=sample_weight{})"
ONE = "id_score=id_score, ood_score=ood_score"
TWO = "f(id_loss, " + ", ".join(
    f"{name}={name}" for name in ("id_confidence", "id_detector", "ood_confidence", "ood_detector")
)


def _estimators(*names):
    return {name: (None, ROWS.format(f", estimator='{name}'")) for name in names}


def _trust():
    return {name: (None, ROWS.format(f", threshold=threshold, denominator='{name}'")) for name in ("accepted", "all")}


def _areas(metric):
    kind = metric.removeprefix("aupr_")
    return {"step": (f"average_precision_{kind}", ROWS.format("")), "trapezoid": (f"aupr_{kind}", ROWS.format(""))}


def _curves(side):
    return {name: (f"joint.aupr_{side}", f"f({ONE}, interpolation='{name}')") for name in ("step", "trapezoid")}


def _operators(metric):
    return {name: (f"joint.{metric}", f"{TWO}, operator='{name}').value") for name in ("at_least", "exact")}


#: Metric, definition: the name in abstain (None: that of the metric) and the call.
OWN = {
    "aurc": _estimators("plugin", "interpolated", "trapezoid", "harmonic", "log"),
    "e_aurc": _estimators("plugin", "trapezoid", "harmonic"),
    "aurc_achievable": {"hull": (None, ROWS.format(""))},
    "augrc": {"trapezoid": (None, ROWS.format("")), "unbiased": ("augrc_unbiased", "loss, confidence")},
    "e_augrc": {"trapezoid": (None, ROWS.format(""))},
    "sele": {"max_rank": (None, ROWS.format(""))},
    "prr": {"generalized": ("prediction_rejection_ratio", ROWS.format(""))},
    "f1_auc": {"interpolated": (None, ROWS.format(""))},
    "coverage_at_risk": {"attainable": (None, ROWS.format(", risk=risk"))},
    "risk_at_coverage": {"attainable": ("selective_risk", ROWS.format(", coverage=coverage"))},
    "auroc_f": {"mid_rank": (None, ROWS.format(""))},
    "fpr95": {"attained": ("fpr95_success", ROWS.format(""))},
    "aupr_success": dict(_areas("aupr_success")),
    "aupr_error": dict(_areas("aupr_error")),
    "cwsa": _trust(),
    "cwsa_plus": _trust(),
    "ece": {"right_closed": (None, ROWS.format(", bins=bins"))},
    "mce": {"right_closed": (None, ROWS.format(", bins=bins"))},
    "brier_confidence": {"mean": (None, ROWS.format(""))},
    "brier_score": {"sum": (None, "labels, probabilities")},
    "nll": {"mean": (None, "labels, probabilities")},
    "classwise_ece": {"right_closed": (None, "labels, probabilities, bins=bins")},
    "ood_auroc": {"mid_rank": ("joint.auroc", ONE)},
    "ood_fpr95": {"attained": ("joint.fpr_at_id_recall", ONE), "ood_attained": ("joint.fpr_at_ood_recall", ONE)},
    "ood_aupr_in": dict(_curves("in")),
    "ood_aupr_out": dict(_curves("out")),
    "oscr": {"mid_rank": ("joint.oscr", f"id_loss, {ONE}")},
    "joint_f1": {"exact": ("joint.f1", f"f(id_loss, {ONE}).value")},
    "ds_f1": {"exact": ("joint.ds_f1", f"{TWO}).value")},
    "ds_aurc": dict(_operators("ds_aurc")),
    "ds_augrc": dict(_operators("ds_augrc")),
}


def consistent(loss, correct, confidence, uncertainty):
    """Accept all rows where the columns agree with each other, else none."""
    agree = (uncertainty == -confidence).all() and (correct == 1.0 - loss).all()
    return 0.0 if agree else float("inf")
