"""The architecture: which package may import which, how long a file may be, what is documented and shipped."""

import ast
import importlib
import inspect
import re
import sys
from collections import defaultdict
from functools import cache
from graphlib import TopologicalSorter
from types import ModuleType

import pytest

import abstain
from tests.imports import ROOT, all_imports, modules, tree_of

# ---------------------------------------------------------------------- layers

#: The layer of each package, which imports from lower layers only. Modules of layer 0 may import each other.
LAYERS = {
    **dict.fromkeys(["_checks", "_classes", "_extras", "_fast", "_files", "_lazy", "_pace"], 0),
    **dict.fromkeys(["_quantiles", "_registry", "_result", "_sums", "_typing", "_version"], 0),
    **dict.fromkeys(["blocks", "outputs", "losses", "datasets"], 1),
    "curve": 2,
    **dict.fromkeys(["metrics", "scores"], 3),
    **dict.fromkeys(["inference", "policy", "summaries"], 4),
    **dict.fromkeys(["joint", "pool", "thresholds"], 5),
    "conformance": 1,  # shares nothing with what it judges
    "evaluation": 6,
    "monitoring": 6,
    "live": 7,
    "study": 7,
    "plots": 8,
    "report": 9,
    "sklearn": 10,
    "testing": 10,
    "nn": 10,  # an extension: may import every lower layer
    "integrations": 10,
    "abstain": 11,  # the public names, src/abstain/__init__.py
    "cli": 12,  # uses the public names, which load what a command needs when it is called
    "__main__": 13,  # `python -m abstain`
}
FIGURES = {"plots", "report"}
EXTENSIONS = {"sklearn", "testing", "cli", "nn", "integrations", "abstain", "__main__"}

#: Packages of one layer of which the first may import the second, and why.
SAME_LAYER = {
    ("datasets", "outputs"): "a data set is read as Outputs",
    ("pool", "thresholds"): "labels of a region certify a threshold",
    ("scores", "metrics"): "the p of the p-norm score is that of the least AURC",
}

#: Imports from a higher layer, inside the method that needs them, and what for. Entries out of use must go.
UPWARD = {("curve", "plots"): ".plot()", ("evaluation", "plots"): ".plot()", ("_result", "report"): ".report()"}
UPWARD |= {("joint", "plots"): ".plot()", ("inference", "plots"): ".plot()"}

CORE_LIBRARIES = {"numpy", "array_api_compat"}
LATE_LIBRARIES = {"scipy", "narwhals"}


def package(module):
    """Return the package, or the module of the root, that a module belongs to."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "abstain"


def between_packages():
    """Return the imports from one package to another."""
    found = [each for each in all_imports() if each.target.split(".")[0] == "abstain"]
    return [each for each in found if package(each.module) != package(each.target)]


def where(found):
    """Return the imports in words."""
    return [f"{each.module}:{each.line} imports {each.target}" for each in found]


def test_packages_import_only_from_lower_layers():
    """No import from a higher layer or from the same one, but for those listed with a reason."""
    assert {package(module) for module in modules()} <= set(LAYERS)
    allowed = SAME_LAYER.keys() | UPWARD
    above, used = [], set()
    for each in between_packages():
        pair = package(each.module), package(each.target)
        up = LAYERS[pair[1]] - LAYERS[pair[0]]
        used.add(pair)
        if (up == 0 and LAYERS[pair[0]] and pair not in allowed) or (up > 0 and (each.at_top or pair not in allowed)):
            above.append(each)
    assert where(above) == []
    assert allowed <= used
    assert where([each for each in all_imports() if each.target.split(".")[0] in {"experiments", "tests"}]) == []


def test_there_are_no_circles():
    """No modules or packages depend on each other in a circle, but for figures and pages drawn on request."""
    known, at_any_time, packages = modules(), defaultdict(set), defaultdict(set)
    for each in all_imports():
        drawn = package(each.target) in FIGURES and package(each.module) not in EXTENSIONS | FIGURES and not each.at_top
        if each.target in known and not drawn:
            at_any_time[each.module].add(each.target)
    for pair in {(package(each.module), package(each.target)) for each in between_packages()} - UPWARD.keys():
        packages[pair[0]].add(pair[1])
    for edges in (at_any_time, packages):
        TopologicalSorter(edges).prepare()  # a CycleError names the circle


def test_no_name_of_a_metric_decides_in_inference():
    """Inference asks a metric, never its name, which stands there only as a default, or in a text for the reader."""
    names = "|".join(sorted({name.rpartition(".")[2] for name in abstain.metrics.names()} - {"risk"}))
    asked = re.compile(rf"\bmetric\.name\b|'({names})\b")
    for path in sorted((ROOT / "src/abstain/inference").glob("*.py")):
        nodes = [each for each in ast.walk(tree_of(path)) if isinstance(each, ast.Compare | ast.Subscript | ast.Match)]
        assert [code for code in map(ast.unparse, nodes) if asked.search(code)] == [], path


def test_optional_libraries_are_imported_where_they_are_used():
    """The top of a core module needs NumPy, array-api-compat and the standard library, nothing else."""
    ours = sys.stdlib_module_names | CORE_LIBRARIES | {"abstain"}
    external = [each for each in all_imports() if each.at_top and each.target.split(".")[0] not in ours]
    late = [each for each in external if each.target.split(".")[0] in LATE_LIBRARIES]
    assert where([*late, *(each for each in external if package(each.module) not in EXTENSIONS - {"abstain"})]) == []


# ---------------------------------------------------------------------- length


def test_files_are_short():
    """Nobody should have to scroll far: 400 lines at most."""
    files = [
        path for folder in ("src", "tests", "docs", "benchmarks", "experiments") for path in (ROOT / folder).rglob("*")
    ]
    files = [path for path in files if path.suffix in {".py", ".md", ".rst", ".j2", ".html"}]
    files = [path for path in files if not {"_build", "generated"} & set(path.parts)]
    assert [path for path in files if len(path.read_text(encoding="utf-8").splitlines()) > 400] == []


# ---------------------------------------------------------------------- documentation


def public_modules():
    """Return the modules whose public names are documented one by one; those not built yet are left out."""
    names = ["metrics", "scores", "losses", "datasets", "inference", "joint", "pool", "policy", "thresholds", "nn"]
    names += ["monitoring", "summaries", "sklearn", "testing", "study", "plots"]
    names += ["nn.ingredients", "nn.networks", "nn.data", "nn.train"]
    return ["abstain", *(f"abstain.{name}" for name in names if f"abstain.{name}" in modules())]


@cache
def pages():
    """Return the text of all sources of the documentation."""
    found = [path for suffix in ("rst", "md") for path in (ROOT / "docs").rglob(f"*.{suffix}")]
    return "\n".join(path.read_text(encoding="utf-8") for path in found if "_build" not in path.parts)


def displays():
    """Return the names of the classes of figures."""
    return {abstain.plots.get(name).display.__name__ for name in abstain.plots.names()}


def public_things(module):
    """Return the public names of a module with what they stand for; every name must exist."""
    loaded = importlib.import_module(module)
    return {name: getattr(loaded, name) for name in loaded.__all__ if name != "__version__"}


@pytest.mark.parametrize("module", public_modules())
def test_every_public_name_has_an_example_and_is_in_the_documentation(module):
    """An Examples section that runs as a doctest; a page that lists the name, or one that the registry makes."""
    things = public_things(module)
    called = {name: thing for name, thing in things.items() if callable(thing) and not isinstance(thing, ModuleType)}
    example = re.compile(r"^Examples\n-{8}\n.*>>> ", re.MULTILINE | re.DOTALL)
    assert [name for name, thing in called.items() if not example.search(inspect.getdoc(thing) or "")] == []
    generated = {*abstain.metrics.names("blocks", "probabilities"), *displays()}
    names = sorted(things.keys() - generated)
    listed = r"^\s+~?(\w+\.)*{0}\s*$|[`.~]{0}\b"  # in a list of names, in code marks, or behind a dot
    assert [name for name in names if not re.search(listed.format(name), pages(), re.MULTILINE)] == []


def test_every_public_object_has_one_public_spelling():
    """Each function and class has one public spelling; there are at most 250 next to the registered things."""
    public = [name for name in modules() if not re.search(r"\._|\.cli", name)]
    assert set(public_modules()) <= set(public)
    spellings = {}
    for module in public:
        if hasattr(importlib.import_module(module), "__all__"):
            for name, thing in public_things(module).items():
                spellings.setdefault(id(thing), []).append(f"{module}.{name}")
    assert [names for names in spellings.values() if len(names) > 1] == []
    metrics = {f"abstain.{name}" for name in abstain.metrics.names()}
    everything = {name for names in spellings.values() for name in names}
    assert len(everything - metrics - {f"abstain.plots.{name}" for name in displays()}) <= 250
    assert len(abstain.__all__) <= 95


def test_the_documentation_never_uses_the_name_as_a_variable():
    """Whoever copies two examples must not lose the package to the first."""
    named = r"(abstain\s*(:[^:=]*)?=[^=]|for abstain in |.*\bas abstain:?$)"
    assigned = re.compile(rf"\s*(>>> |\.\.\. )?{named}")
    for file in [*(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.py"), ROOT / "README.md"]:
        lines = [line for line in file.read_text(encoding="utf-8").splitlines() if "abstain" in line]
        assert not any(map(assigned.match, lines)), file
