"""Tests of the repeated experiments."""
