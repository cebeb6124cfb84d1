"""CIFAR-10 and CIFAR-100 models: every score that their outputs allow, shifts, OOD data, and label noise."""

from __future__ import annotations

from typing import Any

import numpy as np

import abstain
from abstain import joint
from abstain.plots import (
    Axis,
    ConfidentFailuresDisplay,
    CWSASweepDisplay,
    EstimatesDisplay,
    FrontierDisplay,
    MetricBarsDisplay,
)
from experiments.real._page import PAGES, image, load, outputs_folder, page, percent, plain, save, table

RISK, DELTA, SURE = 0.05, 0.05, 20
OOD = {"cifar10 / cifar100": "ood_cifar10_vs_cifar100.npz", "fashion / mnist": "ood_fashionmnist_vs_mnist.npz"}
FILES = {"cifar10": ("cifar10_test_models.npz", "cifar10_test_models_b.npz"), "cifar100": ("cifar100_test_models.npz",)}


def models(data: str) -> dict[str, Any]:
    """Return the models of a data set: outputs with probabilities, or with the top class and its probability."""
    found: dict[str, Any] = {}
    for file in FILES[data]:
        with np.load(outputs_folder() / file) as archive:
            labels = archive["labels"]
            for key in archive.files:
                kind, _, name = key.partition("_")
                if kind == "probs":
                    rows = archive[key].astype(float)
                    found[name] = abstain.Outputs(labels=labels, probabilities=rows / rows.sum(axis=1, keepdims=True))
                elif kind == "conf":
                    confidence = archive[key].astype(float)
                    found[name] = abstain.Outputs(
                        labels=labels, predictions=archive[f"pred_{name}"], confidence=confidence
                    )
    return found


def run() -> None:
    """Compute everything and keep it."""
    results: dict[str, Any] = {"models": {}, "scores": [], "shift": {}, "ood": {}}
    for data in FILES:
        for name, outputs in models(data).items():
            known = abstain.scores.available(outputs)
            first = "msp" if "msp" in known else "confidence"
            found = abstain.evaluate(outputs, first, ["accuracy", "aurc", "augrc", "auroc_f", "ece"])
            row = {each.metric: [each.value, each.low, each.high] for each in found.measurements}
            results["models"][f"{data}|{name}"] = row
            if first == "msp":
                results["scores"] += against_msp(f"{data}|{name}", outputs, known)
    adjusted = abstain.inference.holm([each["p"] for each in results["scores"]])
    for each, p in zip(results["scores"], adjusted, strict=True):
        each["adjusted"] = float(p)
    results["shift"] = shift()
    results["ood"] = {name: ood(file) for name, file in OOD.items()}
    results["labels"] = label_noise()
    save("cifar", results)


def against_msp(model: str, outputs: Any, known: list[str]) -> list[dict[str, Any]]:
    """Compare every other score with the MSP by AUGRC: paired tests."""
    loss, columns = outputs.loss_per_sample(), {name: abstain.scores.compute(name, outputs) for name in known}
    found = []
    for name in known:
        if name == "msp":
            continue
        each = abstain.compare(loss, {"msp": columns["msp"], name: columns[name]}, "augrc").difference(name, "msp")
        found.append({"model": model, "score": name, "difference": [each.difference, each.low, each.high],
                      "p": each.p_value})  # fmt: skip
    return found


def votes() -> dict[str, tuple[Any, Any]]:
    """Return loss and share of votes of the majority of 30 networks, on CIFAR-10 and both versions of CIFAR-10.1."""
    found = {}
    with np.load(outputs_folder() / "cifar10_1_hard_predictions.npz") as archive:
        for part in ("cifar10", "v4", "v6"):
            said, labels = archive[f"pred_{part}"], archive[f"labels_{part}"]
            counts = np.stack([(said == k).sum(axis=0) for k in range(10)], axis=1)
            found[part] = (counts.argmax(axis=1) != labels).astype(float), counts.max(axis=1) / len(said)
    return found


def shift(seed: int = 0) -> dict[str, Any]:
    """Certify a risk on half of CIFAR-10, and audit the threshold on the other half and on CIFAR-10.1."""
    sets = votes()
    rows = np.random.default_rng(seed).permutation(10_000)
    fit, test = np.array_split(rows, 2)
    loss, share = sets.pop("cifar10")
    limit = 0.02
    chosen: Any = abstain.choose_threshold(loss[fit], share[fit], risk=limit, delta=DELTA)
    found: dict[str, Any] = {"limit": limit, "threshold": chosen.threshold, "sets": {}}
    for name, (one, other) in {"CIFAR-10, other half": (loss[test], share[test]),
                               **{f"CIFAR-10.1 {name}": each for name, each in sets.items()}}.items():  # fmt: skip
        seen = abstain.audit(chosen, one, other)
        augrc = abstain.confidence_interval("augrc", one, other)
        auroc = abstain.confidence_interval("auroc_f", one, other)
        found["sets"][name] = {
            "n": len(one), "error": [one.mean(), *abstain.inference.clopper_pearson(int(one.sum()), len(one))],
            "augrc": [augrc.estimate, augrc.low, augrc.high], "auroc_f": [auroc.estimate, auroc.low, auroc.high],
            "coverage": [seen.coverage, *seen.coverage_interval], "risk": [seen.risk, *seen.risk_interval],
            "kept": seen.satisfied,
        }  # fmt: skip
    return found


def pair(file: str, detector: str) -> dict[str, Any]:
    """Return the columns of a joint evaluation: MSP next to another score."""
    with np.load(outputs_folder() / file) as archive:
        inside = ~archive["is_ood"].astype(bool)
        rows, labels = archive["probs"].astype(float), archive["labels"]
    rows /= rows.sum(axis=1, keepdims=True)
    known = abstain.Outputs(labels=labels[inside], probabilities=rows[inside])
    other = abstain.Outputs(probabilities=rows[~inside], unlabelled=True)
    columns = {"id_loss": known.loss_per_sample()}
    for part, name in (("confidence", "msp"), ("detector", detector)):
        columns[f"id_{part}"] = abstain.scores.compute(name, known)
        columns[f"ood_{part}"] = abstain.scores.compute(name, other)
    return columns


def ood(file: str) -> dict[str, Any]:
    """Return F1 and AURC of MSP alone and with another score, on all rows, next to the gain of noise."""
    found = {}
    for detector in ("neg_entropy", "gen"):
        result = joint.evaluate(**pair(file, detector), n_permutations=10, n_splits=5)
        rows = {row["metric"]: row for row in result.rows() if row["share"].startswith("as in the data")}
        ends = result.confidence_intervals(n_splits=20)
        found[detector] = {
            "accuracy": result.accuracy,
            "metrics": {key: {name: row[name] for name in ("confidence", "both", "gain", "null_mean", "null_sd", "p")}
                        for key, row in rows.items()},
            "intervals": {key: [each.estimate, each.low, each.high] for key, each in ends.items()},
        }  # fmt: skip
    return found


def label_noise() -> dict[str, Any]:
    """Ask 50 people about the surest failures of each network above .85, and about its other failures."""
    with np.load(outputs_folder() / "cifar10h_human_counts.npz") as archive:
        people = archive[archive.files[0]]
    found: dict[str, Any] = {"surest": [0, 0], "others": [0, 0]}
    for outputs in models("cifar10").values():
        loss = outputs.loss_per_sample()
        if loss.mean() > 0.15:
            continue
        score = outputs.confidence if outputs.confidence is not None else abstain.scores.compute("msp", outputs)
        wrong = np.flatnonzero(loss)
        wrong = wrong[np.argsort(-np.asarray(score)[wrong], kind="stable")]
        differs = people.argmax(axis=1)[wrong] != outputs.labels[wrong]
        for part, rows in (("surest", differs[:SURE]), ("others", differs[SURE:])):
            found[part][0] += int(rows.sum())
            found[part][1] += len(rows)
    return {part: [k, n, *abstain.inference.clopper_pearson(k, n)] for part, (k, n) in found.items()}


def sentences(results: dict[str, Any]) -> list[str]:
    """Return what was found."""
    tests = results["scores"]
    better = [each for each in tests if each["adjusted"] < 0.05 and each["difference"][0] < 0.0]
    worse = [each for each in tests if each["adjusted"] < 0.05 and each["difference"][0] > 0.0]
    largest = min(tests, key=lambda each: each["difference"][0])
    data, name = largest["model"].split("|")
    s = results["shift"]
    home, *away = s["sets"].values()
    last = away[-1]
    near, far = (results["ood"][name]["gen"] for name in OOD)
    noise = near["metrics"]["ds_aurc"]
    k, n, low, high = results["labels"]["surest"]
    k2, n2, low2, high2 = results["labels"]["others"]
    several = len({each["model"] for each in tests})
    return [
        f"**Other scores seldom rank better than the MSP.** Of {len(tests)} comparisons on {several} networks (AUGRC, "
        f"paired tests, Holm, 5 %) the other score is better in {len(better)} and worse in {len(worse)}. The largest "
        f"gain is that of `{largest['score']}` on `{name}` ({data}): {1000 * largest['difference'][0]:.2f} "
        f"[{1000 * largest['difference'][1]:.2f}, {1000 * largest['difference'][2]:.2f}] thousandths.",
        f"**A guarantee does not hold for another population.** A threshold on the votes of 30 networks, certified for "
        f"2 % on half of CIFAR-10, has a risk of {percent(home['risk'])} on the other half. On CIFAR-10.1 v6, whose "
        f"images were collected later, the risk is {percent(last['risk'])}"
        + (", and the guarantee is violated. " if last["kept"] is False else ". ")
        + f"The coverage falls from {percent(home['coverage'])} to {percent(last['coverage'])}.",
        f"**Label noise explains few of the most confident failures.** Of the {SURE} most confident failures "
        "of each good CIFAR-10 "
        f"network people disagree with the label in {k} of {n} ({100 * k / n:.1f} % [{100 * low:.1f}, "
        f"{100 * high:.1f}]), of its other failures in {k2} of {n2} ({100 * k2 / n2:.1f} % [{100 * low2:.1f}, "
        f"{100 * high2:.1f}]).",
        "**A second score of the same network helps with MNIST, not with CIFAR-100.** GEN added to the MSP "
        "lowers the AURC of "
        f"failures and OOD inputs by {plain(near['intervals']['ds_aurc - aurc'])} on CIFAR-10 with CIFAR-100, where a "
        f"permuted score lowers it by {noise['null_mean']:.4f}, and by {plain(far['intervals']['ds_aurc - aurc'])} on "
        f"Fashion-MNIST with MNIST.",
    ]  # fmt: skip


def write() -> str:
    """Return the page."""
    results = load("cifar")
    head = ["data", "model", "accuracy", "AUGRC", "AURC", "AUROC of failures", "ECE"]
    ordered = sorted(results["models"].items(), key=lambda item: (item[0].split("|")[0], item[1]["augrc"][0]))
    rows = [
        [*key.split("|"), percent(row["accuracy"]), plain(row["augrc"]), plain(row["aurc"]), plain(row["auroc_f"], 3),
         f"{row['ece'][0]:.3f}"] for key, row in ordered
    ]  # fmt: skip
    shifted = [
        [name, f"{each['n']:,}", percent(each["error"]), plain(each["augrc"]), plain(each["auroc_f"], 3),
         percent(each["coverage"]), percent(each["risk"])] for name, each in results["shift"]["sets"].items()
    ]  # fmt: skip
    tests = [
        [*each["model"].split("|"), each["score"], _thousandths(each["difference"]), f"{each['adjusted']:.2g}"]
        for each in results["scores"] if each["adjusted"] < 0.05
    ]  # fmt: skip
    about = [
        "## Models, i.i.d.", "",
        "Test sets of CIFAR-10 and CIFAR-100 (`cifar10_test_models.npz`, `cifar10_test_models_b.npz`, "
        "`cifar100_test_models.npz`),",
        "with the MSP as confidence and 95 % intervals. `cleanlab_cv` was cross-validated on the test set: "
        "its folds are",
        "different networks.", "",
    ]  # fmt: skip
    pictures = [
        *image("cifar-models.png", "CIFAR-10 models by AUGRC, AURC and AUROC of failures"), "",
        *image("cifar-failures.png", "Most confident failures of two networks on CIFAR-10"), "",
        "The most confident failures: label, prediction, and how many of about 50 people chose each.",
    ]  # fmt: skip
    scores = [
        "## Scores against the MSP", "",
        "Significant differences (adjusted p below 0.05): AUGRC of the score minus that of the MSP, times 1000.", "",
        *table(["data", "model", "score", "difference × 1000", "adjusted p"], tests),
    ]  # fmt: skip
    shifts = [
        "## Natural shift", "",
        f"The prediction is the majority of 30 networks, the confidence its share of the votes. On half of CIFAR-10 a "
        f"risk of at most 2 % is certified with delta 5 %: share ≥ {results['shift']['threshold']:.4g} "
        f"(`cifar10_1_hard_predictions.npz`).", "",
        *table(["set", "n", "error, all", "AUGRC", "AUROC of failures", "coverage", "risk"], shifted),
    ]  # fmt: skip
    found = [
        [name, detector, key, f"{row['confidence']:.4f}", f"{row['both']:.4f}", f"{row['gain']:+.4f}",
         f"{row['null_mean']:+.4f} ± {row['null_sd']:.4f}"]
        for name, of in results["ood"].items() for detector, each in of.items() for key, row in each["metrics"].items()
    ]  # fmt: skip
    papers = [
        "## Figures of the papers on these networks", "",
        *image("cifar-cwsa.png", "CWSA, CWSA+, selective accuracy and coverage over the threshold"), "",
        "The CNN of the CWSA paper (its Fig. 2) and VGG-16. CWSA divides by the accepted rows.", "",
        *image("cifar-estimates.png", "AURC estimators over the sample size on CIFAR-100"), "",
        "Estimates of AURC in random batches of DenseNet-BC-100 on CIFAR-100, as Figs. 3 to 5 of Zhou et al. (2025).",
    ]  # fmt: skip
    foreigners = [
        "## OOD data", "",
        "ID and OOD rows together, by the MSP alone and with a second score. The last column is the gain of a permuted "
        "second score.", "",
        *table(["ID / OOD", "second score", "metric", "MSP", "both", "gain", "gain of noise"], found), "",
        *image("cifar-frontier.png", "Frontier of MSP and GEN on Fashion-MNIST against MNIST"),
    ]  # fmt: skip
    return page("cifar", "CIFAR models: scores, shifts and label noise", sentences(results),
                [[*about, *table(head, rows)], pictures, scores, shifts, foreigners, papers])  # fmt: skip


def _thousandths(found: Any) -> str:
    value, low, high = (1000.0 * each for each in found)
    return f"{value:+.2f} [{low:+.2f}, {high:+.2f}]"


def figures() -> None:
    """Draw the figures of the page."""
    results = load("cifar")["models"]
    names = [key.split("|")[1] for key in results if key.startswith("cifar10|")]
    panels = []
    for spec, label, direction in (("augrc", "AUGRC", "lower"), ("aurc", "AURC", "lower"),
                                   ("auroc_f", "AUROC of failures", "higher")):  # fmt: skip
        found = [results[f"cifar10|{name}"][spec] for name in names]
        panels.append(Axis(label, direction, [each[0] for each in found], [(each[1], each[2]) for each in found]))
    MetricBarsDisplay(names, panels).save(PAGES / "cifar-models.png", dpi=110)
    FrontierDisplay.from_joint(joint.evaluate(**pair(OOD["fashion / mnist"], "gen"))).save(
        PAGES / "cifar-frontier.png", dpi=110
    )
    failures({"DenseNet-BC": "densenet_bc_l190_k40", "VGG-16": "vgg16"})
    networks = models("cifar10")
    both = {name: confident(networks[name]) for name in ("cwsa_cnn", "vgg16")}
    CWSASweepDisplay.from_evaluation(abstain.evaluate(both, metrics="augrc")).save(PAGES / "cifar-cwsa.png", dpi=110)
    large = abstain.evaluate(confident(models("cifar100")["densenet_bc_100"]), metrics="aurc")
    EstimatesDisplay.from_evaluation(large, n_draws=200).save(PAGES / "cifar-estimates.png", dpi=110)


def confident(outputs: Any) -> Any:
    """Return outputs with the top class and its probability only."""
    score = outputs.confidence if outputs.confidence is not None else abstain.scores.compute("msp", outputs)
    return abstain.Outputs(loss=outputs.loss_per_sample(), confidence=score)


def failures(names: dict[str, str]) -> None:
    """Draw the surest failures of two networks: label, prediction and the votes of people, no image of CIFAR-10."""
    networks = models("cifar10")
    found = {name: networks[key] for name, key in names.items()}
    with np.load(outputs_folder() / "cifar10h_human_counts.npz") as archive:
        people = archive[archive.files[0]]
    classes = ["plane", "car", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
    losses = {name: found[name].loss_per_sample() for name in names}
    scores = {name: abstain.scores.compute("msp", found[name]) for name in names}

    def caption(name: str, row: int) -> str:
        label = int(found[name].labels[row])
        said = int(np.argmax(found[name].probabilities[row]))
        return f"{classes[label]}, said\n{classes[said]}\n{people[row, label]} / {people[row, said]}"

    ConfidentFailuresDisplay(losses, scores, captions=caption, k=8).plot().save(PAGES / "cifar-failures.png", dpi=110)
