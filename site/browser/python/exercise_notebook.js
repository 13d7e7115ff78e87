// @ts-check
// Reads the released notebook of an exercise, and separates a reader's answers and cells from it.

export const text = (cell) => (Array.isArray(cell.source) ? cell.source.join("") : cell.source);
const nbgrader = (cell) => cell.metadata?.nbgrader ?? {};
export const gradeId = (cell) => nbgrader(cell).grade_id ?? null;
const isSolution = (cell) => nbgrader(cell).solution === true;
export const isCheck = (cell) => nbgrader(cell).grade === true && !isSolution(cell);
const lines = (source) => source.split(/(?<=\n)/);
const defines = (source) => /^def (\w+)\(/m.exec(source)?.[1] ?? null;
export const newId = () => Math.random().toString(36).slice(2);

/**
 * A part of an exercise: its key, which its check has too, the id of the check's cell, the grade id and
 * the cell of its answer, and its question in Markdown. exercise.js adds what shows it on the page.
 * @typedef {{ key: string, check: string, solution: string, cell: any, question: string,
 *   [shownBy: string]: any }} Part
 */

// Return the texts above the first code, the code that is given for all parts, the parts, and the texts below the
// last one. The cell that installs packages is none of them.
export function contentsOf({ cells }) {
  const [given, parts] = [[], /** @type {Part[]} */ ([])];
  let opening = null;
  let texts = [];
  let answer = null;
  for (const cell of cells) {
    if (cell.cell_type === "markdown") texts.push(cell);
    else if (isSolution(cell)) answer = cell;
    else {
      const question = texts.map(text).join("\n\n");
      if (isCheck(cell)) parts.push({ key: gradeId(cell), check: cell.id, solution: gradeId(answer), cell: answer, question });
      else if (!answer && gradeId(cell) !== "opening") given.push(cell);
      opening ??= texts;
      texts = [];
    }
  }
  return { opening, given, parts, closing: texts };
}

// Return the released notebook with answers (grade id → code) and with the reader's own cells, each
// {after, cell}, in their places. A text of the reader's that `replaces` a released one takes its place.
export function completed(released, answers, own) {
  const filled = (cell, source) => ({ ...cell, source: lines(source) });
  const after = (id) =>
    own.filter((one) => one.after === id).map(({ cell }) => filled(cell, text(cell)));
  const cells = released.cells.flatMap((cell) => {
    const replaced = own.find((one) => one.replaces === cell.id);
    const source = answers.get(gradeId(cell)) ?? (replaced && text(replaced.cell));
    return [source === undefined ? cell : filled(cell, source), ...after(cell.id)];
  });
  return structuredClone({ ...released, cells: [...after(null), ...cells] });
}

// Return a notebook's answers by grade id, and the cells that are the reader's own. Where an editor
// dropped the cell metadata, cells are recognized by their ids or by the function they define.
export function answersIn(notebook, released) {
  if (notebook?.nbformat !== 4 || !Array.isArray(notebook.cells)) {
    throw new Error(phrase("it has no cells of Jupyter’s format 4"));
  }
  const idOf = ({ id }) => id;
  const functionOf = (cell) => isSolution(cell) && defines(text(cell));
  const match = (of, wanted) => released.cells.find((cell) => wanted && of(cell) === wanted);
  const ids = new Set([undefined, ...released.cells.map(idOf)]);
  const answers = new Map();
  const own = [];
  let after = null;
  for (const cell of notebook.cells) {
    const source = text(cell);
    const isCode = cell.cell_type === "code";
    const found =
      match(gradeId, gradeId(cell)) ?? match(idOf, cell.id) ?? match(functionOf, isCode && defines(source));
    if (!found || (isSolution(found) && answers.has(gradeId(found)))) {
      const { cell_type } = cell;
      const empty = isCode ? { outputs: [], execution_count: null } : {};
      // A copied cell has the id and the marks of the original.
      const { nbgrader: _, ...metadata } = cell.metadata ?? {};
      const id = ids.has(cell.id) ? newId() : cell.id;
      ids.add(id);
      if (source.trim()) own.push({ after, cell: { cell_type, id, metadata, source, ...empty } });
      continue;
    }
    after = found.id;
    if (isSolution(found)) answers.set(gradeId(found), source);
    else if (!isCode && source !== text(found)) {
      own.push({ replaces: found.id, cell: { cell_type: "markdown", source } });
    }
  }
  return { answers, own };
}
