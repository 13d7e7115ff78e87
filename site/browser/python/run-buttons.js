// @ts-check
// Gives each cell of a chapter a Run button, and an exercise the button that opens it. The rest is fetched
// when a button is pressed or the reader has kept something here, and Python in advance if the reader has run it
// in this tab before.
(() => {
  const { python, megabytes, steps, page, exercise } = document.currentScript.dataset;
  // Browsers don't let a page that was opened as a file start a worker.
  const isOnDisk = location.protocol === "file:";
  const script = (name) => import(new URL(`${python}${name}`, document.baseURI).href);

  // Fetch a script and open what it shows; without it, say why in `note`.
  async function open(name, options, note) {
    note.textContent = isOnDisk
      ? phrase("Code does not run in a page that was opened as a file. “make serve” shows this site at an address of its own, and “make lab” opens the page in JupyterLab.")
      : "";
    if (isOnDisk) return null;
    try {
      return await (await script(name)).open(options);
    } catch (error) {
      note.textContent = phrase("This could not be fetched ({reason}). Reload the page, and try again.", { reason: error.message });
      return null;
    }
  }

  let hasRun = false;
  try {
    hasRun = !isOnDisk && Boolean(sessionStorage.getItem("roofline-ran-python"));
  } catch {
    // Storage is disabled.
  }
  if (hasRun) {
    const warmUp = () => script("python.js").then((loaded) => loaded.warmUp());
    window.addEventListener("load", () => warmUp().catch(() => {})); // a press tries again
  }

  // ---- an exercise

  if (exercise) {
    // Beside the link to each: how many of its parts are done in this browser.
    for (const other of document.querySelectorAll(".bd-links a")) {
      // A page's link to itself is "#"; `other.href` has the full address.
      const name = /\/exercises\/([\w-]+)\.html$/.exec(new URL(other.href).pathname)?.[1];
      const count = name && stored.get(`roofline-parts:${name}`);
      if (!count?.done) continue;
      const remark = phrase("{done} of {all} parts done", { done: count.done, all: count.parts });
      other.append(made("span", { className: "parts-done", textContent: phrase(" ({remark})", { remark }) }));
    }

    const link = document.querySelector(`.bd-article a.download[href$="/${exercise}.ipynb"]`);
    const button = made("button", { type: "button", textContent: phrase("Answer here") });
    const note = made("p", { className: "run-note", role: "status", textContent: phrase("The first check fetches Python once, {megabytes} MB.", { megabytes }) });
    const bar = made("div", { className: "answer-bar" }, button, note);
    link.closest("p").after(bar);

    // Open the exercise; return the editor of its first part, null if it could not be opened.
    async function openExercise() {
      const options = { place: link.closest("section"), notebook: link.href, name: exercise };
      const first = await open("exercise.js", options, note);
      if (first) bar.remove();
      return first;
    }
    button.onclick = async () => {
      const first = await openExercise();
      if (!first) return;
      // The button, which had the focus, has gone.
      first.focus();
      document.activeElement.scrollIntoView({ block: "nearest" });
    };
    const hasAnswers = stored.get(`roofline-own-cells:${exercise}`) || stored.keys(`roofline-answer:${exercise}:`).length;
    if (!isOnDisk && hasAnswers) openExercise();
    return;
  }

  // ---- a chapter's cells

  const cells = [...document.querySelectorAll(".bd-article div.cell")];
  const inputOf = (cell) => cell.querySelector(":scope .cell_input");
  const key = `roofline-cells:${page}`;
  let opened; // what page.js returns
  let size; // next to the first button: how much the first press fetches

  // Give the cells editors; return what runs them, null if it could not be fetched.
  async function openCells(cell, isPressed) {
    const note = cell.querySelector(".run-note") ?? made("p", { className: "run-note", role: "status" });
    inputOf(cell).after(note);
    opened ??= open("page.js", { cells, steps, key, isPressed }, note);
    const chapter = await opened;
    if (!chapter) opened = undefined; // the next press tries again
    return chapter;
  }

  for (const [number, cell] of cells.entries()) {
    if (!inputOf(cell)) continue;
    const line = inputOf(cell).querySelector("pre").textContent.trim().split("\n", 1)[0];
    const onclick = async () => {
      size?.remove();
      (await openCells(cell, true))?.run(number);
    };
    const button = made("button", { type: "button", className: "run-cell", textContent: phrase("Run"), ariaLabel: phrase("Run the cell “{line}”", { line }), onclick });
    const bar = made("div", { className: "run-bar" }, button);
    if (!size && !hasRun) {
      size = made("span", { className: "run-size", textContent: phrase("Fetches Python once, {megabytes} MB", { megabytes }) });
      bar.append(size);
    }
    inputOf(cell).append(bar);
  }

  // Show what the reader has changed, in an earlier visit or in another tab.
  const openKept = () => !isOnDisk && stored.get(key) && openCells(cells.find(inputOf), false);
  window.addEventListener("storage", (event) => event.key === key && openKept());
  openKept();
})();
