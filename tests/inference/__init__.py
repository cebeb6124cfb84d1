"""Tests of abstain.inference."""
