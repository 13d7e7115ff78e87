"""Tests of the page of rooflib's functions: names, arguments, text and errors."""

import ast
import inspect
import re
import types
from pathlib import Path

import pytest
from bs4 import Tag
from commands.jupyterlab import signatures
from repository import ROOT
from site_links import parsed

import rooflib
from rooflib import plots

FUNCTIONS_OF_PLOTS = [
    f"plots.{name}"
    for name, value in vars(plots).items()
    if inspect.isfunction(value) and value.__module__ == plots.__name__ and name[0] != "_"
]
NAMES = [
    name
    for name in rooflib.__all__
    if not isinstance(getattr(rooflib, name), types.ModuleType) and not name.startswith("__")
]


def object_at(name: str) -> object:
    value: object = rooflib
    for part in name.split("."):
        value = getattr(value, part)
    return value


@pytest.mark.parametrize("name", [*NAMES, *FUNCTIONS_OF_PLOTS])
def test_every_public_name_is_on_the_page(site: Path, name: str) -> None:
    head = parsed(site / "chapters" / "api.html").find(id=f"rooflib.{name}")
    assert head is not None, f"{name} is not on the page of rooflib's functions"
    value = object_at(name)
    if callable(value):
        shown = head.get_text()
        # The page lists no arguments for exceptions.
        raised = isinstance(value, type) and issubclass(value, Exception)
        for argument in () if raised else inspect.signature(value).parameters:
            assert argument in shown, (name, argument)
        body = head.find_next_sibling("dd").get_text()
        documented = words((inspect.getdoc(value) or "").partition("\n")[0])
        assert words(body)[: len(documented)] == documented, name


def words(text: str) -> list[str]:
    """Split into words, without punctuation, which is typographic on the page."""
    return re.findall(r"[^\W_]+", text)


def test_the_api_page_starts_with_the_docstring_of_the_package(site: Path) -> None:
    text = words(parsed(site / "chapters" / "api.html").find(id="rooflib").get_text(" "))
    summary = words((rooflib.__doc__ or "").partition("\n")[0])
    assert text[1 : 1 + len(summary)] == summary


def test_a_constant_does_not_show_the_docstring_of_its_type(site: Path) -> None:
    body = head(site, "__version__").find_next_sibling("dd")
    assert body.get_text().strip() == ""


def test_docstring_sections_are_shown(site: Path) -> None:
    page = parsed(site / "chapters" / "api.html")
    text = page.find(id="rooflib.bound").find_next_sibling("dd").get_text(" ")
    assert "Parameters" in text
    assert "Raises" in text
    assert "ValueError" in text


def head(site: Path, name: str) -> Tag:
    found = parsed(site / "chapters" / "api.html").find(id=f"rooflib.{name}")
    assert found is not None
    return found


def test_overloads_are_shown_as_one_signature(site: Path) -> None:
    page = parsed(site / "chapters" / "api.html")
    for entry in page.select("dl.py"):
        assert len(entry.find_all("dt", class_="sig", recursive=False)) == 1


def test_types_in_signatures_link_to_their_classes(site: Path) -> None:
    links = {link.get_text(): link["href"] for link in head(site, "bound").select("a.reference")}
    assert links == {name: f"#rooflib.{name}" for name in ("Operation", "Chip", "Link", "Bounds")}


def test_default_factories_are_shown_as_calls(site: Path) -> None:
    assert "on_chip: Mapping[str, float] = dict()" in head(site, "Chip").get_text()


def test_parameters_with_a_common_description_are_listed_together(site: Path) -> None:
    body = head(site, "Bounds").find_next_sibling("dd")
    assert "held, capacity" in [name.get_text() for name in body.select("dl.field-list strong")]


def test_property_docstrings_are_shown_completely(site: Path) -> None:
    body = head(site, "Bounds.lower").find_next_sibling("dd")
    assert body.get_text().strip().endswith("overlap perfectly: the longest of the times.")


def test_the_api_page_lists_properties_in_source_order(site: Path) -> None:
    members = [
        entry["id"].removeprefix("rooflib.Link.")
        for entry in parsed(site / "chapters" / "api.html").select('[id^="rooflib.Link."]')
    ]
    properties = [name for name, value in vars(rooflib.Link).items() if isinstance(value, property)]
    assert members == properties


def test_the_jupyterlab_copy_lists_every_name_with_its_arguments() -> None:
    text = signatures.as_list((ROOT / "chapters" / "api.md").read_text(encoding="utf-8"), ROOT)
    listed = dict(re.findall(r"^- `([\w.]+)(.*)`$", text, re.MULTILINE))
    assert set(listed) - {"__version__"} == {*NAMES, *FUNCTIONS_OF_PLOTS}
    for name, shown in listed.items():
        value = object_at(name)
        if callable(value):
            arguments = shown.partition(" -> ")[0].removeprefix("(").removesuffix(")")
            stub = ast.parse(f"def f({arguments}): ...").body[0]
            assert isinstance(stub, ast.FunctionDef)
            args = [*stub.args.posonlyargs, *stub.args.args, *stub.args.kwonlyargs]
            assert [arg.arg for arg in args] == list(inspect.signature(value).parameters), name
            given = [*stub.args.defaults, *filter(None, stub.args.kw_defaults)]
            parameters = inspect.signature(value).parameters.values()
            assert len(given) == sum(p.default is not p.empty for p in parameters), name
