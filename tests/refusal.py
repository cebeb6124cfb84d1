"""A refusal in one line."""

import pytest


def refused(error, message, call, /, *values, **options):
    """Ask that a call raises this error, and that its message has these words."""
    with pytest.raises(error, match=message):
        call(*values, **options)
