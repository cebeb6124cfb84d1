"""Run the command: exit codes, one line per error, pipes that close early, and progress where work takes long."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from shutil import get_terminal_size
from typing import TextIO

import click

from abstain._extras import install
from abstain._pace import heard_by
from abstain._result import clean, wrapped
from abstain.cli import _input, _output
from abstain.cli._group import command
from abstain.cli._options import as_options as as_options
from abstain.cli._process import unbroken

#: What a user can cause.
_USER_ERRORS = (ValueError, TypeError, OSError, ImportError)

#: Exit code of a bug: never that of a violated guarantee.
BUG = 3


#: What this run has said.
_noted: set[str] = set()


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code, with one line on stderr unless it is 0.

    0: done; 1: a guarantee is violated or no objective attained; 2: wrong usage or bad input; 3: an error of ours;
    130, 143, 129: interrupted, terminated, hung up. A reader that has enough changes none of them.
    """
    with unbroken():
        return _heard(arguments)


def _heard(arguments: Sequence[str] | None) -> int:
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # an old terminal without arrows gets question marks; a file or a pipe is UTF-8 on every system
            own = stream.isatty() or bool(os.environ.get("PYTHONIOENCODING"))
            stream.reconfigure(encoding=None if own else "utf-8", errors="replace")
    _noted.clear()
    _input.understood.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        if not sys.warnoptions:  # of the libraries below, some of which are both
            warnings.simplefilter("ignore", DeprecationWarning)
        warnings.showwarning = _note
        try:
            with heard_by(Progress()):
                return _run(arguments)
        except KeyboardInterrupt:
            return _interrupted()
        except Exception as error:
            return _failed(error)
        except BaseException as error:
            if type(error).__module__.startswith("abstain") or isinstance(error, GeneratorExit):
                raise
            return _failed(error)  # such as a panic of a library in Rust


def _interrupted() -> int:
    click.echo("abstain: interrupted", err=True)
    return 130


def _failed(error: BaseException) -> int:
    """Say in one line that it is not the user's doing; the traceback on request."""
    if os.environ.get("ABSTAIN_TRACEBACK"):
        import traceback

        traceback.print_exception(error)
    if type(error).__module__.startswith("polars") or type(error).__name__ == "PanicException":
        reason = (str(error).strip().splitlines() or [""])[0][:300]
        _say(f"abstain: a table cannot be read or written: {_line(reason)}")
        return 2
    what = "out of memory" if isinstance(error, MemoryError) else f"{type(error).__name__}: {error}"[:300]
    _say(f"abstain: internal error ({_line(what)}); ABSTAIN_TRACEBACK=1 shows where, please report it")
    _close_stdout()
    return BUG


def _run(arguments: Sequence[str] | None) -> int:
    try:
        given = sys.argv[1:] if arguments is None else list(arguments)
        _output.typed[:] = given
        # given here, because on Windows Click expands the patterns of arguments that it finds itself
        code = command.main(args=given, prog_name="abstain", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
        for line in dict.fromkeys(_input.understood):
            _say(as_options(_line(line)))
    except (BrokenPipeError, SystemExit):  # the reader, e.g. head, has enough: click and rich leave by SystemExit
        _close_stdout()
        return 0
    except click.exceptions.Abort:
        return _interrupted()
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return 2
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else "abstain"
        message = _line(error.format_message())
        stop = "" if message.endswith((".", "?")) else "."
        _say(f"abstain: {message}{stop} See '{where} --help'.")
        return 2
    except click.ClickException as error:
        _say(f"abstain: {_line(error.format_message())}")
        return 2
    except _USER_ERRORS as error:
        _say(f"abstain: {as_options(_line(_words(error)))}")
        _close_stdout()
        return 2
    return code if isinstance(code, int) else 0  # what a command gave to context.exit


def _note(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Show a warning to users as one line; those to developers as Python does."""
    if issubclass(category, UserWarning) and not issubclass(category, DeprecationWarning):
        note = as_options(_line(str(message)))
        if note not in _noted:  # what was said of a file need not be said of its table
            _say(f"note: {note}")
        _noted.add(note)
    else:
        click.echo(warnings.formatwarning(message, category, filename, lineno, line), err=True, nl=False)


def _say(line: str) -> None:
    """Say something on standard error: one line, which a terminal gets broken between words."""
    if _watched():
        line = "\n".join(wrapped(line, get_terminal_size().columns - 1, "  "))
    click.echo(line, err=True)


def _watched() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def _words(error: Exception) -> str:
    """An error of the operating system without its number."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _line(message: str) -> str:
    return clean(" ".join(message.split()))


def _close_stdout() -> None:
    """Send what is still to be written to nowhere: the interpreter would complain about it at its end."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError):
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except (OSError, ValueError, AttributeError):
            return


#: Seconds from which on work is announced, and those after which its length can be told.
WORTH, TOLD = 3.0, 0.5
#: What can be done about long work, by what it is.
SHORTER = {"gains and noise": "--permutations 0 leaves these out"}

#: Work of other libraries, which no extra of ours makes quicker.
ELSEWHERE = {"counting rows"}


class Progress:
    """Hears how far work has come."""

    def __init__(self) -> None:
        self._said: set[str] = set()
        self._shown = 0.0

    def __call__(self, what: str, share: float, seconds: float) -> None:
        """Announce work that takes long, once; on a terminal show how far it is."""
        if share <= 0.0:  # a first part without rows says nothing
            return
        left = seconds * (1.0 - share) / share
        if what not in self._said and seconds >= TOLD and left >= WORTH:
            self._said.add(what)
            click.echo(f"{what}: will take about {_time(left)}{self._remedy(what)}", err=True)
        watched = what in self._said and sys.stderr is not None and sys.stderr.isatty()
        if watched and (share >= 1.0 or abs(seconds - self._shown) > 0.5):
            self._shown = seconds
            click.echo(f"\r{what}: {share:4.0%}" if share < 1.0 else f"\r{'':{len(what) + 6}}\r", err=True, nl=False)

    def _remedy(self, what: str) -> str:
        words = [SHORTER[what]] if what in SHORTER else []
        if what not in ELSEWHERE and find_spec("numba") is None and "fast" not in self._said:
            self._said.add("fast")
            words.append(f"the extra fast makes it quicker: {install('fast')}")
        return f" ({'; '.join(words)})" if words else ""


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100.0 else f"{seconds / 60.0:.0f} minutes"
