// @ts-check
// An exercise on its page: for each part the question, an editor for the answer, and the check.
// Questions and checks come from the released notebook.

import { CheckQueue } from "./check_queue.js";
import { closingSection } from "./closing_section.js";
import { editor, highlighted } from "./editor.js";
import { ExercisePython } from "./exercise_python.js";
import { asHtml } from "./notebook_markdown.js";
import { outputElement } from "./outputs.js";
import { OwnCells } from "./own_cells.js";
import { element, joined, panel } from "./panel.js";
import {
  answersIn,
  completed,
  gradeId,
  openingOf,
  partOf,
  partsOf,
  text,
} from "./released_notebook.js";
import { SavedAnswers } from "./saved_answers.js";
import { takeEngine } from "./warm_start.js";

const notKept = () =>
  phrase("This browser keeps nothing for this site: download the notebook before you leave the page.");
const toBegin = () =>
  phrase("In each part, put your code in the place of the two lines `# YOUR CODE HERE` and `raise NotImplementedError`, then press **Check**. It compares a few published cases, and tells you in words what it found. Grading calls the same functions with those cases and with others that are not shown here.");
const aboutVersion = (version) =>
  phrase("This page runs your code with Python {version}; a check says so where grading may have an older one that cannot read it.", { version });
const aboutOwnCells = () =>
  phrase("Try your functions here. The cell sees all that stands above it. It is kept like your answers, and is in the notebook that you download.");

function button(words, onClick, label = "") {
  const made = element("button", { type: "button", textContent: words });
  if (label) made.setAttribute("aria-label", label);
  made.addEventListener("click", onClick);
  return made;
}

const show = (place, outputs) => place.replaceChildren(...outputs.map(outputElement));

// Remove what a check's report offers to run, since the page has buttons; return the code of it.
function takeOffers(place) {
  const offers = [...place.querySelectorAll("[data-run^='check.hint'], [data-run='check.thoughts()']")];
  for (const offer of offers) offer.remove();
  return offers.map(({ dataset }) => dataset.run);
}

const code = (pre, ...more) =>
  element("div", { className: "cell_input" }, element("div", { className: "highlight" }, pre), ...more);

// Show the exercise `name` in the element `place`; `notebook` is its released notebook's address,
// `version` that of the page's Python.
export async function open({ place, notebook, name, version }) {
  const answer = await fetch(notebook);
  if (!answer.ok) throw new Error(`${notebook}: ${answer.status}`);
  const released = await answer.json();
  const answers = new SavedAnswers(name);
  const engine = takeEngine();
  const queue = new CheckQueue();
  const bar = panel(place, engine);
  const parts = partsOf(released);
  const home = element("div", { className: "answers" });
  const below = element("div", { className: "answers-end" });
  const words = element("p", { className: "answers-done" });
  words.setAttribute("role", "status");
  const slots = { start: element("div"), end: element("div") };
  const own = new OwnCells(slotOf, (id) => queue.add(id, own.boxOf(id), () => runOwn(id)));

  // Return the element for the reader's own cells that follow this cell, and the name of what is above.
  function slotOf(after) {
    const number = partOf(released, after);
    const part = parts[number];
    if (part && after !== parts.at(-1).check) return { slot: part.slot, name: part.name };
    return number < 0
      ? { slot: slots.start, name: phrase("what is given") }
      : { slot: slots.end, name: phrase("all parts") };
  }

  // The current code of each cell that the reader can edit, by its id.
  const sources = () => new Map([...written(), ...own.sources]);

  function progress() {
    const now = sources();
    const states = parts.map(({ key }) => answers.state(key, now));
    const done = states.filter((state) => state === "done").length;
    const again = states.filter((state) => state === "again").length;
    answers.count(done, parts.length);
    compare.hidden = done < parts.length;
    words.textContent = joined(
      phrase("{done} of {all} parts done.", { done, all: parts.length }),
      again && phrase("{again} to check again, since what the answer needs has changed.", { again }),
      answers.isSaving ? phrase("Your answers stay in this browser and are sent nowhere.") : notKept(),
    );
    const marks = { done: phrase(" – done"), again: phrase(" – check again") };
    for (const [number, part] of parts.entries()) {
      part.heading.classList.toggle("part-done", states[number] === "done");
      part.heading.classList.toggle("part-again", states[number] === "again");
      part.mark.textContent = marks[states[number]] ?? "";
    }
  }

  // ---- downloading and opening files

  const written = () =>
    new Map(parts.map((part) => /** @type {const} */ ([part.solution, part.editor.code])));

  function download() {
    const file = completed(released, written(), own.list);
    const blob = new Blob([`${JSON.stringify(file, null, 1)}\n`], { type: "application/x-ipynb+json" });
    const link = element("a", { href: URL.createObjectURL(blob), download: `${name}.ipynb` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 0);
  }

  async function load(file) {
    let found;
    try {
      found = answersIn(JSON.parse(await file.text()), released);
    } catch (error) {
      return bar.say(phrase("{file} can’t be read as a notebook ({reason}). Nothing was changed.", { file: file.name, reason: error.message }));
    }
    if (!found.written.size) {
      return bar.say(phrase("{file} contains no part of this exercise. Nothing was changed.", { file: file.name }));
    }
    for (const part of parts) {
      const source = found.written.get(part.solution);
      if (source !== undefined) part.editor.code = source;
    }
    own.load(found.own);
    answers.ownCells = own.list;
    const count = found.own.filter(({ cell }) => cell.cell_type === "code").length;
    const kept = count === 1
      ? phrase("Its 1 cell of your own runs with the others and goes into the download.")
      : phrase("Its {count} cells of your own run with the others and go into the download.", { count });
    const read = { file: file.name, number: found.written.size, all: parts.length };
    return bar.say(joined(phrase("{file} was opened: {number} of {all} parts.", read), count && kept));
  }

  const picker = element("input", { type: "file", accept: ".ipynb", hidden: true });
  picker.addEventListener("change", () => {
    load(picker.files[0]);
    picker.value = ""; // so that the same file can be opened again
  });

  // ---- running

  const python = new ExercisePython(engine, queue, bar, () => completed(released, written(), own.list));

  // Show the outputs of the reader's own cells. Of other parts' answers, show only errors.
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
        const offered = takeOffers(part.shown);
        show(part.hintBox, []);
        const passed = found[last]?.failed === false;
        const needed = (found[last + 1]?.needed ?? []).map((at) => order[at].id);
        answers.set(part.key, {
          source: part.editor.code,
          passed: passed ? source : null,
          with: Object.fromEntries(needed.map((id) => [id, now.get(id)])),
        });
        part.hint.hidden = !offered.includes(part.hintCode);
        progress();
        return passed ? phrase("The check passed.") : phrase("The check found something: see below the answer.");
      });
    });
  }

  function runOwn(id) {
    const order = python.stepsTo(id);
    return python.run(order, (found) => {
      showCells(order, found);
      return found[order.length - 1]?.failed ? phrase("The cell ended with an error.") : phrase("Done.");
    });
  }

  // Run the released code cells before the first part, then a line of code. This runs none of the
  // reader's code, which might never end.
  function runLine(line, box, outputs, said) {
    queue.add(line, box, () => {
      const given = released.cells.filter(
        (cell) => cell.cell_type === "code" && partOf(released, cell.id) < 0 && gradeId(cell) !== "opening",
      );
      const order = [...given.map(text), line].map((source) => ({ code: source }));
      return python.run(order, (found) => {
        show(outputs, found.at(-1).outputs);
        return said;
      });
    });
  }

  const hint = (part) => runLine(part.hintCode, part.box, part.hintBox, phrase("The hint stands below the answer."));

  // Once all parts are done, a button shows thoughts to compare the last answer with.
  const compared = element("div", { className: "cell_output" });
  const compare = button(phrase("Compare your answer"), () => {
    runLine("check.thoughts()", below, compared, phrase("You can compare it below your answer."));
  });

  // ---- a part

  function onEdit(part) {
    const source = part.editor.code;
    if (source !== part.stub || answers.get(part.key)) {
      answers.set(part.key, { ...answers.get(part.key), source });
    }
    progress();
  }

  function createPart(part) {
    part.stub = text(part.cell);
    const { heading, html } = asHtml(part.words.join("\n\n"));
    part.name = heading;
    part.mark = element("span");
    part.heading = element("h3", { textContent: heading });
    part.heading.id = `answer-${part.key}`;
    part.heading.append(part.mark);
    const question = element("div");
    question.innerHTML = html;
    const pre = element("pre");
    part.shown = element("div", { className: "cell_output" });
    part.hintBox = element("div", { className: "cell_output" });
    part.hintCode = `check.hint("${part.key}")`;
    part.hint = button(phrase("Stronger hint"), () => hint(part), phrase("Stronger hint for {heading}", { heading }));
    part.hint.hidden = true;
    part.slot = element("div");
    const run = element(
      "div",
      { className: "run-bar" },
      button(phrase("Check"), () => check(part), phrase("Check {heading}", { heading })),
      button(phrase("Add a cell"), () => own.add(part.check).focus(), phrase("Add a cell of your own below {place}", { place: heading })),
      part.hint,
    );
    part.box = element("div", { className: "cell" }, code(pre, run), part.shown, part.hintBox);
    const source = answers.get(part.key)?.source ?? part.stub;
    const onRun = (moveOn) => {
      check(part);
      if (moveOn) parts[parts.indexOf(part) + 1]?.editor.focus();
    };
    part.editor = editor(pre, source, phrase("Your answer to {heading}", { heading }), onRun, () => onEdit(part));
    home.append(element("section", {}, part.heading, question, part.box), part.slot);
  }

  // ---- the page

  const start = element("pre");
  start.innerHTML = highlighted(text(released.cells.find((cell) => gradeId(cell) === "given")));
  const [, ...rules] = openingOf(released).flatMap((cell) => text(cell).split(/\n\s*\n/));
  const opening = element("div");
  opening.innerHTML = asHtml([joined(toBegin(), aboutVersion(version)), ...rules].join("\n\n")).html;
  home.append(
    words,
    element(
      "p",
      { className: "answers-files" },
      button(phrase("Download {file}", { file: `${name}.ipynb` }), download),
      button(phrase("Open a notebook …"), () => picker.click()),
      button(phrase("Check all"), () => parts.forEach(check)),
      picker,
    ),
    opening,
    element("p", { textContent: phrase("Given for all parts:") }),
    element("div", { className: "cell" }, code(start)),
    slots.start,
  );
  bar.place.before(home, below);
  parts.forEach(createPart);
  const lastCheck = parts.at(-1).check;
  below.append(
    element(
      "section",
      {},
      element("h3", { textContent: phrase("A cell of your own") }),
      element("p", { textContent: aboutOwnCells() }),
      slots.end,
      element("p", { className: "answers-files" }, button(phrase("Add a cell"), () => own.add(lastCheck).focus(), phrase("Add a cell of your own below {place}", { place: phrase("all parts") }))),
    ),
    closingSection(released, own, name, [compare, compared]),
  );
  own.addEventListener("loaded", () => {
    if (!slots.end.children.length) own.add(lastCheck);
    progress();
  });
  own.load(answers.ownCells);
  own.addEventListener("change", () => {
    answers.ownCells = own.list;
    progress();
  });
  answers.addEventListener("answer-changed", (/** @type {any} */ { detail }) => {
    const part = parts.find(({ key }) => key === detail);
    const source = part && answers.get(part.key)?.source;
    if (source !== undefined) part.editor.code = source;
    progress();
  });
  answers.addEventListener("own-cells-changed", () => own.load(answers.ownCells));
  window.addEventListener("beforeunload", (event) => {
    if (!answers.isSaving) event.preventDefault();
  });
}
