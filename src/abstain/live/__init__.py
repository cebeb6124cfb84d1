"""Certificates that may be issued again on any day."""

from abstain.live._certificate import LiveCertificate
from abstain.live._file import load_live, update_live
from abstain.live._result import LiveCertification, LiveGroup

__all__ = ["LiveCertificate", "LiveCertification", "LiveGroup", "load_live", "update_live"]
