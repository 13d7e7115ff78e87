"""Words of labels that don't name a rate: other quantities, or no unit.

These lists are only used to refuse labels, so a missing word counts in the learner's favor.
"""

import re

from .scripts import has_case, romanized

# Other quantities and their units, and countable things other than operations.
_OTHER = re.compile(
    r"(?<![a-z])(?:bytes?|octets?|bits?|bait\w*|watts?|hz|tokens?|images?|examples?|samples?|"
    r"requests?|quer(?:y|ies)|batch(?:es)?|steps?|layers?|frames?|words|rows?|latency|duration|"
    r"runtime|times?|percent|intensit\w*|intensiv\w*|intensität)(?![a-z])|%|字节|字節|バイト|바이트|"
    r"强度|強度|时间|時間|시간|令牌|トークン|(?<![a-z])(?:zeit|temps|tempo|tiempo|vremy)(?![a-z])|"
    r"(?<![a-z])[kmgtp]?i?b ?(?:/|ps)|(?:/|per ) ?b(?![a-z])|(?<![a-z])m/s(?![a-z])|"
    r"(?:^|[(\[,] ?)(?:[mµμn]?s|sec|seconds?|秒|초)\W*$"
)
# A label that consists only of these words has no unit.
_ENGLISH = """
a about absolute accelerator achievable achieved actual affordable amount and arithmetic at
attainable attained available average axis best bound by calculated chart chip compute computed
computing count curve data done each effective effectiveness efficiency estimated expected figure
fast flop flops for from gpu hardware height high higher how in ideal is it its kernel label layer
level limit linear log logarithmic lower many matmul matrix max maximal maximum mean measured mlp
model multiplication multiply my number of on one operation operations our output over parallel
peak per performance point possible potential power practical predicted processing quantity rate
reachable reached real result roof roofline scale score sec second seconds size speed sum system t
the theoretical throughput to top total tpu unit units upper usable useful utilisation utilization
value values velocity versus vs weight weights with work x y z
"""
_OTHER_LANGUAGES = """
anzahl arbeit der die das durchsatz erreichbar erreichbare erreichter geschwindigkeit leistung
maximale mögliche rechenleistung wert werte atteignable calcul de débit des du la le les maximale
nombre performance performances puissance valeur vitesse alcanzable cantidad cómputo del desempeño
el máxima número potencia rendimiento tasa velocidad alcançável desempenho taxa velocidade vazão
prestazioni potenza velocità raggiungibile вычислительная достижимая количество максимальная
мощность производительность пропускная скорость способность число
"""
_PLAIN = frozenset(f"{_ENGLISH} {_OTHER_LANGUAGES}".split())
_PLAIN_EAST_ASIAN = re.compile(
    r"(?:性能|速度|吞吐量|吞吐|算力|处理|處理|处理量|可达|可達|达到|最大|理论|理論|峰值|计算|計算|能力|"
    r"スループット|達成|可能|処理|値|値|数值|數值|次数|数量|数|的|の|성능|처리량|속도|최대|달성|가능한|"
    r"계산|값|浮点|浮動小数点|运算|運算|演算|연산|부동소수점)+"
)


def names_no_unit(plain: str) -> bool:
    """Return whether a label surely has no unit, or that of another quantity."""
    lower = plain.lower()
    if _OTHER.search(lower) or _OTHER.search(romanized(lower)):
        return True
    words = re.findall(r"[^\W\d_]+", lower)
    unknown = [word for word in words if not _is_plain(word)]
    if not unknown:
        return True
    # A label of one unknown word names no rate, unless it has "/" or "^". Writing systems without
    # upper and lower case may not separate words, so there one word may be a whole unit.
    alone = len(words) == 1 and not re.search(r"[/^]", lower)
    return alone and len(unknown[0]) > 1 and has_case(unknown[0][0])


def _is_plain(word: str) -> bool:
    if len(word) == 1 and word.isascii():
        return True
    return word in _PLAIN or bool(_PLAIN_EAST_ASIAN.fullmatch(word))
