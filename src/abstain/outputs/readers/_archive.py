"""Members of a zip archive packed with Zstandard, which the standard library reads from Python 3.14 on."""

from __future__ import annotations

import struct
import zipfile
import zlib
from importlib.util import find_spec
from typing import Any

from abstain._extras import install

#: Number of Zstandard among the methods of a zip archive.
ZSTANDARD = 93
#: A member may unpack to this many times its packed size, beyond the size that is harmless.
MOST_RATIO, HARMLESS = 1000, 1 << 26


def member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, instead: str) -> bytes:
    """Return the bytes of a member; ``instead``: what to do where the library for it is missing."""
    if info.file_size > max(HARMLESS, MOST_RATIO * info.compress_size):
        raise ValueError(f"holds {info.filename!r} of {info.file_size} bytes packed in {info.compress_size}; check it")
    if info.compress_type != ZSTANDARD:
        return archive.read(info)
    found = _unpacked(_packed(archive, info), info.file_size, instead)
    if len(found) != info.file_size or zlib.crc32(found) != info.CRC:
        raise zipfile.BadZipFile(f"member {info.filename!r} is damaged")
    return found


def _packed(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """Return the bytes of a member as they lie in the file: behind a header of 30 bytes, its name and more."""
    file: Any = archive.fp
    file.seek(info.header_offset)
    header = file.read(30)
    if len(header) < 30 or header[:4] != b"PK\x03\x04":
        raise zipfile.BadZipFile(f"member {info.filename!r} is damaged")
    file.seek(sum(struct.unpack("<HH", header[26:30])), 1)
    return bytes(file.read(info.compress_size))


def _unpacked(packed: bytes, size: int, instead: str) -> bytes:
    if find_spec("zstandard") is None:
        raise ImportError(f"is packed with Zstandard, which needs zstandard: {install('cli')}, or {instead}")
    import zstandard

    try:
        return bytes(zstandard.ZstdDecompressor().decompress(packed, max_output_size=size))
    except zstandard.ZstdError as error:
        raise zipfile.BadZipFile(str(error)) from error
