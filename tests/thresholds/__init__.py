"""Tests of operating points, certificates, policies and monitoring."""
