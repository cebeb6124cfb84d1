"""Tests of live certificates."""
