"""Tests of roles and links in a page's text, which become Markdown.

The text around them stays as it is.
"""

from types import SimpleNamespace
from typing import Any

import pytest
from commands.jupyterlab import roles
from hypothesis import given
from hypothesis import strategies as st

LINKS: Any = roles.Links(SimpleNamespace(labels={}), {}, "chapters/here")  # type: ignore[arg-type]
VALUES = {"a": "7", "a + b": "twelve"}
TEXTS = st.sampled_from(["", "A word", "and ", ".\n\n", "see `{eval}`.", "see `<a href=x>`."])

# The functions under test; MADE maps a role or link to what each function makes of it.
WAYS = {
    "roles": lambda text: roles.without_roles(text, LINKS),
    "values": lambda text: roles.with_values(text, VALUES),
    "premises": roles.without_premises,
    "links": roles.without_site_links,
}
MADE = {
    "{eval}`a`": {"values": "7"},
    "{eval}`a\n+ b`": {"values": "twelve", "roles": "{eval}`a + b`"},
    "{eval}`c`": {"values": "c"},
    "{while}`a < 2` ": {"values": "", "roles": "", "premises": ""},
    "{download}`the file <x.csv>`": {"roles": "the file"},
    '<a href="x.html">the page</a>': {"links": "the page"},
    '<a href="https://x">elsewhere</a>': {},
}


@pytest.mark.parametrize("way", WAYS)
@given(pairs=st.lists(st.tuples(TEXTS, st.sampled_from(list(MADE))), max_size=4), last=TEXTS)
def test_conversion_to_markdown_changes_only_roles_and_links(
    way: str, pairs: list[tuple[str, str]], last: str
) -> None:
    # Put a bar before each role, since a role right after a backtick isn't recognized.
    page = "".join(f"{text}|{role}" for text, role in pairs) + last
    expected = "".join(f"{text}|{MADE[role].get(way, role)}" for text, role in pairs) + last
    assert WAYS[way](page) == expected
