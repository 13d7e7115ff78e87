"""Mutants of JavaScript: each replaces a token, an expression or a statement.

Comments, strings, templates, regular expressions and lines with timers are not mutated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mutant import Mutant, changed_number

OPERATORS = {
    "===": "!==",
    "!==": "===",
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "&&": "||",
    "||": "&&",
    "??": "&&",
    "+": "-",
    "-": "+",
    "*": "/",
    "/": "*",
    "%": "*",
    "**": "*",
    "+=": "-=",
    "-=": "+=",
    "*=": "/=",
    "++": "--",
    "--": "++",
}
OPPOSITE = {"min": "max", "floor": "ceil", "some": "every", "startsWith": "endsWith"}
OPPOSITE |= {"add": "delete", "push": "unshift"}
OPPOSITE |= {other: one for one, other in OPPOSITE.items()}
KEYWORDS = {"await", "async", "break", "case", "catch", "class", "const", "continue", "default"}
KEYWORDS |= {"delete", "do", "else", "export", "extends", "finally", "for", "from", "function"}
KEYWORDS |= {"get", "if", "import", "in", "instanceof", "let", "new", "of", "return", "set"}
KEYWORDS |= {"static", "switch", "throw", "try", "typeof", "var", "void", "while", "yield"}
TOKEN = re.compile(
    r"""
    (?P<space>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
  | (?P<number>(?:0[xX][\da-fA-F]+|(?:\d[\d_]*)?\.?\d[\d_]*(?:[eE][+-]?\d+)?)n?)
  | (?P<name>[\w$\#]+)
  | (?P<sign>>>>=?|\.\.\.|===|!==|\*\*=?|\?\?=?|&&=?|\|\|=?|=>|==|!=|<=|>=|<<|>>|\+\+|--|\?\.
      |[-+*/%&|^]=|[-+*/%&|^!~?:;,.(){}\[\]=<>@])
    """,
    re.VERBOSE | re.DOTALL,
)
REGULAR_EXPRESSION = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/[a-z]*")
CLOSING = {"(": ")", "[": "]", "{": "}"}
WAITS = re.compile(r"\b(setTimeout|setInterval|requestIdleCallback)\b|_(MS|SECONDS)\b")


class Token(NamedTuple):
    """A token and its position in the source."""

    kind: str
    text: str
    start: int
    end: int


def tokens(source: str) -> list[Token]:
    """Return the tokens of a script, without whitespace and comments.

    Raise ValueError at a character that cannot start a token.
    """
    found: list[Token] = []
    place = 0
    while place < len(source):
        kind, end = _next(source, place, found)
        if kind != "space":
            found.append(Token(kind, source[place:end], place, end))
        place = end
    return found


def _next(source: str, place: int, before: Sequence[Token]) -> tuple[str, int]:
    """Return the kind of the token that starts here, and where it ends."""
    if source[place] == "`":
        return "template", _end_of_template(source, place)
    is_comment = source.startswith(("//", "/*"), place)
    if source[place] == "/" and not is_comment and not _ends_operand(before):
        if found := REGULAR_EXPRESSION.match(source, place):
            return "regular expression", found.end()
    elif found := TOKEN.match(source, place):
        assert found.lastgroup is not None
        return found.lastgroup, found.end()
    raise ValueError(f"no token starts at {source[place : place + 20]!r}")


def _end_of_template(source: str, place: int) -> int:
    """Return the end of the template literal that starts here.

    It may contain other templates.
    """
    depth = 0
    index = place + 1
    while index < len(source):
        sign = source[index]
        if sign == "\\":
            index += 1
        elif depth == 0 and sign == "`":
            return index + 1
        elif depth == 0 and source.startswith("${", index):
            depth, index = 1, index + 1
        elif depth and sign == "`":
            index = _end_of_template(source, index) - 1
        elif depth:
            depth += {"{": 1, "}": -1}.get(sign, 0)
        index += 1
    raise ValueError("a template literal has no end")


def _ends_operand(before: Sequence[Token]) -> bool:
    """Return whether the last token ends an operand, so that a `/` after it divides."""
    if not before:
        return False
    last = before[-1]
    if last.kind == "sign":
        return last.text in (")", "]", "}", "++", "--")
    return last.kind != "name" or last.text not in KEYWORDS


def mutants(path: str, source: str) -> list[Mutant]:
    """Return all mutants of this script, in the order of the file."""
    found = _Script(path, source).faults()
    return sorted(set(found), key=lambda one: (one.start, one.end, one.text))


class _Script:
    def __init__(self, path: str, source: str) -> None:
        self.path, self.source = path, source
        self.tokens = tokens(source)
        self.partner = _partners(self.tokens)

    def put(self, first: int, last: int, text: str, how: str) -> Mutant:
        """Return the mutant that replaces the tokens from `first` to `last`."""
        ends = self.tokens[first].start, self.tokens[last].end
        start, end = (len(self.source[:place].encode()) for place in ends)
        return Mutant(self.path, start, end, text, how)

    def faults(self) -> Iterator[Mutant]:
        for index, token in enumerate(self.tokens):
            if not WAITS.search(self.line(token)):
                yield from self.of_token(index, token)
                yield from self.of_statement(index, token)

    def line(self, token: Token) -> str:
        start = self.source.rfind("\n", 0, token.start) + 1
        return self.source[start : self.source.find("\n", token.end)]

    def of_token(self, index: int, token: Token) -> Iterator[Mutant]:
        before = self.tokens[index - 1].text if index else ""
        if token.kind == "sign":
            if token.text == "!":
                yield self.put(index, index, "", "! dropped")
            elif token.text in OPERATORS and self.is_binary(index) and self.may_mix(token):
                yield self.put(index, index, OPERATORS[token.text], "operator")
        elif token.kind == "number":
            yield self.put(index, index, _changed(token.text), "constant")
        elif token.text in ("true", "false") and before != ".":
            yield self.put(index, index, "false" if token.text == "true" else "true", "constant")
        elif token.text == '""':
            yield self.put(index, index, '"x"', "constant")
        elif token.text in OPPOSITE and before in (".", "?."):
            yield self.put(index, index, OPPOSITE[token.text], "opposite")

    def is_binary(self, index: int) -> bool:
        """Return whether a token is ++, -- or a binary operator, but no + beside a string."""
        if self.tokens[index].text in ("++", "--"):
            return True
        sides = self.tokens[index - 1 : index], self.tokens[index + 1 : index + 2]
        is_text = any(side and side[0].kind in ("string", "template") for side in sides)
        return _ends_operand(sides[0]) and not (is_text and self.tokens[index].text in "+=")

    def may_mix(self, token: Token) -> bool:
        """Return whether an operator may be replaced: `??` can't be mixed with && or ||."""
        return token.text != "??" or len(re.findall(r"\?\?|&&|\|\|", self.line(token))) == 1

    def of_statement(self, index: int, token: Token) -> Iterator[Mutant]:
        if token.kind != "name":
            return
        if token.text in ("if", "while") and index + 1 in self.partner:
            last = self.partner[index + 1]
            for fixed in ("true", "false") if token.text == "if" else ("false",):
                yield self.put(index + 2, last - 1, fixed, "condition")
            return
        end = self.end_of_statement(index)
        if end is None:
            return
        if token.text == "return":
            if end > index + 1:
                yield self.put(index + 1, end - 1, "undefined", "return")
        elif token.text == "throw" or self.has_effect(index, end):
            yield self.put(index, end, ";", "statement dropped")

    def end_of_statement(self, index: int) -> int | None:
        """Return the index of the `;` that ends the statement.

        Return None if no statement starts here.
        """
        before = self.tokens[index - 1].text if index else ";"
        if before not in (";", "{", "}") and not self.closes_condition(index - 1):
            return None
        while index < len(self.tokens):
            text = self.tokens[index].text
            if text == ";":
                return index
            if text in CLOSING.values():
                return None
            index = self.partner.get(index, index) + 1
        return None

    def closes_condition(self, index: int) -> bool:
        """Return whether this token is `else`, or the `)` after the condition of an `if`."""
        if self.tokens[index].text != ")":
            return self.tokens[index].text == "else"
        (first,) = (one for one, last in self.partner.items() if last == index)
        return first > 0 and self.tokens[first - 1].text == "if"

    def has_effect(self, index: int, end: int) -> bool:
        """Return whether a statement is a call, ++, --, or sets an attribute or element."""
        first = self.tokens[index]
        if first.text in KEYWORDS - {"await", "delete"}:
            return False
        texts = [token.text for token in self.tokens[index:end]]
        if "=" not in texts:
            return texts[-1] == ")" or "++" in texts or "--" in texts
        return texts[1] in (".", "[")


def _partners(found: Sequence[Token]) -> dict[int, int]:
    """Return, for each opening bracket, the index of the one that closes it."""
    partner: dict[int, int] = {}
    opened: list[int] = []
    for index, token in enumerate(found):
        if token.kind != "sign":
            continue
        if token.text in CLOSING:
            opened.append(index)
        elif token.text in CLOSING.values():
            partner[opened.pop()] = index
    return partner


def _changed(number: str) -> str:
    """Return another number in JavaScript's notation."""
    digits = number.replace("_", "").removesuffix("n")
    value = int(digits, 0) if digits.isdecimal() or digits[:2] in ("0x", "0X") else float(digits)
    return changed_number(value) + "n" * number.endswith("n")
