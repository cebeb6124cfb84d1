"""Readers of foreign formats."""
