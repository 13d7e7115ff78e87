"""Figures look and read as approved in approved_figures.toml.

If you changed a figure on purpose, look at the drawings in the folder that the failure names, then
run `python tests/kit/approve_figures.py` and commit the table.
"""

import tomllib
from pathlib import Path

import pytest
from drawn_figures import FIGURES, digests, drawings

APPROVED = tomllib.loads(
    Path(__file__).with_name("approved_figures.toml").read_text(encoding="utf-8")
)


def test_every_figure_is_approved() -> None:
    assert set(APPROVED) == set(FIGURES)


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_looks_and_reads_as_approved(name: str, tmp_path: Path) -> None:
    figure = FIGURES[name]()
    found, approved = digests(figure), APPROVED[name]
    changed = {
        kind: [key for key in found[kind] | approved[kind] if differs(kind, key, found, approved)]
        for kind in found
    }
    for place, svg in drawings(figure):
        if place in changed["drawings"]:
            (tmp_path / f"{place}.svg").write_text(svg, encoding="utf-8")
    assert not any(changed.values()), (
        f"{name} differs from what was approved: {changed}. Look at the drawings in {tmp_path}; "
        "if they are right, run `python tests/kit/approve_figures.py`."
    )


def differs(
    kind: str, key: str, found: dict[str, dict[str, str]], approved: dict[str, dict[str, str]]
) -> bool:
    return found[kind].get(key) != approved[kind].get(key)
