"""Certificates that may be issued again on any day.

The names are listed in ``__init__.pyi``, and each is loaded when it is first used.
"""

from abstain._lazy import on_demand

__getattr__, __dir__ = on_demand(__name__)

# LiveCertificate is public at the top of the package.
__all__ = ["load_live", "update_live"]
