// @ts-check
// A reader's answers to an exercise, in localStorage: one entry per part, so that two windows with
// different parts do not overwrite each other.

const ANSWER = "roofline-answer:";
const OWN_CELLS = "roofline-own-cells:";
const PROGRESS = "roofline-parts:";

export class SavedAnswers {
  #name;

  // Call `onAnswer(part)` or `onOwnCells()` when another window has changed one.
  constructor(name, onAnswer, onOwnCells) {
    this.#name = name;
    window.addEventListener("storage", ({ key }) => {
      if (key === OWN_CELLS + name) onOwnCells();
      if (key?.startsWith(`${ANSWER}${name}:`)) onAnswer(key.slice(`${ANSWER}${name}:`.length));
    });
  }

  // Return {source, passed, with} of a part: its code, the code that last passed the check, and the
  // cells above it then, id → source. Return null if the part has no answer yet.
  get(part) {
    return stored.get(`${ANSWER}${this.#name}:${part}`);
  }

  set(part, answer) {
    stored.set(`${ANSWER}${this.#name}:${part}`, answer);
  }

  // The cells that the reader added, as completed() in exercise_notebook.js takes them.
  get ownCells() {
    return stored.get(OWN_CELLS + this.#name) ?? [];
  }

  set ownCells(cells) {
    stored.set(OWN_CELLS + this.#name, cells.length ? cells : null);
  }

  // Return "done", "again" if a cell above has changed since, or else "". `sources` maps the ids of
  // cells to their current code.
  state(part, sources) {
    const answer = this.get(part);
    if (!answer || answer.source !== answer.passed) return "";
    const above = Object.entries(answer.with ?? {});
    return above.every(([id, source]) => sources.get(id) === source) ? "done" : "again";
  }

  // Whether the browser stores what it is given.
  get isSaving() {
    return stored.isComplete;
  }

  count(done, parts) {
    stored.set(PROGRESS + this.#name, { done, parts });
  }
}
