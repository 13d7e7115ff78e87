"""The ring figure matches a simulation with sets of summands."""

import functools
import math
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest

from roofkit.figures import Figure, ring
from roofkit.figures.engine.expressions import FUNCTIONS, doubles, value
from roofkit.figures.engine.scene import drawn
from rooflib.collectives import all_gather, all_reduce, reduce_scatter
from rooflib.units import text

CHIPS = range(2, 9)
Held = list[list[set[int]]]  # for each chip and piece: the chips whose parts are summed in it
Sent = list[tuple[int, int, set[int]]]  # (sending chip, piece, chips whose parts are summed in it)
Drawn = dict[str, list[ElementTree.Element]]


@functools.cache
def simulated(N: int) -> list[tuple[Held, Sent]]:
    """Return what each chip holds and sends at each step, as in chapter 5."""
    held: Held = [[{chip} for _ in range(N)] for chip in range(N)]
    seen: list[tuple[Held, Sent]] = [([[set(s) for s in row] for row in held], [])]
    for step in range(2 * (N - 1)):
        adds = step < N - 1
        sent: Sent = []
        for chip in range(N):
            piece = (chip - step) % N if adds else (chip + 1 - (step - (N - 1))) % N
            sent.append((chip, piece, set(held[chip][piece])))
        for chip, piece, parts in sent:
            target = held[(chip + 1) % N]
            if adds:
                assert not target[piece] & parts, "a part would be added twice"
            target[piece] = target[piece] | parts if adds else set(parts)
        seen.append(([[set(s) for s in row] for row in held], sent))
    assert all(parts == set(range(N)) for row in held for parts in row)
    return seen


@functools.cache
def at(step: float, N: int, width: float = 400, size: float = 3e8, only: str = "") -> Drawn:
    """Return the drawn shapes by mark; the step may be a fraction, as in an animation."""
    figure = picture()
    names: dict[str, Any] = {"step": doubles(step), "N": doubles(N), "size": doubles(size)}
    for name, formula in figure.formulas.items():
        names[name] = doubles(value(formula, {**FUNCTIONS, **names}))
    scene = [mark for mark in figure.scene if not only or mark.name == only]
    return marks(drawn(scene, names, width, high(N, width)))


def high(N: int, width: float) -> float:
    names = {"N": doubles(N), "wide": doubles(width)}
    return float(value(picture().height, {**FUNCTIONS, **names}))


def marks(svg: str) -> Drawn:
    found: Drawn = {}
    for group in ElementTree.fromstring(svg):
        found.setdefault(group.get("data-mark", ""), []).extend(group)
    return found


@functools.cache
def picture() -> Figure:
    return ring()


def number(shape: ElementTree.Element, name: str) -> float:
    return float(shape.attrib[name])


def center(shape: ElementTree.Element) -> tuple[float, float]:
    across = number(shape, "x") + number(shape, "width") / 2
    return across, number(shape, "y") + number(shape, "height") / 2


EVERYWHERE = [(N, step) for N in CHIPS for step in range(2 * N - 1)]


def sets_in(frames: list[ElementTree.Element], parts: list[ElementTree.Element], N: int) -> Any:
    """Return, for each frame, which of its N slots are filled, counted from the left."""
    found = []
    for frame in frames:
        left, top, width, height = (number(frame, a) for a in ("x", "y", "width", "height"))
        found.append(
            {
                int((x - left) / width * N)
                for x, y in map(center, parts)
                if left < x < left + width and top < y < top + height
            }
        )
    return found


@pytest.mark.parametrize("N", CHIPS)
def test_the_cells_of_the_figure_match_the_simulation(N):
    for step, (held, _) in enumerate(simulated(N)):
        found = at(step, N)
        expected = [held[chip][piece] for piece in range(N) for chip in range(N)]
        assert [word.text for word in found["words"]] == [f"{len(s)}/{N}" for s in expected], step
        assert sets_in(found["bars"], found["parts"], N) == expected, step
        assert len(found["parts"]) == sum(map(len, expected)), step


@pytest.mark.parametrize("N", CHIPS)
def test_arrows_match_the_messages_of_the_step(N):
    for step, (_, sent) in enumerate(simulated(N)):
        found = at(step, N)
        cells = [center(cell) for cell in found["cells"]]
        bold = [i for i, c in enumerate(found["cells"]) if number(c, "stroke-width") > 2]
        assert sorted(bold) == sorted(piece * N + (chip + 1) % N for chip, piece, _ in sent), step
        lines = [shape for shape in found.get("arrows", []) if shape.tag.endswith("line")]
        ends = sorted((number(shape, "y1"), number(shape, "x1")) for shape in lines)
        expected = []
        for chip, piece, _ in sent:
            x, y = cells[piece * N + chip]
            # The last chip's arrow takes the return path and arrives left of the first chip.
            expected.append(
                (piece, min(c[0] for c in cells) if chip == N - 1 else x, chip == N - 1)
            )
        assert len(ends) == len(expected)
        for (y, x), (piece, column, back) in zip(ends, sorted(expected), strict=True):
            assert abs(y - cells[piece * N][1]) < 16
            assert x < column if back else column < x
        assert ("around" in found) == (step > 0)


@pytest.mark.parametrize(("N", "step"), EVERYWHERE)
def test_bytes_sent_match_rooflib_collectives(N, step):
    figure, size = picture(), 3e8
    values = figure.values(step=step, N=N, size=size)
    counted = sum(chip == 0 for _, sent in simulated(N)[: step + 1] for chip, _, _ in sent)
    assert values["sent"] == pytest.approx(counted * size / N)
    assert values["last"] == len(simulated(N)) - 1
    assert values["total"] == pytest.approx(all_reduce(size, N))
    if step == N - 1:
        assert values["sent"] == pytest.approx(reduce_scatter(size, N))
    if step == 2 * (N - 1):
        assert values["sent"] == pytest.approx(all_reduce(size, N))
        assert values["sent"] == pytest.approx(reduce_scatter(size, N) + all_gather(size, N))
    found = at(step, N)
    array = sum(number(piece, "width") for piece in found["array-pieces"])
    sent = sum(number(piece, "width") for piece in found["sent-pieces"])
    slots = sum(number(slot, "width") for slot in found["slots"])
    assert sent / array == pytest.approx(values["sent"] / size, abs=1e-3)
    assert slots / array == pytest.approx(all_reduce(1, N), abs=1e-3)
    share, amount = text(counted / N), text(counted * size / N, "B")
    assert found["amount"][0].text == f"{share} × the array = {amount}"
    assert found["sent"][0].text == f"Each chip has sent {counted} of {values['last']:.0f} pieces:"
    whole, of_size = text(all_reduce(size, N), "B"), text(all_reduce(1, N))
    assert found["total"][0].text == f"In all 2 × {N - 1}/{N} = {of_size} × the array: {whole}"
    assert found["carries"][0].text == f"Each arrow carries 1 of {N} pieces: {text(size / N, 'B')}"


@pytest.mark.parametrize("N", CHIPS)
def test_a_step_beyond_the_last_step_is_drawn_like_the_last_step(N):
    last = 2 * (N - 1)
    assert picture().svg(N=N, step=14) == picture().svg(N=N, step=last)


@pytest.mark.parametrize("N", [2, 3, 4, 5, 8])
def test_pieces_travel_from_chip_to_chip_with_the_parts_summed_in_them(N):
    for step, (_, sent) in list(enumerate(simulated(N)))[1:]:
        before, after = at(step - 1, N), at(step - 0.5, N)
        assert "tokens" not in before
        assert [w.text for w in before["words"]] == [w.text for w in after["words"]]
        lap = "reduce-scatter" if step < N else "all-gather"
        assert after["step"][0].text == f"Step {step} of {2 * (N - 1)}: {lap}"
        tokens = after["tokens"]
        assert sets_in(tokens, after["carried"], N) == [s for _, _, s in sent]
        cells = [center(cell)[0] for cell in after["cells"]]
        for (chip, piece, _), token in zip(sent, tokens, strict=True):
            if chip < N - 1:
                here, there = cells[piece * N + chip], cells[piece * N + chip + 1]
                assert center(token)[0] == pytest.approx((here + there) / 2, abs=0.02)
        road = [number(x, "y1") for x in after["road"] if x.tag.endswith("line")]
        assert center(tokens[-1])[1] == pytest.approx(max(road), abs=0.02)


@pytest.mark.parametrize("N", [2, 5, 8])
def test_pieces_move_smoothly_from_the_last_chip_to_the_first(N):
    def place(part: float) -> tuple[float, float]:
        return center(at(1 + part, N, only="tokens")["tokens"][-1])

    places = [place(part / 100) for part in range(1, 100)]
    steps = [math.dist(a, b) for a, b in pairwise(places)]
    # The speed is constant; around corners, straight-line distances are shorter.
    assert max(steps) < 1.02 * sorted(steps)[50]
    columns = sorted({center(cell)[0] for cell in at(1, N)["cells"]})
    assert place(0.0001)[0] == pytest.approx(columns[-1], abs=0.5)
    assert place(0.9999)[0] == pytest.approx(columns[0], abs=0.5)


def test_the_static_picture_states_what_four_chips_send():
    found = marks(picture().svg())
    assert len(found["cells"]) == 16
    words = " ".join("".join(shape.itertext()) for shapes in found.values() for shape in shapes)
    for told in ("1 of 4 pieces: 25 MB", "3 of 6 pieces", "2 × 3/4 = 1.5 × the array: 150 MB"):
        assert told in words.replace("\N{NO-BREAK SPACE}", " ")
    assert "owns one finished piece: 4/4" in words
    assert "In all it sends 150\N{NO-BREAK SPACE}MB: 2 times 3/4" in picture().texts()["says"]


@pytest.mark.parametrize("width", [300, 400, 700])
@pytest.mark.parametrize("N", [2, 4, 8])
def test_everything_is_inside_the_picture_and_text_is_legible(N, width):
    for step in (0.3, 1.7, 2 * N - 2):
        for shape in (shape for shapes in at(step, N, width).values() for shape in shapes):
            for name in ("x", "x1", "x2"):
                assert 0 <= number(shape, name) <= width if name in shape.attrib else True
            if shape.tag.endswith("rect"):
                assert number(shape, "x") + number(shape, "width") <= width
                assert number(shape, "y") + number(shape, "height") <= high(N, width)
            if shape.tag.endswith("text"):
                assert number(shape, "font-size") >= 12
