"""Tests of the PyTorch wing."""
