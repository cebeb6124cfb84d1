"""One word for one thing: the table in docs/design.md against everything that has a public name."""

import importlib
import inspect
import re
from collections import defaultdict
from contextlib import suppress
from functools import cache
from types import FunctionType

import abstain
from abstain.cli import command as commands
from tests.imports import ROOT
from tests.refusal import refused

PER_CENT = "give a fraction, not per cent"
METHODS = (FunctionType, classmethod, staticmethod)

PACKAGES = ("metrics", "scores", "losses", "datasets", "inference", "joint", "thresholds", "nn", "sklearn", "outputs")
PACKAGES += ("blocks", "curve", "evaluation", "report", "plots", "summaries")


def tables():
    """Return the words that are said, those that are not with what is said instead, and those that a package keeps."""
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    part = page.split("\n## Words\n")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines() if line[:3] == "| `"]
    words = [[re.findall(r"`([^`]+)`", cell) for cell in row] for row in rows]
    said = {word for row in words if len(row) == 3 for word in row[0] if re.fullmatch(r"[a-z_]+", word)}
    instead = {word: row[0] for row in words if len(row) == 3 for word in row[2]}
    return said, instead, {row[0][0]: set(row[1]) for row in words if len(row) == 2}


def public():
    """Yield every public name once, with its package."""
    seen = set()
    for package in ("abstain", *(f"abstain.{name}" for name in PACKAGES)):
        try:
            module = importlib.import_module(package)
        except ModuleNotFoundError as error:  # a package that needs another library
            if str(error.name).startswith("abstain"):
                raise
            continue
        own = [key for key, thing in vars(module).items() if str(getattr(thing, "__module__", "")).startswith(package)]
        for name in getattr(module, "__all__", [name for name in own if not name.startswith("_")]):
            thing = getattr(module, name)
            if id(thing) not in seen:
                seen.add(id(thing))
                yield package, name, thing


@cache
def parameters():
    """Return package, name and each parameter of everything public; fields of results are those of their class."""
    found = []
    for package, name, thing in public():
        calls = {name: thing} if callable(thing) else {}
        if inspect.isclass(thing):
            own = inspect.getmembers_static(thing, lambda each: isinstance(each, METHODS))
            calls |= {f"{name}.{key}": getattr(thing, key) for key, _ in own if key in vars(thing) and key[0] != "_"}
        for label, call in calls.items():
            with suppress(TypeError, ValueError):
                found += [(package, label, each) for each in inspect.signature(call).parameters.values()]
    return found


def test_nobody_says_another_word():
    """No parameter, field or option has a word that the table replaces, but for the contracts of other libraries."""
    _, instead, kept = tables()
    assert len(instead) > 30
    said = [(package, label, parameter.name) for package, label, parameter in parameters()]
    for name, command in commands.commands.items():
        spellings = [each for option in command.params for each in (*option.opts, *option.secondary_opts)]
        said += [(f"abstain {name}", f"abstain {name}", each.lstrip("-").replace("-", "_")) for each in spellings]
    found = [
        f"{label}({word}=): say {instead[word]}"
        for package, label, word in said
        if word in instead and word not in kept.get(package, set()) | kept.get(f"abstain.{label.split('.')[0]}", set())
    ]
    assert found == []


def test_the_words_of_the_table_are_said():
    """A word that nobody needs leaves the table, and a package keeps only words that it says."""
    said, _, kept = tables()
    own = defaultdict(set)
    for package, label, parameter in parameters():
        for key in ("", package, f"abstain.{label.split('.')[0]}"):
            own[key].add(parameter.name)
    assert said - own[""] == set()
    assert {package: words - own[package] for package, words in kept.items() if words - own[package]} == {}


def test_a_seed_is_a_whole_number_and_an_rng_may_be_a_generator():
    """The two words are two things, by their types; PyTorch draws from generators of its own."""
    for package, label, parameter in parameters():
        if parameter.name in ("rng", "seed") and package != "abstain.nn":
            text = str(parameter.annotation)
            assert ("Generator" in text) is (parameter.name == "rng"), label
            assert "int" in text or parameter.name == "rng", label


def test_shares_are_fractions():
    """Per cent is refused with the remedy, by whatever takes a share."""
    rows = [0, 1], [1, 0]
    for given in (5.0, 95, -0.1):
        refused(ValueError, PER_CENT, abstain.selective_risk, *rows, coverage=given)
        refused(ValueError, PER_CENT, abstain.fpr95_error, *rows, recall=given)
        refused(ValueError, PER_CENT, abstain.choose_threshold, *rows, coverage=given)
        refused(ValueError, PER_CENT, abstain.joint.f1, [0, 1], id_score=[1, 0], ood_score=[0], prevalence=given)
