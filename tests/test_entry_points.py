"""Packages are used through their public names: few imports of private modules, each with its reason."""

from tests.imports import ROOT, imports_of, modules, tree_of, where
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


def private(found):
    """Return the imports of a module that is private to a package: ``abstain.package._module``."""
    return [each for each in found if each.target.startswith("abstain.") and "._" in each.target[len("abstain._") :]]


def test_packages_import_public_names_of_others():
    """At most ten imports of another package's private module, each listed with its reason."""
    found = {(each.module[8:], each.target[8:]) for each in private(between_packages()) if each.module != "abstain"}
    assert found == set(PRIVATE)
    assert len(PRIVATE) <= 10


def test_tests_use_public_names():
    """At most 34 test files import a private module: parts of formulas, and borders that no public name chooses."""
    known, files = set(modules()), where(r"abstain\.\w[\w.]*(\._| import \(?[\w\s,]*\b_)", ROOT / "tests")
    assert sum(bool(private(imports_of("tests", tree_of(file), known))) for file in files) <= 34
