// What a reader has written to an exercise's parts, kept by the browser: one entry for each part,
// so that two windows that work at two parts do not undo each other's work.

const START = "roofline-answer:";
const OWN = "roofline-own-cells:";
const COUNT = "roofline-parts:";

export class Answers extends EventTarget {
  #name;
  #here = new Map(); // what is not kept elsewhere
  keeps = true; // false where this browser keeps nothing

  constructor(name) {
    super();
    this.#name = name;
    window.addEventListener("storage", ({ key }) => {
      if (key === OWN + name) this.dispatchEvent(new Event("own-elsewhere"));
      const start = `${START}${name}:`;
      const part = key?.startsWith(start) ? key.slice(start.length) : null;
      if (part !== null) this.dispatchEvent(new CustomEvent("elsewhere", { detail: part }));
    });
  }

  // {source, passed, with}: the text; the text that passed its check; and the other cells that this
  // one needed then, by their ids. null if nothing was written.
  get(part) {
    return this.#read(`${START}${this.#name}:${part}`);
  }

  set(part, answer) {
    this.#write(`${START}${this.#name}:${part}`, answer);
  }

  // Cells that the reader has added to a notebook, each with the cell that it follows.
  get ownCells() {
    return this.#read(OWN + this.#name) ?? [];
  }

  set ownCells(cells) {
    this.#write(OWN + this.#name, cells.length ? cells : null);
  }

  // "done"; "again" where another cell that the answer needs has changed since; else "".
  // `sources` maps the ids of cells to what they are now.
  state(part, sources) {
    const answer = this.get(part);
    if (!answer || answer.source !== answer.passed) return "";
    const needed = Object.entries(answer.with ?? {});
    return needed.every(([id, source]) => sources.get(id) === source) ? "done" : "again";
  }

  count(done, parts) {
    this.#write(COUNT + this.#name, { done, parts });
  }

  #read(key) {
    if (this.#here.has(key)) return this.#here.get(key);
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
      this.#here.delete(key);
    } catch {
      this.#here.set(key, value);
    }
    this.keeps = this.#here.size === 0;
  }
}
