"""Tests of ``evaluate`` and its result."""
