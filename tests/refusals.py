"""What is refused, with the sentence that says why and what to do."""

from collections.abc import Callable
from typing import Any

import pytest

#: An error, or any of several.
Error = type[Exception] | tuple[type[Exception], ...]


def refused(error: Error, sentence: str, call: Callable[..., Any], /, *values: Any, **options: Any) -> None:
    """Ask that a call raises this error, with a message in which the sentence (a pattern) is found."""
    with pytest.raises(error, match=sentence):
        call(*values, **options)
