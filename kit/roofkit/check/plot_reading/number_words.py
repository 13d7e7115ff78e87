"""Scales in labels: prefixes, powers of ten, and words for numbers."""

import math
import re

from .scripts import has_case, is_east_asian, romanized

PREFIXES = {"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "p": 1e15, "e": 1e18}
PREFIX_WORDS = {
    **{"kilo": 1e3, "mega": 1e6, "giga": 1e9, "tera": 1e12, "peta": 1e15, "exa": 1e18},
    "eksa": 1e18,
}
# Scales that a label may mean if it isn't understood.
ANY = (1.0, 1e3, 1e6, 1e9, 1e12, 1e15, 1e18)

_POWER = re.compile(r"(?<![\d.])(?<!\d[×x·*])(?<!\d [×x·*] )(?:10 ?\^ ?|1e)\(?([+-]?\d{1,2})")
# Words with their scales, the likeliest first: a billion is 1e9 in some languages, 1e12 in others.
_NUMBERS = [
    (re.compile(rf"(?<![^\W\d_])(?:{words})"), scales)
    for words, scales in (
        (r"quadrillions?(?![^\W\d_])", (1e15,)),
        (r"trillions?(?! d)(?![^\W\d_])|trln|nghìn tỷ", (1e12,)),
        (r"billions?(?! d)(?![^\W\d_])", (1e9,)),
        (r"bil[lj]?[ij']*ard", (1e15,)),
        (r"m[iy]l+[ij'y]*[ay]?rd|milyar|miliar|mrd|mld|mlrd|disekat|tỷ", (1e9,)),
        (r"[qk][uv]ad?r[iy]l+[ijyh']*[oõóuvw]", (1e15, 1e24)),
        (r"tr[iy]l+[ijyh']*[oõóuvw]|trisekat", (1e12, 1e18)),
        (r"b[iy]l+[ijyh']*[oõóuvw]", (1e12, 1e9)),
        (r"m[iy]l+[ijyh']*[oõóuvw]|mio(?![^\W\d_])|mln|triệu|ekatomm", (1e6,)),
        (r"thousand|tausend|tysi[ąa]c|tusen|tusind|tys|tis[ií]c|duizend", (1e3,)),
    )
]
_CHINESE = {"十": 10, "百": 100, "千": 1e3, "万": 1e4, "萬": 1e4, "亿": 1e8, "億": 1e8, "兆": 1e12}
_CHINESE |= {"십": 10, "백": 100, "천": 1e3, "만": 1e4, "억": 1e8, "조": 1e12}
_CHINESE_NUMBER = re.compile(r"(?<![가-힣])[십백천]?[만억조]+|[十百千]*[万萬亿億兆]+")
_MEGA = 1e-6  # 兆 is 1e6 in mainland China, and 1e12 elsewhere


def scales(label: str) -> tuple[float, ...]:
    """Return the scales that a label without a prefix may name, the likeliest first."""
    lower = label.lower()
    if power := _POWER.search(lower):
        return (float(10.0 ** abs(int(power[1]))),)
    if number := _CHINESE_NUMBER.search(lower):
        value = math.prod(_CHINESE[character] for character in number.group())
        return (value, value * _MEGA) if "兆" in number.group() else (value,)
    latin = romanized(lower)
    return next((scales for words, scales in _NUMBERS if words.search(latin)), (1.0,))


def may_be_number(word: str) -> bool:
    """Return whether a word may be a number that `scales` doesn't know.

    True for writing systems without case, except East Asian ones.
    """
    last = word.rstrip()[-1:]
    return last.isalpha() and not has_case(last) and not is_east_asian(last)
