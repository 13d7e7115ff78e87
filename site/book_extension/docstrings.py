"""Docstrings in numpy's style as Markdown."""

import inspect
import re
from collections.abc import Iterator
from textwrap import dedent

# A heading of numpy's style: a line, and dashes under it.
HEADING = re.compile(r"^(?P<name>[A-Z][A-Za-z ]+)\n-{3,}\n", re.MULTILINE)
FIELDS = ("Parameters", "Attributes", "Returns", "Raises", "Yields")
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
MARKED = re.compile(r"([\\*_\[\]<>$#{}|~])")


def as_markdown(docstring: str) -> str:
    """The whole docstring: paragraphs, examples, and each section under its name in bold."""
    parts = HEADING.split(inspect.cleandoc(docstring))
    blocks = [paragraphs(parts[0])]
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        text = fields(body) if name in FIELDS else paragraphs(body)
        blocks.append(f"**{name}**\n\n{text}")
    return "\n\n".join(block for block in blocks if block)


def paragraphs(text: str) -> str:
    """Paragraphs with everything but code taken literally; examples as blocks of code."""
    blocks = re.split(r"\n(?:[ ]*\n)+", dedent(text).strip("\n"))
    return "\n\n".join(paragraph(block) for block in blocks if block.strip())


def paragraph(block: str) -> str:
    """One paragraph: an example, an indented block, or prose."""
    if block.startswith(">>>"):
        return f"```pycon\n{block}\n```"
    if all(line.startswith("    ") for line in block.splitlines()):
        return f"```text\n{dedent(block)}\n```"
    return literal(block)


def fields(body: str) -> str:
    """Names with their indented descriptions, as a definition list."""
    items = []
    for name, description in _items(dedent(body)):
        lines = paragraphs(description).splitlines() or [""]
        indented = "\n".join([f": {lines[0]}", *(f"  {line}".rstrip() for line in lines[1:])])
        items.append(f"{literal(name)}\n{indented}")
    return "\n\n".join(items)


def _items(body: str) -> Iterator[tuple[str, str]]:
    name, description = "", ""
    for line in body.splitlines():
        if line[:1].strip():
            if name:
                yield name, description
            name, description = line.strip(), ""
        else:
            description += line + "\n"
    if name:
        yield name, description


def literal(text: str) -> str:
    """Text in which Markdown sees nothing but code spans."""
    parts, end = [], 0
    for code in CODE.finditer(text):
        parts += [MARKED.sub(r"\\\1", text[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*parts, MARKED.sub(r"\\\1", text[end:])])
