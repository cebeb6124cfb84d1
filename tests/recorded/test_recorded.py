"""Values are as they were recorded."""

import json

import pytest

from tests import recorded


@pytest.mark.parametrize(
    ("module", "case"), [(each, name) for each in recorded.MODULES for name in recorded.cases(each)]
)
@pytest.mark.filterwarnings("ignore")
def test_values_are_as_recorded(module, case):
    """A value that changed is a fault, or the change is intended: then ``python -m tests.recorded`` and say why."""
    now = json.loads(json.dumps(recorded.given(module, case)))
    differ = recorded.apart(recorded.recorded(module)[case], now, recorded.tolerance(module))
    assert not differ, "\n".join(differ[:20])
