"""Change the code in small ways, one at a time, and see whether the tests notice.

``reach`` runs the suite once and records which tests reach which line; ``run --seed 7 --number 150`` draws changes and
tries them; ``show`` prints the share that was noticed, package by package, and every survivor. ``--package thresholds``
keeps to one package and its tests.

A change meets the tests that reach its line, the quickest first; ``--whole`` then gives a survivor to the whole suite.
Everything lies in .mutants/, where a run that was stopped goes on. Changes that alter nothing that can be seen stand in
.ci/equivalent.txt, each with its reason.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import importlib
import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / ".mutants"
SOURCE = Path("src/abstain")
#: What these write is text and pictures, which other tests judge.
LEFT_OUT = {"plots", "report", "_result"}
#: Most tests that one change meets before --whole, and the seconds that they may take together.
MOST, SECONDS = 400, 60.0
#: How many tests that noticed changes of the same module meet a change before all others.
FIRST = 20
ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult}
ARITHMETIC |= {ast.Pow: ast.Mult, ast.Mod: ast.FloorDiv, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd}
COMPARISON = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
COMPARISON |= {ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is}
#: Calls and arguments that speak to people or to the type checker, or are assertions (strict), and calls whose
#: arguments cannot be exchanged or may be exchanged without effect.
SPOKEN = {"warn", "plural", "listed", "join", "echo", "cast", "field", "option", "argument", "isinstance"}
SPOKEN_ARGUMENTS = {"stacklevel", "help", "dtype", "metavar", "title", "label", "description", "strict", "usual"}
FIXED = {"getattr", "hasattr", "setattr", "zip", "max", "min", "maximum", "minimum", "hypot", "logaddexp"}
OPTIONS = ("-x", "-q", "-p", "no:cacheprovider", "-n", "0", "-W", "ignore:Module already imported")
#: What every test would load again.
LIBRARIES = ("numpy", "scipy.stats", "scipy.optimize", "pandas", "polars", "pyarrow.parquet", "matplotlib.pyplot")
LIBRARIES += ("sklearn.linear_model", "sklearn.metrics", "sklearn.model_selection", "torch", "hypothesis", "duckdb")


def package_of(path: str) -> str:
    """Return the package of a module, '.' for the modules of the root."""
    parts = Path(path).relative_to(SOURCE).parts
    return parts[0] if len(parts) > 1 else "."


def name_of(call: ast.Call) -> str:
    """Return the name of the function that is called."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def deciding(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of bodies of functions that decide something: no messages, annotations, defaults or texts."""
    if isinstance(tree, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom | ast.Assert):
        return
    name = name_of(tree) if isinstance(tree, ast.Call) else ""
    if name in SPOKEN or name.endswith(("Error", "Warning")) or getattr(tree, "arg", None) in SPOKEN_ARGUMENTS:
        return
    yield tree
    if isinstance(tree, ast.FunctionDef | ast.ClassDef):
        inner: Any = [] if tree.name in ("__repr__", "__str__", "_repr_html_") else tree.body
    elif isinstance(tree, ast.AnnAssign):
        inner = [tree.value] if tree.value is not None else []
    else:
        inner = ast.iter_child_nodes(tree)
    for child in inner:
        yield from deciding(child)


def changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield each small change of one node: its kind and the new node."""
    new: Any = copy.deepcopy(node)
    match node:
        case ast.BinOp(op=op) if type(op) in ARITHMETIC:
            new.op = ARITHMETIC[type(op)]()
            yield "arithmetic", new
        case ast.Compare(ops=[op]) if type(op) in COMPARISON:
            new.ops = [COMPARISON[type(op)]()]
            yield "comparison", new
            if isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
                yield "comparison turned", ast.Compare(node.comparators[0], [op], [node.left])
        case ast.BoolOp(op=op):
            new.op = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield "boolean", new
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield "sign", copy.deepcopy(operand)
        case ast.Constant(value=bool() as value):
            yield "constant", ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            yield "constant", ast.Constant(value + 1)
            if value not in (0, 1):
                yield "constant", ast.Constant(value / 2 if isinstance(value, float) else value - 1)
        case ast.keyword(arg="axis", value=ast.Constant(value=int() as value)):
            new.value = ast.Constant(0 if value else 1)
            yield "axis", new
        case ast.Call(args=[first, second, *_]) if name_of(node) not in FIXED and not isinstance(second, ast.Starred):
            new.args = [copy.deepcopy(second), copy.deepcopy(first), *new.args[2:]]
            yield "arguments exchanged", new
        case ast.IfExp() if not isinstance(node.body, ast.JoinedStr) and not isinstance(node.orelse, ast.JoinedStr):
            new.body, new.orelse = new.orelse, new.body
            yield "branches exchanged", new
        case ast.If(test=test, body=body) if not any(isinstance(each, ast.Raise) for each in body):
            yield "condition", ast.UnaryOp(ast.Not(), copy.deepcopy(test))
        case ast.AugAssign() | ast.Expr(value=ast.Call()):
            yield "statement left out", ast.Pass()


def mutants(path: Path) -> Iterator[dict[str, Any]]:
    """Yield every change of a module: where it stands, what it replaces, and by what."""
    raw = path.read_bytes()
    lines = raw.splitlines(keepends=True)
    starts = [0, *accumulate(map(len, lines))]
    seen = set()
    for function in (node for node in ast.walk(ast.parse(raw)) if isinstance(node, ast.FunctionDef)):
        for node in (each for statement in function.body for each in deciding(statement)):
            for kind, new in changes(node):
                place: Any = node.test if isinstance(node, ast.If) else node
                begin = starts[place.lineno - 1] + place.col_offset
                end = starts[place.end_lineno - 1] + place.end_col_offset
                code, old = ast.unparse(new), raw[begin:end].decode()
                if isinstance(new, ast.expr) and not isinstance(new, ast.Constant | ast.Call):
                    code = f"({code})"
                if code != old and (begin, end, code) not in seen:
                    seen.add((begin, end, code))
                    at = {"file": str(path.relative_to(ROOT)), "line": place.lineno, "begin": begin, "end": end}
                    at["text"] = lines[place.lineno - 1].decode().strip()
                    yield at | {"kind": kind, "old": old, "new": code}


def reach(packages: list[str], jobs: int) -> None:
    """Run the suite, or that of some packages, under coverage: which tests reach which line, how long each takes."""
    from coverage import CoverageData

    data, times = HOME / "coverage", HOME / "times.xml"
    environment = os.environ | {"COVERAGE_FILE": str(data)}
    HOME.mkdir(exist_ok=True)
    command = ["-m", "pytest", "-q", f"-n{jobs}", "--cov=src/abstain", "--cov-context=test", "--cov-report="]
    command += [f"--junitxml={times}", *(f"tests/{package}" for package in packages)]
    subprocess.run([sys.executable, *command], cwd=ROOT, env=environment, check=False)
    seconds = {
        f"{file.replace('.', '/')}.py::{case.get('name')}": float(case.get("time", 0))
        for case in ET.parse(times).iter("testcase")
        if (file := case.get("classname"))
    }
    tests = sorted(seconds)
    place = {name: k for k, name in enumerate(tests)}
    read, lines = CoverageData(str(data)), {}
    read.read()
    for file in read.measured_files():
        reached = {line: {c.split("|")[0] for c in found} for line, found in read.contexts_by_lineno(file).items()}
        numbers = {line: sorted(place[name] for name in found & place.keys()) for line, found in reached.items()}
        lines[str(Path(file).relative_to(ROOT))] = numbers
    (HOME / "reach.json").write_text(json.dumps({"tests": tests, "seconds": seconds, "lines": lines}))


def chosen(reached: dict[str, Any], change: dict[str, Any]) -> list[str]:
    """Return the tests that meet a change: of its own package first, quick ones first, one of each function first."""
    package = package_of(change["file"])
    own = ("tests/recorded/", "tests/test_" if package == "." else f"tests/{package}/")
    names = [reached["tests"][k] for k in reached["lines"].get(change["file"], {}).get(str(change["line"]), [])]
    # Lines of compiled code and of other processes are reached by no test.
    names = names or [name for name in reached["tests"] if name.startswith(own)]
    names.sort(key=lambda name: (not name.startswith(own), reached["seconds"][name]))
    functions = [name.split("[")[0] for name in names]
    earlier = [functions[:k].count(function) for k, function in enumerate(functions)]
    tests = [names[k] for k in sorted(range(len(names)), key=lambda k: (earlier[k], k))[:MOST]]
    spent = accumulate(reached["seconds"][name] for name in tests)
    return [name for k, (name, total) in enumerate(zip(tests, spent, strict=True)) if k == 0 or total <= SECONDS]


def forked(room: Path, arguments: list[str], limit: float) -> tuple[int, str]:
    """Run pytest in a fork of this process, which has the libraries loaded: its exit code and output."""
    child, out = os.fork(), room / "pytest.out"
    if child == 0:
        os.setpgrp()
        signal.alarm(round(limit))
        os.chdir(room)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number in (1, 2):
            os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND), number)
        os.environ["PYTHONPATH"] = sys.path[0] = str(room / "src")
        with contextlib.suppress(BaseException):
            code = int(pytest.main([*arguments, *OPTIONS]))
            sys.stdout.flush()
            os._exit(code)
        os._exit(99)
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(ProcessLookupError):  # a child that ended may have left others
        os.killpg(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(status), out.read_text(errors="replace")


def tried(change: dict[str, Any], reached: dict[str, Any], room: Path, whole: bool) -> dict[str, Any]:
    """Make the change in a copy of the project, run its tests, and take it back; say whether a test failed."""
    path = room / change["file"]
    raw, stat = path.read_bytes(), path.stat()
    path.write_bytes(raw[: change["begin"]] + change["new"].encode() + raw[change["end"] :])
    tests = chosen(reached, change)
    # Those that noticed other changes of the module come first, alone: most changes end there.
    failed = [each["by"] for each in results() if each["file"] == change["file"]]
    before = Counter(each.removeprefix("FAILED ").split(" - ")[0] for each in failed)
    first = sorted(before.keys() & set(tests), key=lambda name: -before[name])[:FIRST]
    code, text = 0, ""
    for part in (first, [name for name in tests if name not in first]):
        if code == 0 and part:
            (room / "names.txt").write_text("\n".join(part) + "\n")
            limit = 60 + 8 * sum(reached["seconds"][name] for name in part)
            code, text = forked(room, [f"@{room}/names.txt"], limit)
    if code == 0 and whole:
        code, text = forked(room, ["tests"], 1800.0)
    failed = [line for line in text.splitlines() if line.startswith(("FAILED", "ERROR"))]
    outcome = {0: "lives", -signal.SIGALRM: "too slow"}.get(code, "noticed")
    path.write_bytes(raw)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    return change | {"outcome": outcome, "by": (failed or [text[-200:]])[0] if code else "", "tests": len(tests)}


def results() -> list[dict[str, Any]]:
    """Return what was tried so far."""
    log = HOME / "results.jsonl"
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def work(left: list[dict[str, Any]], reached: dict[str, Any], part: int, whole: bool) -> None:
    """Try changes one after the other in a copy of the project of its own."""
    room = HOME / f"copy{part}"
    shutil.rmtree(room, ignore_errors=True)
    ignored = shutil.ignore_patterns(".venv*", ".mutants", ".git", "__pycache__", ".mypy_cache", "_build")
    shutil.copytree(ROOT, room, ignore=ignored)
    (room / "names.txt").write_text("\n".join(reached["tests"]) + "\n")
    code, text = forked(room, ["--collect-only", f"@{room}/names.txt"], 600)  # a test that is no more fails, too
    if code == 0:
        quick = sorted(reached["tests"], key=lambda name: reached["seconds"][name])[::100]
        code, text = forked(room, quick, 600)
    if code != 0:
        raise RuntimeError(f"tests of the unchanged code fail:\n{text}")
    for change in left:
        result = tried(change, reached, room, whole)
        with (HOME / "results.jsonl").open("a") as file:
            file.write(json.dumps(result) + "\n")
        text = f"{result['outcome']:8} {change['file']}:{change['line']} {change['old']!r} -> {change['new']!r}"
        print(text[:200], flush=True)


def run(seed: int, number: int, packages: list[str], jobs: int, whole: bool) -> None:
    """Draw changes, the same ones for the same seed and code, and try those that were not tried yet."""
    reached = json.loads((HOME / "reach.json").read_text())
    every = []
    for path in sorted(path for path in (ROOT / SOURCE).rglob("*.py") if path.name != "__init__.py"):
        package = package_of(str(path.relative_to(ROOT)))
        if package not in LEFT_OUT and (not packages or package in packages):
            every += mutants(path)
    drawn = [each | {"seed": seed} for each in random.Random(seed).sample(every, min(number, len(every)))]
    known = [{key: each.get(key) for key in drawn[0]} for each in results()]
    left = [each for each in drawn if each not in known]
    print(f"{len(every)} possible changes, {len(drawn)} drawn, {len(left)} to try", flush=True)
    for name in LIBRARIES:
        importlib.import_module(name)
    fork = multiprocessing.get_context("fork")
    workers = [fork.Process(target=work, args=(left[k::jobs], reached, k, whole)) for k in range(jobs)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()


def show(seeds: list[int]) -> None:
    """Print the share of changes that were noticed, by package, and each survivor that is not known as equivalent."""
    text = (ROOT / ".ci/equivalent.txt").read_text()
    past = [each for each in results() if not seeds or each["seed"] in seeds]
    table: dict[str, Counter[str]] = defaultdict(Counter)
    for each in past:
        each["mark"] = " | ".join(each[key] for key in ("file", "text", "old", "new")).replace("\n", " ")
        same = each["outcome"] == "lives" and each["mark"] in text
        each["outcome"] = "equivalent" if same else each["outcome"]
        for package in (package_of(each["file"]), "all"):
            table[package][each["outcome"]] += 1
    for package, counts in sorted(table.items()):
        noticed = counts["noticed"] + counts["too slow"]
        of = sum(counts.values()) - counts["equivalent"]
        share = f"{noticed} of {of} noticed, {noticed / max(of, 1):.1%}"
        print(f"{package:12} {share}; equivalent: {counts['equivalent']}")
    for each in sorted((each for each in past if each["outcome"] == "lives"), key=lambda each: each["mark"]):
        print(f"{each['file']}:{each['line']}  {each['kind']}\n    {each['mark'].split(' | ', 1)[1]}")


def main() -> None:
    """Read the command and do it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("do", choices=["reach", "run", "show"])
    parser.add_argument("--seed", type=int, action="append", default=[])
    parser.add_argument("--number", type=int, default=150)
    parser.add_argument("--package", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--whole", action="store_true", help="give survivors to the whole suite")
    given = parser.parse_args()
    if given.do == "reach":
        reach(given.package, given.jobs)
    elif given.do == "run":
        run((given.seed or [0])[0], given.number, given.package, given.jobs, given.whole)
    else:
        show(given.seed)


if __name__ == "__main__":
    main()
