// @ts-check
// Gives each cell of a page a Run button. Python is fetched when one of them is pressed, or in advance
// if the reader has run Python in this tab before.
(() => {
  const { currentScript: script } = document;
  const { python, steps, megabytes, page } = script.dataset;
  const cells = [...document.querySelectorAll(".bd-article div.cell")];
  let workbench;
  let size; // next to the first button: how much the first press fetches

  // Browsers don't let a page that was opened as a file start a worker.
  const fromDisk = () =>
    phrase("Code does not run in a page that was opened as a file. “make serve” shows this site at an address of its own, and “make lab” opens the page in JupyterLab.");

  function say(button, text) {
    const cell = button.closest(".cell");
    let note = cell.querySelector(".run-note");
    if (!note) {
      note = document.createElement("p");
      note.className = "run-note";
      note.setAttribute("role", "status");
      button.closest(".cell_input").after(note);
    }
    note.textContent = text;
  }

  const module = (name) => import(new URL(`${python}${name}`, document.baseURI).href);

  async function press(button, number) {
    if (location.protocol === "file:") return say(button, fromDisk());
    size?.remove();
    for (const part of document.querySelectorAll(".run-kept, .run-back")) part.remove();
    try {
      workbench ??= Promise.all([module("workbench.js"), savedCells()]).then(([{ open }, saved]) =>
        open({ cells, steps, saved }),
      );
      await (await workbench).run(number);
    } catch (error) {
      workbench = undefined;
      say(button, phrase("This could not be fetched ({reason}). Reload the page, and try again.", { reason: error.message }));
    }
  }

  async function startWarm() {
    const { warmUp } = await module("warm_start.js");
    if (await warmUp()) await module("workbench.js");
  }
  let hasRun = false;
  try {
    hasRun = Boolean(sessionStorage.getItem("roofline-ran-python"));
    if (hasRun && location.protocol !== "file:") startWarm().catch(() => {});
  } catch {
    // Storage is disabled.
  }

  // ---- code that the reader changed in an earlier visit; see saved_cells.js

  const KEY = `roofline-cells:${page}`;
  const codeOf = (cell) => cell.querySelector(":scope .cell_input pre");
  const built = cells.map((cell) => codeOf(cell)?.textContent.trim());
  let saving;
  function savedCells() {
    saving ??= module("saved_cells.js").then(({ SavedCells }) => {
      const saved = new SavedCells(KEY, built);
      for (const number of cells.keys()) show(saved, number);
      saved.addEventListener("change", ({ detail }) => detail.forEach((number) => show(saved, number)));
      return saved;
    });
    saving.catch(() => (saving = undefined));
    return saving;
  }
  function show(saved, number) {
    const cell = cells[number];
    if (built[number] === undefined) return;
    for (const note of cell.querySelectorAll(".run-earlier")) note.remove();
    cell.querySelector(".cell_input").after(...saved.notes(number));
    if (!workbench) showChange(saved, number);
  }
  const printed = new Map(); // number of a cell → its code as built, in colors
  function showChange(saved, number) {
    const pre = codeOf(cells[number]);
    const bar = cells[number].querySelector(".run-bar");
    for (const part of bar.querySelectorAll(".run-kept, .run-back")) part.remove();
    if (printed.has(number)) pre.innerHTML = printed.get(number);
    const code = saved.code(number);
    if (code === undefined) return;
    printed.set(number, pre.innerHTML);
    pre.textContent = `${code}\n`;
    const note = document.createElement("span");
    Object.assign(note, { className: "run-kept", textContent: phrase("Your change, not run yet") });
    const back = document.createElement("button");
    Object.assign(back, { type: "button", className: "run-back", textContent: phrase("Put it back") });
    back.addEventListener("click", () => {
      saved.set(number, built[number]);
      showChange(saved, number);
    });
    bar.append(note, back);
  }

  cells.forEach((cell, number) => {
    const input = cell.querySelector(":scope .cell_input");
    if (!input) return;
    const first = input.querySelector("pre").textContent.trim().split("\n", 1)[0];
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "run-cell", textContent: phrase("Run") });
    button.setAttribute("aria-label", phrase("Run the cell “{line}”", { line: first }));
    button.addEventListener("click", () => press(button, number));
    const bar = document.createElement("div");
    bar.className = "run-bar";
    bar.append(button);
    if (!size && !hasRun) {
      size = document.createElement("span");
      Object.assign(size, { className: "run-size", textContent: phrase("Fetches Python once, {megabytes} MB", { megabytes }) });
      bar.append(size);
    }
    input.append(bar);
  });
  try {
    if (localStorage.getItem(KEY) && location.protocol !== "file:") savedCells().catch(() => {}); // Run tries again
  } catch {
    // Storage is disabled.
  }
})();
