"""The ``recuse`` command."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; say what to install if the extra ``cli`` is missing.

    Examples
    --------
    >>> import recuse.cli
    >>> callable(recuse.cli.main)
    True
    """
    try:
        import click  # noqa: F401
    except ModuleNotFoundError:
        sys.exit('recuse: the command line needs an extra: pip install "recuse[cli]"')
    from recuse.cli._commands import run

    sys.exit(run())
