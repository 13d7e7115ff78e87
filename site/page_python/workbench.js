// A chapter whose cells run in the page: outputs take the place of the built ones, and the values
// in the prose follow. What is shown is always the page as it would be if it were run from top to
// bottom with the code that now stands in it.

import { editor } from "./editor.js";
import { Engine } from "./engine.js";
import { outputs } from "./outputs.js";
import { ended, panel } from "./panel.js";

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
  // Where a heading has a value, so has the list of contents.
  function followHeading(span) {
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
      followHeading(span);
    }
    if (isNew) changed.add(number);
    else changed.delete(number);
  }
  function stale(expression, is) {
    const entry = byNumber.get(place.get(expression));
    for (const span of entry?.spans ?? []) span.classList.toggle("stale", is);
  }
  return {
    take(given) {
      for (const [expression, text] of Object.entries(given)) {
        set(place.get(expression), text);
        stale(expression, false);
      }
    },
    // What could not be computed anew.
    leave(lost) {
      for (const expression of lost) stale(expression, true);
    },
    putBack() {
      for (const number of [...changed]) set(number, byNumber.get(number).built);
      for (const expression of expressions) stale(expression, false);
    },
    get changed() {
      return changed.size;
    },
  };
}

// ---- the page

export async function open({ cells, steps: address }) {
  const engine = new Engine();
  engine.start().catch(() => {}); // at once, beside what follows; run() hears of a failure
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

  // Each step's code as it stands, as it was built, and as it was last run; what it gave then.
  const states = steps.map(({ code, cell }) => {
    const shown = cell === null || cell === undefined ? null : cells[cell];
    return { cell: shown, built: code, outputs: shown && outputs(shown), asBuilt: true };
  });
  // Of each chip or model that a cell has chosen: what the text calls it → what it is now.
  const renamed = new Map();
  function follow(step, given) {
    prose.take(given);
    for (const [expression, name] of Object.entries(steps[step].names ?? {})) {
      renamed.set(`${step} ${expression}`, [name, given[expression] ?? name]);
    }
  }
  const stepOf = new Map(steps.map(({ cell }, step) => [cell, step]));
  let reached = 0; // so many steps from the top are as they were last run
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

  // Is all code down to this step what it was when the page was built?
  const untouched = (step) =>
    states.slice(0, step + 1).every((_, number) => codeOf(number) === states[number].built);

  function show(step, given, isUntouched) {
    const state = states[step];
    if (!state.outputs) return;
    const drawn = JSON.stringify(given.outputs);
    if (isUntouched) state.pristine = drawn;
    // As the page was built: then what was built is shown, a figure letter by letter as it was.
    if (drawn === state.pristine) {
      if (!state.asBuilt) state.outputs.putBack();
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
    if (!started) bar.busy("Cancel");
    try {
      bar.say(started ? "Running …" : "Fetching Python …");
      await engine.start();
      started = true;
      bar.fetched(null);
      bar.busy("Stop");
      bar.say("Running …");
      const whole = await engine.run(from, order, (given) => {
        if (given.begins !== undefined) return;
        const { step } = given;
        reached = step + 1;
        if (given.values) return follow(step, given.values);
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
      if (!whole) return; // a newer press has taken over
      if (failed !== null) {
        const known = new Set(steps.slice(0, failed).flatMap(({ values: asked }) => asked ?? []));
        const below = steps.slice(failed).flatMap(({ values: asked }) => asked ?? []);
        prose.leave(below.filter((expression) => !known.has(expression)));
      }
      bar.rest(failed === null ? summary() : failure(failed, target, reason));
    } catch (error) {
      reached = 0;
      started = false;
      bar.fetched(null);
      bar.rest(ended(error));
    } finally {
      mark(target, false);
      if (!engine.isRunning) bar.busy();
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
      if (!state.asBuilt) state.outputs.putBack();
      state.asBuilt = true;
    }
    prose.putBack();
    bar.back.hidden = true;
    bar.say("The page is as it was built.");
  });
  return { run };
}
