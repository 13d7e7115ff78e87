// An exercise on its page: each part with its question, a field for the answer, and its check. What
// is asked, and what a check compares with, comes out of the released notebook and nowhere else.

import { CheckQueue } from "./check_queue.js";
import { closing } from "./closing.js";
import { editor, highlighted } from "./editor.js";
import { Engine } from "./engine.js";
import { ExercisePython } from "./exercise_python.js";
import { Answers } from "./kept_answers.js";
import { asHtml } from "./notebook_words.js";
import { element as shownAs } from "./outputs.js";
import { OwnCells } from "./own_cells.js";
import { made, panel } from "./panel.js";
import { answersIn, completed, gradeId, openingOf, partOf, partsOf, text } from "./released.js";

const NOT_KEPT =
  "This browser keeps nothing for this site: download the notebook before you leave the page.";
const TO_BEGIN =
  "In each part, put your code in the place of the two lines `# YOUR CODE HERE` and `raise NotImplementedError`, then press **Check**. It compares a few published cases, and tells you in words what it found. Grading calls the same functions with those cases and with others that are not shown here.";
const OWN = "Try your functions here. The cell sees all that stands above it. It is kept like your answers, and is in the notebook that you download.";

function button(words, onClick, label = "") {
  const element = made("button", { type: "button", textContent: words });
  if (label) element.setAttribute("aria-label", label);
  element.addEventListener("click", onClick);
  return element;
}

function show(place, outputs) {
  place.replaceChildren(...outputs.map(shownAs));
  place.hidden = !outputs.length;
}

const code = (pre, ...more) =>
  made("div", { className: "cell_input" }, made("div", { className: "highlight" }, pre), ...more);

// `place` is the section that the parts are put into; `notebook` the address of the released one.
export async function open({ place, notebook, name }) {
  const answer = await fetch(notebook);
  if (!answer.ok) throw new Error(`${notebook}: ${answer.status}`);
  const released = await answer.json();
  const answers = new Answers(name);
  const engine = new Engine();
  const queue = new CheckQueue();
  const bar = panel(place, engine);
  const parts = partsOf(released);
  const home = made("div", { className: "answers" });
  const below = made("div", { className: "answers-end" });
  const words = made("p", { className: "answers-done" });
  words.setAttribute("role", "status");
  const slots = { start: made("div"), end: made("div") };
  const own = new OwnCells(slotOf, (id) => queue.add(id, own.boxOf(id), () => runOwn(id)));

  // Where the own cells are shown that follow this cell of the notebook.
  function slotOf(after) {
    const number = partOf(released, after);
    const part = parts[number];
    if (part && after !== parts.at(-1).check) return { slot: part.slot, name: part.name };
    return number < 0
      ? { slot: slots.start, name: "what is given" }
      : { slot: slots.end, name: "all parts" };
  }

  // What each cell that the reader may change holds now, by its id.
  const sources = () =>
    new Map([...parts.map((part) => [part.solution, part.editor.code]), ...own.sources]);

  function progress() {
    const now = sources();
    const states = parts.map(({ key }) => answers.state(key, now));
    const done = states.filter((state) => state === "done").length;
    const again = states.filter((state) => state === "again").length;
    answers.count(done, parts.length);
    words.textContent = `${done} of ${parts.length} parts done. ${
      again ? `${again} to check again, since what the answer needs has changed. ` : ""
    }${answers.keeps ? "Your answers stay in this browser and are sent nowhere." : NOT_KEPT}`;
    for (const [number, part] of parts.entries()) {
      part.heading.classList.toggle("part-done", states[number] === "done");
      part.heading.classList.toggle("part-again", states[number] === "again");
      part.mark.textContent = { done: " – done", again: " – check again", "": "" }[states[number]];
    }
  }

  // ---- into a file, and out of one

  const written = () => new Map(parts.map((part) => [part.solution, part.editor.code]));

  function download() {
    const file = completed(released, written(), own.list);
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
    own.take(found.own);
    answers.ownCells = own.list;
    progress();
    const count = found.own.filter(({ cell }) => cell.cell_type === "code").length;
    const kept = count
      ? ` Its ${count} ${count === 1 ? "cell" : "cells"} of your own run with the others and go into the download.`
      : "";
    return bar.say(`${file.name} was opened: ${found.written.size} of ${parts.length} parts.${kept}`);
  }

  const picker = made("input", { type: "file", accept: ".ipynb", hidden: true });
  picker.addEventListener("change", () => {
    const [file] = picker.files;
    picker.value = "";
    if (file) take(file);
  });

  // ---- what Python is asked

  const python = new ExercisePython(engine, queue, bar, () => completed(released, written(), own.list));

  // Each cell of the reader's shows what it gave; an answer whose check was not asked only an error.
  function showCells(order, found) {
    for (const [step, { id }] of order.entries()) {
      if (!found[step]?.outputs) continue;
      own.show(id, found[step].outputs);
      const part = parts.find(({ solution }) => solution === id);
      if (part && found[step].failed) show(part.shown, found[step].outputs);
    }
  }

  function check(part) {
    queue.add(part.key, part.box, () => {
      const order = python.stepsTo(part.key, [part.solution, part.key]);
      const last = order.length - 1;
      const now = sources();
      const source = now.get(part.solution);
      order.push({ needed: order.map((step) => step.code) });
      return python.run(order, (found) => {
        showCells(order, found);
        const outputs = [part.solution, part.key].flatMap(
          (id) => found[order.findIndex((step) => step.id === id)]?.outputs ?? [],
        );
        show(part.shown, outputs);
        show(part.told, []);
        const passed = found[last]?.failed === false;
        const needed = (found[last + 1]?.needed ?? [])
          .map((at) => order[at].id)
          .filter((id) => now.has(id) && id !== part.solution);
        answers.set(part.key, {
          source: part.editor.code,
          passed: passed ? source : null,
          with: Object.fromEntries(needed.map((id) => [id, now.get(id)])),
        });
        part.hint.hidden = !outputs.some(({ text }) => text.includes(part.hintCode));
        progress();
        return passed ? "The check passed." : "The check found something: see below the answer.";
      });
    });
  }

  function runOwn(id) {
    const order = python.stepsTo(id);
    return python.run(order, (found) => {
      showCells(order, found);
      return found[order.length - 1]?.failed ? "The cell ended with an error." : "Done.";
    });
  }

  // With none of the reader's code, since that may never end.
  function hint(part) {
    queue.add(part.hintCode, part.box, () => {
      const given = released.cells.filter(
        (cell) => cell.cell_type === "code" && partOf(released, cell.id) < 0 && gradeId(cell) !== "opening",
      );
      const order = [...given.map(text), part.hintCode].map((source) => ({ code: source }));
      return python.run(order, (found) => {
        show(part.told, found.at(-1).outputs);
        return "The hint stands below the answer.";
      });
    });
  }

  // ---- a part

  function wrote(part) {
    const source = part.editor.code;
    if (source !== part.stub || answers.get(part.key)) {
      answers.set(part.key, { ...answers.get(part.key), source });
    }
    progress();
  }

  function lay(part) {
    part.stub = text(part.cell);
    const { heading, html } = asHtml(part.words[0] ?? "");
    part.name = heading;
    part.mark = made("span");
    part.heading = made("h3", { textContent: heading });
    part.heading.id = `answer-${part.key}`;
    part.heading.append(part.mark);
    const question = made("div");
    question.innerHTML = html + part.words.slice(1).map((more) => asHtml(more).html).join("");
    const pre = made("pre");
    part.shown = made("div", { className: "cell_output", hidden: true });
    part.told = made("div", { className: "cell_output", hidden: true });
    part.hintCode = `check.hint("${part.key}")`;
    part.hint = button("Stronger hint", () => hint(part), `Stronger hint for ${heading}`);
    part.hint.hidden = true;
    part.slot = made("div");
    const run = made(
      "div",
      { className: "run-bar" },
      button("Check", () => check(part), `Check ${heading}`),
      button("Add a cell", () => own.add(part.check).focus(), `Add a cell of your own below ${heading}`),
      part.hint,
    );
    part.box = made("div", { className: "cell" }, code(pre, run), part.shown, part.told);
    const source = answers.get(part.key)?.source ?? part.stub;
    const onRun = (moveOn) => {
      check(part);
      if (moveOn) parts[parts.indexOf(part) + 1]?.editor.focus();
    };
    part.editor = editor(pre, source, `Your answer to ${heading}`, onRun, () => wrote(part));
    home.append(made("section", {}, part.heading, question, part.box), part.slot);
  }

  // ---- the page

  const start = made("pre");
  start.innerHTML = highlighted(text(released.cells.find((cell) => gradeId(cell) === "given")));
  const [, ...rules] = openingOf(released).flatMap((cell) => text(cell).split(/\n\s*\n/));
  const opening = made("div");
  opening.innerHTML = asHtml([TO_BEGIN, ...rules].join("\n\n")).html;
  home.append(
    words,
    made(
      "p",
      { className: "answers-files" },
      button(`Download ${name}.ipynb`, download),
      button("Open a notebook …", () => picker.click()),
      button("Check all", () => parts.forEach(check)),
      picker,
    ),
    opening,
    made("p", { textContent: "Given for all parts:" }),
    made("div", { className: "cell" }, code(start)),
    slots.start,
  );
  picker.setAttribute("aria-label", "A notebook to open");
  bar.place.before(home, below);
  parts.forEach(lay);
  const lastCheck = parts.at(-1).check;
  below.append(
    made(
      "section",
      {},
      made("h3", { textContent: "A cell of your own" }),
      made("p", { textContent: OWN }),
      slots.end,
      made("p", { className: "answers-files" }, button("Add a cell", () => own.add(lastCheck).focus(), "Add a cell of your own below all parts")),
    ),
    closing(released, own, name),
  );
  own.addEventListener("taken", () => slots.end.children.length || own.add(lastCheck));
  own.take(answers.ownCells);
  own.addEventListener("change", () => {
    answers.ownCells = own.list;
    progress();
  });
  progress();
  answers.addEventListener("elsewhere", ({ detail }) => {
    const part = parts.find(({ key }) => key === detail);
    const source = part && answers.get(part.key)?.source;
    if (source !== undefined && source !== null && source !== part.editor.code) part.editor.code = source;
    progress();
  });
  answers.addEventListener("own-elsewhere", () => {
    if (JSON.stringify(answers.ownCells) !== JSON.stringify(own.list)) own.take(answers.ownCells);
    progress();
  });
  window.addEventListener("beforeunload", (event) => {
    if (!answers.keeps) event.preventDefault();
  });
}
