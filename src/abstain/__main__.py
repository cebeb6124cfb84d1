"""``python -m abstain``: the same as the ``abstain`` command."""

from abstain.cli import main

if __name__ == "__main__":
    main()
