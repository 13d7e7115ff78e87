// @ts-check
// Adds the button that opens an exercise on its page; opens it right away if there is a saved answer.
(() => {
  const { python, megabytes, version, exercise: name } = document.currentScript.dataset;
  const link = document.querySelector(`.bd-article a.download[href$="/${name}.ipynb"]`);
  if (!link) return;
  const isOnDisk = location.protocol === "file:";
  const place = link.closest("section");
  const button = made("button", { type: "button", textContent: phrase("Answer here") });
  const note = made("p", { className: "run-note", role: "status", textContent: phrase("The first check fetches Python once, {megabytes} MB.", { megabytes }) });
  const bar = made("div", { className: "answer-bar" }, button, note);
  link.closest("p").after(bar);
  const module = (file) => import(new URL(`${python}${file}`, document.baseURI).href);

  // Open the exercise; return the editor of its first part, null if it could not be opened.
  async function open() {
    note.textContent = isOnDisk
      ? phrase("A page that was opened as a file cannot run code. “make serve” shows this site at an address of its own, and “make lab” opens the exercise in JupyterLab.")
      : "";
    if (isOnDisk) return null;
    try {
      const first = await (await module("exercise.js")).open({ place, notebook: link.href, name, version });
      bar.remove();
      return first;
    } catch (error) {
      note.textContent = phrase("This could not be fetched ({reason}). Reload the page, and try again.", { reason: error.message });
      return null;
    }
  }
  button.addEventListener("click", async () => {
    const first = await open();
    if (!first) return;
    // The button, which had the focus, has gone.
    first.focus();
    document.activeElement.scrollIntoView({ block: "nearest" });
  });
  if (isOnDisk) return;
  try {
    if (sessionStorage.getItem("roofline-ran-python")) {
      const warmUp = () => module("python.js").then((loaded) => loaded.warmUp());
      window.addEventListener("load", () => warmUp().catch(() => {})); // a check tries again
    }
  } catch {
    // Storage is disabled.
  }
  if (stored.get(`roofline-own-cells:${name}`) || stored.keys(`roofline-answer:${name}:`).length) open();
})();
