// @ts-check
// Asks for guesses, saves them in this browser, and says at the answer how far off they were.
(() => {
  const { page } = document.currentScript.dataset;
  const START = "roofline-guess:";
  const made = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  // ---- storage

  const unsaved = new Map(); // used if storage is disabled
  function read(key) {
    try {
      return JSON.parse(localStorage.getItem(START + key)) ?? unsaved.get(key);
    } catch {
      return unsaved.get(key);
    }
  }
  function write(key, value) {
    unsaved.set(key, value);
    try {
      if (value === undefined) localStorage.removeItem(START + key);
      else localStorage.setItem(START + key, JSON.stringify(value));
    } catch {
      // Storage is disabled or full: the value is lost when the page closes.
    }
  }

  // ---- how far off

  // Split a text into its number and unit. A comma before three digits separates thousands, as in
  // 12,000; any other comma is a decimal point.
  const NUMBER = /^\s*(\d+(?:\.\d+)?(?:e[+-]?\d+)?|\.\d+)\s*(.*?)\s*$/i;
  const parts = (text) => {
    const plain = text.replace(/(\d)[,\s](?=\d{3}(?!\d))/g, "$1").replace(/(\d),(?=\d)/, "$1.");
    const found = NUMBER.exec(plain);
    return found ? { value: Number(found[1]), unit: found[2] } : { value: NaN, unit: text.trim() };
  };
  const number = (text) => parts(text).value;
  const unit = (text) => parts(text).unit;
  const CLOSE = 1.05;
  const few = (value) =>
    value >= 100 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(2)));

  // Return {right} for a choice or an order, {points} for shares from 5%, {factor} for other numbers.
  function compare(kind, guess, right) {
    if (kind === "choice") return { right: guess === right };
    if (kind === "order") return { right: guess.join(", ") === right };
    const [mine, true_] = [number(guess), number(right)];
    // Three times a small share may be only one point away, but is still far off.
    const isSmall = true_ && mine && true_ < 5;
    if (unit(right).startsWith("%") && !isSmall) return { points: Math.abs(mine - true_) };
    if (!true_ || !mine) return { right: mine === true_ };
    return { factor: Math.max(mine / true_, true_ / mine) };
  }

  function feedback(kind, guess, right) {
    const result = compare(kind, guess, right);
    if (kind === "choice") {
      return result.right ? `Your guess was “${guess}”, and so it is.` : `Your guess was “${guess}”. It is “${right}”.`;
    }
    if (kind === "order") {
      const order = right.split(", ");
      const placed = guess.filter((one, place) => one === order[place]).length;
      if (result.right) return `Your order was right: ${right}.`;
      return `In your order ${placed} of ${order.length} stood in their place. It is: ${right}.`;
    }
    const was = `Your guess was ${guess}${unit(right).startsWith("%") ? "%" : ` ${unit(right)}`.trimEnd()}, and it is ${right}`;
    if (result.points !== undefined) {
      return result.points < 0.5 ? `${was}.` : `${was}: ${few(result.points)} points away.`;
    }
    if (result.factor === undefined || result.factor < CLOSE) return `${was}.`;
    const larger = number(guess) > number(right);
    return `${was}: ${larger ? "your guess is" : "that is"} ${few(result.factor)} times as large${larger ? "" : " as your guess"}.`;
  }

  // ---- asking

  function form({ name, kind, ask: what }, right, choices, onGuess) {
    const { guess } = read(`${page}:${name}`) ?? {};
    const box = made("form", { className: "guess", name });
    if (kind === "number") {
      const field = made("input", { type: "text", inputMode: "decimal", size: 8, value: guess ?? "", autocomplete: "off" });
      const after = unit(right);
      field.setAttribute("aria-label", [what || "Your guess", after].filter(Boolean).join(", in "));
      if (what) box.append(made("span", { textContent: `${what}:` }));
      box.append(field, made("span", { textContent: after }), made("button", { textContent: "Keep my guess" }));
      box.addEventListener("submit", (event) => {
        event.preventDefault();
        const text = field.value.trim();
        const given = parts(text);
        // Only the unit may follow the number.
        const units = [after, after.startsWith("%") ? "%" : ""].filter(Boolean);
        const written = units.includes(given.unit) ? given.unit : "";
        if (Number.isNaN(given.value) || given.unit !== written) {
          return onGuess(null, "Write a number, such as 12, 0.5 or 1e9.");
        }
        onGuess(text.slice(0, text.length - written.length).trim());
      });
      return box;
    }
    box.addEventListener("submit", (event) => event.preventDefault());
    const group = made("fieldset", {}, made("legend", { textContent: what || (kind === "order" ? "Your order" : "Your guess") }));
    box.append(group);
    if (kind === "choice") {
      for (const choice of choices) {
        const radio = made("input", { type: "radio", name, value: choice, checked: choice === guess });
        radio.addEventListener("change", () => onGuess(choice));
        group.append(made("label", {}, radio, ` ${choice}`));
      }
      return box;
    }
    const ranks = choices.map((choice) => {
      const select = made("select");
      select.append(made("option", { value: "", textContent: "–" }));
      choices.forEach((_, place) => select.append(made("option", { value: place, textContent: `${place + 1}` })));
      const at = guess?.indexOf(choice) ?? -1;
      select.value = at < 0 ? "" : at;
      select.addEventListener("change", () => {
        const order = [];
        ranks.forEach(({ value }, number) => value && (order[value] = choices[number]));
        const whole = order.length === choices.length && !order.includes(undefined);
        if (whole) onGuess(order);
        else onGuess(null, "Give each a place of its own.");
      });
      group.append(made("label", {}, select, ` ${choice}`));
      return select;
    });
    return box;
  }

  // ---- the page

  // Save the page's title and questions for the summary.
  function savePage() {
    const heading = document.querySelector(".bd-article h1").cloneNode(true);
    heading.querySelector(".headerlink")?.remove();
    const title = heading.textContent.trim();
    const names = answers.map(({ dataset }) => dataset.name);
    write(`page:${page}`, { title, names, address: location.pathname });
  }

  const asked = new Set();
  const answers = [...document.querySelectorAll(".bd-article .answer")];
  for (const place of answers) {
    const { name, kind, ask: what } = place.dataset;
    const right = place.querySelector(".right").textContent.trim();
    const choices = [...place.querySelectorAll(".choice")].map((one) => one.textContent.trim());
    const isBefore = (one) => one.compareDocumentPosition(place) & Node.DOCUMENT_POSITION_FOLLOWING;
    const section = place.closest("section");
    const boxes = [...section.querySelectorAll(".admonition.tip")].filter(isBefore);
    const box = boxes.at(-1);
    const folded = place.nextElementSibling?.matches("details") ? place.nextElementSibling : null;
    const own = box && (!asked.has(box) || (what && !folded)) ? box : null;
    if (own) asked.add(own);
    const note = made("p", { className: "guess-note" });
    note.setAttribute("role", "status");
    const said = made("p", { className: "guess-told", hidden: true });
    const key = `${page}:${name}`;
    const show = () => {
      const kept = read(key);
      said.hidden = !kept;
      if (kept) said.textContent = feedback(kind, kept.guess, right);
    };
    const ask = form(place.dataset, right, choices, (guess, problem) => {
      note.textContent = problem ?? (folded ? "Kept. Now unfold the answer." : "Kept. Read on to see how far off it is.");
      if (problem) return;
      savePage();
      write(key, { kind, guess, right, seen: false });
      show();
    });
    if (own) own.append(ask, note);
    else place.before(ask, note);
    if (folded) (folded.querySelector(".sd-summary-content") ?? folded).prepend(said);
    else place.after(said);
    show();
    // Once the answer has been seen, the guess counts and can't be changed.
    new IntersectionObserver((seen, observer) => {
      const kept = read(key);
      if (!kept || !seen.some(({ isIntersecting }) => isIntersecting)) return;
      observer.disconnect();
      write(key, { ...kept, seen: true });
      for (const control of ask.elements) control.disabled = true;
    }).observe(said);
    if (read(key)?.seen) for (const control of ask.elements) control.disabled = true;
  }
  // ---- all chapters together

  const summary = document.querySelector(".guesses");
  if (!summary) return;
  const keys = [];
  try {
    keys.push(...Object.keys(localStorage).filter((key) => key.startsWith(START)));
  } catch {
    // Storage is disabled.
  }
  const chapters = keys.map((key) => key.slice(START.length)).filter((key) => key.startsWith("page:"));
  const rows = [];
  for (const chapter of chapters) {
    const { title, names: asks, address } = read(chapter);
    // An older build of the chapter may have had other questions.
    const kept = asks.map((name) => read(`${chapter.slice("page:".length)}:${name}`)).filter(Boolean);
    const results = kept.filter(({ seen }) => seen).map(({ kind, guess, right }) => compare(kind, guess, right));
    if (!results.length) continue;
    const chosen = results.filter(({ right }) => right !== undefined);
    const factors = results.filter(({ factor }) => factor).map(({ factor }) => Math.log(factor));
    const points = results.filter(({ points }) => points !== undefined).map(({ points }) => points);
    const mean = (all) => all.reduce((sum, one) => sum + one, 0) / all.length;
    const off = [];
    if (factors.length) off.push(`a factor of ${few(Math.exp(mean(factors)))}`);
    if (points.length) off.push(`${few(mean(points))} points`);
    rows.push([
      made("a", { href: address, textContent: title }),
      `${results.length} of ${asks.length}`,
      chosen.length ? `${chosen.filter(({ right }) => right).length} of ${chosen.length}` : "–",
      off.join("; ") || "–",
    ]);
  }
  if (!rows.length) return;
  const cell = (tag, content) => made(tag, {}, content);
  const heads = ["Chapter", "Guessed", "Choices right", "Numbers off by, on average"];
  summary.append(
    made("p", { textContent: "Your guesses in this browser, chapter by chapter:" }),
    made(
      "div",
      { className: "pst-scrollable-table-container" },
      made(
        "table",
        { className: "table" },
        made("thead", {}, made("tr", {}, ...heads.map((head) => cell("th", head)))),
        made("tbody", {}, ...rows.map((row) => made("tr", {}, ...row.map((one) => cell("td", one))))),
      ),
    ),
  );
  summary.hidden = false;
})();
