// @ts-check
// The values in a page's text. After a run, one that has changed stands as “241 → 295”: as built, and
// as computed now. The words around it stay as printed.

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

// Return a value as its element on the page shows it: in Chinese, millions or billions as 万 or 亿. The
// build marks such an element with the power of ten.
function atPlace(text, span) {
  const power = Number(/\bscale-(\d+)/.exec(span.className)?.[1]);
  const number = Number(text.replaceAll(",", ""));
  if (!power || !Number.isFinite(number)) return inLanguage(text);
  const units = Object.entries(window.courseUnits ?? {});
  const [unit, own] = units.find(([, least]) => number * 10 ** power >= 10 ** least) ?? ["", 0];
  const shift = power - own;
  const decimals = text.split(".")[1]?.length ?? 0;
  return `${(number * 10 ** shift).toFixed(Math.max(0, decimals - shift))} ${unit}`.trim();
}

// A place on the page that shows the value of an expression.
export class Value {
  #span;
  #printed; // by Python, when the page was built
  #built; // the same in the page's language

  constructor(span, expression, printed) {
    this.#span = span;
    this.#printed = printed;
    this.#built = span.textContent;
    this.expression = expression;
  }

  // The right answer to a guess is about the page as built.
  get follows() {
    return !this.#span.closest(".answer");
  }

  get isChanged() {
    return this.#span.classList.contains("changed");
  }

  // Show the value as computed now; null if it can't be computed.
  show(now) {
    const text = now === null ? phrase("can’t be computed") : atPlace(now, this.#span);
    this.#set(now === this.#printed ? this.#built : `${this.#built} → ${text}`);
  }

  // Show the value as built. Mark it if it was not computed again, since a cell above it failed.
  restore(isStale = false) {
    this.#set(this.#built, isStale);
  }

  #set(text, isStale = false) {
    this.#span.textContent = text;
    this.#span.classList.toggle("changed", text !== this.#built);
    this.#span.classList.toggle("stale", isStale);
  }
}
