"""Mutants of Python and of the catalog: each replaces the source of one node.

The rest of the file stays as it is, byte for byte, so that a survivor can be shown as a diff.

Some code is not mutated, since no test should notice: colors and widths of a figure, timeouts
(tests don't depend on the wall clock), error messages, annotations, decorators, docstrings and
`__repr__`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import javascript
from mutant import Mutant, changed_number

COMPARE = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.NotIn: (r"not\s+in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: (r"is\s+not", "is"),
}
ARITHMETIC = {
    ast.Add: (r"\+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: (r"\*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "/"),
    ast.Mod: ("%", "//"),
    ast.Pow: (r"\*\*", "*"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
    ast.BitOr: (r"\|", "&"),
    ast.BitAnd: ("&", "|"),
}
OPPOSITE = {"min": "max", "any": "all", "minimum": "maximum", "floor": "ceil"}
OPPOSITE |= {"startswith": "endswith", "argmin": "argmax", "add": "discard"}
OPPOSITE |= {other: one for one, other in OPPOSITE.items()}

# Don't swap the arguments of these: their order doesn't matter, or a swap always fails.
UNORDERED = ("isinstance", "suppress")

# Arguments that only style a figure, set a timeout or a help text, or make no difference on Linux.
LOOKS = {"alpha", "color", "colors", "fontsize", "fontweight", "ha", "va", "linestyle", "linewidth"}
LOOKS |= {"linewidths", "lw", "marker", "markersize", "pad", "labelpad", "rotation", "zorder", "s"}
LOOKS |= {"bbox", "boxstyle", "facecolor", "edgecolor", "framealpha", "frameon", "fc", "ec", "ls"}
LOOKS |= {"dx", "dy", "stroke_width", "width", "height", "size", "angle", "align", "baseline"}
LOOKS |= {"dashes", "figsize", "dpi", "style", "textcoords", "clip_on", "annotation_clip"}
WAITS = {"timeout", "death_timeout", "daemon", "dashboard_address", "linger"}
WORDING = {
    "encoding",
    "errors",
    "strict",
    "help",
    "metavar",
    "description",
    "prog",
    "doc",
    "placeholder",
}
LEFT_OUT = LOOKS | WAITS | WORDING
TIMES = re.compile(r"(^|_)(SECONDS|MILLISECONDS|MS|SLACK|QUIET|ALMOST)$")
STYLES = re.compile(r"COLORS?$|STYLES?$|DASHES$|MARKERS$|^_?INK$|^_?GRAY$|_INCHES$")


def mutants(path: str, source: str) -> list[Mutant]:
    """Return all mutants of this file; some may be invalid code, see `Mutant.real`."""
    if path.endswith(".toml"):
        return list(_figures(path, source))
    if path.endswith((".js", ".cjs")):
        return javascript.mutants(path, source)
    return sorted(set(_File(path, source).faults()), key=lambda one: (one.start, one.end, one.text))


def _figures(path: str, source: str) -> Iterator[Mutant]:
    """Mutate the catalog: change figures, counts of links and cores, and flags.

    Figures rise by 10%, counts by one; true and false are swapped.
    """
    for found in re.finditer(r"^(?!#).*$", source, re.MULTILINE):
        for one in re.finditer(r"\b(\w+) = ([\d.]+(?:e\d+)?|true|false)(?=[ ,]|$)", found[0]):
            name, value = one.groups()
            if name in ("sparse", "two_way"):
                new = "false" if value == "true" else "true"
            elif name in ("printed", "fraction"):
                new = f"{float(value) * 1.1:.10g}"
            elif name in ("links", "links_per_axis", "axes", "cores"):
                new = str(int(value) + 1)
            else:
                continue
            start, end = (len(source[: found.start() + place].encode()) for place in one.span(2))
            yield Mutant(path, start, end, new, "figure")


class _File:
    def __init__(self, path: str, source: str) -> None:
        self.path = path
        self.raw = source.encode()
        self.tree = ast.parse(source)
        self.starts = [0, *(found.end() for found in re.finditer(rb"\n", self.raw))]

    def span(self, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self.starts[node.lineno - 1] + node.col_offset
        return start, self.starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: ast.expr | ast.stmt | ast.keyword) -> str:
        start, end = self.span(node)
        return self.raw[start:end].decode()

    def put(self, node: ast.expr | ast.stmt | ast.keyword, text: str, how: str) -> Mutant:
        return Mutant(self.path, *self.span(node), text, how)

    def between(
        self, left: ast.expr, right: ast.expr, swap: tuple[str, str] | None, how: str
    ) -> Iterator[Mutant]:
        """Replace the operator between two nodes."""
        first, last = self.span(left)[1], self.span(right)[0]
        if swap and (found := re.search(swap[0], self.raw[first:last].decode())):
            start, end = first + found.start(), first + found.end()
            yield Mutant(self.path, start, end, swap[1], how)

    def faults(self) -> Iterator[Mutant]:
        yield from self.visit(self.tree)

    def visit(self, node: ast.AST) -> Iterator[Mutant]:
        if _left_out(node):
            return
        method = getattr(self, f"of_{type(node).__name__.lower()}", None)
        if method is not None:
            yield from method(node)
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if not (isinstance(key, ast.Constant) and key.value in LEFT_OUT):
                    yield from self.visit(value)
            return
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list") or isinstance(node, ast.Raise):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from self.visit(child)

    def of_compare(self, node: ast.Compare) -> Iterator[Mutant]:
        sides = [node.left, *node.comparators]
        for left, op, right in zip(sides, node.ops, sides[1:], strict=False):
            yield from self.between(left, right, COMPARE.get(type(op)), "comparison")

    def of_binop(self, node: ast.BinOp) -> Iterator[Mutant]:
        swap = ARITHMETIC.get(type(node.op))
        yield from self.between(node.left, node.right, swap, "arithmetic")

    def of_augassign(self, node: ast.AugAssign) -> Iterator[Mutant]:
        swap = ARITHMETIC.get(type(node.op))
        yield from self.between(node.target, node.value, swap, "arithmetic")
        yield self.put(node, "pass", "statement dropped")

    def of_boolop(self, node: ast.BoolOp) -> Iterator[Mutant]:
        swap = (r"\band\b", "or") if isinstance(node.op, ast.And) else (r"\bor\b", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            yield from self.between(left, right, swap, "and/or")

    def of_unaryop(self, node: ast.UnaryOp) -> Iterator[Mutant]:
        sign = {ast.Not: "not", ast.USub: "-", ast.Invert: "~"}.get(type(node.op))
        if sign and not isinstance(node.operand, ast.Constant):
            yield self.put(node, self.text(node).removeprefix(sign).lstrip(), f"{sign} dropped")

    def of_constant(self, node: ast.Constant) -> Iterator[Mutant]:
        value = node.value
        if isinstance(value, bool):
            yield self.put(node, str(not value), "constant")
        elif isinstance(value, int | float):
            yield self.put(node, changed_number(value), "constant")
        elif value == "":
            yield self.put(node, '"x"', "constant")

    def of_if(self, node: ast.If | ast.IfExp) -> Iterator[Mutant]:
        for fixed in ("True", "False"):
            yield self.put(node.test, fixed, "condition")

    of_ifexp = of_if

    def of_while(self, node: ast.While) -> Iterator[Mutant]:
        if not isinstance(node.test, ast.Constant):
            yield self.put(node.test, "False", "condition")

    def of_comprehension(self, node: ast.comprehension) -> Iterator[Mutant]:
        for test in node.ifs:
            yield self.put(test, "True", "condition")

    def of_return(self, node: ast.Return) -> Iterator[Mutant]:
        # Skip `return False`: None is falsy, too. `False` itself is mutated to True elsewhere.
        if node.value is not None and not _is_false(node.value):
            yield self.put(node.value, "None", "return")

    def of_raise(self, node: ast.Raise) -> Iterator[Mutant]:
        yield self.put(node, "pass", "statement dropped")

    of_delete = of_raise

    def of_expr(self, node: ast.Expr) -> Iterator[Mutant]:
        if isinstance(node.value, ast.Call | ast.Await):
            yield self.put(node, "pass", "statement dropped")

    def of_assign(self, node: ast.Assign) -> Iterator[Mutant]:
        if all(isinstance(one, ast.Attribute | ast.Subscript) for one in node.targets):
            yield self.put(node, "pass", "statement dropped")

    def of_call(self, node: ast.Call) -> Iterator[Mutant]:
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name in OPPOSITE:
            start, end = self.span(node.func)
            length = len(name.encode())
            yield Mutant(self.path, end - length, end, OPPOSITE[name], "opposite")
        first, second = [*node.args, None, None][:2]
        # Swap only arguments of one type: a number in place of a string would always fail.
        if first and type(first) is type(second) and name not in UNORDERED:
            start, end = self.span(first)[0], self.span(second)[1]
            middle = self.raw[self.span(first)[1] : self.span(second)[0]].decode()
            swapped = self.text(second) + middle + self.text(first)
            yield Mutant(self.path, start, end, swapped, "arguments swapped")
        for keyword in node.keywords:
            if keyword.arg and keyword.arg not in LEFT_OUT:
                start, end = self.span(keyword)
                if comma := re.match(rb"\s*,\s*", self.raw[end:]):
                    end += comma.end()
                elif comma := re.search(rb",\s*$", self.raw[:start]):
                    start = comma.start()
                yield Mutant(self.path, start, end, "", "argument dropped")


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def _left_out(node: ast.AST) -> bool:
    """Return whether this node is not mutated."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True  # a docstring
    if isinstance(node, ast.FunctionDef) and node.name == "__repr__":
        return True
    if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", MAIN):
        return True
    if isinstance(node, ast.keyword):
        return node.arg in LEFT_OUT
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        each = [one for to in targets for one in (to.elts if isinstance(to, ast.Tuple) else [to])]
        names = [target.id for target in each if isinstance(target, ast.Name)]
        known = [name == "__all__" or TIMES.search(name) or STYLES.search(name) for name in names]
        return any(known) and all(known)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in ("settimeout", "sleep", "getLogger")
    # Before 3.12, Python does not report positions of nodes inside an f-string.
    return isinstance(node, ast.JoinedStr)


MAIN = "__name__ == '__main__'"
