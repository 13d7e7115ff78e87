// @ts-check
// Gives each cell of a chapter a Run button, with the code that the reader changed in an earlier visit, and
// an exercise the button that opens it. The rest is fetched when a button is pressed, or in advance if the
// reader has run Python in this tab before.
(() => {
  const { python, megabytes, steps, page, exercise, version } = document.currentScript.dataset;
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
    const link = document.querySelector(`.bd-article a.download[href$="/${exercise}.ipynb"]`);
    const button = made("button", { type: "button", textContent: phrase("Answer here") });
    const note = made("p", { className: "run-note", role: "status", textContent: phrase("The first check fetches Python once, {megabytes} MB.", { megabytes }) });
    const bar = made("div", { className: "answer-bar" }, button, note);
    link.closest("p").after(bar);

    // Open the exercise; return the editor of its first part, null if it could not be opened.
    async function openExercise() {
      const options = { place: link.closest("section"), notebook: link.href, name: exercise, version };
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
  const codeOf = (cell) => cell.querySelector(":scope .cell_input pre");
  const built = cells.map((cell) => codeOf(cell)?.textContent.trim());
  let opened; // what page.js returns
  let size; // next to the first button: how much the first press fetches

  // The cells that the reader has changed, in localStorage: key → {built, code}. All tabs of a page
  // share them: each change reads, merges and writes. A key is the number that a cell had once. Editions
  // change cells, so an entry belongs to the cell whose code it has as `built`; one that belongs to no cell
  // is shown beside a cell near its place.
  const KEY = `roofline-cells:${page}`;
  const read = () => stored.get(KEY) ?? {};
  const write = (all) => stored.set(KEY, Object.keys(all).length ? all : null);
  const keyOf = (all, number) => Object.keys(all).find((key) => all[key].built.trim() === built[number]);
  const saved = {
    code(number) {
      const all = read();
      return all[keyOf(all, number)]?.code;
    },
    set(number, code) {
      // A tab that shows another's change must not write it: it would undo what that one has written since.
      if (code === (saved.code(number) ?? built[number])) return;
      const all = read();
      const key = keyOf(all, number) ?? (number in all ? `${number}.${Date.now()}` : number);
      if (code.trim() === built[number]) delete all[key];
      else all[key] = { built: built[number], code };
      write(all);
    },
    onChange: showChange, // of another tab; page.js puts it into the editors
  };
  window.addEventListener("storage", ({ key }) => {
    if (key !== KEY) return;
    for (const number of cells.keys()) if (codeOf(cells[number])) saved.onChange(number, saved.code(number));
  });

  const printed = cells.map((cell) => codeOf(cell)?.innerHTML); // in colors
  function showChange(number, code) {
    const pre = codeOf(cells[number]);
    for (const part of cells[number].querySelectorAll(".run-kept, .run-back")) part.remove();
    if (code === undefined) return void (pre.innerHTML = printed[number]);
    pre.textContent = `${code}\n`;
    const back = made("button", { type: "button", className: "run-back", textContent: phrase("Put it back") });
    back.onclick = () => {
      saved.set(number, built[number]);
      showChange(number);
    };
    const note = made("span", { className: "run-kept", textContent: phrase("Your change, not run yet") });
    cells[number].querySelector(".run-bar").append(note, back);
  }

  // Show code whose cell an edition has changed.
  function showEarlier(key, code) {
    const at = built.findLastIndex((one, number) => one !== undefined && number <= parseInt(key, 10));
    const drop = made("button", { type: "button", textContent: phrase("Drop it") });
    const note = made(
      "details",
      { className: "run-earlier" },
      made("summary", { textContent: phrase("You changed this cell, and a new edition of the page has changed it too: your code is kept here.") }),
      made("pre", { textContent: code }),
      drop,
    );
    drop.onclick = () => {
      const { [key]: _, ...others } = read();
      write(others);
      note.remove();
    };
    cells[at]?.querySelector(".cell_input").after(note);
  }

  async function press(cell, number) {
    const note = cell.querySelector(".run-note") ?? made("p", { className: "run-note", role: "status" });
    cell.querySelector(".cell_input").after(note);
    size?.remove();
    for (const part of document.querySelectorAll(".run-kept, .run-back")) part.remove();
    opened ??= open("page.js", { cells, steps, saved }, note);
    const chapter = await opened;
    if (!chapter) opened = undefined; // the next press tries again
    else chapter.run(number);
  }

  for (const [number, cell] of cells.entries()) {
    const input = cell.querySelector(":scope .cell_input");
    if (!input) continue;
    const line = built[number].split("\n", 1)[0];
    const button = made("button", { type: "button", className: "run-cell", textContent: phrase("Run"), ariaLabel: phrase("Run the cell “{line}”", { line }), onclick: () => press(cell, number) });
    const bar = made("div", { className: "run-bar" }, button);
    if (!size && !hasRun) {
      size = made("span", { className: "run-size", textContent: phrase("Fetches Python once, {megabytes} MB", { megabytes }) });
      bar.append(size);
    }
    input.append(bar);
    if (saved.code(number) !== undefined) showChange(number, saved.code(number));
  }
  for (const [key, { built: of, code }] of Object.entries(read())) {
    if (!built.includes(of.trim())) showEarlier(key, code);
  }
})();
