"""Rows that an engine holds."""
