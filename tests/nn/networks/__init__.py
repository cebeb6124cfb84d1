"""Tests of abstain.nn.networks."""
