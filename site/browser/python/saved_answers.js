// @ts-check
// A reader's answers to an exercise, in localStorage: one entry per part, so that two windows with
// different parts do not overwrite each other.

const ANSWER = "roofline-answer:";
const OWN_CELLS = "roofline-own-cells:";
const PROGRESS = "roofline-parts:";

export class SavedAnswers extends EventTarget {
  #name;
  #unsaved = new Map(); // entries that the browser could not store
  isSaving = true; // false if the browser stores nothing

  constructor(name) {
    super();
    this.#name = name;
    window.addEventListener("storage", ({ key }) => {
      if (key === OWN_CELLS + name) this.dispatchEvent(new Event("own-cells-changed"));
      const prefix = `${ANSWER}${name}:`;
      if (!key?.startsWith(prefix)) return;
      this.dispatchEvent(new CustomEvent("answer-changed", { detail: key.slice(prefix.length) }));
    });
  }

  // Return {source, passed, with} of a part: its code, the code that last passed the check, and the
  // cells that this depended on then, id → source. Return null if the part has no answer yet.
  get(part) {
    return this.#read(`${ANSWER}${this.#name}:${part}`);
  }

  set(part, answer) {
    this.#write(`${ANSWER}${this.#name}:${part}`, answer);
  }

  // Cells that the reader added to the notebook, each with the cell that it follows.
  get ownCells() {
    return this.#read(OWN_CELLS + this.#name) ?? [];
  }

  set ownCells(cells) {
    this.#write(OWN_CELLS + this.#name, cells.length ? cells : null);
  }

  // Return "done", "again" if a cell that the answer depends on has changed since, or else "".
  // `sources` maps cell ids to their current code.
  state(part, sources) {
    const answer = this.get(part);
    if (!answer || answer.source !== answer.passed) return "";
    const needed = Object.entries(answer.with ?? {});
    return needed.every(([id, source]) => sources.get(id) === source) ? "done" : "again";
  }

  count(done, parts) {
    this.#write(PROGRESS + this.#name, { done, parts });
  }

  #read(key) {
    if (this.#unsaved.has(key)) return this.#unsaved.get(key);
    try {
      return JSON.parse(localStorage.getItem(key));
    } catch {
      return null;
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
