"""One model's saved outputs on one split: the value, and how it is read from and written to files."""

from recuse.outputs._outputs import Outputs
from recuse.outputs._read import read_outputs
from recuse.outputs._write import write_outputs

__all__ = ["Outputs", "read_outputs", "write_outputs"]
