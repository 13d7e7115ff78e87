// @ts-check
// Runs a chapter's cells: outputs, and the values in the text, follow the reader's code. The page always
// shows what running its current code from top to bottom would show.

import { editor } from "./editor.js";
import { outputs } from "./outputs.js";
import { endedMessage, joined, markBusy, panel } from "./panel.js";
import { python } from "./python.js";
import { valueAt } from "./values.js";

const firstLine = (code) => code.trim().split("\n", 1)[0];

// `cells` are the page's cells, `steps` the address of what build and page share, `saved` has the reader's
// code of an earlier visit; see run-buttons.js.
export async function open({ cells, steps: address, saved }) {
  python.start().catch(() => {}); // in parallel; run() reports a failure
  const answer = await fetch(new URL(address, document.baseURI));
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  const steps = await answer.json();
  const article = document.querySelector(".bd-article");
  const bar = panel(article);
  const places = [...article.querySelectorAll(".computed")];

  // Each step is a cell, with its editor if the page shows its code, or values in the text.
  const states = steps.map(({ code, alt, cell, values }) => {
    if (values) return { values: values.map((asked) => valueAt(places.shift(), asked)).filter(({ follows }) => follows) };
    return { code, alt, cell, outputs: cells[cell] && outputs(cells[cell]), editor: null, drawn: null };
  });
  const values = states.flatMap((state) => state.values ?? []);
  const codeOf = (state) => state.editor?.code ?? state.code;
  const isAsBuilt = () =>
    values.every(({ isChanged }) => !isChanged) &&
    states.every((state) => codeOf(state) === state.code && (state.outputs?.isAsBuilt ?? true));

  for (const [step, state] of states.entries()) {
    const pre = cells[state.cell]?.querySelector(".cell_input pre");
    if (!pre) continue;
    const name = phrase("Code of the cell “{line}”", { line: firstLine(state.code) });
    const onRun = (moveOn) => {
      run(state.cell);
      if (moveOn) states.slice(step + 1).find((other) => other.editor)?.editor.focus();
    };
    const onChange = () => {
      bar.back.hidden = isAsBuilt();
      saved.set(state.cell, state.editor.code);
    };
    state.editor = editor(pre, saved.code(state.cell) ?? state.code, name, onRun, onChange);
  }
  saved.onChange = (cell, code) => {
    const state = states.find((one) => one.cell === cell);
    if (state?.editor) state.editor.code = code ?? state.code;
  };

  const markRunning = (number) => cells.forEach((cell, other) => markBusy(cell, other === number));

  // The page as steps for Python, with the reader's code or as built.
  const order = (code) =>
    states.map((state) => {
      if (!state.values) return { code: code(state), built: state.code, alt: state.alt, ours: !state.editor };
      return { values: state.values.map(({ asked }) => asked) };
    });

  async function run(cell) {
    const target = states.findIndex((state) => state.cell === cell);
    const edited = states.findIndex((state) => codeOf(state) !== state.code);
    const steps = order(codeOf);
    let failed = /** @type {any} */ (null); // the result of the cell that ended with an error
    markRunning(cell);
    try {
      await bar.start();
      // What this Python draws of the code as built: another one draws a little differently.
      if (edited >= 0 && states.some((state) => state.outputs && !state.drawn)) {
        const keep = ({ step, outputs: given }) => (states[step].drawn = JSON.stringify(given));
        if (!(await python.run(order((state) => state.code), 0, keep))) return;
      }
      const isComplete = await python.run(steps, target, (result) => {
        show(result, edited < 0 || result.step < edited);
        if (result.step === target) markRunning(null);
        if (result.failed) failed = result;
      });
      if (!isComplete) return; // a newer run has replaced this one
      if (failed) showUncomputed(failed.step);
      bar.finish(failed ? failure(failed, target) : summary());
    } catch (error) {
      bar.finish(endedMessage(error));
    }
    markRunning(null);
    bar.back.hidden = isAsBuilt();
  }

  function show({ step, outputs: given, values: now }, isBuilt) {
    const state = states[step];
    if (now) {
      for (const [number, value] of state.values.entries()) value.show(now[number]);
      return;
    }
    const drawn = JSON.stringify(given);
    if (isBuilt) state.drawn = drawn;
    if (drawn === state.drawn) state.outputs?.restore();
    else state.outputs?.show(given);
  }
  function showUncomputed(failed) {
    for (const state of states.slice(failed + 1)) {
      for (const value of state.values ?? []) value.restore(true);
      state.outputs?.restore(state.editor ? phrase("Not run, since a cell above ended with an error. The output is as printed.") : "");
    }
  }

  let isExplained = false; // what the arrows mean
  function summary() {
    const changed = values.filter(({ isChanged }) => isChanged).length;
    if (!changed) return phrase("Done. All values in the text are as they were built.");
    const counted = changed === 1
      ? phrase("1 value in the text changed and is marked.")
      : phrase("{changed} values in the text changed and are marked.", { changed });
    const explained = isExplained ? "" : phrase("“241 → 295” is a value as printed, and as your code gives it.");
    isExplained = true;
    return joined(phrase("Done."), counted, explained);
  }
  function failure({ step, outputs: given }, target) {
    const reason = given.at(-1).text.split("\n").at(-1);
    if (step === target) return phrase("This cell ended with an error ({reason}). What stands below it is as printed and marked.", { reason });
    if (!states[step].editor) return phrase("A cell that the page does not show ended with an error ({reason}). What stands below it is as printed and marked.", { reason });
    return phrase("The cell “{line}” ended with an error ({reason}). What stands below it is as printed and marked.", { line: firstLine(states[step].code), reason });
  }

  bar.back.onclick = () => {
    for (const state of states) {
      if (state.editor) state.editor.code = state.code;
      state.outputs?.restore();
    }
    for (const value of values) value.restore();
    bar.back.hidden = true;
    bar.say(phrase("The page is as it was built."));
  };
  return { run };
}
