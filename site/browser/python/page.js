// @ts-check
// Runs a chapter's cells: outputs, and the values in the text, follow the reader's code. The page always
// shows what running its current code from top to bottom would show.

import { editor } from "./editor.js";
import { outputs } from "./outputs.js";
import { joined, markBusy, panel } from "./panel.js";
import * as python from "./python.js";
import { valueAt } from "./values.js";

const firstLine = (code) => code.trim().split("\n", 1)[0];

// `cells` are the page's cells, `steps` the address of what build and page share, `key` that of the reader's
// changes in this browser. Without a press, Python is not fetched yet.
export async function open({ cells, steps: address, key, isPressed }) {
  if (isPressed) python.start().catch(() => {}); // in parallel; run() reports a failure
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

  // ---- the reader's changes: key → {built, code}. All tabs of a page share them: each change reads, merges
  // and writes. A key is the number that a cell had once. Editions change cells, so an entry belongs to the
  // cell whose code it has as `built`; one that belongs to no cell is shown beside a cell near its place.

  const read = () => stored.get(key) ?? {};
  const write = (all) => stored.set(key, Object.keys(all).length ? all : null);
  const isOf = ({ built }, state) => built.trim() === state.code?.trim();
  const keyOf = (all, state) => Object.keys(all).find((one) => isOf(all[one], state));
  const keptOf = (all, state) => all[keyOf(all, state)]?.code ?? state.code;

  function keep(state) {
    const all = read();
    const at = keyOf(all, state) ?? (state.cell in all ? `${state.cell}.${Date.now()}` : state.cell);
    if (state.editor.code.trim() === state.code.trim()) delete all[at];
    else all[at] = { built: state.code, code: state.editor.code };
    write(all);
    onChange(state);
  }
  function onChange({ cell }) {
    bar.back.hidden = isAsBuilt();
    for (const part of cells[cell].querySelectorAll(".run-kept, .run-back")) part.remove();
  }

  // Say of a change from an earlier visit that nothing on the page comes from it yet.
  function markKept(state) {
    const back = made("button", { type: "button", className: "run-back", textContent: phrase("Put it back") });
    back.onclick = () => {
      state.editor.code = state.code;
      keep(state);
    };
    const note = made("span", { className: "run-kept", textContent: phrase("Your change, not run yet") });
    cells[state.cell].querySelector(".run-bar").append(note, back);
  }

  // Show code whose cell an edition has changed.
  function showEarlier(at, code) {
    const drop = made("button", { type: "button", textContent: phrase("Drop it") });
    const note = made(
      "details",
      { className: "run-earlier" },
      made("summary", { textContent: phrase("You changed this cell, and a new edition of the page has changed it too: your code is kept here.") }),
      made("pre", { textContent: code }),
      drop,
    );
    drop.onclick = () => {
      const { [at]: _, ...others } = read();
      write(others);
      note.remove();
    };
    const near = states.findLast(({ editor: view, cell }) => view && cell <= parseInt(at, 10));
    cells[near?.cell]?.querySelector(".cell_input").after(note);
  }

  for (const [step, state] of states.entries()) {
    const pre = cells[state.cell]?.querySelector(".cell_input pre");
    if (!pre) continue;
    const name = phrase("Code of the cell “{line}”", { line: firstLine(state.code) });
    const onRun = (moveOn) => {
      run(state.cell);
      if (moveOn) states.slice(step + 1).find((other) => other.editor)?.editor.focus();
    };
    state.editor = editor(pre, keptOf(read(), state), name, onRun, () => keep(state));
    if (state.editor.code !== state.code && !isPressed) markKept(state);
  }
  const edited = states.filter((state) => state.editor);
  for (const [at, entry] of Object.entries(read())) {
    if (!edited.some((state) => isOf(entry, state))) showEarlier(at, entry.code);
  }
  window.addEventListener("storage", (event) => {
    if (event.key !== key) return;
    for (const state of edited) {
      state.editor.code = keptOf(read(), state);
      onChange(state);
    }
  });

  // ---- runs

  // The page as steps for Python, with the reader's code or as built.
  const order = (code) =>
    states.map((state) => {
      if (!state.values) return { code: code(state), built: state.code, alt: state.alt, ours: !state.editor };
      return { values: state.values.map(({ asked }) => asked) };
    });

  const run = (cell) =>
    bar.enqueue(cell, cells[cell], async () => {
      const target = states.findIndex((state) => state.cell === cell);
      const changed = states.findIndex((state) => codeOf(state) !== state.code);
      let failed = /** @type {any} */ (null); // the result of the cell that ended with an error
      for (const part of article.querySelectorAll(".run-kept, .run-back")) part.remove();
      // What this Python draws of the code as built: another one draws a little differently.
      if (changed >= 0 && states.some((state) => state.outputs && !state.drawn)) {
        const keepDrawn = ({ step, outputs: given }) => (states[step].drawn = JSON.stringify(given));
        await python.run(order((state) => state.code), 0, keepDrawn);
      }
      await python.run(order(codeOf), target, (result) => {
        show(result, changed < 0 || result.step < changed);
        if (result.step === target) markBusy(cells[cell], false);
        if (result.failed) failed = result;
      });
      if (failed) showUncomputed(failed.step);
      bar.back.hidden = isAsBuilt();
      return failed ? failure(failed, target) : summary();
    });

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
    for (const state of edited) {
      state.editor.code = state.code;
      keep(state);
    }
    for (const state of states) state.outputs?.restore();
    for (const value of values) value.restore();
    bar.back.hidden = true;
    bar.say(phrase("The page is as it was built."));
  };
  return { run };
}
