// @ts-check
// The blocks of a page's prose. After a run, kit/roofkit/following.py has decided for each whether it
// follows. If so, it shows the new values, marked. Otherwise it keeps the values as built, and a note
// says so and lists the new values.

import { element } from "./panel.js";

const BLOCK = "p, h1, h2, h3, h4, h5, h6, figcaption, caption, dt, summary, .sd-card-title, li, dd, td, th, div";
const HEADING = "h1, h2, h3, h4, h5, h6";

const premiseFails = () => phrase("As printed. It need not hold with your changes.");
const withChanges = (list) => phrase("As printed. With your changes: {list}.", { list });
const unknown = () => phrase("can’t be computed");
const change = (printed, now) => `${printed} → ${now ?? unknown()}`;

// Return a value from Python in the page's language. Templates from words.js match values with
// words; placeholders are their variable parts. See site/book_extension/languages/value_words.py.
function inLanguage(value) {
  for (const [template, translation] of Object.entries(window.courseValues ?? {})) {
    const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const texts = template.split(/\{\w+\}/).map((text) => text.replace(/[.*+?^$()|[\]\\]/g, "\\$&"));
    const found = new RegExp(`^${texts.join("(.+)")}$`).exec(value);
    if (found) return translation.replace(/\{(\w+)\}/g, (_, name) => inLanguage(found[1 + names.indexOf(name)]));
  }
  return value;
}

const allInLanguage = (values) =>
  Object.fromEntries(Object.entries(values).map(([expression, text]) => [expression, text && inLanguage(text)]));

// Return a value as its element on the page shows it: in Chinese, millions or billions as 万 or 亿.
function atPlace(text, span) {
  const power = Number(/\bscale-(\d+)/.exec(span?.className ?? "")?.[1]);
  const number = Number(text?.replaceAll(",", ""));
  if (!power || !Number.isFinite(number)) return text;
  const units = Object.entries(window.courseUnits ?? {});
  const [unit, own] = units.find(([, least]) => number * 10 ** power >= 10 ** least) ?? ["", 0];
  const shift = power - own;
  const decimals = text.split(".")[1]?.length ?? 0;
  return `${(number * 10 ** shift).toFixed(Math.max(0, decimals - shift))} ${unit}`.trim();
}

// A heading with a value is in the table of contents, too.
function updateContents(heading) {
  const id = heading.closest("section")?.id;
  const link = id && document.querySelector(`.bd-toc-nav a[href="#${CSS.escape(id)}"]`);
  if (!link) return;
  const copy = heading.cloneNode(true);
  copy.querySelectorAll(".headerlink").forEach((mark) => mark.remove());
  link.textContent = copy.textContent;
}

class Block {
  #printed; // expression → text when the page was built
  #shown; // values on the page: [expression, element]
  #built; // element → text when the page was built
  #text; // the element with the block's words
  #note = null;
  changed = 0; // number of values that differ from the built ones

  constructor({ values }, shown) {
    this.#printed = allInLanguage(values);
    this.#shown = shown;
    this.#built = new Map(shown.map(([, span]) => [span, span.textContent]));
    const [[, first]] = shown;
    this.#text = first.parentElement.closest(BLOCK);
  }

  get isPrinted() {
    return this.#note !== null;
  }

  show({ follows, now: values }) {
    const now = allInLanguage(values);
    this.#mark(false);
    this.#setValues(follows ? now : {});
    this.#say(follows ? "" : this.#words(now), Object.keys(now)[0]);
  }

  // Show the values as built. Mark them if they could not be computed again.
  restore(isUncomputed = false) {
    this.#mark(isUncomputed);
    this.#setValues({});
    this.#say("");
  }

  #words(now) {
    const changes = Object.entries(now).map(([expression, text]) => {
      const span = this.#shown.find(([shown]) => shown === expression)?.[1];
      return change(atPlace(this.#printed[expression], span), atPlace(text, span));
    });
    return changes.length ? withChanges([...new Set(changes)].join("; ")) : premiseFails();
  }

  #setValues(now) {
    this.changed = 0;
    for (const [expression, span] of this.#shown) {
      const printed = atPlace(this.#printed[expression], span);
      const changed = atPlace(now[expression], span) ?? printed;
      const isNew = changed !== printed;
      const text = isNew ? changed : this.#built.get(span);
      this.changed += Number(isNew);
      span.textContent = text;
      span.classList.toggle("changed", isNew);
      if (isNew) span.title = phrase("{printed} when the page was built", { printed });
      else span.removeAttribute("title");
    }
    if (this.#text.matches(HEADING)) updateContents(this.#text);
  }

  #mark(isUncomputed) {
    for (const [, span] of this.#shown) span.classList.toggle("stale", isUncomputed);
  }

  #say(words, expression = null) {
    this.#note?.remove();
    this.#note = null;
    if (!words) return;
    const isHeading = this.#text.matches(HEADING);
    this.#note = element(isHeading ? "p" : "span", { className: "as-printed", textContent: words });
    this.#note.setAttribute("role", "note");
    if (isHeading) return this.#text.after(this.#note);
    const span = this.#shown.find(([shown]) => shown === expression)?.[1];
    (span?.closest("td, th") ?? this.#text).append(this.#note);
  }
}

export function blocksOf(article, data) {
  const places = [...article.querySelectorAll(".computed, .premise")].filter(
    (place) => !place.closest(".python-panel, .given-html"),
  );
  const expected = data.reduce((sum, { shown }) => sum + shown.length, 0);
  if (places.length !== expected) {
    throw new Error(`${expected} values expected on this page, ${places.length} found`);
  }
  const blocks = data.map((block) => new Block(block, block.shown.map((expression) => [expression, places.shift()])));
  return {
    show: (numbers, states) => numbers.forEach((number, place) => blocks[number].show(states[place])),
    showUncomputed: (numbers) => numbers.forEach((number) => blocks[number].restore(true)),
    restore: () => blocks.forEach((block) => block.restore()),
    // The number of values that changed, and the number of blocks that stay as built.
    get changed() {
      return blocks.reduce((sum, { changed }) => sum + changed, 0);
    },
    get printed() {
      return blocks.filter(({ isPrinted }) => isPrinted).length;
    },
    get isAsBuilt() {
      return blocks.every(({ changed, isPrinted }) => !changed && !isPrinted);
    },
  };
}
