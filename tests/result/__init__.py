"""Tests of tables and of what every result can do."""
