"""Every statement of fact of the four papers, each with what a command here printed about it.

``python -m experiments.claims`` runs the quick checks, ``--slow`` all that need no data, ``--data FOLDER`` also those on saved outputs of other
networks, ``--write`` keeps what was printed in ``claims.json`` and writes ``docs/claims.md``.
"""
