// @ts-check
// An exercise on its page: for each part the question, an editor for the answer, and the check.
// Questions and checks come from the released notebook.

import { editor, highlighted } from "./editor.js";
import { answersIn, completed, contentsOf, gradeId, isCheck, newId, text } from "./exercise_notebook.js";
import { asHtml, split } from "./markdown.js";
import { outputElement } from "./outputs.js";
import { joined, panel } from "./panel.js";
import * as python from "./python.js";

const RUN_SECONDS = 60; // what a press runs is stopped then
const SLOW_SECONDS = 10; // a check that takes longer may have a call that is too slow: Python is slower here
const CELL_SECONDS = 120; // what grading gives a cell
const CALL_SECONDS = 5; // and a call of a function, of computing

const late = () =>
  phrase("This did not come to an end, and was stopped after {seconds} s. In grading a cell gets {cell} s, and a call of a function {call} s of computing.", { seconds: RUN_SECONDS, cell: CELL_SECONDS, call: CALL_SECONDS });
const slow = (seconds) =>
  phrase("This check took {seconds} s. In grading a call gets {call} s of computing: a loop that counts what a formula could give may be stopped there.", { seconds: seconds.toFixed(0), call: CALL_SECONDS });

const button = (textContent, onclick, ariaLabel = null) =>
  made("button", { type: "button", textContent, onclick, ariaLabel });
const error = (text) => ({ kind: "error", text });
const show = (place, outputs) => place.replaceChildren(...outputs.map(outputElement));
const outputPlace = () => made("div", { className: "cell_output" });
const markdown = (words) => made("div", { innerHTML: asHtml(words) });
const codeBox = (pre, ...more) =>
  made("div", { className: "cell_input" }, made("div", { className: "highlight" }, pre), ...more);

// Return a cell that the reader edits: its box, its editor, and the place of its outputs.
function editable(source, label, onRun, onEdit, ...buttons) {
  const [pre, shown] = [made("pre"), outputPlace()];
  const box = made("div", { className: "cell" }, codeBox(pre, made("div", { className: "run-bar" }, ...buttons)), shown);
  return { box, shown, editor: editor(pre, source, label, onRun, onEdit) };
}

// Show the exercise `name` in the element `place`; `notebook` is its released notebook's address.
// Returns the editor of the first part.
export async function open({ place, notebook, name }) {
  const answer = await fetch(notebook);
  if (!answer.ok) throw new Error(`${notebook}: ${answer.status}`);
  const released = await answer.json();
  const { opening, given, parts, closing } = contentsOf(released);
  for (const part of parts) Object.assign(part, split(part.question)); // heading and text
  const lastCheck = parts.at(-1).check;
  const bar = panel(place);
  const home = made("div", { className: "answers" });
  const below = made("div", { className: "answers-end" });
  bar.place.before(home, below);

  // ---- what this browser keeps: one entry per part, so that two windows with different parts don't
  // overwrite each other's, and the reader's own cells

  const ANSWER = `roofline-answer:${name}:`;
  const OWN_CELLS = `roofline-own-cells:${name}`;
  // {source, passed, above} of a part: its code, the code that last passed the check, and the code of the
  // cells above it then. null if the part has no answer yet.
  const saved = (part) => stored.get(ANSWER + part.key);
  const save = (part, answer) => stored.set(ANSWER + part.key, answer);

  // Return "done", "again" if a cell above has changed since, or else "".
  function stateOf(part) {
    const { source, passed, above } = saved(part) ?? { passed: null };
    if (source !== passed) return "";
    return above === codeAbove(part) ? "done" : "again";
  }

  // Show what another window has changed.
  window.addEventListener("storage", ({ key }) => {
    if (key === OWN_CELLS) loadOwn(stored.get(OWN_CELLS) ?? []);
    const part = parts.find((one) => key === ANSWER + one.key);
    if (!part) return;
    part.editor.code = saved(part)?.source ?? part.editor.code;
    progress();
  });

  // ---- running

  // When it is the job's turn, run the steps that `steps()` returns. The bar then says what `done(results)` returns,
  // where results are id of a step that had to run → {outputs, failed, seconds}.
  const enqueue = (key, { box, shown, steps, done }) =>
    bar.enqueue(key, box, async () => {
      const order = steps();
      const results = new Map();
      let before = performance.now();
      const keep = ({ step, outputs, failed }) => {
        const now = performance.now();
        results.set(order[step].id, { outputs, failed, seconds: (now - before) / 1000 });
        before = now;
      };
      try {
        await python.run(order, order.length - 1, keep, RUN_SECONDS);
        return done(results);
      } catch (reason) {
        if (!reason.isLate) throw reason;
        show(shown, [error(late())]);
        return late();
      }
    });

  const idOf = (cell) => gradeId(cell) ?? cell.id;
  const stepOf = (cell) => ({ id: idOf(cell), code: text(cell), continueOnError: true });

  // Return the steps down to this cell, without the checks of other parts. Python runs again from the
  // first one that has changed: the same cell always gives the same step.
  function stepsTo(id) {
    const cells = book().cells.filter((cell) => cell.cell_type === "code" && gradeId(cell) !== "opening");
    return cells
      .slice(0, 1 + cells.findIndex((cell) => idOf(cell) === id))
      .filter((cell) => !isCheck(cell) || idOf(cell) === id)
      .map(stepOf);
  }
  const codeAbove = ({ key, solution }) =>
    stepsTo(key).filter(({ id }) => id !== solution).map(({ code }) => code).join("\n");

  // Show the outputs of the reader's own cells. Keep what answers print until their part is checked;
  // show only their errors.
  function showCells(results) {
    for (const [id, { outputs, failed }] of results) {
      const cell = own.find((one) => one.cell.id === id);
      if (cell) show(cell.shown, outputs);
      const part = parts.find(({ solution }) => solution === id);
      if (!part) continue;
      part.printed = outputs;
      if (failed) show(part.shown, outputs);
    }
  }

  function check(part) {
    let source, above; // as the check begins: the reader may edit while it runs
    function steps() {
      [source, above] = [part.editor.code, codeAbove(part)];
      return stepsTo(part.key);
    }
    function done(results) {
      showCells(results);
      const [answer, found] = [results.get(part.solution), results.get(part.key)];
      const remark = !found.failed && found.seconds > SLOW_SECONDS ? [error(slow(found.seconds))] : [];
      show(part.shown, answer?.failed ? answer.outputs : [...part.printed, ...found.outputs, ...remark]);
      // The page has buttons for what a check's report offers to run.
      part.shown.querySelector("[data-run='check.thoughts()']")?.remove();
      const offer = part.shown.querySelector("[data-run^='check.hint']");
      const askHint = () => runLine(offer.dataset.run, part.box, part.hintBox, phrase("The hint stands below the answer."));
      offer?.replaceWith(button(phrase("Stronger hint"), askHint, phrase("Stronger hint for {heading}", { heading: part.heading })));
      show(part.hintBox, []);
      const isPassed = !answer?.failed && !found.failed;
      save(part, { source: part.editor.code, passed: isPassed ? source : null, above });
      progress();
      return isPassed ? phrase("The check passed.") : phrase("The check found something: see below the answer.");
    }
    enqueue(part.key, { ...part, steps, done });
  }

  // Check what has been written; from then on, name the parts that have not.
  let namesUnwritten = false;
  const isWritten = (part) => part.editor.code.trim() !== text(part.cell).trim();
  function checkAll() {
    namesUnwritten = true;
    progress();
    parts.filter(isWritten).forEach(check);
  }

  function runOwn({ cell, box, shown }) {
    function done(results) {
      showCells(results);
      return results.get(cell.id)?.failed ? phrase("The cell ended with an error.") : phrase("Done.");
    }
    enqueue(cell.id, { box, shown, steps: () => stepsTo(cell.id), done });
  }

  // Run a line of code below what is given. This runs none of the reader's code, which might never end.
  function runLine(line, box, shown, said) {
    const steps = () => [...given.map(stepOf), { id: line, code: line }];
    function done(results) {
      show(shown, results.get(line)?.outputs ?? []);
      return said;
    }
    enqueue(line, { box, shown, steps, done });
  }

  // ---- answers

  const book = () =>
    completed(released, new Map(parts.map((part) => [part.solution, part.editor.code])), ownCells());

  function progress() {
    const states = parts.map(stateOf);
    const unwritten = namesUnwritten ? parts.filter((part) => !isWritten(part)).map(({ heading }) => heading) : [];
    const list = new Intl.ListFormat(document.documentElement.lang);
    const [done, again] = ["done", "again"].map((state) => states.filter((one) => one === state).length);
    stored.set(`roofline-parts:${name}`, { done, parts: parts.length });
    compare.hidden = done < parts.length;
    words.textContent = joined(
      phrase("{done} of {all} parts done.", { done, all: parts.length }),
      again && phrase("{again} to check again, since something above has changed.", { again }),
      unwritten.length && phrase("Not written yet, so not checked: {parts}.", { parts: list.format(unwritten) }),
      stored.isComplete
        ? phrase("Your answers stay in this browser and are sent nowhere.")
        : phrase("This browser keeps nothing for this site: download the notebook before you leave the page."),
    );
    const marks = { done: phrase(" – done"), again: phrase(" – check again") };
    for (const [number, { title, mark }] of parts.entries()) {
      title.classList.toggle("part-done", states[number] === "done");
      title.classList.toggle("part-again", states[number] === "again");
      mark.textContent = marks[states[number]] ?? "";
    }
  }

  function addPart(part, number) {
    const { heading } = part;
    const stub = text(part.cell);
    const onEdit = () => {
      const source = part.editor.code;
      const answer = saved(part);
      if (source !== stub || answer) save(part, { ...answer, source });
      progress();
    };
    const onRun = (moveOn) => {
      check(part);
      if (moveOn) parts[number + 1]?.editor.focus();
    };
    part.mark = made("span");
    part.title = made("h3", { id: `answer-${part.key}` }, heading, part.mark);
    part.printed = [];
    part.hintBox = outputPlace();
    const cell = editable(
      saved(part)?.source ?? stub,
      phrase("Your answer to {heading}", { heading }),
      onRun,
      onEdit,
      button(phrase("Check"), () => check(part), phrase("Check {heading}", { heading })),
      addButton(part.check, heading),
    );
    Object.assign(part, cell).box.append(part.hintBox);
    home.append(made("section", {}, part.title, markdown(part.text), part.box), slots[number + 1].place);
  }

  // ---- the reader's own cells

  let own = []; // {after, cell}, with box, shown and editor if it is code, or {replaces, cell} of a text
  // Places for own cells: below what is given, and below each part.
  const slots = [phrase("what is given"), ...parts.slice(0, -1).map(({ heading }) => heading), phrase("all parts")]
    .map((above) => ({ above, place: made("div") }));

  // The cells as they are saved and downloaded.
  const ownCells = () =>
    own
      .map(({ after, replaces, cell, editor: view }) => ({ after, replaces, cell: view ? { ...cell, source: view.code } : cell }))
      .filter(({ cell }) => text(cell).trim());

  // Return the place of own cells that follow a cell of the notebook, and the name of what is above.
  function slotOf(after) {
    const at = released.cells.findIndex(({ id }) => id === after);
    if (at <= released.cells.indexOf(given.at(-1))) return slots[0];
    return slots[Math.min(1 + released.cells.slice(0, at).filter(isCheck).length, parts.length)];
  }

  function showOwn(record) {
    if (record.cell.cell_type !== "code") return record;
    const { place: slot, above } = slotOf(record.after);
    const onRun = () => runOwn(record);
    const run = button(phrase("Run"), onRun, phrase("Run your own cell below {place}", { place: above }));
    const label = phrase("Your own cell below {place}", { place: above });
    Object.assign(record, editable(text(record.cell), label, onRun, keepOwn, run));
    record.box.classList.add("own-cell");
    slot.append(record.box);
    return record;
  }

  function addOwn(after) {
    const cell = { cell_type: "code", id: newId(), metadata: {}, source: "", outputs: [], execution_count: null };
    own.push(showOwn({ after, cell }));
    return own.at(-1).editor;
  }

  const addButton = (after, above) =>
    button(phrase("Add a cell"), () => addOwn(after).focus(), phrase("Add a cell of your own below {place}", { place: above }));

  // Show these cells instead of the present ones, but keep the editors, and outputs, of cells with the same id.
  function loadOwn(list) {
    const before = own;
    own = list.map((record) => {
      const same = before.find(({ cell, editor: view }) => view && cell.id === record.cell.id);
      if (!same) return showOwn(record);
      same.editor.code = text(record.cell);
      return same;
    });
    for (const one of before) if (!own.includes(one)) one.box?.remove();
    if (!slots.at(-1).place.children.length) addOwn(lastCheck);
    for (const { id, field } of fields) field.value = text(own.find(({ replaces }) => replaces === id)?.cell ?? { source: "" });
    progress();
  }

  function keepOwn() {
    const cells = ownCells();
    stored.set(OWN_CELLS, cells.length ? cells : null);
    progress();
  }

  // ---- files

  function download() {
    const blob = new Blob([`${JSON.stringify(book(), null, 1)}\n`], { type: "application/x-ipynb+json" });
    const link = made("a", { href: URL.createObjectURL(blob), download: `${name}.ipynb` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 0);
  }

  async function load(file) {
    let found;
    try {
      found = answersIn(JSON.parse(await file.text()), released);
    } catch (reason) {
      return bar.say(phrase("{file} can’t be read as a notebook ({reason}). Nothing was changed.", { file: file.name, reason: reason.message }));
    }
    if (!found.answers.size) {
      return bar.say(phrase("{file} contains no part of this exercise. Nothing was changed.", { file: file.name }));
    }
    for (const part of parts) {
      const source = found.answers.get(part.solution) ?? part.editor.code;
      part.editor.code = source;
      if (source !== text(part.cell) || saved(part)) save(part, { ...saved(part), source });
    }
    loadOwn(found.own);
    keepOwn();
    const count = own.filter((one) => one.editor && one.editor.code.trim()).length;
    const kept = count === 1
      ? phrase("Its 1 cell of your own runs with the others and goes into the download.")
      : phrase("Its {count} cells of your own run with the others and go into the download.", { count });
    const read = { file: file.name, number: found.answers.size, all: parts.length };
    return bar.say(joined(phrase("{file} was opened: {number} of {all} parts.", read), count && kept));
  }

  const picker = made("input", { type: "file", accept: ".ipynb", hidden: true });
  picker.onchange = () => {
    load(picker.files[0]);
    picker.value = ""; // so that the same file can be opened again
  };

  // ---- the closing section: a question to think about, and what to do next

  const fields = []; // {id, field} of the texts that the reader writes
  const compared = outputPlace();
  const compare = button(phrase("Compare your answer"), () =>
    runLine("check.thoughts()", below, compared, phrase("You can compare it below your answer.")));

  function addClosing() {
    let heading = "";
    for (const cell of closing) {
      const source = text(cell).trim();
      if (/^\*[^*]+\*$/.test(source)) {
        const field = made("textarea", { rows: 6, className: "own-words", placeholder: source.slice(1, -1), ariaLabel: phrase("Your answer to {heading}", { heading }) });
        field.addEventListener("input", () => {
          own = own.filter(({ replaces }) => replaces !== cell.id);
          own.push({ replaces: cell.id, cell: { cell_type: "markdown", source: field.value } });
          keepOwn();
        });
        fields.push({ id: cell.id, field });
        below.append(field, compare, compared);
        continue;
      }
      const [title, first, ...paragraphs] = source.split(/\n\s*\n/);
      // The first paragraph of the last section is about kernels and JupyterLab.
      const next = phrase("A check on this page sees all that stands above it, so there is nothing to restart. **Check all** checks every part again. If somebody collects the notebook, download it and hand it in as `{file}`.", { file: `${name}.ipynb` });
      const isLast = cell === closing.at(-1);
      const section = split([title, isLast ? next : first, ...paragraphs].join("\n\n"));
      heading = section.heading;
      below.append(made("h3", { textContent: heading }), markdown(section.text));
    }
  }

  // ---- the page

  const words = made("p", { className: "answers-done", role: "status" });
  const start = made("pre", { innerHTML: highlighted(text(given[0])) });
  const toBegin = phrase("In each part, put your code in the place of the two lines `# YOUR CODE HERE` and `raise NotImplementedError`, then press **Check**. It compares a few published cases, and tells you in words what it found. Grading calls the same functions with those cases and with others that are not shown here.");
  const about = opening.map(text).filter((source) => !source.startsWith("# "));
  const [, ...rules] = about.flatMap((source) => source.split(/\n\s*\n/));
  home.append(
    words,
    made(
      "p",
      { className: "answers-files" },
      button(phrase("Download {file}", { file: `${name}.ipynb` }), download),
      button(phrase("Open a notebook …"), () => picker.click()),
      button(phrase("Check all"), checkAll),
      picker,
    ),
    markdown([toBegin, ...rules].join("\n\n")),
    made("p", { textContent: phrase("Given for all parts:") }),
    made("div", { className: "cell" }, codeBox(start)),
    slots[0].place,
  );
  parts.forEach(addPart);
  below.append(
    made(
      "section",
      {},
      made("h3", { textContent: phrase("A cell of your own") }),
      made("p", { textContent: phrase("Try your functions here. The cell sees all that stands above it. It is kept like your answers, and is in the notebook that you download.") }),
      slots.at(-1).place,
      made("p", { className: "answers-files" }, addButton(lastCheck, phrase("all parts"))),
    ),
  );
  addClosing();
  loadOwn(stored.get(OWN_CELLS) ?? []);
  window.addEventListener("beforeunload", (event) => {
    if (!stored.isComplete) event.preventDefault();
  });
  return parts[0].editor;
}
