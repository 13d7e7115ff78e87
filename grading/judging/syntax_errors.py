"""Verdicts on parts that failed because a cell has a syntax error.

The learner may have another Python than the one that grades, and see no error there.
"""

import platform
from collections.abc import Iterator, Mapping
from dataclasses import replace

from nbformat import NotebookNode

from grading.intake.dependencies import closure, names_of
from grading.intake.own_code import functions, parsed, syntax_error_line
from grading.judging.verdicts import ONLY_HIDDEN_FAIL, Graded
from roofkit.words import _

CAUSE = "syntax-error"


def name_syntax_errors(
    nb: NotebookNode, asked: Mapping[str, str], graded: Mapping[str, Graded]
) -> dict[str, Graded]:
    """Return the verdicts, with the syntax error that each failing function is due to.

    asked: key of a part → its function.
    """
    broken = dict(_broken(nb))
    if not broken:
        return dict(graded)
    cells = [names_of(cell.source) for cell in nb.cells if cell.cell_type == "code"]
    later = {name: needs for cell in cells for name, needs in cell.later.items()}
    result = dict(graded)
    for key, part in graded.items():
        function = asked[key]
        if part.cause == "not-a-function" and function in broken:
            said = _(
                "The cell of this function was not run: line {line} is a syntax error in Python "
                "{version}, which grades. A newer Python may accept it."
            ).format(line=broken[function], version=platform.python_version())
            result[key] = replace(part, cause=CAUSE, sentences=(said,))
        elif part.cause == "raised" and _(ONLY_HIDDEN_FAIL) not in part.sentences:
            for name in sorted(closure([function], later) & broken.keys())[:1]:
                said = _("It needs `{name}`, whose cell has a syntax error in line {line}.")
                said = said.format(name=name, line=broken[name])
                result[key] = replace(part, sentences=(*part.sentences, said))
    return result


def _broken(nb: NotebookNode) -> Iterator[tuple[str, int]]:
    """Yield (function, line of the error) for functions only in cells with a syntax error."""
    code = [cell for cell in nb.cells if cell.cell_type == "code"]
    defined = {
        name for cell in code if parsed(cell.source) is not None for name in functions(cell.source)
    }
    for cell in code:
        # IPython accepts more than Python, `files = !ls` for instance: look at what came of it.
        failed = any(output.output_type == "error" for output in cell.outputs)
        line = syntax_error_line(cell.source) if failed else None
        if line is not None:
            yield from ((name, line) for name in functions(cell.source) if name not in defined)
