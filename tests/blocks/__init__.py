"""Tests of the tie-block table."""
