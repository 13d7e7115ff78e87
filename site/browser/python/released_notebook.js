// @ts-check
// Reads the released notebook of an exercise, and separates a reader's answers and cells from it.

export const text = (cell) => (Array.isArray(cell.source) ? cell.source.join("") : cell.source);
const nbgrader = (cell) => cell.metadata?.nbgrader ?? {};
export const gradeId = (cell) => nbgrader(cell).grade_id ?? null;
export const isSolution = (cell) => nbgrader(cell).solution === true;
export const isCheck = (cell) => nbgrader(cell).grade === true && !isSolution(cell);
const lines = (source) => source.split(/(?<=\n)/);
const defines = (source) => /^def (\w+)\(/m.exec(source)?.[1] ?? null;

/**
 * A part of an exercise: its key, the id of its check, the grade id and the cell of its answer, and
 * the texts of its question. answers.js adds what shows it on the page.
 * @typedef {{ key: string, check: string, solution: string, cell: any, words: string[],
 *   [shownBy: string]: any }} Part
 */

/** @returns {Part[]} the parts of a notebook */
export function partsOf({ cells }) {
  /** @type {Part[]} */
  const parts = [];
  let words = [];
  let cell = null;
  for (const one of cells) {
    if (one.cell_type === "markdown") words.push(text(one));
    else if (isSolution(one)) cell = one;
    else if (isCheck(one)) {
      parts.push({ key: gradeId(one), check: one.id, solution: gradeId(cell), cell, words });
      words = [];
    } else words = [];
  }
  return parts;
}

// Return the text cells between the title and the first code cell: how to work on the notebook.
export function openingOf({ cells }) {
  const first = cells.findIndex((cell) => cell.cell_type === "code");
  return cells.slice(0, first).filter((cell) => !text(cell).startsWith("# "));
}

// Return the text cells below the last part.
export const closingOf = ({ cells }) =>
  cells.slice(cells.findLastIndex(isCheck) + 1).filter((cell) => cell.cell_type === "markdown");

// Return the index of the part that a cell is in: -1 above the first question, and the number of
// parts below the last check.
export function partOf({ cells }, id) {
  const place = cells.findIndex((cell) => cell.id === id);
  const isOurs = (cell) => cell.cell_type === "code" && !isSolution(cell) && !isCheck(cell);
  if (place <= cells.findLastIndex(isOurs)) return -1;
  return cells.slice(0, place).filter(isCheck).length;
}

// Return the released notebook with answers (grade id → code) and with the reader's own cells in their
// places. A text cell of the reader's that `replaces` a released one takes its place.
export function completed(released, written, own) {
  const cells = [];
  const add = (after) => {
    const mine = own.filter((one) => one.after === after);
    cells.push(...mine.map(({ cell }) => ({ ...cell, source: lines(text(cell)) })));
  };
  add(null);
  for (const cell of released.cells) {
    const replaced = own.find((one) => one.replaces === cell.id);
    const source = written.get(gradeId(cell)) ?? (replaced && text(replaced.cell));
    cells.push(source === undefined ? cell : { ...cell, source: lines(source) });
    add(cell.id);
  }
  return structuredClone({ ...released, cells });
}

// Return a notebook's answers by grade id, and the cells that are the reader's own. Where an editor
// dropped the cell metadata, cells are recognized by their ids or by the function they define.
export function answersIn(notebook, released) {
  if (notebook?.nbformat !== 4 || !Array.isArray(notebook.cells)) {
    throw new Error(phrase("it has no cells of Jupyter’s format 4"));
  }
  const byId = new Map(released.cells.map((cell) => [cell.id, cell]));
  const byGrade = new Map(released.cells.map((cell) => [gradeId(cell), cell]));
  const byFunction = new Map(
    released.cells.filter(isSolution).map((cell) => [defines(text(cell)), cell]),
  );
  const written = new Map();
  const own = [];
  let after = null;
  for (const cell of notebook.cells) {
    const code = cell.cell_type === "code";
    const grade = gradeId(cell);
    const found =
      (grade !== null && byGrade.get(grade)) ||
      byId.get(cell.id) ||
      (code && byFunction.get(defines(text(cell)))) ||
      null;
    if (!found || (isSolution(found) && written.has(gradeId(found)))) {
      const { source, cell_type, metadata, id } = cell;
      const empty = code ? { outputs: [], execution_count: null } : {};
      if (text(cell).trim()) own.push({ after, cell: { cell_type, id, metadata, source, ...empty } });
      continue;
    }
    after = found.id;
    if (isSolution(found)) written.set(gradeId(found), text(cell));
    else if (!code && text(cell) !== text(found)) {
      own.push({ replaces: found.id, cell: { cell_type: "markdown", source: text(cell) } });
    }
  }
  return { written, own };
}
