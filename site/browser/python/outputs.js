// @ts-check
// A cell's outputs, styled like those of the built pages.

import { asHtml } from "./markdown.js";
import { safeNodes } from "./safe_html.js";

export function outputElement({ kind, text }) {
  if (["html", "markdown", "svg"].includes(kind)) {
    return made("div", { className: "output given-html" }, ...safeNodes(kind === "markdown" ? asHtml(text) : text));
  }
  const box = made("div", { className: "highlight" }, made("pre", { textContent: text }));
  return made("div", { className: `output text_plain given-${kind}` }, box);
}

// Return an object that shows new outputs of a cell, with the built ones folded below, and restores those.
export function outputs(cell) {
  const place = cell.querySelector(".cell_output") ?? cell.appendChild(made("div", { className: "cell_output" }));
  const built = [...place.childNodes];
  // A figure keeps its frame, with the caption, whose values follow, too.
  const figures = [...place.querySelectorAll("svg.figure")];
  const frames = figures.map((svg) => [...place.children].find((frame) => frame.contains(svg)));
  const shown = [...figures];
  const note = made("p", { className: "as-printed" });
  const earlier = made("details", { className: "as-printed" });

  function put(number, svg) {
    shown[number].replaceWith(svg);
    shown[number] = svg;
  }
  const self = {
    isAsBuilt: true,
    // Show the built outputs, and a note below them.
    restore(said = "") {
      earlier.remove();
      note.remove();
      figures.forEach((svg, number) => put(number, svg));
      place.replaceChildren(...built);
      self.isAsBuilt = true;
      note.textContent = said;
      if (said) cell.append(note);
    },
    show(given) {
      note.remove();
      let next = 0;
      const now = given.map((output) => {
        const element = outputElement(output);
        if (output.kind !== "svg") return element;
        const svg = element.firstElementChild;
        const number = next++;
        // The text alternative still describes the built figure: say so.
        const name = (figures[number] ?? svg).getAttribute("aria-label");
        svg.setAttribute("aria-label", phrase("Drawn with your changes. The printed figure: {name}", { name }));
        if (!frames[number]) return svg;
        put(number, svg);
        return frames[number];
      });
      place.replaceChildren(...now);
      const summary = made("summary", { textContent: phrase("Changed. Text without a mark speaks of the printed output") });
      earlier.replaceChildren(summary, ...built.map((node) => figures[frames.indexOf(node)] ?? node));
      if (built.length) cell.append(earlier);
      self.isAsBuilt = false;
    },
  };
  return self;
}
