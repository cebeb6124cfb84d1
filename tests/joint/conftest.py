"""The paths of the inner loops."""

import pytest

from tests.paths import PATHS, taken


@pytest.fixture(params=PATHS)
def path(request):
    """Run a test on each path."""
    with taken(request.param):
        yield str(request.param)
