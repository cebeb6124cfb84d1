"""One word for one thing: the table in docs/design.md against everything that has a public name."""

import importlib
import inspect
import re

import pytest

import abstain
from tests.imports import ROOT
from tests.refusal import refused

pytest.importorskip("click")

PACKAGES = ("metrics", "scores", "losses", "datasets", "inference", "joint", "thresholds", "nn", "sklearn", "outputs")
PACKAGES += ("blocks", "curve", "evaluation", "report", "plots", "summaries")


def tables():
    """Return the words that are not said with what is said instead, and the words that a package keeps."""
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    part = page.split("\n## Words\n")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines() if line[:3] == "| `"]
    instead = {word: row[0] for row in rows if len(row) == 3 for word in re.findall(r"`([^`]+)`", row[2])}
    kept = {row[0].strip("`"): set(re.findall(r"`([^`]+)`", row[1])) for row in rows if len(row) == 2}
    return instead, kept


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
        inside = [
            key for key, thing in vars(module).items() if (getattr(thing, "__module__", "") or "").startswith(package)
        ]
        for name in getattr(module, "__all__", [name for name in inside if not name.startswith("_")]):
            thing = getattr(module, name)
            if id(thing) not in seen:
                seen.add(id(thing))
                yield package, name, thing


def callables(name, thing):
    """Yield a function, or a class with its public methods."""
    yield name, thing
    if inspect.isclass(thing):
        for key, value in vars(thing).items():
            if not key.startswith("_") and (inspect.isfunction(value) or isinstance(value, classmethod | staticmethod)):
                yield f"{name}.{key}", getattr(thing, key)


def parameters():
    """Yield package, name and each parameter of everything public; fields of results are those of their class."""
    for package, name, thing in public():
        if not callable(thing):
            continue
        for label, each in callables(name, thing):
            try:
                signature = inspect.signature(each)
            except (TypeError, ValueError):
                continue
            for parameter in signature.parameters.values():
                yield package, label, parameter


def options():
    """Yield every option of every command as the parameter that it would be."""
    from abstain.cli import command as commands

    for name, command in commands.commands.items():
        for option in command.params:
            for spelling in (*option.opts, *option.secondary_opts):
                yield f"abstain {name}", spelling.lstrip("-").replace("-", "_")


def test_nobody_says_another_word():
    """No parameter, field or option has a word that the table replaces, but for the contracts of other libraries."""
    instead, kept = tables()
    assert len(instead) > 30
    said = [(package, label, parameter.name) for package, label, parameter in parameters()]
    said += [(command, command, word) for command, word in options()]
    found = [
        f"{label}({word}=): say {instead[word]}"
        for package, label, word in said
        if word in instead and word not in kept.get(package, set()) | kept.get(f"abstain.{label.split('.')[0]}", set())
    ]
    assert found == []


def test_the_words_of_the_table_are_said():
    """A word that nobody needs leaves the table, and a package keeps only words that it says."""
    _, kept = tables()
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    part = page.split("\n## Words\n")[1].split("\n## ")[0]
    first = {
        word
        for line in part.splitlines()
        if line.count("|") == 4
        for word in re.findall(r"`([a-z_]+)`", line.split("|")[1])
    }
    said = {parameter.name for _, _, parameter in parameters()}
    assert first - said == set()
    for package, words in kept.items():
        own = {
            parameter.name
            for where, label, parameter in parameters()
            if where == package or f"abstain.{label.split('.')[0]}" == package
        }
        assert words - own == set(), package


def test_a_seed_is_a_whole_number_and_an_rng_may_be_a_generator():
    """The two words are two things, by their types."""
    for package, label, parameter in parameters():
        if package == "abstain.nn":
            continue  # PyTorch draws from its own generators
        text = str(parameter.annotation)
        if parameter.name == "rng":
            assert "Generator" in text, label
        if parameter.name == "seed":
            assert "int" in text, label
            assert "Generator" not in text, label


@pytest.mark.parametrize("given", [5.0, 95, -0.1])
def test_shares_are_fractions(given):
    """Per cent is refused with the remedy, by whatever takes a share."""
    calls = (
        lambda: abstain.selective_risk([0, 1], [1, 0], coverage=given),
        lambda: abstain.fpr95_error([0, 1], [1, 0], recall=given),
        lambda: abstain.choose_threshold([0, 1], [1, 0], coverage=given),
        lambda: abstain.joint.f1([0, 1], id_score=[1, 0], ood_score=[0], prevalence=given),
    )
    for call in calls:
        refused(ValueError, "give a fraction, not per cent", call)
