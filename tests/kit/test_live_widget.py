"""Figures as widgets in JupyterLab: the reader's own chip, and animated steps."""

from typing import Any

import pytest

import rooflib as rl
from roofkit import figures
from roofkit.figures import Figure
from roofkit.figures.engine.own_chip import OWN, QUANTITIES

TYPED = {"peak": 500.0, "bandwidth": 2000.0, "memory": 24.0, "link": 25.0}
IN_UNITS = {name: number * QUANTITIES[name].factor for name, number in TYPED.items()}
WITH_CHIPS = ["time", "intensity", "roofline", "matmul", "chips", "attention", "model"]


def fields(figure: Figure) -> dict[str, Any]:
    """Return the number fields for the reader's own chip, by quantity."""
    folded = figure.widget.children[-2]
    assert folded.selected_index is None
    _, *found = folded.children[0].children
    return dict(zip(QUANTITIES, found[::2], strict=True))


def refusals(figure: Figure) -> list[str]:
    """Return the message below each number field."""
    return [words.value for words in figure.widget.children[-2].children[0].children[2::2]]


def shown(figure: Figure) -> str:
    return str(figure.widget.children[-1].value)


@pytest.mark.parametrize("name", WITH_CHIPS)
def test_typed_numbers_become_the_readers_own_chip(name: str) -> None:
    figure = getattr(figures, name)()
    choice = next(c.name for c in figure.controls if OWN in c.options)
    for quantity, field in fields(figure).items():
        assert QUANTITIES[quantity].unit in field.description
        field.value = TYPED[quantity]
    assert figure.settings[choice] == OWN
    expected = getattr(figures, name)().with_own(**IN_UNITS)
    assert figure.values() == expected.values(**{choice: OWN})
    # Figure, numbers and words.
    for part in expected.texts(**{choice: OWN}).values():
        assert part in shown(figure)
    assert expected.svg(**{choice: OWN}) in shown(figure)


def test_numbers_of_a_typed_chip_match_rooflib() -> None:
    figure = figures.time()
    fields(figure)["bandwidth"].value = 4000
    assert figure.values()["t_comms"] == figure.settings["bytes"] / 4e12
    assert rl.text(figure.settings["bytes"] / 4e12, "s") in shown(figure)


@pytest.mark.parametrize("nonsense", [0, -3, float("inf"), float("nan"), 1e9, 1e-9])
def test_an_invalid_number_changes_nothing_and_says_what_is_allowed(nonsense: float) -> None:
    figure = figures.time()
    before = shown(figure)
    fields(figure)["peak"].value = nonsense
    assert shown(figure) == before
    assert figure.settings["chip"] != OWN
    allowed = "Type a number from 0.0001 to 1,000,000 TFLOP/s. Until then it stays 100 TFLOP/s."
    assert refusals(figure) == [allowed, "", "", ""]
    fields(figure)["peak"].value = 250
    assert refusals(figure) == [""] * 4
    fields(figure)["peak"].value = -250
    assert "Until then it stays 250 TFLOP/s." in refusals(figure)[0]
    assert figure.values()["t_math"] == figure.settings["flops"] / 250e12


def test_figures_without_chips_have_no_chip_fields() -> None:
    kinds = [type(child).__name__ for child in figures.ring().widget.children]
    assert "Accordion" not in kinds


# The ring has 2(N - 1) steps, so the control for N sets the number of steps.


def ring() -> tuple[Figure, Any, Any, Any]:
    """Return the figure, its step slider, its player, and the slider for N."""
    figure = figures.ring()
    row, chips, _ = figure.widget.children[1:4]
    return figure, *row.children, chips


def test_play_stops_at_the_last_step() -> None:
    figure, steps, play, chips = ring()
    assert (play.min, play.value, play.max) == (0, steps.value, 6)
    chips.value = 8
    assert play.max == 14
    chips.value = 2
    assert play.max == 2
    # In the browser, the player's buttons set `play.value`.
    play.value = 1
    assert figure.settings["step"] == steps.value == 1


def test_a_step_beyond_the_new_end_is_clamped_to_the_last_step() -> None:
    figure, steps, play, chips = ring()
    chips.value = 8
    steps.value = 14
    assert play.value == 14
    chips.value = 3
    assert (steps.value, play.value, play.max) == (4, 4, 4)
    assert figure.texts()["says"] == figures.ring().texts(N=3, step=4)["says"]
    assert figures.ring().svg(N=3, step=4) in shown(figure)


def test_a_slider_moved_beyond_the_last_step_returns_to_it() -> None:
    figure, steps, play, _ = ring()
    steps.value = 11
    assert (steps.value, play.value) == (6, 6)
    assert figures.ring().svg(step=6) in shown(figure)


@pytest.mark.parametrize("name", ["ring", "tiles", "byte"])
def test_every_step_up_to_the_last_can_be_played(name: str) -> None:
    figure = getattr(figures, name)()
    players = [row.children for row in figure.widget.children if type(row).__name__ == "HBox"]
    assert players
    for steps, play in players:
        for step in range(int(play.max) + 1):
            play.value = step
            assert steps.index == step
