"""The paths of the inner loops."""

from collections.abc import Iterator

import pytest

from tests.paths import PATHS, taken


@pytest.fixture(params=PATHS)
def path(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run a test on each path."""
    with taken(request.param):
        yield str(request.param)
