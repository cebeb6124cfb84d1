"""Tests of the scikit-learn adapters."""
