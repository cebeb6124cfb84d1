"""One model's saved outputs on one split: the value, and how it is read from and written to files."""

from abstain.outputs._outputs import Outputs
from abstain.outputs._read import read_outputs
from abstain.outputs._states import States
from abstain.outputs._understood import Origin
from abstain.outputs._understood import sentence as sentence
from abstain.outputs._write import write_outputs

__all__ = ["Origin", "Outputs", "States", "read_outputs", "write_outputs"]
