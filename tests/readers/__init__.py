"""Readers of ood formats."""
