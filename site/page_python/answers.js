// An exercise on its page: each part with its question, a field for the answer, and its check. What
// is asked, and what a check compares with, comes out of the released notebook and nowhere else.

import { editor, highlighted } from "./editor.js";
import { Engine } from "./engine.js";
import { Answers } from "./kept_answers.js";
import { asHtml } from "./notebook_words.js";
import { element as shownAs } from "./outputs.js";
import { ended, made, panel } from "./panel.js";
import { answersIn, completed, gradeId, isCheck, partsOf, text } from "./released.js";

const NOT_KEPT =
  "This browser keeps nothing for this site: download the notebook before you leave the page.";

function button(words, onClick) {
  const element = made("button", { type: "button", textContent: words });
  element.addEventListener("click", onClick);
  return element;
}

// `place` is the section that the parts are put into; `notebook` the address of the released one.
export async function open({ place, notebook, name }) {
  const answer = await fetch(notebook);
  if (!answer.ok) throw new Error(`${notebook}: ${answer.status}`);
  const released = await answer.json();
  const answers = new Answers(name);
  const engine = new Engine();
  const bar = panel(place, engine);
  const parts = partsOf(released);
  const keys = parts.map(({ key }) => key);
  const home = made("div", { className: "answers" });
  const words = made("p", { className: "answers-done" });
  words.setAttribute("role", "status");

  function progress() {
    answers.count(keys);
    const done = keys.filter((key) => answers.isDone(key)).length;
    words.textContent = `${done} of ${keys.length} parts done. ${
      answers.keeps ? "Your answers stay in this browser and are sent nowhere." : NOT_KEPT
    }`;
    for (const part of parts) part.heading.classList.toggle("part-done", answers.isDone(part.key));
    for (const part of parts) part.mark.textContent = answers.isDone(part.key) ? " – done" : "";
  }

  // ---- into a file, and out of one

  function download() {
    const written = new Map(parts.map((part) => [part.solution, part.editor.code]));
    const file = completed(released, written, answers.ownCells);
    const blob = new Blob([`${JSON.stringify(file, null, 1)}\n`], { type: "application/x-ipynb+json" });
    const link = made("a", { href: URL.createObjectURL(blob), download: `${name}.ipynb` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 0);
  }

  async function take(file) {
    let found;
    try {
      found = answersIn(JSON.parse(await file.text()), released);
    } catch (error) {
      return bar.say(`${file.name} is no notebook that can be read (${error.message}). Nothing was changed.`);
    }
    if (!found.written.size) {
      return bar.say(`${file.name} has no part of this exercise in it. Nothing was changed.`);
    }
    for (const part of parts) {
      const source = found.written.get(part.solution);
      if (source === undefined) continue;
      part.editor.code = source;
    }
    answers.ownCells = found.own;
    const own = found.own.filter(({ cell }) => cell.cell_type === "code").length;
    const kept = own
      ? ` Its ${own} ${own === 1 ? "cell" : "cells"} of your own run with the others and go into the download.`
      : "";
    return bar.say(`${file.name} was opened: ${found.written.size} of ${parts.length} parts.${kept}`);
  }

  const picker = made("input", { type: "file", accept: ".ipynb", hidden: true });
  picker.addEventListener("change", () => {
    const [file] = picker.files;
    picker.value = "";
    if (file) take(file);
  });

  // ---- a part

  function wrote(part) {
    const source = part.editor.code;
    if (source === part.stub && !answers.get(part.key)) return;
    answers.set(part.key, { ...answers.get(part.key), source });
    progress();
  }

  function lay(part) {
    part.stub = text(part.cell);
    const { heading, html } = asHtml(part.words[0] ?? "");
    part.mark = made("span");
    part.heading = made("h3", { textContent: heading }, part.mark);
    part.heading.id = `answer-${part.key}`;
    part.heading.append(part.mark);
    const question = made("div");
    question.innerHTML = html + part.words.slice(1).map((more) => asHtml(more).html).join("");
    const pre = made("pre");
    const input = made("div", { className: "cell_input" }, made("div", { className: "highlight" }, pre));
    part.shown = made("div", { className: "cell_output", hidden: true });
    part.button = button("Check", () => check(part));
    part.button.setAttribute("aria-label", `Check ${heading}`);
    input.append(made("div", { className: "run-bar" }, part.button));
    part.box = made("div", { className: "cell" }, input, part.shown);
    const source = answers.get(part.key)?.source ?? part.stub;
    const onRun = (moveOn) => {
      check(part);
      if (moveOn) parts[parts.indexOf(part) + 1]?.editor.focus();
    };
    part.editor = editor(pre, source, `Your answer to ${heading}`, onRun, () => wrote(part));
    home.append(made("section", {}, part.heading, question, part.box));
  }

  // The notebook from the top down to the part, without the other parts' checks, then its check.
  function steps(part) {
    const written = new Map(parts.map((other) => [other.solution, other.editor.code]));
    const cells = completed(released, written, answers.ownCells).cells.filter(
      (cell) => cell.cell_type === "code" && gradeId(cell) !== "opening",
    );
    const last = cells.findIndex((cell) => gradeId(cell) === part.key);
    return cells
      .slice(0, last + 1)
      .filter((cell, number) => !isCheck(cell) || number === last)
      .map((cell) => ({
        id: gradeId(cell),
        code: text(cell),
        alt: "A figure of your own",
        goOn: gradeId(cell) !== part.solution,
      }));
  }

  async function check(part) {
    const order = steps(part);
    const source = part.editor.code;
    const given = [];
    part.box.setAttribute("aria-busy", "true");
    part.box.classList.add("running");
    bar.busy("Cancel");
    try {
      await engine.start();
      bar.fetched(null);
      bar.busy("Stop");
      bar.say("Checking …");
      let passed = false;
      const whole = await engine.run(0, order, ({ step, outputs, failed }) => {
        if (!outputs || ![part.solution, part.key].includes(order[step].id)) return;
        given.push(...outputs);
        passed = order[step].id === part.key && !failed;
      });
      if (!whole) return;
      part.shown.replaceChildren(...given.map(shownAs));
      part.shown.hidden = !given.length;
      answers.set(part.key, { source: part.editor.code, passed: passed ? source : null });
      progress();
      bar.rest(passed ? "The check passed." : "The check found something: see below the answer.");
    } catch (error) {
      bar.fetched(null);
      bar.rest(ended(error));
    } finally {
      part.box.removeAttribute("aria-busy");
      part.box.classList.remove("running");
      if (!engine.isRunning) bar.busy();
    }
  }

  // ---- the page

  const given = made("pre");
  const start = released.cells.find((cell) => gradeId(cell) === "given");
  given.innerHTML = highlighted(text(start));
  const openButton = button("Open a notebook …", () => picker.click());
  home.append(
    words,
    made("p", { className: "answers-files" }, button(`Download ${name}.ipynb`, download), openButton, picker),
    made("p", { textContent: "Given for all parts:" }),
    made("div", { className: "cell" }, made("div", { className: "cell_input" }, made("div", { className: "highlight" }, given))),
  );
  picker.setAttribute("aria-label", "A notebook to open");
  bar.place.before(home);
  parts.forEach(lay);
  progress();
  answers.addEventListener("elsewhere", ({ detail }) => {
    const part = parts.find(({ key }) => key === detail);
    const source = part && answers.get(part.key)?.source;
    if (source !== undefined && source !== null && source !== part.editor.code) part.editor.code = source;
    progress();
  });
  window.addEventListener("beforeunload", (event) => {
    if (!answers.keeps) event.preventDefault();
  });
}
