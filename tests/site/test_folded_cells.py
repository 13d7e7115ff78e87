"""Tests of downloaded notebooks: cells folded or hidden on the page are folded."""

import nbformat
import pytest
from book_extension.page_download import code_cell

PARTS = {
    "hide-input": {"source_hidden"},
    "remove-input": {"source_hidden"},
    "hide-output": {"outputs_hidden"},
    "hide-cell": {"source_hidden", "outputs_hidden"},
    "remove-cell": {"source_hidden"},
    "other": set(),
}


@pytest.mark.parametrize("tag", PARTS)
def test_a_cell_is_folded_by_its_tag(tag: str) -> None:
    made = code_cell(nbformat.v4.new_code_cell("1", metadata={"tags": [tag]}))
    assert made.metadata.get("jupyter", {}) == dict.fromkeys(PARTS[tag], True)
