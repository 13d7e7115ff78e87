"""Parsing of axis labels: operations per second with their scale, and the batch.

Learners write in many languages, scripts and spellings. A label is refused only if it is known to
name another quantity, or no unit. Labels that aren't understood are accepted, so that no learner
loses points for a language that is missing here. The values must still fit the label's scale.
"""

import re

from .number_words import ANY, PREFIX_WORDS, PREFIXES, may_be_number, scales
from .plain_text import plain_text
from .plain_words import names_no_unit
from .scripts import romanized

_PREFIX = "kilo|mega|giga|tera|peta|exa|eksa|[kmgtpe]"
# FLOP, including romanized spellings (plop, flvp), with inflections of other languages.
_FLOP = (
    rf"(?<![a-z])(?P<prefix>{_PREFIX})?[ -]?(?:flop|plop|flvp)(?P<plural>s?)"
    r"(?:(?<!s)(?!p[iy])[^\W\d_]{1,3})?(?![^\W\d_])"
)
_OPERATION = (
    r"(?<![a-z])op[ée]ra(?:t|c|ç|z|s|i)\w*|rechenoperation\w*|gleitkomma\w*|операц\w*|运算|運算|演算|연산|"
    r"multiply-adds?|(?<![a-z])(?:computations|calculations|multiplications|macs?|fmas?)(?![a-z])|"
    r"次"
)
_OP = (
    rf"(?<![a-zA-Z])(?P<prefix>(?i:{_PREFIX}))?[ -]?"
    r"(?:(?i:ops?) ?(?:/|per ) ?(?:s|sec|second)(?![a-zA-Z])|OPS(?![a-zA-Z]))"
)
_SECOND = (
    r"s(?![a-z])|secs?(?![a-z])|seconds?(?![a-z])|sek\w*|segundo|secondo|seconde|секунд\w*|сек|"
    "\u0441(?!\\w)|秒|초|saniye"  # \u0441 is the Cyrillic letter for s
)
_PER = r"per|each|every|in a|a|pro|je|par|por|al|na|za|v|za|kwa|в|за|на"
_PER_SECOND = re.compile(
    rf"(?:/ ?|\b(?:{_PER}) )\(?(?:{_SECOND})"
    r"|(?<![a-z])s(?:ec|econds?)? ?\^ ?\(?-1|1/s(?![a-z])|毎秒|每秒|每一秒|초당"
)
_PER_FRACTION = re.compile(
    r"(?:/ ?|\bper )\(?(?:(?P<symbol>m|μ|u|mk|n)s(?![a-z])|(?P<word>milli|micro|nano)sec)"
)
_FRACTIONS = {"m": 1e3, "μ": 1e6, "u": 1e6, "mk": 1e6, "n": 1e9}
_FRACTIONS |= {"milli": 1e3, "micro": 1e6, "nano": 1e9}
_PER_OTHER = r"(?! ?(?:/|per |pro |par |por )\s?\(?(?:bytes?|b|bait|octets?|octeto|token)(?![a-z]))"
_COUNT = re.compile(r"^\W*flops?\W*$|\b(?:number|total|count|amount|sum)\b|#", re.IGNORECASE)


def scale(label: str) -> tuple[float, bool]:
    """Return the factor from values to FLOP/s, and whether the label names a rate."""
    factor, problem = vertical(label)
    return factor, not problem


def rate_scales(label: object) -> tuple[tuple[float, ...], str]:
    """Return the possible factors from values to FLOP/s, and a problem or "".

    There are several if the label is ambiguous, the likeliest first.
    """
    found, problem = _rate(plain_text(label))
    if not problem or names_no_unit(plain_text(label)):
        return found, problem
    # No rate is recognized, maybe because of the language. If the label names operations, as in
    # "FLOP/giây", or a prefix, its scale is known; otherwise it may have any scale.
    return (ANY if problem == "figure-unit" and found == (1.0,) else found), ""


def vertical(label: object) -> tuple[float, str]:
    """Return the likeliest factor to FLOP/s, and a problem unless a rate is named."""
    factors, problem = _rate(plain_text(label))
    return (1.0 if problem else factors[0]), problem


def _rate(plain: str) -> tuple[tuple[float, ...], str]:
    text = romanized(plain)
    lower, original = _lower(text), _lower(plain)
    fraction = _PER_FRACTION.search(original) or _PER_FRACTION.search(lower)
    per_second = bool(fraction or _PER_SECOND.search(lower) or _PER_SECOND.search(original))
    mentions = [
        match
        for match in re.finditer(_FLOP + _PER_OTHER, lower)
        # "peak 197 TFLOP/s" is a value, not the unit of the axis.
        if not (match["prefix"] and re.search(r"\d $|\d$", lower[: match.start()]))
    ]
    rates = [
        match
        for match in mentions
        if per_second or _is_rate(text[match.start() : match.end()], lower, original)
    ]
    rates += re.finditer(_OP, text)
    operation = re.search(rf"(?:{_OPERATION}){_PER_OTHER}", original)
    prefix = next((found["prefix"].lower() for found in rates or mentions if found["prefix"]), "")
    faster = _FRACTIONS[fraction["symbol"] or fraction["word"]] if fraction else 1.0
    factors = ((PREFIXES | PREFIX_WORDS)[prefix],) if prefix else scales(plain)
    if rates and factors == (1.0,) and may_be_number(text[: rates[0].start()]):
        factors = ANY
    factors = tuple(factor * faster for factor in factors)
    if rates or (operation and per_second):
        return factors, ""
    is_other = re.search(rf"{_FLOP}|{_OPERATION}", lower)
    return factors, "figure-rate" if is_other else "figure-unit"


def _lower(text: str) -> str:
    """Return the text in lowercase, but keep "İ", whose lowercase has two characters."""
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _is_rate(unit: str, label: str, original: str) -> bool:
    """Return whether a unit is a rate: FLOPS, TFLOPs, or FLOPs that is not a count.

    In other writing systems the s always stands for "per second": they have no English plural.
    """
    if unit.endswith("S"):
        return True
    has_prefix = not unit.strip().lower().startswith("flop")
    is_count = _COUNT.search(label) and unit.strip().lower() in original
    return unit.endswith("s") and (has_prefix or not is_count)


_BATCH = re.compile(
    r"batch|(?<![a-z])b(?![a-z])|(?<![a-z])bs(?![a-z])|token|rows?(?![a-z])|example|sample|sequence|"
    r"request|prompt|quer(?:y|ies)|zeile|stapel|beispiel|ligne|fila|righe|lote|lotto|lots?(?![a-z])|"
    r"échantillon|muestra|campion|partij|批|バッチ|배치|батч|пакет|токен|строк|令牌|词元|詞元|トークン|"
    r"토큰|行|样本|樣本"
)
_OTHER_UNIT = re.compile(
    r"[(\[] ?(?:[mµμn]?s|sec|seconds|bytes?|[kmgt]i?b|[kmgt]?hz|gb/s|tb/s) ?[)\]]|flop|"
    r"(?:/|per) ?bytes?"
)
# Words for a time, except in "at the same time" or "at a time".
_TIME = (
    "".join(
        rf"(?<!{before} )"
        for before in ("at a", "same", "one", "gleichen", "même", "mismo", "mesmo", "stesso")
    )
    + r"(?:(?<![a-z])times?|(?:lauf|rechen|ausführungs|(?<![a-z]))zeit|temps|tiempo|tempo)(?![a-z])"
)
_OTHER = re.compile(
    rf"{_TIME}|second|latency|duration|runtime|intensit|byte|bandwidth|traffic|memory|throughput|"
    r"frequency|peak|matrix|matrices|weights?(?![a-z])|width|hidden|dimension|"
    r"(?<![^\W\d_])(?<!')[df](?![^\W\d_]|')|durée|duración|时间|時間|시간|время|强度|強度|интенсивн"
)
_NOTHING = re.compile(r"[\W\d_]*|(?:the )?[xyzti][ -]?(?:axis|label|values?)?|labels?|values?|axis")


def names_batch(label: object) -> bool:
    """Return whether a label may name the batch: not if empty or another quantity."""
    text = plain_text(label).lower()
    if _OTHER_UNIT.search(text) or _PER_SECOND.search(text):
        return False
    return bool(_BATCH.search(text)) or not (_OTHER.search(text) or _NOTHING.fullmatch(text))
