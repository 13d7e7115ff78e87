"""Tests of the book's sentences: sufficient thresholds, consistent terms.

Each page is run once to fill in its values, so these tests need no build.
"""

import math
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest
from live_pages import chip_of
from rendered import ROOT, outputs, sentences

import rooflib as rl
from roofkit import figures
from roofkit.figures import Figure

PAGES = sorted(
    str(path.relative_to(ROOT).with_suffix(""))
    for places in ("chapters/*.md", "exercises/*/*.md")
    for path in ROOT.glob(places)
)
Settings = dict[str, Any]


def number(found: re.Match[str] | None) -> int:
    assert found, "the sentence is gone"
    return int(found[1].replace(",", ""))


def drawn(figure: Figure, settings: int = 300) -> Iterator[Settings]:
    draw = random.Random(7)
    for _ in range(settings):
        yield {control.name: draw.choice(control.options) for control in figure.controls}


# Live figures.


def test_the_matmul_is_compute_bound_from_the_stated_batch() -> None:
    figure, named, none = figures.matmul(), 0, 0
    for at in drawn(figure):
        says = figure.texts(**at)["says"]
        if "choose" in says:
            continue
        op = {name: at[name] for name in ("D", "F", "x", "w", "out")}
        chip = chip_of(at["chip"])
        if "no batch is enough to make it compute-bound" in says:
            none += 1
            assert rl.bound(rl.matmul(B=10**9, **op), chip).binding == "HBM", at
            continue
        named += 1
        first = number(re.search(r"From ([\d,]+)\N{NO-BREAK SPACE}tokens on it is", says))
        assert rl.bound(rl.matmul(B=first, **op), chip).binding == "compute", at
        assert first == 1 or rl.bound(rl.matmul(B=first - 1, **op), chip).binding == "HBM", at
    assert named > 50
    assert none > 50


@pytest.mark.parametrize(
    ("settings", "first"),
    [
        ({"chip": "H100 SXM", "D": 65536, "F": 65536}, 299),
        ({"chip": "TPU v5e", "w": "int8", "D": 4096, "F": 4096}, 137),
    ],
)
def test_the_smallest_sufficient_batch_is_rounded_up(settings: Settings, first: int) -> None:
    says = figures.matmul().texts(**settings)["says"]
    assert f"From {first}\N{NO-BREAK SPACE}tokens on it is compute-bound." in says


@pytest.mark.parametrize("name", ["time", "matmul", "chips", "attention"])
def test_no_sentence_contains_infinity_or_equal_bounds(name: str) -> None:
    figure = getattr(figures, name)()
    nearly_equal = 0
    for at in drawn(figure):
        says = figure.texts(**at)["says"]
        assert "∞" not in says, at
        assert not re.search(r"[{}]", says), at
        between = re.search(r"between (.+?) and (.+?)\.(?: |$)", says)
        if between:
            assert between[1] != between[2], at
        nearly_equal += "nearly equal" in says
    # In each figure, some settings have one time far shorter than the other, so that the bounds
    # are nearly equal.
    assert nearly_equal > 0


def test_bounds_that_are_far_apart_are_both_stated() -> None:
    says = figures.time().texts(chip="H100 SXM", flops=1e12, bytes=2e9)["says"]
    assert "takes between 1.01\N{NO-BREAK SPACE}ms and 1.61\N{NO-BREAK SPACE}ms." in says


def test_the_link_keeps_up_from_the_stated_width() -> None:
    figure = figures.chips()
    for at in drawn(figure):
        says = figure.texts(**at)["says"]
        first = number(re.search(r"from D = ([\d,]+) on", says))
        values = figure.values(**at)
        link, math_ = values["t_link"] / at["D"], values["t_math"] / at["D"]
        # The compute time grows with the width; the link's time doesn't.
        slack = 1 + 1e-12  # equal times are enough
        assert first * math_ * slack >= link * at["D"] >= (first - 1) * math_ / slack, at


def test_the_stated_batch_is_the_largest_that_fits_into_hbm() -> None:
    figure, named = figures.attention(), 0
    for at in drawn(figure):
        says = figure.texts(**at)["says"]
        step = {name: at[name] for name in ("S", "chips", "w", "kv")}
        model, chip = rl.model(at["model"]), chip_of(at["chip"])

        def fits(batch: int, model=model, chip=chip, step=step) -> bool:
            return bool(rl.bound(model.decode(batch, **step), chip, chip.links[0]).fits)

        if "The weights alone are too large for it" in says:
            assert not fits(1), at
            continue
        named += 1
        most = number(re.search(r"has room for a batch of ([\d,]+)\.", says))
        assert fits(most), at
        assert not fits(most + 1), at
    assert 50 < named < 300


def test_the_time_figure_and_the_chapter_define_the_same_idle_fraction() -> None:
    figure = figures.time()
    for at in drawn(figure, 100):
        work = rl.operation(flops=at["flops"], bytes=at["bytes"])
        bounds = rl.bound(work, chip_of(at["chip"]))
        assert figure.values(**at)["idle"] == pytest.approx(bounds.idle, abs=1e-15), at
        waits = "the compute units wait for" in figure.texts(**at)["says"]
        assert waits == (bounds.binding == "HBM"), at
    assert [n.label for n in figure.numbers if n.name == "idle"] == ["idle fraction"]
    assert r"\text{idle fraction} = 1 - \frac{T_\text{math}}" in sentences("chapters/time")


# Chapters.


def test_the_stated_side_of_a_tile_is_the_smallest_sufficient_one() -> None:
    side = number(re.search(r"needs a side of at least ([\d,]+)", sentences("chapters/matmul")))
    v5e, n = rl.chip("TPU v5e"), 4096
    of_sides = [2 * n**3 / (2 * (2 * n**3 / t + n**2)) for t in (side - 1, side)]
    assert of_sides[0] < v5e.ridge() < of_sides[1]
    assert f"keeping {rl.text(4 * side**2, 'B')} of sums" in sentences("chapters/matmul")


def test_the_batch_from_which_the_example_layer_is_compute_bound_is_260() -> None:
    page = sentences("chapters/matmul")
    needs = number(re.search(r"far above the ([\d,]+) that our layer needs", page))
    assert needs == 260
    v5e = rl.chip("TPU v5e")
    bindings = [rl.bound(rl.matmul(b, 4096, 16384), v5e).binding for b in (needs - 1, needs)]
    assert bindings == ["HBM", "compute"]


def enough(tokens: int, width: int) -> bool:
    return rl.bound(rl.matmul(tokens, width, width), rl.chip("TPU v5e")).binding == "compute"


def test_stated_batches_are_the_smallest_sufficient_integers() -> None:
    page = sentences("chapters/matmul")
    shrinks = re.search(r"From ([\d,]+) to ([\d,]+) tokens, and never below ([\d,.]+),", page)
    assert shrinks
    for tokens, width in [(shrinks[1], 4096), (shrinks[2], 40960)]:
        assert enough(int(tokens), width)
        assert not enough(int(tokens) - 1, width)
    assert int(shrinks[3]) == rl.first_whole_above(rl.chip("TPU v5e").ridge())


def test_cells_that_readers_edit_print_the_smallest_sufficient_sizes() -> None:
    h100 = rl.chip("H100 SXM")
    tokens = number(re.search(r"compute-bound from ([\d,]+) tokens on", outputs("chapters/matmul")))
    bindings = [rl.bound(rl.matmul(b, 8192, 8192), h100).binding for b in (tokens - 1, tokens)]
    assert bindings == ["HBM", "compute"]
    depth = number(re.search(r"^D at least: ([\d,]+)", outputs("chapters/chips"), re.MULTILINE))
    assert depth == math.floor(7 * 2 * h100.peak() / 450e9) + 1


def test_stated_widths_are_the_smallest_sufficient_integers() -> None:
    page = sentences("chapters/chips")
    h100, v5e = rl.chip("H100 SXM"), rl.chip("TPU v5e")
    depth = number(re.search(r"No\. D would have to be at least ([\d,]+)\.", page))
    assert depth - 1 <= 3 * 2 * h100.peak() / 450e9 < depth
    tokens = number(re.search(r"both chips together need at least ([\d,]+) tokens", page))
    assert tokens - 1 <= v5e.peak() / 45e9 < tokens
    both = re.findall(r"ICI.*: D at least ([\d,]+)", outputs("chapters/chips"))
    one_way, both_ways = (int(each.replace(",", "")) for each in both)
    assert one_way - 1 <= 7 * 2 * v5e.peak() / 45e9 < one_way
    assert both_ways - 1 <= 7 * v5e.peak() / 45e9 < both_ways
    last = number(re.search(r"a v5e asks for a width of ([\d,]+); the widest", page))
    assert last - 1 < 2 * v5e.peak() / v5e.link("DCN").to_one_peer <= last


def test_prompts_are_compute_bound_from_the_stated_length() -> None:
    page = sentences("chapters/attention")
    found = re.search(r"On the v5e it takes ([\d,]+) tokens .*?, and ([\d,]+) where four", page)
    assert found
    for length, heads, name in (
        (int(found[1]), (32, 32), "TPU v5e"),
        (int(found[2]), (32, 8), "TPU v5e"),
    ):
        binding = []
        for T in (length - 1, length):
            prompt = rl.attention(1, T, T, *heads, 128, softmax=False)
            binding.append(rl.bound(prompt, rl.chip(name)).binding)
        assert binding == ["HBM", "compute"]


def test_the_stated_number_of_sequences_fits_and_one_more_does_not() -> None:
    most = number(
        re.search(r"([\d,]+) sequences fit on the one H100", sentences("chapters/attention"))
    )
    # The weights include the embedding table; the cache takes 128 KiB per position.
    left = 81_559 * 2**20 - 2 * 8_030_261_248
    assert most * 8192 * 131072 <= left < (most + 1) * 8192 * 131072


def test_measured_steps_are_as_much_slower_than_their_bounds_as_stated() -> None:
    page = sentences("chapters/attention")
    found = re.search(r"\*\*One chip\*\* takes ([\d.]+) to ([\d.]+) times the bound", page)
    assert found
    slower = {
        (m.chips, m.B, m.chip): m.seconds / rl.bound(m.step, m.chip, "NVLink").lower
        for m in rl.published_steps()
    }
    alone = [ratio for (chips, _, _), ratio in slower.items() if chips == 1]
    together = [ratio for (chips, _, _), ratio in slower.items() if chips > 1]
    assert max(alone) < min(together)
    assert float(found[1]) == pytest.approx(min(alone), abs=0.06)
    assert float(found[2]) == pytest.approx(max(alone), abs=0.06)


def test_delay_equals_transfer_time_at_the_stated_message_size() -> None:
    printed = re.search(r"half the bandwidth at 45.kB", outputs("chapters/chips"))
    assert printed
    array = re.search(r"An array smaller than ([\d.]+).kB", sentences("chapters/chips"))
    assert array
    # Each of the 14 hops carries an eighth of the array.
    assert float(array[1]) * 1e3 / 8 / 4.5e10 == pytest.approx(1e-6)


def test_the_stated_tokens_per_second_are_the_memory_bound_rounded_down() -> None:
    most = number(re.search(r"at most ([\d,]+) tokens per second", sentences("chapters/time")))
    assert most <= 3.35e12 / 14e9 < most + 1


def test_table_and_text_state_the_same_speed_of_the_dot_product() -> None:
    table, printed = (
        re.search(pattern, outputs("chapters/roofline"), re.MULTILINE)
        for pattern in (r"^0\.5 +([\d.]+.GFLOP/s)", r"^dot product: ([\d.]+.GFLOP/s)")
    )
    assert table
    assert printed
    shown = {found[1].replace("\N{NO-BREAK SPACE}", " ") for found in (table, printed)}
    assert shown == {"409.5 GFLOP/s"}


def test_the_page_states_that_fp8_doubles_the_ridge_point() -> None:
    page = sentences("chapters/roofline")
    assert "in fp8 the ridge point lies at 2 times the intensity that it has in bf16" in page


# Terms that must be consistent across pages.


@pytest.mark.parametrize("page", PAGES)
def test_the_time_to_compute_is_named_consistently(page: str) -> None:
    text = (ROOT / f"{page}.md").read_text(encoding="utf-8")
    assert not re.search(r"T_\\text\{(?!(math|comms|lower)\})|T_compute", text)


def test_the_notation_defines_each_letter_of_the_cheat_sheet_once() -> None:
    page = (ROOT / "chapters/glossary.md").read_text(encoding="utf-8")
    table = page.split("name: tab-notation")[1].split("```")[0]
    rows = re.findall(r"^\| \$(\S+)\$ \| (.+?) \|", table, re.MULTILINE)
    letters = [letter for letter, _ in rows]
    assert len(letters) == len(set(letters))
    assert set(letters) >= {"B", "D", "F", "N", "n", "C", "W", "R", "I", "T", r"T_\text{math}"}
    assert not [what for letter, what in rows if " or the " in what and letter in "Nn"]
    sheet = sentences("chapters/summary").split("(cheat-sheet)=")[1]
    assert "dot product of `[n]`" in sheet
    used = set(re.findall(r"T_\\text\{\w+\}", sheet)) | set(re.findall(r"\b[CWRI]\b", sheet))
    assert used <= set(letters)


def test_array_lengths_use_another_letter_than_the_number_of_chips() -> None:
    for page in ("chapters/intensity", "chapters/roofline", "chapters/time"):
        maths = re.findall(r"\$\$?(.+?)\$", sentences(page)) + re.findall(
            r"`([^`]+)`", sentences(page)
        )
        assert not [formula for formula in maths if re.search(r"(?<![A-Za-z\\])\d?N\b", formula)]
    labels = [control.label for control in figures.intensity().controls]
    assert labels[0].startswith("n ")


def test_the_factor_of_two_between_bounds_is_stated_only_for_two_times() -> None:
    page = sentences("chapters/summary")
    assert "never more than a factor of two" not in page
    assert "With two times," in page
    assert "with $k$ times, at most a factor of $k$" in page


def test_pages_do_not_state_how_many_pages_cited_papers_have() -> None:
    counts = {
        page: re.findall(r"\b(?:two|three|four|five|six|seven) pages\b", sentences(page))
        for page in ("chapters/roofline", "chapters/references")
    }
    assert counts == {"chapters/roofline": [], "chapters/references": []}


def test_shares_of_peak_are_attributed_to_their_source() -> None:
    page = sentences("chapters/introduction")
    assert "Models today run close" not in page
    assert re.search(r"\{cite:t\}`austin2025scaling` report that promising designs", page)


def test_pages_mention_the_other_bandwidth_that_google_states_for_the_v5e() -> None:
    prints = [f.as_printed for f in rl.data_points() if f.chip == "TPU v5e" and f.unit == "GiB/s"]
    assert f"prints {prints[0]} in the newest one" in sentences("chapters/hardware")
    assert "{ref}`the catalog <hardware-disagreements>` compares" in sentences("chapters/intensity")
    assert "the maker's page" not in outputs("chapters/matmul")
