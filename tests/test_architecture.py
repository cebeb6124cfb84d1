"""The architecture: which package may import which, how long a file may be, what is documented and shipped."""

import ast
import importlib
import inspect
import re
import sys
import tomllib
from types import ModuleType

import pytest

import abstain
from tests.imports import ROOT, all_imports, circle, modules, tree_of

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
    ("outputs", "losses"): "saved outputs without a loss column compute it",
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


def test_every_package_has_a_layer():
    """A new package gets its layer in the table above before anything is built in it."""
    assert {package(module) for module in modules()} <= set(LAYERS)


def test_packages_import_only_from_lower_layers():
    """No import from a higher layer or from the same one, but for those listed with a reason."""

    def allowed(each):
        pair = package(each.module), package(each.target)
        below = LAYERS[pair[1]] - LAYERS[pair[0]]
        return below < 0 or pair in SAME_LAYER or LAYERS[pair[0]] == LAYERS[pair[1]] == 0 or pair in UPWARD

    assert where([each for each in between_packages() if not allowed(each)]) == []


def test_upward_imports_stay_inside_their_methods():
    """An import from above at the top of a module would load the higher layers with the lower ones."""
    upward = [each for each in between_packages() if LAYERS[package(each.target)] > LAYERS[package(each.module)]]
    assert where([each for each in upward if each.at_top]) == []
    unused = (UPWARD.keys() | SAME_LAYER.keys()) - {
        (package(each.module), package(each.target)) for each in between_packages()
    }
    assert {pair for pair in unused if all((ROOT / "src/abstain" / name).exists() for name in pair)} == set()


def test_there_are_no_circles():
    """No modules or packages depend on each other in a circle, but for figures and pages drawn on request."""
    known, at_any_time = modules(), dict[str, set[str]]()
    for each in all_imports():
        drawn = package(each.target) in FIGURES and package(each.module) not in EXTENSIONS | FIGURES and not each.at_top
        if each.target in known and not drawn:
            at_any_time.setdefault(each.module, set()).add(each.target)
    assert circle(at_any_time) == []
    packages = {}
    for each in between_packages():
        if (package(each.module), package(each.target)) not in UPWARD:
            packages.setdefault(package(each.module), set()).add(package(each.target))
    assert circle(packages) == []


#: Strings in inference that are spelled like a metric and name none.
WORDS = {
    "inference/_bands.py": {"risk"},  # the axis of the curve
    "inference/_paired.py": {"risk"},  # a field of a fact, as in the two below
    "inference/_group_tests.py": {"risk"},
    "inference/_ranking.py": {"aurc", "augrc"},  # default of an argument
    "inference/_steps.py": {"risk"},
}


def test_no_name_of_a_metric_decides_in_inference():
    """Inference asks a metric, never its name, which stands there only as a default, or in a text for the reader."""
    names = {name.rpartition(".")[2] for name in abstain.metrics.names()}
    found = []
    for path in sorted((ROOT / "src/abstain/inference").glob("*.py")):
        where_ = f"inference/{path.name}"
        tree = tree_of(path)
        arguments = [node for node in ast.walk(tree) if isinstance(node, ast.arguments)]
        usual = {id(value) for node in arguments for value in (*node.defaults, *node.kw_defaults)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in usual:
                if node.value.partition("(")[0] in names - WORDS.get(where_, set()):
                    found.append(f"{where_}:{node.lineno} {node.value!r}")
            elif isinstance(node, ast.Compare | ast.Subscript | ast.Match):  # metric.name == ..., TABLE[metric.name]
                inner = ast.walk(node.subject if isinstance(node, ast.Match) else node)
                if any(isinstance(part, ast.Attribute) and ast.unparse(part) == "metric.name" for part in inner):
                    found.append(f"{where_}:{node.lineno} {ast.unparse(node)[:60]}")
    assert found == []


def test_optional_libraries_are_imported_where_they_are_used():
    """The top of a core module needs NumPy, array-api-compat and the standard library, nothing else."""

    def library(each):
        return each.target.split(".")[0]

    external = [
        each for each in all_imports() if each.at_top and library(each) not in sys.stdlib_module_names | {"abstain"}
    ]
    assert where([each for each in external if library(each) in LATE_LIBRARIES]) == []
    core = [each for each in external if package(each.module) not in EXTENSIONS or each.module == "abstain"]
    assert where([each for each in core if library(each) not in CORE_LIBRARIES]) == []


# ---------------------------------------------------------------------- length


@pytest.mark.parametrize("folder", ["src", "tests", "docs", "benchmarks", "experiments"])
def test_files_are_short(folder):
    """Nobody should have to scroll far: 400 lines at most."""
    written = [path for path in (ROOT / folder).rglob("*") if path.suffix in {".py", ".md", ".rst", ".j2", ".html"}]
    written = [path for path in written if not {"_build", "generated"} & set(path.parts)]
    assert {str(path.relative_to(ROOT)): n for path in written if (n := _lines(path)) > 400} == {}


def _lines(path):
    return len(path.read_text(encoding="utf-8").splitlines())


# ---------------------------------------------------------------------- documentation


def public_modules():
    """Return the modules whose public names are documented one by one; those not built yet are left out."""
    names = ["metrics", "scores", "losses", "datasets", "inference", "joint", "pool", "policy", "thresholds", "nn"]
    names += ["monitoring", "summaries", "sklearn", "testing", "study", "plots"]
    names += ["nn.ingredients", "nn.networks", "nn.data", "nn.train"]
    return ["abstain", *(f"abstain.{name}" for name in names if f"abstain.{name}" in modules())]


def public_things(module):
    """Return the public names of a module with what they stand for; every name must exist."""
    loaded = importlib.import_module(module)
    return {name: getattr(loaded, name) for name in loaded.__all__ if name != "__version__"}


@pytest.mark.parametrize("module", public_modules())
def test_every_public_name_has_an_example(module):
    """Functions and classes have a docstring with an Examples section that runs as a doctest."""
    missing = [
        name
        for name, thing in public_things(module).items()
        if not isinstance(thing, ModuleType)
        and callable(thing)
        and not re.search(r"^Examples\n-{8}\n.*>>> ", inspect.getdoc(thing) or "", re.MULTILINE | re.DOTALL)
    ]
    assert missing == []


@pytest.mark.parametrize("module", public_modules())
def test_every_public_name_is_in_the_documentation(module):
    """The sources of the documentation list each public name, or the registry makes a page for it."""
    docs = ROOT / "docs"
    generated = set(abstain.metrics.names("blocks", "probabilities"))
    generated |= {abstain.plots.get(name).display.__name__ for name in abstain.plots.names()}
    pages = [path for suffix in ("rst", "md") for path in docs.rglob(f"*.{suffix}") if "_build" not in path.parts]
    text = "\n".join(path.read_text(encoding="utf-8") for path in pages)
    names = public_things(module).keys() - generated
    assert sorted(name for name in names if not _is_mentioned(name, text)) == []


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
    displays = {f"abstain.plots.{abstain.plots.get(name).display.__name__}" for name in abstain.plots.names()}
    everything = {name for names in spellings.values() for name in names}
    assert len(everything - metrics - displays) <= 250
    assert len(abstain.__all__) <= 95


def _is_mentioned(name, text):
    """Return whether the name stands in a list of names, in code marks, or behind a dot."""
    return bool(re.search(rf"^\s+~?(\w+\.)*{name}\s*$|[`.~]{name}\b", text, re.MULTILINE))


# ---------------------------------------------------------------------- the version


def test_the_version_is_said_once():
    """The distribution reads it from the source, so that the two cannot disagree."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in project["project"]
    assert "version" in project["project"]["dynamic"]
    source = ROOT / project["tool"]["hatch"]["version"]["path"]
    assert f'__version__ = "{abstain.__version__}"' in source.read_text(encoding="utf-8")


# ---------------------------------------------------------------------- the name


#: The word that the package had before, and how often each file may say it.
FORMER = "rec" + "use"
SAYS_FORMER = {
    "CHANGELOG.md": 1,  # the change itself
    "src/abstain/inference/_columns.py": 1,  # three salts, whose bytes stay
    "src/abstain/outputs/_fingerprint.py": 1,
    "src/abstain/thresholds/_sample.py": 1,
    "src/abstain/scores/_file.py": 2,  # two refusals of old files
    "src/abstain/policy/_file.py": 2,
}


def test_the_former_name_stands_where_it_must_and_nowhere_else():
    """In the changelog, the three salts and the refusals of old files; file names included."""
    found = {}
    folders = ["src", "tests", "docs", "benchmarks", "experiments", "changelog.d", ".ci"]
    files = [file for folder in folders for file in (ROOT / folder).rglob("*") if file.is_file()]
    for file in [*files, *(file for file in ROOT.iterdir() if file.is_file())]:
        name = file.relative_to(ROOT).as_posix()
        if "__pycache__" in name or re.match(r"docs/(_build|\w+/generated)", name):
            continue
        assert FORMER not in name.lower()
        if times := file.read_bytes().lower().count(FORMER.encode()):
            found[name] = times
    assert found == {name: times for name, times in SAYS_FORMER.items() if (ROOT / name).exists()}


def test_the_documentation_never_uses_the_name_as_a_variable():
    """Whoever copies two examples must not lose the package to the first."""
    named = r"(abstain\s*(:[^:=]*)?=[^=]|for abstain in |.*\bas abstain:?$)"
    assigned = re.compile(rf"^\s*(>>> |\.\.\. )?{named}", re.MULTILINE)
    for file in [*(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.py"), ROOT / "README.md"]:
        assert not assigned.search(file.read_text(encoding="utf-8")), file


# ---------------------------------------------------------------------- what is shipped


def test_experiments_come_with_the_sources_and_not_with_the_package():
    """The sdist has the folder, the wheel holds the package alone, and the package never asks for an experiment."""
    built = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    assert "experiments" in built["sdist"]["include"]
    assert built["wheel"]["packages"] == ["src/abstain"]
    assert where([each for each in all_imports() if each.target.split(".")[0] in {"experiments", "tests"}]) == []
