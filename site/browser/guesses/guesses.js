// @ts-check
// Asks for guesses, saves them in this browser, and says at the answer how far off they were.
(() => {
  const { page } = document.currentScript.dataset;
  const START = "roofline-guess:";
  const read = (key) => stored.get(START + key);
  const write = (key, value) => stored.set(START + key, value);

  // ---- how far off a guess is

  // Split a text into its number and unit. A comma before three digits separates thousands, as in
  // 12,000; any other comma is a decimal point. Chinese keyboards also write digits and signs in full width, and
  // a full stop as a circle.
  const narrow = (text) =>
    text.replace(/[！-～]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) - 0xfee0)).replace("。", ".");
  const NUMBER = /^\s*(\d+(?:\.\d+)?(?:e[+-]?\d+)?|\.\d+)\s*(.*?)\s*$/i;
  const parts = (text) => {
    const plain = narrow(text).replace(/(\d)[,\s](?=\d{3}(?!\d))/g, "$1").replace(/(\d),(?=\d)/, "$1.");
    const found = NUMBER.exec(plain);
    return found ? { value: Number(found[1]), unit: found[2] } : { value: NaN, unit: text.trim() };
  };
  const number = (text) => parts(text).value;
  const unit = (text) => parts(text).unit;
  const CLOSE = 1.05;
  const few = (value) =>
    value >= 100 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(2)));

  // Return {right} for a choice, {points} for shares from 5%, {factor} for other numbers, or {right}
  // if the guess or the answer is 0.
  function compare(kind, guess, right) {
    if (kind === "choice") return { right: guess === right };
    const [mine, true_] = [number(guess), number(right)];
    // Three times a small share may be only one point away, but is still far off.
    const isSmall = true_ && mine && true_ < 5;
    if (unit(right).startsWith("%") && !isSmall) return { points: Math.abs(mine - true_) };
    if (!true_ || !mine) return { right: mine === true_ };
    return { factor: Math.max(mine / true_, true_ / mine) };
  }

  // Whether feedback says of this result of `compare` no distance from the answer.
  const isRight = (result) => Boolean(result.right) || result.points < 0.5 || result.factor < CLOSE;

  function feedback(kind, guess, right) {
    const result = compare(kind, guess, right);
    if (kind === "choice") {
      return result.right ? phrase("Your guess was “{guess}”, and so it is.", { guess }) : phrase("Your guess was “{guess}”. It is “{right}”.", { guess, right });
    }
    // "1 times" would be wrong, so a guessed number of times stands alone.
    const after = /^times\b/.test(unit(right)) ? "" : unit(right);
    const said = { guess: guess + (after.startsWith("%") ? "%" : ` ${after}`.trimEnd()), right };
    if (result.points !== undefined && !isRight(result)) {
      return phrase("Your guess was {guess}, and it is {right}: {points} points away.", { ...said, points: few(result.points) });
    }
    if (result.factor === undefined || isRight(result)) {
      return phrase("Your guess was {guess}, and it is {right}.", said);
    }
    const factor = few(result.factor);
    return number(guess) > number(right)
      ? phrase("Your guess was {guess}, and it is {right}: your guess is {factor} times as large.", { ...said, factor })
      : phrase("Your guess was {guess}, and it is {right}: that is {factor} times as large as your guess.", { ...said, factor });
  }

  // ---- asking

  // Return a form that calls onGuess(guess, problem), where the guess is "" if the entry is invalid. `what` names
  // what to guess, if the box asks for several things. A question to work out (`isQuestion`), unlike a guess,
  // has a folded answer.
  function form({ name, kind }, what, right, choices, isQuestion, onGuess) {
    const { guess } = read(`${page}:${name}`) ?? {};
    const box = made("form", { className: "guess", name });
    const keep = made("button", { textContent: isQuestion ? phrase("Keep my answer") : phrase("Keep my guess") });
    let entered; // returns the guess
    let problem = phrase("Choose one.");
    if (kind === "number") {
      const field = made("input", { type: "text", inputMode: "decimal", size: 8, value: guess ?? "", autocomplete: "off" });
      const after = unit(right);
      const asked = what || phrase("Your guess");
      field.setAttribute("aria-label", after ? phrase("{asked}, in {unit}", { asked, unit: after }) : asked);
      if (what) box.append(made("span", { textContent: phrase("{what}:", { what }) }));
      box.append(made("span", { className: "guess-field" }, field, made("span", { textContent: after })), keep);
      entered = () => {
        const text = field.value.trim();
        const { value, unit: written } = parts(text);
        // Only the unit may follow the number.
        const isUnit = written === after || (written === "%" && after.startsWith("%"));
        if (Number.isNaN(value) || (written && !isUnit)) return "";
        return text.slice(0, text.length - written.length).trim();
      };
      problem = phrase("Write a number, such as 12, 0.5 or 1e9.");
    } else {
      const controls = choices.map((choice) => made("input", { type: "radio", name, value: choice, checked: choice === guess }));
      const labels = controls.map((control) => made("label", {}, control, ` ${control.value}`));
      box.append(made("fieldset", {}, made("legend", { textContent: what || phrase("Your guess") }), ...labels), keep);
      entered = () => controls.find(({ checked }) => checked)?.value;
    }
    box.onsubmit = (event) => {
      event.preventDefault();
      onGuess(entered(), problem);
    };
    return box;
  }

  // ---- covering the answer

  // Between a box and its answer, and in the paragraph after it, lies what gives the answer away. It is
  // covered until the reader answers or skips the guess. The browser’s search finds covered text, and
  // links into it open it.
  const covers = new Map(); // box → what it covers

  function cover(box, name) {
    const button = (textContent) => made("button", { type: "button", textContent });
    const skip = button(phrase("Skip the guess"));
    const always = button(phrase("Show all answers"));
    const one = {
      key: `skipped:${page}:${name}`,
      guesses: [],
      notes: [],
      part: made("div", { className: "guess-covered", tabIndex: -1 }),
      bar: made("p", { className: "guess-skip" }, skip, always),
    };
    one.part.addEventListener("beforematch", () => open(one));
    skip.onclick = () => {
      write(one.key, true);
      open(one);
      one.part.focus({ preventScroll: true });
    };
    always.onclick = () => {
      showAll(true);
      one.part.focus({ preventScroll: true });
    };
    box.append(one.bar);
    box.after(one.part);
    covers.set(box, one);
    return one;
  }

  // Cover all up to an element.
  function extend({ part }, last) {
    while (part.nextSibling && !part.contains(last)) part.append(part.nextSibling);
  }

  function close({ part, bar }) {
    part.setAttribute("hidden", "until-found");
    bar.hidden = false;
  }

  function open({ part, bar }) {
    part.removeAttribute("hidden");
    bar.hidden = true;
  }

  const isOpen = ({ part }) => !part.hasAttribute("hidden");
  const isDone = ({ key, guesses }) => Boolean(read(OPEN) || read(key)) || guesses.every((guess) => read(guess));

  // Open the covers over an element; return whether there were any.
  function uncover(target) {
    const over = [...covers.values()].filter((one) => !isOpen(one) && one.part.contains(target));
    over.forEach(open);
    return over.length > 0;
  }

  function followAddress() {
    let target;
    try {
      target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    } catch {
      return; // not a valid address
    }
    if (target && uncover(target)) target.scrollIntoView();
  }

  // ---- all answers at once

  const OPEN = "open"; // whether the reader wants to see all answers, on all pages
  const turn = made("input", { type: "checkbox" });
  turn.setAttribute("role", "switch");
  turn.addEventListener("change", () => showAll(turn.checked));
  const sections = document.querySelector(".bd-toc-nav");
  sections?.append(made("label", { className: "guess-switch" }, turn, ` ${phrase("Show all answers")}`));

  // The answers that are folded: those of questions, and what cells print (but for those with the tag no-answer).
  const folds = () =>
    document.querySelectorAll(".bd-article :is(.answer + details, .cell:not(.tag_no-answer) > details.hide:not(.above-input))");

  function showAll(isOn) {
    write(OPEN, isOn);
    if (!isOn) for (const fold of folds()) fold.open = false;
    showPage();
  }

  // Cover the answers that the reader has not opened.
  function showPage() {
    turn.checked = Boolean(read(OPEN));
    for (const one of covers.values()) {
      if (isDone(one)) open(one);
      else close(one);
    }
    if (turn.checked) for (const fold of folds()) fold.open = true;
  }

  // ---- the page

  for (const place of document.querySelectorAll(".bd-article .answer")) {
    const { name, kind } = place.dataset;
    const part = (what) => [...place.querySelectorAll(`.${what}`)].map((one) => one.textContent.trim());
    const choices = part("choice");
    const right = kind === "choice" ? choices[Number(place.dataset.place)] : part("right")[0];
    const folded = place.nextElementSibling?.matches("details") ? place.nextElementSibling : null;
    const isBefore = (one) => one.compareDocumentPosition(place) & Node.DOCUMENT_POSITION_FOLLOWING;
    const boxes = [...place.closest("section").querySelectorAll(":scope > .admonition.tip")];
    const box = folded ? null : boxes.filter(isBefore).at(-1);
    const note = made("p", { className: "guess-note" });
    note.setAttribute("role", "status");
    const said = made("p", { className: "guess-told" });
    const key = `${page}:${name}`;
    let covered;
    const show = () => {
      const told = read(key);
      said.hidden = !told;
      if (told) said.textContent = feedback(kind, told.guess, right);
    };
    const ask = form(place.dataset, part("ask")[0], right, choices, Boolean(folded), (guess, problem) => {
      if (!guess) {
        note.textContent = problem;
        return;
      }
      write(key, { kind, guess, right });
      show();
      const isMissing = covered && !isDone(covered);
      if (folded && !folded.open) note.textContent = phrase("Kept. Now unfold the answer.");
      else if (isMissing) note.textContent = phrase("Kept. Answer the others too.");
      else if (isRight(compare(kind, guess, right))) note.textContent = phrase("That is right.");
      else note.textContent = phrase("Kept. Read on to see how far off it is.");
      // Reading goes on at what was covered or unfolded.
      if (covered && !isMissing) {
        for (const other of covered.notes) if (other !== note) other.textContent = "";
        open(covered);
        covered.part.focus({ preventScroll: true });
      } else if (folded?.open) folded.querySelector("summary").focus({ preventScroll: true });
    });
    if (box) {
      covered = covers.get(box) ?? cover(box, name);
      covered.bar.before(ask, note);
      covered.guesses.push(key);
      covered.notes.push(note);
      extend(covered, place);
    } else place.before(ask, note);
    if (folded) folded.querySelector(".sd-summary-content").prepend(said);
    else place.after(said);
    show();
  }

  for (const one of covers.values()) {
    const after = one.part.nextElementSibling;
    if (after?.matches("p:not(.guess-told)")) extend(one, after);
  }
  showPage();
  followAddress();
  addEventListener("hashchange", followAddress);
  // A search of the site marks its words in the page shortly after loading it.
  new MutationObserver((changes) => {
    for (const node of changes.flatMap(({ addedNodes }) => [...addedNodes])) {
      if (node instanceof HTMLElement && node.matches(".highlighted")) uncover(node);
    }
  }).observe(document.querySelector(".bd-article"), { childList: true, subtree: true });

  // ---- all chapters together

  const summary = document.querySelector(".guesses");
  const guesses = stored.keys(START).map(stored.get).filter((one) => one?.guess);
  if (!summary || !guesses.length) return;
  const results = guesses.map(({ kind, guess, right }) => compare(kind, guess, right));
  const mean = (all) => all.reduce((sum, one) => sum + one, 0) / all.length;
  const factors = results.filter(({ factor }) => factor).map(({ factor }) => Math.log(factor));
  const points = results.filter((one) => one.points !== undefined).map((one) => one.points);
  const told = [phrase("Your guesses in this browser: {all}. Right: {right}.", { all: results.length, right: results.filter(isRight).length })];
  if (factors.length) told.push(phrase("On average, numbers were off by a factor of {factor}.", { factor: few(Math.exp(mean(factors))) }));
  if (points.length) told.push(phrase("On average, shares were off by {points} points.", { points: few(mean(points)) }));
  summary.append(...told.map((textContent) => made("p", { textContent })));
  summary.hidden = false;
})();
