// @ts-check
// A cell's outputs, styled like those of the built pages.

import { element } from "./panel.js";

export const made = element; // panel.js imports it from here once the old pages are gone

const isPlain = (kind) => ["stdout", "stderr", "plain", "error"].includes(kind);

const changed = () => phrase("Changed. Text without a mark speaks of the printed output");
const asPrinted = () => phrase("As printed. It need not hold with your changes.");
const CLOSE = 0.5; // points between two drawings of the same figure by different builds of Python

// Compare texts without spaces: those of tables and streams differ from the built page's.
const letters = (texts) => texts.join("").replace(/\s+/g, "");

// Return "same" for drawings with the same texts and lines, "close" if only numbers differ, or "other".
function likenessOf(svg, other) {
  // Compare sorted texts without spaces: versions of Matplotlib split a formula into different pieces.
  const texts = (one) =>
    [...one.querySelectorAll("text")].map(({ textContent }) => letters([textContent])).sort().join("|");
  const numbers = (one) =>
    [...one.querySelectorAll("path, use")].flatMap((part) =>
      ["d", "x", "y"].flatMap((name) => part.getAttribute(name)?.match(/-?\d+(\.\d+)?/g) ?? []),
    ).map(Number);
  const [mine, theirs] = [numbers(svg), numbers(other)];
  if (texts(svg) !== texts(other)) return "other";
  const isNear = (number, place) => Math.abs(number - theirs[place]) < CLOSE;
  return mine.length === theirs.length && mine.every(isNear) ? "same" : "close";
}

export function outputElement({ kind, text }) {
  if (isPlain(kind)) {
    const pre = element("pre", { textContent: text });
    const box = element("div", { className: "highlight" }, pre);
    return element("div", { className: `output text_plain given-${kind}` }, box);
  }
  const place = element("div", { className: "output given-html" });
  place.innerHTML = text;
  return place;
}

// Return an object that shows new outputs of a cell and restores the built ones.
export function outputs(cell) {
  let place = cell.querySelector(".cell_output");
  const hadOutputs = Boolean(place);
  if (!place) {
    place = element("div", { className: "cell_output docutils container" });
    cell.append(place);
  }
  const built = [...place.childNodes];
  // A figure keeps its caption, whose values are updated too.
  const figures = [...place.querySelectorAll("svg.figure")].map((svg) => ({
    svg,
    frame: [...place.children].find((e) => e.contains(svg)),
  }));
  const drawn = figures.map(({ svg }) => svg);
  // Captions without values, which prose_blocks.js does not know, and the note of each.
  const captions = figures.map(({ frame }) => {
    const caption = frame.querySelector("figcaption");
    return caption?.querySelector(".computed, .premise") ? null : caption;
  });
  const notes = captions.map(() => {
    const made = element("span", { className: "as-printed", textContent: asPrinted() });
    made.setAttribute("role", "note");
    return made;
  });
  const note = element("p", { className: "as-printed" });
  const kept = element("details", { className: "as-printed" });

  // The built outputs; of a figure, only the picture, since its frame shows the new one.
  const printed = () =>
    built.map((node) => figures.find(({ frame }) => frame === node)?.svg ?? node);
  function clear() {
    for (const one of [note, ...notes]) one.remove();
    kept.remove();
  }

  function put(index, svg) {
    drawn[index].replaceWith(svg);
    drawn[index] = svg;
  }
  return {
    // Compare outputs with the built ones; return "same", "close" or "other", as likenessOf() does.
    likeness(given) {
      const texts = built.map((node) => {
        const copy = /** @type {HTMLElement} */ (node.cloneNode(true));
        copy.querySelectorAll?.("svg.figure, figcaption, button").forEach((part) => part.remove());
        return copy.textContent;
      });
      const others = given.filter(({ kind }) => kind !== "svg");
      const now = others.map((output) => outputElement(output).textContent);
      const svgs = given.filter(({ kind }) => kind === "svg").map(({ text }) => {
        const holder = element("div");
        holder.innerHTML = text;
        return holder.firstElementChild;
      });
      if (letters(now) !== letters(texts) || svgs.length !== figures.length) return "other";
      const found = svgs.map((svg, index) => likenessOf(svg, figures[index].svg));
      return ["other", "close"].find((likeness) => found.includes(likeness)) ?? "same";
    },
    clear,
    // The number of captions that say that they stay as printed.
    get printed() {
      return notes.filter((one) => one.isConnected).length;
    },
    // Show a note below the outputs.
    say(text) {
      clear();
      note.textContent = text;
      cell.append(note);
    },
    // Show new outputs, and the built ones folded below them.
    show(given) {
      let next = 0;
      clear();
      const parts = given.map((output) => {
        if (output.kind !== "svg") return outputElement(output);
        const holder = element("div");
        holder.innerHTML = output.text;
        const svg = holder.firstElementChild;
        const index = next++;
        // The text alternative still describes the built figure: say so.
        const name = figures[index]?.svg.getAttribute("aria-label") ?? svg.getAttribute("aria-label");
        svg.setAttribute("aria-label", phrase("Drawn with your changes. The printed figure: {name}", { name }));
        const frame = figures[index]?.frame;
        if (!frame) return svg;
        if (likenessOf(svg, figures[index].svg) !== "same") captions[index]?.append(notes[index]);
        put(index, svg);
        return frame;
      });
      place.replaceChildren(...parts);
      kept.replaceChildren(element("summary", { textContent: changed() }), ...printed());
      if (hadOutputs) cell.append(kept);
    },
    restore() {
      clear();
      figures.forEach(({ svg }, index) => put(index, svg));
      place.replaceChildren(...built);
    },
  };
}
