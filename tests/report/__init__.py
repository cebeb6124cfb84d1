"""Tests of the tables, the page and the pictures."""
