"""Tests that output of a function neither counts as an answer nor costs points.

Different processes of a notebook answer for its first, middle and last parts: forks, and finally
the notebook's own process.
"""

import ast
import textwrap

import pytest
from classroom import functions
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell
from submissions import Submission, hand_in

from grading.execution.time_limits import TimeLimits
from grading.grade_notebook import grade
from grading.release import exercises
from grading.release.embedding import EmbedCases

# Statements that send all kinds of output messages, in the ways that libraries do.
SHOWN = {
    "printed": "print('x', flush=True)",
    "printed much": "print('x' * 600_000)",
    "stderr": "import sys\nsys.stderr.write('x')\nsys.stderr.flush()",
    "warning": "import warnings\nwarnings.warn('careful')",
    "logged": "import logging\nlogging.warning('x')\nlogging.getLogger('mine').error('y')",
    "display": "display('x')",
    "displayed page": "from IPython.display import HTML, display\ndisplay(HTML('<b>x</b>'), 7)",
    "updated": "shown = display('x', display_id=True)\nshown.update('y')",
    "cleared": "from IPython.display import clear_output\nclear_output()\nclear_output(wait=True)",
    "plot": "import matplotlib.pyplot\nmatplotlib.pyplot.show()",
    "error": "get_ipython().showtraceback((ValueError, ValueError('x'), None))",
    "syntax error": "get_ipython().run_cell('x = = 1')",
    "cell": "get_ipython().run_cell('1 + 1')",
    "value": "import sys\nsys.displayhook(3)",
    "published": "get_ipython().display_pub.publish({'text/plain': 'x'})",
    "widget": "import ipywidgets\ndisplay(ipywidgets.IntSlider(3))",
    "output widget": "import ipywidgets\nwith ipywidgets.Output():\n    print(1)\n    display(2)",
    "comm": "import comm\ncomm.create_comm(target_name='x', data={}).send({'y': 1})",
    "bar": "import tqdm\nfor _ in tqdm.tqdm(range(3)):\n    pass",
    "bar of the notebook": "import tqdm.auto\nfor _ in tqdm.auto.tqdm(range(3)):\n    pass",
    "IPython's bar": "from IPython.display import ProgressBar\nfor _ in ProgressBar(3):\n    pass",
    "command": "get_ipython().system('echo x')",
    "captured command": "assert get_ipython().getoutput('echo x') == ['x']",
    "command that fails": "get_ipython().system('no-such-command')",
    "program": "import subprocess\nsubprocess.run(['echo', 'x'], check=True)",
    "shell": "import os\nos.system('echo x')",
    "timed": "get_ipython().run_line_magic('time', '1')",
    "timed cell": "get_ipython().run_cell_magic('time', '', 'print(1)')",
    "captured": "get_ipython().run_cell_magic('capture', 'caught', 'display(1)\\nprint(2)')",
    "inline": "get_ipython().run_line_magic('matplotlib', 'inline')",
    "help": "get_ipython().run_line_magic('pinfo', 'len')\nhelp(len)",
    "pager": "import IPython.core.page\nIPython.core.page.page('x')",
}
NAMES = exercises.names()
PLACES = ("start", "end")
PATIENT = TimeLimits(call=100, call_wall=500)  # enough to show all kinds of messages in a call


def showing(notebook, statements, place):
    """Return the notebook with statements added to all functions of its answers."""
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution") and cell.cell_type == "code":
            tree = ast.parse(cell.source)
            for node in tree.body:
                if isinstance(node, ast.FunctionDef):
                    _show(node, ast.parse(statements).body, place)
            cell.source = ast.unparse(tree)
    return notebook


def _show(function, statements, place):
    if place == "start":
        function.body[:0] = statements
        return
    last = function.body[-1]
    returns = [last] if isinstance(last, ast.Return) else []
    if returns:  # compute the value before anything is shown
        value = ast.Assign([ast.Name("value_", ast.Store())], last.value or ast.Constant(None))
        function.body[-1] = value
        returns = [ast.Return(ast.Name("value_", ast.Load()))]
    function.body += [*statements, *returns]
    ast.fix_missing_locations(function)


def all_kinds():
    """Return code that sends all kinds of output messages, once per process.

    Each kind has its own scope.
    """
    kinds = "\n".join(
        f"def show():\n{textwrap.indent(one, '    ')}\nshow()" for one in SHOWN.values()
    )
    once = "if 'shown_' not in globals():\n    globals()['shown_'] = True\n"
    return once + textwrap.indent(kinds, "    ")


def solved(name):
    source = exercises.source(name)
    return hand_in(Submission(name, "reference", "", {}), source, source, functions(name))


def lost(notebook, name, unsafe=False):
    """Grade a notebook; return key → cause for the parts that lost points."""
    graded = grade(notebook, name, "tests", PATIENT, unsafe)
    parts = graded.metadata.rooflib["parts"]
    assert len(parts) == len(exercises.load(name).parts)
    return {part["key"]: part["cause"] for part in parts if part["points"] < part["of"]}


# By default, test the first exercise with each kind of part, and add the statements at the start
# and the end of functions in turn.
FIRST = {part.kind: name for name in NAMES[::-1] for part in exercises.load(name).parts}
BRIEF = [(name, PLACES[number % 2]) for number, name in enumerate(dict.fromkeys(FIRST.values()))]
ALL = [
    pytest.param(name, place, marks=() if (name, place) in BRIEF else pytest.mark.long)
    for name in NAMES
    for place in PLACES
]


@pytest.mark.parametrize(("name", "place"), ALL)
def test_output_of_a_function_costs_no_points(name, place):
    assert lost(showing(solved(name), all_kinds(), place), name) == {}


@pytest.mark.long
def test_output_of_a_function_costs_no_points_without_a_sandbox():
    assert lost(showing(solved("int8-weights"), all_kinds(), "end"), "int8-weights", True) == {}


@pytest.mark.long
@pytest.mark.parametrize("kind", SHOWN)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", NAMES)
def test_each_kind_of_message_costs_no_points_in_any_part(name, place, kind):
    assert lost(showing(solved(name), SHOWN[kind], place), name) == {}


def test_output_of_a_helper_defined_above_costs_no_points():
    notebook = solved("roofline-plot")
    helper = "import matplotlib.pyplot as plt\n\n\ndef finish():\n    plt.show()\n    display('x')"
    notebook.cells.insert(0, new_code_cell(helper))
    assert lost(showing(notebook, "finish()", "end"), "roofline-plot") == {}


def test_functions_may_print_to_a_stream_saved_by_a_cell():
    notebook = solved("int8-weights")
    kept = "import logging, sys\nlogging.basicConfig()\nout, err = sys.stdout, sys.stderr"
    notebook.cells.insert(0, new_code_cell(kept))
    used = (
        "logging.error('x')\n[one.write('x' * 600_000) for one in (out, err)]\n"
        "out.flush()\nerr.flush()\nprint('x', file=out)"
    )
    assert lost(showing(notebook, used, "end"), "int8-weights") == {}


@pytest.mark.parametrize(
    "name", [NAMES[0], *(pytest.param(one, marks=pytest.mark.long) for one in NAMES[1:])]
)
def test_the_learners_check_accepts_functions_that_show_output(name):
    notebook, _ = EmbedCases().preprocess(solved(name), {"nbgrader": {"assignment": name}})
    NotebookClient(showing(notebook, all_kinds(), "end"), kernel_name="python3").execute()
    for cell in filter(exercises.is_check, notebook.cells):
        said = "".join(one.get("text", "") for one in cell.outputs if one.output_type == "stream")
        assert ": right for " in said, cell.source
