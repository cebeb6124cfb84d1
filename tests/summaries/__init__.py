"""Tests of bounded summaries."""
