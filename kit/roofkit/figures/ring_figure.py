"""The ring figure: an all-reduce as reduce-scatter and all-gather, step by step."""

from __future__ import annotations

from roofkit.figures.engine.controls import Number, Slider, Steps
from roofkit.figures.engine.figure import Figure, in_languages
from roofkit.figures.engine.sentences import one_of, quoted, said
from roofkit.figures.options import decades
from roofkit.figures.ring_marks import HEIGHT, marks
from roofkit.words import _

MIN_CHIPS, MAX_CHIPS = 2, 8


# Source: Patarasuk & Yuan 2009, as in rooflib.operations. The order is that of chapter 5. In step
# t of the reduce-scatter (from 0), chip k sends piece k - t to chip k + 1, which adds it to its
# own. In step t of the all-gather it sends piece k + 1 - t, which replaces that of chip k + 1.
def formulas() -> dict[str, str]:
    all_of_it = quoted(_("as much as the array"))
    its_size = quoted(_("as much as its size"))
    so_far = said(_("{count} times the array"), count="text(share)")
    in_all = said(_("{count} times its size"), count="text(total_share)")
    phases = (
        _("before the first step"),
        _("reduce-scatter"),
        _("reduce-scatter, done"),
        _("all-gather"),
        _("all-gather, done"),
    )
    holds = (
        quoted(_("Each chip has its own part of every sum.")),
        quoted(_("What arrives is added to the chip’s own part.")),
        said(_("Each chip owns one finished piece: {n}/{n}."), n="text(N)"),
        quoted(_("What arrives replaces the chip’s own part.")),
        quoted(_("Every chip has every piece finished.")),
    )
    return {
        "half": "rl.ring_steps(N, 1)",
        "last": "rl.ring_steps(N, 2)",
        "done": "min(step, last)",
        "happened": "floor(done)",
        "now": "ceil(done)",
        "way": "done - happened",
        "piece": "size / N",
        "sent": "happened * piece",
        "share": "happened / N",
        "total": "rl.all_reduce(size, N)",
        "total_share": "last / N",
        "count": said(_("{n} of {all}"), n="text(happened)", all="text(last)"),
        "so_far": f"either(share == 1, {all_of_it}, {so_far})",
        "in_all": f"either(total_share == 1, {its_size}, {in_all})",
        "of_size": "text(half) + '/' + text(N)",
        # Exactly at `half`, the reduce-scatter is complete and the all-gather has not started.
        "stage": "1 * (done > 0) + 1 * (done >= half) + 1 * (done > half) + 1 * (done >= last)",
        "phase": one_of(phases, "stage"),
        "holds": f"at([{', '.join(holds)}], stage)",
    }


@in_languages
def ring() -> Figure:
    """Draw an all-reduce on a ring: what each chip holds, and what it has sent.

    Controls: step (0 to 2(N - 1); later ones look like the last), N (chips), size (bytes of the
    array of partial sums that each chip starts with).
    """
    return Figure(
        name="ring",
        title=_("Step around the ring: how many bytes does each chip send?"),
        controls=[
            Steps("step", _("step"), list(range(2 * MAX_CHIPS - 1)), 3, last="last"),
            Slider("N", _("N (chips)"), list(range(MIN_CHIPS, MAX_CHIPS + 1)), 4),
            Slider("size", _("array on each chip"), decades(6, 9), 1e8, "B"),
        ],
        given={},
        formulas=formulas(),
        numbers=[
            Number("piece", _("one piece"), "B"),
            Number("sent", _("sent by each chip so far"), "B"),
            Number("share", _("sent so far, in arrays")),
            Number("total", _("sent in all steps"), "B"),
            Number("total_share", _("sent in all, in arrays")),
        ],
        says=_(
            "{N} chips in a ring, {count} steps done: {phase}. {holds} In each step every chip "
            "sends one of {N} pieces, {piece}, to the next chip. So far each has sent {sent}, "
            "{so_far} of {size}. In all it sends {total}: 2 times {of_size} of the "
            "array, {in_all}."
        ),
        height=HEIGHT,
        marks=marks,
    )
