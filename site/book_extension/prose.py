"""Search for roles in Markdown source, outside of code."""

import re
from collections.abc import Container, Iterator

FENCE = re.compile(r"^(?P<indent>[ >]*)(?P<mark>`{3,}|~{3,}|:{3,})[ ]*(?P<info>.*?)[ ]*$")
DIRECTIVE = re.compile(r"^\{(?P<name>[^}\s]+)\}")
# Directives whose body is not Markdown.
LITERAL_DIRECTIVES = {"code", "code-block", "code-cell", "raw-cell", "math", "raw"}
CODE_SPAN = re.compile(r"(?<![`\\])(`{2,})(?!`)((?:(?!\n[ >]*\n).)+?)(?<!`)\1(?!`)", re.DOTALL)
EVAL = re.compile(r"(?<![`\\])\{eval\}`(?P<expression>[^`]+)`")


def without_code(markdown: str, literal_directives: Container[str] = LITERAL_DIRECTIVES) -> str:
    """Return the text at the same length with code and comments blanked out."""
    blocks = [""]  # prose; fence; prose; ...
    open_fences: list[
        tuple[str, bool]
    ] = []  # open fences, outermost first: marker, whether the body is literal
    for line in markdown.splitlines(keepends=True):
        fence = FENCE.match(line)
        literal = bool(open_fences) and open_fences[-1][1]
        depth = _closed_by(fence["mark"], open_fences) if fence and not fence["info"] else None
        if depth is not None:
            del open_fences[depth:]
            blocks += [line, ""]
        # CommonMark: with a backtick in its info string, the line is inline code, not a fence.
        elif fence and not literal and not (fence["mark"][0] == "`" and "`" in fence["info"]):
            directive = DIRECTIVE.match(fence["info"])
            if directive:
                body_is_literal = directive["name"] in literal_directives
            else:
                body_is_literal = fence["mark"][0] != ":"
            open_fences.append((fence["mark"], body_is_literal))
            blocks += [line, ""]
        elif literal or line.lstrip().startswith("% "):
            blocks[-1] += blank(line)
        else:
            blocks[-1] += line
    blocks[::2] = [CODE_SPAN.sub(lambda m: blank(m[0]), prose) for prose in blocks[::2]]
    return "".join(blocks)


def _closed_by(mark: str, open_fences: list[tuple[str, bool]]) -> int | None:
    """Return the index of the outermost open fence that this bare marker closes."""
    for depth, (opener, _) in enumerate(open_fences):
        if mark[0] == opener[0] and len(mark) >= len(opener):
            return depth
    return None


def blank(text: str) -> str:
    """Replace a text by spaces, keeping its line breaks."""
    return re.sub(r"[^\n]", " ", text)


def expressions(markdown: str) -> Iterator[tuple[str, int]]:
    """Yield each ``{eval}`` expression with its line, counted from 0, in order."""
    text = without_code(markdown)
    for role in EVAL.finditer(text):
        yield one_line(role["expression"]), text.count("\n", 0, role.start())


def one_line(expression: str) -> str:
    """Join an expression's lines with spaces, as the Markdown parser does."""
    return re.sub(r"\s*\n[ \t>]*", " ", expression).strip()
