"""Tests of abstain.joint."""
