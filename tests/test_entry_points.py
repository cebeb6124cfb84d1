"""Packages are used through their public names: few imports of private modules, each with its reason."""

from tests.imports import ROOT, imports_of, modules
from tests.test_architecture import between_packages

#: Imports of a private module of another package, and why it is not public. All may import modules of layer 0.
PRIVATE = {
    ("cli._input", "outputs._frame"): "the columns of a file, before anything is read",
    ("cli._input", "outputs._open"): "the same",
    ("cli._ood", "outputs._names"): "the same",
    ("evaluation._tune", "scores._fitted"): "a score and its fit, many settings at once",
    ("live._certificate", "thresholds._grid_bets"): "bets on a fixed grid, which a live certificate repeats",
    ("live._grid", "thresholds._grid_bets"): "the same",
    ("monitoring._rows", "thresholds._row_hashes"): "rows that were given before, recognised by hashes",
    ("monitoring._monitor", "thresholds._row_hashes"): "rows that were given before, recognised by hashes",
}

#: Test files that import a private module, and why its behaviour cannot be tested through a public name.
PRIVATE_TESTS = {
    "blocks/test_values.py": "both ways to sort, at any size",
    "evaluation/test_tune.py": "what is fitted how often",
    "inference/test_bands.py": "parts of the formula of a band",
    "inference/test_bootstrap.py": "parts of the BCa formula",
    "inference/test_influence.py": "gradients of tables",
    "inference/test_resample.py": "both ways to draw and to scan, and their parts; counts in blocks of any size",
    "inference/test_runs.py": "components of variance",
    "inference/test_thresholds_that_jump.py": "what a threshold may become",
    "joint/test_exact.py": "all pairs, on ranks and by level",
    "nn/ingredients/test_pictures.py": "operations on images one by one",
    "nn/train/test_numbers.py": "the batches of a training",
    "nn/train/test_recipes.py": "the table of recipes",
    "nn/train/test_training.py": "the module that a recipe trains",
    "pool/test_estimate.py": "exact expectations over all samples that a small design can draw",
    "pool/test_oracles.py": "the risk model",
    "scores/test_contract.py": "the catalogue of modules, and pieces of any size",
    "scores/test_identities.py": "parts of two fits, and neighbours in pieces of any size",
    "thresholds/test_grid_bets.py": "evidence of every threshold, and the closed test against all subsets",
    "thresholds/test_certificates.py": "tests and searches, one by one",
    "monitoring/test_monitor.py": "the evidence of one stream",
    "inference/test_unseen_differences.py": "the variance that an unseen error of a pair adds, by formula",
    "nn/test_callback.py": "how a batch is read",
    "thresholds/test_guarantees.py": "hashes of rows",
}


def is_private(target):
    """Return whether a module is private to a package: ``abstain.package._module``."""
    parts = target.split(".")
    return parts[0] == "abstain" and len(parts) > 2 and any(part.startswith("_") for part in parts[2:])


def test_packages_import_public_names_of_others():
    """At most ten imports of another package's private module, each listed with its reason."""
    found = {
        (each.module[8:], each.target[8:])
        for each in between_packages()
        if is_private(each.target) and each.module != "abstain"
    }
    assert found == set(PRIVATE)
    assert len(PRIVATE) <= 10


def test_tests_use_public_names():
    """Few test files import a private module, each listed with its reason."""
    known = set(modules())
    found = set()
    for file in sorted((ROOT / "tests").rglob("*.py")):
        name = file.relative_to(ROOT / "tests").as_posix()
        imports = imports_of(f"tests.{name[:-3].replace('/', '.')}", file.read_text(encoding="utf-8"), known)
        if any(is_private(each.target) for each in imports):
            found.add(name)
    assert found == set(PRIVATE_TESTS)
    assert len(PRIVATE_TESTS) <= 25
