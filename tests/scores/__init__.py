"""Tests of confidence scores."""
