"""Tests of a page's directives for JupyterLab: written, then read again."""

from typing import Any

from commands.jupyterlab.sources import blocks
from hypothesis import given
from hypothesis import strategies as st

WORDS = st.text("ab c", max_size=6).map(str.strip)
NAMES = st.from_regex(r"[a-z]+(-[a-z]+)?", fullmatch=True)
# Lines that a parser could mistake for an option or for the end of a fence.
LINES = st.sampled_from(["words", "", ":name", "a :b: c", "``", "`code`", "~~~", "# :x: y"])
DIRECTIVES = st.tuples(
    st.sampled_from(["```", "````", ":::", "::::"]),
    NAMES,
    WORDS,
    st.dictionaries(NAMES, WORDS, max_size=3),
    st.lists(LINES, max_size=4),
)
PROSE = st.lists(st.sampled_from(["A sentence.\n", "\n", "`{a}` and {b}\n"]), max_size=3)


@given(st.lists(st.tuples(PROSE, DIRECTIVES), max_size=3))
def test_directives_round_trip(page: list[Any]) -> None:
    text, expected = "", []
    for prose, (fence, name, argument, options, lines) in page:
        text += "".join(prose)
        body = "".join(f"{line}\n" for line in lines)
        start = len(text)
        text += f"{fence}{{{name}}} {argument}".rstrip() + "\n"
        text += "".join(f":{key}: {value}\n" for key, value in options.items())
        text += f"{body}{fence}\n"
        expected.append((start, len(text), name, argument, options, body))
    text += "The end.\n"
    found = [(b.start, b.end, b.name, b.argument, b.options, b.body) for b in blocks(text)]
    assert found == expected
