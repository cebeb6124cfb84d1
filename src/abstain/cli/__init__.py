"""The ``abstain`` command."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from abstain._extras import lacking

__all__ = ["main", "run"]

#: New objects before Python looks for cycles among them: by its own 700 the modules of a command are gone through again
#: and again, which takes a fifteenth of a small evaluation and finds nothing.
_PATIENCE = 50_000


def __getattr__(name: str) -> Any:
    """Load what needs click: the group of all commands, and messages in their words."""
    if name not in ("as_options", "command"):
        raise AttributeError(f"module 'abstain.cli' has no attribute {name!r}")
    from abstain.cli._group import command
    from abstain.cli._options import as_options

    command.list_commands(None)  # loads all of them
    return as_options if name == "as_options" else command


def main() -> None:
    """Run the command line; say what to install if the extra ``cli`` is missing.

    Examples
    --------
    >>> import abstain.cli
    >>> callable(abstain.cli.main)
    True
    """
    gc.set_threshold(_PATIENCE)
    try:
        code = _start()
    except KeyboardInterrupt:  # also while all is still being imported
        print("abstain: interrupted", file=sys.stderr)
        code = 130
    if "--plugin" not in sys.argv:  # of whose libraries some complain of what is left, as DuckDB does
        gc.freeze()  # the interpreter would go through all that was loaded three times more before it ends
    sys.exit(code)


def _start() -> int:
    missing = [name for name in ("click", "rich") if find_spec(name) is None]
    if missing:
        without = " (import abstain works without)"
        print(f"abstain: {lacking('the command line', *missing, extra='cli', instead=without)}", file=sys.stderr)
        return 2
    from abstain.cli._process import Ended, ending

    try:
        with ending():
            return run()
    except Ended as ended:
        return ended.code


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    0: done; 1: a guarantee is violated or no objective attained; 2: wrong usage or bad input; 3: an error of ours;
    130: interrupted.

    Examples
    --------
    >>> import abstain.cli
    >>> abstain.cli.run(["--version"])  # doctest: +SKIP
    0
    """
    from abstain.cli import _run

    return _run.run(arguments)
