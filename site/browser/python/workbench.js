// @ts-check
// Runs a chapter's cells in the page: new outputs replace the built ones, and each block of prose
// follows, or says that it stays as built. The page always shows what running its current code from
// top to bottom would show.

import { editor } from "./editor.js";
import { outputs } from "./outputs.js";
import { endedMessage, joined, panel } from "./panel.js";
import { blocksOf } from "./prose_blocks.js";
import { takeEngine } from "./warm_start.js";

const firstLine = (code) => code.trim().split("\n", 1)[0];

// ---- the page

// `saved` has the reader's code from an earlier visit.
export async function open({ cells, steps: address, saved }) {
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
  const prose = blocksOf(article, data.blocks);

  // For each step: its cell and editor, its code as built and as last run, and its outputs.
  const states = steps.map(({ code, cell }) => {
    const shown = cells[cell];
    return { cell: shown, built: code, outputs: shown && outputs(shown), asBuilt: true };
  });
  const stepOf = new Map(steps.map(({ cell }, step) => [cell, step]));
  let busy = null; // the cell that is marked as running
  let reached = 0; // number of steps from the top whose results are current

  for (const [step, state] of states.entries()) {
    const pre = state.cell?.querySelector(".cell_input pre");
    if (!pre) continue;
    const name = phrase("Code of the cell “{line}”", { line: firstLine(state.built) });
    const onRun = (moveOn) => {
      run(steps[step].cell);
      if (moveOn) nextEditor(step)?.focus();
    };
    const onChange = () => {
      bar.back.hidden = isAsBuilt();
      saved.set(steps[step].cell, state.editor.code);
    };
    state.editor = editor(pre, saved.code(steps[step].cell) ?? state.built, name, onRun, onChange);
  }
  saved.addEventListener("change", (/** @type {any} */ { detail }) => {
    for (const cell of detail) {
      const state = states[stepOf.get(cell)];
      if (state?.editor) state.editor.code = saved.code(cell) ?? state.built;
    }
  });
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
    const equal = drawn === state.pristine ? "same" : "other";
    const likeness = state.pristine === undefined ? state.outputs.likeness(given.outputs) : equal;
    state.unsure = likeness === "close" ? drawn : undefined;
    if (likeness === "same") return restore(state);
    state.outputs.show(given.outputs);
    state.asBuilt = false;
  }
  // Decide on figures that may differ from the built ones only because another build of Python drew
  // them: run the code as built, too, and compare what both runs drew.
  async function compareWithBuilt(from) {
    const order = steps.slice(from).map(({ blocks, alt, code }) => (blocks ? { blocks: [] } : { code, alt }));
    reached = Math.min(reached, from);
    return engine.run(from, order, ({ step, outputs: given }) => {
      if (!given) return;
      const state = states[step];
      const drawn = JSON.stringify(given);
      state.pristine = drawn;
      if (state.unsure === drawn) restore(state);
      state.unsure = undefined;
    });
  }
  function restore(state) {
    if (state.asBuilt) state.outputs.clear();
    else state.outputs.restore();
    state.asBuilt = true;
  }
  // After a cell has failed, show everything below it as built, and mark it.
  function showUncomputed(failed) {
    prose.showUncomputed(steps.slice(failed).flatMap((step) => step.blocks ?? []));
    for (const state of states.slice(failed + 1)) {
      if (!state.outputs) continue;
      restore(state);
      if (state.editor) state.outputs.say(phrase("Not run, since a cell above ended with an error. The output is as printed."));
    }
  }

  async function run(cell) {
    const target = stepOf.get(cell);
    let from = Math.min(target, reached);
    for (let step = 0; step < from; step++) {
      if (states[step].ran !== codeOf(step)) from = step;
    }
    const order = steps.slice(from).map(({ blocks, alt }, place) =>
      blocks
        ? { blocks: blocks.map((number) => data.blocks[number]) }
        : { code: codeOf(from + place), alt, ours: !states[from + place].editor },
    );
    const touchedFrom = states.findIndex((_, step) => !untouched(step));
    let failed = null;
    let reason;
    reached = Math.min(reached, from);
    markBusy(states[target].cell);
    bar.offerStop(phrase("Cancel"));
    try {
      bar.say(phrase("Fetching Python …"));
      await engine.start();
      bar.showProgress(null);
      bar.offerStop(phrase("Stop"));
      bar.say(phrase("Running …"));
      const isComplete = await engine.run(from, order, (given) => {
        const { step } = given;
        reached = step + 1;
        if (given.blocks) {
          prose.show(steps[step].blocks, given.blocks);
          const detail = { blocks: steps[step].blocks, states: given.blocks };
          return document.dispatchEvent(new CustomEvent("prose-ran", { detail }));
        }
        states[step].ran = order[step - from].code;
        show(step, given, touchedFrom < 0 || step < touchedFrom);
        if (given.failed) {
          failed = step;
          reason = given.outputs.at(-1).text.split("\n").at(-1);
          reached = step;
        }
        if (step === target) markBusy(null);
        const detail = { cell: steps[step].cell, outputs: given.outputs };
        document.dispatchEvent(new CustomEvent("cell-ran", { detail }));
      });
      if (!isComplete) return; // a newer run has replaced this one
      if (failed !== null) showUncomputed(failed);
      else if (states.some(({ unsure }) => unsure) && !(await compareWithBuilt(touchedFrom))) return;
      bar.finish(failed === null ? summary() : failure(failed, target, reason));
    } catch (error) {
      reached = 0;
      bar.showProgress(null);
      bar.finish(endedMessage(error));
    } finally {
      bar.back.hidden = isAsBuilt();
      if (!engine.isRunning) {
        markBusy(null);
        bar.offerStop();
      }
    }
  }

  // Mark only this cell as running; null marks none.
  function markBusy(cell) {
    busy?.classList.remove("running");
    busy?.removeAttribute("aria-busy");
    busy = cell;
    busy?.classList.add("running");
    busy?.setAttribute("aria-busy", "true");
  }

  const isAsBuilt = () =>
    prose.isAsBuilt &&
    states.every((state, step) => state.asBuilt && codeOf(step) === state.built);

  function summary() {
    const { changed } = prose;
    const printed = states.reduce((sum, state) => sum + (state.outputs?.printed ?? 0), prose.printed);
    if (!changed && !printed) return phrase("Done. All values in the text are as they were built.");
    const follow = changed === 1
      ? phrase("1 value in the text changed and is marked.")
      : phrase("{changed} values in the text changed and are marked.", { changed });
    const stay = printed === 1
      ? phrase("1 passage stays as printed and says so.")
      : phrase("{printed} passages stay as printed and say so.", { printed });
    return joined(phrase("Done."), changed && follow, printed && stay);
  }
  function failure(step, target, reason) {
    const { editor: shown, built } = states[step];
    if (step === target) {
      return phrase("This cell ended with an error ({reason}). What stands below it is as printed and marked.", { reason });
    }
    if (!shown) {
      return phrase("A cell that the page does not show ended with an error ({reason}). What stands below it is as printed and marked.", { reason });
    }
    return phrase("The cell “{line}” ended with an error ({reason}). What stands below it is as printed and marked.", { line: firstLine(built), reason });
  }

  bar.back.addEventListener("click", () => {
    for (const state of states) {
      if (state.editor) state.editor.code = state.built;
      if (state.outputs) restore(state);
    }
    prose.restore();
    bar.back.hidden = true;
    bar.say(phrase("The page is as it was built."));
  });
  return { run };
}
