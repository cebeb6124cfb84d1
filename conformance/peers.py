"""Run the conformance vectors on other packages, and write the table of the documentation.

    pip install --no-deps mapie torch-uncertainty lm-polygraph uq-metrics seapig incerto osr-metrics zugzwang \
        scikit-learn torchmetrics netcal pytorch-ood
    python conformance/peers.py run [--only PACKAGE ...] [--fd-shifts CHECKOUT]    # conformance/peers.json
    python conformance/peers.py write                                             # docs/conformance.md, README.md, paper

``run`` updates the entries of the packages that are installed here, so that packages that need different versions may
be run from different environments. Where a package imports much that a metric does not need, only the file of the
metric is loaded. fd-shifts is not on the package index: give a checkout of its repository.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import re
import sys
import types
from collections.abc import Callable, Iterator
from importlib.machinery import ModuleSpec
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import MagicMock

import numpy as np

import abstain
from abstain.conformance import Conformance, check, vectors

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "conformance/peers.json"

vars(np).setdefault("trapz", np.trapezoid)  # its names until NumPy 2, in three packages
vars(np).setdefault("infty", np.inf)


class Use(NamedTuple):
    """A metric, the function of the package for it, and how that is called."""

    metric: str
    name: str
    function: Any
    call: str
    arrays: Any = "numpy"


def folder_of(package: str) -> str:
    """Return the folder that an installed package lies in."""
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise ImportError(package)
    return str(Path(found.submodule_search_locations[0]).parent)


def module(package: str, path: str) -> Any:
    """Import one file of an installed package, without the package."""
    name = f"{package}_{path.replace('/', '_')}"
    spec = importlib.util.spec_from_file_location(name, Path(folder_of(package)) / package / f"{path}.py")
    if spec is None or spec.loader is None:
        raise ImportError(f"{package}/{path}.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def without_package(folder: str, *names: str) -> None:
    """Stand in for packages whose modules are imported without what these import besides."""
    for name in names:
        made = types.ModuleType(name)
        made.__path__ = ["/".join([folder, *name.split(".")])]
        sys.modules[name] = made


class Absent:
    """Stands in for a package that is imported and not needed."""

    def __init__(self, package: str) -> None:
        self._package = package

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name.split(".")[0] == self._package else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> Any:
        return MagicMock(__path__=[], __spec__=spec)

    def exec_module(self, _module: Any) -> None:
        return


# ---------------------------------------------------------------------- packages


def fd_shifts(folder: str) -> Iterator[Use]:
    if not folder:
        raise ImportError("give --fd-shifts CHECKOUT")
    without_package(folder, "fd_shifts", "fd_shifts.analysis")
    sys.modules["fd_shifts.analysis"].logger = MagicMock(  # type: ignore[attr-defined]
        catch=lambda *_, **__: lambda function: function
    )
    theirs = importlib.import_module("fd_shifts.analysis.metrics")

    def named(name: str) -> Callable[..., float]:
        return lambda confidence, correct, bins=8: theirs.get_metric_function(name)(
            theirs.StatsCache(confidence, correct, bins)
        )

    def cache(confidence: Any, correct: Any) -> Any:
        return theirs.StatsCache(confidence, correct, 8)

    yield Use("aurc", "aurc", named("aurc"), "f(confidence, correct) / 1000")
    yield Use("e_aurc", "e-aurc", named("e-aurc"), "f(confidence, correct) / 1000")
    yield Use("aurc_achievable", "aurc_achievable", cache, "f(confidence, correct).aurc_achievable / 1000")
    yield Use("augrc", "augrc", named("augrc"), "f(confidence, correct) / 1000")
    yield Use("e_augrc", "e-augrc", named("e-augrc"), "f(confidence, correct) / 1000")
    point = "f(confidence, correct).get_working_point(risk='selective-risk', target_{})[{}]"
    yield Use("coverage_at_risk", "get_working_point", cache, point.format("risk=risk", 0))
    yield Use("risk_at_coverage", "get_working_point", cache, point.format("cov=coverage", 1))
    yield Use("auroc_f", "failauc", named("failauc"), "f(confidence, correct)")
    yield Use("fpr95", "fpr@95tpr", named("fpr@95tpr"), "f(confidence, correct)")
    yield Use("aupr_success", "failap_suc", named("failap_suc"), "f(confidence, correct)")
    yield Use("aupr_error", "failap_err", named("failap_err"), "f(confidence, correct)")
    yield Use("ece", "ece", named("ece"), "f(confidence, correct, bins)")
    yield Use("mce", "mce", named("mce"), "f(confidence, correct, bins)")


def torch_uncertainty(_: str) -> Iterator[Use]:
    parts = ["torch_uncertainty", "metrics", "classification", "calibration"]
    without_package(folder_of("torch_uncertainty"), *(".".join(parts[:k]) for k in (1, 2, 3, 4)))

    def theirs(file: str) -> Any:
        return importlib.import_module(f"torch_uncertainty.metrics.classification.{file}")

    curve, fpr = theirs("risk_coverage"), theirs("fpr").FPRx

    def updated(metric: Any, *columns: Any) -> Any:
        metric.update(*columns)
        return metric.compute()

    yield Use("aurc", "AURC", curve.AURC, "f(probabilities, labels)", "torch")
    yield Use("augrc", "AUGRC", curve.AUGRC, "f(probabilities, labels)", "torch")
    yield Use("coverage_at_risk", "CovAtxRisk", lambda risk, p, y: updated(curve.CovAtxRisk(risk), p, y),
              "f(risk, probabilities, labels)", "torch")  # fmt: skip
    yield Use("risk_at_coverage", "RiskAtxCov", lambda coverage, p, y: updated(curve.RiskAtxCov(coverage), p, y),
              "f(coverage, probabilities, labels)", "torch")  # fmt: skip
    yield Use("fpr95", "FPRx(0.95, 1)", lambda s, y: updated(fpr(0.95, 1), s, y), "f(confidence, correct)", "torch")
    yield Use("ood_fpr95", "FPRx(0.95, 1)", lambda s, y: updated(fpr(0.95, 1), s, y), "f(-score, is_ood)", "torch")
    calibration = theirs("calibration.calibration_error").TUMulticlassCalibrationError
    yield Use("ece", "CalibrationError", lambda p, y, bins: updated(calibration(p.shape[1], n_bins=bins), p, y),
              "f(probabilities, labels, bins)", "torch")  # fmt: skip
    yield Use("mce", "CalibrationError(norm='max')",
              lambda p, y, bins: updated(calibration(p.shape[1], n_bins=bins, norm="max"), p, y),
              "f(probabilities, labels, bins)", "torch")  # fmt: skip
    brier = theirs("brier_score").BrierScore
    yield Use(
        "brier_score", "BrierScore", lambda p, y: updated(brier(p.shape[1]), p, y), "f(probabilities, labels)", "torch"
    )
    nll = theirs("categorical_nll").CategoricalNLL
    yield Use("nll", "CategoricalNLL", nll, "f(probabilities, labels)", "torch")


def lm_polygraph(_: str) -> Iterator[Use]:
    without_package(folder_of("lm_polygraph"), "lm_polygraph", "lm_polygraph.ue_metrics")

    def theirs(file: str) -> Any:
        return importlib.import_module(f"lm_polygraph.ue_metrics.{file}")

    common = theirs("ue_metric")
    area = theirs("pred_rej_area").PredictionRejectionArea()

    def ratio(uncertainty: Any, quality: Any) -> float:
        best = area([-x for x in quality], quality)
        random = common.get_random_scores(area, quality)
        return float(common.normalize_metric(area(uncertainty, quality), best, random))

    yield Use(
        "aurc",
        "RiskCoverageCurveAUC",
        theirs("risk_cov_curve").RiskCoverageCurveAUC(),
        "f(uncertainty, correct)",
        "list",
    )
    yield Use("prr", "PredictionRejectionArea", ratio, "f(uncertainty, correct)", "list")
    yield Use("auroc_f", "ROCAUC", theirs("roc_auc").ROCAUC(), "f(uncertainty, loss)", "list")
    yield Use("aupr_error", "PRAUC", theirs("pr_auc").PRAUC(), "f(uncertainty, loss)", "list")
    yield Use("ece", "ECE", theirs("ece").ECE, "f(n_bins=bins)(uncertainty, correct)", "list")


def mapie(_: str) -> Iterator[Use]:
    uncertainty = importlib.import_module("mapie.metrics.uncertainty")
    calibration = importlib.import_module("mapie.metrics.calibration")
    control = importlib.import_module("mapie.risk_control")

    def certified(loss: Any, confidence: Any, risk: float, delta: float) -> float | None:
        """Precision of class 1, at the thresholds that the scores of the problems have, the highest first."""
        tool = control.BinaryClassificationController(
            lambda x: np.column_stack([1.0 - x[:, 0], x[:, 0]]), "precision", 1.0 - risk, confidence_level=1.0 - delta,
            list_predict_params=np.array([0.75, 0.5]), best_predict_param_choice="recall",
        )  # fmt: skip
        tool.calibrate(confidence[:, None], (loss == 0.0).astype(int))
        return None if tool.best_predict_param is None else float(tool.best_predict_param)

    yield Use("aurc", "1 - auarc", uncertainty.auarc, "1 - f(correct, confidence)")
    yield Use("auroc_f", "auroc", uncertainty.auroc, "f(correct, confidence)")
    yield Use("ece", "expected_calibration_error", calibration.expected_calibration_error,
              "f(correct, confidence, num_bins=bins, split_strategy='uniform')")  # fmt: skip
    yield Use("certificate", "BinaryClassificationController", certified, "f(loss, confidence, risk, delta)")


def zugzwang(_: str) -> Iterator[Use]:
    core = importlib.import_module("zugzwang.core.curves")
    thresholds = importlib.import_module("zugzwang.core.thresholds")
    certify = importlib.import_module("zugzwang.core.certify")
    yield Use("aurc", "aurc", core.aurc, "f(confidence, loss)")
    yield Use("risk_at_coverage", "risk_at_coverage", core.risk_at_coverage, "f(confidence, loss, coverage)")
    yield Use(
        "coverage_at_risk", "threshold_at_risk", thresholds.threshold_at_risk, "f(confidence, loss, risk).coverage"
    )
    yield Use(
        "certificate", "certify_threshold", certify.certify_threshold, "f(confidence, loss, risk, delta).threshold"
    )


def osr_metrics(_: str) -> Iterator[Use]:
    selective = importlib.import_module("osr_metrics.selective")
    ood = importlib.import_module("osr_metrics.ood")
    osr = importlib.import_module("osr_metrics.osr")
    calibration = importlib.import_module("osr_metrics.calibration")
    yield Use("aurc", "aurc", selective.aurc, "f(uncertainty, loss)")
    yield Use("e_aurc", "eaurc", selective.eaurc, "f(uncertainty, loss)")
    yield Use("risk_at_coverage", "selective_risk_at_coverage", selective.selective_risk_at_coverage,
              "f(uncertainty, loss, coverage)")  # fmt: skip
    yield Use("auroc_f", "auroc", ood.auroc, "f(uncertainty, loss)")
    yield Use("fpr95", "fpr_at_95tpr", ood.fpr_at_95tpr, "f(confidence, correct)")
    yield Use("aupr_success", "aupr_in", ood.aupr_in, "f(uncertainty, loss)")
    yield Use("aupr_error", "aupr_out", ood.aupr_out, "f(uncertainty, loss)")
    yield Use(
        "ece", "expected_calibration_error", calibration.expected_calibration_error, "f(confidence, correct, bins)"
    )
    yield Use("brier_confidence", "brier_score", calibration.brier_score, "f(confidence, correct)")
    yield Use("brier_score", "brier_score_multiclass", calibration.brier_score_multiclass, "f(probabilities, labels)")
    yield Use("ood_auroc", "auroc", ood.auroc, "f(-score, is_ood)")
    yield Use("ood_fpr95", "fpr_at_95tpr", ood.fpr_at_95tpr, "f(-score, is_ood)")
    yield Use("ood_aupr_in", "aupr_in", ood.aupr_in, "f(-score, is_ood)")
    yield Use("ood_aupr_out", "aupr_out", ood.aupr_out, "f(-score, is_ood)")
    classes = "np.concatenate([id_predictions, 0 * ood_score]), np.concatenate([id_labels, 0 * ood_score])"
    yield Use("oscr", "compute_aoscr", osr.compute_aoscr, f"f(-score, is_ood, {classes})")


def incerto(_: str) -> Iterator[Use]:
    llm, ood = module("incerto", "llm/metrics"), module("incerto", "ood/metrics")
    importlib.import_module("incerto.calibration.metrics")
    calibration = sys.modules["incerto.calibration.metrics"]
    yield Use("aurc", "llm.aur_c", llm.aur_c, "f(confidence, correct)", "torch")
    yield Use("auroc_f", "llm.uncertainty_auc", llm.uncertainty_auc, "f(uncertainty, correct)", "torch")
    yield Use("ece", "llm.calibration_error", llm.calibration_error, "f(confidence, correct, bins)['ece']", "torch")
    yield Use("mce", "llm.calibration_error", llm.calibration_error, "f(confidence, correct, bins)['mce']", "torch")
    yield Use("brier_confidence", "llm.brier_score", llm.brier_score, "f(confidence, correct)", "torch")
    yield Use("brier_score", "calibration.brier_score", calibration.brier_score, "f(logits, labels)", "torch")
    yield Use("nll", "calibration.nll", calibration.nll, "f(logits, labels)", "torch")
    yield Use(
        "classwise_ece", "calibration.classwise_ece", calibration.classwise_ece, "f(logits, labels, bins)", "torch"
    )
    yield Use("ood_auroc", "ood.auroc", ood.auroc, "f(-id_score, -ood_score)", "torch")
    yield Use("ood_fpr95", "ood.fpr_at_tpr", ood.fpr_at_tpr, "f(-id_score, -ood_score)", "torch")


def uq_metrics(_: str) -> Iterator[Use]:
    theirs = importlib.import_module("uq_metrics.metrics")
    yield Use("aurc", "aurc", theirs.aurc, "f(correct, confidence)")
    yield Use("risk_at_coverage", "error_vs_abstention", theirs.error_vs_abstention,
              "f(correct, confidence, levels=[1 - coverage])['error_rates'][0]")  # fmt: skip
    yield Use("auroc_f", "auroc", theirs.auroc, "f(correct, confidence)")
    yield Use("ece", "ece", theirs.ece, "f(correct, confidence, n_bins=bins)")
    yield Use("brier_confidence", "brier_score", theirs.brier_score, "f(correct, confidence)")


def seapig(_: str) -> Iterator[Use]:
    curve = module("seapig", "risk").risk_coverage
    for metric, risk, part in (
        ("aurc", "selective", "auc_empirical"), ("e_aurc", "selective", "auc_excess"),
        ("augrc", "generalized", "auc_empirical"), ("e_augrc", "generalized", "auc_excess"),
    ):  # fmt: skip
        yield Use(metric, f"risk_coverage('{risk}').{part}", curve, f"f(uncertainty, loss, '{risk}').{part}", "torch")


def scikit_learn(_: str) -> Iterator[Use]:
    theirs = importlib.import_module("sklearn.metrics")
    weighted = "sample_weight=sample_weight"
    yield Use("auroc_f", "roc_auc_score", theirs.roc_auc_score, f"f(correct, confidence, {weighted})")
    precision = theirs.average_precision_score
    yield Use("aupr_success", "average_precision_score", precision, f"f(correct, confidence, {weighted})")
    yield Use("aupr_error", "average_precision_score", precision, f"f(loss, uncertainty, {weighted})")
    yield Use(
        "brier_confidence",
        "brier_score_loss",
        theirs.brier_score_loss,
        f"f(correct, confidence, {weighted}, pos_label=1)",
    )
    every = "labels=list(range(probabilities.shape[1]))"
    yield Use("brier_score", "brier_score_loss", theirs.brier_score_loss, f"f(labels, probabilities, {every})")
    yield Use("nll", "log_loss", theirs.log_loss, f"f(labels, probabilities, {every})")
    yield Use("ood_auroc", "roc_auc_score", theirs.roc_auc_score, "f(1 - is_ood, score)")
    yield Use("ood_aupr_in", "average_precision_score", precision, "f(1 - is_ood, score)")
    yield Use("ood_aupr_out", "average_precision_score", precision, "f(is_ood, -score)")


def torchmetrics(_: str) -> Iterator[Use]:
    theirs = importlib.import_module("torchmetrics.functional.classification")
    yield Use("auroc_f", "binary_auroc", theirs.binary_auroc, "f(confidence, correct.long())", "torch")
    precision = theirs.binary_average_precision
    yield Use("aupr_success", "binary_average_precision", precision, "f(confidence, correct.long())", "torch")
    yield Use("aupr_error", "binary_average_precision", precision, "f(1 - confidence, loss.long())", "torch")
    calibration = theirs.multiclass_calibration_error
    options = "f(probabilities, labels, probabilities.shape[1], bins, norm='{}')"
    yield Use("ece", "multiclass_calibration_error", calibration, options.format("l1"), "torch")
    yield Use("mce", "multiclass_calibration_error", calibration, options.format("max"), "torch")
    yield Use("ood_auroc", "binary_auroc", theirs.binary_auroc, "f(score, 1 - is_ood)", "torch")
    yield Use("ood_aupr_in", "binary_average_precision", precision, "f(score, 1 - is_ood)", "torch")
    yield Use("ood_aupr_out", "binary_average_precision", precision, "f(1 - score, is_ood)", "torch")


def netcal(_: str) -> Iterator[Use]:
    theirs = importlib.import_module("netcal.metrics")
    yield Use("ece", "ECE", theirs.ECE, "f(bins).measure(confidence, correct.astype(int))")
    yield Use("mce", "MCE", theirs.MCE, "f(bins).measure(confidence, correct.astype(int))")


def pytorch_ood(_: str) -> Iterator[Use]:
    sys.meta_path.insert(0, Absent("torchvision"))
    theirs = importlib.import_module("pytorch_ood.metrics.functional")
    yield Use("aurc", "1 - aurra", theirs.aurra, "1 - f(confidence, correct)", "torch")
    yield Use("auroc_f", "auroc", theirs.auroc, "f(uncertainty, -loss)", "torch")
    yield Use("ood_auroc", "auroc", theirs.auroc, "f(-score, -is_ood)", "torch")
    yield Use("ood_fpr95", "fpr_at_tpr", theirs.fpr_at_tpr, "f(-score, -is_ood)", "torch")
    yield Use("ood_aupr_in", "aupr(positive='id')", theirs.aupr, "f(-score, -is_ood, 'id')", "torch")
    yield Use("ood_aupr_out", "aupr", theirs.aupr, "f(-score, -is_ood)", "torch")
    classes = "torch.cat([id_predictions, 0 * ood_score.long()]), torch.cat([id_labels, 0 * ood_score.long() - 1])"
    yield Use("oscr", "oscr_score", theirs.oscr_score, f"f(-score, {classes})", "torch")


def ours(_: str) -> Iterator[Use]:
    rows = "f(loss, confidence, sample_weight=sample_weight{})"
    for name in ("aurc", "e_aurc", "aurc_achievable", "augrc", "e_augrc", "sele", "f1_auc", "coverage_at_risk", "auroc_f",
                 "aupr_success", "aupr_error", "cwsa", "cwsa_plus", "ece", "mce", "brier_confidence"):  # fmt: skip
        options = {
            "coverage_at_risk": ", risk=risk",
            "cwsa": ", threshold=threshold",
            "cwsa_plus": ", threshold=threshold",
        }
        bins = ", bins=bins" if name in ("ece", "mce") else ""
        yield Use(name, name, getattr(abstain, name), rows.format(options.get(name, bins)))
    yield Use("prr", "prediction_rejection_ratio", abstain.prediction_rejection_ratio, rows.format(""))
    yield Use("risk_at_coverage", "selective_risk", abstain.selective_risk, rows.format(", coverage=coverage"))
    yield Use("fpr95", "fpr95_success", abstain.fpr95_success, rows.format(""))
    for name in ("brier_score", "nll", "classwise_ece"):
        yield Use(
            name, name, getattr(abstain, name), f"f(labels, probabilities{', bins=bins' * (name == 'classwise_ece')})"
        )
    joint, one = abstain.joint, "id_score=id_score, ood_score=ood_score"
    yield Use("ood_auroc", "joint.auroc", joint.auroc, f"f({one})")
    yield Use("ood_fpr95", "joint.fpr_at_id_recall", joint.fpr_at_id_recall, f"f({one})")
    yield Use("ood_aupr_in", "joint.aupr_in", joint.aupr_in, f"f({one})")
    yield Use("ood_aupr_out", "joint.aupr_out", joint.aupr_out, f"f({one})")
    yield Use("oscr", "joint.oscr", joint.oscr, f"f(id_loss, {one})")
    yield Use("joint_f1", "joint.f1", joint.f1, f"f(id_loss, {one}).value")
    names = ("id_confidence", "id_detector", "ood_confidence", "ood_detector")
    two = ", ".join(f"{name}={name}" for name in names)
    for name in ("ds_f1", "ds_aurc", "ds_augrc"):
        yield Use(name, f"joint.{name}", getattr(joint, name), f"f(id_loss, {two}).value")
    yield Use(
        "certificate",
        "choose_threshold",
        abstain.choose_threshold,
        "f(loss, confidence, risk=risk, delta=delta).threshold",
    )


#: Package: its name on the index, and its functions; fd-shifts and lm-polygraph come last, because they leave stand-ins.
PACKAGES: dict[str, Callable[[str], Iterator[Use]]] = {
    "abstain": ours, "MAPIE": mapie, "torch-uncertainty": torch_uncertainty, "osr-metrics": osr_metrics,
    "incerto": incerto, "uq-metrics": uq_metrics, "seapig": seapig, "zugzwang": zugzwang,
    "scikit-learn": scikit_learn, "torchmetrics": torchmetrics, "netcal": netcal, "pytorch-ood": pytorch_ood,
    "lm-polygraph": lm_polygraph, "fd-shifts": fd_shifts,
}  # fmt: skip


def run(only: list[str], checkout: str) -> None:
    """Update the results of what is installed here."""
    known = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {"packages": {}}
    for package, uses in PACKAGES.items():
        if only and package not in only:
            continue
        try:
            every = list(uses(checkout))
        except ImportError as missing:
            print(f"{package}: left out, {missing}", file=sys.stderr)
            continue
        try:
            release = abstain.__version__ if package == "abstain" else version(package)
        except PackageNotFoundError:
            release = "c4467ae"
        found = {}
        for use in every:
            result = check(use.function, use.metric, call=use.call, arrays=use.arrays)
            found[use.metric] = {"function": use.name, "call": result.call, **_kept(result)}
            print(f"{package} {release}: {result.headline()}", flush=True)
        known["packages"][package] = {"version": release, "metrics": found}
    known |= {"vectors": vectors()["version"], "numpy": np.__version__}
    known["packages"] = {name: known["packages"][name] for name in PACKAGES if name in known["packages"]}
    RESULTS.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


def _kept(result: Conformance) -> dict[str, Any]:
    """What the table says of a package and a metric."""
    counted = [each for each in result.outcomes if each.status != "not run"]
    values = {each.case: each.value for each in counted}
    pair = [values[name] for name in ("tied_pair", "tied_pair_reordered") if np.isfinite(values.get(name, np.nan))]
    return {
        "passed": result.passed,
        "definitions": list(result.definitions),
        "factor": result.factor,
        "order": result.order,
        "pair": pair,
        "other": [
            {"case": each.case, "value": _rounded(each.value), "expected": _rounded(each.expected), "note": each.note}
            for each in counted
            if each.status in ("differs", "fails")
        ],
        "agrees": sum(each.status in ("agrees", "refuses") for each in counted),
        "cases": len(counted),
    }


def _rounded(value: float) -> float | None:
    return None if np.isnan(value) else round(value, 6)


# ---------------------------------------------------------------------- the tables

#: Metrics of each table of the page, and what it is about.
TABLES = {
    "Areas": ("aurc", "e_aurc", "aurc_achievable", "augrc", "e_augrc", "prr"),
    "Operating points and certificates": ("coverage_at_risk", "risk_at_coverage", "certificate"),
    "Detection of failures": ("auroc_f", "fpr95", "aupr_success", "aupr_error"),
    "Calibration and proper scores": ("ece", "mce", "brier_confidence", "brier_score", "nll", "classwise_ece"),
    "Out-of-distribution inputs": ("ood_auroc", "ood_fpr95", "ood_aupr_in", "ood_aupr_out", "oscr"),
}

NAN_FIRST = "PyTorch sorts NaN as the largest number, so the row without a score counts as the most confident"
NO_POSITIVES = "`average_precision_score` gives 0 where there are no positives, with a warning"
#: Why a package gives what it gives, read in its code.
WHY = {
    ("MAPIE", "ece"): "`num_bins` edges are made, which are `num_bins` − 1 bins",
    ("torch-uncertainty", "aurc"): "the area over [1/n, 1] is divided by its length 1 − 1/n; its docstring defines `harmonic`",
    ("torch-uncertainty", "augrc"): "the same rescaling as in its AURC",
    ("torch-uncertainty", "fpr95"): NAN_FIRST,
    ("incerto", "aurc"): NAN_FIRST,
    ("incerto", "auroc_f"): "0.5 is returned where the value is not defined",
    ("torchmetrics", "auroc_f"): "0 is returned where one of the classes is absent; NaN sorts first",
    ("torchmetrics", "aupr_success"): f"0 where there are no positives; {NAN_FIRST}",
    ("torchmetrics", "aupr_error"): "0 where there are no positives",
    ("osr-metrics", "fpr95"): "0 where there are no positives",
    ("osr-metrics", "aupr_success"): NO_POSITIVES,
    ("osr-metrics", "aupr_error"): NO_POSITIVES,
    ("osr-metrics", "oscr"): "0 where there are no OOD rows, as its docstring says",
    ("scikit-learn", "aupr_success"): NO_POSITIVES,
    ("scikit-learn", "aupr_error"): NO_POSITIVES,
    ("scikit-learn", "brier_score"): "the score of two classes is halved by default (`scale_by_half`)",
    ("uq-metrics", "aurc"): "rescaled as in torch-uncertainty; NaN where every row is right, or every row wrong",
    ("uq-metrics", "ece"): "NaN where every row is right, or every row wrong, although the value is defined",
    ("uq-metrics", "brier_confidence"): "NaN where every row is right, or every row wrong, although the value is defined",
    ("zugzwang", "aurc"): "96 coverages; c · n is rounded after an error of floating point, so halves go either way",
    ("zugzwang", "certificate"): "it tests the first m rows, which may end inside a tie, and then accepts the whole tie",
    ("lm-polygraph", "aurc"): "the target is scaled to [0, 1] by its extremes, so one row, or equal rows, give 0.5; "
    "a missing score leaves the order undefined",
    ("lm-polygraph", "prr"): "the area at random is the mean of 1,000 shuffles: within 0.06 of `selective` without ties, but never equal",
    ("lm-polygraph", "aupr_error"): NO_POSITIVES,
    ("fd-shifts", "aurc_achievable"): "with graded losses every point of the curve is taken as a corner of the hull",
    ("fd-shifts", "aupr_success"): NO_POSITIVES,
    ("fd-shifts", "aupr_error"): NO_POSITIVES,
    ("fd-shifts", "ece"): "where every row is right, all targets become 0: confidence 1 gives an error of 1",
    ("fd-shifts", "mce"): "the same as in its ECE",
}  # fmt: skip


def cell(metric: str, found: dict[str, Any] | None) -> str:
    """What a package computes, in few words."""
    if found is None:
        return ""
    if metric == "certificate":
        return "satisfied" if found["passed"] else "**violated**"
    text = followed(found) + "†" * bool(found["order"])
    return text + f" ({len(found['other'])})" * bool(found["definitions"] and found["other"])


def followed(found: dict[str, Any]) -> str:
    """The definition, with its factor."""
    text = " = ".join(found["definitions"]) or "none"
    return f"{text} × {found['factor']}" if found["factor"] else text


def grid(results: dict[str, Any], metrics: tuple[str, ...]) -> str:
    """One row for each package that has one of the metrics."""
    rows = []
    for package, entry in results["packages"].items():
        cells = [cell(metric, entry["metrics"].get(metric)) for metric in metrics]
        if any(cells):
            rows.append((f"{package} {entry['version']}", *cells))
    return markdown(["package", *(f"`{metric}`" for metric in metrics)], rows)


def markdown(head: list[str], rows: list[tuple[str, ...]]) -> str:
    """A table."""
    lines = ["| " + " | ".join(row) + " |" for row in ([*head], *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def differences(package: str, entry: dict[str, Any]) -> list[str]:
    """What is not one definition throughout, each with its smallest case and the reason."""
    lines = []
    for metric, found in entry["metrics"].items():
        why = WHY.get((package, metric))
        if found["passed"] and not why:
            continue
        parts = [f"depends on row order: {order_in_words(found['order'])}"] if found["order"] else []
        parts += [f"n/(n − 1) times `{found['definitions'][0]}`"] if found["factor"] == "n/(n - 1)" else []
        parts += [case_in_words(metric, found["other"][0])] if found["other"] else []
        parts += [why] if why else []
        lines.append(f"- `{metric}` ({found['function']}): " + "; ".join(parts) + ".")
    return lines


def order_in_words(order: str) -> str:
    """The smallest pair of orders."""
    return " and ".join(f"`{name}` {value}" for name, _, value in (each.rpartition(" ") for each in order.split(", ")))


def case_in_words(metric: str, other: dict[str, Any]) -> str:
    """The smallest case that differs."""
    if metric == "certificate":
        return f"`{other['case']}`: violated with probability {other['value']:.3f}, allowed is {other['expected']:g}"
    gave = "no number" if other["value"] is None else f"{other['value']:.4g}"
    expected = "not defined" if other["expected"] is None else f"expected {other['expected']:.4g}"
    return f"`{other['case']}` gives {gave}, {expected}"


def page(results: dict[str, Any]) -> str:
    """The tables of the page, and below them what differs."""
    parts = [f"### {title}\n\n{grid(results, metrics)}" for title, metrics in TABLES.items()]
    parts.append("### What differs, by package")
    for package, entry in results["packages"].items():
        lines = differences(package, entry)
        if lines:
            parts.append(f"**{package} {entry['version']}**\n\n" + "\n".join(lines))
    return "\n\n".join(parts)


def readme(results: dict[str, Any]) -> str:
    """AURC of a right and a wrong row of one score, in both orders."""
    rows = []
    for package in SHOWN:
        entry = results["packages"][package]
        found = entry["metrics"]["aurc"]
        first, last = (f"{value:.3f}" for value in found["pair"])
        mark = "**" if found["order"] else ""
        rows.append(
            (
                f"{package} {entry['version']}",
                f"{mark}{first}{mark}",
                f"{mark}{last}{mark}",
                followed(found),
            )
        )
    head = ["AURC of two rows with one score", "right one first", "wrong one first", "without ties"]
    return markdown(head, rows)


def definitions(_: dict[str, Any]) -> str:
    """Every definition of the vectors, with its source."""
    return markdown(
        ["metric", "definition", "what it is", "source"],
        [
            (f"`{name}`", f"`{key}`", each["text"].replace("|", "\\|"), each["source"])
            for name, metric in vectors()["metrics"].items()
            for key, each in metric["definitions"].items()
        ],
    )


SHOWN = ("MAPIE", "torch-uncertainty", "lm-polygraph", "uq-metrics", "seapig", "osr-metrics", "fd-shifts", "abstain")
#: Files with tables, the marks around these, and what stands between.
PLACES: list[tuple[str, str, Callable[[dict[str, Any]], str]]] = [
    ("docs/conformance.md", "peers", page),
    ("docs/conformance.md", "definitions", definitions),
    ("README.md", "tied rows", readme),
    ("paper/paper.md", "tied rows", readme),
]


def write() -> None:
    """Put the tables into the documentation."""
    results = json.loads(RESULTS.read_text("utf-8"))
    for file, mark, table in PLACES:
        text = (ROOT / file).read_text("utf-8")
        pattern = f"(<!-- {mark}: start -->).*?(<!-- {mark}: end -->)"
        text, places = re.subn(
            pattern, lambda found, t=table: f"{found[1]}\n{t(results)}\n{found[2]}", text, flags=re.DOTALL
        )  # type: ignore[misc]
        if places != 1:
            raise SystemExit(f"{file} has no place for the table: <!-- {mark}: start --> ... <!-- {mark}: end -->")
        (ROOT / file).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["run", "write"])
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--fd-shifts", default="", metavar="CHECKOUT")
    given = parser.parse_args()
    if given.part == "run":
        run(given.only, given.fd_shifts)
    else:
        write()
