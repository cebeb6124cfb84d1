"""Tests of recuse.joint."""
