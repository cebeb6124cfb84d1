"""Tests of recipes and of their training."""
