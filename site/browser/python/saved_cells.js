// @ts-check
// A page's cells that the reader has changed, in localStorage: the number of a cell →
// {built, code, earlier}. `earlier` has the reader's code of a cell that an edition changed since. All
// windows of a page share them: each change reads, merges and writes.

import { element } from "./panel.js";

const isSame = (one, other) => one?.trim() === other?.trim();

const parsed = (text) => {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
};

// Dispatches "change" with the numbers of cells that another window, or a press on a note, has changed.
export class SavedCells extends EventTarget {
  #key;
  #built; // number of a cell → its code as built

  constructor(key, built) {
    super();
    this.#key = key;
    this.#built = built;
    this.#settle();
    window.addEventListener("storage", ({ key: changed, oldValue, newValue }) => {
      if (changed !== key) return;
      const [before, now] = [parsed(oldValue), parsed(newValue)];
      const isChanged = (number) => JSON.stringify(before[number]) !== JSON.stringify(now[number]);
      this.#tell(Object.keys({ ...before, ...now }).filter(isChanged));
    });
  }

  // Return the reader's code of a cell, undefined if it is the built one.
  code(number) {
    const { built, code } = this.#read()[number] ?? {};
    return isSame(built, this.#built[number]) && !isSame(built, code) ? code : undefined;
  }

  // Save the code of a cell. What is saved already isn't written again: a window that shows another's
  // change would undo what that one has written since.
  set(number, code) {
    if (code !== (this.code(number) ?? this.#built[number])) this.#write(number, { code });
  }

  // Return a note for each code of the reader's that an earlier edition of the cell had.
  notes(number) {
    const { earlier = [] } = this.#read()[number] ?? {};
    return earlier.map((code) => {
      const button = (words, onClick) => {
        const made = element("button", { type: "button", textContent: words });
        made.addEventListener("click", () => {
          onClick();
          this.#tell([number]);
        });
        return made;
      };
      return element(
        "details",
        { className: "run-earlier" },
        element("summary", { textContent: phrase("You changed this cell, and a new edition of the page has changed it too: your code is kept here.") }),
        element("pre", { textContent: code }),
        button(phrase("Use my code"), () => this.#use(number, code)),
        button(phrase("Drop it"), () => this.#drop(number, code)),
      );
    });
  }

  #drop(number, code) {
    const { earlier = [] } = this.#read()[number] ?? {};
    this.#write(number, { earlier: earlier.filter((other) => other !== code) });
  }

  #use(number, code) {
    const now = this.code(number);
    this.#drop(number, code);
    const { earlier = [] } = this.#read()[number] ?? {};
    this.#write(number, { code, earlier: now === undefined ? earlier : [now, ...earlier] });
  }

  #tell(numbers) {
    this.dispatchEvent(new CustomEvent("change", { detail: numbers.map(Number) }));
  }

  // Give each code to the cell that it is a change of, also if that has another number now. Where an
  // edition has changed the cell, keep the code beside it.
  #settle() {
    const entries = Object.entries(this.#read());
    const settled = {};
    const homeless = entries.filter(([number, entry]) => {
      const places = [Number(number), ...this.#built.keys()];
      const home = places.find((at) => !settled[at] && this.#built[at] !== undefined && isSame(this.#built[at], entry.built));
      if (home !== undefined) settled[home] = entry;
      return home === undefined;
    });
    for (const [number, { built, code, earlier = [] }] of homeless) {
      const at = this.#built.findLastIndex((one, place) => one !== undefined && place <= Number(number));
      const now = settled[at] ?? { built: this.#built[at], code: this.#built[at] };
      const kept = isSame(built, code) ? earlier : [code, ...earlier];
      settled[at] = { ...now, earlier: [...(now.earlier ?? []), ...kept] };
    }
    if (entries.length) this.#store(settled);
  }

  #write(number, change) {
    const cells = this.#read();
    const built = this.#built[number];
    const now = { code: built, ...cells[number], ...change, built };
    if (isSame(now.code, built) && !now.earlier?.length) delete cells[number];
    else cells[number] = now;
    this.#store(cells);
  }

  #read() {
    try {
      return parsed(localStorage.getItem(this.#key));
    } catch {
      return {}; // storage is disabled
    }
  }

  #store(cells) {
    try {
      if (Object.keys(cells).length) localStorage.setItem(this.#key, JSON.stringify(cells));
      else localStorage.removeItem(this.#key);
    } catch {
      // Storage is disabled or full: the changes are lost when the page closes.
    }
  }
}
