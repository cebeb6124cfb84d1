"""Outputs evaluated, models compared, candidates selected, scores tuned: each a :class:`abstain.Result`.

A door of the house: the public spelling is ``abstain.evaluate``. What is behind it stands in ``__init__.pyi``.
"""

from abstain._lazy import door

__getattr__, __dir__ = door(__name__)
