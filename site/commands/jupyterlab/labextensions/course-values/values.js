// @ts-check
// A JupyterLab extension, written as the built form that JupyterLab loads. It computes the values of
// {eval} roles, which jupyterlab-myst shows from the metadata of their cells, and keeps the target
// of a link in view.
//
// package.json disables jupyterlab-myst's own evaluation. It reads the roles from the rendered page,
// so it finds none in a cell that isn't rendered yet, and then removes the cell's values. It also
// asks the kernel late: in Run All its requests come after all cells, and return the last value of a
// name instead of the one at that place.
(() => {
  const NAME = "course-values";
  const KEY = "user_expressions";
  // Metadata that page_copy.py writes: a cell's blocks, and a notebook's translated words.
  const BLOCKS = "course_blocks";
  const WORDS = "course_words";
  const NOTE = "course-note"; // in a cell's metadata, and the class of its element
  const UNRENDERED = "course-unrendered";
  const EVAL = /(?<![`\\])\{eval\}`([^`]+)`/g;
  // Format a value as the book does: a string without quotes or escapes, an integer with commas, a
  // quantity with its unit.
  const asShown = (expression) =>
    "(lambda v: type('Value', (), {'__repr__': lambda _: f'{v:,}' if hasattr(v, '__index__') else str(v)})()" +
    " if isinstance(v, str) or hasattr(v, 'unit') or hasattr(v, '__index__') and not isinstance(v, bool)" +
    ` else v)(${expression}\n)`;

  let shared;
  const library = async (name) => {
    const versions = shared[name];
    const factory = await Object.values(versions)[0].get();
    return factory();
  };

  const expressions = (cell) =>
    cell.type === "markdown"
      ? [...new Set([...cell.sharedModel.getSource().matchAll(EVAL)].map((role) => role[1]))]
      : [];

  // Return a function that translates a message into the notebook's language and fills in values.
  const speaking = (notebook) => (message, values = {}) =>
    (notebook.model.getMetadata(WORDS)?.said?.[message] ?? message)
      .replace(/\{(\w+)\}/g, (place, name) => values[name] ?? place);

  // Return a count with its unit. A comment in its expression names the scale, such as `# 百万`.
  const counted = (value, power, units) => {
    const number = Number(value.replaceAll(",", ""));
    if (!Number.isFinite(number)) return value;
    const largestFirst = Object.entries(units).sort(([, one], [, other]) => other - one);
    const [unit, own] = largestFirst.find(([, least]) => number * 10 ** power >= 10 ** least) ?? ["", 0];
    const shift = power - own;
    const decimals = value.split(".")[1]?.length ?? 0;
    return `${(number * 10 ** shift).toFixed(Math.max(0, decimals - shift))} ${unit}`.trim();
  };

  // Translate a value from the kernel into the notebook's language, as the pages do: see
  // site/book_extension/languages/value_words.py.
  const inLanguage = (notebook, expression, value) => {
    const { values = {}, scales = {}, units = {} } = notebook.model.getMetadata(WORDS) ?? {};
    const power = scales[expression.split("  # ").at(-1)];
    if (power) return counted(value, power, units);
    for (const [template, said] of Object.entries(values)) {
      const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const texts = template.split(/\{\w+\}/).map((text) => text.replace(/[.*+?^$()|[\]\\]/g, "\\$&"));
      const found = new RegExp(`^${texts.join("(.+)")}$`).exec(value);
      const part = (name) => inLanguage(notebook, "", found[1 + names.indexOf(name)]);
      if (found) return said.replace(/\{(\w+)\}/g, (_, name) => part(name));
    }
    return value;
  };

  const resultInLanguage = (notebook, expression, result) => {
    const text = result.data?.["text/plain"];
    if (!text) return result;
    return { ...result, data: { ...result.data, "text/plain": inLanguage(notebook, expression, text) } };
  };

  const store = (cell, wanted, found) => {
    const before = cell.getMetadata(KEY) ?? [];
    const kept = new Map(before.map((entry) => [entry.expression, entry]));
    const given = new Map(found.map((entry) => [entry.expression, entry]));
    const after = wanted.map((expression) => {
      const [entry, old] = [given.get(expression), kept.get(expression)];
      // Keep the shown value on an error, as when a name isn't defined yet.
      return (entry && (entry.result.status === "ok" || old?.result.status !== "ok") ? entry : old) ?? entry;
    }).filter(Boolean);
    if (JSON.stringify(before) !== JSON.stringify(after)) cell.setMetadata(KEY, after);
  };

  // For a block that stays as built, return the text of a built value and what it would be now.
  const asPrinted = (phrase, printed, now) =>
    now === null
      ? phrase("{printed} (as printed; can’t be computed now)", { printed })
      : phrase("{printed} (as printed; now {now})", { printed, now });
  const asResult = (text) => ({ status: "ok", data: { "text/plain": text }, metadata: {} });

  // Return code that asks kit/roofkit/following.py which of a cell's blocks follow.
  const decision = (blocks) =>
    `__import__("roofkit.following", fromlist=["Reply"]).Reply(${JSON.stringify(JSON.stringify(blocks))}, globals())`;

  // Return the decisions about blocks in the kernel's reply; [] if it has none.
  const readStates = (result) => {
    try {
      return JSON.parse(result.data["text/plain"]);
    } catch {
      return [];
    }
  };

  // Return what each expression of a cell shows. If its block doesn't follow, that is the built
  // value, with the current one if it differs. Before the cells above have run, names are missing,
  // and shown values stay.
  const decided = (notebook, blocks, states, wanted, results) => {
    const found = new Map(
      wanted.map((expression, i) => [expression, resultInLanguage(notebook, expression, results[i])]),
    );
    const said = (expression, value) => value && inLanguage(notebook, expression, value);
    blocks.forEach(({ values }, place) => {
      const state = states[place];
      for (const [expression, printed] of Object.entries(values)) {
        if (!state || state.undefined) found.delete(expression);
        else if (!state.follows) {
          const now = said(expression, state.now[expression]);
          const text = said(expression, printed);
          found.set(expression, asResult(now === undefined ? text : asPrinted(speaking(notebook), text, now)));
        }
      }
    });
    return wanted
      .filter((expression) => found.has(expression))
      .map((expression) => ({ expression, result: found.get(expression) }));
  };

  // Return the text of the note below a cell. It names the blocks whose {while} condition fails
  // although all of their values are unchanged.
  const noteOf = (phrase, blocks, states) => {
    const failing = blocks.filter((_, place) => {
      const state = states[place];
      return state && !state.undefined && !state.follows && !Object.keys(state.now).length;
    });
    const named = failing.map(({ begins }) => `“${begins}”`).join(", ");
    return named && phrase("As printed, and need not hold with your changes: {named}", { named });
  };

  const drawNote = (widget) => {
    const text = widget.model.getMetadata(NOTE) ?? "";
    let note = widget.node.querySelector(`:scope > .${NOTE}`);
    if (!text) return note?.remove();
    if (!note) {
      note = document.createElement("p");
      note.className = NOTE;
      note.setAttribute("role", "note");
      widget.node.append(note);
    }
    note.textContent = text;
  };

  // Send the request without waiting for earlier ones: the kernel answers in order, so the values are
  // those between the cell above and the cell below.
  const compute = (kernel, notebook, widget) => {
    const cell = widget.model;
    const wanted = expressions(cell);
    const blocks = cell.getMetadata(BLOCKS) ?? [];
    if (!kernel || !(wanted.length || blocks.length)) return;
    const asked = Object.fromEntries(wanted.map((expression, i) => [i, asShown(expression)]));
    if (blocks.length) asked.blocks = decision(blocks);
    const request = kernel.requestExecute({
      code: "",
      silent: true,
      store_history: false,
      stop_on_error: false,
      user_expressions: asked,
    });
    request.onReply = ({ content }) => {
      if (content.status !== "ok") return;
      const results = content.user_expressions;
      const states = readStates(results.blocks);
      store(cell, wanted, decided(notebook, blocks, states, wanted, results));
      const note = noteOf(speaking(notebook), blocks, states);
      if (note) cell.setMetadata(NOTE, note);
      else cell.deleteMetadata(NOTE);
      drawNote(widget);
    };
    // A restarted or dead kernel doesn't answer. The old values stay.
    request.done.catch(() => {});
  };

  // Keep the target cell of a link in view until the reader does something: cells above it are
  // rendered later and push it away.
  const hold = (notebook, cell) => {
    const events = ["wheel", "pointerdown", "keydown"];
    const watcher = new ResizeObserver(() => {
      cell.node.scrollIntoView();
    });
    const stop = () => watcher.disconnect();
    for (const { node } of notebook.widgets) watcher.observe(node);
    for (const event of events) window.addEventListener(event, stop, { capture: true, once: true });
  };

  const holdTargets = (Notebook) => {
    const go = Notebook.prototype.setFragment;
    const find = (notebook, fragment) =>
      notebook.widgets.find(({ model }) => fragment === `#cell-id=${model.id}`);
    Notebook.prototype.setFragment = async function (fragment) {
      // Hold the target from the start: on a busy machine JupyterLab takes seconds to scroll there.
      const early = find(this, fragment);
      if (early) hold(this, early);
      await go.call(this, fragment);
      const late = find(this, fragment);
      if (late && !early) hold(this, late);
    };
  };

  // jupyterlab-myst may render a text again between mouse down and mouse up. The pressed link is then
  // gone, and browsers send the new one no click.
  const finishClicks = () => {
    const linkAt = ({ target }) => target.closest?.(".myst a[href]") ?? null;
    // JupyterLab attaches the handler that opens a link, then completes the address: wait for that.
    const click = (link, tries) => {
      if (/^(https?:|#)/.test(link.getAttribute("href"))) link.click();
      else if (tries) setTimeout(click, 50, link, tries - 1);
    };
    let pressed = null;
    const press = (event) => {
      const plain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey;
      pressed = plain ? linkAt(event) : null;
    };
    const release = (event) => {
      const [before, now] = [pressed, linkAt(event)];
      pressed = null;
      if (!before || !now || before.isConnected) return;
      if (before.textContent === now.textContent) click(now, 100);
    };
    window.addEventListener("pointerdown", press, true);
    window.addEventListener("pointerup", release, true);
  };

  // A text cell is rendered some time after it comes into view. Hide its source until then, unless
  // the reader opens it.
  const hideUnrendered = (MarkdownCell) => {
    const { initializeDOM, showEditor } = MarkdownCell.prototype;
    MarkdownCell.prototype.initializeDOM = function () {
      this.node.classList.toggle(UNRENDERED, this.rendered);
      const done = initializeDOM.call(this);
      drawNote(this);
      return done;
    };
    MarkdownCell.prototype.showEditor = function () {
      this.node.classList.remove(UNRENDERED);
      return showEditor.call(this);
    };
  };

  // Hide the numbers of formulas: jupyterlab-myst restarts them in each cell, no text refers to them,
  // and the site has none. Don't clip tall formulas at the top. Put links above the empty boxes that
  // KaTeX lays over the line above a root: covered links would get no clicks.
  const STYLE = `
    .${UNRENDERED} .jp-InputArea-editor { visibility: hidden; }
    .${NOTE} { margin: 0 1rem 0.5rem; padding-inline-start: 0.5rem; border-inline-start: 3px solid currentcolor; }
    .myst :has(> .katex-display) + div { visibility: hidden; }
    .myst :has(> .katex-display) { padding-block: 0.4em; }
    .myst a[href] { position: relative; z-index: 1; }
  `;

  const addStyle = () => {
    const style = document.createElement("style");
    style.textContent = STYLE;
    document.head.append(style);
  };

  const makePlugin = ({ INotebookTracker, Notebook, NotebookActions }, { MarkdownCell }) => ({
    id: `${NAME}:evaluate`,
    autoStart: true,
    requires: [INotebookTracker],
    activate: (app, tracker) => {
      holdTargets(Notebook);
      hideUnrendered(MarkdownCell);
      addStyle();
      finishClicks();
      const running = new Set();
      NotebookActions.executionScheduled.connect((_, { cell }) => running.add(cell));
      NotebookActions.executed.connect((_, { notebook, cell, success }) => {
        running.delete(cell);
        const panel = tracker.find((panel) => panel.content === notebook);
        const kernel = panel?.sessionContext.session?.kernel;
        if (cell.model.type === "markdown") compute(kernel, notebook, cell);
        // After a single cell has run, update the prose up to the next code cell.
        if (cell.model.type !== "code" || !success) return;
        for (const other of running) if (other.isDisposed) running.delete(other);
        if (running.size) return;
        const place = notebook.widgets.indexOf(cell);
        for (const other of place < 0 ? [] : notebook.widgets.slice(place + 1)) {
          if (other.model.type === "code") break;
          compute(kernel, notebook, other);
        }
      });
    },
  });

  (window._JUPYTERLAB ??= {})[NAME] = {
    init: (scope) => {
      shared = scope;
    },
    get: async () => {
      const notebook = await library("@jupyterlab/notebook");
      const cells = await library("@jupyterlab/cells");
      return () => ({ __esModule: true, default: makePlugin(notebook, cells) });
    },
  };
})();
