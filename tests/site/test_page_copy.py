"""How a page's copy in JupyterLab names a block whose words no longer hold."""

import pytest
from book_extension.prose import Block
from commands.jupyterlab.page_copy import block_data


@pytest.mark.parametrize("count", range(12))
def test_a_block_is_named_by_its_first_words_and_marked_if_they_are_not_all(count: int) -> None:
    words = [f"word-{n}" for n in range(count)]
    text = "{while}`a < 2` {eval}`a`\n" + "\n".join(words)
    begins = block_data(Block(0, text, "a < 2", ("a",), ""), {"a": "one"}, str)["begins"]
    shown, cut, rest = begins.partition(" …")
    assert ["one", *words][: len(shown.split())] == shown.split()
    assert (bool(cut), rest) == (len(shown.split()) <= count, "")
