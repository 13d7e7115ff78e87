"""Axis labels in many languages and writing systems: correct ones must be accepted.

Labels are generated from a rate, a prefix and a script, so that the tests don't depend on a list of
languages. The values must still be right in the scale that the label names.
"""

# ruff: noqa: RUF001 (these tests need letters that look like Latin ones)

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofkit.check.plot_reading import reading
from roofkit.check.plot_reading.axis_words import names_batch, rate_scales, vertical
from roofkit.check.plot_reading.number_words import scales
from roofkit.check.plot_reading.scripts import romanized

PEAK = 1.97e14
PREFIXES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
WORDS = {"kilo": 1e3, "mega": 1e6, "giga": 1e9, "tera": 1e12, "peta": 1e15}
# For each writing system: the prefixes k M G T P, the word for FLOP, spellings of "second".
SCRIPTS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "latin": ("kMGTP", "FLOP", ("s", "sec", "second")),
    "cyrillic": ("кМГТП", "ФЛОП", ("с", "сек", "секунду")),
    "latin before cyrillic": ("kMGTP", "FLOP", ("с", "сек")),
    "cyrillic before latin": ("кМГТП", "FLOP", ("s",)),
    "greek before latin": ("κΜΓΤΠ", "FLOP", ("s",)),
    "full width": ("ｋＭＧＴＰ", "ＦＬＯＰ", ("ｓ",)),
    "georgian": ("კმგტპ", "ფლოპ", ("წმ",)),
    "armenian": ("կՄԳՏՊ", "ՖԼՈՊ", ("վ",)),
}
RATES = (
    *("{unit}/{second}", "{unit} / {second}", "{unit}/({second})", "{unit} ⁄ {second}"),
    *("({unit}/{second})", "[{unit}/{second}]", "throughput, {unit}/{second}"),
    *(
        "пропускная способность ({unit}/{second})",
        "性能（{unit}/{second}）",
        "أداء ({unit}/{second})",
    ),
    *(r"$\mathrm{{{unit}}}/\mathrm{{{second}}}$", "{unit}∕{second}", "{unit}/{second}."),
)
EXPONENTS = ("{unit} s⁻¹", "{unit}·s⁻¹", "{unit}⋅с⁻¹", "{unit} s^{{-1}}", r"${unit}\,s^{{-1}}$")
JOINED = ("{unit}S", "{unit}S (dense)", "attainable {unit}S")


def units() -> list[tuple[str, float]]:
    """Return labels with every prefix in every writing system, and their scales."""
    found = []
    for letters, flop, seconds in SCRIPTS.values():
        for (_, scale), letter in zip(PREFIXES.items(), ["", *letters], strict=True):
            unit = f"{letter}{flop}"
            both = itertools.product(RATES, seconds)
            found += [(rate.format(unit=unit, second=second), scale) for rate, second in both]
            if flop in ("FLOP", "ФЛОП"):
                found += [(rate.format(unit=unit), scale) for rate in EXPONENTS]
            if flop == "FLOP":
                found += [(rate.format(unit=unit), scale) for rate in JOINED]
    for letter, scale in zip(["", *"кМГТП"], PREFIXES.values(), strict=True):
        found.append((f"{letter}ФЛОПС", scale))
    spelled = {
        "{}flop/s": ("kilo", "mega", "giga", "tera", "peta"),
        "{}-FLOP/s": ("Kilo", "Mega", "Giga", "Tera", "Peta"),
        "{}флопс": ("кило", "мега", "гига", "тера", "пета"),
        "{}флоп/с": ("Кило", "Мега", "Гига", "Тера", "Пета"),
        "{}フロップス": ("キロ", "メガ", "ギガ", "テラ", "ペタ"),
        "{}플롭스": ("킬로", "메가", "기가", "테라", "페타"),
        "{}FLOP/s": ("κιλο", "μεγα", "γιγα", "τερα", "πετα"),
    }
    for rate, words in spelled.items():
        found += [(rate.format(w), scale) for w, scale in zip(words, WORDS.values(), strict=True)]
    return found


UNITS = units()
NUMBERS = [
    *(("миллиард FLOP/s", 1e9), ("млрд ФЛОП/с", 1e9), ("трлн операций/с", 1e12)),
    *(("триллионов флоп/с", 1e12), ("мільярд ФЛОП/с", 1e9), ("thousand FLOP/s", 1e3)),
    *(("milliards de FLOP/s", 1e9), ("billions de FLOP/s", 1e12), ("Mrd. FLOP/s", 1e9)),
    *(("billió FLOP/s", 1e12), ("biliony FLOP/s", 1e12), ("biljoen FLOP/s", 1e12)),
    *(("bilhões de FLOP/s", 1e9), ("trilhões de FLOP/s", 1e12), ("trilyon FLOP/s", 1e12)),
    *(("milyar işlem/saniye", 1e9), ("nghìn tỷ FLOP/s", 1e12), ("miljoner FLOP/s", 1e6)),
    *(("十亿次浮点运算/秒", 1e9), ("万亿次/秒", 1e12), ("百万 FLOP/s", 1e6), ("千万亿次/秒", 1e15)),
    *(("億FLOPS", 1e8), ("兆FLOP/s", 1e12), ("兆次运算/秒", 1e6), ("조 FLOP/s", 1e12)),
    *(("十億 FLOP/s", 1e9), ("تريليون FLOP/s", 1e12), ("ล้านล้าน FLOP/s", 1e12)),
    # These words mean different numbers in different languages: the chip's peak decides.
    *(("kvadriljoner FLOP/s", 1e24), ("quadrilhões de FLOP/s", 1e15)),
    *(("Billiarden FLOP/s", 1e15), ("biljard FLOP/s", 1e15)),
    *(("trillón FLOP/s", 1e18), ("bilyon FLOP/s", 1e9), ("兆 FLOP/s", 1e6)),
    *(("FLOP/ms", 1e3), ("FLOP/µs", 1e6), ("FLOP/μs", 1e6), ("GFLOP/ns", 1e18), ("ФЛОП/мкс", 1e6)),
]
# "Operations per second" in many languages, without a scale.
IN_WORDS = [
    *("operations per second", "floating-point operations/s", "computations each second"),
    *("FLOP par seconde", "Operationen pro Sekunde", "Gleitkommaoperationen je Sekunde"),
    *("Berechnungen pro Sekunde", "bewerkingen per seconde", "operationer per sekund"),
    *("flyttalsoperationer/s", "laskutoimitusta sekunnissa", "aðgerðir á sekúndu"),
    *("operacji na sekundę", "operací za sekundu", "računske operacije na sekundo"),
    *("műveletek másodpercenként", "lebegőpontos művelet/mp", "işlem/saniye"),
    *("saniyede işlem sayısı", "operasi per detik", "phép tính mỗi giây", "FLOP/giây"),
    *("operaciones por segundo", "cálculos por segundo", "operações por segundo"),
    *("operazioni al secondo", "operații pe secundă", "veprime në sekondë"),
    *("операций в секунду", "операций за секунду", "операції за секунду", "операции/с"),
    *("аперацый у секунду", "операции в секунда", "секундына амалдар"),
    *("πράξεις ανά δευτερόλεπτο", "πράξεις/δευτ.", "ოპერაცია წამში", "գործողություն վայրկյանում"),
    *("عملية في الثانية", "عمليات/ثانية", "פעולות לשנייה", "عملیات بر ثانیه"),
    *("प्रति सेकंड संक्रियाएँ", "फ़्लॉप प्रति सेकंड", "প্রতি সেকেন্ডে অপারেশন", "வினாடிக்கு செயல்பாடுகள்"),
    *("การดำเนินการต่อวินาที", "စက္ကန့်လျှင်လုပ်ဆောင်မှု", "ប្រតិបត្តិការក្នុងមួយវិនាទី"),
    *(
        "每秒浮点运算次数",
        "浮点运算/秒",
        "次/秒",
        "每秒運算次數",
        "毎秒の演算回数",
        "浮動小数点演算/秒",
    ),
    *(
        "초당 부동소수점 연산",
        "연산/초",
        "флоп/с",
        "флопс",
        "플롭스",
        "フロップス",
        "ops/s",
        "MAC/s",
    ),
    *("የስራዎች ብዛት በሰከንድ", "operesheni kwa sekunde", "eragiketak segundoko"),
]


def read(
    label: str, values: list[float], ticks: list[Any] | None = None, **case: Any
) -> tuple[Any, str]:
    """Return what `reading` finds in a figure with these values under this y label."""
    curve = {"x": [1, 2, 3], "y": values, "axes": 0, "seen": True, "legend": ["64"], "texts": []}
    y = {"label": label, "ticks": ticks or [], "offset": ""}
    seen = {"curves": [curve], "legend": True, "axes": [{"x": {"label": "B"}, "y": y}]}
    seen |= {"xlabel": "B", "ylabel": label}
    case = {"sizes": [64], "batches": [1, 2, 3]} | (case or {"peak": PEAK, "bandwidth": 8e11})
    found, problem = reading(seen, case)
    return found.get("64"), problem


RIGHT = [0.2 * PEAK, 0.4 * PEAK, 0.6 * PEAK]


def scaled(scale: float) -> list[float]:
    return [value / scale for value in RIGHT]


def test_correct_units_are_accepted_in_any_writing_system() -> None:
    expected = (pytest.approx(RIGHT), "")
    lost = [
        (label, found)
        for label, scale in (*UNITS, *NUMBERS)
        if (found := read(label, scaled(scale))) != expected
    ]
    assert lost == []


def test_wrong_prefixes_are_detected_in_any_writing_system() -> None:
    prefixes = itertools.cycle(PREFIXES.values())
    missed = []
    for label, scale in UNITS:
        wrong = next(prefix for prefix in prefixes if prefix != scale)
        expected = (pytest.approx([value * scale / wrong for value in RIGHT]), "")
        if (found := read(label, scaled(wrong))) != expected:
            missed.append((label, wrong, found))
    assert missed == []


def test_units_have_exactly_one_scale_in_any_writing_system() -> None:
    found = [(label, rate_scales(label)) for label, _ in UNITS]
    assert found == [(label, ((scale,), "")) for label, scale in UNITS]


@pytest.mark.parametrize("label", IN_WORDS)
def test_rates_in_words_are_accepted_in_any_language(label: str) -> None:
    assert read(label, RIGHT) == (pytest.approx(RIGHT), "")


@pytest.mark.parametrize("label", [*IN_WORDS, "FLOP/s", "ТФЛОП/с"])
def test_no_label_makes_wrong_values_right(label: str) -> None:
    """Values off by a factor of two, or of another shape, fit no scale of a label."""
    for wrong in ([value * 2 for value in RIGHT], [RIGHT[0], RIGHT[0], RIGHT[2]]):
        found, _ = read(label, wrong)
        assert found != pytest.approx(RIGHT, rel=0.01)


@pytest.mark.parametrize(("label", "scale"), [("100 ТФЛОП/с", 1e12), ("100 Т", 1e12)])
def test_cyrillic_units_on_ticks_are_read(label: str, scale: float) -> None:
    axis = "" if "ФЛОП" in label else "ФЛОП/с"
    assert read(axis, RIGHT, [[100 * scale, label]]) == (pytest.approx(RIGHT), "")


@pytest.mark.parametrize(
    ("label", "problem"),
    [
        *((label, "figure-rate") for label in ("FLOP", "ФЛОП", "ТФЛОП", "FLOPs", "ФЛОП/байт")),
        *((label, "figure-rate") for label in ("ФЛОП/Б", "FLOP/步 step", "операции", "次数")),
        *((label, "figure-rate") for label in ("интенсивность (ФЛОП/байт)", "强度 (FLOP/字节)")),
        *((label, "figure-rate") for label in ("number of operations", "FLOP per token")),
        *((label, "figure-unit") for label in ("ГБ/с", "пропускная способность (ГБ/с)", "GB/s")),
        *((label, "figure-unit") for label in ("пропускная способность", "скорость", "性能")),
        *((label, "figure-unit") for label in ("吞吐量", "スループット", "성능", "Leistung")),
        *((label, "figure-unit") for label in ("débit", "vitesse de calcul", "rendimiento")),
        *((label, "figure-unit") for label in ("throughput", "attainable performance", "option")),
        *((label, "figure-unit") for label in ("Geschwindigkeit", "nopeus", "prędkość")),
        *((label, "figure-unit") for label in ("time (s)", "время (с)", "时间", "Zeit")),
        *((label, "figure-unit") for label in ("tokens per second", "images/s", "% of peak")),
        *((label, "figure-unit") for label in ("m/s", "y", "Y axis", "123", "?", "log10 of bytes")),
        *((label, "figure-unit") for label in ("P", "performance P")),
    ],
)
def test_labels_of_other_quantities_are_refused(label: str, problem: str) -> None:
    assert rate_scales(label)[1] == problem
    assert read(label, RIGHT)[1] == problem


@pytest.mark.parametrize(
    "label",
    [
        *("nombre d'exemples", "nombre d’entrées", "lot d'images", "quantité d'éléments"),
        *("gleichzeitig verarbeitete Elemente", "Anzahl Eingaben zur gleichen Zeit"),
        *("vectors at a time", "inputs at the same time", "éléments en même temps"),
        *("entradas al mismo tiempo", "elementi allo stesso tempo", "партия", "размер пакета"),
        *("число примеров, обрабатываемых одновременно", "dávka", "erän koko", "yığın boyutu"),
        *("partistørrelse", "kötegméret", "δέσμη", "rozmiar partii", "kích thước lô", "حجم الدفعة"),
        *("גודל אצווה", "मात्रा", "ขนาดชุด", "ზომა", "Ｂ", "同时处理的样本数", "批大小", "묶음 크기"),
    ],
)
def test_labels_of_the_batch_are_accepted_in_any_language(label: str) -> None:
    assert names_batch(label)


@pytest.mark.parametrize(
    "label", ["Laufzeit", "Zeit", "temps", "tiempo", "D", "F", "d", "times", "running time"]
)
def test_labels_of_times_and_widths_are_not_accepted_as_the_batch(label: str) -> None:
    assert not names_batch(label)


ALL_SCALES = (1, 1e3, 1e6, 1e9, 1e12, 1e15, 1e18)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        *(("thousand FLOP/s", (1e3,)), ("Millionen FLOP/s", (1e6,)), ("Mrd. FLOP/s", (1e9,))),
        *(("billion FLOP/s", (1e9,)), ("trillion FLOP/s", (1e12,)), ("trln FLOP/s", (1e12,))),
        *(("quadrillion FLOP/s", (1e15,)), ("Billiarden FLOP/s", (1e15,))),
        # These words mean different numbers in different languages; the likeliest is first.
        *(("bilyon FLOP/s", (1e12, 1e9)), ("trillón FLOP/s", (1e12, 1e18))),
        *(("kvadriljoner FLOP/s", (1e15, 1e24)), ("兆 FLOP/s", (1e12, 1e6))),
        *(("百万 FLOP/s", (1e6,)), ("百萬 FLOP/s", (1e6,))),
        *(("十亿 FLOP/s", (1e9,)), ("千億 FLOP/s", (1e11,)), ("万亿 FLOP/s", (1e12,))),
        *(("백만 FLOP/s", (1e6,)), ("십억 FLOP/s", (1e9,)), ("천억 FLOP/s", (1e11,))),
        *(("조 FLOP/s", (1e12,)), ("천조 FLOP/s", (1e15,))),
        *(("exaFLOP/s", (1e18,)), ("eksaFLOP/s", (1e18,)), ("kilo-FLOP/s", (1e3,))),
        *(("megaFLOP/s", (1e6,)), ("gigaFLOP/s", (1e9,)), ("petaFLOP/s", (1e15,))),
        *(("teraFLOP/s", (1e12,)), ("EFLOP/s", (1e18,))),
        *(("FLOP/ms", (1e3,)), ("FLOP/us", (1e6,)), ("FLOP/µs", (1e6,)), ("FLOP/μs", (1e6,))),
        *(("FLOP/ns", (1e9,)), ("kFLOP/ns", (1e12,)), ("ФЛОП/мкс", (1e6,))),
        *(("FLOP/millisecond", (1e3,)), ("FLOP per microsecond", (1e6,))),
        ("FLOP/nanosecond", (1e9,)),
        # These words aren't understood, so the numbers may have any scale.
        *(
            ("تريليون FLOP/s", ALL_SCALES),
            ("műveletek másodpercenként", ALL_SCALES),
            ("я", ALL_SCALES),
        ),
    ],
)
def test_words_have_all_the_scales_that_they_may_mean(words: str, found: tuple[float, ...]) -> None:
    assert rate_scales(words) == (pytest.approx(found), "")


@pytest.mark.parametrize(
    ("text", "latin"),
    [
        *(("ТФЛОП/с", "TFLOP/s"), ("κιλο", "kilo"), ("é İ Å", "é İ Å"), ("ⅷ", "ⅷ")),
        *(("フロップス", "flops"), ("フロップ", "flop"), ("플롭스", "flops"), ("テラ", "tera")),
        ("演算 1/s", "演算 1/s"),
    ],
)
def test_units_in_other_writing_systems_are_romanized(text: str, latin: str) -> None:
    assert romanized(text) == latin


def test_an_ambiguous_word_has_its_likeliest_scale_if_no_peak_decides() -> None:
    """The word "bilyon" means 1e12 in some languages, and 1e9 in others."""
    assert read("bilyon FLOP/s", [1.0, 2.0, 3.0], bandwidth=8e11)[0] == [1e12, 2e12, 3e12]
    assert read("bilyon FLOP/s", [0.0, 0.0, 0.0]) == ([0.0, 0.0, 0.0], "")


def test_the_russian_abbreviation_of_logarithm_is_understood() -> None:
    assert read("lg ФЛОП/с", [13.0, 13.5, 14.0])[0] == pytest.approx([1e13, 10**13.5, 1e14])


@given(
    st.sampled_from([words for words in IN_WORDS if "flop" not in romanized(words).lower()]),
    st.sampled_from(UNITS),
)
def test_words_next_to_a_unit_do_not_change_its_scale(words: str, unit: tuple[str, float]) -> None:
    label, scale = unit
    assert rate_scales(f"{words} ({label})") == ((scale,), "")


@given(st.text(max_size=40))
def test_any_text_can_be_parsed_as_a_label(text: str) -> None:
    factors, problem = rate_scales(text)
    assert problem in {"", "figure-rate", "figure-unit"}
    assert all(factor > 0 for factor in (*factors, *scales(text)))
    assert vertical(text)[0] > 0
    assert isinstance(romanized(text), str)
    assert names_batch(text) in {True, False}
