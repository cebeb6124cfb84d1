"""Conformance vectors: small problems with exact answers, and what another implementation makes of them."""

from abstain.conformance._check import check as check
from abstain.conformance._check import check_command as check_command  # for the command line
from abstain.conformance._result import Conformance as Conformance
from abstain.conformance._result import Outcome as Outcome
from abstain.conformance._vectors import vectors

__all__ = ["check", "vectors"]
