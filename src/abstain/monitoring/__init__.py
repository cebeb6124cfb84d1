"""Is the guarantee of a deployed policy still satisfied? Tests of newly labelled rows, changes and drift.

The names are listed in ``__init__.pyi``, and each is loaded when it is first used.
"""

from abstain._lazy import on_demand

__getattr__, __dir__ = on_demand(__name__)

# Public here; monitor is public at the top of the package.
__all__ = ["DependentRowsWarning", "Monitor", "SortedRowsWarning", "load_monitor", "update_monitor"]
