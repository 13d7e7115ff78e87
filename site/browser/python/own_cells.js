// @ts-check
// The cells that a reader has added to an exercise. Code cells can be edited and run on the page. All
// cells but empty ones are saved, and are part of the downloaded notebook.

import { editor } from "./editor.js";
import { outputElement } from "./outputs.js";
import { element } from "./panel.js";
import { text } from "./released_notebook.js";

const isCode = ({ cell }) => cell.cell_type === "code";
const newId = () => Math.random().toString(36).slice(2);

export class OwnCells extends EventTarget {
  #records = []; // {after, cell, editor, box, shown}, or {replaces, cell}
  #slotOf;
  #run;
  #isLoading;

  // `slotOf(after)` returns the element for the cells that follow a cell of the notebook, and the name
  // of what is above them. `run(id)` runs the notebook down to a cell. Dispatches "change" when the
  // reader changes a cell, and "loaded" when cells come from a file or another window.
  constructor(slotOf, run) {
    super();
    this.#slotOf = slotOf;
    this.#run = run;
  }

  // The cells as they are saved and downloaded.
  get list() {
    return this.#records
      .map(({ after, replaces, cell, editor: view }) => {
        const now = view ? { ...cell, source: view.code } : cell;
        return replaces === undefined ? { after, cell: now } : { replaces, cell: now };
      })
      .filter(({ cell }) => text(cell).trim());
  }

  // The code of each code cell, by its id.
  get sources() {
    return this.#records.filter(isCode).map(({ cell, editor: view }) =>
      /** @type {const} */ ([cell.id, view.code]));
  }

  // Replace the reader's cells by those in `list`, but keep cells that are empty now.
  load(list) {
    const before = new Map(this.#records.filter(isCode).map((one) => [one.cell.id, one]));
    const ids = new Set();
    this.#isLoading = true;
    this.#records = list.map((one) => {
      if (!isCode(one)) return one;
      const id = one.cell.id && !ids.has(one.cell.id) ? one.cell.id : newId();
      ids.add(id);
      const existing = before.get(id);
      before.delete(id);
      if (!existing) return this.#createCell({ ...one, cell: { ...one.cell, id } });
      existing.editor.code = text(one.cell);
      return existing;
    });
    for (const one of before.values()) {
      if (one.editor.code.trim()) one.box.remove();
      else this.#records.push(one);
    }
    this.#isLoading = false;
    this.dispatchEvent(new Event("loaded"));
  }

  // Add an empty cell after the notebook's cell with the id `after`; return its editor.
  add(after) {
    const cell = { cell_type: "code", id: newId(), metadata: {}, source: "", outputs: [], execution_count: null };
    const record = this.#createCell({ after, cell });
    this.#records.push(record);
    return record.editor;
  }

  // Return the reader's text that replaces a text cell of the notebook, null if there is none.
  textFor(id) {
    const found = this.#records.find(({ replaces }) => replaces === id);
    return found ? text(found.cell) : null;
  }

  replaceText(id, source) {
    this.#records = this.#records.filter(({ replaces }) => replaces !== id);
    if (source.trim()) this.#records.push({ replaces: id, cell: { cell_type: "markdown", source } });
    this.dispatchEvent(new Event("change"));
  }

  boxOf(id) {
    return this.#records.find(({ cell }) => cell.id === id)?.box;
  }

  show(id, outputs) {
    const shown = this.#records.find(({ cell }) => cell.id === id)?.shown;
    shown?.replaceChildren(...outputs.map(outputElement));
  }

  #createCell(record) {
    const { slot, name } = this.#slotOf(record.after);
    const run = element("button", { type: "button", textContent: phrase("Run") });
    run.setAttribute("aria-label", phrase("Run your own cell below {place}", { place: name }));
    run.addEventListener("click", () => this.#run(record.cell.id));
    const pre = element("pre");
    const code = element("div", { className: "highlight" }, pre);
    const input = element("div", { className: "cell_input" }, code, element("div", { className: "run-bar" }, run));
    record.shown = element("div", { className: "cell_output" });
    record.box = element("div", { className: "cell own-cell" }, input, record.shown);
    slot.append(record.box);
    const changed = () => this.#isLoading || this.dispatchEvent(new Event("change"));
    const onRun = () => this.#run(record.cell.id);
    record.editor = editor(pre, text(record.cell), phrase("Your own cell below {place}", { place: name }), onRun, changed);
    return record;
  }
}
