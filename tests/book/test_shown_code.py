"""Tests that pages show only instructive code, and readable results.

Setup and plotting are hidden.
"""

import re

import pytest
from myst_nb.core.read import read_myst_markdown_notebook
from myst_parser.config.main import MdParserConfig
from nbformat import NotebookNode
from rendered import outputs
from repository import ROOT

PAGES = ["introduction", "time", "intensity", "roofline", "matmul", "chips", "attention"]
PAGES += ["machine", "own-model"]
PAGES += ["summary", "homework", "hardware"]
HIDDEN = {"remove-cell", "remove-input"}
LINK = re.compile(r"\[[^\]]+\]\(https?://[^)]*\)")
# Raw Python output: lists, arrays, dictionaries, booleans and unrounded floats.
RAW = re.compile(
    r"[\[({](?![a-z]+ )[^\])}]*[\d\'\"],?[\])}]|\b(?:True|False|None)\b|\d\.\d{5}|\d{13}"
)


def cells(page: str) -> list[NotebookNode]:
    source = (ROOT / f"chapters/{page}.md").read_text(encoding="utf-8")
    found = read_myst_markdown_notebook(source, config=MdParserConfig()).cells
    return [cell for cell in found if cell.cell_type == "code"]


def tags(cell: NotebookNode) -> set[str]:
    return set(cell.metadata.get("tags", []))


@pytest.mark.parametrize("page", PAGES)
def test_no_cell_has_the_tag_that_folds_its_code(page: str) -> None:
    assert not [cell.source for cell in cells(page) if "hide-input" in tags(cell)]


@pytest.mark.parametrize("page", PAGES)
def test_setup_cells_come_first_and_are_hidden(page: str) -> None:
    first, *rest = cells(page)
    assert "import rooflib as rl" in first.source
    assert tags(first) == {"remove-cell"}
    assert not [cell.source for cell in rest if "use_style" in cell.source]


@pytest.mark.parametrize("page", PAGES)
def test_code_that_makes_tables_or_figures_is_hidden(page: str) -> None:
    makes = re.compile(r"rl\.Table\(|from roofkit import")
    made = [cell for cell in cells(page) if makes.search(cell.source)]
    assert made
    assert not [cell.source for cell in made if not tags(cell) & HIDDEN]


@pytest.mark.parametrize("page", PAGES)
def test_results_are_formatted_text(page: str) -> None:
    assert not RAW.findall(LINK.sub("", outputs(f"chapters/{page}")))


@pytest.mark.parametrize(
    "shown",
    ["[11.91 12.91]", "(8, 22)", "{'fp32': 14000000000000.0}", "agree: True", "0.123456789012"],
)
def test_raw_python_results_are_found(shown: str) -> None:
    assert RAW.search(shown)
