"""The description that an index shows: the README, with links that lead somewhere from there.

In the repository the links of the README are relative; on an index they would lead nowhere. Here each gets the address
in front, and while there is none becomes plain words. ``pyproject.toml`` names this file as the source of the readme.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

#: Where the files of the repository can be read, with a slash at its end; nothing is published yet.
ADDRESS = ""


def description(text: str, address: str) -> str:
    """Return the README for an index: relative links under an address, or without one their words."""
    if address:
        return re.sub(r"\]\((?!\w+:)", f"]({address}", text)
    text = re.sub(r"!\[([^]]*)\]\((?!\w+:)[^)]*\)\n*", "", text)
    return re.sub(r"\[([^]]*)\]\((?!\w+:)[^)]*\)", r"\1", text)


def get_metadata_hook() -> type:
    """Return the hook that hatchling asks for; it alone needs hatchling."""
    from hatchling.metadata.plugin.interface import MetadataHookInterface

    class Description(MetadataHookInterface):
        def update(self, metadata: dict[str, Any]) -> None:
            text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
            metadata["readme"] = {"content-type": "text/markdown", "text": description(text, ADDRESS)}

    return Description
