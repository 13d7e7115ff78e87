// @ts-check
// A reader's answers to an exercise, in localStorage: one entry per part, so that two windows with
// different parts do not overwrite each other.

const ANSWER = "roofline-answer:";
const OWN_CELLS = "roofline-own-cells:";
const PROGRESS = "roofline-parts:";

export class SavedAnswers {
  #name;
  #unsaved = new Map(); // entries that the browser could not store
  isSaving = true; // false if the browser stores nothing

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
    return this.#read(`${ANSWER}${this.#name}:${part}`);
  }

  set(part, answer) {
    this.#write(`${ANSWER}${this.#name}:${part}`, answer);
  }

  // The cells that the reader added, as completed() in exercise_notebook.js takes them.
  get ownCells() {
    return this.#read(OWN_CELLS + this.#name) ?? [];
  }

  set ownCells(cells) {
    this.#write(OWN_CELLS + this.#name, cells.length ? cells : null);
  }

  // Return "done", "again" if a cell above has changed since, or else "". `sources` maps the ids of
  // cells to their current code.
  state(part, sources) {
    const answer = this.get(part);
    if (!answer || answer.source !== answer.passed) return "";
    const above = Object.entries(answer.with ?? {});
    return above.every(([id, source]) => sources.get(id) === source) ? "done" : "again";
  }

  count(done, parts) {
    this.#write(PROGRESS + this.#name, { done, parts });
  }

  #read(key) {
    if (this.#unsaved.has(key)) return this.#unsaved.get(key);
    try {
      return JSON.parse(localStorage.getItem(key));
    } catch {
      return null; // storage is disabled
    }
  }

  #write(key, value) {
    try {
      if (value === null) localStorage.removeItem(key);
      else localStorage.setItem(key, JSON.stringify(value));
      this.#unsaved.delete(key);
    } catch {
      this.#unsaved.set(key, value);
    }
    this.isSaving = this.#unsaved.size === 0;
  }
}
