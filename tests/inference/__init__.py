"""Tests of recuse.inference."""
