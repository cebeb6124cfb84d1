"""What a service loads: policies and their decisions, with NumPy alone.

The names are listed in ``__init__.pyi``, and each is loaded when it is first used.
"""

from abstain._lazy import on_demand

__getattr__, __dir__ = on_demand(__name__)

# Public here; what else the stub names is public at the top of the package, or serves the packages above.
__all__ = ["Policy", "compute", "schema", "score_reading"]
