"""A learner's plot is read as people read it: right ones pass, wrong ones are named.

The collection in tests/support/figures has right plots in many styles, and wrong ones with the
problem that must be named.
"""

import functools
import itertools
from typing import Any

import matplotlib as mpl
import pytest
from figures import LibraryFigure, figures

from grading.release.cases import Cases, hidden, published
from grading.release.exercises import load
from roofkit.check.answers import ask
from roofkit.check.compare import Verdict, judge
from roofkit.check.messages import PROBLEMS
from roofkit.check.plot_reading import reading

mpl.use("agg")

EXERCISE = "roofline-plot"
(PART,) = [part for part in load(EXERCISE).parts if part.kind == "figure"]
LIBRARY = figures()


@functools.cache
def cases(seed: int | None) -> Cases:
    """Return the published case, or the hidden cases of the course with this seed."""
    return published(EXERCISE, PART) if seed is None else hidden(EXERCISE, PART, str(seed))


def verdict(drawn: LibraryFigure, known: Cases) -> Verdict:
    answers = [ask(drawn.function, case, "figure") for case in known.inputs]
    return judge(
        answers, known.expected, known.misconceptions, PART.tolerance, known.inputs, private=True
    )


# Every twelfth plot runs with the published case, and every thirtieth with the hidden cases of one
# course. The long tests try all plots, and each in 20 courses.
SOME = [(None, drawn) for drawn in LIBRARY[::12]] + [(1, drawn) for drawn in LIBRARY[::30]]
ALL = [(seed, drawn) for seed in (None, *range(20)) for drawn in LIBRARY]


@pytest.mark.parametrize(
    ("seed", "drawn"),
    [
        pytest.param(seed, drawn, id=f"{seed}-{drawn.name}", marks=marks)
        for which, marks in ((SOME, ()), (ALL, pytest.mark.long))
        for seed, drawn in which
    ],
)
def test_right_plots_pass_and_wrong_ones_fail_for_the_expected_reason(
    drawn: LibraryFigure, seed: int | None
) -> None:
    found = verdict(drawn, cases(seed))
    assert found.passed == drawn.is_right, found
    if not drawn.is_right:
        assert found.cause == (drawn.expected or ""), found
        if drawn.expected in PROBLEMS:
            assert PROBLEMS[drawn.expected].removesuffix(".") in found.sentences[0]


# ---- units and numbers in the writing systems and languages of the world

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


def test_correct_units_are_accepted_in_any_writing_system_and_language() -> None:
    labels = [*UNITS, *NUMBERS, *((label, 1.0) for label in IN_WORDS)]
    expected = (pytest.approx(RIGHT), "")
    lost = [
        (label, found)
        for label, scale in labels
        if (found := read(label, [value / scale for value in RIGHT])) != expected
    ]
    assert lost == []


def test_no_label_makes_wrong_values_right() -> None:
    """Values with another prefix, off by a factor of two, or of another shape fit no label."""
    wrong = [[value * 2 for value in RIGHT], [RIGHT[0], RIGHT[0], RIGHT[2]]]
    missed = [
        label
        for label in [*IN_WORDS, "FLOP/s", "ТФЛОП/с"]
        for values in wrong
        if read(label, values)[0] == pytest.approx(RIGHT, rel=0.01)
    ]
    other = [(label, scale, 1e3 if scale == 1e9 else 1e9) for label, scale in UNITS]
    missed += [
        label
        for label, scale, off in other
        if read(label, [value / off for value in RIGHT])
        != (pytest.approx([value / off * scale for value in RIGHT]), "")
    ]
    assert missed == []


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
    ],
)
def test_labels_of_other_quantities_are_refused(label: str, problem: str) -> None:
    assert read(label, RIGHT)[1] == problem
