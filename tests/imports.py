"""Find what each module of the package imports, by reading its source and never by running it."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"


@cache
def tree_of(path):
    """Return a source file, parsed once for all tests of a process."""
    return ast.parse(path.read_text(encoding="utf-8"))


def where(pattern, folder):
    """Yield the source files of a folder with a match of a pattern: only these need be parsed."""
    for path in sorted(folder.rglob("*.py")):
        if re.search(pattern, path.read_text(encoding="utf-8")):
            yield path


class Import(NamedTuple):
    """One import: the module that asks, the module asked for, the line, and whether it runs at import time."""

    module: str
    target: str
    line: int
    at_top: bool


def modules(source=SOURCE):
    """Return the dotted name of every module below ``source`` and its file."""
    found = {}
    for path in sorted(source.glob("abstain/**/*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports_of(module, code, known, *, is_package=False):
    """Return the imports in ``code``, those inside functions included, those for type checkers left out."""
    package = module if is_package else module.rpartition(".")[0]

    def targets(node):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
            return
        base = node.module or ""
        if node.level:
            parent = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join([*parent, base]).rstrip(".")
        for alias in node.names:
            name = f"{base}.{alias.name}"
            yield name if name in known else base

    def walk(node, at_top):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):  # which holds no statement
                continue
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                for other in child.orelse:
                    yield from walk(ast.Module([other], []), at_top)
            elif isinstance(child, (ast.Import, ast.ImportFrom)):
                yield from (Import(module, target, child.lineno, at_top) for target in targets(child))
            else:
                inside = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
                yield from walk(child, at_top and not inside)

    tree = ast.parse(code) if isinstance(code, str) else code
    return [found for found in walk(tree, True) if found.target != "__future__"]


@cache
def all_imports():
    """Return every import of the package."""
    files = modules()
    return [
        found
        for name, path in files.items()
        for found in imports_of(name, tree_of(path), set(files), is_package=path.stem == "__init__")
    ]
