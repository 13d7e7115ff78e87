// The released notebook of an exercise, and a notebook with answers in it: what is whose.

export const text = (cell) => (Array.isArray(cell.source) ? cell.source.join("") : cell.source);
const known = (cell) => cell.metadata?.nbgrader ?? {};
export const gradeId = (cell) => known(cell).grade_id ?? null;
export const isSolution = (cell) => known(cell).solution === true;
export const isCheck = (cell) => known(cell).grade === true && !isSolution(cell);
const lines = (source) => source.split(/(?<=\n)/);
const defines = (source) => /^def (\w+)\(/m.exec(source)?.[1] ?? null;

// Each part: its key, the grade id of its answer, the cell with the stub, the texts of its question.
export function partsOf({ cells }) {
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

// The texts between the title and the first code: how to work on the notebook.
export function openingOf({ cells }) {
  const first = cells.findIndex((cell) => cell.cell_type === "code");
  return cells.slice(0, first).filter((cell) => !text(cell).startsWith("# "));
}

// The texts below the last part.
export const closingOf = ({ cells }) =>
  cells.slice(cells.findLastIndex(isCheck) + 1).filter((cell) => cell.cell_type === "markdown");

// The number of the part in which a cell stands: -1 above the first one's question, and as many as
// there are parts below the last one's check.
export function partOf({ cells }, id) {
  const place = cells.findIndex((cell) => cell.id === id);
  const isOurs = (cell) => cell.cell_type === "code" && !isSolution(cell) && !isCheck(cell);
  if (place <= cells.findLastIndex(isOurs)) return -1;
  return cells.slice(0, place).filter(isCheck).length;
}

// The released notebook with these answers, and with the reader's own cells where they stood; an
// own text takes the place of a released one if it `replaces` that.
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

// What a notebook answers, by the grade ids of the answers, and its cells that are the reader's own.
// An editor may have taken away what marks a cell: then its id tells, or the function it defines.
export function answersIn(notebook, released) {
  if (notebook?.nbformat !== 4 || !Array.isArray(notebook.cells)) {
    throw new Error("it has no cells of Jupyter’s format 4");
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
