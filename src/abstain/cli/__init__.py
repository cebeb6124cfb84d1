"""The ``abstain`` command."""

from __future__ import annotations

import sys
from importlib.util import find_spec

__all__ = ["main"]


def main() -> None:
    """Run the command line; say what to install if the extra ``cli`` is missing.

    Examples
    --------
    >>> import abstain.cli
    >>> callable(abstain.cli.main)
    True
    """
    missing = [name for name in ("click", "rich") if find_spec(name) is None]
    if missing:
        print(
            f'abstain: the command line needs {" and ".join(missing)}: pip install "abstain[cli]" '
            "(import abstain works without)",
            file=sys.stderr,
        )
        sys.exit(2)
    from abstain.cli._run import run

    sys.exit(run())
