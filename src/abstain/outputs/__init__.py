"""One model's saved outputs on one split: the value, and how it is read from and written to files.

A door of the house: the public spelling is ``abstain.Outputs``. What is behind it stands in ``__init__.pyi``.
"""

from abstain._lazy import door

__getattr__, __dir__ = door(__name__)
