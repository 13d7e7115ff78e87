"""Tests of the values in JupyterLab's prose, with fakes of JupyterLab's objects.

Notebooks and the kernel are stand-ins, too.

tests/kit/test_validate_button.py and tests/site/test_lab_prose.py test them in JupyterLab itself.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from chinese_counts import COUNTS
from playwright.sync_api import Browser, Error, Page
from repository import ROOT

EXTENSION = ROOT / "site/commands/jupyterlab/labextensions/course-values/values.js"
# Fakes of the JupyterLab objects that the extension uses. `open` shows a notebook with the given
# cells, each [type, source, metadata]; `ran` reports that a cell has run.
STAND_INS = """() => {
  const signal = () => {
    const listeners = [];
    return {
      connect: (listener) => listeners.push(listener),
      emit: (data) => listeners.forEach((listener) => listener(null, data)),
    };
  };
  class Notebook {
    async setFragment(fragment) {
      this.wentTo = fragment;
      this.arrive?.();
    }
  }
  class MarkdownCell {
    initializeDOM() {
      return "drawn";
    }
    showEditor() {
      return "shown";
    }
  }
  const NotebookActions = { executionScheduled: signal(), executed: signal() };
  const found = (module) => ({ "1.0": { get: async () => () => module } });
  const panels = [];
  const lab = { asked: [], panels, Notebook, MarkdownCell, NotebookActions };
  const kernel = {
    requestExecute(request) {
      const reply = { request, done: Promise.reject(new Error("restarted")) };
      lab.asked.push(reply);
      return reply;
    },
  };
  lab.cell = ([type, source, metadata = {}], id) => {
    const node = document.createElement("div");
    const model = {
      type,
      id: `cell-${id}`,
      metadata,
      written: 0,
      sharedModel: { getSource: () => source },
      getMetadata: (key) => metadata[key],
      setMetadata: (key, value) => {
        metadata[key] = value;
        model.written += 1;
      },
      deleteMetadata: (key) => delete metadata[key],
    };
    return Object.assign(new MarkdownCell(), { node, model, isDisposed: false });
  };
  lab.open = (cells, words) => {
    const notebook = Object.assign(new Notebook(), { widgets: cells.map(lab.cell) });
    notebook.model = { getMetadata: (key) => (key === "course_words" ? words : undefined) };
    document.body.replaceChildren(...notebook.widgets.map(({ node }) => node));
    panels.splice(0, 1, { content: notebook, sessionContext: { session: { kernel } } });
    lab.asked.length = 0;
    return notebook;
  };
  lab.ran = (notebook, place, success = true) => {
    const cell = notebook.widgets[place];
    NotebookActions.executionScheduled.emit({ notebook, cell });
    NotebookActions.executed.emit({ notebook, cell, success });
  };
  lab.start = async () => {
    const { init, get } = window._JUPYTERLAB["course-values"];
    const INotebookTracker = "tracker";
    init({
      "@jupyterlab/notebook": found({ INotebookTracker, Notebook, NotebookActions }),
      "@jupyterlab/cells": found({ MarkdownCell }),
    });
    const { default: plugin } = (await get())();
    plugin.activate(null, { find: (fits) => panels.find(fits) });
    return [plugin.autoStart, plugin.requires];
  };
  window.lab = lab;
}"""
# Runs a text cell in a notebook with the translations `words`. `results` maps each expression to
# the kernel's result, null for an error. Returns what the cell shows for each expression, how often
# the values were stored, the cell's note, and the request to the kernel.
SHOWN = """([source, metadata, words, results, decisions]) => {
  const notebook = lab.open([["markdown", source, metadata]], words);
  lab.ran(notebook, 0);
  const [{ request, onReply }] = lab.asked;
  onReply({ content: { status: "aborted" } });
  const ok = (text) => ({ status: "ok", data: { "text/plain": text }, metadata: {} });
  const answer = (text) => (text === null ? { status: "error" } : ok(text));
  const user_expressions = { ...Object.values(results).map(answer) };
  if (decisions !== undefined) user_expressions.blocks = ok(decisions);
  onReply({ content: { status: "ok", user_expressions } });
  const [{ model, node }] = notebook.widgets;
  notebook.widgets[0].initializeDOM();
  const note = node.querySelector(":scope > .course-note[role=note]");
  const values = (model.metadata.user_expressions ?? []).map(
    ({ expression, result }) => [expression, result.data?.["text/plain"] ?? result.status],
  );
  return { values, written: model.written, note: note?.textContent ?? "", request };
}"""


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    errors: list[Error] = []
    with browser.new_page() as page:
        page.on("pageerror", lambda error: errors.append(error))
        page.evaluate(STAND_INS)
        page.add_script_tag(path=EXTENSION)
        assert page.evaluate("lab.start()") == [True, ["tracker"]]
        yield page
    assert errors == []


def shown(
    page: Page,
    results: Mapping[str, str | None],
    *,
    metadata: Mapping[str, object] = {},
    words: object = None,
    decisions: str | None = None,
) -> Any:
    """Return what a text cell with these expressions shows after it has run."""
    source = " ".join(f"{{eval}}`{expression}`" for expression in results)
    return page.evaluate(SHOWN, [source, metadata, words, results, decisions])


def test_a_text_cell_asks_the_kernel_for_its_values_once(page: Page) -> None:
    source = "{eval}`n` and {eval}`n`, `{eval}`m``, \\{eval}`k`, {eval}`n + 1`"
    found = page.evaluate(SHOWN, [source, {}, None, {"n": "1", "n + 1": "2"}, None])
    assert found["values"] == [["n", "1"], ["n + 1", "2"]]
    request = found["request"]
    assert [request[key] for key in ("code", "silent", "store_history", "stop_on_error")] == [
        "",
        True,
        False,
        False,
    ]
    assert list(request["user_expressions"]) == ["0", "1"]
    values = [eval(asked, {"n": 1234}) for asked in request["user_expressions"].values()]
    assert [str(value) for value in values] == ["1,234", "1,235"]
    assert page.evaluate(ASKS, ["markdown", "no values"]) == 0


# Returns how many requests the kernel gets when this cell, the only one of its notebook, has run.
ASKS = "(cell) => { lab.ran(lab.open([cell]), 0); return lab.asked.length; }"


@pytest.mark.parametrize(
    ("before", "now", "after", "written"),
    [
        ("1", "2", "2", 1),
        ("1", "1", "1", 0),
        ("1", None, "1", 0),  # a name isn't defined yet
        ("error", None, "error", 0),
        ("error", "2", "2", 1),
    ],
)
def test_values_stay_until_the_kernel_returns_new_ones(
    page: Page, before: str, now: str | None, after: str, written: int
) -> None:
    result: dict[str, object] = {"status": "error"}
    if before != "error":
        result = {"status": "ok", "data": {"text/plain": before}, "metadata": {}}
    old = [{"expression": "n", "result": result}]
    found = shown(page, {"n": now}, metadata={"user_expressions": old})
    assert (found["values"], found["written"]) == ([["n", after]], written)


CHINESE = {
    "said": {
        "{printed} (as printed; now {now})": "原文 {printed}、现为 {now}",
        "As printed, and need not hold with your changes: {named}": "未必成立 {named}",
    },
    "values": {"few": "很少", "{a} and {b}": "{b}和{a}", "(1.0)": "一"},
    "scales": {"百万": 6, "十亿": 9},
    "units": {"万": 4, "亿": 8, "万亿": 12},
}


def test_values_are_shown_in_the_notebooks_language(page: Page) -> None:
    texts = {
        "few": "很少",
        "few and 3": "3和很少",
        "(1.0)": "一",
        "(1x0)": "(1x0)",
        "many": "many",
    }
    found = shown(page, {f"v{i}": text for i, text in enumerate(texts)}, words=CHINESE)
    assert [text for _, text in found["values"]] == list(texts.values())
    scale = {6: "百万", 9: "十亿"}
    counts = [*COUNTS, ("many", 6, "many")]
    asked = {f"v{i}  # {scale[power]}": value for i, (value, power, _) in enumerate(counts)}
    found = shown(page, asked, words=CHINESE)
    assert [text for _, text in found["values"]] == [after for _, _, after in counts]


def test_prose_keeps_its_built_values_unless_the_kernel_says_to_update_it(page: Page) -> None:
    def decided(states: list[dict[str, object]] | str, words: object = None, **more: object) -> Any:
        blocks = [
            {"values": {"a": "1", "b": "2", "gone": "0"}, "begins": "First"},
            {"values": {"c": "few"}, "begins": "Second"},
            {"values": {}, "begins": "Third"},
        ]
        results = {"a": "10", "b": "20", "c": "30"}
        told = states if isinstance(states, str) else json.dumps(states)
        metadata = {"course_blocks": blocks, **more}
        return shown(page, results, metadata=metadata, words=words, decisions=told)

    def stays(**now: str | None) -> dict[str, object]:
        return {"follows": False, "now": now}

    unknown, follows = {"undefined": True}, {"follows": True, "now": {}}
    found = decided([stays(a="10", b=None), follows, follows])
    assert found["values"] == [
        ["a", "1 (as printed; now 10)"],
        ["b", "2 (as printed; can’t be computed now)"],
        ["c", "30"],
    ]
    assert found["note"] == ""
    assert "roofkit.following" in found["request"]["user_expressions"]["blocks"]
    found = decided([unknown, stays(), stays()])
    assert found["values"] == [["c", "few"]]
    named = "As printed, and need not hold with your changes: “Second”, “Third”"
    assert found["note"] == named
    found = decided([unknown, stays(c="few and 3"), stays()], CHINESE)
    assert found["values"] == [["c", "原文 很少、现为 3和很少"]]
    assert found["note"] == "未必成立 “Third”"
    # If the kernel doesn't say which blocks to update, the value stays and the note disappears.
    for broken in ("[]", "{"):
        old = {"expression": "a", "result": {"status": "ok", "data": {"text/plain": "7"}}}
        more = {"user_expressions": [old], "course-note": "before"}
        found = decided(broken, **more)
        assert (found["values"], found["note"]) == ([["a", "7"]], "")


# Schedules the cells with these indices at once and runs them; returns, after each of them, how
# many text cells have been computed so far.
COMPUTED = """([cells, places, success]) => {
  const notebook = lab.open(cells.map((type) => [type, type === "markdown" ? "{eval}`n`" : ""]));
  for (const cell of places.map((place) => notebook.widgets[place])) {
    lab.NotebookActions.executionScheduled.emit({ notebook, cell });
  }
  const counts = [];
  for (const cell of places.map((place) => notebook.widgets[place])) {
    lab.NotebookActions.executed.emit({ notebook, cell, success });
    counts.push(lab.asked.length);
  }
  return counts;
}"""


@pytest.mark.parametrize(
    ("places", "success", "counts"),
    [
        ([0], True, [0]),
        ([1], True, [2]),  # the text cells 2 and 3 follow it
        ([1], False, [0]),
        ([2], True, [1]),
        ([2], False, [1]),
        ([4], True, [1]),
        (
            [1, 2, 3, 4],
            True,
            [0, 1, 2, 3],
        ),  # as in Run All: cells 2 and 3 are computed when they run
    ],
)
def test_text_below_a_cell_that_runs_alone_is_computed_again(
    page: Page, places: list[int], success: bool, counts: list[int]
) -> None:
    cells = ["code", "code", "markdown", "markdown", "code", "markdown"]
    found = page.evaluate(COMPUTED, [cells, places, success])
    assert found[: len(places) - 1] == counts[:-1]
    assert found[-1] == (counts[-1] if len(places) == 1 else 3)


# Schedules a cell that may be disposed before it runs, then runs another cell; returns how many
# text cells were computed.
CLOSED = """(isDisposed) => {
  const notebook = lab.open([["code", ""], ["markdown", "{eval}`n`"], ["code", ""]]);
  const [cell, , other] = notebook.widgets;
  lab.NotebookActions.executionScheduled.emit({ notebook, cell: other });
  other.isDisposed = isDisposed;
  lab.ran(notebook, 0);
  lab.NotebookActions.executed.emit({ notebook, cell: other, success: true });
  return lab.asked.length;
}"""


@pytest.mark.parametrize(("closed", "asked"), [(True, 1), (False, 0)])
def test_text_does_not_wait_for_a_scheduled_cell_that_was_disposed(
    page: Page, closed: bool, asked: int
) -> None:
    assert page.evaluate(CLOSED, closed) == asked


# Follows a link to a cell. Returns whether the notebook went there, and whether the cell is in
# view: at once, after the cell above has grown, and after an event of this kind and more growth.
HELD = """async ([late, kind]) => {
  const notebook = lab.open([["markdown", ""], ["markdown", ""], ["markdown", ""]]);
  const [above, target] = notebook.widgets;
  for (const { node } of notebook.widgets) node.style.height = "2000px";
  const id = target.model.id;
  if (late) {
    target.model.id = "unknown";
    notebook.arrive = () => (target.model.id = id);
  }
  const frames = () =>
    new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  const isInView = () => Math.abs(target.node.getBoundingClientRect().top) < 1;
  window.scrollTo(0, 0);
  await notebook.setFragment(`#cell-id=${id}`);
  await frames();
  const seen = [notebook.wentTo === `#cell-id=${id}`, isInView()];
  above.node.style.height = "3000px";
  await frames();
  seen.push(isInView());
  await notebook.setFragment("#unknown");
  target.node.addEventListener(kind, (event) => event.stopPropagation());
  target.node.dispatchEvent(new Event(kind, { bubbles: true }));
  above.node.style.height = "4000px";
  await frames();
  return [...seen, isInView()];
}"""


@pytest.mark.parametrize("kind", ["wheel", "pointerdown", "keydown"])
@pytest.mark.parametrize("late", [True, False])
def test_a_links_target_stays_in_view_until_the_reader_acts(
    page: Page, late: bool, kind: str
) -> None:
    page.add_style_tag(content="html { overflow-anchor: none; }")
    assert page.evaluate(HELD, [late, kind]) == [True, True, True, False]


# Lets the reader scroll while JupyterLab goes to a cell; returns whether the cell is still held in
# view when the cell above grows.
LEFT = """async () => {
  const notebook = lab.open([["markdown", ""], ["markdown", ""]]);
  const [above, target] = notebook.widgets;
  for (const { node } of notebook.widgets) node.style.height = "2000px";
  notebook.arrive = () => window.dispatchEvent(new Event("wheel"));
  await notebook.setFragment(`#cell-id=${target.model.id}`);
  window.scrollTo(0, 0);
  above.node.style.height = "3000px";
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  return Math.abs(target.node.getBoundingClientRect().top) < 1;
}"""


def test_a_linked_cell_is_not_held_in_view_if_the_reader_scrolls_meanwhile(page: Page) -> None:
    assert page.evaluate(LEFT) is False


def test_a_text_cell_without_a_kernel_asks_for_no_values(page: Page) -> None:
    assert (
        page.evaluate(
            """() => {
          const notebook = lab.open([["markdown", "{eval}`n`"]]);
          lab.panels.length = 0;
          lab.ran(notebook, 0);
          return lab.asked.length;
        }"""
        )
        == 0
    )


# Presses the pointer on one link and releases it on another; returns how often the second was
# clicked.
CLICKS = """([before, now, event]) => {
  const area = Object.assign(document.createElement("div"), { className: "myst" });
  document.body.replaceChildren(area);
  const link = (text) =>
    text && Object.assign(document.createElement("a"), { href: "#", textContent: text });
  const pressed = link(before);
  const released = now === "same" ? pressed : link(now);
  for (const kind of ["pointerdown", "pointerup"]) {
    area.addEventListener(kind, (event) => event.stopPropagation());
  }
  const send = (target, kind) => {
    area.replaceChildren(target || "");
    (target || area).dispatchEvent(
      new PointerEvent(kind, { bubbles: true, button: 0, ...event }),
    );
  };
  let clicks = 0;
  area.addEventListener("click", (event) => {
    event.preventDefault();
    clicks += 1;
  });
  send(pressed, "pointerdown");
  send(released, "pointerup");
  return clicks;
}"""


@pytest.mark.parametrize(
    ("before", "now", "event", "clicks"),
    [
        ("go", "go", {}, 1),
        ("go", "stay", {}, 0),
        ("go", "same", {}, 0),
        ("", "go", {}, 0),
        ("go", "", {}, 0),
        ("go", "go", {"button": 1}, 0),
        ("go", "go", {"ctrlKey": True}, 0),
        ("go", "go", {"metaKey": True}, 0),
        ("go", "go", {"shiftKey": True}, 0),
    ],
)
def test_a_link_rendered_again_during_a_click_is_followed(
    page: Page, before: str, now: str, event: dict[str, object], clicks: int
) -> None:
    assert page.evaluate(CLICKS, [before, now, event]) == clicks


# Like CLICKS, but JupyterLab completes the link's address later; returns the address followed.
LATE = """() => {
  const area = Object.assign(document.createElement("div"), { className: "myst" });
  document.body.replaceChildren(area);
  const link = () =>
    Object.assign(document.createElement("a"), { href: "other", textContent: "go" });
  const [before, now] = [link(), link()];
  const send = (link, kind) => {
    area.replaceChildren(link);
    link.dispatchEvent(new PointerEvent(kind, { bubbles: true, button: 0 }));
  };
  return new Promise((resolve) => {
    now.addEventListener("click", (event) => {
      event.preventDefault();
      resolve(now.getAttribute("href"));
    });
    send(before, "pointerdown");
    send(now, "pointerup");
    now.setAttribute("href", "#complete");
  });
}"""


def test_a_click_on_a_link_waits_until_its_address_is_complete(page: Page) -> None:
    assert page.evaluate(LATE) == "#complete"


# Creates a text cell that is to be rendered or edited; returns whether its source is visible before
# and after the editor is shown, and its note.
DRAWN = """([rendered, note]) => {
  const notebook = lab.open([["markdown", "text", { "course-note": note }]]);
  const [cell] = notebook.widgets;
  cell.rendered = rendered;
  const area = Object.assign(document.createElement("div"), { className: "jp-InputArea-editor" });
  cell.node.append(area);
  const visible = () => getComputedStyle(area).visibility === "visible";
  const seen = [cell.initializeDOM(), visible(), cell.showEditor(), visible()];
  cell.initializeDOM();
  return [...seen, ...[...cell.node.querySelectorAll(".course-note")].map((e) => e.textContent)];
}"""


def test_a_text_cell_to_be_rendered_hides_its_source_and_shows_its_note(page: Page) -> None:
    assert page.evaluate(DRAWN, [True, "As printed"]) == [
        "drawn",
        False,
        "shown",
        True,
        "As printed",
    ]
    assert page.evaluate(DRAWN, [False, ""]) == ["drawn", True, "shown", True]
