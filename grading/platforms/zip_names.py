"""Decodes file names in zips that do not declare their encoding.

The UTF-8 flag and Info-ZIP's extra field declare it. Any other name that is valid UTF-8 is read as
UTF-8, since Canvas writes it without the flag. The rest are in the encoding of the machine that
wrote the zip, the same for all names in it.
"""

import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping

UTF8_FLAG = 0x800
UNICODE_PATH = 0x7075  # Info-ZIP's extra field: version, CRC-32 of the plain name, name in UTF-8
FALLBACK = "cp437"  # the zip format's default; it decodes any bytes
# Encodings that Windows uses in different countries; the first of several equal matches wins.
ENCODINGS = (
    *(FALLBACK, "cp850", "cp1252", "cp932", "gbk", "big5", "cp949"),
    *("cp1250", "cp852", "cp1251", "cp866", "cp1253", "cp1254", "cp1255", "cp1256"),
)


def certain(entry: zipfile.ZipInfo) -> str | bytes:
    """Return an entry's name, or its bytes if the encoding is unknown."""
    if entry.flag_bits & UTF8_FLAG:
        return entry.filename
    plain = entry.filename.encode(FALLBACK)
    try:
        return _unicode_path(entry.extra, plain) or plain.decode("utf-8")
    except UnicodeDecodeError:
        return plain


def _unicode_path(extra: bytes, plain: bytes) -> str:
    while len(extra) >= 4:
        kind, size = struct.unpack("<HH", extra[:4])
        field, extra = extra[4 : 4 + size], extra[4 + size :]
        if kind == UNICODE_PATH and field[:5] == struct.pack("<BL", 1, zlib.crc32(plain)):
            return field[5:].decode("utf-8")
    return ""


def encoding(
    names: Iterable[bytes],
    person: Callable[[str], tuple[str, str] | None],
    people: Mapping[str, str],
) -> str | None:
    """Return the encoding in which most names match the roster; None if none matches.

    person: returns (number, name) of the learner in a decoded file name. people: number → name.
    """

    def matches(candidate: str) -> int:
        count = 0
        for name in names:
            try:
                found = person(name.decode(candidate))
            except UnicodeDecodeError:
                return 0
            count += found is not None and same_person(found[1], people.get(found[0], ""))
        return count

    names = list(names)
    best = max(ENCODINGS, key=matches)
    return best if matches(best) else None


def same_person(one: str, other: str) -> bool:
    """Return whether two names have the same letters.

    Canvas drops spaces and reorders names.
    """
    return bool(one) and _letters(one) == _letters(other)


def _letters(name: str) -> list[str]:
    return sorted(filter(str.isalnum, unicodedata.normalize("NFKC", name).casefold()))
