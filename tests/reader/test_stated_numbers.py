"""Numbers that pages state are those of a count by hand, and the smallest that are enough.

The rates of chips come from the catalog; everything else is counted here, without rooflib. A page
must contain the number, wherever and in whatever words.
"""

import math
import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

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


H100, V5E = rl.chip("H100 SXM"), rl.chip("TPU v5e")
PEAK, HBM, NVLINK = H100["bf16"], H100["HBM"], 18 * 25e9
V5E_PEAK, V5E_HBM, ICI = V5E["bf16"], V5E["HBM"], V5E.link("ICI").bandwidth
DOLLARS = 10.8 / 3600  # a second of an H100
# Llama 3 8B: 32 layers of width 4,096, 8 key heads of 128, a vocabulary of 128,256.
TABLE = 128_256 * 4096
WEIGHTS = 32 * (2 * 4096 * 5120 + 3 * 4096 * 14_336 + 2 * 4096) + 2 * TABLE + 4096
KEPT = 2 * 32 * 8 * 128 * 2  # bytes of a token's keys and values


def batch(peak: float, width: int, bandwidth: float = HBM) -> float:
    """Return the batch at which 2B FLOPs for a weight take as long as loading it."""
    return width / bandwidth / (2 / peak)


def matmul(B: int, D: int, F: int, peak: float = V5E_PEAK, bandwidth: float = V5E_HBM) -> bool:
    return 2 * B * D * F / peak > 2 * (B * D + D * F + B * F) / bandwidth


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


STATED = {
    "homework": [
        *(f"{batch(peak, width):.1f}" for peak, width in
          [(PEAK, 2), (H100["tf32"], 4), (H100["vector fp32"], 4)]),
        f"{2 * 512 * 8192**2 / (2 * (2 * 512 * 8192 + 8192**2)):.0f}",
        f"{2 * 512 * 8192**2 / (4 * (2 * 512 * 8192 + 8192**2)):.0f}",
        f"{prompt(64, 8, PEAK, HBM):,}", f"{prompt(32, 32, PEAK, HBM):,}",
        f"{prompt(64, 8, V5E_PEAK, V5E_HBM):,}",
        *(f"{decode(tokens):.2f}" for tokens in (300, 3_000)),
        *(f"{depth(chips, PEAK, NVLINK):,}" for chips in (2, 4, 8)),
        *(f"{depth(chips, V5E_PEAK, ICI):,}" for chips in (2, 4, 8)),
    ],
    "summary": [
        f"{1e18 / PEAK * DOLLARS:.2f}", f"{1e15 / HBM * DOLLARS:.2f}",
        f"{2 * (WEIGHTS - TABLE) / PEAK * 1e6 * DOLLARS:.2f}",
        *(f"{generated(texts):.2f}" for texts in (1, 8, 64)),
    ],
    "matmul": [
        f"{first(lambda B: matmul(B, 4096, 16_384)):,}",
        f"{first(lambda B: matmul(B, 4096, 4096)):,}",
        f"{first(lambda B: matmul(B, 40_960, 40_960)):,}",
        f"{first(lambda B: matmul(B, 8192, 8192, PEAK, HBM)):,}",
        f"{math.floor(V5E_PEAK / V5E_HBM) + 1}",
    ],
    "chips": [
        # Four of them on a ring; eight send what their switch adds once.
        f"{depth(4, PEAK, NVLINK):,}", f"{math.floor(8 * PEAK / NVLINK) + 1:,}",
        f"{depth(8, V5E_PEAK, ICI):,}", f"{math.floor(V5E_PEAK / ICI) + 1:,}",
    ],
    "attention": [
        f"{prompt(32, 32, V5E_PEAK, V5E_HBM):,}", f"{prompt(32, 8, V5E_PEAK, V5E_HBM):,}",
    ],
    "step": [
        f"{int((H100.memory - 2 * WEIGHTS) // (8192 * KEPT)):,}",
    ],
    "time": [f"{math.floor(HBM / 14e9):,}"],
    "roofline": [f"{0.5 * V5E_HBM / 1e9:.1f}"],
}  # fmt: skip


@pytest.mark.parametrize("language", ["", "zh/"])
@pytest.mark.parametrize("page", STATED)
def test_a_page_states_the_numbers_of_a_count_by_hand(site: Path, page: str, language: str) -> None:
    html = (site / f"{language}chapters/{page}.html").read_text(encoding="utf-8")
    article = BeautifulSoup(html, "html.parser").find("article")
    assert article is not None
    shown = set(re.findall(r"\d[\d,]*(?:\.\d+)?", article.get_text(" ")))
    shown = {number.rstrip(",") for number in shown}
    assert set(STATED[page]) <= shown
