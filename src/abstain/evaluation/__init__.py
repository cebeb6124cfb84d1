"""Outputs evaluated, models compared, candidates selected, scores tuned: each a :class:`abstain.Result`.

The public spelling is ``abstain.evaluate``; the names are declared in ``__init__.pyi``.
"""

from abstain._lazy import on_demand

__getattr__, __dir__ = on_demand(__name__)
