"""Numbers that pages state are those of a count by hand, and the smallest that are enough.

The rates of chips come from the catalog; everything else is counted here, without rooflib. A page
must contain the number, wherever and in whatever words, but in more than a figure.
"""

import math
import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, Tag

import rooflib as rl


def first(enough, start: int = 1) -> int:
    """Return the smallest whole number that is enough, where all above are enough, too."""
    high = start
    while not enough(high):
        high *= 2
    low = high // 2
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


H100, V5E, V5P, V6E = map(rl.chip, ("H100 SXM", "TPU v5e", "TPU v5p", "TPU v6e"))
CHIPS, VECTOR = rl.chips(), "vector fp32"
PEAK, HBM, NVLINK = H100["bf16"], H100["HBM"], 18 * 25e9
V5E_PEAK, V5E_HBM, ICI = V5E["bf16"], V5E["HBM"], V5E.link("ICI").bandwidth
DOLLARS = 10.8 / 3600  # a second of an H100
# Llama 3 8B: 32 layers of width 4,096, 8 key heads of 128, a vocabulary of 128,256.
TABLE = 128_256 * 4096
WEIGHTS = 32 * (2 * 4096 * 5120 + 3 * 4096 * 14_336 + 2 * 4096) + 2 * TABLE + 4096
KEPT = 2 * 32 * 8 * 128 * 2  # bytes of a token's keys and values
(REACHED,) = [
    one.fraction for one in rl.published_shares() if (one.chip, one.roof) == ("H100 SXM", "bf16")
][:1]


def batch(peak: float, width: int, bandwidth: float = HBM) -> float:
    """Return the batch at which 2B FLOPs for a weight take as long as loading it."""
    return width / bandwidth / (2 / peak)


def matmul(B: int, D: int, F: int, peak: float = V5E_PEAK, bandwidth: float = V5E_HBM) -> bool:
    return 2 * B * D * F / peak > 2 * (B * D + D * F + B * F) / bandwidth


def layer(width: float) -> float:
    """Return the bytes of 64 tokens and a layer whose weights have so many bytes."""
    return 2 * 64 * (4096 + 16_384) + width * 4096 * 16_384


def prompt(heads: int, kept: int, peak: float, bandwidth: float) -> int:
    """Return the first length of a causal prompt from which attention is compute-bound."""
    return first(
        lambda T: (
            4 * 128 * heads * (T * (T + 1) // 2) / peak
            > 2 * 128 * T * 2 * (heads + kept) / bandwidth
        )
    )


def decode(tokens: int) -> float:
    """Return the intensity of one query with 64 heads over 8 heads of keys."""
    return 4 * 128 * 64 * tokens / (2 * 128 * 2 * (64 + 8 * tokens))


def depth(chips: int, peak: float, link: float) -> int:
    """Return the first D at which D FLOPs · 2 / chips outlast a ring's two bytes for each sum."""
    return math.floor(2 * (chips - 1) * peak / link) + 1


def generated(texts: int) -> float:
    """Return the dollars of a million tokens, generated for so many texts at a time."""
    loads = 2 * (WEIGHTS - TABLE + texts * 4096) + texts * 4096 * KEPT
    return (loads + texts * (KEPT + 2 * 128_256)) / HBM / texts * 1e6 * DOLLARS


def says(is_so: bool) -> str:
    return "yes" if is_so else "no"


# Right answers to questions, by page.
RIGHT = {
    "introduction": {
        "check-share": f"{100 * 1e18 / 3600 / PEAK:.0f}%", "check-level": f"{100 / 1.2:.0f}%",
        "new-design": "behind" if 1.2 * 0.8 < 1 else "ahead",
    },
    "time": {
        "nvlink-slower": f"{HBM / NVLINK:.1f} times", "ici-slower": f"{V5E_HBM / ICI:.0f} times",
        "check-v5e": f"{1e15 / V5E_PEAK:.2f} ms", "check-nvlink": f"{9e12 / NVLINK:.0f} ms",
        "check-faster": "no" if V5E_PEAK < PEAK else "yes",
        "h100-time": f"{1e3 * 1e12 / PEAK:.0f} ms",
        "dcn-slower": f"{V5E_HBM / V5E['DCN']:.0f} times",
        "chips-that-hold": f"{sum(chip.memory >= 140e9 for chip in CHIPS)} chips",
        "check-idle": f"{100 * (3 - 3) / 3:.0f}%",
        "check-holders": f"{sum(chip.memory >= 70e9 for chip in CHIPS)} chips",
    },
    "intensity": {
        "check-laptop": f"{100 * 5 * 100e9 / 2e12:.0f}%",
        "check-ridge": f"{V5E_PEAK / V5E_HBM / 2:.0f} FLOP/byte",
        "check-saved": f"{100 * (1 - 4 / 6):.0f}%", "check-mixed": f"{1 / (2 + 4):.3f} FLOP/byte",
        "dot-share": f"{100 * 0.5 * V5E_HBM / V5E_PEAK:.1f}%",
        "vector-busier": min((V5P.ridge(VECTOR), "a TPU v5p"), (H100.ridge(VECTOR), "an H100"))[1],
        "gelu-time": f"{max(4, 9 / V5P.ridge(VECTOR)) / 4:.1f} times",
        "check-apart": f"{(2 + 1) / 2:n} times",
    },
    "roofline": {
        "check-height": f"{100 * 60 * V5E_HBM / V5E_PEAK:.0f}%",
        "check-half": f"{2 * V5E_PEAK / V5E_HBM:.0f} FLOP/byte",
        "check-b200": f"{2.27 / 2.3 * PEAK / HBM:.0f} FLOP/byte",
        "from-the-corner": f"{1000 * 0.5 / 2000:n} pixels",
        "first-moves": f"{rl.chip('H200 SXM')['HBM'] / HBM:.2f} times",
        "second-moves": f"{rl.chip('H200 SXM')['bf16'] / PEAK:n} times",
        "check-far-below": says(V5E_PEAK / V5E_HBM < 60),
    },
    "matmul": {
        "check-tokens": f"{first(lambda B: matmul(B, 8192, 8192, PEAK, HBM))} tokens",
        "check-wide": f"{first(lambda B: matmul(B, 40_960, 40_960))} tokens",
        "check-tiles": f"{100 * 128 / 2 * V5E_HBM / V5E_PEAK:.0f}%",
        "first-enough": says(matmul(241, 4096, 16_384)),
        "rule-holds": f"{sum(abs(c['bf16'] / c['HBM'] / 240 - 1) <= 0.02 for c in CHIPS)}",
        "int4-gain": f"{layer(2) / layer(0.5):.1f} times as fast",
        "int4-gain-large": f"{PEAK / PEAK:n} times as fast",
        "check-peak-share": f"{6400 * 8192 / (2 * 64 + 8192) * V5E_HBM / V5E_PEAK:.0f}%",
    },
    "chips": {
        "check-fp32": f"{2 * depth(2, V5E_PEAK, ICI):,}",
        "check-gather": f"{math.floor(V5E_PEAK / ICI) + 1:,} tokens",
        "check-hide": says(depth(4, PEAK, NVLINK) <= 8192), "which-size": "D",
    },
    "attention": {
        "check-cache": f"{2 * 80 * 8 * 128 * 2 * 32_768 / 1e9:.1f} GB",
        "check-short-prompt": says(prompt(32, 8, V5E_PEAK, V5E_HBM) <= 300),
        "check-stronger": says(decode(8192) >= PEAK / HBM),
    },
    "homework": {
        "fp32-intensity": f"{100 * 2 / 4:.0f}%",
        "eight-h100": says(2 * 2 * 7 / 8 / NVLINK < 2 * 1024 / PEAK),
        "fp32-vector": f"{2 * H100[VECTOR] / HBM:.0f} tokens",
        "eight-h100-width": f"{depth(8, PEAK, NVLINK):,}", "eight-chips-width": f"{8 - 1} times",
    },
    "step": {"check-promise": says(HBM / 2 / (WEIGHTS - TABLE) >= 400)},
    "summary": {
        "needs-most": f"{max(c['bf16'] / c['HBM'] for c in CHIPS) / 240:.1f} times as much",
        "check-v6e": says(matmul(256, 16_384, 16_384, V6E["bf16"], V6E["HBM"])),
        "check-narrow": says(depth(2, V5E_PEAK, ICI) <= 1024),
        "writing-cost": f"{generated(1) / (2e6 * (WEIGHTS - TABLE) / PEAK * DOLLARS):.0f} times",
    },
    "own-model": {
        "own-model-check-batch": f"{math.ceil(batch(PEAK, 2) * 8 / 2):,} tokens",
        "own-model-check-touched": f"{8 * (1 - (6 / 8) ** 8):.1f} experts",
        "own-model-touched": f"{128 * (1 - (1 - 8 / 128) ** 16):.0f} experts",
    },
    "hardware": {
        "check-h200": f"{1979e12 / 2 / 4.8e12:.0f} FLOP/byte", "check-v5p": f"{6 * 90} GB/s",
        "check-gbps": f"{1600 / 8 / 4:.0f} GB/s",
        "check-roomy": f"{sum(chip.memory >= 140e9 for chip in CHIPS)} chips",
    },
}  # fmt: skip
STATED = {
    "homework": [
        f"{2 * 512 * 8192**2 / (2 * (2 * 512 * 8192 + 8192**2)):.0f}",
        f"{2 * 512 * 8192**2 / (4 * (2 * 512 * 8192 + 8192**2)):.0f}",
        f"{prompt(64, 8, PEAK, HBM):,}", f"{prompt(32, 32, PEAK, HBM):,}",
        f"{prompt(64, 8, V5E_PEAK, V5E_HBM):,}",
        # An exponential for each pair, beside 4H FLOPs.
        f"{100 * PEAK / (4 * 128) / H100['exponentials']:.0f}%",
    ],
    "summary": [
        f"{1e18 / PEAK * DOLLARS:.2f}", f"{1e15 / HBM * DOLLARS:.2f}",
        f"{2 * (WEIGHTS - TABLE) / PEAK * 1e6 * DOLLARS:.4f}",
        *(f"{generated(texts):.2f}" for texts in (1, 8, 64)),
        f"{6 * WEIGHTS * 1e12 / (REACHED * PEAK) / 3600:,.0f}",
    ],
    "matmul": [
        f"{first(lambda B: matmul(B, 4096, 16_384)):,}",
        f"{first(lambda B: matmul(B, 4096, 4096)):,}",
        f"{math.floor(V5E_PEAK / V5E_HBM) + 1}",
    ],
    "chips": [
        # Four of them on a ring; eight send what their switch adds once.
        f"{depth(4, PEAK, NVLINK):,}", f"{math.floor(8 * PEAK / NVLINK) + 1:,}",
        f"{depth(8, V5E_PEAK, 2 * ICI):,}",  # both ways around
    ],
    "attention": [
        f"{100 * (512 + 64) / (2 * 128 * 128):.1f}%",
    ],
    "../index": [f"{V5E_PEAK / V5E_HBM:.0f}"],
    "../slides/roofline": [
        f"{V5E_PEAK / V5E_HBM / 2:.0f}",
        f"{math.floor(V5E_PEAK / V5E_HBM / 2) + 1}", f"{math.floor(PEAK / HBM) + 1}",
    ],
    "time": [f"{math.floor(HBM / 14e9):,}"],
    "glossary": [f"{chip['bf16'] / chip['HBM']:.1f}" for chip in (V5E, V6E)],
}  # fmt: skip


def article(site: Path, page: str) -> Tag:
    html = (site / f"{page}.html").read_text(encoding="utf-8")
    (found,) = BeautifulSoup(html, "html.parser").select("article, .slides")
    return found


@pytest.mark.parametrize("language", ["", "zh/"])
@pytest.mark.parametrize("page", STATED)
def test_a_page_states_the_numbers_of_a_count_by_hand(site: Path, page: str, language: str) -> None:
    found = article(site, f"{language}chapters/{page}")
    for figure in found.select("figure, svg"):
        figure.decompose()
    text = found.get_text(" ")
    shown = {number.rstrip(",") for number in re.findall(r"\d[\d,]*(?:\.\d+)?%?", text)}
    shown |= {number.removesuffix("%") for number in shown}
    assert set(STATED[page]) <= shown


@pytest.mark.parametrize("page", RIGHT)
def test_the_right_answer_to_a_question_is_that_of_a_count_by_hand(site: Path, page: str) -> None:
    found = article(site, f"chapters/{page}").select(".answer")
    right = {}
    for answer in found:
        parts = answer.select(".choice") or answer.select(".right")
        text = parts[int(answer.get("data-place", 0))].get_text()
        right[answer["data-name"]] = text.replace("\N{NO-BREAK SPACE}", " ")
    assert {name: right[name] for name in RIGHT[page]} == RIGHT[page]


ENGLISH = {"million": 1e6, "billion": 1e9, "trillion": 1e12}
CHINESE = {"万": 1e4, "百万": 1e6, "亿": 1e8, "十亿": 1e9, "万亿": 1e12}


def counts(text: str, scales: dict[str, float]) -> set[float]:
    """Return the counts that a text gives with a word for their scale."""
    words = "|".join(sorted(scales, key=len, reverse=True))
    found = re.findall(rf"(\d[\d,]*(?:\.\d+)?)[\s-]*({words})", text)
    return {round(float(number.replace(",", "")) * scales[word]) for number, word in found}


def test_large_counts_are_the_same_in_chinese(site: Path) -> None:
    seen = 0
    for path in sorted((site / "chapters").glob("*.html")):
        english = counts(article(site, f"chapters/{path.stem}").get_text(" "), ENGLISH)
        said = article(site, f"zh/chapters/{path.stem}").get_text(" ")
        assert english <= counts(said, CHINESE), path.stem
        seen += len(english)
        # From ten thousand 万 on, one says 亿, and then 万亿.
        assert re.findall(r"\d{2},?\d{3}(?:\.\d+)?\s*(?:万|亿)", said) == [], path.stem
    assert seen
