"""Conversion of a built page to plain Markdown, split at its code cells.

Sphinx has already resolved the page: references, numbers, citations and values are text. The
Markdown has no roles or directives, which only some programs understand.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from docutils import nodes
from sphinx import addnodes

from .maths import in_words

SPECIAL = re.compile(r"[\\`*\[\]<>$]|(?<!\w)_|_(?!\w)")
MADE_UP = re.compile(r"id\d+")  # ids that docutils adds where a heading has the name of its label
LINE_START = re.compile(r"^(?P<number>\d*)(?P<mark>[.)#+\-])(?=\s)", re.MULTILINE)
SKIPPED = (
    nodes.Invisible,
    nodes.raw,
    nodes.system_message,
    nodes.colspec,
    nodes.meta,
    nodes.target,
    addnodes.index,
    addnodes.toctree,
)


@dataclass(frozen=True)
class CodeCell:
    """Position of a code cell: its index among all cells of the executed notebook."""

    index: int


@dataclass(frozen=True)
class Target:
    """Place that a link may lead to: here a cell with this id begins."""

    id: str


Block = str | CodeCell | Target


@dataclass(frozen=True)
class Writer:
    """Markdown writer for one page.

    address: gives that of a link as Sphinx has it, "" if there is none. files: the address of the
    files to download, or "". numbers: those of figures.
    """

    address: Callable[[str], str]
    files: str = ""
    numbers: Mapping[str, str] = field(default_factory=dict)

    def blocks(self, children: Iterable[nodes.Node], depth: int = 0) -> list[Block]:
        """Return the blocks of a document, section, list item or box."""
        found: list[Block] = []
        for node in children:
            found += targets(node)
            if isinstance(node, nodes.section):
                found += self.blocks(node.children, depth + 1)
            elif isinstance(node, nodes.title):
                found.append(f"{'#' * depth} {self.inline(node)}")
            elif isinstance(node, nodes.container) and node.get("nb_element") == "cell_code":
                found.append(CodeCell(node["cell_index"]))
                for figure in node.findall(nodes.figure):
                    found += [*targets(figure), self.captioned(figure)]
            elif isinstance(node, SKIPPED):
                continue
            elif (write := self.writer_of(node)) is not None:
                found.append(write(node))
            elif isinstance(node, nodes.Element):
                found += self.blocks(node.children, depth)
        return [block for block in found if block]

    def text(self, children: Iterable[nodes.Node]) -> str:
        """Write nodes that contain no code cells as one text."""
        return "\n\n".join(block for block in self.blocks(children) if isinstance(block, str))

    def writer_of(self, node: nodes.Node) -> "Callable[..., str] | None":
        """Return the method that writes a node; None if the node has no markup."""
        writers: dict[type[nodes.Node], Callable[..., str]] = {
            nodes.paragraph: self.paragraph,
            nodes.caption: self.paragraph,
            nodes.rubric: lambda rubric: f"**{self.inline(rubric)}**",
            nodes.bullet_list: lambda items: self.items(items, lambda _: "- "),
            nodes.enumerated_list: lambda items: self.items(
                items, lambda n: f"{n + items.get('start', 1) - 1}. "
            ),
            nodes.definition_list_item: self.definition,
            nodes.admonition: self.admonition,
            nodes.table: self.table,
            nodes.math_block: self.formula,
            nodes.literal_block: self.code,
            nodes.citation: lambda entry: f"- {self.text(entry.children[1:])}",
            nodes.block_quote: lambda quote: quoted(self.text(quote.children)),
            addnodes.desc_signature: lambda signature: code_span(
                " ".join(signature.astext().split())
            ),
            # Text elements of extensions, such as a card's title.
            nodes.TextElement: self.paragraph,
        }
        if getattr(node, "tagname", "") == "dropdown_main":
            return self.dropdown
        return next((write for kind, write in writers.items() if isinstance(node, kind)), None)

    def paragraph(self, node: nodes.Element) -> str:
        return LINE_START.sub(r"\g<number>\\\g<mark>", self.inline(node).strip())

    def items(self, node: nodes.Element, mark: Callable[[int], str]) -> str:
        """Write a list, with the body of each item indented by the width of its mark."""
        lines = []
        for number, item in enumerate(node.children, start=1):
            assert isinstance(item, nodes.Element)
            sign = mark(number)
            body = self.text(item.children).replace("\n", "\n" + " " * len(sign))
            lines.append(sign + body)
        return re.sub(r"[ ]+$", "", "\n".join(lines), flags=re.MULTILINE)

    def definition(self, node: nodes.Element) -> str:
        terms = ", ".join(self.inline(term) for term in node.findall(nodes.term))
        meaning = " ".join(self.text(d.children) for d in node.findall(nodes.definition))
        return f"- **{terms}**: {meaning}".replace("\n", "\n  ")

    def admonition(self, node: nodes.Element) -> str:
        title = self.inline(node[0]) if isinstance(node[0], nodes.title) else ""
        body = node.children[1:] if title else node.children
        return quoted("\n\n".join(filter(None, [f"**{title}**" if title else "", self.text(body)])))

    def dropdown(self, node: nodes.Element) -> str:
        """Write a folded block as `<details>`.

        GitHub, VS Code, Colab and Jupyter show it.
        """
        titles = [child for child in node.findall(nodes.Element) if is_dropdown_title(child)]
        body = [child for child in node.children if child not in titles]
        title = " ".join(self.inline(found).strip() for found in titles)
        return f"<details>\n<summary>{title}</summary>\n\n{self.text(body)}\n\n</details>"

    def table(self, node: nodes.Element) -> str:
        rows = [
            [
                " ".join(self.text(entry.children).split()).replace("|", "\\|")
                for entry in row.findall(nodes.entry)
            ]
            for row in node.findall(nodes.row)
        ]
        entries = list(next(iter(node.findall(nodes.row))).findall(nodes.entry))
        sides = ["---:" if "text-right" in entry["classes"] else "---" for entry in entries]
        lines = [f"| {' | '.join(row)} |" for row in (rows[0], sides, *rows[1:])]
        title = next(iter(node.findall(nodes.title)), None)
        return self.captioned(node) + "\n\n" + "\n".join(lines) if title else "\n".join(lines)

    def captioned(self, node: nodes.Element) -> str:
        """Write the number and the caption of a figure or table."""
        words = next(iter(node.findall(lambda n: isinstance(n, nodes.caption | nodes.title))), None)
        if words is None:
            return ""
        assert isinstance(words, nodes.Element)
        number = next((self.numbers[name] for name in node["ids"] if name in self.numbers), "")
        return f"**{number}.** {self.inline(words)}" if number else self.inline(words)

    def formula(self, node: nodes.Element) -> str:
        source = in_words(node.astext().strip())
        return source if node.get("no-wrap") or node.get("nowrap") else f"$$\n{source}\n$$"

    def code(self, node: nodes.Element) -> str:
        source = node.astext().rstrip("\n")
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", source)), default=0))
        language = node.get("language", "")
        return f"{fence}{'' if language in ('default', 'none') else language}\n{source}\n{fence}"

    def inline(self, node: nodes.Node) -> str:
        """Write inline content."""
        if isinstance(node, nodes.Text):
            return SPECIAL.sub(lambda found: "\\" + found[0], str(node))
        if isinstance(node, SKIPPED):
            return ""
        assert isinstance(node, nodes.Element)
        if isinstance(node, nodes.literal):
            return code_span(node.astext())
        if isinstance(node, nodes.math):
            return f"${in_words(node.astext().strip())}$"
        if isinstance(node, nodes.image):
            return str(node.get("alt", ""))
        inside = "".join(map(self.inline, node.children))
        if isinstance(node, nodes.emphasis):
            return f"*{inside}*"
        if isinstance(node, nodes.strong):
            return f"**{inside}**"
        # Test download_reference before reference, its base class.
        if isinstance(node, addnodes.download_reference):
            file = node.get("filename")
            return f"[{inside}]({self.files}{file})" if self.files and file else inside
        if isinstance(node, nodes.reference):
            return self.link(node, inside)
        return inside

    def link(self, node: nodes.Element, inside: str) -> str:
        """Write a link, or its text alone if it leads to an unknown address."""
        to = str(node.get("refuri") or f"#{node.get('refid', '')}")
        if re.match(r"[a-z]+:", to):
            return f"<{to}>" if node.astext() == to else f"[{inside}]({to})"
        address = self.address(to)
        return f"[{inside}]({address})" if address else inside


def targets(node: nodes.Node) -> list[Target]:
    """Return the target that a block is, by the id of its label if it has one."""
    if isinstance(node, nodes.definition_list_item):
        node = node.next_node(nodes.term)
    ids = node["ids"] if isinstance(node, nodes.Element) else []
    told = [one for one in ids if not MADE_UP.fullmatch(one)]
    return [Target(cell_id((told or ids)[-1]))] if ids else []


def cell_id(anchor: str) -> str:
    """Return the id of a cell for that of a place on a page: it has no dots, and an end."""
    return re.sub(r"[^\w-]", "-", anchor)[:64]


def is_dropdown_title(node: nodes.Element) -> bool:
    return str(node.tagname) == "dropdown_title"


def quoted(text: str) -> str:
    """Format a block quote."""
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def code_span(text: str) -> str:
    """Format inline code with a fence longer than any run of backticks in it."""
    mark = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{mark}{space}{text}{space}{mark}"
