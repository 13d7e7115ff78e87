"""The tiles figure: a small matmul in tiles that counts loaded elements."""

from __future__ import annotations

from roofkit.figures.engine.controls import Number, Slider, Steps
from roofkit.figures.engine.figure import Figure, in_languages
from roofkit.figures.engine.sentences import one_of, quoted, said
from roofkit.figures.tiles_marks import HEIGHT, N, marks
from roofkit.words import _
from rooflib.dtypes import dtype

SIDES = [side for side in range(1, N + 1) if N % side == 0]
START = SIDES[-2]


def formulas() -> dict[str, str]:
    happened = _(
        "The last step brought {nth_piece} of x and of w for {nth_tile}: {each_piece} of either."
    )
    once = quoted(_("once"))
    often = said(_("{count} times"), count="text(times)")
    element, elements = quoted(_("element")), quoted(_("elements"))
    return {
        "tiles": "(n / t) * (n / t)",
        "last": "tiles * n",
        "done": "floor(min(step, last))",
        # `current` is the step in progress, or else the last finished one. It loads piece `d` of
        # tile `tile`.
        "current": "max(0, ceil(min(step, last)) - 1)",
        "tile": "floor(current / n)",
        "d": "current - n * tile",
        "tile_row": "floor(tile * t / n)",
        "tile_column": "tile - tile_row * n / t",
        "loaded": "2 * t * done",
        "loaded_bytes": "size * loaded",
        "finished": "floor(done / n)",
        "written": "t * t * finished",
        "flops": "2 * t * t * done",
        # Each of n³/t² steps loads 2t elements (chapter "Matrix multiplication"). No order of the
        # products has loads that grow more slowly (Hong and Kung, 1981).
        "total": "2 * n * n * n / t",
        "least": "2 * n * n",
        "times": "total / least",
        "held": "t * t",
        "intensity": "2 * n * n * n / (size * (total + n * n))",
        "happened": one_of((_("Nothing is loaded yet."), happened), "1 * (done > 0)"),
        "nth_piece": said(_("piece {n} of {all}"), n="text(d + 1)", all="text(n)"),
        "nth_tile": said(_("tile {n} of {all}"), n="text(tile + 1)", all="text(tiles)"),
        "each_piece": f"text(t, either(t == 1, {element}, {elements}))",
        "out_room": f"either(written == 1, {element}, {elements})",
        "room": f"either(held == 1, {element}, {elements})",
        "often": f"either(times == 1, {once}, {often})",
    }


@in_languages
def tiles() -> Figure:
    """Draw x · w → out with n elements per side, multiplied in tiles of side t.

    Each step loads t elements of a column of x and t elements of a row of w, and adds their t²
    products to the sums of an output tile, like the loop in the chapter.
    Controls: t, step (0 to `last`).
    """
    return Figure(
        name="tiles",
        title=_("Play the tiles: how many elements are loaded, and how many of them again?"),
        controls=[
            Slider("t", _("side t of a tile"), SIDES, START),
            Steps(
                "step",
                _("steps done"),
                list(range(N**3 + 1)),
                # Start amid a tile in the second row, where some elements were loaded twice.
                N * (N // START) + N // 2 - 1,
                last="last",
            ),
        ],
        given={"n": N, "size": dtype("bf16").bytes},
        formulas=formulas(),
        numbers=[
            Number("done", _("steps done")),
            Number("last", _("steps in all")),
            Number("loaded", _("loaded so far"), _("elements")),
            Number("loaded_bytes", _("loaded so far, bf16"), "B"),
            Number("total", _("2n³/t, loaded in all"), _("elements")),
            Number("least", _("2n², the least possible"), _("elements")),
            Number("times", _("loads of each element, in all")),
            Number("written", _("written so far"), "@out_room"),
            Number("held", _("sums on the chip"), "@room"),
            Number("intensity", _("intensity of the whole"), "FLOP/byte"),
        ],
        says=_(
            "After {done} of {last} steps, {loaded} of x and w are loaded, {loaded_bytes} in bf16, "
            "and {written} of out are written. {happened} Tiles of side {t} load {total} in all, "
            "each element {often}; the least possible is {least}. The sums of one tile take "
            "room for {held} on the chip, and the intensity of the whole is {intensity}."
        ),
        height=HEIGHT,
        marks=marks,
    )
