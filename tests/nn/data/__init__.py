"""Tests of abstain.nn.data."""
