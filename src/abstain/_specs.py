"""Names with options as text, such as ``"aurc(estimator=log)"``: what the command line and configurations write."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Any


def read_spec(text: str, kind: str, example: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the options of one text; words need no quotes. ``kind`` and ``example`` are for messages."""
    if not isinstance(text, str):
        raise TypeError(f"spec must be text, the name of a {kind}, got {type(text).__name__}")
    if text.isidentifier():
        return text, {}
    bad = ValueError(f'{kind} {text!r} cannot be read; write a name, or a name with options: "{example}"')
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise bad from None
    name = ast.unparse(tree.func if isinstance(tree, ast.Call) else tree)
    if not all(part.isidentifier() for part in name.split(".")) or (isinstance(tree, ast.Call) and tree.args):
        raise bad
    if not isinstance(tree, ast.Call):
        return name, {}
    try:
        return name, {each.arg: _value(each.value) for each in tree.keywords if each.arg is not None}
    except ValueError:
        raise ValueError(f"{kind} {text!r} has an option that is no number or word") from None


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Tuple | ast.List):
        return tuple(_value(entry) for entry in node.elts)
    return ast.literal_eval(node)


def known_options(name: str, options: Iterable[str], known: Mapping[str, Any]) -> None:
    """Refuse an option that the named thing does not have, and list those that it has with their defaults."""
    for option in options:
        if option not in known:
            listed = ", ".join(f"{key}={value!r}" for key, value in known.items()) or "none"
            raise TypeError(f"{name} has no option {option!r}; its options: {listed}")


def split_specs(text: str) -> list[str]:
    """Return the parts of a comma-separated list; commas inside brackets belong to options."""
    if not isinstance(text, str):
        raise TypeError(f"text must be text, names with commas between them, got {type(text).__name__}")
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]
