"""Pages that edition.toml calls finished: nothing on them is left in English."""

import tomllib
from pathlib import Path

import pytest
from repository import ROOT
from site_links import parsed

EDITION = tomllib.loads((ROOT / "locale/zh_CN/edition.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", EDITION["finished"])
def test_finished_pages_show_no_english(site: Path, name: str) -> None:
    article = parsed(site / f"zh/{name}.html").select_one("article")
    assert article
    english = [
        part.get_text()
        for part in article.select("[lang=en]")
        if not {"cell_input", "cell_output", "citation"} & set(part.get_attribute_list("class"))
    ]
    assert [text for text in english if text not in EDITION["same"]] == []
