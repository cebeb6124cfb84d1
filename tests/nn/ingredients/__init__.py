"""Tests of the ingredients of training."""
