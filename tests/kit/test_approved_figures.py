"""Figures look and read as approved in approved_figures.toml.

If you changed a figure on purpose, look at the drawings in the folder that the failure names, then
run `python tests/kit/approve_figures.py` and commit the table.
"""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from drawn_figures import FIGURES, MORE, digests, drawings

APPROVED = tomllib.loads(
    Path(__file__).with_name("approved_figures.toml").read_text(encoding="utf-8")
)


def test_every_figure_has_an_approved_version() -> None:
    assert set(APPROVED) == set(FIGURES | MORE)


@pytest.mark.parametrize("name", FIGURES | MORE)
def test_a_figure_looks_and_reads_as_approved(name: str, tmp_path: Path) -> None:
    figure = (FIGURES | MORE)[name]()
    found, approved = digests(figure), APPROVED[name]
    changed = [key for key in found | approved if found.get(key) != approved.get(key)]
    for place, svg in drawings(figure) if changed else ():
        (tmp_path / f"{place}.svg").write_text(svg, encoding="utf-8")
    assert not changed, (
        f"{name} differs from what was approved in {changed}. Look at the drawings in {tmp_path}; "
        "if they are right, run `python tests/kit/approve_figures.py`."
    )


def test_figures_do_not_depend_on_the_hash_seed() -> None:
    """Draw the figures with two hash seeds, which change the iteration order of sets."""
    command = (
        "from drawn_figures import FIGURES; print([made().html() for made in FIGURES.values()])"
    )
    first, second = (
        subprocess.run(
            [sys.executable, "-c", command],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    )
    assert len(first) > 100_000
    assert first == second
