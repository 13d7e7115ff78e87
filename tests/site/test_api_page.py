"""The page of rooflib's functions: every public name, with its arguments, text and errors."""

import ast
import inspect
import re
import types
from pathlib import Path

import pytest
from book_extension import api, docstrings
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
        # An error says what its message does.
        raised = isinstance(value, type) and issubclass(value, Exception)
        for argument in () if raised else inspect.signature(value).parameters:
            assert argument in shown, (name, argument)
        body = head.find_next_sibling("dd").get_text()
        documented = words((inspect.getdoc(value) or "").partition("\n")[0])
        assert words(body)[: len(documented)] == documented, name


def words(text: str) -> list[str]:
    """Without punctuation, which is set in its typographic form."""
    return re.findall(r"[^\W_]+", text)


def test_a_section_of_a_docstring_is_shown(site: Path) -> None:
    page = parsed(site / "chapters" / "api.html")
    text = page.find(id="rooflib.bound").find_next_sibling("dd").get_text(" ")
    assert "Parameters" in text
    assert "Raises" in text
    assert "ValueError" in text


MODULES = {
    "pack/__init__.py": """
from pack.first import Thing, build as make
from pack import drawing
__all__ = ["Thing", "make", "drawing", "LIMIT"]
LIMIT = 3
""",
    "pack/first.py": '''
"""What there is.

More."""
from dataclasses import dataclass, field
import collections.abc

@dataclass
class Thing:
    """A thing."""
    size: int
    parts: "collections.abc.Sequence[str]" = field(default_factory=tuple)
    cached: int = field(init=False, default=0)
    _hidden: int = 0

    @property
    def half(self) -> float:
        """Half of it."""

    def grow(self, by: int = 1, *, twice: bool = False) -> "Thing":
        """A larger one."""

    def _secret(self): ...

def make(): """Not public under this name."""
def build(*sizes: collections.abc.Sequence[int], name="a") -> None: """Build it."""
''',
    "pack/drawing.py": "def draw(ax) -> None: ...\ndef _help(): ...\n",
}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for name, text in MODULES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path / "pack"


def test_public_names_are_found_in_their_modules(package: Path) -> None:
    found = {module.name: list(module.definitions) for module in api.public_modules(package)}
    assert found == {
        "pack": ["LIMIT"],
        "pack.drawing": ["drawing.draw"],
        "pack.first": ["Thing", "make"],
    }


def test_a_class_has_its_arguments_and_public_members(package: Path) -> None:
    *_, module = api.public_modules(package)
    text = api.described("pack", "Thing", module.definitions["Thing"])
    assert text.splitlines()[0] == (
        "::::{py:class} Thing(size: int, parts: Sequence[str] = tuple())"
    )
    heads = [line for line in text.splitlines() if line.startswith(":::{")]
    assert heads == [
        ":::{py:property} Thing.half",
        ":::{py:method} Thing.grow(by: int=1, *, twice: bool=False) -> Thing",
    ]
    assert ":type: float" in text
    assert "Half of it." in text


def test_a_function_has_short_types(package: Path) -> None:
    *_, module = api.public_modules(package)
    text = api.described("pack", "make", module.definitions["make"])
    assert text.splitlines()[0] == ":::{py:function} make(*sizes: Sequence[int], name='a') -> None"
    assert "Build it." in text


def test_a_docstring_becomes_markdown() -> None:
    text = docstrings.as_markdown(
        """First_one `x_y` line with a_b_c and *stars*.

        >>> 1 + 1
        2

            B = R · w

        Parameters
        ----------
        first, second
            One [line]
            and more.

            Another.
        third

        Raises
        ------
        ValueError
            If not.

        Notes
        -----
        At the end.
        """
    )
    assert text == "\n".join(
        [
            r"First\_one `x_y` line with a\_b\_c and \*stars\*.",
            *("", "```pycon", ">>> 1 + 1", "2", "```"),
            *("", "```text", "B = R · w", "```"),
            *("", "**Parameters**", "", "first, second"),
            *(r": One \[line\]", "  and more.", "", "  Another."),
            *("", "third", ": "),
            *("", "**Raises**", "", "ValueError", ": If not."),
            *("", "**Notes**", "", "At the end."),
        ]
    )


def test_types_that_no_page_describes_are_left_alone_on_this_page_only() -> None:
    node = {"refdomain": "py", "reftype": "class", "refdoc": "chapters/api"}
    env = types.SimpleNamespace(metadata={"chapters/api": {"has_api": True}, "index": {}})
    text = object()

    def shown(**changed: str) -> object:
        return api.leave_types_alone(None, env, node | changed, text)  # type: ignore[arg-type]

    assert shown() is text
    assert shown(refdoc="index") is None
    assert shown(reftype="func") is None
    assert shown(refdomain="std") is None


def test_defaults_of_fields() -> None:
    def default(source: str) -> str | None:
        return api.default(ast.parse(source, mode="eval").body)

    assert api.default(None) == ""
    assert default("3") == "3"
    assert default("field(hash=False)") == ""
    assert default("dataclasses.field(default=None)") == "None"
    assert default("field(default_factory=dict)") == "dict()"
    assert default("field(init=False)") is None
