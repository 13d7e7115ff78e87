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
      const start = `${START}${name}:`;
      const part = key?.startsWith(start) ? key.slice(start.length) : null;
      if (part !== null) this.dispatchEvent(new CustomEvent("elsewhere", { detail: part }));
    });
  }

  // {source, passed}: the text, and the text that passed its check; null if nothing was written.
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

  isDone(part) {
    const answer = this.get(part);
    return Boolean(answer) && answer.source === answer.passed;
  }

  count(parts) {
    this.#write(COUNT + this.#name, { done: parts.filter((part) => this.isDone(part)).length, parts: parts.length });
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
