"""Tests of running cells in the page: outputs, values, errors, rewound names."""

import builtins
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser.python import call_times
from browser.python.cell_dependencies import needed
from browser.python.markdown_html import as_html
from browser.python.page_runner import MAX_PRINTED, Page
from bs4 import BeautifulSoup
from repository import ROOT

from roofkit.check import call_limit
from roofkit.check.answers import ask_all


def run(page: Page, source: str) -> list[tuple[str, str]]:
    return [(out["kind"], out["text"]) for out in json.loads(page.run(source))["outputs"]]


def failure(page: Page, source: str) -> str:
    given = json.loads(page.run(source))
    assert given["failed"]
    return str(given["outputs"][-1]["text"])


def test_prints_and_the_last_expression_are_shown_in_order() -> None:
    page = Page()
    given = run(page, "import sys\nprint(1)\nprint('two', end='')\nsys.stderr.write('!')\n[3, 4]")
    assert given == [("stdout", "1\ntwo"), ("stderr", "!"), ("plain", "[3, 4]")]
    assert run(page, "7") == [("plain", "7")]
    assert run(page, "7;  # not shown") == []
    assert run(page, "x = 7") == []
    assert run(page, "# nothing at all") == []
    assert run(page, "'a;'") == [("plain", "'a;'")]
    assert run(page, "None") == []
    assert run(page, "7\nx = 1") == []
    assert run(page, "x = 1\n7") == [("plain", "7")]
    mixed = run(page, "import sys\nprint(1)\nsys.stderr.write('!')\nprint(2)\nprint(3)")
    assert mixed == [("stdout", "1\n"), ("stderr", "!"), ("stdout", "2\n3\n")]


SHOWN = """
import numpy as np
from browser.python.ipython_stubs import Markdown
class Shown:
    def _repr_html_(self): return "<b>"
    def _repr_svg_(self): return "<svg>"
class Drawn:
    def _repr_html_(self): return None
    def _repr_svg_(self): return "<svg>"
    def __repr__(self): return "plain"
"""


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("Shown()", ("html", "<b>")),
        ("Drawn()", ("svg", "<svg>")),
        ("Markdown('**a**')", ("html", "<p><strong>a</strong></p>")),
        ("{'b': 1, 'a': 2}", ("plain", "{'b': 1, 'a': 2}")),
        ("np.zeros(2)", ("plain", "array([0., 0.])")),
        ("Shown", ("plain", "<class '__main__.Shown'>")),
        (
            "['long ' * 9, 'words ' * 9]",
            ("plain", f"['{'long ' * 9}',\n '{'words ' * 9}']"),
        ),
    ],
)
def test_a_value_is_shown_as_in_a_notebook(value: str, expected: tuple[str, str]) -> None:
    page = Page()
    assert run(page, SHOWN) == []
    assert run(page, value) == [expected]


def test_the_source_of_a_readers_function_can_be_read() -> None:
    code = "import inspect\ndef f():\n    return 1\nprint(inspect.getsource(f))"
    assert run(Page(), code) == [("stdout", "def f():\n    return 1\n\n")]


@pytest.mark.parametrize("before", [None, "another"])
def test_running_a_cell_leaves_builtins_unchanged(
    monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    # Another test may have loaded IPython, which sets `display`.
    monkeypatch.delattr(builtins, "display", raising=False)
    if before:
        monkeypatch.setattr(builtins, "display", before, raising=False)
    asks = builtins.input
    run(Page(), "1")
    assert getattr(builtins, "display", None) == before
    assert builtins.input is asks


def test_long_output_is_truncated() -> None:
    ((_, text),) = run(Page(), "for _ in range(10**5): print('roofline')")
    assert MAX_PRINTED < len(text) < MAX_PRINTED + 100
    assert text.endswith("and so on")
    write = f"import sys; write = sys.stdout.write; _ = write('x' * {MAX_PRINTED - 1});"
    for rest, expected in (
        ("_ = write('y')", "y"),
        ("_ = write('y'); _ = write('z')", "y"),
        ("_ = write('yz')", "y\n… and so on"),
        ("_ = write('yz'); _ = write('z')", "y\n… and so on"),
    ):
        ((_, text),) = run(Page(), write + rest)
        assert text[MAX_PRINTED - 1 :] == expected


def test_a_rewind_restores_the_variables_as_the_cells_above_left_them() -> None:
    page = Page()
    run(page, "import numpy as np\nn, sizes, a = 1, [1], np.zeros(2)\ntable = {'b': sizes}")
    run(page, "n += 1; sizes.append(2); a += 1; later = True")
    run(page, "n = 'end'; table.clear()")
    page.rewind_to(1)
    assert run(page, "print(n, sizes, a, table, 'later' in globals())") == [
        ("stdout", "1 [1] [0. 0.] {'b': [1]} False\n")
    ]
    assert run(page, "print(table['b'] is sizes)") == [("stdout", "True\n")]
    for step in (9, -1):
        with pytest.raises(ValueError, match=f"step {step} was not reached"):
            page.rewind_to(step)
    new = Page()
    new.rewind_to(0)
    assert run(new, "1") == [("plain", "1")]


def test_a_rewind_restores_all_values_but_large_arrays() -> None:
    page = Page()
    run(page, "import numpy as np\nones = {1}\nfits = np.zeros(125_000)\nlarge = np.zeros(125_001)")
    run(page, "fits += 1; large += 1; ones.add(2)")
    page.rewind_to(1)
    assert run(page, "print(fits[0], large[0], ones)") == [("stdout", "0.0 1.0 {1}\n")]


def test_functions_see_current_names_after_a_rewind() -> None:
    page = Page()
    run(page, "n = 1\ndef f():\n    return n")
    run(page, "n = 2")
    page.rewind_to(1)
    assert run(page, "f()") == [("plain", "1")]


def test_matplotlib_settings_are_rewound_too() -> None:
    page = Page()
    run(page, "import matplotlib.pyplot as plt\nplt.rcParams['font.size'] = 10.0")
    run(page, "plt.rcParams['font.size'] = 20.0")
    page.rewind_to(1)
    assert run(page, "plt.rcParams['font.size']") == [("plain", "10.0")]


@pytest.mark.long
def test_rewinding_past_matplotlibs_import_restores_its_defaults() -> None:
    code = (
        "from browser.python.page_runner import Page; page = Page(); page.run('1'); "
        "page.run('import matplotlib.pyplot as plt; plt.rcParams[\"font.size\"] = 20.0'); "
        "page.rewind_to(1); print(page.run('import matplotlib as m; m.rcParams[\"font.size\"]'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT / "site"), "MPLBACKEND": "agg"},
        check=True,
    )
    assert json.loads(done.stdout)["outputs"] == [{"kind": "plain", "text": "10.0"}]


def test_while_roles_use_the_values_at_their_place_in_the_page() -> None:
    page = Page()
    run(page, "n = 12345")
    block = {"values": {"n": "12,345"}, "premise": "n > 2"}
    assert json.loads(page.blocks(json.dumps([block]))) == [
        {"follows": True, "now": {}, "undefined": False}
    ]
    run(page, "n = 1")
    page.rewind_to(0)
    run(page, "n = 6")
    assert json.loads(page.blocks(json.dumps([block]))) == [
        {"follows": True, "now": {"n": "6"}, "undefined": False}
    ]


def test_errors_show_only_lines_of_the_readers_cells() -> None:
    page = Page()
    run(page, "import json\ndef f(x):\n    return json.loads(x)")
    assert failure(page, "y = 1\nf('{')") == (
        "Line 2 of this cell:\n    f('{')\nLine 3 of f, in a cell above:\n"
        "    return json.loads(x)\n"
        "JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 "
        "(char 1)"
    )
    assert failure(page, "a = (1,\nb = 2").startswith("Line 1 of this cell:\n    a = (1,\nSyntax")
    assert failure(page, "raise SystemExit(3)").endswith("SystemExit: 3")
    assert failure(page, "exec('a b')") == (
        "Line 1 of this cell:\n    exec('a b')\nSyntaxError: invalid syntax"
    )
    said = failure(page, "name = input('Who?')")
    assert said.endswith("RuntimeError: a page cannot ask: write the answer into the cell instead")


def test_the_authors_hidden_assertions_are_skipped() -> None:
    page = Page()
    source = "n = 1\nassert n == 2"
    assert json.loads(page.run(source, ours=True)) == {"outputs": [], "failed": False}
    assert failure(page, source).endswith("AssertionError")


def test_output_before_an_error_is_kept() -> None:
    given = json.loads(Page().run("print('so far')\n1 / 0"))["outputs"]
    assert given[0] == {"kind": "stdout", "text": "so far\n"}


def test_display_and_clear_output_work_as_in_a_notebook() -> None:
    code = (
        "from browser.python.ipython_stubs import install; install(); "
        "from browser.python.page_runner import Page; "
        "print(Page().run(open(0).read()))"
    )
    cell = """
from IPython.display import HTML, clear_output, display
display("gone")
clear_output(wait=True)
display(1, 2, display_id="one")
display(HTML("<b>bold</b>"))
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=cell,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": f"{ROOT / 'site'}:{ROOT / 'kit'}:{ROOT}", "MPLBACKEND": "agg"},
        check=True,
    )
    outputs = json.loads(done.stdout)["outputs"]
    shown = [(output["kind"], output["text"]) for output in outputs]
    assert shown == [("plain", "1"), ("plain", "2"), ("html", "<b>bold</b>")]


def test_figures_are_shown_once_with_a_text_alternative() -> None:
    page = Page()
    source = "import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nax.plot([1, 2])\nfig"
    ((kind, svg),) = [
        (out["kind"], out["text"]) for out in json.loads(page.run(source, "A line"))["outputs"]
    ]
    assert kind == "svg"
    assert 'aria-label="A line"' in svg
    assert run(page, "plt.get_fignums()") == [("plain", "[]")]
    # The picture has no margins: with them, it would be 460.8 by 345.6 points.
    width, height = map(float, re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg).groups())
    assert width < 440
    assert height < 330
    ((_, unnamed),) = run(page, source)
    assert 'aria-label="A figure"' in unnamed


@pytest.mark.long
def test_matplotlib_works_without_generated_docstrings() -> None:
    code = (
        "from browser.python.ipython_stubs import install; install(); "
        "from matplotlib.lines import Line2D; line = Line2D([0], [0]); line.set(linewidth=3); "
        "print(line.get_linewidth(), Line2D.set.__doc__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT / "site"), "MPLBACKEND": "agg"},
        check=True,
    )
    assert done.stdout == "3.0 None\n"


def test_markdown_becomes_tables_or_escaped_paragraphs() -> None:
    html = as_html("| a | `b` |\n|:--|--:|\n| <i> | 2 \\| 3 |\n| x |\n\nSay **so**, it's <b>.")
    soup = BeautifulSoup(html, "html.parser")
    assert [cell.get_text() for cell in soup.select("td")] == ["<i>", "2 | 3", "x", ""]
    assert [cell["class"] for cell in soup.select("tr")[1].select("td")] == [
        ["text-left"],
        ["text-right"],
    ]
    assert str(soup.find_all("p")[-1]) == "<p>Say <strong>so</strong>, it’s &lt;b&gt;.</p>"


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("a\n---", "<p>a ---</p>"),
        ("a | b\nc | d", "<p>a | b c | d</p>"),
        ("a `*b*` c `d` *e*", None),
    ],
)
def test_only_lines_with_a_delimiter_row_below_become_a_table(
    markdown: str, html: str | None
) -> None:
    code = '<code class="docutils literal notranslate">'
    expected = html or f"<p>a {code}*b*</code> c {code}d</code> <em>e</em></p>"
    assert as_html(markdown) == expected


def test_a_wide_table_gets_the_same_classes_as_in_the_build() -> None:
    long = "x" * 50
    lines = ["| a | b | c | d | e |", "|---|:-:|--:|:--|---|", f"| 1 | 2 | 3 | 4 | {long} |"]
    wide = BeautifulSoup(as_html("\n".join([*lines, lines[2]])), "html.parser")
    assert wide.table["class"] == ["table", "wide"]
    first = wide.select("tbody tr")[0].select("td")
    assert [cell.span.get_text() for cell in first] == ["a", "b", "c", "d", "e"]
    assert [cell.p.get_text() for cell in first] == ["a1", "b2", "c3", "d4", f"e{long}"]
    assert [" ".join(cell["class"]) for cell in first] == [
        "figure-cell",
        "text-center figure-cell",
        "text-right figure-cell",
        "text-left figure-cell",
        "sentence-cell",
    ]
    assert [row["class"] for row in wide.select("tr")] == [["row-odd"], ["row-even"], ["row-odd"]]
    assert [cell.get("class") for cell in wide.select("th")][:2] == [
        ["head"],
        ["head", "text-center"],
    ]
    narrow = BeautifulSoup(as_html("| a |\n|---|\n| 1 |"), "html.parser")
    assert narrow.table["class"] == ["table"]
    assert not narrow.select("span")
    assert "class" not in narrow.td.attrs


# ---- the whole book: running a page's cells computes what the built page shows

# Runs the cells and prose of each page in a separate process, forked after importing the packages.
WHOLE = """
import json, os, sys
from pathlib import Path
from browser.python.page_runner import start_page
first = start_page()
first.run("import matplotlib.pyplot, rooflib, roofkit")
for path in map(Path, sys.argv[2:]):
    if os.fork():
        os.wait()
        continue
    page, made = start_page(), []
    data = json.loads(path.read_text())
    blocks = data["blocks"]
    for step in data["steps"]:
        if "blocks" in step:
            made.append(json.loads(page.blocks(json.dumps([blocks[n] for n in step["blocks"]]))))
        else:
            made.append({**json.loads(page.run(step["code"], step["alt"])), "cell": step["cell"]})
    Path(sys.argv[1], path.name).write_text(json.dumps(made))
    os._exit(0)
"""


def words(element: object) -> str:
    text = element.get_text(" ") if hasattr(element, "get_text") else str(element)
    return " ".join(text.split())


@pytest.fixture(scope="module")
def stepped(site: Path) -> list[str]:
    """Return the names of the pages with cells that a reader can run."""
    return sorted(
        path.relative_to(site).as_posix().removesuffix(".steps.json")
        for path in site.rglob("*.steps.json")
    )


def test_chapters_have_cells_that_readers_can_run(stepped: list[str]) -> None:
    assert {f"chapters/{name}" for name in ("time", "intensity", "chips")} <= set(stepped)


@pytest.fixture(scope="module")
def computed(
    site: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Path:
    """Run the chapters of the selected tests; return the folder with their results."""
    environment = {
        "PYTHONPATH": ":".join(map(str, (ROOT / "site", ROOT, ROOT / "kit"))),
        "MPLBACKEND": "agg",
    }
    ours = [item for item in request.session.items if item.path == request.path]
    chosen = [item.callspec.params for item in ours if hasattr(item, "callspec")]
    names = [given["chapter"] for given in chosen if "chapter" in given]
    pages = [str(site / "chapters" / f"{name}.steps.json") for name in names]
    folder = tmp_path_factory.mktemp("computed")
    command = [sys.executable, "-c", WHOLE, str(folder), *pages]
    subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    return folder


def shown(outputs: list[dict[str, str]]) -> Iterator[str]:
    """Yield a cell's outputs as comparable texts."""
    for out in outputs:
        if out["kind"] == "stdout":
            yield words(out["text"])
        elif out["kind"] == "html":
            soup = BeautifulSoup(out["text"], "html.parser")
            yield from (words(table) for table in soup.select("table"))
        elif out["kind"] == "svg":
            yield "figure"


# A cell not compared: the theme shortens a repository's URL in its built output.
SHORTENED = ("chapters/hardware", 7)
PAGES = ("introduction",)
LONG = ("time", "intensity", "roofline", "matmul", "chips", "attention", "summary", "homework")
LONG += ("hardware",)
UNCHANGED = {"follows": True, "now": {}, "undefined": False}


@pytest.mark.parametrize(
    "chapter", [*PAGES, *(pytest.param(name, marks=pytest.mark.long) for name in LONG)]
)
def test_rerunning_a_page_computes_what_the_built_page_shows(
    site: Path, computed: Path, chapter: str
) -> None:
    name = f"chapters/{chapter}"
    data = json.loads((site / f"{name}.steps.json").read_text(encoding="utf-8"))
    html = (site / f"{name}.html").read_text(encoding="utf-8")
    article = BeautifulSoup(html, "html.parser").select_one(".bd-article")
    assert article is not None
    cells, spans = article.select("div.cell"), article.select(".computed")
    given = json.loads((computed / f"{chapter}.steps.json").read_text())
    for step, made in zip(data["steps"], given, strict=True):
        if "blocks" in step:
            # Every value equals the built page's, and every {while} condition holds.
            assert all(state == UNCHANGED for state in made)
            continue
        assert not made["failed"], made["outputs"]
        if made["cell"] is None or (name, made["cell"]) == SHORTENED:
            continue
        place = cells[made["cell"]].select_one(".cell_output")
        built = place.select("pre, table, svg.figure") if place else []
        expected = ["figure" if e.name == "svg" else words(e) for e in built]
        assert list(shown(made["outputs"])) == expected
    expected = [block["values"][e] for block in data["blocks"] for e in block["shown"] if e]
    assert [span.get_text() for span in spans] == expected
    assert len(spans) > 20


def test_pages_get_no_solutions_and_no_hidden_cases(site: Path) -> None:
    """Check that of each exercise, the page's Python gets only title and metadata."""
    import zipfile

    (packed,) = (site / "_static" / "python").rglob("course.zip")
    with zipfile.ZipFile(packed) as archive:
        names = archive.namelist()
        for name in (name for name in names if name.startswith("exercises/")):
            assert set(json.loads(archive.read(name))) == {"cells", "metadata"}
            assert len(archive.read(name)) < 300
    assert {name.split("/")[0] for name in names} == {
        "book_extension",
        "browser",
        "exercises",
        "kit",
        "rooflib",
    }
    assert not [name for name in names if "grading" in name]


# ---- time limits of calls, and the cells that an answer depends on


class Clock:
    """Fake clock; the loop that measures the device's speed takes `loop` seconds."""

    def __init__(self, loop: float) -> None:
        self.now, self.loop = 0.0, loop

    def __call__(self) -> float:
        self.now += self.loop  # only the timed loop reads the clock twice in a row
        return self.now


def doubt_about(took: float, slowdown: float, busy: float = 1) -> str:
    """Return the warning after a call of `took` seconds on a device with this slowdown.

    busy: factor by which the first measurement of the device's speed was even slower.
    """
    clock = Clock(call_times.LOOP_SECONDS * slowdown * busy)
    times = call_times.CallTimes(clock)
    with times(5.0, 30.0, lambda: None):
        clock.now += took - clock.loop
        clock.loop /= busy
    return times.doubt()


def test_calls_near_the_grading_limit_get_a_warning() -> None:
    assert doubt_about(2, 1) == ""
    assert doubt_about(4, 1).startswith("A call took 4 s here. In grading a call gets 5 s ")
    # On a device that is 10 times slower, calls may take longer before the warning.
    assert doubt_about(4, 10) == ""
    assert doubt_about(29, 10).startswith("A call took 29 s")
    # If the device was only busy at the first measurement, the limit isn't extended: the speed is
    # measured again.
    assert doubt_about(4, 1, busy=10).startswith("A call took 4 s")


def test_each_warning_is_given_only_once() -> None:
    times = call_times.CallTimes(Clock(call_times.LOOP_SECONDS))
    assert times.doubt() == ""
    with times(5.0, 30.0, lambda: None):
        times.clock.now += 4  # type: ignore[attr-defined]
    assert times.doubt() != ""
    assert times.doubt() == ""


def test_calls_near_the_limit_are_reported_on_fast_devices_too() -> None:
    assert doubt_about(4, 0.1).startswith("A call took 4 s")


def test_each_call_is_reported_with_its_time_limit() -> None:
    times, told = call_times.CallTimes(Clock(call_times.LOOP_SECONDS * 4)), []
    times.report = lambda *what: told.append(what)
    for _ in range(2):
        with times(5.0, 30.0, lambda: None):
            pass
    times.begin()
    with times(10.0, 30.0, lambda: None):
        pass
    assert [(call, round(seconds, 6)) for call, seconds in told] == [
        *[(1, 20), (0, 0)],
        *[(2, 20), (0, 0)],
        *[(1, 30), (0, 0)],
    ]


def test_a_terminated_call_counts_as_timed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    times = call_times.CallTimes()
    monkeypatch.setattr(call_limit, "host", times)
    times.begin(late=2)
    cases = [{"x": 1}, {"x": 2}, {"x": 3}]
    answers = list(ask_all(lambda x: x, cases, "number", call_limit.limited))
    assert [answer.problem for answer in answers[:3]] == ["", "too-late", "too-late"]
    times.begin()
    answers = list(ask_all(lambda x: x, cases, "number", call_limit.limited))
    assert [answer.problem for answer in answers] == ["", "", "", ""]


@pytest.mark.parametrize(
    ("cells", "places"),
    [
        (["a = 1", "b = 1", "def f(): return g()", "def g(): return a", "f()"], [0, 2, 3]),
        (["a = 1", "def f(a): return a", "def g():\n    a = 2\n    return f(a)", "g()"], [1, 2]),
        (["import math", "def f():\n    def g(): return math.pi\n    return g()", "f()"], [0, 1]),
        (["a = {}", "a['x'] = 1", "print(a)", "def f(): return a", "f()"], [0, 1, 3]),
        (["def f():\n    global n\n    n = 1", "f()", "n"], [0]),
        (["from math import *", "a = 1", "sqrt(2)"], [0]),
        (["a = (", "b = 1", "a + b"], [1]),
        (["f = 1", "check('f', f)"], [0]),
    ],
)
def test_a_cell_depends_on_cells_above_that_bind_names_it_reads(
    cells: list[str], places: list[int]
) -> None:
    assert needed(cells) == places
