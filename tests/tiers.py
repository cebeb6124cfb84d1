"""Two tiers of simulations: few repetitions in every run see what is badly wrong, and ``slow`` runs all of them."""

import pytest


def repeated(few, many):
    """Give a test its number of ``repetitions``: few in every run, many where slow tests run; bounds follow both."""
    return pytest.mark.parametrize("repetitions", [few, pytest.param(many, marks=pytest.mark.slow)])
