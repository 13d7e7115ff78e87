// @ts-check
// A page's cells that the reader has changed, in localStorage: the number of a cell → {built, code}.
// run-buttons.js reads them from there, too, to show the changed code before Python is fetched.

const KEY = "roofline-cells:";

export function readCells(page) {
  try {
    return JSON.parse(localStorage.getItem(KEY + page)) ?? {};
  } catch {
    return {};
  }
}

export function writeCells(page, cells) {
  try {
    if (Object.keys(cells).length) localStorage.setItem(KEY + page, JSON.stringify(cells));
    else localStorage.removeItem(KEY + page);
  } catch {
    // Storage is disabled or full: the changes are lost when the page closes.
  }
}
