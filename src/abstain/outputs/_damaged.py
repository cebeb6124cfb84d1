"""Whatever a damaged file leads a library to is one error of ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

#: What our own checks and the operating system raise, with words of their own.
_OURS = (ValueError, TypeError, ImportError, OSError)


@contextmanager
def damaged(name: str) -> Iterator[None]:
    """Turn what libraries raise on the bytes of a file into a ValueError: memory, nesting, encryption, panics in Rust.

    Sources in memory (no name) keep their exceptions: there is no file to be damaged.
    """
    try:
        yield
    except _OURS:
        raise
    except MemoryError:
        raise ValueError("does not fit into memory, or its sizes are damaged; check it, or write it again") from None
    except RecursionError:
        raise ValueError("is nested too deeply to be a table of outputs; write it again") from None
    except BaseException as error:
        if not name or not (isinstance(error, Exception) or type(error).__name__ == "PanicException"):
            raise
        reason = (str(error).strip().splitlines() or [""])[0][:200] or type(error).__name__
        raise ValueError(f"cannot be read ({reason}); write it again") from error
