"""Few labels: which rows of a pool to label, and what they say of the whole pool.

The names are listed in ``__init__.pyi``, and each is loaded when it is first used.
"""

import warnings
from typing import Any

from abstain._lazy import on_demand

_load, __dir__ = on_demand(__name__)

# Public here. What else the stub names is public at the top of the package, or for the packages above.
__all__ = ["certify_region", "interim_level", "load_plan"]

#: Names of 0.2, which work for one more release.
_RENAMED = {"ZoneCertificate": "RegionCertificate", "certify_zone": "certify_region", "look_level": "interim_level"}


def __getattr__(name: str) -> Any:
    """Load a name; those of 0.2 warn."""
    if name not in _RENAMED:
        return _load(name)
    new = _RENAMED[name]
    warnings.warn(f"abstain.pool.{name} is now abstain.pool.{new}", FutureWarning, stacklevel=2)
    return _load(new)
