"""Tests of the conformance vectors and of what judges other implementations by them."""
