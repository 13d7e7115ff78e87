"""Tests of the homework's answers against counts that don't use rooflib."""

import re

import pytest
from rendered import outputs, sentences

PAGE = "chapters/homework"
PEAK, TF32, VECTOR, HBM, NVLINK = 989.5e12, 494.5e12, 67e12, 3.35e12, 450e9  # H100 SXM
V5E_PEAK, V5E_HBM, V5E_ICI = 197e12, 819e9, 45e9


def row(start: str, among: str = "") -> list[str]:
    """Return the cells of the first row that starts with `start`, below `among`.

    `among`: a text in the page's outputs.
    """
    text = outputs(PAGE)
    text = text[text.index(among) :]
    found = re.search(rf"^{re.escape(start)} .*$", text, re.MULTILINE)
    assert found, start
    return re.split(r" {2,}", found[0].strip())


def whole(text: str) -> int:
    return int(text.replace(",", "").rstrip("×"))


def test_doubling_the_bytes_halves_the_intensity() -> None:
    elements, flops = 512 * 8192 + 8192 * 8192 + 512 * 8192, 2 * 512 * 8192 * 8192
    _, bf16, fp32 = row("intensity")
    assert [bf16, fp32] == [f"{flops / (width * elements):.0f} FLOP/byte" for width in (2, 4)]


def needed(peak: float, width: int, bandwidth: float = HBM) -> float:
    """Return the batch B at which 2B FLOPs per weight take as long as loading it."""
    return (width / bandwidth) / (2 / peak)


def test_each_data_type_has_the_critical_batch_of_its_peak() -> None:
    cells = row("H100 SXM", "batch, bf16")
    batches = [cells[1], cells[4], cells[7]]
    assert [float(b) for b in batches] == [
        pytest.approx(needed(peak, width), abs=0.05)
        for peak, width in [(PEAK, 2), (TF32, 4), (VECTOR, 4)]
    ]
    page = sentences(PAGE)
    for value in (needed(PEAK, 2), needed(TF32, 4), needed(VECTOR, 4)):
        assert f"{value:.1f}" in page


def test_unpublished_peaks_are_dashes_and_are_listed() -> None:
    assert row("TPU v5e", "batch, bf16")[2:] == ["–"] * 6
    assert "For TPU v4, TPU v5e, TPU v6e and TPU7x we found no peak" in sentences(PAGE)


def prefill(tokens: int, heads: int, kept: int, width: int = 128) -> tuple[int, int]:
    """Return the FLOPs of causal attention over a prompt, and its bf16 bytes."""
    pairs = sum(position + 1 for position in range(tokens))
    arrays = tokens * width * (heads + kept + kept + heads)
    return 2 * 2 * width * heads * pairs, 2 * arrays


@pytest.mark.parametrize(
    ("pattern", "heads", "kept", "peak", "bandwidth"),
    [
        (r"at ([\d,]+) tokens for Llama 3 70B", 64, 8, PEAK, HBM),
        (r"at ([\d,]+) for Llama 2 7B", 32, 32, PEAK, HBM),
        (r"on a TPU v5e at ([\d,]+) for the first", 64, 8, V5E_PEAK, V5E_HBM),
    ],
)
def test_prefill_becomes_compute_bound_at_the_stated_length(
    pattern: str, heads: int, kept: int, peak: float, bandwidth: float
) -> None:
    found = re.search(pattern, sentences(PAGE))
    assert found
    for tokens, computes in [(whole(found[1]) - 1, False), (whole(found[1]), True)]:
        flops, moved = prefill(tokens, heads, kept)
        assert (flops / peak > moved / bandwidth) is computes


def test_decode_intensities_are_exact_and_equal_for_one_and_50_sequences() -> None:
    for tokens in (300, 3_000, 30_000):
        cells = row(f"{tokens:,}", "decode, one sequence")
        exact = (2 * 2 * 128 * 64 * tokens) / (2 * 128 * (64 + 8 * tokens + 8 * tokens + 64))
        assert [float(cell) for cell in cells[1:3]] == [pytest.approx(exact, abs=0.005)] * 2


def test_each_width_at_which_links_keep_up_is_the_smallest_such_integer() -> None:
    for chips in (2, 4, 8):
        for cell, peak, link in [
            (row(str(chips), "D at least")[1], PEAK, NVLINK),
            (row(str(chips), "TPU v5e: D")[1], V5E_PEAK, V5E_ICI),
        ]:
            for width, keeps_up in [(whole(cell) - 1, False), (whole(cell), True)]:
                # Per output element: time of 2D FLOPs split among the chips, and time to send
                # two bytes around the ring.
                math = 2 * width / chips / peak
                sending = 2 * (chips - 1) / chips * 2 / link
                assert (math > sending) is keeps_up


def sent_around(chips: int) -> float:
    """Simulate a ring all-reduce; return how many times its output each chip sends.

    Check the sums on each chip, too.
    """
    held = [[float(chip + piece) for piece in range(chips)] for chip in range(chips)]
    sums = [sum(chip + piece for chip in range(chips)) for piece in range(chips)]
    sent = 0
    for lap in (0, 1):
        for step in range(chips - 1):
            # In the first lap, a chip adds the arriving piece to its own; in the second, the
            # arriving sum replaces its own piece.
            moving = [
                (
                    (chip + 1) % chips,
                    (chip + lap - step) % chips,
                    held[chip][(chip + lap - step) % chips],
                )
                for chip in range(chips)
            ]
            for to, piece, value in moving:
                held[to][piece] = value if lap else held[to][piece] + value
            sent += 1
    assert held == [sums] * chips
    return sent / chips


def test_chips_send_as_much_as_a_simulated_ring() -> None:
    for chips in (2, 4, 8):
        everybody, ring, together = row(str(chips), "each sends, to everybody")[1:4]
        assert whole(everybody) == chips - 1
        assert float(ring[:-1]) == sent_around(chips)
        assert float(together[:-1]) == chips * sent_around(chips)


def test_the_homework_names_common_misreadings_of_a_data_sheet() -> None:
    page = sentences(PAGE)
    assert f"- {1e15 / HBM:.0f}, and from it “about three hundred”" in page
    assert f"- {1979e12 / HBM:.0f}: the sparse peak was read as dense." in page
