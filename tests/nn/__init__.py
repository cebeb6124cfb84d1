"""Tests of ``abstain.nn``."""
