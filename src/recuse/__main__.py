"""``python -m recuse``: the same as the ``recuse`` command."""

from recuse.cli import main

if __name__ == "__main__":
    main()
