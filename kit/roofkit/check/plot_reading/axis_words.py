"""What the label of an axis names: operations per second and their scale, or the batch.

Learners write in many languages and spellings. What is refused is what names another quantity, or
nothing; what can't be told counts.
"""

import re

from .plain_text import plain_text

PREFIXES = {"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "p": 1e15, "e": 1e18}
WORDS = {
    **{"kilo": 1e3, "mega": 1e6, "giga": 1e9, "tera": 1e12, "peta": 1e15, "exa": 1e18},
    **{"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "quadrillion": 1e15},
    # Languages in which a billion is a million millions.
    **{"billionen": 1e12, "billones": 1e12, "milliarden": 1e9, "milliard": 1e9, "mrd": 1e9},
    **{"万亿": 1e12, "兆": 1e12, "조": 1e12, "трлн": 1e12, "млрд": 1e9},
}
_PREFIX = "kilo|mega|giga|tera|peta|exa|[kmgtpe]"
# Floating point operations, in whole or in part, and what other languages call them.
_FLOP = rf"(?<![a-z])(?P<prefix>{_PREFIX})?[ -]?flop(?P<plural>s?)(?![a-z])"
_OPERATION = (
    r"(?<![a-z])op[ée]ra(?:t|c|ç|z)\w*|rechenoperation\w*|gleitkomma\w*|операц\w*|运算|運算|演算|연산|"
    r"multiply-adds?"
)
_OP = (
    rf"(?<![a-zA-Z])(?P<prefix>(?i:{_PREFIX}))?[ -]?"
    r"(?:(?i:ops?) ?(?:/|per ) ?(?:s|sec|second)(?![a-zA-Z])|OPS(?![a-zA-Z]))"
)
_SECOND = (
    r"s(?![a-z])|secs?(?![a-z])|seconds?(?![a-z])|sek\w*|segundo|secondo|seconde|секунд\w*|сек|"
    "\u0441(?!\\w)|秒|초|saniye"  # the first is a Cyrillic letter
)
_PER_SECOND = re.compile(
    rf"(?:/ ?|\b(?:per|each|every|in a|a|pro|je|par|por|al|na|в) )\(?(?:{_SECOND})"
    r"|(?<![a-z])s(?:ec|econds?)? ?\^ ?\(?-1|1/s(?![a-z])|毎秒|每秒|每一秒|초당"
)
_PER_OTHER = r"(?! ?(?:/|per |pro |par |por )\s?\(?(?:bytes?|b|octets?|octeto|token)(?![a-z]))"
_COUNT = re.compile(r"^\W*flops?\W*$|\b(?:number|total|count|amount|sum)\b|#", re.IGNORECASE)


def scale(label: str) -> tuple[float, bool]:
    """What to multiply the values by for FLOP/s, and whether the label names a rate at all."""
    factor, problem = vertical(label)
    return factor, not problem


def vertical(label: object) -> tuple[float, str]:
    """What to multiply the values by for FLOP/s, and "" or what is wrong with the label."""
    text = plain_text(label)
    lower = text.lower()
    per_second = _PER_SECOND.search(lower) is not None
    mentions = [
        match
        for match in re.finditer(_FLOP + _PER_OTHER, lower)
        # "peak 197 TFLOP/s" gives a value, not the unit of the axis.
        if not (match["prefix"] and re.search(r"\d $|\d$", lower[: match.start()]))
    ]
    rates = [m for m in mentions if per_second or _is_rate(text[m.start() : m.end()], lower)]
    found = [match["prefix"] for match in [*rates, *re.finditer(_OP, text)]]
    if per_second and re.search(rf"(?:{_OPERATION}){_PER_OTHER}", lower):
        found.append(None)
    if not found:
        is_other = re.search(rf"{_FLOP}|{_OPERATION}", lower)
        return 1.0, "figure-rate" if is_other else "figure-unit"
    prefix = next((prefix.lower() for prefix in found if prefix), "")
    return (PREFIXES | WORDS)[prefix] if prefix else power_of(text), ""


def _is_rate(unit: str, label: str) -> bool:
    """FLOPS, and TFLOPs or "attainable FLOPs", by which many mean a rate; not FLOP or "FLOPs"."""
    if unit.endswith("S"):
        return True
    has_prefix = not unit.strip().lower().startswith("flop")
    return unit.endswith("s") and (has_prefix or not _COUNT.search(label))


def power_of(label: str) -> float:
    """The power of ten in which a label says its unit, as 10^12, 1e12 or a word; else 1."""
    lower = label.lower()
    power = re.search(
        r"(?<![\d.])(?<!\d[×x·*])(?<!\d [×x·*] )(?:10 ?\^ ?|1e)\(?([+-]?\d{1,2})", lower
    )
    if power:
        return float(10.0 ** abs(int(power[1])))
    for word in sorted(WORDS, key=len, reverse=True):
        if re.search(rf"(?<![a-z]){word}s?(?![a-z])" if word.isascii() else word, lower):
            return WORDS[word]
    return 1.0


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
_OTHER = re.compile(
    r"time|second|latency|duration|runtime|intensit|byte|bandwidth|traffic|memory|throughput|"
    r"frequency|peak|matrix|matrices|weights?(?![a-z])|width|hidden|dimension|"
    r"(?<![a-z])[df](?![a-z])|zeit|temps|durée|tiempo|tempo|duración|时间|時間|시간|время|强度|強度|"
    r"интенсивн"
)
_NOTHING = re.compile(r"[\W\d_]*|(?:the )?[xyzti][ -]?(?:axis|label|values?)?|labels?|values?|axis")


def names_batch(label: object) -> bool:
    """False if the label of the horizontal axis names another quantity than the batch, or none."""
    text = plain_text(label).lower()
    if _OTHER_UNIT.search(text) or _PER_SECOND.search(text):
        return False
    return bool(_BATCH.search(text)) or not (_OTHER.search(text) or _NOTHING.fullmatch(text))
