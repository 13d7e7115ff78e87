// @ts-check
// Runs a chapter's cells in the page: new outputs replace the built ones, and the values in the prose
// are updated. The page always shows what running its current code from top to bottom would show.

import { editor } from "./editor.js";
import { outputs } from "./outputs.js";
import { endedMessage, panel } from "./panel.js";
import { takeEngine } from "./warm_start.js";

const firstLine = (code) => code.trim().split("\n", 1)[0];

// ---- the values in the prose

function values(article, { expressions, spans }) {
  const shown = [...article.querySelectorAll(".computed")].filter(
    (span) => !span.closest(".python-panel, .given-html"),
  );
  if (shown.length !== spans.length) {
    throw new Error(`${spans.length} values expected on this page, ${shown.length} found`);
  }
  const place = new Map(expressions.map((expression, number) => [expression, number]));
  const byNumber = new Map();
  shown.forEach((span, number) => {
    const entry = byNumber.get(spans[number]) ?? { spans: [], built: span.textContent };
    entry.spans.push(span);
    byNumber.set(spans[number], entry);
  });
  const changed = new Set();
  // A heading with a value is in the table of contents, too.
  function updateContents(span) {
    const heading = span.closest("h1, h2, h3, h4");
    const id = heading?.closest("section")?.id;
    const link = id && document.querySelector(`.bd-toc-nav a[href="#${CSS.escape(id)}"]`);
    if (!link) return;
    const copy = heading.cloneNode(true);
    copy.querySelectorAll(".headerlink").forEach((mark) => mark.remove());
    link.textContent = copy.textContent;
  }
  function set(number, text) {
    const entry = byNumber.get(number);
    if (!entry) return;
    const isNew = text !== entry.built;
    for (const span of entry.spans) {
      const words = text ?? "(no value)";
      if (span.textContent === words) continue;
      span.textContent = words;
      span.classList.toggle("changed", isNew);
      if (isNew) span.title = `${entry.built} when the page was built`;
      else span.removeAttribute("title");
      updateContents(span);
    }
    if (isNew) changed.add(number);
    else changed.delete(number);
  }
  function markStale(expression, isStale) {
    const entry = byNumber.get(place.get(expression));
    for (const span of entry?.spans ?? []) span.classList.toggle("stale", isStale);
  }
  return {
    update(texts) {
      for (const [expression, text] of Object.entries(texts)) {
        set(place.get(expression), text);
        markStale(expression, false);
      }
    },
    // Mark the values that could not be computed.
    invalidate(expressions) {
      for (const expression of expressions) markStale(expression, true);
    },
    restore() {
      for (const number of [...changed]) set(number, byNumber.get(number).built);
      for (const expression of expressions) markStale(expression, false);
    },
    get changed() {
      return changed.size;
    },
  };
}

// ---- the page

export async function open({ cells, steps: address }) {
  const engine = takeEngine();
  engine.start().catch(() => {}); // in parallel; run() reports a failure
  const answer = await fetch(new URL(address, document.baseURI));
  if (!answer.ok) {
    engine.stop();
    throw new Error(`${address}: ${answer.status}`);
  }
  const data = await answer.json();
  const { steps } = data;
  const article = document.querySelector(".bd-article");
  const bar = panel(article, engine);
  const prose = values(article, data);

  // For each step: its cell and editor, its code as built and as last run, and its outputs.
  const states = steps.map(({ code, cell }) => {
    const shown = cell === null || cell === undefined ? null : cells[cell];
    return { cell: shown, built: code, outputs: shown && outputs(shown), asBuilt: true };
  });
  // For each chip or model that a cell chooses: its name in the text, and the current choice.
  const renamed = new Map();
  function updateProse(step, texts) {
    prose.update(texts);
    for (const [expression, name] of Object.entries(steps[step].names ?? {})) {
      renamed.set(`${step} ${expression}`, [name, texts[expression] ?? name]);
    }
  }
  const stepOf = new Map(steps.map(({ cell }, step) => [cell, step]));
  let reached = 0; // number of steps from the top whose results are current
  let started = false;

  for (const [step, state] of states.entries()) {
    const pre = state.cell?.querySelector(".cell_input pre");
    if (!pre) continue;
    const name = `Code of the cell “${firstLine(state.built)}”`;
    const onRun = (moveOn) => {
      run(steps[step].cell);
      if (moveOn) nextEditor(step)?.focus();
    };
    state.editor = editor(pre, state.built, name, onRun, () => (bar.back.hidden = isAsBuilt()));
  }
  const nextEditor = (step) => states.slice(step + 1).find((state) => state.editor)?.editor;
  const codeOf = (step) => states[step].editor?.code ?? states[step].built;

  // Return whether all code down to this step is unchanged.
  const untouched = (step) =>
    states.slice(0, step + 1).every((_, number) => codeOf(number) === states[number].built);

  function show(step, given, isUntouched) {
    const state = states[step];
    if (!state.outputs) return;
    const drawn = JSON.stringify(given.outputs);
    if (isUntouched) state.pristine = drawn;
    // Same output as when the page was built: show the built one, since figures may differ invisibly.
    if (drawn === state.pristine) {
      if (!state.asBuilt) state.outputs.restore();
      state.asBuilt = true;
      return;
    }
    state.outputs.show(given.outputs);
    state.asBuilt = false;
  }

  async function run(cell) {
    const target = stepOf.get(cell);
    let from = Math.min(target, reached);
    for (let step = 0; step < from; step++) {
      if (states[step].ran !== codeOf(step)) from = step;
    }
    const order = steps.slice(from).map(({ values: asked, alt }, place) =>
      asked
        ? { values: asked }
        : { code: codeOf(from + place), alt, ours: !states[from + place].editor },
    );
    const touchedFrom = states.findIndex((_, step) => !untouched(step));
    let failed = null;
    let reason = "";
    reached = Math.min(reached, from);
    mark(target, true);
    if (!started) bar.offerStop("Cancel");
    try {
      bar.say(started ? "Running …" : "Fetching Python …");
      await engine.start();
      started = true;
      bar.showProgress(null);
      bar.offerStop("Stop");
      bar.say("Running …");
      const isComplete = await engine.run(from, order, (given) => {
        if (given.begins !== undefined) return;
        const { step } = given;
        reached = step + 1;
        if (given.values) return updateProse(step, given.values);
        states[step].ran = order[step - from].code;
        show(step, given, touchedFrom < 0 || step < touchedFrom);
        if (given.failed) {
          failed = step;
          reason = given.outputs.at(-1).text.split("\n").at(-1);
          reached = step;
        }
        if (step === target) mark(target, false);
        const detail = { cell: steps[step].cell, outputs: given.outputs };
        document.dispatchEvent(new CustomEvent("cell-ran", { detail }));
      });
      if (!isComplete) return; // a newer run has replaced this one
      if (failed !== null) {
        const known = new Set(steps.slice(0, failed).flatMap(({ values: asked }) => asked ?? []));
        const below = steps.slice(failed).flatMap(({ values: asked }) => asked ?? []);
        prose.invalidate(below.filter((expression) => !known.has(expression)));
      }
      bar.finish(failed === null ? summary() : failure(failed, target, reason));
    } catch (error) {
      reached = 0;
      started = false;
      bar.showProgress(null);
      bar.finish(endedMessage(error));
    } finally {
      mark(target, false);
      if (!engine.isRunning) bar.offerStop();
      bar.back.hidden = isAsBuilt();
    }
  }

  function mark(step, running) {
    const { cell } = states[step];
    cell.classList.toggle("running", running);
    if (running) cell.setAttribute("aria-busy", "true");
    else cell.removeAttribute("aria-busy");
  }

  const isAsBuilt = () =>
    prose.changed === 0 &&
    states.every((state, step) => state.asBuilt && codeOf(step) === state.built);

  function summary() {
    const count = prose.changed;
    if (!count) return "Done. All values in the text are as they were built.";
    const changed = `Done. ${count} ${count === 1 ? "value" : "values"} in the text changed; each is marked.`;
    const others = [...renamed.values()].filter(([name, now]) => name !== now);
    const told = new Set(others.map(([name, now]) => `Where the text says ${name}, read ${now}.`));
    return [changed, ...told].join(" ");
  }
  function failure(step, target, reason) {
    const { editor: shown, built } = states[step];
    const other = shown ? `The cell “${firstLine(built)}”` : "A cell that the page does not show";
    const which = step === target ? "This cell" : other;
    const below = "What stands below it was not computed anew and is marked.";
    return `${which} ended with an error (${reason}). ${below}`;
  }

  bar.back.addEventListener("click", () => {
    for (const state of states) {
      if (state.editor) state.editor.code = state.built;
      if (!state.asBuilt) state.outputs.restore();
      state.asBuilt = true;
    }
    prose.restore();
    bar.back.hidden = true;
    bar.say("The page is as it was built.");
  });
  return { run };
}
