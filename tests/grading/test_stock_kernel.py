"""Tests that ordinary cells show the same in the grader as in a stock kernel.

The stock kernel is JupyterLab's.
"""

import json
import re
from typing import Any

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from grading import sandbox
from grading.execution.notebook import run
from grading.execution.questions import Questions
from grading.execution.time_limits import TIME_LIMITS

# The cells are run in this order, in one notebook.
CELLS = {
    "value": "1 + 1",
    "nothing": "None",
    "counts": "print(_, __, Out, In[1], _i, len(_ih))",
    "printed": "print('a')\nprint('b', end='')\n'c'",
    "both streams": "import sys\nprint('out')\nprint('err', file=sys.stderr)\nprint('out again')",
    "stream methods": (
        "print(sys.stdout.write('x'), sys.stdout.isatty(), sys.stdout.encoding, sys.stdout.name,"
        " sys.stdout.writable(), sys.stdout.readable(), sys.stdout.closed)\n"
        "sys.stdout.writelines(['a', 'b'])"
    ),
    "every value": "%config InteractiveShell.ast_node_interactivity = 'all'",
    "all of them": "1\n2\n3",
    "the last value": "%config InteractiveShell.ast_node_interactivity = 'last_expr'",
    "displays": "from IPython.display import *\ndisplay(HTML('<b>x</b>'), 7, metadata={'a': 1})",
    "display between": "print('a')\ndisplay('b')\nprint('c')",
    "named display": "shown = display('first', display_id='a')\ndisplay('other', display_id=True);",
    "updated display": "shown.update('second')\nprint('updated')",
    "cleared": "print('gone')\nclear_output()\nprint('here')",
    "cleared by the next": "print('gone')\nclear_output(wait=True)\nprint('here')",
    "rich value": "class Rich:\n    def _repr_html_(self): return '<i>x</i>'\nRich()",
    "value that fails": "class Fails:\n    def __repr__(self): return 1 / 0\nFails()",
    "error": "def f(x):\n    return 1 / x\nprint('before')\nf(0)",
    "error in another cell": "f(0)",
    "chained errors": "try:\n    f(0)\nexcept Exception as e:\n    raise KeyError(1) from e",
    "syntax error": "x = = 1",
    "bad indent": "if True:\nx = 1",
    "bad magic": "%no_such_magic",
    "name error": "no_such_name",
    "group of errors": "raise ExceptionGroup('two', [ValueError(1), TypeError(2)])",
    "warning": "import warnings\nwarnings.warn('a warning')",
    "exit by sys": "sys.exit(3)",
    "input": "input('name? ')",
    "password": "import getpass\ngetpass.getpass()",
    "await": "import asyncio\nawait asyncio.sleep(0, 'woken')",
    "async for": "async def numbers():\n    yield 1\n[one async for one in numbers()]",
    "loop runs": "asyncio.get_running_loop().is_running()",
    "run in a loop": (
        "asleep = asyncio.sleep(0)\ntry:\n    asyncio.run(asleep)\n"
        "except RuntimeError as error:\n    print(error)\nasleep.close()"
    ),
    "task": "async def later():\n    print('in a task')\nawait asyncio.create_task(later())",
    "failing await": "async def fails():\n    1 / 0\nawait fails()",
    "captured": "%%capture caught\nprint('caught')\ndisplay(5)\n6",
    "what was captured": "print(caught.stdout)\ncaught.outputs",
    "timed": "%%time\npass",
    "program": "!echo by a program; echo é >&2; printf end",
    "program with a local value": (
        "def shows():\n    local = 'from a function'\n    !echo {local} $local\nshows()"
    ),
    "program that fails": "!exit 3\nprint(_exit_code)",
    "program that is ended": "!kill -9 $$\nprint(_exit_code)",
    "missing program": "!no-such-program 2> /dev/null\nprint(_exit_code)",
    "shell value": "words = !echo a b\nwords",
    "help": "len?",
    "magic value": "%who_ls",
    "names": "sorted(name for name in globals() if name.startswith('__'))",
    "replaced stream": (
        "import io\nold, sys.stdout = sys.stdout, io.StringIO()\nprint('kept')\n"
        "text, sys.stdout = sys.stdout.getvalue(), old\ntext"
    ),
    "redirected": "import contextlib\nwith contextlib.redirect_stdout(sys.stderr):\n    print('x')",
    "threads": (
        "import threading\nfor word in 'abc':\n"
        "    one = threading.Thread(target=print, args=(word,))\n    one.start()\n    one.join()"
    ),
    "logging": "import logging\nlogging.warning('logged')\nlogging.getLogger('mine').error('too')",
    "excepthook": "sys.excepthook.__name__, sys.displayhook.__class__.__name__",
    "shell's class": "type(get_ipython()).__name__, type(get_ipython()).__module__",
    "widget": "import ipywidgets\nslider = ipywidgets.IntSlider(3)\nprint(slider.value)",
    "comm": "import comm\ncomm.create_comm(target_name='x', data={'a': 1}).send({'b': 2})",
    "carriage return": "print('10%', end='\\r')\nprint('100%')",
    "odd letters": "print('\\x00\\x1b[31mred\\x1b[0m \\u2028 \\U0001f600')",
    "long": "print('x' * 300_000)",
    "post execute": "get_ipython().events.register('post_execute', lambda: print('after'))",
    "after that": "1",
}
# These cells are compared only without a sandbox: a sandbox loads matplotlib before the shell
# exists.
PLOTS = {
    "plot": "import matplotlib.pyplot as plt\nplt.plot([1, 2]);",
    "two plots": "plt.figure()\nplt.figure()\n5",
    "shown plot": "plt.plot([1])\nprint('before')\nplt.show()\nprint('after')",
    "formats": "%config InlineBackend.figure_formats = ['svg']\nplt.plot([1]).clear()",
    "backend": "%matplotlib inline\nplt.get_backend(), plt.isinteractive()",
    "settings": "plt.rcParams == plt.rcParamsDefault | {'interactive': True}",
}
VARYING = (
    (r"0x[0-9a-f]{6,}", "ADDRESS"),
    (r"(/[\w/-]*/ipykernel_\d+/)?\d+\.py", "CELL"),
    (r"[\d.]+(e[+-]\d+)? \S{,6}s\b", "TIME"),
    (r'"<\?xml.*?</svg>\\n"', '"SVG"'),
)


def shown(cell: Any) -> Any:
    """Return a cell's outputs with variable words replaced, stream texts joined.

    A stock kernel splits printed text depending on its timing.
    """
    outputs: list[Any] = []
    for one in map(dict, cell.outputs):
        last = outputs[-1] if outputs else {}
        if one["output_type"] == "stream" and one.get("name") == last.get("name"):
            last["text"] += one["text"]
        else:
            outputs.append(one)
    text = json.dumps(outputs)
    for pattern, word in VARYING:
        text = re.sub(pattern, word, text)
    return json.loads(text)


@pytest.fixture(scope="module")
def stock() -> dict[str, Any]:
    every = CELLS | PLOTS
    nb = new_notebook(cells=[new_code_cell(source) for source in every.values()])
    NotebookClient(nb, kernel_name="python3", allow_errors=True).execute()
    return dict(zip(every, nb.cells, strict=True))


@pytest.fixture(scope="module", params=["sandbox", "none"])
def ours(request: Any) -> dict[str, Any]:
    every = CELLS | (PLOTS if request.param == "none" else {})
    nb = new_notebook(cells=[new_code_cell(source) for source in every.values()])
    with sandbox.open(unsafe=request.param == "none") as box, Questions(box) as questions:
        assert run(nb, box, questions, TIME_LIMITS).trouble == ""
    return dict(zip(every, nb.cells, strict=True))


@pytest.mark.long
def test_cells_show_what_a_stock_kernel_shows(stock: dict[str, Any], ours: dict[str, Any]) -> None:
    for name, cell in ours.items():
        assert shown(cell) == shown(stock[name]), name
        assert cell.execution_count == stock[name].execution_count, name
