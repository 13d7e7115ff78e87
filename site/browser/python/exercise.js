// @ts-check
// An exercise on its page: for each part the question, an editor for the answer, and the check.
// Questions and checks come from the released notebook.

import { editor, highlighted } from "./editor.js";
import {
  answersIn,
  closingOf,
  completed,
  givenOf,
  gradeId,
  isCheck,
  newId,
  openingOf,
  partOf,
  partsOf,
  text,
} from "./exercise_notebook.js";
import { asHtml, split } from "./markdown.js";
import { outputElement } from "./outputs.js";
import { CALL_SECONDS, CELL_SECONDS, CHECK_SECONDS, SLOW_SECONDS, errorOutput, runner } from "./exercise_runs.js";
import { joined, panel } from "./panel.js";
import { safeNodes } from "./safe_html.js";

const slow = (seconds) =>
  phrase("This check took {seconds} s. In grading a call gets {call} s of computing: a loop that counts what a formula could give may be stopped there.", { seconds: seconds.toFixed(0), call: CALL_SECONDS });
const notReached = () => phrase("A cell above did not come to an end, so this part was not checked.");

const button = (textContent, onclick, ariaLabel = null) =>
  made("button", { type: "button", textContent, onclick, ariaLabel });

const shownOutput = (output) =>
  ["html", "svg"].includes(output.kind)
    ? made("div", { className: "output given-html" }, ...safeNodes(output.text))
    : outputElement(output);
const show = (place, outputs) => place.replaceChildren(...outputs.map(shownOutput));
const codeBox = (pre, ...more) =>
  made("div", { className: "cell_input" }, made("div", { className: "highlight" }, pre), ...more);
const markdown = (words) => made("div", { innerHTML: asHtml(words) });

// Show the exercise `name` in the element `place`; `notebook` is its released notebook's address,
// `version` that of the page's Python. Returns the editor of the first part.
export async function open({ place, notebook, name, version }) {
  const answer = await fetch(notebook);
  if (!answer.ok) throw new Error(`${notebook}: ${answer.status}`);
  const released = await answer.json();
  const parts = partsOf(released);
  const bar = panel(place);
  const home = made("div", { className: "answers" });
  const below = made("div", { className: "answers-end" });
  bar.place.before(home, below);

  // ---- what this browser keeps: one entry per part, so that two windows with different parts don't
  // overwrite each other's, and the reader's own cells

  const ANSWER = `roofline-answer:${name}:`;
  const OWN_CELLS = `roofline-own-cells:${name}`;
  // {source, passed, with} of a part: its code, the code that last passed the check, and the cells above it
  // then, id → source. null if the part has no answer yet.
  const saved = (part) => stored.get(ANSWER + part.key);
  const save = (part, answer) => stored.set(ANSWER + part.key, answer);

  // Return "done", "again" if a cell above has changed since, or else "". `now` maps the ids of cells to
  // their current code.
  function stateOf(part, now) {
    const answer = saved(part);
    if (!answer || answer.source !== answer.passed) return "";
    const above = Object.entries(answer.with ?? {});
    return above.every(([id, source]) => now.get(id) === source) ? "done" : "again";
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

  const enqueue = runner(bar);
  const idOf = (cell) => gradeId(cell) ?? cell.id;

  // Return the steps down to this cell, without the checks of other parts. Python runs again from the
  // first one that has changed: the same cell always gives the same step.
  function stepsTo(id) {
    const cells = book().cells.filter((cell) => cell.cell_type === "code" && gradeId(cell) !== "opening");
    return cells
      .slice(0, 1 + cells.findIndex((cell) => idOf(cell) === id))
      .filter((cell) => !isCheck(cell) || idOf(cell) === id)
      .map((cell) => ({
        id: idOf(cell),
        code: text(cell),
        alt: phrase("A figure of your own"),
        seconds: isCheck(cell) ? CHECK_SECONDS : CELL_SECONDS,
        continueOnError: true,
      }));
  }

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

  // Return what to show below an answer, from the results of its check's steps.
  function outputsOf(part, results) {
    const [answer, found] = [results.get(part.solution), results.get(part.key)];
    if (answer?.failed) return answer.outputs;
    if (!found) return [errorOutput(notReached())];
    const isSlow = !found.failed && found.seconds > SLOW_SECONDS;
    return [...part.printed, ...found.outputs, ...(isSlow ? [errorOutput(slow(found.seconds))] : [])];
  }

  function check(part) {
    let mine; // as the check begins: the reader may edit and delete cells while it runs
    const steps = () => {
      mine = sources();
      return stepsTo(part.key);
    };
    enqueue(part.key, part.box, steps, (results, ran) => {
      showCells(results);
      show(part.shown, outputsOf(part, results));
      // The page has buttons for what a check's report offers to run.
      const offers = [...part.shown.querySelectorAll("[data-run^='check.hint'], [data-run='check.thoughts()']")];
      for (const offer of offers) offer.remove();
      const hasReport = part.shown.querySelector(".check-report"); // not of a check that was stopped
      if (hasReport) part.hint.hidden = !offers.some(({ dataset }) => dataset.run === part.hintCode);
      show(part.hintBox, []);
      const passed = !results.get(part.solution)?.failed && results.get(part.key)?.failed === false;
      const above = ran.filter(({ id }) => mine.has(id) && id !== part.solution).map(({ id, code }) => [id, code]);
      const answer = passed ? mine.get(part.solution) : null;
      save(part, { source: part.editor.code, passed: answer, with: Object.fromEntries(above) });
      progress();
      return passed ? phrase("The check passed.") : phrase("The check found something: see below the answer.");
    });
  }

  // Check what has been written; from then on, name the parts that have not.
  let namesUnwritten = false;
  const isWritten = (part) => part.editor.code.trim() !== text(part.cell).trim();
  function checkAll() {
    namesUnwritten = true;
    progress();
    parts.filter(isWritten).forEach(check);
  }

  const runOwn = ({ cell, box }) =>
    enqueue(cell.id, box, () => stepsTo(cell.id), (results) => {
      showCells(results);
      return results.get(cell.id)?.failed ? phrase("The cell ended with an error.") : phrase("Done.");
    });

  // Run a line of code below what is given. This runs none of the reader's code, which might never end.
  function runLine(line, box, shown, said) {
    const given = givenOf(released).map(idOf);
    const above = () => stepsTo(given.at(-1)).filter(({ id }) => given.includes(id));
    enqueue(line, box, () => [...above(), { id: line, code: line, seconds: CELL_SECONDS }], (results) => {
      show(shown, results.get(line)?.outputs ?? []);
      return said;
    });
  }

  // ---- answers

  // The current code of each cell that the reader can edit, by its id.
  const answers = () => parts.map((part) => /** @type {const} */ ([part.solution, part.editor.code]));
  const sources = () =>
    new Map([...answers(), ...own.filter((one) => one.editor).map((one) => /** @type {const} */ ([one.cell.id, one.editor.code]))]);
  const book = () => completed(released, new Map(answers()), ownCells());

  function progress() {
    const now = sources();
    const states = parts.map((part) => stateOf(part, now));
    const unwritten = namesUnwritten ? parts.filter((part) => !isWritten(part)).map(({ name }) => name) : [];
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
    for (const [number, { heading, mark }] of parts.entries()) {
      heading.classList.toggle("part-done", states[number] === "done");
      heading.classList.toggle("part-again", states[number] === "again");
      mark.textContent = marks[states[number]] ?? "";
    }
  }

  function addPart(part) {
    const { heading, text: question } = split(part.question);
    const stub = text(part.cell);
    const pre = made("pre");
    const onEdit = () => {
      const source = part.editor.code;
      const answer = saved(part);
      if (source !== stub || answer) save(part, { ...answer, source });
      progress();
    };
    const onRun = (moveOn) => {
      check(part);
      if (moveOn) parts[parts.indexOf(part) + 1]?.editor.focus();
    };
    const askHint = () => runLine(part.hintCode, part.box, part.hintBox, phrase("The hint stands below the answer."));
    part.name = heading;
    part.mark = made("span");
    part.heading = made("h3", { id: `answer-${part.key}` }, heading, part.mark);
    part.printed = [];
    part.shown = made("div", { className: "cell_output" });
    part.hintBox = made("div", { className: "cell_output" });
    part.hintCode = `check.hint("${part.key}")`;
    part.hint = button(phrase("Stronger hint"), askHint, phrase("Stronger hint for {heading}", { heading }));
    part.hint.hidden = true;
    part.slot = made("div");
    const runBar = made(
      "div",
      { className: "run-bar" },
      button(phrase("Check"), () => check(part), phrase("Check {heading}", { heading })),
      addButton(part.check, heading),
      part.hint,
    );
    part.box = made("div", { className: "cell" }, codeBox(pre, runBar), part.shown, part.hintBox);
    const source = saved(part)?.source ?? stub;
    part.editor = editor(pre, source, phrase("Your answer to {heading}", { heading }), onRun, onEdit);
    home.append(made("section", {}, part.heading, markdown(question), part.box), part.slot);
  }

  // ---- the reader's own cells

  let own = []; // {after, cell, editor, box, shown}, or {after, cell} and {replaces, cell} of texts
  let isLoading = false;
  const slots = { start: made("div"), end: made("div") };
  const lastCheck = parts.at(-1).check;

  // The cells as they are saved and downloaded.
  const ownCells = () =>
    own
      .map(({ after, replaces, cell, editor: view }) => ({ after, replaces, cell: view ? { ...cell, source: view.code } : cell }))
      .filter(({ cell }) => text(cell).trim());

  // Return the element for own cells that follow a cell of the notebook, and the name of what is above.
  function slotOf(after) {
    const number = partOf(released, after);
    const part = parts[number];
    if (part && after !== lastCheck) return part;
    return number < 0
      ? { slot: slots.start, name: phrase("what is given") }
      : { slot: slots.end, name: phrase("all parts") };
  }

  function showOwn(record) {
    if (record.cell.cell_type !== "code") return record;
    const { slot, name: above } = slotOf(record.after);
    const pre = made("pre");
    const onRun = () => runOwn(record);
    const run = button(phrase("Run"), onRun, phrase("Run your own cell below {place}", { place: above }));
    record.shown = made("div", { className: "cell_output" });
    record.box = made("div", { className: "cell own-cell" }, codeBox(pre, made("div", { className: "run-bar" }, run)), record.shown);
    slot.append(record.box);
    record.editor = editor(pre, text(record.cell), phrase("Your own cell below {place}", { place: above }), onRun, keepOwn);
    return record;
  }

  function addOwn(after) {
    const cell = { cell_type: "code", id: newId(), metadata: {}, source: "", outputs: [], execution_count: null };
    const record = showOwn({ after, cell });
    own.push(record);
    return record.editor;
  }

  const addButton = (after, above) =>
    button(phrase("Add a cell"), () => addOwn(after).focus(), phrase("Add a cell of your own below {place}", { place: above }));

  // Show these cells instead of the present ones, but keep the editors, and outputs, of cells with the same id.
  function loadOwn(list) {
    const before = own;
    isLoading = true;
    own = list.map((record) => {
      const same = before.find(({ cell, editor: view }) => view && cell.id === record.cell.id);
      if (!same) return showOwn(record);
      same.editor.code = text(record.cell);
      return same;
    });
    for (const one of before) if (!own.includes(one)) one.box?.remove();
    if (!slots.end.children.length) addOwn(lastCheck);
    for (const { id, field } of fields) field.value = text(own.find(({ replaces }) => replaces === id)?.cell ?? { source: "" });
    isLoading = false;
    progress();
  }

  function keepOwn() {
    if (isLoading) return;
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
    for (const part of parts) part.editor.code = found.answers.get(part.solution) ?? part.editor.code;
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
  const compared = made("div", { className: "cell_output" });
  const compare = button(phrase("Compare your answer"), () =>
    runLine("check.thoughts()", below, compared, phrase("You can compare it below your answer.")));

  function addClosing() {
    let heading = "";
    for (const cell of closingOf(released)) {
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
      const isLast = cell === closingOf(released).at(-1);
      const closing = split([title, isLast ? next : first, ...paragraphs].join("\n\n"));
      heading = closing.heading;
      below.append(made("h3", { textContent: heading }), markdown(closing.text));
    }
  }

  // ---- the page

  const words = made("p", { className: "answers-done", role: "status" });
  const start = made("pre", { innerHTML: highlighted(text(givenOf(released)[0])) });
  const toBegin = phrase("In each part, put your code in the place of the two lines `# YOUR CODE HERE` and `raise NotImplementedError`, then press **Check**. It compares a few published cases, and tells you in words what it found. Grading calls the same functions with those cases and with others that are not shown here.");
  const aboutVersion = phrase("This page runs your code with Python {version}; a check says so where grading may have an older one that cannot read it.", { version });
  const [, ...rules] = openingOf(released).flatMap((source) => source.split(/\n\s*\n/));
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
    markdown([joined(toBegin, aboutVersion), ...rules].join("\n\n")),
    made("p", { textContent: phrase("Given for all parts:") }),
    made("div", { className: "cell" }, codeBox(start)),
    slots.start,
  );
  parts.forEach(addPart);
  below.append(
    made(
      "section",
      {},
      made("h3", { textContent: phrase("A cell of your own") }),
      made("p", { textContent: phrase("Try your functions here. The cell sees all that stands above it. It is kept like your answers, and is in the notebook that you download.") }),
      slots.end,
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
