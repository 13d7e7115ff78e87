// The cells that a reader has added to an exercise. Those with code can be changed and run on the
// page; all are kept, and stand in the notebook to download where they stood. An empty one is not.

import { editor } from "./editor.js";
import { element as shownAs } from "./outputs.js";
import { made } from "./panel.js";
import { text } from "./released.js";

const isCode = ({ cell }) => cell.cell_type === "code";
const newId = () => Math.random().toString(16).slice(2, 10).padEnd(8, "0");

export class OwnCells extends EventTarget {
  #records = []; // {after, cell, editor, box, shown}, or {replaces, cell}
  #slotOf;
  #run;
  #taking = false;

  // `slotOf(after)` gives the element for the cells that follow a cell of the notebook, and the name
  // of what they stand below. `run(id)` runs the notebook down to a cell. Tells of changes by events
  // "change", and "taken" where they are not this window's.
  constructor(slotOf, run) {
    super();
    this.#slotOf = slotOf;
    this.#run = run;
  }

  // As they are kept and downloaded.
  get list() {
    return this.#records
      .map(({ after, replaces, cell, editor: shown }) => {
        const now = shown ? { ...cell, source: shown.code } : cell;
        return replaces === undefined ? { after, cell: now } : { replaces, cell: now };
      })
      .filter(({ cell }) => text(cell).trim());
  }

  // Each code cell by its id.
  get sources() {
    return this.#records.filter(isCode).map(({ cell, editor: shown }) => [cell.id, shown.code]);
  }

  // Shows these in the place of those that are there; an empty one stays.
  take(list) {
    const before = new Map(this.#records.filter(isCode).map((one) => [one.cell.id, one]));
    const ids = new Set();
    this.#taking = true;
    this.#records = list.map((one) => {
      if (!isCode(one)) return one;
      const id = one.cell.id && !ids.has(one.cell.id) ? one.cell.id : newId();
      ids.add(id);
      const there = before.get(id);
      before.delete(id);
      if (!there) return this.#lay({ ...one, cell: { ...one.cell, id } });
      if (there.editor.code !== text(one.cell)) there.editor.code = text(one.cell);
      return there;
    });
    for (const one of before.values()) {
      if (one.editor.code.trim()) one.box.remove();
      else this.#records.push(one);
    }
    this.#taking = false;
    this.dispatchEvent(new Event("taken"));
  }

  // An empty cell, after this one of the notebook.
  add(after) {
    const cell = { cell_type: "code", id: newId(), metadata: {}, source: "", outputs: [], execution_count: null };
    const record = this.#lay({ after, cell });
    this.#records.push(record);
    return record.editor;
  }

  // What stands in the place of a text of the notebook; null if nothing does.
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
    shown?.replaceChildren(...outputs.map(shownAs));
    if (shown) shown.hidden = !outputs.length;
  }

  #lay(record) {
    const { slot, name } = this.#slotOf(record.after);
    const run = made("button", { type: "button", textContent: "Run" });
    run.setAttribute("aria-label", `Run your own cell below ${name}`);
    run.addEventListener("click", () => this.#run(record.cell.id));
    const pre = made("pre");
    const code = made("div", { className: "highlight" }, pre);
    const input = made("div", { className: "cell_input" }, code, made("div", { className: "run-bar" }, run));
    record.shown = made("div", { className: "cell_output", hidden: true });
    record.box = made("div", { className: "cell own-cell" }, input, record.shown);
    slot.append(record.box);
    const changed = () => this.#taking || this.dispatchEvent(new Event("change"));
    const onRun = () => this.#run(record.cell.id);
    record.editor = editor(pre, text(record.cell), `Your own cell below ${name}`, onRun, changed);
    return record;
  }
}
