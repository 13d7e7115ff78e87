// @ts-check
// Gives each cell of a page a Run button. Python is fetched when one of them is pressed, or in advance
// if the reader has run Python in this tab before.
(() => {
  const { currentScript: script } = document;
  const { python, steps, megabytes } = script.dataset;
  const cells = [...document.querySelectorAll(".bd-article div.cell")];
  let workbench;
  let size; // next to the first button: how much the first press fetches

  // Browsers don't let a page that was opened as a file start a worker.
  const FROM_DISK =
    "Code does not run in a page that was opened as a file. “make serve” shows this site at an address of its own, and “make lab” opens the page in JupyterLab.";

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
    if (location.protocol === "file:") return say(button, FROM_DISK);
    size?.remove();
    try {
      workbench ??= module("workbench.js").then(({ open }) => open({ cells, steps }));
      await (await workbench).run(number);
    } catch (error) {
      workbench = undefined;
      say(button, `This could not be fetched (${error.message}). Reload the page, and try again.`);
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

  cells.forEach((cell, number) => {
    const input = cell.querySelector(":scope .cell_input");
    if (!input) return;
    const first = input.querySelector("pre").textContent.trim().split("\n", 1)[0];
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "run-cell", textContent: "Run" });
    button.setAttribute("aria-label", `Run the cell “${first}”`);
    button.addEventListener("click", () => press(button, number));
    const bar = document.createElement("div");
    bar.className = "run-bar";
    bar.append(button);
    if (!size && !hasRun) {
      size = document.createElement("span");
      Object.assign(size, { className: "run-size", textContent: `Fetches Python once, ${megabytes} MB` });
      bar.append(size);
    }
    input.append(bar);
  });
})();
