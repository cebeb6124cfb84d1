"""The small changes of .ci/mutants.py are what they say, and leave messages alone."""

import importlib
import json

import pytest

from tests.imports import ROOT

SOURCE = '''"""A module."""

def f(a, b, *, axis=0, scale=2.0):
    if a < b:
        raise ValueError(f"a={a + 1} is below b={b}")
    if not b:
        b += 1
    return a.sum(axis=0) * scale if a and b else g(a, b)
'''
TESTS = """from abstain.small import f
import pytest
def test_product(): assert f(3, 2) == 5
def test_message():
    with pytest.raises(ValueError): f(1, 2)
"""


@pytest.fixture
def mutants(tmp_path, monkeypatch):
    """Return the module, at work in a project of one function."""
    monkeypatch.syspath_prepend(ROOT / ".ci")
    module = importlib.import_module("mutants")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "HOME", tmp_path / ".mutants")
    for name in ("src/abstain", "tests", ".ci", ".mutants"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "src/abstain/__init__.py").write_text("")
    (tmp_path / ".ci/equivalent.txt").write_text("")
    return module


def test_each_kind_of_change_is_found_and_messages_stay(mutants, tmp_path):
    """Operators, constants, conditions, axes, arguments and statements change; what a person reads does not."""
    (tmp_path / "src/abstain/some.py").write_text(SOURCE)
    found = list(mutants.mutants(tmp_path / "src/abstain/some.py"))
    kinds = "comparison|comparison turned|condition|sign|statement left out|constant|arithmetic|axis|boolean|"
    assert {each["kind"] for each in found} == set(f"{kinds}arguments exchanged|branches exchanged".split("|"))
    assert (len(found), {each["line"] for each in found}) == (12, {4, 6, 7, 8})


@pytest.mark.slow
def test_a_change_that_a_test_notices_and_one_that_none_does(mutants, tmp_path, capsys):
    """The copy is changed, never the project; a run that is asked for again tries nothing twice."""
    path = tmp_path / "src/abstain/small.py"
    path.write_text("def f(a, b):\n    unused = a < 9\n    if a < b:\n        raise ValueError\n    return a + b\n")
    (tmp_path / "tests/test_small.py").write_text(TESTS)
    names = ["tests/test_small.py::test_message", "tests/test_small.py::test_product"]
    lines = {"src/abstain/small.py": {str(line): [0, 1] for line in range(2, 6)}}
    reached = {"tests": names, "seconds": dict.fromkeys(names, 0.01), "lines": lines}
    (tmp_path / ".mutants/reach.json").write_text(json.dumps(reached))
    before = path.read_text()
    for _ in range(2):
        mutants.run(seed=1, number=100, packages=["."], jobs=1, whole=False)
    assert path.read_text() == before
    tried = [json.loads(line) for line in (tmp_path / ".mutants/results.jsonl").read_text().splitlines()]
    lives = {(each["old"], each["new"]) for each in tried if each["outcome"] == "lives"}
    assert {("a < 9", "(a <= 9)"), ("9", "10"), ("a < b", "(a <= b)")} <= lives
    assert not {("a + b", "(a - b)"), ("a < b", "(b < a)")} & lives
    assert len(tried) == 7
    (tmp_path / ".ci/equivalent.txt").write_text("src/abstain/small.py | unused = a < 9 | 9 | 10 | nothing reads it\n")
    capsys.readouterr()
    mutants.show([1])
    printed = capsys.readouterr().out
    assert ".            2 of 6 noticed, 33.3%; equivalent: 1" in printed
    assert "src/abstain/small.py:2  constant" in printed
    assert "9 | 8" in printed
    assert "9 | 10" not in printed
