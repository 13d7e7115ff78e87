"""Romanization of other writing systems, to the extent needed for units."""

import re
import unicodedata

_LETTER = re.compile(r"(?:CAPITAL |SMALL )?LETTER (\w+)")
# Cyrillic letters whose Unicode names don't begin with their Latin letter, such as EF for Ф.
_EXCEPTIONS = {
    **{"EF": "f", "EL": "l", "EM": "m", "EN": "n", "ER": "r", "ES": "s", "IE": "e", "IO": "e"},
    **{"BYELORUSSIAN": "i", "SHORT": "i", "SOFT": "'", "HARD": "'"},
}
# Words in writing systems without upper and lower case, which are translated whole.
_WORDS = {
    **{
        "キロ": "kilo",
        "メガ": "mega",
        "ギガ": "giga",
        "テラ": "tera",
        "ペタ": "peta",
        "エクサ": "exa",
    },
    **{
        "킬로": "kilo",
        "메가": "mega",
        "기가": "giga",
        "테라": "tera",
        "페타": "peta",
        "엑사": "exa",
    },
    **{"ميغا": "mega", "غيغا": "giga", "جيجا": "giga", "تيرا": "tera", "بيتا": "peta"},
    **{"מגה": "mega", "גיגה": "giga", "טרה": "tera", "פטה": "peta"},
    **{"मेगा": "mega", "गीगा": "giga", "टेरा": "tera", "पेटा": "peta"},
    **{"เมกะ": "mega", "จิกะ": "giga", "เทระ": "tera", "เพตะ": "peta"},
    **{"フロップス": "flops", "フロップ": "flop", "플롭스": "flops", "플롭": "flop"},
    **{"فلوبس": "flops", "فلوب": "flop", "פלופס": "flops", "פלופ": "flop"},
    **{"फ्लॉप्स": "flops", "फ्लॉप": "flop", "ฟลอปส์": "flops", "ฟลอป": "flop"},
}
_WORD = re.compile("|".join(map(re.escape, sorted(_WORDS, reverse=True))))
_EAST_ASIAN = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL")


def romanized(text: str) -> str:
    """Return the text in Latin letters; keep letters of caseless writing systems.

    Known words are replaced in all writing systems. A letter becomes the first letter of its
    Unicode name, with a few exceptions.
    """
    return "".join(map(_latin, _WORD.sub(lambda word: _WORDS[word.group()], text)))


def _latin(character: str) -> str:
    if not has_case(character):
        return character
    name = unicodedata.name(character)
    letter = _LETTER.search(name)
    if letter is None or name.startswith("LATIN"):
        return character
    latin = _EXCEPTIONS.get(letter[1], letter[1][0].lower())
    return latin.upper() if character.isupper() else latin


def has_case(character: str) -> bool:
    return character.lower() != character.upper()


def is_east_asian(character: str) -> bool:
    return unicodedata.name(character, "").startswith(_EAST_ASIAN)
