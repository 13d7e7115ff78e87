// @ts-check
// Adds the button that opens an exercise on its page; opens it right away if there is a saved
// answer.
(() => {
  const { python, megabytes, version, exercise: name } = document.currentScript.dataset;
  const link = document.querySelector(`.bd-article a.download[href$="/${name}.ipynb"]`);
  if (!link) return;
  const fromDisk = () =>
    phrase("A page that was opened as a file cannot run code. “make serve” shows this site at an address of its own, and “make lab” opens the exercise in JupyterLab.");
  const place = link.closest("section");
  const button = document.createElement("button");
  Object.assign(button, { type: "button", textContent: phrase("Answer here") });
  const note = document.createElement("p");
  note.className = "run-note";
  note.setAttribute("role", "status");
  note.textContent = phrase("The first check fetches Python once, {megabytes} MB.", { megabytes });
  const bar = document.createElement("div");
  bar.className = "answer-bar";
  bar.append(button, note);
  link.closest("p").after(bar);

  async function open() {
    note.textContent = "";
    if (location.protocol === "file:") return void (note.textContent = fromDisk());
    try {
      const { open } = await import(new URL(`${python}answers.js`, document.baseURI).href);
      await open({ place, notebook: link.href, name, version });
      bar.remove();
    } catch (error) {
      note.textContent = phrase("This could not be fetched ({reason}). Reload the page, and try again.", { reason: error.message });
    }
  }
  button.addEventListener("click", open);
  try {
    if (location.protocol !== "file:" && sessionStorage.getItem("roofline-ran-python")) {
      const address = new URL(`${python}warm_start.js`, document.baseURI);
      import(address.href).then(({ warmUp }) => warmUp()).catch(() => {}); // a click tries again
    }
    const isOurs = (key) => key.startsWith(`roofline-answer:${name}:`) || key === `roofline-own-cells:${name}`;
    if (location.protocol !== "file:" && Object.keys(localStorage).some(isOurs)) open();
  } catch {
    // Storage is disabled: there is no saved answer.
  }
})();
