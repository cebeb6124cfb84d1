"""One model's saved outputs on one split: the value, and how it is read from and written to files.

The public spelling is ``abstain.Outputs``. ``__init__.pyi`` lists the names of this package.
"""

from abstain._lazy import on_demand

__getattr__, __dir__ = on_demand(__name__)
