"""Tests of the metrics against slow definitions, identities, published numbers and other libraries."""
